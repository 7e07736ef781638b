"""`grad` and `value_and_grad`: JAX's names and argument habits."""

import pickle
from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np
import pytest
import scipy.sparse

import sdfgad
from sdfgad.errors import ArgumentError, OutputError, UnusedArgument
from tests.helpers import line_of


def weighted(x, y, s):
    return np.sum(x * x * y) / s


X, Y = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("argnums", [0, 1, 2, (0, 1), (2, 0), (1,)])
def test_grad_has_the_habits_of_jax(argnums):
    found = sdfgad.grad(weighted, argnums)(X, Y, 2.0)
    expected = jax.grad(lambda x, y, s: jax.numpy.sum(x * x * y) / s, argnums)(X, Y, 2.0)
    assert isinstance(found, tuple) == isinstance(argnums, tuple)
    jax.tree.map(np.testing.assert_allclose, found, expected)


def test_first_argument_by_default():
    np.testing.assert_array_equal(sdfgad.grad(weighted)(X, Y, 2.0), X * Y)


def test_value_and_grad():
    value, found = sdfgad.value_and_grad(weighted, "y")(X, Y, s=2.0)
    assert value == weighted(X, Y, 2.0)
    np.testing.assert_array_equal(found, X * X / 2)


def test_lambda():
    np.testing.assert_array_equal(sdfgad.grad(lambda x: np.sum(x * x))(X), 2 * X)
    scale = 3.0
    value, found = sdfgad.value_and_grad(lambda x: np.sum(x) * scale)(X)
    assert value == 18.0
    np.testing.assert_array_equal(found, [3, 3, 3])


def test_refusals():
    with pytest.raises(OutputError, match="not that of a scalar"):
        sdfgad.grad(lambda x: x * x)(X)
    with pytest.raises(UnusedArgument):
        sdfgad.grad(lambda x, y: np.sum(x), 1)(X, Y)
    assert sdfgad.grad(lambda x, y: np.sum(x), 1, allow_unused=True)(X, 1.0) == 0.0


@pytest.mark.parametrize("argnums", [("x", 2), (1, "s"), (-1, "x"), ["y"], ("x", "x")])
def test_names_and_positions_together(argnums):
    names = [argnum if isinstance(argnum, str) else "xys"[argnum] for argnum in argnums]
    expected = sdfgad.differentiate(weighted)(X, Y, 2.0)
    for found, name in zip(sdfgad.grad(weighted, argnums)(X, Y, 2.0), names, strict=True):
        np.testing.assert_array_equal(found, expected[name])


# --- auxiliary data


class Report(NamedTuple):
    mean: object
    rest: object


@dataclass
class Fit:
    weights: np.ndarray
    label: str


def trained(w, x, steps):
    history = np.zeros(steps)
    y = x @ w
    for k in range(steps):
        y = np.tanh(y) + 0.1 * y
        history[k] = np.max(y)
    fit = Fit(w / np.sum(w), "normed")
    aux = {
        "y": y,
        "again": y,
        "report": Report(np.mean(y), [y > 0.1, steps, None, "text"]),
        "history": history,
        "fit": fit,
    }
    return np.mean(y**2), aux


W, DATA = np.array([0.3, -0.2, 0.5]), np.arange(12.0).reshape(4, 3) / 10


def assert_same(found, expected):
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_auxiliary_data_are_the_trees_that_the_program_returns():
    (value, aux), found = sdfgad.value_and_grad(trained, has_aux=True)(W, DATA, 3)
    expected_value, expected = trained(W, DATA, 3)
    np.testing.assert_allclose(value, expected_value, rtol=1e-14)
    fit, expected_fit = aux.pop("fit"), expected.pop("fit")
    assert type(fit) is Fit
    assert fit.label == "normed"
    np.testing.assert_allclose(fit.weights, expected_fit.weights, rtol=1e-14)
    texts, expected_texts = aux["report"].rest.pop(), expected["report"].rest.pop()
    assert texts == expected_texts
    assert type(aux["report"]) is Report
    assert jax.tree.structure(aux) == jax.tree.structure(expected)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13), aux, expected)
    np.testing.assert_allclose(found, sdfgad.grad(lambda w, x, n: trained(w, x, n)[0])(W, DATA, 3), rtol=1e-13)
    assert not np.shares_memory(aux["y"], aux["again"])


