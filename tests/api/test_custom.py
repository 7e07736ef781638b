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
    with pytest.raises(sdfgad.ArgumentError, match="the custom_jvp `without_a_rule` has no rule") as caught:
        sdfgad.grad(of_no_rule)(np.ones(2))
    assert str(caught.value.where) == line_of(of_no_rule, "without_a_rule")
    assert "defjvp" in caught.value.todo


def plain(x):
    return np.sum(np.log1p(np.exp(2.0 * x)) ** 2)


def test_higher_derivatives():
    x, t = np.array([-1.0, 0.5, 2.0]), np.array([1.0, 2.0, -1.0])
    np.testing.assert_allclose(sdfgad.hvp(summed, (x,), (t,)), sdfgad.hvp(plain, (x,), (t,)), rtol=1e-12)
    third = [
        sdfgad.differentiate(sdfgad.differentiate(sdfgad.grad(f), reduce="sum"), reduce="sum")(x)["x"]
        for f in (summed, plain)
    ]
    np.testing.assert_allclose(third[0], third[1], rtol=1e-11)
    value, slope = sdfgad.jvp(lambda x: sdfgad.jvp(summed, (x,), (t,))[1], (x,), (t,))
    assert value == pytest.approx(sdfgad.grad(plain)(x) @ t)
    assert slope == pytest.approx(sdfgad.hvp(plain, (x,), (t,)) @ t)


@sdfgad.custom_jvp
def steep(x):
    return np.where(x > 0.0, np.sqrt(x), 0.0)


@steep.defjvp
def rule_of_steep(primals, tangents):
    (x,), (t,) = primals, tangents
    y = steep(x)  # Its own rule holds here, too, as far as first derivatives ask for it.
    for _ in range(2):
        t = 1.0 * t
    return y, np.where(x > 0.0, 0.5 * t / np.where(x > 0.0, y, 1.0), 0.0)


def test_a_rule_with_a_loop_in_loops_and_batches():
    def program(x):
        for _ in range(3):
            x = steep(x) + 0.1
        return np.sum(x)

    x = np.array([0.0, 0.3, 4.0])
    assert sdfgad.check_grads(program, x[1:], order=2, modes=("fwd", "rev")).error < 1e-8
    found = sdfgad.vmap(sdfgad.grad(program))(x[:, None])
    np.testing.assert_allclose(found[:, 0], [sdfgad.grad(program)(one)[0] for one in x[:, None]])
    np.testing.assert_allclose(sdfgad.hessian(program)(x), np.diag(np.diag(sdfgad.hessian(program)(x))))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda primals, tangents: primals[0], "returns no pair"),
        (lambda primals, tangents: (primals[0], {"x": tangents[0]}), "another structure"),
        (lambda primals, tangents: (primals[0], np.sum(tangents[0])), r"tangent has shape \(\), the value \(2,\)"),
        (lambda primals: primals, "fit|parameters"),
    ],
)
def test_rules_that_do_not_fit_are_refused(rule, text):
    without_a_rule.rule = rule
    with pytest.raises(sdfgad.SdfgadError, match=text) as caught:
        sdfgad.grad(of_no_rule)(np.ones(2))
    assert caught.value.todo
    without_a_rule.rule = None


@sdfgad.custom_jvp
def counted(x):
    return int(x.shape[0]), x > 0.5


counted.defjvp(lambda primals, tangents: (counted(*primals), (None, None)))


@sdfgad.custom_jvp
def weighted(x, w=2.0):
    return x * w


weighted.defjvp(lambda p, t: (weighted(*p), t[0] * p[1] + p[0] * t[1]))


def of_constants_and_integers(x, w):
    n, large = counted(x)
    return n * np.sum(np.where(large, x, 0.0)) + np.sum(weighted(x, w=w) + weighted(x)) + weighted(3)


def test_integers_defaults_and_names():
    x = np.array([0.2, 0.9])
    value, found = sdfgad.differentiate(of_constants_and_integers).value_and_grad(x, 5.0)
    assert value == pytest.approx(of_constants_and_integers(x, 5.0))
    np.testing.assert_allclose(found["x"], [7.0, 9.0])
    assert found["w"] == pytest.approx(1.1)
    assert sdfgad.differentiate(weighted)(3.0, 4.0) == {"x": 4.0, "w": 3.0}
