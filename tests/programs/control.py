"""Optimal control of a cart with a pole: policies as closures, states as dicts, costs that are looked up by name."""

import numpy as np

COSTS = {
    "angle": lambda s, u: s["angle"] ** 2,
    "place": lambda s, u: 0.1 * (s["place"] - 0.5) ** 2,
    "effort": lambda s, u: 0.01 * u**2,
    "smooth": lambda s, u: 0.001 * s["spin"] ** 2,
}


def accelerations(state, push, pole):
    sin, cos = np.sin(state["angle"]), np.cos(state["angle"])
    total = pole["cart"] + pole["mass"]
    lever = pole["mass"] * pole["length"]
    common = (push + lever * state["spin"] ** 2 * sin - pole["friction"] * state["speed"]) / total
    spin = (9.81 * sin - cos * common) / (pole["length"] * (4.0 / 3.0 - pole["mass"] * cos**2 / total))
    return common - lever * spin * cos / total, spin


def derivative(state, push, pole):
    speed, spin = accelerations(state, push, pole)
    return {"place": state["speed"], "speed": speed, "angle": state["spin"], "spin": spin}


def combined(state, slope, factor):
    return {name: state[name] + factor * slope[name] for name in state}


def runge_kutta(state, push, pole, dt):
    first = derivative(state, push, pole)
    second = derivative(combined(state, first, 0.5 * dt), push, pole)
    third = derivative(combined(state, second, 0.5 * dt), push, pole)
    fourth = derivative(combined(state, third, dt), push, pole)
    for name in state:
        slope = first[name] + 2.0 * second[name] + 2.0 * third[name] + fourth[name]
        state[name] = state[name] + dt / 6.0 * slope
    return state


def linear_policy(gains):
    def act(state, step):
        return sum(gains[name] * state[name] for name in state)

    return act


def scheduled_policy(pushes, limit):
    def act(state, step):
        return limit * np.tanh(pushes[step] / limit)

    return act


def rollout(state, policy, pole, settings):
    costs = {name: 0.0 for name in settings["weights"]}
    for step in range(settings["steps"]):
        push = policy(state, step)
        if abs(push) > settings["limit"]:
            push = settings["limit"] * np.sign(push)
        for name in costs:
            costs[name] += COSTS[name](state, push) * settings["dt"]
        state = runge_kutta(state, push, pole, settings["dt"])
    return costs, state


def program(start, gains, pushes, pole, settings):
    closed, last = rollout(dict(start), linear_policy(gains), pole, settings)
    opened, _ = rollout(dict(start), scheduled_policy(pushes, settings["limit"]), pole, settings)
    weights = settings["weights"]
    total = sum(weights[name] * (closed[name] + 0.5 * opened[name]) for name in weights)
    return total + 5.0 * last["angle"] ** 2


def arguments(rng):
    start = {"place": 0.1, "speed": 0.0, "angle": 0.2, "spin": -0.1}
    gains = {"place": 0.5, "speed": 0.7, "angle": 12.0, "spin": 3.0}
    pole = {"cart": 1.0, "mass": 0.2, "length": 0.6, "friction": 0.1}
    weights = {"angle": 1.0, "place": 1.0, "effort": 1.0, "smooth": 1.0}
    settings = {"steps": 25, "dt": 0.02, "limit": 8.0, "weights": weights}
    return start, gains, rng.standard_normal(25), pole, settings
