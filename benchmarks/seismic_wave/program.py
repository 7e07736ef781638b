"""Acoustic waves from a source, and the misfit of what receivers record to what was observed.

Leapfrog in time, fourth order in space, with a sponge at the borders; for the velocity of the rocks in
kilometres per second.
"""

import numpy as np


def initialize(nz, nx, nt, receivers, rng):
    depth = np.linspace(0, 1, nz)[:, None]
    # A Ricker wavelet of a length that fits the number of steps.
    phase = np.pi * (np.arange(nt) / nt * 6.0 - 1.0)
    z, x = np.arange(nz)[:, None], np.arange(nx)
    border = np.minimum(np.minimum(z, nz - 1 - z), np.minimum(x, nx - 1 - x))
    return {
        "velocity": 1.5 + depth + rng.uniform(-0.1, 0.1, (nz, nx)),
        "wavelet": 1e6 * (1 - 2 * phase**2) * np.exp(-(phase**2)),
        "source_z": nz // 2,
        "source_x": nx // 2,
        "receiver_z": rng.integers(2, nz // 2, receivers),
        "receiver_x": 2 + np.arange(receivers) * (nx - 4) // receivers,
        "observed": rng.uniform(-1, 1, (nt, receivers)),
        "sponge": np.exp(-((0.02 * np.maximum(10 - border, 0)) ** 2)),
        "dt": 0.0015,
        "dx": 0.01,
    }


def seismic_wave(velocity, wavelet, source_z, source_x, receiver_z, receiver_x, observed, sponge, dt, dx):
    nt = wavelet.shape[0]
    before = np.zeros_like(velocity)
    now = np.zeros_like(velocity)
    laplacian = np.zeros_like(velocity)
    recorded = np.zeros((nt, receiver_z.shape[0]))
    factor = (velocity * dt) ** 2

    for t in range(nt):
        laplacian[2:-2, 2:-2] = (
            -5.0 * now[2:-2, 2:-2]
            + 4.0 / 3.0 * (now[3:-1, 2:-2] + now[1:-3, 2:-2] + now[2:-2, 3:-1] + now[2:-2, 1:-3])
            - 1.0 / 12.0 * (now[4:, 2:-2] + now[:-4, 2:-2] + now[2:-2, 4:] + now[2:-2, :-4])
        ) / dx**2
        after = 2.0 * now - before + factor * laplacian
        after[source_z, source_x] += dt**2 * wavelet[t]
        before = now * sponge
        now = after * sponge
        recorded[t] = now[receiver_z, receiver_x]

    return 0.5 * np.sum((recorded - observed) ** 2)
