"""Finite-difference time-domain method in two dimensions: Maxwell's equations on a staggered grid.

The source ``_fict_`` drives the first row of ``ey``.
"""


def initialize(TMAX, NX, NY, rng):
    return {
        "TMAX": TMAX,
        "ex": rng.uniform(-1, 1, (NX, NY)),
        "ey": rng.uniform(-1, 1, (NX, NY)),
        "hz": rng.uniform(-1, 1, (NX, NY)),
        "_fict_": rng.uniform(-1, 1, TMAX),
    }


def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    for t in range(TMAX):
        ey[0, :] = _fict_[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
