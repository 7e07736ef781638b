"""Derivative rules of the user's own."""

import numpy as np
import pytest

import sdfgad
from tests.helpers import line_of


@sdfgad.custom_jvp
def softplus(x):
    return np.log1p(np.exp(x))


@softplus.defjvp
def rule_of_softplus(primals, tangents):
    (x,), (t,) = primals, tangents
    return softplus(x), t / (1.0 + np.exp(-x))


def summed(x):
    return np.sum(softplus(2.0 * x) ** 2)


def test_a_rule_replaces_the_derivative():
    x = np.array([-1.0, 0.5, 2.0])
    assert sdfgad.check_grads(summed, x, modes=("fwd", "rev")).error < 1e-9
    large = np.array([500.0])
    with np.errstate(over="ignore"):
        assert np.isinf(summed(large))
    (slope,) = sdfgad.grad(lambda x: np.sum(sdfgad.stop_gradient(x) * softplus(2.0 * x)))(large)
    assert slope == pytest.approx(1000.0)  # The function's own derivative would be inf / inf.


@sdfgad.custom_jvp
def scaled(params, y):
    return {"s": params["a"] * y, "q": np.sum(y**2)}


@scaled.defjvp
def rule_of_scaled(primals, tangents):
    (params, y), (dp, dy) = primals, tangents
    value = {"s": params["a"] * y, "q": np.sum(y**2)}
    return value, {"s": dp["a"] * y + params["a"] * dy, "q": 2.0 * (y @ dy)}


def of_trees(params, y):
    for _ in range(3):
        found = scaled(params, y)
        y = np.sin(found["s"]) + 0.1 * found["q"]
    return np.sum(y)


def test_trees_in_a_loop():
    assert sdfgad.check_grads(of_trees, {"a": np.array([1.0, 2.0])}, np.array([0.3, 0.4])).error < 1e-8


@sdfgad.custom_jvp
def reversed_gradient(x):
    return x


reversed_gradient.defjvp(lambda primals, tangents: (primals[0], -tangents[0]))


def adversary(x):
    return np.sum(reversed_gradient(x) ** 2)


def test_the_rule_counts_and_not_the_function():
    x = np.array([1.0, -2.0])
    value, gradient = sdfgad.differentiate(adversary, wrt="x").value_and_grad(x)
    assert value == adversary(x) == 5.0
    np.testing.assert_array_equal(gradient, -2.0 * x)


@sdfgad.custom_jvp
def without_a_rule(x):
    return x


def of_no_rule(x):
    return np.sum(without_a_rule(x))


def test_a_missing_rule():
    with pytest.raises(sdfgad.UnsupportedProgram, match="a custom_jvp has no rule") as caught:
        sdfgad.grad(of_no_rule)(np.ones(2))
    assert str(caught.value.where) == line_of(of_no_rule, "without_a_rule")
    assert "defjvp" in caught.value.todo


@pytest.mark.parametrize("program", [summed, lambda x: np.sum(softplus(x))])
def test_second_derivatives_through_a_rule_are_refused(program):
    with pytest.raises(sdfgad.MissingRule, match=r"custom_jvp_.*in_a_gradient"):
        sdfgad.hvp(program, (np.ones(2),), (np.ones(2),))
