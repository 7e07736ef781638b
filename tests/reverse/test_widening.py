"""Mixed precision: adjoints in double precision of programs in single precision."""

import numpy as np
import pytest

import sdfgad

RNG = np.random.default_rng(0)
MANY = 1_000_000
# Contributions of different size, in single precision.
SIZES = (RNG.random(MANY) * 10 ** RNG.uniform(-3, 3, MANY)).astype(np.float32)


def scaled_sum(s, x):
    total = np.float32(0)
    for i in range(x.shape[0]):
        total += s * x[i]
    return total


def of_a_layer(w, x):
    return np.sum(np.tanh(x @ w))


def error(found, exact):
    return np.max(np.abs(found - exact)) / np.max(np.abs(exact))


@pytest.mark.parametrize(
    ("program", "args", "least"),
    [
        (scaled_sum, (np.float32(0.7), SIZES), 1e-5),
        (of_a_layer, (np.full(4, 0.125, np.float32), SIZES.reshape(-1, 4)), 1e-6),
    ],
)
def test_a_million_contributions_of_different_size(program, args, least):
    """In single precision digits are lost; with double adjoints the gradient is right to a rounding of the result."""
    double = tuple(np.float64(arg) for arg in args)
    exact = np.sum(double[1]) if program is scaled_sum else sdfgad.grad(program)(*double)
    single = sdfgad.differentiate(program, wrt=0)(*args)
    mixed = sdfgad.differentiate(program, wrt=0, accumulate="float64")(*args)
    assert mixed.dtype == np.float32
    assert error(single, exact) > least
    assert error(mixed, exact) < 2e-7


def stepped(a, b):
    y = np.zeros(3, np.float32)
    for i in range(5):
        y[:] = np.tanh(y * 0.1 + b[i]) + a[i, :3] * y
        y *= np.float32(0.9)
    return np.sum(y)


def scattered(a, b):
    y = np.zeros(3, np.float32)
    np.add.at(y, np.array([0, 1, 1, 2, 0]), a[:, 0] * b[:, 1])
    if y[0] > 0:
        y[1] *= y[0]
    return np.sum(y**2)


PROGRAMS = {
    "product": lambda a, b: np.sum(np.sin(a @ b)),
    "solve": lambda a, b: np.sum(np.linalg.solve(a, b) ** 2),
    "cholesky": lambda a, b: np.sum(np.linalg.cholesky(a @ a.T)[:, :3] * b),
    "eigh": lambda a, b: np.sum(np.linalg.eigh(a + a.T)[0] * b[:, 0]),
    "svd": lambda a, b: np.sum(np.linalg.svd(a, compute_uv=False) * b[:, 0]),
    "fft": lambda a, b: np.sum(np.abs(np.fft.fft(a[:, 0] * b[:, 1])) ** 2),
    "sort": lambda a, b: np.sum(np.sort(a[:, 0] * b[:, 0]) * np.arange(5, dtype=np.float32)),
    "extremes": lambda a, b: np.max(a * 2) + np.min(b) + np.median(a[:, 0] * b[:, 0]),
    "choice": lambda a, b: np.sum(np.where(b > 0.5, np.sqrt(b), 0)) + np.sum(np.log(a)),
    "complex": lambda a, b: np.sum(np.abs(np.linalg.solve(a + np.complex64(1j) * a.T, b)) ** 2),
    "conversions": lambda a, b: np.sum(np.float64(0.1) * np.sin(a.astype(np.float64)).astype(np.float32)[:, :3] * b),
    "cumulated": lambda a, b: np.sum(np.cumsum(a[:, 0]) * b[:, 0]) + np.prod(b[:, 1]),
    "stepped": stepped,
    "scattered": scattered,
}
A, B = (RNG.random((5, 5)) + 5 * np.eye(5)).astype(np.float32), RNG.random((5, 3)).astype(np.float32)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_in_single_precision(name):
    program = PROGRAMS[name]
    g = sdfgad.differentiate(program, accumulate="float64")
    value, found = g.value_and_grad(A, B)
    exact = sdfgad.differentiate(program)(A.astype(np.float64), B.astype(np.float64))
    assert value.dtype == np.asarray(program(A, B)).dtype
    for argument in ("a", "b"):
        assert found[argument].dtype == np.float32
        assert error(found[argument], exact[argument]) < 2e-6


def test_constants_of_the_program_keep_their_value():
    """The factor is 0.1 in single precision, in the gradient as in the program."""
    g = sdfgad.differentiate(lambda x: np.sum(np.float32(0.1) * x + 0.1 * x), accumulate="float64")
    tenth = np.float32(0.1)
    np.testing.assert_array_equal(g(np.ones(3, np.float32))["x"], np.full(3, tenth + tenth))


def test_double_precision_stays_as_it_is():
    x = RNG.random(5)
    g = sdfgad.differentiate(lambda x: np.sum(np.sin(x)), accumulate="float64")
    np.testing.assert_allclose(g(x)["x"], np.cos(x), rtol=1e-14)


def test_cotangents_limits_and_products():
    x = RNG.random(64).astype(np.float32)
    cotangent = RNG.random(64).astype(np.float32)
    g = sdfgad.differentiate(lambda x: np.sin(x), wrt="x", accumulate="float64")
    np.testing.assert_allclose(g.vjp(x, cotangent=cotangent), np.cos(x) * cotangent, rtol=1e-6)
    limited = sdfgad.differentiate(of_a_layer, wrt=0, accumulate="float64", memory_limit="1 MiB")
    w, rows = np.full(4, 0.125, np.float32), SIZES[:4000].reshape(-1, 4)
    np.testing.assert_allclose(limited(w, rows), sdfgad.grad(of_a_layer)(w, rows), rtol=1e-4)
    assert limited.measure(w, rows).peak_bytes <= 2**20
    inner = sdfgad.differentiate(of_a_layer, wrt=0, accumulate="float64")
    outer = sdfgad.grad(lambda w, x: np.sum(inner(w, x) ** 2))
    assert outer(w, rows).dtype == np.float32


def test_the_precision_must_be_known():
    with pytest.raises(sdfgad.ArgumentError, match="accumulate='float128' is not known"):
        sdfgad.differentiate(of_a_layer, accumulate="float128")
