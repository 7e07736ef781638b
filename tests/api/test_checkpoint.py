"""Functions whose intermediate values are recomputed in the reverse sweep."""

import numpy as np
import pytest

import sdfgad


def layer(w, x):
    h = np.tanh(w * x)
    k = np.exp(-h * h)
    return np.sin(k) * h


again = sdfgad.checkpoint(layer)


def stored(w, x):
    y = layer(w, x)
    z = layer(w, 0.5 * y)
    return np.sum(z * y)


def pinned(w, x):
    y = again(w, x)
    z = again(w=w, x=0.5 * y)
    return np.sum(z * y)


def in_a_loop(w, x):
    for _ in range(20):
        x = x + 0.1 * again(w, x)
    return np.sum(x * x)


def in_a_plain_loop(w, x):
    for _ in range(20):
        x = x + 0.1 * layer(w, x)
    return np.sum(x * x)


@pytest.mark.parametrize(("program", "plain"), [(pinned, stored), (in_a_loop, in_a_plain_loop)])
def test_gradients_are_the_same_and_values_recomputed(program, plain):
    w, x = np.linspace(0.1, 0.9, 2000), np.linspace(1.0, 2.0, 2000)
    gradients = [sdfgad.differentiate(f, wrt=("w", "x")) for f in (program, plain)]
    found, expected = (g(w, x) for g in gradients)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    choices = [{row.name: row.choice for row in g.plan(w, x).decisions}["h"] for g in gradients]
    assert choices == ["recompute", "store"]


def test_a_loop_holds_less():
    w, x = np.linspace(0.1, 0.9, 2000), np.linspace(1.0, 2.0, 2000)
    less, more = (sdfgad.differentiate(f, wrt="w").measure(w, x).peak_bytes for f in (in_a_loop, in_a_plain_loop))
    assert less < 0.5 * more


@pytest.mark.parametrize("strategy", ["store_all", "recompute_all", "revolve"])
def test_strategies(strategy):
    w, x = np.linspace(0.1, 0.9, 20), np.linspace(1.0, 2.0, 20)
    plan = sdfgad.differentiate(in_a_loop, wrt="w", strategy=strategy).plan(w, x)
    assert {row.name: row.choice for row in plan.decisions}["h"] == "recompute"


def test_it_is_a_function_in_numpy():
    assert again(2.0, 0.3) == layer(2.0, 0.3)
    assert again.__name__ == "layer"
