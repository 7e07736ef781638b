"""`sdfgad.sparsity`, and Jacobians that are compressed by the pattern that it finds."""

import jax
import numpy as np
import pytest
import scipy.sparse

import sdfgad
from sdfgad.api import patterns as patterns_module
from sdfgad.api import products as products_module
from sdfgad.api.sparse_jacobian import coloured
from tests.helpers import line_of

jax.config.update("jax_enable_x64", True)


def diffused(steps, u, k):
    for _ in range(steps):
        u[1:-1] += k * (u[2:] ** 2 - 2.0 * u[1:-1] + u[:-2])


def laplacian(u):
    r = 4.0 * u - np.exp(u)
    r[1:] -= u[:-1]
    r[:-1] -= u[1:]
    r[:, 1:] -= u[:, :-1]
    r[:, :-1] -= u[:, 1:]
    return r


def arrays(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.5, 1.5, shape) for shape in shapes]


@pytest.fixture
def products(monkeypatch):
    """How many products with Jacobians there are."""
    counts = []
    for name in ("rows", "columns"):
        plain = getattr(products_module.Products, name)

        def counted(self, args, value, vectors, plain=plain):
            counts.append(len(vectors))
            return plain(self, args, value, vectors)

        monkeypatch.setattr(products_module.Products, name, counted)
    return counts


def test_a_pattern_is_a_boolean_matrix():
    (u,) = arrays(0, (3, 4))
    found = sdfgad.sparsity(laplacian, u)
    assert isinstance(found, scipy.sparse.csr_matrix)
    assert found.dtype == np.bool_
    places = np.argwhere(np.ones((3, 4)))
    distances = np.abs(places[:, None] - places).sum(axis=2)
    np.testing.assert_array_equal(found.toarray(), distances <= 1)


def test_the_output_and_the_argument_are_chosen():
    def program(x, y):
        return x * 2.0, y[::-1] * x[0]

    x, y = arrays(1, 3, 3)
    fixed = np.eye(3, dtype=bool)
    np.testing.assert_array_equal(sdfgad.sparsity(program, x, y, output="return[0]").toarray(), fixed)
    np.testing.assert_array_equal(sdfgad.sparsity(program, x, y, argnums=1, output="return[1]").toarray(), fixed[::-1])
    assert sdfgad.sparsity(program, x, y, argnums=1, output="return[0]").nnz == 0
    assert sdfgad.sparsity(lambda x: x**2, 3.0).shape == (1, 1)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_a_jacobian_of_a_program_that_updates_its_argument(mode, products):
    u, k = *arrays(2, 20), 0.1
    found = sdfgad.jacobian(diffused, 1, sparsity="auto", mode=mode)(2, u, k)
    assert isinstance(found, scipy.sparse.csr_matrix)
    assert products == [5 + 1]  # Five colours, and a product that checks the pattern.
    np.testing.assert_allclose(found.toarray(), sdfgad.jacobian(diffused, 1)(2, u, k), rtol=1e-12, atol=1e-14)


def test_a_jacobian_by_two_axes_against_jax(products):
    def in_jax(u):
        r = 4.0 * u - jax.numpy.exp(u)
        r = r.at[1:].add(-u[:-1]).at[:-1].add(-u[1:])
        return r.at[:, 1:].add(-u[:, :-1]).at[:, :-1].add(-u[:, 1:])

    (u,) = arrays(3, (5, 6))
    found = sdfgad.jacobian(laplacian, sparsity="auto")(u)
    np.testing.assert_allclose(found.toarray(), jax.jacobian(in_jax)(u).reshape(30, 30), rtol=1e-12, atol=1e-14)
    pattern = sdfgad.sparsity(laplacian, u).tocoo()
    assert products == [coloured(pattern.row, pattern.col, pattern.shape).max() + 2]
    assert products[0] < 12


def gathered(x, places, n):
    y = np.sin(x[places])
    for i in range(n):
        y[i] *= x[i]
    return y


def test_patterns_are_kept_for_calls_that_have_the_same(monkeypatch):
    found = []
    plain = patterns_module._pattern
    monkeypatch.setattr(patterns_module, "_pattern", lambda *args: found.append(args) or plain(*args))
    jacobian = sdfgad.jacobian(gathered, sparsity="auto")
    calls = [([0, 2, 3], 2), ([0, 2, 3], 2), ([1, 1, -1], 2), ([1, 1, -1], 3), ([0, 2, 3], 2)]
    for seed, (places, n) in enumerate(calls):
        x, places = *arrays(seed, 5), np.array(places)
        expected = np.zeros((3, 5))
        expected[np.arange(3), places] += np.cos(x[places]) * np.where(np.arange(3) < n, x[:3], 1.0)
        expected[np.arange(n), np.arange(n)] += np.sin(x[places])[:n]
        np.testing.assert_allclose(jacobian(x, places, n).toarray(), expected, rtol=1e-12)
    assert len(found) == 3


def halved(x):
    while np.sum(x) > 1.0:
        x = x * 0.5
    return x


def test_a_loop_that_ends_by_data_needs_a_pattern():
    (x,) = arrays(4, 4)
    with pytest.raises(sdfgad.UnsupportedProgram, match="how often this loop runs depends on data") as refusal:
        sdfgad.jacobian(halved, sparsity="auto")(x)
    assert line_of(halved, "while") in str(refusal.value)
    assert "Pass a pattern, jacobian(f, sparsity=pattern)" in str(refusal.value)
    np.testing.assert_allclose(
        sdfgad.jacobian(halved, sparsity=np.eye(4), mode="reverse")(x).toarray(), sdfgad.jacobian(halved)(x)
    )


def test_other_words_are_refused():
    with pytest.raises(sdfgad.ArgumentError, match=r"sparsity='yes' is not known.*\n.*\"auto\" or a matrix"):
        sdfgad.jacobian(halved, sparsity="yes")


def test_containers_are_refused():
    def program(parameters):
        return parameters["a"] * parameters["b"]

    x, y = arrays(5, 3, 3)
    with pytest.raises(sdfgad.ArgumentError, match="this argument has several"):
        sdfgad.sparsity(program, {"a": x, "b": y})


def test_a_pattern_that_misses_entries_is_an_error_of_ours(monkeypatch):
    monkeypatch.setattr(patterns_module, "_pattern", lambda *_: scipy.sparse.eye(12, dtype=bool))
    (u,) = arrays(6, (3, 4))
    with pytest.raises(sdfgad.InvalidProgram, match="misses entries"):
        sdfgad.jacobian(laplacian, sparsity="auto")(u)
