"""Derivatives of several outputs at once, and of containers of them."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import sdfgad

Sums = namedtuple("Sums", "total count")


def waves(x, p, n):
    y = x * p["w"]
    for _ in range(n):
        y = np.sin(y) + p["b"]
    return {"y": y, "sums": Sums(np.sum(y), 3)}, "text", np.sum(y * y)


X, P = np.array([1.0, 2.0]), {"w": np.array([0.5, 0.2]), "b": 0.1}
COTANGENT = {"y": np.array([1.0, -0.5]), "sums": Sums(2.0, None)}, None, 0.7


def test_values_and_products_of_containers_are_dual():
    value, pullback = sdfgad.vjp(waves, X, P, 3)
    expected = waves(X, P, 3)
    np.testing.assert_allclose(value[0]["y"], expected[0]["y"], rtol=1e-15)
    assert value[0]["sums"] == pytest.approx(expected[0]["sums"])
    assert value[1] == "text"
    pulled = pullback(COTANGENT)
    assert list(pulled) == ["x", "p"]
    tangents = np.array([0.3, -1.0]), {"w": np.array([1.0, 2.0]), "b": 0.5}
    again, moved = sdfgad.jvp(waves, (X, P, 3), (*tangents, None))
    assert again[2] == value[2]
    assert moved[1] is None
    assert moved[0]["sums"].count is None
    left = moved[0]["y"] @ COTANGENT[0]["y"] + 2.0 * moved[0]["sums"].total + 0.7 * moved[2]
    right = pulled["x"] @ tangents[0] + pulled["p"]["w"] @ tangents[1]["w"] + pulled["p"]["b"] * 0.5
    assert left == pytest.approx(right, rel=1e-13)
    h = 1e-6
    ahead, behind = (waves(X + s * h * tangents[0], P, 3)[2] for s in (1, -1))
    assert sdfgad.jvp(waves, (X, P, 3), (tangents[0], None, None))[1][2] == pytest.approx((ahead - behind) / (2 * h))


def test_the_arguments_that_are_asked_for():
    _, pullback = sdfgad.vjp(waves, X, P, 3, argnums=("p", 0))
    by_p, by_x = pullback(COTANGENT)
    _, single = sdfgad.vjp(waves, X, P, 3, argnums=0)
    np.testing.assert_array_equal(single(COTANGENT), by_x)
    assert by_p["w"].shape == (2,)


def shifted(a, b):
    a[1:] += a[:-1] * b
    return a[0] * b, b * b


def test_outputs_by_name_and_arguments_that_are_updated():
    a = np.array([1.0, 2.0, 3.0])
    value, pullback = sdfgad.vjp(shifted, a, 2.0, output=("return[0]", "a"))
    assert value[0] == 2.0
    np.testing.assert_array_equal(value[1], [1.0, 4.0, 7.0])
    np.testing.assert_array_equal(a, [1.0, 2.0, 3.0])
    pulled = pullback((1.0, np.ones(3)))
    np.testing.assert_allclose(pulled["a"], [5.0, 3.0, 1.0])
    assert pulled["b"] == pytest.approx(4.0)
    (moved,) = sdfgad.jvp(shifted, (a, 2.0), (np.ones(3), None), output=("a",))[1]
    np.testing.assert_allclose(moved, [1.0, 3.0, 3.0])


def doubled(a):
    a *= 2.0


def test_a_program_that_returns_nothing():
    value, moved = sdfgad.jvp(doubled, (X,), (np.ones(2),))
    np.testing.assert_array_equal(value, 2.0 * X)
    np.testing.assert_array_equal(moved, [2.0, 2.0])
    np.testing.assert_array_equal(sdfgad.vjp(doubled, X)[1](np.ones(2))["a"], [2.0, 2.0])


@dataclass
class State:
    u: np.ndarray
    v: float


def advanced(s):
    return State(s.u * s.v, np.sum(s.u))


def test_objects():
    s = State(np.array([1.0, 2.0]), 3.0)
    value, moved = sdfgad.jvp(advanced, (s,), (State(np.ones(2), 0.5),))
    np.testing.assert_allclose(moved.u, 3.0 + 0.5 * s.u)
    assert (value.v, moved.v) == (3.0, 2.0)
    found = sdfgad.vjp(advanced, s)[1](State(np.ones(2), 1.0))["s"]
    np.testing.assert_allclose(found.u, [4.0, 4.0])
    assert found.v == pytest.approx(3.0)


def test_linearize():
    value, push = sdfgad.linearize(lambda x, k: np.sin(k * x), X, 2.0)
    np.testing.assert_allclose(value, np.sin(2.0 * X))
    np.testing.assert_allclose(push(np.ones(2), None), 2.0 * np.cos(2.0 * X))
    np.testing.assert_allclose(push(None, 1.0), X * np.cos(2.0 * X))


def test_a_long_loop_stores_nothing():
    def damped(steps, x):
        for _ in range(steps):
            x = x - 0.01 * np.sin(x)
        return np.sum(x)

    x = np.linspace(0.0, 1.0, 100_000)
    value, slope = sdfgad.jvp(damped, (20_000, x[:5]), (None, np.ones(5)))
    assert 0.0 < slope < value or value == pytest.approx(0.0, abs=1e-9)


def test_later_updates_of_arguments_do_not_reach_pullbacks():
    x, p = X.copy(), {"w": np.array([0.5, 0.2])}
    pullback = sdfgad.vjp(scaled, p, x, 2.0, argnums=1)[1]
    of_several = sdfgad.vjp(scaled, p, x, 2.0, argnums=1, output=("return", "x"))[1]
    push = sdfgad.linearize(scaled, p, x, 2.0)[1]
    by_gradient = sdfgad.differentiate(scaled, wrt="x").linearize(p, x, k=2.0)[1]
    expected = 2.0 * np.cos(x) * p["w"]
    x[:] = p["w"][:] = 0.0
    p["w"] = None
    ones = np.ones(2)
    for found in (pullback(ones), of_several((ones, None)), push(None, ones, None), by_gradient(ones)):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def bad_calls():
    _, pullback = sdfgad.vjp(shifted, X, 2.0, output=("return[0]", "a"))
    return [
        (lambda: pullback((1.0,)), "another structure"),
        (lambda: pullback((1.0, np.ones(3))), r"has shape \(3,\), not \(2,\)"),
        (lambda: sdfgad.jvp(waves, (X, P, 3), (np.ones(3), None, None)), r"argument 0 has shape \(3,\)"),
        (lambda: sdfgad.jvp(waves, (X, P, 3), (None, {"w": X}, None)), "tangent of `p` has another structure"),
        (lambda: sdfgad.jvp(waves, (X, P, 3), (None, {"w": X[:1], "b": None}, None)), "tangent of `p"),
        (lambda: sdfgad.vjp(waves, X, P, 3, argnums="q"), "no argument 'q'"),
        (lambda: sdfgad.vjp(waves, X, P, 3, output=("return[7]",)), "no such outputs"),
        (lambda: sdfgad.vjp(waves, X, P, 3, output=("q",)), "no output 'q'"),
    ]


def test_what_does_not_fit_is_refused():
    for call, text in bad_calls():
        with pytest.raises(sdfgad.SdfgadError, match=text) as caught:
            call()
        assert caught.value.todo


# --- products that programs compute


def inner_loss(x, k):
    y = x
    for _ in range(k):
        y = np.sin(y) * x
    return np.sum(y * y)


def penalised(x, v):
    value, slope = sdfgad.jvp(inner_loss, (x, 3), (v, None))
    return value + slope**2


def curved(x, v):
    return np.sum(sdfgad.hvp(inner_loss, (x, 3), (v, None)) * v)


@pytest.mark.parametrize("program", [penalised, curved])
def test_programs_that_call_products(program):
    x, v = np.array([0.3, 0.8]), np.array([1.0, -2.0])
    assert sdfgad.check_grads(program, x, v).error < 1e-9
    batch = np.array([x, v])
    found = sdfgad.vmap(program, (0, None))(batch, v)
    np.testing.assert_allclose(found, [program(one, v) for one in batch], rtol=1e-12)


def until_large(x):
    while np.sum(x * x) < 10.0:
        x = x * 1.3 + 0.1 * np.sin(x)
    return x


def moved_far(x, v):
    return np.sum(sdfgad.jvp(until_large, (x,), (v,))[1] ** 2)


def test_a_loop_that_ends_by_data_has_a_derivative_in_a_program():
    assert sdfgad.check_grads(moved_far, np.array([0.3, 0.8]), np.array([1.0, -2.0])).error < 1e-8


def by_container(pair, x):
    return pair[0] * np.sum(x**2) + pair[1] * np.sum(x**3)


def test_gradients_of_gradients_take_containers_and_arrays_in_their_order():
    # Containers came after arrays once: both are arrays of two here.
    second = sdfgad.differentiate(sdfgad.differentiate(by_container, wrt="x"), wrt="pair", reduce="sum")
    found = second((1.5, 0.5), X)["pair"] if isinstance(second((1.5, 0.5), X), dict) else second((1.5, 0.5), X)
    np.testing.assert_allclose(found, [np.sum(2.0 * X), np.sum(3.0 * X**2)])

    def swapped(pair, x):
        return np.sum(pair["a"] * x**2)

    both = sdfgad.differentiate(sdfgad.differentiate(swapped, wrt="x"), wrt="x", reduce="sum")
    np.testing.assert_allclose(both({"a": np.array([3.0, 5.0])}, X), [6.0, 10.0])


# --- methods of gradients


def scaled(p, x, k):
    return k * np.sin(x) * p["w"]


def test_forward_mode_of_a_gradient():
    p, t = {"w": np.array([0.5, 2.0])}, np.array([1.0, -1.0])
    expected = 3.0 * np.cos(X) * p["w"] * t
    by_x = sdfgad.differentiate(scaled, wrt="x")
    value, moved = by_x.jvp(p, X, 3.0, tangents=t)
    np.testing.assert_allclose(value, scaled(p, X, 3.0))
    np.testing.assert_allclose(moved, expected, rtol=1e-14)
    both = sdfgad.differentiate(scaled, wrt=("p['w']", "x"))
    np.testing.assert_allclose(both.jvp(p, X, 3.0, tangents=(None, t))[1], expected, rtol=1e-14)
    push = both.linearize(p, X, 3.0)[1]
    np.testing.assert_array_equal(push(None, t), push((None, t)))
    value, push = sdfgad.differentiate(scaled).linearize(p, X, 3.0)
    np.testing.assert_allclose(push({"x": t, "p": {"w": p["w"]}}), expected + value, rtol=1e-14)
    np.testing.assert_allclose(push({"k": 1.0}), value / 3.0, rtol=1e-14)
    for g, tangents, text in [
        (both, (t,), "not a tuple of 2"),
        (both, t, r"not a tuple of 2|has shape"),
        (sdfgad.differentiate(scaled), (t,), "not a dict by name"),
        (by_x, t[:1], r"tangent of `x` has shape \(1,\)"),
    ]:
        with pytest.raises(sdfgad.ArgumentError, match=text):
            g.jvp(p, X, 3.0, tangents=tangents)
