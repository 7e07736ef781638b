"""`check_grads` accepts right gradients, with the rate that the theory gives, and refuses wrong ones."""

import math
import re

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import GradientMismatch, SdfgadError
from sdfgad.planning import layout_cache
from sdfgad.rules import elementary
from sdfgad.rules.algebra import call, const, mul, neg
from tests.helpers import line_of


def waves(x, s):
    y = np.sin(x) * s
    return np.sum(y * y)


def linear(x, y):
    return 2.0 * np.sum(x) - x[0] + np.sum(y[1:])


def update(x, n):
    for i in range(1, n):
        x[i] = x[i] * x[i - 1] + 0.3


X = np.linspace(0.3, 1.1, 5)


def test_a_right_gradient():
    result = sdfgad.check_grads(waves, X, 0.7, directions=3)
    assert result.directions == 3
    assert result.error < 1e-8
    assert 1.9 < result.rate < 2.3


def test_a_linear_program_has_no_remainder():
    result = sdfgad.check_grads(linear, X, X)
    assert result.error < 1e-8
    assert result.rate == np.inf


def test_outputs():
    assert sdfgad.check_grads(update, X, 5).rate > 1.9
    assert sdfgad.check_grads(lambda x: (x, x * x), X, output="return[1]").rate > 1.9
    assert sdfgad.check_grads(lambda x: x * x * x, np.ones((2, 3))).rate > 1.9
    assert sdfgad.check_grads(lambda x, y: np.sum(x * x), X, X, allow_unused=True).rate > 1.9


def test_wrt_and_kinds_of_scalars():
    assert sdfgad.check_grads(waves, X, np.float64(0.7), wrt="s").error < 1e-8
    assert sdfgad.check_grads(waves, X, np.array(0.7), wrt=("s", 0)).error < 1e-8


def test_single_precision():
    result = sdfgad.check_grads(waves, X.astype(np.float32), np.float32(0.7))
    assert result.error < 1e-2


def test_arguments_are_left_alone():
    x = X.copy()
    sdfgad.check_grads(update, x, 5)
    np.testing.assert_array_equal(x, X)


def test_results_depend_on_the_seed_alone():
    results = [sdfgad.check_grads(waves, X, 0.7, seed=seed) for seed in (1, 1, 2)]
    assert results[0] == results[1]
    assert results[0] != results[2]


WRONG = {
    "sign": lambda t, y, a: (neg(mul(t, call("cos", a))),),
    "factor": lambda t, y, a: (mul(t, mul(const(1 + 1e-4, a), call("cos", a))),),
    "dropped": lambda t, y, a: (mul(t, const(0, a)),),
    "other point": lambda t, y, a: (mul(t, call("cos", y)),),
}


@pytest.fixture
def derived(monkeypatch):
    """Gradients are derived anew: what earlier processes derived knows nothing of other rules."""
    monkeypatch.setattr(layout_cache, "_read", lambda _: None)
    monkeypatch.setattr(layout_cache, "_write", lambda *_: None)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_found(monkeypatch, derived, name):
    monkeypatch.setitem(elementary.ELEMENTARY, "sin", WRONG[name])
    with pytest.raises(GradientMismatch, match="gradient of `return` by x, s differs") as caught:
        sdfgad.check_grads(waves, X, 0.7)
    assert isinstance(caught.value, SdfgadError)
    assert isinstance(caught.value, AssertionError)
    assert "def waves(x, s):" in str(caught.value)


@pytest.mark.parametrize("name", WRONG)
def test_the_taylor_test_alone_finds_a_wrong_rule(monkeypatch, derived, name):
    monkeypatch.setitem(elementary.ELEMENTARY, "sin", WRONG[name])
    with pytest.raises(GradientMismatch, match="Taylor remainder of order"):
        sdfgad.check_grads(waves, X, 0.7, tolerance=100.0)


