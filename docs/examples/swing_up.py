# %% [markdown]
# # A pendulum that swings itself up
#
# Optimal control by shooting: the cheapest torques that bring a pendulum upright, with a motor too weak to do so
# directly. The Jacobian of the final state is what the optimiser needs to keep the constraint.
#
# The motor of a pendulum can hold it at 24° at most. To stand up, the pendulum has to swing back and forth.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import sdfgad

# %% [markdown]
# ## The program
#
# `θ'' = u - sin θ - 0.05 θ'`: the angle is 0 when the pendulum hangs, time is in units of `√(l/g)`, torque in units
# of `mgl`. A torque is held for four Runge–Kutta steps.

# %%
CONTROLS, DURATION, LARGEST = 80, 16.0, 0.4


def pendulum(angle, speed, torque):
    return torque - np.sin(angle) - 0.05 * speed


def swing(torques):
    """Angle and angular velocity after each torque, of shape (CONTROLS + 1, 2)."""
    states = np.zeros((CONTROLS + 1, 2))
    h = DURATION / CONTROLS / 4
    angle, speed = 0.0, 0.0
    for k in range(CONTROLS):
        for _ in range(4):
            a1 = pendulum(angle, speed, torques[k])
            a2 = pendulum(angle + 0.5 * h * speed, speed + 0.5 * h * a1, torques[k])
            a3 = pendulum(angle + 0.5 * h * (speed + 0.5 * h * a1), speed + 0.5 * h * a2, torques[k])
            a4 = pendulum(angle + h * (speed + 0.5 * h * a2), speed + h * a3, torques[k])
            angle, speed = (
                angle + h * (speed + h * (a1 + a2 + a3) / 6.0),
                speed + h * (a1 + 2.0 * a2 + 2.0 * a3 + a4) / 6.0,
            )
        states[k + 1, 0] = angle
        states[k + 1, 1] = speed
    return states


def miss(torques):
    """How far the final state is from standing still upright."""
    return swing(torques)[-1] - np.array([np.pi, 0.0])


def effort(torques):
    return 0.5 * DURATION / CONTROLS * np.sum(torques**2)


# %% [markdown]
# ## The optimisation
#
# SLSQP minimises the effort subject to `miss(torques) = 0` and bounds on the torques. The start is a simple rule:
# push as strongly as possible in the direction of motion. That pumps energy in, too much of it: the pendulum goes
# round and round.

# %%
times = np.linspace(0.0, DURATION, CONTROLS + 1)
start = np.zeros(CONTROLS)
for k in range(CONTROLS):
    start[k] = LARGEST if swing(start)[k, 1] >= 0.0 else -LARGEST
found = minimize(
    sdfgad.value_and_grad(effort),
    start,
    jac=True,
    method="SLSQP",
    bounds=[(-LARGEST, LARGEST)] * CONTROLS,
    constraints={"type": "eq", "fun": miss, "jac": sdfgad.jacobian(miss)},
    options={"maxiter": 300, "ftol": 1e-10},
)
print(
    f"{found.message}: {found.nit} iterations, effort {effort(start):.3f} -> {found.fun:.3f}, misses by {miss(found.x)}"
)

# %% [markdown]
# ## What a torque is worth
#
# At the optimum, where a torque is not at its bound, the derivative of the effort is a combination of those of the
# constraints; the coefficients are the multipliers, and say how much effort a small change of the target costs or
# saves.

# %%
inside = np.abs(found.x) < LARGEST - 1e-6
J = sdfgad.jacobian(miss)(found.x)
slope = sdfgad.grad(effort)(found.x)
multipliers, *_ = np.linalg.lstsq(J[:, inside].T, slope[inside], rcond=None)
stationarity = np.max(np.abs(slope - multipliers @ J)[inside]) / np.max(np.abs(slope))
print(f"effort for one more radian: {multipliers[0]:.3f}; stationary to {stationarity:.1e}")

# %% [markdown]
# The torques, given to an integrator of SciPy that knows nothing of ours, swing the pendulum up just so.

# %%
state = np.zeros(2)
for k in range(CONTROLS):
    state = solve_ivp(
        lambda t, y, torque: [y[1], pendulum(y[0], y[1], torque)],
        times[k : k + 2],
        state,
        args=(found.x[k],),
        rtol=1e-9,
    ).y[:, -1]
print(f"SciPy's integrator ends at {np.degrees(state[0]):.3f}°")

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 3.2))
states, first = swing(found.x), swing(start)
left.plot(times, np.degrees(first[:, 0]), color="gray", lw=1, label="start")
left.plot(times, np.degrees(states[:, 0]), label="optimal")
left.axhline(180.0, color="black", lw=0.5, ls="--")
left.set(yticks=range(0, 901, 180), xlabel="time (√(l/g))", ylabel="angle (°)", title="the pendulum")
left.legend(loc="upper left")
middle.stairs(start, times, baseline=None, color="gray", label="start")
middle.stairs(found.x, times, baseline=None, label="optimal", lw=1.5)
middle.axhline(LARGEST, color="black", lw=0.5, ls="--")
middle.axhline(-LARGEST, color="black", lw=0.5, ls="--")
middle.set(xlabel="time (√(l/g))", ylabel="torque (mgl)", title="the motor", ylim=(-0.65, 0.5))
middle.legend(loc="lower left", ncols=2)
right.plot(np.degrees(states[:, 0]), states[:, 1])
right.plot(0, 0, "o", color="gray", label="hangs")
right.plot(180, 0, "o", color="black", label="stands")
right.set(xlabel="angle (°)", ylabel="angular velocity (√(g/l))", title="phase plane")
right.legend(loc="upper right")
plt.show()

# %%
print(sdfgad.check_grads(miss, start, wrt="torques", modes=("rev", "fwd")))
assert found.success
assert np.max(np.abs(miss(found.x))) < 1e-6
assert np.max(np.abs(found.x)) <= LARGEST + 1e-9
assert found.fun < effort(start)
assert stationarity < 1e-2
assert np.allclose(state, [np.pi, 0.0], atol=1e-3)
