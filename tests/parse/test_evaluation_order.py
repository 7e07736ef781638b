"""When values are computed: where Python computes them, not where they are used."""

import numpy as np
import pytest

from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope

X = np.random.default_rng(6).uniform(0.5, 1.5, (3, 4))

# What Python holds in names, tuples, functions and defaults is computed where it is bound.
KEPT = {
    "a tuple of parts": "t = np.modf(x)\nx += 1.25\nreturn t[0] + t[1] * x",
    "a quotient and a rest": "t = divmod(x, 0.3)\nx += 1.25\nreturn t[0] + t[1] * x",
    "in a tuple in a tuple": "t = (np.modf(x), 1)\nx += 1.25\nreturn t[0][0] * x",
    "a named tuple": "r = np.linalg.slogdet(x[:, :3])\nx += 1.0\nreturn r[1] * x",
    "named tuples in a loop": (
        "r = np.linalg.slogdet(x[:, :3])\nfor k in range(5):\n    r = np.linalg.slogdet(x[:, :3])\n"
        "    x += np.eye(3, 4)\nreturn r[1] * x"
    ),
    "a method": "f = (x * 2.0).sum\nx += 1.0\nreturn f() * x",
    "a partial": "f = partial(np.multiply, x * 2.0)\nx += 1.0\nreturn f(x)",
    "a keyword of a partial": "f = partial(np.sum, axis=0, initial=x[0, 0] * 2.0)\nx += 1.0\nreturn f(x)",
    "a default": "def f(u=x * 2.0):\n    return u * 3.0\nx += 1.0\nreturn f() * x",
    "a default by keyword": "def f(*, u=x * 2.0):\n    return u * 3.0\nx += 1.0\nreturn f() * x",
    "a default of a lambda": "f = lambda u=x[0] * 2.0: u * 3.0\nx += 1.0\nreturn f() * x",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(
        f"from functools import partial\n\nimport numpy as np\n\ndef program(x):\n{lines}\n", folder
    ).program


@pytest.mark.parametrize("name", KEPT)
def test_values_that_are_kept(name, tmp_path):
    program = program_of(KEPT[name], tmp_path)
    assert_value_and_slope(program, X)


CALLS = "def g(u):\n    u += 1.0\n    return u\ndef h(u):\n    u += 1.0\n    return 1\n"
OPERANDS = {
    "of a method": CALLS + "return (x * 2.0).dot(g(x).T)",
    "of an operator": CALLS + "return (x * 2.0) @ g(x).T + x[0, 0]",
    "of an assignment": CALLS + "y = np.zeros((3, 4))\ny[h(x)] = x[0] * 2.0\nreturn y * x",
    "of an update": CALLS + "x[0, 0] += h(x) * x[0, 1]\nreturn x * x",
    "of a slice": "def j(u):\n    u[0] = 2\n    return 3\nn = np.array([0, 3])\nreturn x * np.sum(x[0, n[0] : j(n)])",
    "by reference": "return x * np.add(x, 1.0, out=x)",
}
# With what is read of the result.
UPDATED = {
    "y = x * 2.0 + np.add(x, 1.0, out=x)": "y",
    "y = x[0, 0] + np.sum(np.add(x, 1.0, x))": "y",
    "y = (x * 2.0, np.multiply(x, 2.0, out=x))": "y[0]",
    "y = [x[0, 0] * 2.0, x.fill(3.0)]": "y[0]",
    "y = {'a': np.sin(x), 'b': np.copyto(x, 1.0)}": "y['a']",
    "y = (x * 2.0).dot(np.add(x, 1.0, out=x).T)": "np.sum(y)",
    "y = np.where(x > 1.0, x, np.nan_to_num(x, copy=False))": "y",
    "x[0, 0] += np.sum(np.add(x, 1.0, out=x))": "x[0, 1]",
    "x[np.sum(np.add(x, 1.0, out=x) > 9.0)] = x[0] * 2.0": "x[0, 1]",
}


@pytest.mark.parametrize("name", OPERANDS)
def test_operands_that_a_later_one_updates(name, tmp_path):
    program = program_of(OPERANDS[name], tmp_path)
    assert_value_and_slope(program, X)


@pytest.mark.parametrize("statement", UPDATED)
def test_operands_that_a_function_of_numpy_updates(statement, tmp_path):
    program = program_of(f"{statement}\nreturn x * 1.0 + {UPDATED[statement]}", tmp_path)
    assert_value_and_slope(program, X)


class Tank:
    def __init__(self, level):
        self.level, self.parts = level, np.array([level, 0.0, 1.0])

    def step(self, p):
        self.level = 0.9 * self.level + p
        self.parts[0] += p
        return self.level


def by_a_method(x):
    tank, total = Tank(x[0, 0]), 0.0
    for p in x[1]:
        total += tank.parts[0] * tank.step(p) + np.sum(-tank.parts + tank.step(p))
        total += max(tank.parts[0], tank.step(p)) + np.sum(tank.parts[[0, 2]] * tank.step(p) * tank.parts[0])
        total -= (tank.parts[0], tank.step(p), tank.parts[0])[0]
        if tank.parts[0] + tank.step(p) > 1.0:
            total += np.sum(tank.parts * tank.step(p))
    return total + sum([np.sum(np.square(tank.parts) + tank.step(p)) for p in x[2]])


def test_operands_that_a_method_updates():
    assert_value_and_slope(by_a_method, X)


def first_of(function, x):
    return function(x, np.sum)


def by_lambda(x):
    return first_of(lambda y, f: y.reshape(4, 3) * f(y), x)[0, 1] + first_of(lambda y, f: y[0], x)[2]


def test_a_lambda_in_an_expression_whose_parameters_it_calls():
    assert_like_python(by_lambda, X)