def test_a_dropped_term_is_found(monkeypatch, derived):
    monkeypatch.setitem(elementary.ELEMENTARY, "multiply", lambda t, y, a, b: (mul(t, b), None))
    with pytest.raises(GradientMismatch):
        sdfgad.check_grads(lambda x: np.sum(x * np.exp(x)), X)


def test_a_wrong_rule_in_single_precision(monkeypatch, derived):
    monkeypatch.setitem(elementary.ELEMENTARY, "sin", WRONG["sign"])
    with pytest.raises(GradientMismatch):
        sdfgad.check_grads(waves, X.astype(np.float32), np.float32(0.7))


def test_a_kink_is_not_a_smooth_point():
    with pytest.raises(GradientMismatch, match="smooth"):
        sdfgad.check_grads(lambda x: np.sum(np.abs(x)), np.zeros(3), tolerance=1e-6)


# --- second derivatives and forward mode


def network(n, params, x):
    for _ in range(n):
        x = np.sin(x @ params["w"]) + params["b"] * x
    return x


RNG = np.random.default_rng(3)
PARAMS = {"w": RNG.random((3, 3)), "b": RNG.random(3)}


def test_both_orders_and_modes():
    result = sdfgad.check_grads(network, 3, PARAMS, RNG.random(3), order=2, modes=("fwd", "rev"))
    assert result.error < 1e-7
    assert 1.9 < result.rate < 2.2
    z = RNG.random(3) + 1j * RNG.random(3)
    assert sdfgad.check_grads(lambda z: np.abs(z) ** 3, z, order=2, modes=("fwd", "rev")).rate > 1.9
    assert sdfgad.check_grads(network, 2, PARAMS, RNG.random(3), wrt="params['w']", order=2).error < 1e-7
    assert sdfgad.check_grads(waves, X.astype(np.float32), np.float32(0.7), order=2).error < 1e-2


def test_a_kink_has_no_second_derivative():
    with pytest.raises(GradientMismatch, match="has a derivative that differs from central differences"):
        sdfgad.check_grads(lambda x: np.sum(np.maximum(x, 0.0) ** 2), np.array([-1e-7, 1e-7, 2e-7]), order=2)


def test_a_wrong_second_derivative_is_found(monkeypatch, derived):
    """The derivative of cos is used by second derivatives of sin alone."""
    monkeypatch.setitem(elementary.ELEMENTARY, "cos", lambda t, y, a: (mul(t, mul(const(-0.9, a), call("sin", a))),))
    assert sdfgad.check_grads(waves, X, 0.7).error < 1e-7
    with pytest.raises(GradientMismatch, match="has a derivative that differs"):
        sdfgad.check_grads(waves, X, 0.7, order=2)


def test_orders_and_modes_must_be_known():
    with pytest.raises(sdfgad.ArgumentError, match="order=3"):
        sdfgad.check_grads(waves, X, 0.7, order=3)
    with pytest.raises(sdfgad.ArgumentError, match=r"modes=.*back"):
        sdfgad.check_grads(waves, X, 0.7, modes=("back",))


# --- complex steps


def recurrence(x, s):
    y = np.sin(x) * s
    for i in range(1, 5):
        y[i] = y[i] * y[i - 1] + np.exp(x[i])
    return y


def layers(p):
    return np.sum(np.linalg.solve(p["w"] @ p["w"] + np.eye(5), x_of(p))) * p["b"]


def x_of(p):
    return np.maximum(p["w"][0], 0.1) ** 3


