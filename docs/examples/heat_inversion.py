# %% [markdown]
# # Soil layers from their temperatures
#
# The thermal diffusivity of each layer of soil is found from a few buried thermometers: the gradient of 7300 time
# steps by 50 unknowns, given to L-BFGS.
#
# The temperature of the ground follows the seasons, later and more weakly the deeper one looks. How much later says
# how well the soil conducts. Ten thermometers down to 9.5 m are read once a month for two years; unknown is the
# diffusivity at every depth.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import sdfgad

# %% [markdown]
# ## The program
#
# An explicit scheme for `∂u/∂t = ∂/∂z (D ∂u/∂z)` on 50 cells, with ten steps a day. Lengths are in metres, times in
# days. It is ordinary NumPy: a loop over months, a loop over steps, and an array that is updated in place.

# %%
CELLS, DZ, DT = 50, 0.2, 0.1
STEPS_A_MONTH = 304
DEPTHS = (np.arange(CELLS) + 0.5) * DZ
SENSORS = np.arange(2, CELLS, 5)


def temperatures(log_d, months):
    """The readings of all thermometers at the end of each month, in °C."""
    d = np.exp(log_d)
    between = 2.0 * d[1:] * d[:-1] / (d[1:] + d[:-1])  # of two cells in series
    u = np.full(CELLS, 10.0)
    readings = np.zeros((months, SENSORS.size))
    for month in range(months):
        for step in range(STEPS_A_MONTH):
            day = (month * STEPS_A_MONTH + step) * DT
            surface = 10.0 + 12.0 * np.sin(2.0 * np.pi * day / 365.0)
            flux = between * (u[1:] - u[:-1]) / DZ
            top = 2.0 * d[0] * (u[0] - surface) / DZ
            u[1:-1] += DT / DZ * (flux[1:] - flux[:-1])
            u[0] += DT / DZ * (flux[0] - top)
            u[-1] -= DT / DZ * flux[-1]
        readings[month] = u[SENSORS]
    return readings


def misfit(log_d, measured, noise, smoothness):
    """Minus the logarithm of the posterior density: errors of measurement, and a prior of smooth profiles."""
    error = (temperatures(log_d, measured.shape[0]) - measured) / noise
    return 0.5 * np.sum(error**2) + 0.5 * smoothness * np.sum(np.diff(log_d) ** 2)


# %% [markdown]
# ## The measurements
#
# Sand lies on peat, which lies on clay (m²/day). The thermometers err by 0.02 °C.

# %%
NOISE, SMOOTHNESS = 0.02, 20.0
rng = np.random.default_rng(1)
log_true = np.log(np.select([DEPTHS < 2.0, DEPTHS < 4.0], [0.070, 0.020], 0.045))
exact = temperatures(log_true, 24)
measured = exact + NOISE * rng.standard_normal(exact.shape)

# %% [markdown]
# ## The gradient
#
# `misfit` is differentiated as it stands. A gradient by all 50 unknowns takes less time than NumPy takes for one
# value.

# %%
gradient = sdfgad.differentiate(misfit, wrt="log_d")
log_start = np.full(CELLS, np.log(0.04))
arguments = (measured, NOISE, SMOOTHNESS)
print(sdfgad.check_grads(misfit, log_start, *arguments, wrt="log_d"))

gradient(log_start, *arguments)
start = time.perf_counter()
misfit(log_start, *arguments)
middle = time.perf_counter()
gradient.value_and_grad(log_start, *arguments)
end = time.perf_counter()
print(f"NumPy, value alone: {1e3 * (middle - start):.1f} ms; value and gradient: {1e3 * (end - middle):.1f} ms")

# %% [markdown]
# ## The inversion

# %%
found = minimize(
    gradient.value_and_grad, log_start, args=arguments, jac=True, method="L-BFGS-B", options={"maxiter": 500}
)
residual = (temperatures(found.x, 24) - measured) / NOISE
print(f"{found.nit} iterations, {found.nfev} gradients; misfit {found.fun:.0f}")
print(f"root mean square of the residuals: {np.sqrt(np.mean(residual**2)):.2f} standard deviations")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
for sensor in (0, 2, 4, 8):
    (line,) = left.plot(
        np.arange(1, 25), temperatures(found.x, 24)[:, sensor], label=f"{DEPTHS[SENSORS[sensor]]:.1f} m"
    )
    left.plot(np.arange(1, 25), measured[:, sensor], ".", color=line.get_color())
left.set(xlabel="month", ylabel="temperature (°C)", ylim=(None, 29), title="measured (dots) and fitted (lines)")
left.legend(ncols=4, title="depth", loc="upper center")
right.stairs(
    np.exp(log_true), DZ * np.arange(CELLS + 1), orientation="horizontal", baseline=None, color="k", label="true"
)
right.plot(np.exp(log_start), DEPTHS, ":", color="gray", label="start")
right.plot(np.exp(found.x), DEPTHS, label="found")
right.plot(np.zeros(SENSORS.size), DEPTHS[SENSORS], ">", color="C3", label="thermometers", clip_on=False)
right.set(xlabel="diffusivity (m²/day)", ylabel="depth (m)", xlim=(0, None), ylim=(10, 0), title="the profile")
right.legend()
plt.show()

# %% [markdown]
# The measurements are fitted to their errors, and the layers are where they were put. Steps come out as slopes: that
# is the prior's doing.

# %%
within = DEPTHS < 8.0
error = np.median(np.abs(found.x - log_true)[within])
print(f"median error of the diffusivity down to 8 m: {100 * error:.1f} %")
assert found.success
assert 0.9 < np.sqrt(np.mean(residual**2)) < 1.1
assert error < 0.1
