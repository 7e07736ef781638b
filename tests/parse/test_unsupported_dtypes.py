"""Half, extended and foreign precision is refused where it appears, with the conversion to write."""

import ml_dtypes
import numpy as np
import pytest

import sdfgad
from tests.helpers import line_of

X = np.linspace(0.5, 1.5, 3)
HALF = np.full(3, 2.1, np.float16)
BF16 = ml_dtypes.bfloat16


def square(x):
    return np.sum(x * x)


@pytest.mark.parametrize(
    ("dtype", "instead"),
    [
        (np.float16, "Write `x.astype(np.float32)`,"),
        (BF16, "Write `x.astype(np.float32)`,"),
        (ml_dtypes.float8_e4m3fn, "Write `x.astype(np.float32)`,"),
        (np.longdouble, "Write `x.astype(np.float64)` (it has fewer digits)"),
        (np.clongdouble, "Write `x.astype(np.complex128)` (it has fewer digits)"),
        (np.dtype(">f8"), "Write `x.astype(np.float64)`,"),
        (object, "Supported are bool, complex128"),
    ],
)
def test_arguments(dtype, instead):
    with pytest.raises(sdfgad.ArgumentError, match="argument `x` has the dtype") as caught:
        sdfgad.grad(square)(X.astype(dtype))
    assert instead in str(caught.value)
    assert str(caught.value.where) == line_of(square, "def square")


def test_numbers_and_parts_of_arguments():
    with pytest.raises(sdfgad.ArgumentError, match="argument `x` has the dtype float16"):
        sdfgad.grad(square)(np.float16(2.0))
    with pytest.raises(sdfgad.ArgumentError, match=r"Write `p\['w'\].astype\(np.float32\)`"):
        sdfgad.grad(lambda p: np.sum(p["w"]))({"w": HALF})


def made(x):
    y = np.zeros(3, dtype="float16")
    y[:] = x
    return np.sum(y)


def converted(x):
    return np.sum(x.astype(np.float16).astype(np.float64))


def summed(x):
    return np.sum(x, dtype=np.float16)


def averaged(x):
    return np.mean(x, dtype=np.float16)


def filled(x):
    return np.sum(np.full(3, 2.1, np.float16) * x)


def listed(x):
    return np.sum(np.array([1, 2, 3], dtype=np.float16) * x)


def spaced(x):
    return np.sum(np.linspace(0, 1, 3, dtype=np.float16) * x)


def computed(x):
    return np.sum(np.exp(x, dtype=np.float16))


def by_its_type(x):
    return np.float16(x[0]) * x[1]


def by_an_extended_type(x):
    return np.longdouble(x[0]) * x[1]


def from_outside(x):
    return np.sum(HALF * x)


def of_machine_learning(x):
    return np.sum(x.astype(BF16).astype(float))


def extended(x):
    return np.sum(np.asarray(x, dtype=np.longdouble))


def by_an_extended_number(x):
    return np.sum(x * np.longdouble(2.0))


def accumulated(x):
    return np.cumsum(x, dtype=np.longdouble)[-1]


def extended_complex(x):
    return np.sum(x * np.ones(3, np.clongdouble)).real


@pytest.mark.parametrize(
    ("program", "where", "instead"),
    [
        (made, "y = np.zeros", "x.astype(np.float32)"),
        *(
            (f, "return", "x.astype(np.float32)")
            for f in (converted, summed, averaged, filled, listed, spaced, computed)
        ),
        (from_outside, "return", "HALF.astype(np.float32)"),
        (by_its_type, "return", "x.astype(np.float32)"),
        (by_an_extended_type, "return", "x.astype(np.float64)"),
        (of_machine_learning, "return", "x.astype(np.float32)"),
        *((f, "return", "x.astype(np.float64)") for f in (extended, by_an_extended_number, accumulated)),
        (extended_complex, "return", "x.astype(np.complex128)"),
    ],
)
def test_within_programs(program, where, instead):
    with pytest.raises(sdfgad.UnsupportedProgram, match="not supported") as caught:
        sdfgad.grad(program)(X)
    assert f"Write `{instead}`" in str(caught.value)
    assert str(caught.value.where) == line_of(program, where)


def scaled(x):
    return np.sum(x * np.float16(2.1)) + x[0] * np.finfo(np.float16).eps


def test_numbers_that_numpy_widens_keep_their_value():
    expected = np.full(3, float(np.float16(2.1)))
    expected[0] += float(np.finfo(np.float16).eps)
    np.testing.assert_array_equal(sdfgad.grad(scaled)(X), expected)


def swapped(x):
    return np.sum(x.astype(">f8") * 2.0)


def test_conversion_to_the_other_byte_order():
    np.testing.assert_array_equal(sdfgad.grad(swapped)(X), [2.0, 2.0, 2.0])


def by_complex_types(x):
    return np.sum(np.abs(np.complex128(x) * 1j) ** 2) + np.complex64(x[0]).real


def test_conversion_by_a_complex_type():
    np.testing.assert_allclose(sdfgad.grad(by_complex_types)(X), 2 * X + [1.0, 0.0, 0.0], rtol=1e-7)
