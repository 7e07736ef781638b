"""Functions in Python that compiled programs call."""

import threading

import numpy as np
import pytest

import sdfgad
from tests.helpers import line_of

X = np.array([0.3, 0.7])


def texts(x):
    """Something that no parser understands."""
    return np.array([float(str(value)) for value in np.sin(x)])


@sdfgad.custom_vjp
def looked_up(x):
    return texts(x)


def forward(x):
    return sdfgad.pure_callback(texts, x, x), x


def backward(x, c):
    return (c * sdfgad.pure_callback(np.cos, x, x),)


looked_up.defvjp(forward, backward)


def program(x):
    for _ in range(3):
        x = looked_up(x) * 1.1
    return np.sum(x**2)


def plain(x):
    for _ in range(3):
        x = np.sin(x) * 1.1
    return np.sum(x**2)


def test_a_black_box_with_a_rule():
    g = sdfgad.differentiate(program, wrt="x")
    np.testing.assert_allclose(g(X), sdfgad.grad(plain)(X), rtol=1e-14)
    assert "calls Python, where nothing is planned or counted" in str(g.plan(X))
    assert {line.rpartition("/")[2] for line in g.plan(X).callbacks} == {
        line_of(forward, "pure_callback").rpartition("/")[2],
        line_of(backward, "pure_callback").rpartition("/")[2],
    }
    batch = np.array([X, 2.0 * X])
    np.testing.assert_allclose(sdfgad.vmap(program)(batch), [program(x) for x in batch], rtol=1e-14)


def split(x, scale, kind):
    assert kind == "wide"
    return {"low": np.floor(x).astype(np.int64), "sum": float(np.sum(x)) * scale}


def of_split(x, k):
    found = sdfgad.pure_callback(split, {"low": np.zeros(2, np.int64), "sum": 0.0}, 3.0 * x, k, "wide")
    return np.sum(x * found["low"]) * sdfgad.stop_gradient(found["sum"])


def test_trees_numbers_and_constants():
    value, gradient = sdfgad.value_and_grad(of_split)(X, 2)
    assert value == pytest.approx(of_split(X, 2))
    np.testing.assert_allclose(gradient, np.floor(3.0 * X) * 2.0 * np.sum(3.0 * X))


def test_a_black_box_has_no_derivative():
    def undefined(x):
        return np.sum(sdfgad.pure_callback(texts, x, x))

    with pytest.raises(sdfgad.MissingRule, match="pure_callback") as caught:
        sdfgad.grad(undefined)(X)
    assert str(caught.value.operations[0][1]) == line_of(undefined, "pure_callback")


def test_a_black_box_in_a_rule_has_no_second_derivative():
    with pytest.raises(sdfgad.MissingRule, match="pure_callback") as caught:
        sdfgad.hessian(program)(X)
    assert line_of(backward, "pure_callback") in [str(where) for _, where in caught.value.operations]


def raises(x):
    raise KeyError("no such table")


def of_raises(x):
    return np.sum(sdfgad.stop_gradient(sdfgad.pure_callback(raises, x, x)) * x)


def of_another_shape(x):
    return np.sum(sdfgad.stop_gradient(sdfgad.pure_callback(np.sum, x, x)) * x)


@pytest.mark.parametrize(("program", "cause"), [(of_raises, "no such table"), (of_another_shape, r"of shape \(2,\)")])
def test_what_the_function_raises_is_the_cause(program, cause):
    with pytest.raises(sdfgad.ProgramRaises, match="that pure_callback calls raised") as caught:
        sdfgad.grad(program)(X)
    assert str(caught.value.where) == line_of(program, "pure_callback")
    assert caught.value.__cause__ is not None
    with pytest.raises(Exception, match=cause):
        raise caught.value.__cause__


def of_its_argument(x):
    raise ValueError(float(x[0]))


def test_threads_get_what_their_own_calls_raised():
    def of_each(x):
        return np.sum(sdfgad.pure_callback(of_its_argument, x, sdfgad.stop_gradient(x)) * x)

    g, wrong = sdfgad.grad(of_each), []

    def run(start):
        for k in range(start, start + 50):
            try:
                g(np.full(2, float(k)))
            except sdfgad.ProgramRaises as error:
                if error.__cause__ is None or error.__cause__.args != (float(k),):
                    wrong.append((k, error.__cause__))

    threads = [threading.Thread(target=run, args=(100 * k,)) for k in range(6)]
    for each in (threading.Thread.start, threading.Thread.join):
        for thread in threads:
            each(thread)
    assert not wrong
