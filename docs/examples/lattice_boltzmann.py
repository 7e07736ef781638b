# %% [markdown]
# # Flow around a porous obstacle
#
# A lattice Boltzmann program is differentiated by the porosity of every cell: where does material cost the most flow?
# The gradient then moves a given amount of material until it obstructs the channel least.
#
# A constant force drives a fluid through a channel in which some cells are partly solid. Each solid fraction throws
# back the same fraction of the particles that arrive.

# %%
import matplotlib.pyplot as plt
import numpy as np

import sdfgad

# %% [markdown]
# ## The program
#
# Nine velocities on a square lattice (D2Q9), relaxation to equilibrium, streaming by `np.roll`. Units are those of
# the lattice: one cell, one step.

# %%
CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
WEIGHTS = np.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36])
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
NX, NY, STEPS = 48, 26, 1200
TAU, FORCE = 0.8, 5e-6


def flow(solid):
    """The velocity along the channel after many steps, from the solid fraction of each cell, of shape (NX, NY)."""
    f = np.ones((9, NX, NY)) * WEIGHTS[:, None, None]
    arrived = np.empty_like(f)
    for _ in range(STEPS):
        density = np.sum(f, axis=0)
        ux = np.einsum("i,ixy->xy", 1.0 * CX, f) / density
        uy = np.einsum("i,ixy->xy", 1.0 * CY, f) / density
        for i in range(9):
            along = CX[i] * ux + CY[i] * uy
            equilibrium = WEIGHTS[i] * density * (1.0 + 3.0 * along + 4.5 * along**2 - 1.5 * (ux**2 + uy**2))
            f[i] += (equilibrium - f[i]) / TAU + 3.0 * WEIGHTS[i] * CX[i] * FORCE
        for i in range(9):
            arrived[i] = np.roll(f[i], (CX[i], CY[i]), axis=(0, 1))
        for i in range(9):
            f[i] = (1.0 - solid) * arrived[i] + solid * f[OPPOSITE[i]]
    return np.einsum("i,ixy->xy", 1.0 * CX, f) / np.sum(f, axis=0)


def flow_rate(solid):
    """The mean volume per step that passes through a cross-section."""
    return np.mean(np.sum(flow(solid), axis=1))


# %% [markdown]
# ## The gradient
#
# The channel has solid walls, and a porous disc in the middle. The gradient is negative everywhere that fluid moves:
# more material, less flow. It costs most where the flow squeezes past the disc, and hardly anything in the disc,
# through which little flows.

# %%
x, y = np.mgrid[:NX, :NY]
walls = (y == 0) | (y == NY - 1)
disc = (x - 20) ** 2 + (y - 12.5) ** 2 < 4.6**2
solid = np.where(walls, 1.0, np.where(disc, 0.3, 0.0))

gradient = sdfgad.differentiate(flow_rate, wrt="solid", memory_limit="256 MiB")
rate, slope = gradient.value_and_grad(solid)
print(f"flow rate {rate:.4f}; a gradient holds {gradient.measure(solid, repeats=1).peak_bytes / 2**20:.0f} MiB")

for cell in ((20, 20), (35, 12), (20, 12)):
    nudge = np.zeros_like(solid)
    nudge[cell] = 1e-4
    difference = (flow_rate(solid + nudge) - flow_rate(solid - nudge)) / 2e-4
    print(f"cell {cell}: derivative {slope[cell]:.6e}, by differences {difference:.6e}")
    assert np.isclose(slope[cell], difference, rtol=1e-4)

# %% [markdown]
# ## Less drag
#
# The same amount of material, at most 0.3 in any cell, is moved along the gradient. Each step is projected back onto
# the amount: the same number is added in all cells of the neighbourhood, found by bisection.

# %%
nearby = ~walls & (np.abs(x - 20) < 14) & (np.abs(y - 12.5) < 8)
amount = np.sum(solid[nearby])


def projected(values):
    """The nearest fractions between 0 and 0.3 with the given sum."""
    low, high = -1.0, 1.0
    for _ in range(60):
        shift = 0.5 * (low + high)
        low, high = (shift, high) if np.sum(np.clip(values + shift, 0.0, 0.3)) < amount else (low, shift)
    return np.clip(values + shift, 0.0, 0.3)


better, rates = solid.copy(), [rate]
for _ in range(30):
    slope_now = gradient(better)[nearby]
    better[nearby] = projected(better[nearby] + 0.2 * slope_now / np.std(slope_now))
    rates.append(gradient.value(better))
print(f"flow rate {rates[0]:.4f} -> {rates[-1]:.4f}, material {amount:.2f} -> {np.sum(better[nearby]):.2f}")

# %%
figure, axes = plt.subplots(2, 2, figsize=(9, 5.0))
shape = {"origin": "lower", "extent": (0, NX, 0, NY)}
for axis, values, title, label in (
    (axes[0, 0], np.where(walls, np.nan, slope), "derivative of the flow rate", "per solid fraction"),
    (axes[0, 1], flow(solid), "flow around the disc", "velocity along x (cells/step)"),
    (axes[1, 1], flow(better), "flow around the moved material", "velocity along x (cells/step)"),
):
    figure.colorbar(axis.imshow(values.T, **shape), ax=axis, label=label, shrink=0.8)
    axis.set(xlabel="x (cells)", ylabel="y (cells)", title=title)
axes[0, 1].contour(disc.T, levels=[0.5], colors="white", linewidths=0.8, **shape)
axes[1, 1].contour(np.where(walls, 0.0, better).T, levels=[0.15], colors="white", linewidths=0.8, **shape)
axes[1, 0].plot(rates)
axes[1, 0].set(xlabel="step", ylabel="flow rate (cells²/step)", title="improvement")
plt.show()

# %%
assert np.isclose(np.sum(better[nearby]), amount)
assert rates[-1] > 1.05 * rates[0]
