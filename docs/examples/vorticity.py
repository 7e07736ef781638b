# %% [markdown]
# # The disturbance that grows most
#
# A spectral solver for two-dimensional flow, with products of its Jacobian from both sides: `jvp` and `vjp` give
# SciPy the leading singular vectors, without the Jacobian, which would have five million entries.
#
# A jet between two bodies of fluid is unstable. Among all disturbances of the vorticity of a given size, the one that
# has grown most after a given time is the first right singular vector of the Jacobian of the flow over that time, and
# what it has grown into is the left one. Some weather services start their ensembles of forecasts from such vectors.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.linalg import LinearOperator, svds

import sdfgad

# %% [markdown]
# ## The program
#
# Vorticity on a doubly periodic square of side 2π. Derivatives are taken in Fourier space, with the upper third of
# the wave numbers removed against aliasing; viscosity is integrated exactly, the rest by Heun's method.

# %%
N, DT, STEPS, VISCOSITY = 48, 0.04, 100, 4e-3
k = np.fft.fftfreq(N, 1.0 / N)
KX, KY = np.meshgrid(k, np.fft.rfftfreq(N, 1.0 / N), indexing="ij")
SQUARE = KX**2 + KY**2
INVERSE = 1.0 / np.where(SQUARE == 0.0, np.inf, SQUARE)
KEPT = (np.abs(KX) < N / 3) & (KY < N / 3)
DECAY = np.exp(-VISCOSITY * SQUARE * DT)


def advection(w):
    """Minus the transport of vorticity by the flow that it makes, in Fourier space."""
    u = np.fft.irfft2(1j * KY * INVERSE * w)
    v = np.fft.irfft2(-1j * KX * INVERSE * w)
    transport = u * np.fft.irfft2(1j * KX * w) + v * np.fft.irfft2(1j * KY * w)
    return -np.fft.rfft2(transport) * KEPT


def evolve(vorticity, steps):
    w = np.fft.rfft2(vorticity) * KEPT
    for _ in range(steps):
        first = advection(w)
        second = advection(DECAY * (w + DT * first))
        w = DECAY * (w + 0.5 * DT * first) + 0.5 * DT * second
    return np.fft.irfft2(w)


# %% [markdown]
# ## Derivatives in a direction, from either side
#
# A jet along x, about a sixth as wide as the domain. The product `J t` agrees with finite differences, and `c · (J
# t)` with `(Jᵀ c) · t` to rounding.

# %%
x = np.arange(N) * 2.0 * np.pi / N
jet = np.tile(-4.0 * np.sin(x - np.pi) * np.exp(-((x - np.pi) ** 2) / 0.25), (N, 1))
rng = np.random.default_rng(0)
t, c = evolve(rng.standard_normal((N, N)), 5), rng.standard_normal((N, N))

g = sdfgad.differentiate(evolve, wrt="vorticity", memory_limit="64 MiB")
final, moved = g.jvp(jet, STEPS, tangents=t)
pulled = g.vjp(jet, STEPS, cotangent=c)
differences = (evolve(jet + 1e-5 * t, STEPS) - evolve(jet - 1e-5 * t, STEPS)) / 2e-5
by_differences = np.linalg.norm(moved - differences) / np.linalg.norm(moved)
duality = abs(np.sum(c * moved) - np.sum(pulled * t)) / (np.linalg.norm(c) * np.linalg.norm(moved))
print(f"J t differs from finite differences by {by_differences:.1e}; both sides differ by {duality:.1e}")

# %% [markdown]
# ## Singular vectors
#
# `svds` needs the products alone. On a periodic domain vectors come in pairs, each shifted against the other by a
# quarter of a wave.

# %%
J = LinearOperator(
    (N * N, N * N),
    matvec=lambda t: g.jvp(jet, STEPS, tangents=t.reshape(N, N))[1].ravel(),
    rmatvec=lambda c: g.vjp(jet, STEPS, cotangent=c.reshape(N, N)).ravel(),
    dtype=float,
)
left, growth, right = svds(J, k=2, v0=t.ravel(), random_state=0)
order = np.argsort(growth)[::-1]
left, growth, right = left[:, order], growth[order], right[order]
print("growth of the first two:", np.round(growth, 2))
print(f"growth of a random disturbance: {np.linalg.norm(moved) / np.linalg.norm(t):.2f}")

# %% [markdown]
# The full solver, started with a disturbance of a thousandth of the jet, agrees: the derivative tells what it does.

# %%
optimal = right[0].reshape(N, N)
size = 1e-3 * np.linalg.norm(jet)
grown = evolve(jet + size * optimal, STEPS) - final
print(f"the first grows {np.linalg.norm(grown) / size:.2f}-fold in the nonlinear solver")

figure, axes = plt.subplots(1, 3, figsize=(9, 2.6))
for axis, values, title in (
    (axes[0], jet, "vorticity of the jet"),
    (axes[1], size * optimal, "disturbance that grows most"),
    (axes[2], grown, f"what becomes of it at t = {STEPS * DT:.0f}"),
):
    largest = np.max(np.abs(values))
    image = axis.imshow(values.T, origin="lower", extent=(0, 2 * np.pi) * 2, cmap="RdBu_r", vmin=-largest, vmax=largest)
    axis.set(xlabel="x", ylabel="y", title=title)
    figure.colorbar(image, ax=axis, shrink=0.75)
plt.show()

# %%
assert by_differences < 1e-6
assert duality < 1e-12
assert np.allclose(growth[0], growth[1], rtol=1e-4)
assert growth[0] > 2.0 * np.linalg.norm(moved) / np.linalg.norm(t)
assert np.isclose(np.linalg.norm(grown) / size, growth[0], rtol=0.02)
