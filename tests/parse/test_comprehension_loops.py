"""Comprehensions whose items change something: loops that fill a list, so that they have as few statements."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(0.2, 1.7, 24)


class Tank:
    def __init__(self, level):
        self.level, self.steps, self.log = level, 0, []

    def step(self, p):
        self.steps += 1
        if p >= 0.5:
            self.level = self.level + p
        else:
            self.level = self.level - self.level * p
        return self.level

    def pair(self, p):
        self.level = 0.9 * self.level + p
        return self.level, p * self.level

    def parts(self, p):
        self.level = 0.9 * self.level + p
        return {"a": self.level, "b": [p, self.level]}

    def logged(self, p):
        self.log.append(self.step(p))
        return 2 * self.level


def numbers(x):
    tank = Tank(x[0])
    levels = np.array([tank.step(p) for p in x])
    return np.sum(levels**2) + tank.steps * tank.level


def pairs(x):
    tank = Tank(x[0])
    a, b = zip(*[tank.pair(p) for p in x], strict=True)
    return np.sum(np.array(a) * np.array(b)) + tank.level


def parts(x):
    tank = Tank(x[0])
    return sum(one["a"] * one["b"][0] + one["b"][1] for one in [tank.parts(p) for p in x])


def logs(x):
    tank = Tank(x[0])
    return sum([tank.logged(p) for p in x]) + np.sum(np.array(tank.log) ** 2)


def generator(x):
    tank = Tank(x[0])
    return sum(tank.step(p) for p in x) + tank.steps + tank.level


def closure(x):
    level = x[0]

    def step(p):
        nonlocal level
        level = 0.9 * level + np.sin(p)
        return level

    return np.sum(np.array([step(p) for p in x]) ** 2) + level


def in_place(x):
    a = np.zeros(3)

    def step(p):
        a[0] += p
        a[1] = a[0] * p
        return a.copy()

    return np.sum(np.array([step(p) for p in x]) ** 2) + a[0]


def random(x):
    rng = np.random.default_rng(3)

    def noisy(p):
        return p * rng.normal()

    return np.sum(np.array([noisy(p) for p in x]) ** 2) + rng.normal() * x[0]


def targets_are_local(x):
    tank, p, total = Tank(x[0]), 100.0, 0.0
    for v in x[:4]:
        levels = [tank.step(p) for p in x]
        total += v * levels[-1] + len(levels)
    return total + p * tank.steps


def nested(x):
    tank = Tank(x[0])
    levels = [[tank.step(k * p) for p in x] for k in (0.3, 0.7, 1.1)]
    return np.sum(np.array(levels) ** 2) + tank.steps


def several_generators(x):
    tank = Tank(x[0])
    levels = [tank.step(x[i] * x[j]) for i in range(len(x)) if i > 3 if i != 7 for j in range(i) if j % 2]
    return levels[3] * levels[-1] + tank.steps


@pytest.mark.parametrize(
    ("program", "most"),
    [
        (numbers, 25),
        (pairs, 25),
        (parts, 70),
        (logs, 30),
        (generator, 30),
        (closure, 20),
        (in_place, 20),
        (random, 20),
        (targets_are_local, 35),
        (nested, 65),
        (several_generators, 30),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_items_that_change_something_are_a_loop(program, most):
    assert_value_and_slope(program, X)
    assert len(str(sdfgad.explain(program, X, stage="parsed")).splitlines()) <= most


def a_condition_on_data(x):
    tank = Tank(x[0])
    return sum([tank.step(p) for p in x[:8] if tank.level > 0.3]) + tank.steps


def an_iterator(x):
    values = iter(x[:8])
    return sum([p + next(values) for p in x[:8]])


def unlike_items(x):
    tank = Tank(x[0])
    first, *others = [np.append(x[:k], tank.step(x[k])) for k in range(6)]
    return first[0] + sum(one[-1] * len(one) for one in others)


@pytest.mark.parametrize("program", [a_condition_on_data, an_iterator, unlike_items], ids=lambda one: one.__name__)
def test_others_are_parsed_item_by_item(program):
    assert_value_and_slope(program, X)


def test_an_error_in_an_item_names_its_line():
    def fails(x):
        tank = Tank(x[0])
        return sum([tank.missing(p) for p in x])

    with pytest.raises(sdfgad.UnsupportedProgram, match=r"AttributeError here: missing") as caught:
        parsed(fails, X)
    assert "tank.missing(p) for p in x" in str(caught.value)


def test_gradients_of_compiled_code():
    g = sdfgad.differentiate(numbers)
    value, gradients = g.value_and_grad(X)
    direction = np.cos(np.arange(len(X)))
    slope = (numbers(X + 1e-6 * direction) - numbers(X - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(value, numbers(X), rtol=1e-12)
    np.testing.assert_allclose(gradients["x"] @ direction, slope, rtol=1e-6)
