"""`check_grads` accepts right gradients, with the rate that the theory gives, and refuses wrong ones."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import GradientMismatch, SdfgadError
from sdfgad.planning import layout_cache
from sdfgad.rules import elementary
from sdfgad.rules.algebra import call, const, mul, neg


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