def test_grad_with_auxiliary_data():
    gradient, aux = sdfgad.grad(trained, ("w", 1), has_aux=True)(W, DATA, steps=2)
    expected = sdfgad.differentiate(trained, wrt=(0, 1), output="return[0]")(W, DATA, 2)
    for one, other in zip(gradient, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
    np.testing.assert_allclose(aux["history"], trained(W, DATA, 2)[1]["history"], rtol=1e-13)


def cooled(u, steps):
    """The reverse sweep puts back what the loop overwrites; the auxiliary data are the values at the end."""
    for _ in range(steps):
        u[1:-1] *= 0.5 * (u[2:] + u[:-2])
    return np.sum(u * u), u


def test_auxiliary_data_that_the_reverse_sweep_overwrites():
    u = np.linspace(0.5, 1.5, 9)
    before = u.copy()
    (value, aux), gradient = sdfgad.value_and_grad(cooled, has_aux=True)(u, 4)
    np.testing.assert_array_equal(u, before)
    expected_value, expected = cooled(u.copy(), 4)
    np.testing.assert_allclose(aux, expected, rtol=1e-14)
    np.testing.assert_allclose(value, expected_value, rtol=1e-14)
    np.testing.assert_allclose(gradient, sdfgad.grad(lambda u, n: cooled(u, n)[0])(u, 4), rtol=1e-13)


def halved(x):
    count, largest = 0, np.max(x)
    while largest > 0.1:
        x = x * np.sin(x)
        largest = np.max(x)
        count += 1
    return np.sum(x), (count, largest)


def test_auxiliary_data_of_loops_that_end_by_data():
    for x in (X / 4, X / 3):
        gradient, aux = sdfgad.grad(halved, has_aux=True)(x)
        count, largest = halved(x)[1]
        assert aux[0] == count
        np.testing.assert_allclose(aux[1], largest, rtol=1e-14)
        np.testing.assert_allclose(gradient, sdfgad.grad(lambda x: halved(x)[0])(x), rtol=1e-13)


@pytest.mark.parametrize(
    "aux",
    [
        lambda x: None,
        lambda x: 3,
        lambda x: x,
        lambda x: (),
        lambda x: x[:, None] > 1.5,
        lambda x: x.astype(np.float32),
    ],
)
def test_kinds_of_auxiliary_data(aux):
    found = sdfgad.grad(lambda x: (np.sum(x**2), aux(x)), has_aux=True)(X)
    assert_same(found, (2 * X, aux(X)))
    assert np.asarray(found[1]).dtype == np.asarray(aux(X)).dtype


def test_gradients_with_auxiliary_data_are_sent_to_other_processes():
    g = pickle.loads(pickle.dumps(sdfgad.grad(cooled, has_aux=True)))
    np.testing.assert_allclose(g(np.ones(4), 1)[1], np.ones(4))


def no_pair(x):
    y = np.sum(x)
    return y


def three(x):
    return np.sum(x), x, x


def listed(x):
    return [np.sum(x), x]


def nested(x):
    return (np.sum(x), x), x


def lazily(x):
    return np.sum(x), map(np.sin, x)


def sparse(x):
    return np.sum(x), scipy.sparse.csr_matrix((x, (np.arange(3), np.arange(3))), shape=(3, 3))


@pytest.mark.parametrize(
    ("program", "what", "todo"),
    [
        (no_pair, "returns no pair", "Write `return value, aux`"),
        (three, "returns no pair", "Write `return value, aux`"),
        (listed, "returns no pair", "Write `return value, aux`"),
        (nested, "a pair whose first part is no number", "Write `return value, aux`"),
        (lazily, "holds an iterator", "Return numbers, arrays"),
        (sparse, "holds a sparse matrix", "Return numbers, arrays"),
    ],
)
def test_what_is_no_value_with_auxiliary_data(program, what, todo):
    with pytest.raises(ArgumentError, match=what) as caught:
        sdfgad.grad(program, has_aux=True)(X)
    assert todo in str(caught.value)
    assert str(caught.value.where) == line_of(program, "return ")


def test_the_value_is_a_scalar():
    with pytest.raises(OutputError, match="not that of a scalar"):
        sdfgad.grad(lambda x: (x, x), has_aux=True)(X)


descent = sdfgad.value_and_grad(lambda w, x: trained(w, x, 2), has_aux=True)
slope = sdfgad.grad(cooled, has_aux=True)


def by_descent(w, x):
    """A program that uses gradients and their auxiliary data, and is differentiated itself."""
    largest = 0.0
    for _ in range(3):
        (value, aux), gradient = descent(w, x)
        w = w - 0.1 * value * gradient
        largest = largest + np.sum(aux["y"] ** 2) + aux["report"].mean * aux["report"].rest[1]
    du, u = slope(w, 2)
    return np.sum(w**2) + largest + np.sum(du * u)


def by_descent_in_two(w, x):
    largest = 0.0
    for _ in range(3):
        value, aux = trained(w, x, 2)
        w = w - 0.1 * value * sdfgad.grad(lambda w, x: trained(w, x, 2)[0])(w, x)
        largest = largest + np.sum(aux["y"] ** 2) + aux["report"].mean * 2
    u = cooled(w.copy(), 2)[1]
    return np.sum(w**2) + largest + np.sum(sdfgad.grad(lambda u: cooled(u, 2)[0])(w) * u)


def test_programs_call_gradients_with_auxiliary_data():
    g = sdfgad.differentiate(by_descent)
    value, found = g.value_and_grad(W, DATA)
    assert value == pytest.approx(by_descent(W, DATA), rel=1e-12)
    assert value == pytest.approx(by_descent_in_two(W, DATA), rel=1e-12)
    assert sdfgad.check_grads(by_descent, W, DATA).error < 1e-8
    assert found["x"].shape == DATA.shape


def test_the_gradient_of_a_gradient_with_auxiliary_data():
    g = sdfgad.grad(lambda x: (np.sum(x**3), x**2), has_aux=True)
    by_gradient = sdfgad.differentiate(g, output="return[0]", reduce="sum")(X)["x"]
    np.testing.assert_allclose(by_gradient, 6 * X)
    np.testing.assert_allclose(sdfgad.differentiate(g, output="return[1]", reduce="sum")(X)["x"], 2 * X)


def test_gradients_with_auxiliary_data_are_mapped():
    g = sdfgad.grad(lambda w, x: trained(w, x, 2), has_aux=True)
    batch = np.stack([DATA, 2 * DATA, DATA - 1])
    gradients, aux = sdfgad.vmap(g, in_axes=(None, 0))(W, batch)
    expected = [g(W, x) for x in batch]
    np.testing.assert_allclose(gradients, [one for one, _ in expected], rtol=1e-12)
    np.testing.assert_allclose(aux["y"], [one["y"] for _, one in expected], rtol=1e-12)
