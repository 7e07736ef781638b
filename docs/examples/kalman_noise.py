# %% [markdown]
# # The noise of a Kalman filter
#
# How much a ship manoeuvres and how much its radar errs, by maximum likelihood: the gradient of a Kalman filter with
# gaps in the data, standard errors from the Hessian, and the likelihood on a grid by `vmap`.
#
# A Kalman filter needs two numbers that nobody tells you: the variance of what moves the system, `q`, and that of
# what disturbs the measurements, `r`. The filter itself says how likely the measurements are for given numbers, so
# the best ones maximise that likelihood.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import sdfgad

# %% [markdown]
# ## The program
#
# Position and velocity in the plane, a position measured once a minute, unless the radar lost the ship.

# %%
DT = 1.0
MOTION = np.eye(4) + DT * np.eye(4, k=2)
SEES = np.eye(2, 4)
# The covariance of one minute of white acceleration of variance 1.
SHAKEN = np.kron(np.array([[DT**3 / 3.0, DT**2 / 2.0], [DT**2 / 2.0, DT]]), np.eye(2))


def filtered(log_q, log_r, seen, measured):
    """The estimated positions, and minus the logarithm of the likelihood."""
    q, r = np.exp(log_q), np.exp(log_r)
    mean, covariance = np.zeros(4), 100.0 * np.eye(4)
    track = np.zeros_like(measured)
    cost = 0.0
    for k in range(measured.shape[0]):
        mean = MOTION @ mean
        covariance = MOTION @ covariance @ MOTION.T + q * SHAKEN
        if seen[k]:
            innovation = measured[k] - SEES @ mean
            s = SEES @ covariance @ SEES.T + r * np.eye(2)
            gain = np.linalg.solve(s, SEES @ covariance).T
            mean = mean + gain @ innovation
            covariance = covariance - gain @ SEES @ covariance
            cost += 0.5 * innovation @ np.linalg.solve(s, innovation)
            cost += 0.5 * np.log(np.linalg.det(s)) + np.log(2.0 * np.pi)
        track[k] = SEES @ mean
    return track, cost


def cost(parameters, seen, measured):
    return filtered(parameters[0], parameters[1], seen, measured)[1]


# %% [markdown]
# ## The measurements
#
# Five hours of a ship (km, minutes), of which the radar misses one fifth.

# %%
TRUE = np.log([5e-4, 0.3])  # q in km²/min³, r in km²
rng = np.random.default_rng(3)
state, path = np.array([0.0, 0.0, 0.3, 0.1]), []
root = np.linalg.cholesky(SHAKEN)
for _ in range(300):
    state = MOTION @ state + np.sqrt(np.exp(TRUE[0])) * root @ rng.standard_normal(4)
    path.append(state[:2])
path = np.array(path)
measured = path + np.sqrt(np.exp(TRUE[1])) * rng.standard_normal(path.shape)
seen = rng.random(300) > 0.2

# %% [markdown]
# ## Maximum likelihood
#
# The inverse of the Hessian at the maximum estimates the covariance of what was found.

# %%
start = np.log([1e-2, 2.0])
steps = [start]
found = minimize(
    sdfgad.value_and_grad(cost),
    start,
    args=(seen, measured),
    jac=True,
    method="BFGS",
    callback=lambda x: steps.append(x.copy()),
)
hessian = sdfgad.hessian(cost)(found.x, seen, measured)
errors = np.sqrt(np.diag(np.linalg.inv(hessian)))
for name, value, error, true in zip("qr", found.x, errors, TRUE, strict=True):
    print(f"log {name}: {value:.2f} ± {error:.2f} (true {true:.2f})")
print(f"{found.nit} iterations, {found.nfev} gradients, largest derivative {np.max(np.abs(found.jac)):.1e}")

# %% [markdown]
# ## The likelihood around it
#
# One compiled program evaluates the filter for all 1600 pairs.

# %%
log_q, log_r = np.meshgrid(np.linspace(-10.0, -4.0, 40), np.linspace(-2.5, 1.0, 40))
grid = np.stack((log_q.ravel(), log_r.ravel()), axis=1)
costs = sdfgad.vmap(cost, in_axes=(0, None, None))(grid, seen, measured).reshape(log_q.shape)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
track = filtered(*found.x, seen, measured)[0]
shown = slice(100, 190)
left.plot(*measured[shown][seen[shown]].T, ".", color="gray", label="radar")
left.plot(*path[shown].T, color="black", lw=1, label="true")
left.plot(*track[shown].T, color="C0", lw=1, label="filtered")
left.set(xlabel="east (km)", ylabel="north (km)", title="the ship for one and a half hours")
left.legend()
drawn = right.contour(log_q, log_r, costs - found.fun, levels=[1, 3, 10, 30, 100, 300], cmap="viridis")
right.clabel(drawn, levels=[10, 30, 100, 300], fmt="%g", fontsize=7)
right.plot(*np.array(steps).T, "o-", color="C3", ms=3, lw=1, label="BFGS")
right.plot(*TRUE, "*", color="black", ms=10, label="true")
right.set(xlabel="log q", ylabel="log r", title="minus log-likelihood, above its minimum")
right.legend(loc="lower right", frameon=True)
plt.show()

# %%
print(sdfgad.check_grads(cost, start, seen, measured, wrt="parameters"))
nudges = 1e-4 * np.eye(2)
slope = sdfgad.grad(cost)
differences = [(slope(found.x + t, seen, measured) - slope(found.x - t, seen, measured)) / 2e-4 for t in nudges]
assert np.allclose(hessian, differences, rtol=1e-5)
assert np.max(np.abs(found.jac)) < 1e-3
assert np.all(np.abs(found.x - TRUE) < 3.0 * errors)
assert np.all(costs > found.fun - 1e-9)
