"""Calls of helpers, and arrays that a function takes from outside."""

import ast
import dataclasses
import os

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises, UnsupportedProgram
from tests.helpers import assert_gradient
from tests.helpers_ir import assert_value_and_slope

WEIGHTS = np.arange(16.0).reshape(4, 4) / 10
ORDER = np.array([2, 0, 1])


def scaled(x, w=np.linspace(0.5, 1.0, 4)):  # noqa: B008
    return x * w


def bumped(y):
    y[0] += 1.0
    return y[0]


def with_outer_arrays(x):
    y = WEIGHTS @ x + scaled(x)
    for i in range(3):
        y[i] += WEIGHTS[i, 0] * x[ORDER[i]]
    y[1] = y[0] * 2.0 + bumped(y)
    return np.sum(y * y) + np.sum(x[ORDER] ** 3)


def with_outer_arrays_jax(x):
    y = WEIGHTS @ x + x * np.linspace(0.5, 1.0, 4)
    y = y.at[:3].add(WEIGHTS[:3, 0] * x[ORDER])
    old = y[0]
    y = y.at[0].add(1.0)
    y = y.at[1].set(old * 2.0 + y[0])
    return jnp.sum(y * y) + jnp.sum(x[ORDER] ** 3)


def test_outer_arrays_and_helpers(rng):
    assert_gradient(with_outer_arrays, with_outer_arrays_jax, rng.uniform(0.5, 1.0, 4))


def make(weights):
    def program(x):
        return np.sum(weights * x)

    return program, lambda new: weights.__setitem__(slice(None), new)


def test_outer_arrays_are_read_at_each_call():
    program, change = make(np.ones(3))
    g = sdfgad.grad(program)
    np.testing.assert_array_equal(g(np.zeros(3)), np.ones(3))
    change(5.0)
    np.testing.assert_array_equal(g(np.zeros(3)), np.full(3, 5.0))


def test_an_outer_array_that_is_replaced(monkeypatch):
    g = sdfgad.grad(with_outer_arrays)
    x = np.linspace(0.1, 1.0, 4)
    before = g(x)
    monkeypatch.setattr("tests.parse.test_calls.WEIGHTS", np.zeros((4, 4)))
    after = g(x)
    assert not np.allclose(before, after)
    np.testing.assert_allclose(after, sdfgad.grad(with_outer_arrays)(x))


@dataclasses.dataclass
class Parameters:
    drift: float
    steps: float = dataclasses.field(default=1.0, metadata={"kind": "numerical"})


def of_python_and_its_libraries(x):
    x = np.asarray_chkfinite(x, dtype=float, order="C")
    w = x / np.sum(x)
    np.testing.assert_allclose(np.sum(w), 1.0, err_msg=f"{np.sum(w)}")
    p = Parameters(x[0], x[1])
    model = [getattr(p, one.name) for one in dataclasses.fields(p) if one.metadata.get("kind") != "numerical"]
    scales = {name: eval(text) for name, text in (("a", "1.5"), ("b", "[1, 2]"))}
    total = sum(model) * scales["a"] + w[1] * scales["b"][1] + w[2] * ast.literal_eval("(2.0,)")[0]
    return total * min(os.cpu_count(), 1) + np.sum(x[x.size > 2 :])


def test_functions_that_are_evaluated_while_parsing_or_left_out():
    x = np.array([0.5, 1.5, 2.5])
    assert_value_and_slope(of_python_and_its_libraries, x)
    with pytest.raises(ProgramRaises, match="infs or NaNs"):
        sdfgad.value_and_grad(of_python_and_its_libraries)(np.array([0.5, np.nan, 1.0]))


def test_eval_of_an_expression_is_refused():
    with pytest.raises(UnsupportedProgram, match="no literal"):
        sdfgad.value_and_grad(lambda x: eval("x[0]"))(np.ones(3))