@pytest.mark.parametrize(
    ("program", "args", "error"),
    [
        (recurrence, (X, 0.7), 1e-14),
        (recurrence, (X, np.float64(0.7)), 1e-14),
        (recurrence, (X, np.array(0.7)), 1e-14),
        (layers, ({"w": np.outer(X, X[::-1]), "b": 2.0},), 1e-13),
        (recurrence, (X.astype(np.float32), np.float32(0.7)), 1e-5),
        (update, (X, 5), 1e-14),
        (lambda x: 1e6 + 0.0 * np.sum(x), (X,), 0.0),
    ],
)
def test_complex_steps_show_all_digits(program, args, error):
    result = sdfgad.check_grads(program, *args, modes=("rev", "complex"), order=2)
    assert result.complex_error <= error
    assert sdfgad.check_grads(program, *args).complex_error is None


def with_abs(x):
    y = np.sum(x**2)
    return y + np.sum(np.abs(x))


def with_a_little_abs(x):
    y = np.sum(x**2)
    return y + 1e-9 * np.sum(np.abs(x))


def with_a_norm(x):
    return np.linalg.norm(x)


def in_real_storage(x):
    y = np.zeros(5)
    y[:] = x * x
    return np.sum(y)


def with_a_condition(x, s):
    if s > 0:
        x = x * s
    return np.sum(x)


def by_math(x, s):
    return math.sin(s) * np.sum(x)


NOT_HOLOMORPHIC = [
    (with_abs, "np.abs", "central differences -?[0-9.]+; the likely cause is np.absolute", "Leave"),
    (with_a_little_abs, "np.abs", "too rough to say which is right; the likely cause is np.absolute", "Leave"),
    (with_a_norm, "def ", "it gives 0, central differences .* the program is likely to take .real, np.conj", "Leave"),
    (in_real_storage, "y[:]", "raises ComplexWarning: Casting complex values to real", "np.zeros_like"),
    (with_a_condition, "if s > 0", "raises TypeError: '>' not supported between instances of 'complex'", "x.real"),
    (by_math, "math.sin", "raises TypeError: must be real number, not complex", "np.sin for math.sin"),
]


@pytest.mark.parametrize(("program", "line", "what", "todo"), NOT_HOLOMORPHIC)
def test_programs_that_are_not_holomorphic(program, line, what, todo):
    args = (X, 0.7)[: program.__code__.co_argcount]
    assert sdfgad.check_grads(program, *args).error < 1e-6
    with pytest.raises(sdfgad.NotHolomorphic, match=what) as caught:
        sdfgad.check_grads(program, *args, modes=("rev", "complex"))
    assert re.search(r"by `[xs]` along random direction 1 of 2 \(seed 0\) is not possible", str(caught.value))
    assert todo in caught.value.todo
    assert str(caught.value.where) == line_of(program, line)


def test_complex_steps_find_what_differences_cannot_see(monkeypatch, derived):
    rule = lambda t, y, a: (mul(t, mul(const(1 + 1e-8, a), call("cos", a))),)  # noqa: E731
    monkeypatch.setitem(elementary.ELEMENTARY, "sin", rule)
    assert sdfgad.check_grads(waves, X, 0.7, wrt="x").error < 1e-6
    with pytest.raises(GradientMismatch, match="by `x` along random direction 1 of 2") as caught:
        sdfgad.check_grads(waves, X, 0.7, wrt="x", modes=("complex",))
    assert re.search(r"differs from the complex step by \S+ \(limit 1e-10\): the gradient gives", str(caught.value))
    assert "Central differences side with the complex step" in caught.value.todo


def test_complex_steps_are_for_real_programs():
    with pytest.raises(sdfgad.ArgumentError, match="the argument `z` is complex"):
        sdfgad.check_grads(lambda z: np.sum(np.abs(z) ** 2), X + 1j, modes=("complex",))
    with pytest.raises(sdfgad.ArgumentError, match="the output `return` is complex"):
        sdfgad.check_grads(lambda x: x * 1j, X, modes=("complex",))


def noisy(rng, x):
    return np.sum(x**2 * rng.standard_normal(5))


def test_complex_steps_of_random_programs():
    assert sdfgad.check_grads(noisy, np.random.default_rng(0), X, modes=("complex",)).complex_error < 1e-14
