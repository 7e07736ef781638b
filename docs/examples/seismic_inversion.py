# %% [markdown]
# # Seismic waves between two wells
#
# Full-waveform inversion in two dimensions: the gradient of the misfit of seismograms by the velocity at every point,
# within a tenth of the memory that storing the wave field takes.
#
# Shots are fired in one well and recorded in another. The whole recorded signal, not the arrival times alone, is
# compared with a simulation, and the velocities in between are changed until they agree.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import sdfgad

# %% [markdown]
# ## The program
#
# The acoustic wave equation by second-order differences in space and time. Waves that leave are damped in a frame
# around the region. Each step makes the field two steps ago into the next one, in place.

# %%
NZ, NX, H = 70, 60, 10.0  # m
STEPS, DT, FREQUENCY = 330, 1.5e-3, 25.0  # s, Hz
FRAME, SMOOTHNESS = 12, 2.0
SHOTS = np.arange(16, NZ - 12, 8)
DEPTHS = np.arange(FRAME + 1, NZ - FRAME, 2)
LEFT, RIGHT = FRAME + 1, NX - FRAME - 2

outside = np.maximum(0, FRAME - np.minimum(np.arange(NZ), np.arange(NZ)[::-1]))[:, None]
outside = np.maximum(outside, np.maximum(0, FRAME - np.minimum(np.arange(NX), np.arange(NX)[::-1])))
damping = 1.0 - 0.12 * (outside / FRAME) ** 2

delay = np.arange(STEPS) * DT - 1.2 / FREQUENCY
pulse = (1.0 - 2.0 * (np.pi * FREQUENCY * delay) ** 2) * np.exp(-((np.pi * FREQUENCY * delay) ** 2))


def seismograms(velocity):
    """The pressure at each receiver (last axis) at each time, for each shot (first axis)."""
    factor = (velocity * DT / H) ** 2
    records = np.zeros((SHOTS.size, STEPS, DEPTHS.size))
    for shot in range(SHOTS.size):
        now, before = np.zeros((NZ, NX)), np.zeros((NZ, NX))
        for t in range(STEPS):
            laplacian = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4.0 * now[1:-1, 1:-1]
            before *= -damping
            before += 2.0 * now
            before[1:-1, 1:-1] += factor[1:-1, 1:-1] * laplacian
            before[SHOTS[shot], LEFT] += pulse[t]
            before *= damping
            now, before = before, now
            records[shot, t] = now[DEPTHS, RIGHT]
    return records


def misfit(slowness, measured, smoothness):
    """Of the seismograms for a slowness in s/km, with a penalty on rough profiles."""
    error = seismograms(1000.0 / slowness) - measured
    roughness = np.sum(np.diff(slowness, axis=0) ** 2) + np.sum(np.diff(slowness, axis=1) ** 2)
    return 0.5 * np.sum(error**2) + 0.5 * smoothness * roughness


# %% [markdown]
# ## The measurements

# %%
z, x = np.mgrid[:NZ, :NX]
true = np.full((NZ, NX), 2500.0)
true[(z - 26) ** 2 + (x - 28) ** 2 < 49] = 2750.0
true[((z - 47) / 4) ** 2 + ((x - 29) / 13) ** 2 < 1] = 2300.0
measured = seismograms(true)

# %% [markdown]
# ## The gradient, and its memory
#
# The reverse sweep needs the wave field at every step, in reverse. Without a limit sdfgad may store it all. With one,
# the planner decides which states are stored and which parts of the simulation run again; `measure` says what a call
# really held.

# %%
slowness = np.full((NZ, NX), 0.4)
free = sdfgad.differentiate(misfit, wrt="slowness", strategy="store_all")
limited = sdfgad.differentiate(misfit, wrt="slowness", memory_limit="6 MiB")
for name, gradient in (("everything stored", free), ("at most 6 MiB", limited)):
    measured_call = gradient.measure(slowness, measured, SMOOTHNESS)
    print(f"{name}: {measured_call.peak_bytes / 2**20:.1f} MiB, {1e3 * measured_call.seconds:.0f} ms")
same = np.allclose(
    free(slowness, measured, SMOOTHNESS), limited(slowness, measured, SMOOTHNESS), rtol=1e-10, atol=1e-12
)
print("the same gradient:", same)
print(limited.plan(slowness, measured, SMOOTHNESS))

# %% [markdown]
# ## The inversion
#
# L-BFGS over all points between the wells, from a homogeneous start. In the wells and beyond them the velocity is
# known.

# %%
between = (x > LEFT + 1) & (x < RIGHT - 1)


def objective(unknown):
    slowness[between] = unknown
    value, gradient = limited.value_and_grad(slowness, measured, SMOOTHNESS)
    return value, gradient[between]


history = [objective(slowness[between])[0]]
found = minimize(
    objective,
    slowness[between],
    jac=True,
    method="L-BFGS-B",
    options={"maxiter": 60},
    callback=lambda intermediate_result: history.append(intermediate_result.fun),
)
slowness[between] = found.x
inverted = 1000.0 / slowness
print(f"misfit {history[0]:.3g} -> {found.fun:.3g} in {found.nit} iterations")

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4))
extent = (0, NX * H, NZ * H, 0)
for axis, velocity, title in ((axes[0], true, "true"), (axes[1], inverted, f"after {found.nit} iterations")):
    image = axis.imshow(velocity, extent=extent, vmin=2200, vmax=2800, cmap="RdBu_r")
    axis.plot(np.full(SHOTS.size, (LEFT + 0.5) * H), (SHOTS + 0.5) * H, "k*", ms=5, label="shots")
    axis.plot(np.full(DEPTHS.size, (RIGHT + 0.5) * H), (DEPTHS + 0.5) * H, "k.", ms=3, label="receivers")
    axis.set(xlabel="distance (m)", ylabel="depth (m)", title=title)
axes[1].legend(loc="lower left", fontsize=6)
figure.colorbar(image, ax=axes[1], label="velocity (m/s)")
axes[2].semilogy(history)
axes[2].set_box_aspect(NZ / NX)
axes[2].set(xlabel="iteration", ylabel="misfit", title="convergence")
plt.show()

# %%
before, after = (np.sqrt(np.mean((v - true)[between] ** 2)) for v in (np.full((NZ, NX), 2500.0), inverted))
print(f"root mean square error of the velocity: {before:.0f} -> {after:.0f} m/s")
assert same
assert limited.measure(slowness, measured, SMOOTHNESS).peak_bytes <= 6 * 2**20
assert found.fun < history[0] / 30.0
assert after < 0.6 * before
