# %% [markdown]
# # Three bodies on a figure of eight
#
# A periodic orbit is found by shooting: the Gauss–Newton method with the exact Jacobian of an integrator. The
# Jacobian of one whole period says whether the orbit is stable.
#
# Three equal masses can chase each other along one curve shaped like an 8 (Moore 1993; Chenciner and Montgomery
# 2000). At the start one body is in the middle of the two others; after a third of the period each body is where the
# next one was. These are equations for the initial positions and velocities.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import sdfgad

# %% [markdown]
# ## The program
#
# Forces are added pair by pair, and the classical Runge–Kutta method updates positions and velocities in place.

# %%
PERIOD = 6.32591398


def accelerations(q):
    a = np.zeros_like(q)
    for i in range(3):
        for j in range(i):
            r = q[j] - q[i]
            pull = r / np.sum(r * r) ** 1.5
            a[i] += pull
            a[j] -= pull
    return a


def flow(state, duration, steps):
    """The state (positions, then velocities, each of shape (3, 2)) after a time."""
    q, v = state[0].copy(), state[1].copy()
    h = duration / steps
    for _ in range(steps):
        a1 = accelerations(q)
        v2 = v + 0.5 * h * a1
        a2 = accelerations(q + 0.5 * h * v)
        v3 = v + 0.5 * h * a2
        a3 = accelerations(q + 0.5 * h * v2)
        v4 = v + h * a3
        a4 = accelerations(q + h * v3)
        q += h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
        v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return np.stack((q, v))


def initial(unknown):
    """Two bodies opposite each other, the third in the middle; no net momentum."""
    state = np.zeros((2, 3, 2))
    state[0, 0] = unknown[:2]
    state[0, 1] = -unknown[:2]
    state[1, 0] = unknown[2:]
    state[1, 1] = unknown[2:]
    state[1, 2] = -2.0 * unknown[2:]
    return state


def gap(unknown, steps):
    """How far each body is, after a third of the period, from where the next one started."""
    state = initial(unknown)
    after = flow(state, PERIOD / 3.0, steps)
    return np.roll(after, 1, axis=1).ravel() - state.ravel()


# %% [markdown]
# ## Shooting
#
# Four unknowns, twelve equations: `least_squares` with the Jacobian of `gap`, from a guess that does not close at
# all.

# %%
STEPS = 300
guess = np.array([-1.0, 0.2, 0.4, 0.5])
jacobian = sdfgad.jacobian(gap, 0)
found = least_squares(
    gap, guess, jac=lambda x, steps: jacobian(x, steps), args=(STEPS,), xtol=1e-15, ftol=1e-15, gtol=1e-15
)
print(f"gap at the guess: {np.linalg.norm(gap(guess, STEPS)):.1e}, found: {np.linalg.norm(found.fun):.1e}")
print(f"{found.njev} Jacobians; position {found.x[:2]}, velocity {found.x[2:]}")

# %% [markdown]
# ## Stability
#
# The Jacobian of the flow over one period, the monodromy matrix, tells what becomes of a small disturbance. Its
# twelve eigenvalues lie on the unit circle: disturbances turn, and do not grow exponentially. Eight of them are 1 in
# exact arithmetic, for the conserved quantities and the symmetries; these eigenvalues are defective, and so they are
# found to half of the digits only.

# %%
state = initial(found.x)
monodromy = sdfgad.jacobian(flow, 0)(state, PERIOD, 3 * STEPS).reshape(12, 12)
eigenvalues = np.linalg.eigvals(monodromy)
turning = eigenvalues[np.abs(eigenvalues - 1.0) > 0.02]
print("eigenvalues other than 1:", np.round(np.sort_complex(turning), 5))
print("their moduli:", np.round(np.abs(turning), 6))

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 3.0))
for axes, unknown, title in ((left, guess, "the guess"), (middle, found.x, "the orbit found")):
    orbit = [initial(unknown)]
    for _ in range(90):
        orbit.append(flow(orbit[-1], PERIOD / 90, 10))
    paths = np.array(orbit)[:, 0]
    for body in range(3):
        axes.plot(paths[:, body, 0], paths[:, body, 1], lw=1)
        axes.plot(*paths[0, body], "o", color=f"C{body}")
    axes.set(xlabel="x", ylabel="y", title=f"{title}, one period", aspect="equal", xlim=(-1.4, 1.4), ylim=(-1.1, 1.1))
circle = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 200))
right.plot(circle.real, circle.imag, color="lightgray")
right.plot(eigenvalues.real, eigenvalues.imag, "x")
right.set(xlabel="real part", ylabel="imaginary part", title="eigenvalues of the period", aspect="equal")
plt.show()

# %% [markdown]
# The initial conditions agree with those that Simó published but for a rotation: lengths and angles are the same. The
# Jacobian agrees with finite differences of the program.

# %%
nudges = 1e-5 * np.eye(4)
differences = np.array([(gap(guess + nudge, STEPS) - gap(guess - nudge, STEPS)) / 2e-5 for nudge in nudges]).T
assert np.allclose(jacobian(guess, STEPS), differences, atol=1e-7)
assert np.linalg.norm(found.fun) < 1e-8
known = np.array([[-0.97000436, 0.24308753], [0.466203685, 0.43236573]])
here = found.x.reshape(2, 2)
assert np.allclose(here @ here.T, known @ known.T, atol=1e-6)
assert np.allclose(np.linalg.det(monodromy), 1.0, atol=1e-6)
assert np.allclose(np.abs(turning), 1.0, atol=1e-4)
