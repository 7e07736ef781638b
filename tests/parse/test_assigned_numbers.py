"""Python's numbers that are written into arrays of integers: as NumPy takes them, or an error as there."""

import numpy as np
import pytest

from sdfgad.errors import ArgumentError, UnsupportedProgram
from tests.helpers import line_of
from tests.helpers_ir import assert_like_python, checked_outputs, parsed

X = np.linspace(0.3, 1.1, 6)


def that_fit(x):
    u, v, w = np.zeros(6, np.uint8), np.zeros(6, np.int16), np.zeros(6, np.uint32)
    u[1], u[2] = 255.9, -0.9
    for e in range(6):
        v[e] = float(x[e]) * 3e4 - 2e4
        w[5 - e] = 40 * e
    v[x > 0.5] = -1.5
    return u * x + v + w


def test_that_fit():
    assert_like_python(that_fit, X)


def below(x):
    u = np.zeros(6, np.uint8)
    u[:] = -2.7
    return u * x


def far_above(x):
    u = np.zeros(6, np.int8)
    u[x > 0.5] = 128.0
    return u * x


@pytest.mark.parametrize("program", [below, far_above])
def test_numbers_that_do_not_fit(program):
    with pytest.raises(OverflowError):
        program(X)
    with pytest.raises(UnsupportedProgram, match="a number of Python is out of bounds for") as error:
        parsed(program, X)
    assert line_of(program, "] = ") in str(error.value)


def counted(x):
    u = np.zeros(40, np.uint8)
    for e in range(40):
        u[e] = 2 * e - 3
    return u[:6] * x


def of_data(x):
    u = np.zeros(6, np.int16)
    for e in range(6):
        u[e] = float(x[e]) * 1e5
    return u * x


def no_number(x):
    u = np.zeros(6, int)
    if x[0] > 0.0:
        u[0] = float(np.log(x[0] - 0.3) * 0.0)
    return u * x


@pytest.mark.parametrize(("program", "line"), [(counted, "u[e]"), (of_data, "u[e]"), (no_number, "u[0]")])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_that_do_not_fit_at_run_time(program, line):
    with pytest.raises((OverflowError, ValueError)):
        program(X)
    with pytest.raises(ArgumentError, match="a number of Python is out of bounds for") as error:
        checked_outputs(parsed(program, X), X)
    assert line_of(program, line) in str(error.value)


def powers_of_booleans(x, m):
    return (
        np.conj(m) + m**2,
        np.power(m, 2),
        m**3,
        m.conj(),
        np.conj(m[0] > 0),
        m**2.0 + np.round(x * 10 + 2.66j, 1).imag,
    )


def test_dtypes_of_booleans_that_numpy_converts():
    mask = X > 0.5
    expected = powers_of_booleans(X, mask)
    found = checked_outputs(assert_like_python(powers_of_booleans, X, mask), X, mask)
    for k, value in enumerate(expected):
        assert found[f"return[{k}]"].dtype == value.dtype


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (lambda x: round(x[0] * 1j) * x, "round of a complex number"),
        (lambda x: np.interp(x * 1j, X, X), "points of np.interp are complex"),
        (lambda x: np.interp(x, X * 1j, X), "points of np.interp are complex"),
    ],
)
def test_what_python_refuses_of_complex_numbers(program, what):
    with pytest.raises(TypeError):
        program(X)
    with pytest.raises(UnsupportedProgram, match=what):
        parsed(program, X)
