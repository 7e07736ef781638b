"""Derivatives of complex operations, against central differences of the parts; one compiled program for all."""

import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from

# The gradient of a real L by z = x + iy is ∂L/∂x + i ∂L/∂y.
UNARY = (
    *("np.exp(z)", "np.log(z)", "np.sqrt(z)", "np.sin(z)", "np.cos(z)", "np.tan(z)", "np.sinh(z)", "np.cosh(z)"),
    *("np.tanh(z)", "np.arcsin(z)", "np.arccos(z)", "np.arctan(z)", "np.arcsinh(z)", "np.arccosh(z)"),
    *("np.arctanh(z)", "np.exp2(z)", "np.expm1(z)", "np.log2(z)", "np.log10(z)", "np.log1p(z)", "np.square(z)"),
    *("np.reciprocal(z)", "-z", "+z", "z ** 3", "z ** -2", "z ** 0.5", "z ** (1 + 2j)", "2.0 ** z", "z / 2", "1j / z"),
    *("np.conj(z)", "z.conjugate()", "z.real", "np.imag(z)", "np.abs(z)", "np.angle(z)", "z.real + 2j * z.imag"),
    *("np.where(np.abs(z) > 0.7, z, z * z)", "z * np.conj(z)", "z - w", "z * w", "z / w", "z ** w", "z + 2.0"),
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    rows = [f"    out[{k}] = {text}" for k, text in enumerate(UNARY)]
    head = ["import numpy as np", "def program(zs, w):", f"    out = np.empty({len(UNARY)}, dtype=zs.dtype)"]
    rows = [line for k, row in enumerate(rows) for line in (f"    z = zs[{k}]", row)]
    return module_from("\n".join([*head, *rows, "    return out"]), tmp_path_factory.mktemp("complex")).program


def points(dtype):
    rng = np.random.default_rng(0)
    return [(rng.uniform(0.2, 0.9, n) + 1j * rng.uniform(0.2, 0.9, n)).astype(dtype) for n in (len(UNARY), 1)]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex128, 1e-7), (np.complex64, 2e-3)])
def test_values_and_gradients(program, dtype, tolerance):
    zs, (w,) = points(dtype)
    w = dtype(w)
    c = np.random.default_rng(1).standard_normal((len(UNARY), 2)) @ [1, 1j]
    g = sdfgad.differentiate(program, wrt=("zs", "w"))
    value = g.value(zs, w)
    assert value.dtype == dtype
    np.testing.assert_allclose(value, program(zs, w), rtol=1e-3 * tolerance if dtype == np.complex128 else 1e-5)
    z_bar, w_bar = g.vjp(zs, w, cotangent=c)
    assert z_bar.dtype == w_bar.dtype == dtype
    wide, w, h = zs.astype(np.complex128), np.complex128(w), 1e-6

    def objective(step, other):
        return (np.conj(c) * program(wide + step, w + other)).real

    by_z = sum(unit * (objective(h * unit, 0) - objective(-h * unit, 0)) for unit in (1, 1j)) / (2 * h)
    by_w = sum(unit * np.sum(objective(0, h * unit) - objective(0, -h * unit)) for unit in (1, 1j)) / (2 * h)
    np.testing.assert_allclose(z_bar, by_z, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(w_bar, by_w, rtol=tolerance, atol=10 * tolerance)


def mixed(x, z):
    y = x * np.exp(1j * x)
    y[1:] += z * x[:-1]
    return np.sum(np.abs(y) ** 2)


def test_real_and_complex_arguments_together():
    rng = np.random.default_rng(2)
    sdfgad.check_grads(mixed, rng.uniform(0.5, 1, 5), rng.uniform(0.5, 1, 4) + 1j)
    dx, dz = sdfgad.differentiate(mixed, wrt=("x", "z"))(np.ones(3, np.float32), np.ones(2, np.complex64))
    assert (dx.dtype, dz.dtype) == (np.float32, np.complex64)


def test_absolute_value_has_derivative_zero_at_zero():
    g = sdfgad.differentiate(lambda z: np.sum(np.abs(z)), wrt="z")
    np.testing.assert_allclose(g(np.array([0j, 3 + 4j])), [0, 0.6 + 0.8j], rtol=1e-15)


def squares(z):
    return z * z


def test_complex_output_needs_a_cotangent():
    g = sdfgad.differentiate(squares, wrt="z", reduce="sum")
    with pytest.raises(sdfgad.errors.OutputError, match="is complex, and only a real number has a gradient"):
        g(np.array([1j]))
    np.testing.assert_array_equal(g.vjp(np.array([1 + 2j]), cotangent=np.array([1.0])), [2 - 4j])


def ordered(z):
    return np.sum(np.maximum(z, 0).real)


def test_order_of_complex_numbers_is_refused():
    with pytest.raises(sdfgad.errors.UnsupportedProgram, match=r"np\.maximum of complex numbers"):
        sdfgad.differentiate(ordered)(np.array([1j]))
