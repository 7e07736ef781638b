# %% [markdown]
# # An epidemic, by Bayes
#
# Parameters of an epidemic with their uncertainty, twice: by Hamiltonian Monte Carlo, which takes tens of thousands
# of gradients, and by the Hessian at the mode (Laplace's approximation).
#
# New cases are counted once a day for eight weeks, of an epidemic that a model with susceptible, infected and
# recovered people (SIR) describes. Unknown are the rate of infection β, the rate of recovery γ, and how many were
# infected at the start.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import sdfgad

# %% [markdown]
# ## The program
#
# The model in steps of a tenth of a day, and a negative binomial distribution of the counts: they scatter more than
# Poisson's would.

# %%
PEOPLE, SCATTER = 10000.0, 20.0
PRIOR = np.log([0.3, 0.15, 10.0])
NAMES = ("β (1/day)", "γ (1/day)", "infected at the start")


def new_cases(theta, days):
    """The expected number of new cases of each day; `theta` has the logarithms of the parameters."""
    beta, gamma, infected = np.exp(theta[0]), np.exp(theta[1]), np.exp(theta[2])
    susceptible = PEOPLE - infected
    cases = np.zeros(days)
    for day in range(days):
        for _ in range(10):
            caught = 0.1 * beta * susceptible * infected / PEOPLE
            susceptible -= caught
            infected += caught - 0.1 * gamma * infected
            cases[day] += caught
    return cases


def energy(theta, counts):
    """Minus the logarithm of the posterior density: negative binomial counts, normal priors of the logarithms."""
    expected = new_cases(theta, counts.shape[0])
    fit = (counts + SCATTER) * np.log(expected + SCATTER) - counts * np.log(expected)
    return np.sum(fit) + 0.5 * np.sum((theta - PRIOR) ** 2)


# %% [markdown]
# ## The counts

# %%
rng = np.random.default_rng(4)
true = np.log([0.35, 0.12, 8.0])
expected = new_cases(true, 56)
counts = rng.poisson(expected * rng.gamma(SCATTER, 1.0 / SCATTER, 56)).astype(float)

# %% [markdown]
# ## The mode and the Hessian there
#
# Laplace's approximation is a normal distribution around the mode whose covariance is the inverse of the Hessian.

# %%
value_and_grad = sdfgad.value_and_grad(energy)
hessian = sdfgad.hessian(energy)
found = minimize(value_and_grad, PRIOR, args=(counts,), jac=True, hess=hessian, method="trust-exact", tol=1e-6)
mode = found.x
covariance = np.linalg.inv(hessian(mode, counts))
print(f"{found.nit} steps of Newton's method, largest derivative {np.max(np.abs(found.jac)):.1e}")
deviation = np.sqrt(np.diag(covariance))

# %% [markdown]
# ## Hamiltonian Monte Carlo
#
# Momenta are drawn so that the mode looks round: their covariance is the Hessian. Each proposal takes six gradients.

# %%
root = np.linalg.cholesky(covariance)


def sample(theta, draws, leaps=6, step=0.5):
    """Draws from the posterior density, in units in which Laplace's approximation is standard normal."""

    def potential(z):
        value, slope = value_and_grad(mode + root @ z, counts)
        return value, root.T @ slope

    z = np.linalg.solve(root, theta - mode)
    value, slope = potential(z)
    chain, accepted = np.zeros((draws, 3)), 0
    for draw in range(draws):
        momentum = rng.standard_normal(3)
        total = value + 0.5 * momentum @ momentum
        new, new_value, new_slope = z, value, slope
        h = step * rng.uniform(0.8, 1.2)
        for _ in range(leaps):
            momentum = momentum - 0.5 * h * new_slope
            new = new + h * momentum
            new_value, new_slope = potential(new)
            momentum = momentum - 0.5 * h * new_slope
        if np.log(rng.random()) < total - new_value - 0.5 * momentum @ momentum:
            z, value, slope, accepted = new, new_value, new_slope, accepted + 1
        chain[draw] = mode + root @ z
    return chain, accepted / draws


chain, acceptance = sample(mode + 2.0 * deviation, 4000)
chain = chain[200:]
print(f"{100 * acceptance:.0f} % accepted")
for i, name in enumerate(NAMES):
    print(
        f"{name}: Laplace {np.exp(mode[i]):.4g} (± {100 * deviation[i]:.1f} %), "
        f"HMC {np.exp(np.mean(chain[:, i])):.4g} (± {100 * np.std(chain[:, i]):.1f} %), true {np.exp(true[i]):.4g}"
    )

# %% [markdown]
# The widths agree. The posterior density is a little skew, which Laplace's approximation cannot know: means of the
# samples lie up to a third of a standard deviation from the mode.

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2))
axes[0].plot(counts, "k.", label="counted")
axes[0].plot(np.array([new_cases(theta, 56) for theta in chain[::100]]).T, color="C0", alpha=0.2, lw=0.7)
axes[0].plot([], color="C0", label="samples of HMC")
axes[0].set(xlabel="day", ylabel="new cases", title="the epidemic")
axes[0].legend(loc="upper left")
angle = np.linspace(0.0, 2.0 * np.pi, 100)
for axis, (i, j) in zip(axes[1:], ((0, 1), (0, 2)), strict=True):
    axis.plot(*np.exp(chain[::4, [i, j]]).T, ".", ms=1.5, alpha=0.5, label="HMC")
    half = np.linalg.cholesky(covariance[np.ix_([i, j], [i, j])])
    for radius in (1.0, 2.0):
        ring = np.exp(mode[[i, j], None] + radius * half @ np.stack((np.cos(angle), np.sin(angle))))
        axis.plot(*ring, color="C3", lw=1, label="Laplace, 1 and 2 σ" if radius == 1.0 else None)
    axis.plot(*np.exp(true[[i, j]]), "k*", ms=9, label="true")
    axis.locator_params(axis="x", nbins=5)
    axis.set(xlabel=NAMES[i], ylabel=NAMES[j], title="posterior density")
axes[2].legend()
plt.show()

# %%
assert found.success
sdfgad.check_grads(energy, mode + deviation, counts, wrt="theta", order=2)
assert acceptance > 0.6
assert np.all(np.abs(np.mean(chain, axis=0) - mode) < 0.5 * deviation)
assert np.allclose(np.std(chain, axis=0), deviation, rtol=0.15)
assert np.all(np.abs(mode - true) < 3.0 * deviation)
