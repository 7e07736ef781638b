# %% [markdown]
# # Which absorber warms the ground?
#
# A column of air in radiative-convective balance: the gradient gives the change of the surface temperature by the
# absorber at each height, through thousands of time steps with branches.
#
# Sunlight heats the ground and, a little, the air. Infrared radiation passes through 30 layers, each of which absorbs
# and emits. Where the temperature falls faster with height than 6.5 K/km, convection carries heat upwards. The column
# is stepped forward until nothing changes any more.

# %%
import matplotlib.pyplot as plt
import numpy as np

import sdfgad

# %% [markdown]
# ## The program
#
# Fluxes in W/m², layer 0 at the bottom. Convection is an `if` for each pair of neighbours.

# %%
LAYERS, DP = 30, 3300.0  # Pa
SIGMA, CP, GRAVITY, GAS = 5.67e-8, 1004.0, 9.81, 287.0
HEAT = CP * DP / GRAVITY  # of a layer, J/m²/K
GROUND = 4e6  # J/m²/K
STEP = 2160.0  # s
PRESSURE = 100000.0 - DP * (np.arange(LAYERS) + 0.5)
LAPSE = 6.5e-3  # K/m


def balance(infrared, solar, steps):
    """Temperatures of ground and layers (K), from optical depths for infrared and for sunlight."""
    emissivity = 1.0 - np.exp(-infrared)
    sunlight, absorbed = 240.0, np.zeros(LAYERS)
    for k in range(LAYERS - 1, -1, -1):
        absorbed[k] = sunlight * (1.0 - np.exp(-solar[k]))
        sunlight = sunlight - absorbed[k]
    ground, air = 280.0, np.linspace(275.0, 210.0, LAYERS)
    for _ in range(steps):
        heating = absorbed.copy()
        up = SIGMA * ground**4
        change = sunlight - up
        for k in range(LAYERS):
            emitted = emissivity[k] * SIGMA * air[k] ** 4
            heating[k] += emissivity[k] * up - 2.0 * emitted
            up = (1.0 - emissivity[k]) * up + emitted
        down = 0.0
        for k in range(LAYERS - 1, -1, -1):
            heating[k] += emissivity[k] * down
            down = (1.0 - emissivity[k]) * down + emissivity[k] * SIGMA * air[k] ** 4
        change += down
        below, thickness = ground, 0.5 * DP * GAS * air[0] / (GRAVITY * PRESSURE[0])
        for k in range(LAYERS):
            if k > 0:
                thickness = GAS * 0.5 * (air[k] + air[k - 1]) / GRAVITY * np.log(PRESSURE[k - 1] / PRESSURE[k])
                below = air[k - 1]
            excess = below - air[k] - LAPSE * thickness
            if excess > 0.0:
                carried = 40.0 * excess  # W/m²
                heating[k] += carried
                if k > 0:
                    heating[k - 1] -= carried
                else:
                    change -= carried
        air += STEP * heating / HEAT
        ground += STEP * change / GROUND
    return ground, air


def surface_temperature(log_infrared, log_solar, steps):
    return balance(np.exp(log_infrared), np.exp(log_solar), steps)[0]


# %% [markdown]
# ## The column
#
# Water vapour is found near the ground, carbon dioxide everywhere, and ozone, which absorbs sunlight, near the top.

# %%
infrared = 1.3 * (PRESSURE / 1e5) ** 4 * DP / 2e4 + 0.9 * DP / 1e5
solar = 0.01 * np.exp(-(((PRESSURE - 3000.0) / 4000.0) ** 2)) + 0.1 * (PRESSURE / 1e5) ** 4 * DP / 2e4
STEPS = 14000
ground, air = balance(infrared, solar, STEPS)
drift = abs(balance(infrared, solar, STEPS + 400)[0] - ground)
print(f"ground {ground:.2f} K, top {air[-1]:.1f} K; ten days later: {drift:.1e} K different")

# %% [markdown]
# ## The gradient
#
# By the logarithms of the optical depths: kelvin for a doubling, times `log 2`. All 60 derivatives come from one
# reverse sweep; finite differences take 120 runs.

# %%
gradient = sdfgad.differentiate(surface_temperature, wrt=("log_infrared", "log_solar"))
arguments = (np.log(infrared), np.log(solar), STEPS)
by_infrared, by_solar = gradient(*arguments)
print(f"infrared absorber doubled everywhere: {np.log(2.0) * np.sum(by_infrared):+.2f} K to first order")
print(f"solar absorber doubled everywhere: {np.log(2.0) * np.sum(by_solar):+.2f} K to first order")

differences = np.zeros(LAYERS)
for k in range(LAYERS):
    nudge = 1e-4 * np.eye(LAYERS)[k]
    warmer = gradient.value(arguments[0] + nudge, arguments[1], STEPS)
    differences[k] = (warmer - gradient.value(arguments[0] - nudge, arguments[1], STEPS)) / 2e-4

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 3.6), sharey=True)
height = PRESSURE / 100.0
left.plot(np.r_[ground, air], np.r_[1000.0, height], "-", label="in balance")
left.plot(ground, 1000.0, "o", clip_on=False, label="ground")
left.set(xlabel="temperature (K)", ylabel="pressure (hPa)", title="the column", ylim=(1000, 0))
left.legend()
middle.semilogx(infrared, height, label="infrared")
middle.semilogx(solar, height, label="sunlight")
middle.set(xlabel="optical depth of a layer", title="absorbers")
middle.legend()
right.plot(np.log(2.0) * by_infrared, height, label="infrared")
right.plot(np.log(2.0) * differences, height, "k.", ms=4, label="differences")
right.plot(np.log(2.0) * by_solar, height, label="sunlight")
right.axvline(0.0, color="gray", lw=0.5)
right.set(xlabel="warming of the ground (K)", title="if a layer's absorber doubles")
right.legend()
plt.show()

# %% [markdown]
# Differences agree at all heights.

# %%
error = np.max(np.abs(differences - by_infrared)) / np.max(np.abs(by_infrared))
print(f"largest difference from finite differences: {error:.1e} of the largest derivative")
assert drift < 1e-3
assert error < 1e-4
assert np.sum(by_infrared) > 0.0
