"""Bound methods, partials and objects that are called."""

import functools

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, WrtError

RNG = np.random.default_rng(6)
X, Y = RNG.random((3, 4)), RNG.random((3, 4))


class Model:
    def __init__(self, n):
        self.weights = [RNG.random((n, n)) for _ in range(2)]
        self.scale = 0.5
        self.activation = np.tanh

    def predict(self, x):
        for w in self.weights:
            x = self.activation(x @ w)
        return x * self.scale

    def loss(self, x, y):
        return np.mean((self.predict(x) - y) ** 2)

    def __call__(self, x):
        return np.sum(self.predict(x))

    @classmethod
    def of(cls, x):
        return np.sum(x * x)


MODEL = Model(4)


def numerical(function, x, step=1e-6):
    found = np.empty_like(x)
    for index in np.ndindex(*x.shape):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            ends.append(function(moved))
        found[index] = (ends[0] - ends[1]) / (2 * step)
    return found


def power(x, n, scale):
    return np.sum(x**n) * scale


@pytest.mark.parametrize(
    ("program", "args"),
    [
        (MODEL.loss, (X, Y)),
        (MODEL, (X,)),
        (Model.of, (X,)),
        (functools.partial(MODEL.loss, y=Y), (X,)),
        (functools.partial(power, scale=3.0), (X, 2.0)),
        (functools.partial(functools.partial(power, X), scale=3.0), (2.0,)),
    ],
)
def test_gradients_by_the_arguments_of_a_call(program, args):
    g = sdfgad.differentiate(program)
    value, found = g.value_and_grad(*args)
    assert value == pytest.approx(program(*args), rel=1e-13)
    assert len(found) == len(args)
    first = next(iter(found.values()))
    expected = numerical(lambda x: program(x, *args[1:]), np.asarray(args[0], float))
    np.testing.assert_allclose(first, expected, rtol=1e-6, atol=1e-8)
    sdfgad.check_grads(program, *args)


def test_gradients_by_what_a_method_is_bound_to():
    found = sdfgad.differentiate(MODEL.loss, wrt="self")(X, Y)
    assert type(found) is Model
    assert found.activation is None

    def loss(w):
        model = Model(4)
        model.weights = [w, MODEL.weights[1]]
        return model.loss(X, Y)

    np.testing.assert_allclose(found.weights[0], numerical(loss, MODEL.weights[0]), rtol=1e-6, atol=1e-9)
    one = sdfgad.differentiate(MODEL.loss, wrt="self.weights[0]")(X, Y)
    np.testing.assert_array_equal(one, found.weights[0])


def test_what_an_object_holds_is_read_at_each_call():
    model = Model(4)
    g = sdfgad.differentiate(model.loss, wrt="x")
    before = g(X, Y)
    model.weights[0] = model.weights[0] * 2.0
    model.scale = 0.25
    assert g.value(X, Y) == pytest.approx(model.loss(X, Y), rel=1e-13)
    assert np.abs(g(X, Y) - before).max() > 1e-6


def test_positions_are_those_of_the_call():
    found = sdfgad.differentiate(MODEL.loss, wrt=0)(X, Y)
    np.testing.assert_array_equal(found, sdfgad.differentiate(MODEL.loss, wrt="x")(X, Y))
    with pytest.raises(WrtError, match="has no argument 2"):
        sdfgad.differentiate(MODEL.loss, wrt=2)


@pytest.mark.parametrize("program", [3, len, Model, "text"])
def test_what_has_no_function_in_python(program):
    with pytest.raises(ArgumentError, match="is not a Python function"):
        sdfgad.differentiate(program)


GAIN, ACTIVATION = 2.0, np.sin
CONFIG = {"weight": 3.0, "basis": np.ones(4)}
PAIR = (np.ones(4), np.arange(4.0))


class Settings:
    offset = 0.5
    table = np.arange(4.0)

    def __init__(self, x):
        self.x = x

    def total(self):
        return np.sum(self.x * self.table) * self.offset


def helper(x):
    return ACTIVATION(x) * GAIN


def of_constants(x):
    y = np.sum(helper(x) * CONFIG["basis"]) * CONFIG["weight"] + Settings(x).total()
    for one in PAIR:
        y += np.sum(x * x * one)
    return y


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("GAIN", 5.0),
        ("ACTIVATION", np.cos),
        ("CONFIG", {"weight": 7.0, "basis": np.ones(4)}),
        ("PAIR", (np.ones(4), np.ones(4))),
        (("CONFIG", "weight"), 4.0),
        (("CONFIG", "basis"), np.arange(4.0)),
        ("Settings.offset", 0.25),
        ("Settings.table", np.ones(4)),
    ],
)
def test_what_is_outside_is_that_of_each_call(change, value, monkeypatch):
    g = sdfgad.differentiate(of_constants)
    assert g.value(X[0]) == pytest.approx(of_constants(X[0]), rel=1e-14)
    if isinstance(change, tuple):
        monkeypatch.setitem(globals()[change[0]], change[1], value)
    else:
        monkeypatch.setattr(f"{__name__}.{change}", value)
    assert g.value(X[0]) == pytest.approx(of_constants(X[0]), rel=1e-14)
    np.testing.assert_allclose(g(X[0])["x"], numerical(of_constants, X[0]), rtol=1e-6)
