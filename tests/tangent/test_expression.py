"""The pushforward of every elementary operation, the transpose of its pullback: <J t, c> = <t, J^T c>."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import INT, Const, Lin, Op, Read
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Access, Buffer, Compute, Program
from sdfgad.rules.elementary import ELEMENTARY
from sdfgad.rules.expression import pullback
from sdfgad.tangent.expression import pushforward
from tests.helpers_compiled import compiled_outputs

DTYPE, COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)
# Where a point of (0.3, 0.8) is outside of the domain, or its derivative is zero.
SHIFTS = {"arccosh": (1.0,), "remainder": (5.0, 1.0), "fmod": (5.0, 1.0), "ieee_remainder": (5.0, 1.0)}
SHIFTS |= {"erfcinv": (0.1,), "heaviside": (-2.0,)}
INTEGERS = {"ldexp": 3, "bessel_j": 2, "polygamma_of": 2, "round_decimals": 1, "expn_of": 2, "sinc_derivative": 1}
INTEGERS |= dict.fromkeys(("spherical_j", "spherical_y", "spherical_i", "spherical_k"), 2)
ORDERS = dict.fromkeys(("bessel_jv", "bessel_y", "bessel_i", "bessel_k", "bessel_ie", "bessel_ke", "hyp0f1"), 1.5)
ORDERS |= {"hurwitz_zeta": 2.5, "lambert_w": 0.0, "hyp1f1": 1.5}
PARTS = {"absolute", "real", "imag"}
REAL = [name for name in ELEMENTARY if name not in {"real", "imag", "complex", "cast", "conjugate"}]
# These complex operations exist only in gradients, or their dtypes are no complex ones.
HOLOMORPHIC = [n for n in REAL if OPERATIONS[n].takes_complex and n not in {"absolute", "sign", "held"}]
SPECIAL_COMPLEX = ["absolute", "real", "imag", "complex", "conjugate", "cast"]


class Cases:
    """One program that computes, for each case, J t and J^T c.

    Attributes:
        values: what its inputs hold.
        rows: for each case the outputs with J t, and those with J^T c, by operand.
    """

    def __init__(self):
        self.buffers, self.values, self.body, self.rows = {}, {}, [], []
        self.rng = np.random.default_rng(11)

    def buffer(self, name, dtype, value=None):
        self.buffers[name] = Buffer(name, (Lin(1),), dtype)
        if value is not None:
            self.values[name] = np.full(1, value, dtype)
        return Read(name, (Lin(0),), dtype)

    def random(self, dtype):
        return self.rng.standard_normal() + (1j * self.rng.standard_normal() if dtype.kind == "c" else 0)

    def store(self, name, value):
        self.buffer(name, value.dtype)
        self.body.append(Compute((("i", Lin(1)),), Access(name, (Lin.symbol("i"),)), value))
        return name

    def add(self, name, dtype, result=None):
        k, arity = len(self.rows), OPERATIONS[name].arity
        args = [self.operand(name, f"x{k}_{place}", place, dtype) for place in range(arity)]
        inputs = [arg for arg in args if isinstance(arg, Read)]
        value = Op(name, tuple(args), result or dtype)
        dots = {x: self.buffer(f"{x.buffer}_dot", x.dtype, self.random(x.dtype)) for x in inputs}
        c = self.buffer(f"c{k}", value.dtype, self.random(value.dtype))
        tangent = pushforward(value, dots.get, None)
        cotangents = pullback(value, c, frozenset(x.buffer for x in inputs), None)
        pushed = None if tangent is None else self.store(f"push{k}", tangent)
        pulled = {x.buffer: self.store(f"pull{k}_{x.buffer}", bar) for x, bar in cotangents}
        self.rows.append((name, f"c{k}", pushed, pulled))

    def operand(self, name, buffer, place, dtype):
        if place and name in INTEGERS:
            return Const(INTEGERS[name], INT)
        if place and name in ORDERS:
            return Const(ORDERS[name], dtype)
        shift = SHIFTS.get(name, (0.0,) * 3)
        point = self.rng.uniform(0.3, 0.8) + (shift[place] if place < len(shift) else 0.0)
        return self.buffer(buffer, dtype, point + (1j * self.rng.uniform(0.3, 0.8) if dtype.kind == "c" else 0))

    def check(self):
        outputs = [name for _, _, pushed, pulled in self.rows for name in (pushed, *pulled.values()) if name]
        program = Program("cases", self.buffers, tuple(self.values), (), {n: n for n in outputs}, tuple(self.body))
        found = compiled_outputs(program, self.values, {})
        for name, c, pushed, pulled in self.rows:
            left = 0.0 if pushed is None else np.vdot(self.values[c], found[pushed]).real
            right = sum(np.vdot(found[bar], self.values[f"{x}_dot"]).real for x, bar in pulled.items())
            assert np.isfinite(left), name
            np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-13, err_msg=name)


def test_every_operation_is_dual_to_its_rule():
    cases = Cases()
    for name in REAL:
        cases.add(name, DTYPE)
    for name in HOLOMORPHIC:
        cases.add(name, COMPLEX)
    for name in SPECIAL_COMPLEX:
        real = {"complex": COMPLEX, "cast": DTYPE} if name in ("complex", "cast") else {}
        cases.add(name, DTYPE if name == "complex" else COMPLEX, real.get(name, DTYPE if name in PARTS else COMPLEX))
    cases.check()
    assert sum(pushed is not None for _, _, pushed, _ in cases.rows) > 90


# --- values at kinks, and zeros


def kinks(x, y):
    return np.stack(
        [
            *(np.abs(x), np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.hypot(x, y), np.sqrt(x)),
            *(np.where(x > 0.0, np.sqrt(x), 0.0), np.where(x > 0.0, 1.0 / x, y), np.cbrt(x), x**1.5, x**0.5 * y),
        ]
    )


def test_values_at_kinks_and_strong_zeros():
    x, y = np.zeros(2), np.zeros(2)
    _, found = sdfgad.jvp(kinks, (x, y), (np.array([1.0, 0.0]), np.array([3.0, 3.0])))
    expected = [[0, 0], [2, 1.5], [2, 1.5], [2, 1.5], [0, 0], [np.inf, 0], [0, 0], [3, 3], [np.inf, 0], [0, 0]]
    np.testing.assert_array_equal(found[:10], expected)
    # What is infinite is multiplied by a value that is 0.
    assert np.isnan(found[10, 0])
    assert found[10, 1] == 0.0


def lengths(z):
    return np.abs(z)


def test_the_length_of_a_complex_number():
    z, t = np.array([0.0, 3.0 + 4.0j]), np.array([1.0 + 1.0j, 1.0j])
    np.testing.assert_allclose(sdfgad.jvp(lengths, (z,), (t,))[1], [0.0, 0.8], rtol=1e-15)


# --- gradients of gradients


def nested_roots(x):
    return np.sum(np.sqrt(np.sqrt(x)) + np.log(np.sqrt(x) * x) / x + (x**1.5 / (1.0 + x)) ** 0.3)


def test_a_cotangent_that_varies_with_what_it_multiplies():
    """The cotangent of the inner root is made of the outer one: by `x` both vary, not only one of them."""
    x, t = np.array([0.3, 0.7, 2.0]), np.array([1.0, -0.5, 0.25])
    slopes = sdfgad.grad(nested_roots)
    _, found = sdfgad.jvp(slopes, (x,), (t,))
    np.testing.assert_allclose(found, sdfgad.hvp(nested_roots, (x,), (t,)), rtol=1e-12)
    h = 1e-6
    np.testing.assert_allclose(found, (slopes(x + h * t) - slopes(x - h * t)) / (2 * h), rtol=1e-7)


def squared_logarithm(x):
    return np.sum(np.log(x) ** 2 / np.sqrt(x))


def test_a_cotangent_that_is_zero_has_a_tangent():
    """At x = 1 the cotangent of the logarithm is 0, but it varies there."""
    _, found = sdfgad.jvp(sdfgad.grad(squared_logarithm), (np.ones(1),), (np.ones(1),))
    np.testing.assert_allclose(found, [2.0], rtol=1e-14)


def deep(x):
    return np.sum(np.sqrt(np.sqrt(np.sqrt(np.sqrt(np.sqrt(np.sqrt(np.sqrt(np.sqrt(x)))))))))


def test_a_chain_of_strong_zeros():
    """The number of paths through the tangent is exponential in the length of the chain, its size is not."""
    x, p = np.array([2.0]), 2.0**-8
    _, found = sdfgad.jvp(sdfgad.grad(deep), (x,), (np.ones(1),))
    np.testing.assert_allclose(found, p * (p - 1) * x ** (p - 2), rtol=1e-12)


def rounding(x):
    return np.round(x * 3.0) + np.floor(x)


def test_what_is_constant_between_jumps_has_no_tangent():
    value, found = sdfgad.jvp(rounding, (np.array([0.3, 1.7]),), (np.ones(2),))
    np.testing.assert_array_equal(value, [1.0, 6.0])
    np.testing.assert_array_equal(found, [0.0, 0.0])


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision(dtype):
    x = np.array([0.3, 0.7], dtype)
    value, found = sdfgad.jvp(lambda x: np.exp(x) * x, (x,), (np.ones(2, dtype),))
    assert value.dtype == found.dtype == dtype
    np.testing.assert_allclose(found, np.exp(x) * (1 + x), rtol=1e-6)
