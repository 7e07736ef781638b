"""Numbers of Python that are known: integers of more than 64 bits, complex powers, division by zero."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, DivisionByZero, PythonRaises
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope

X = np.linspace(0.5, 1.5, 5)


def powers_of_listed(x):
    total = 0.0
    for n in [10, 40, 64, 5, 70] * 16:
        total += x[0] * (2**n) * 1e-20 + x[1] / (1 << n) + x[2] * (10**n) * 1e-60
    for n in [1000, 3000000, 5, 7, 65536] * 16:
        total += x[0] / (n**3) + x[1] * n**4 * 1e-26
    for n in [100, 300, 5, 7, 65] * 16:
        total += x[n % 3] * (n * n - 3 * n + n // 2 + n % 7) / (n**3)
    for k in range(70):
        total += x[3] / 2**k
    return total + x[4] * (10**25) * 1e-25


def halved(x, n):
    total = 0.0
    for k in range(n):
        total += x[0] / 2**k + (3 << k) * x[1] * 1e-18
    return total


def test_numbers_that_are_known_are_pythons():
    g = sdfgad.differentiate(powers_of_listed)
    assert g.value(X) == pytest.approx(powers_of_listed(X), rel=1e-13)
    sdfgad.check_grads(powers_of_listed, X)


def test_exponents_at_run_time_are_checked():
    g = sdfgad.differentiate(halved, wrt="x")
    assert g.value(X, 62) == pytest.approx(halved(X, 62), rel=1e-13)
    with pytest.raises(ArgumentError, match="needs more than 64 bits") as caught:
        g.value(X, 70)
    assert "2**k" in str(caught.value)


def like_python(x):
    total = 0.0
    for w in [0.5, -1.5, 2.5, 0.7, 3.0] * 16:
        total += abs(w**0.5) * x[0]
    for n in [3, 5, -7, 1, 2] * 16:
        total += abs(n**0.5) * x[1]
    p, q = 0, 1
    for n in [3, 5, 7, 1, 2] * 20:
        p, q = q, p + q * n
        total += x[p % 5]
    for n, k in [(60, 3), (70, 35), (10, 2), (5, 5), (64, 1)] * 14:
        c = 1
        for j in range(1, 4):
            c = c * (n + j) // j
        total += x[k % 5] * c / (n**12)
    return total


def test_carried_integers_and_complex_powers_are_pythons():
    assert sdfgad.differentiate(like_python).value(X) == pytest.approx(like_python(X), rel=1e-13)


def divided(x):
    total = 0.0
    for n in [1, 2, 3, 4, 5] * 16:
        total += x[0] * (7 % n) + 5 // n + x[1] * (5 / n)
    for w in [1.0, 2.0, 0.0, 3.0, 4.0] * 16:
        total += x[2] * (0.0 if w == 0.0 else 5.0 / w)
    return total


def by_zero(kind):
    def integers(x):
        total = 0.0
        for n in [1, 2, 0, 3, 4] * 16:
            total += x[0] * (7 % n if kind == "remainder" else 5 // n if kind == "quotient" else 5 / n)
        return total

    def floats(x):
        total = 0.0
        for w in [1.0, 2.0, 0.0, 3.0, 4.0] * 16:
            total += x[0] * (5.0 / w)
        return total

    return floats if kind == "floats" else integers


def test_divisors_that_may_be_zero_are_pythons():
    assert sdfgad.differentiate(divided).value(X) == pytest.approx(divided(X), rel=1e-14)


@pytest.mark.parametrize("kind", ["remainder", "quotient", "integers", "floats"])
def test_python_raises_where_a_listed_number_is_zero(kind):
    with pytest.raises(ZeroDivisionError):
        by_zero(kind)(X)
    with pytest.raises(PythonRaises, match="zero"):
        sdfgad.differentiate(by_zero(kind)).value(X)


def divided_by_listed(x):
    """None of these numbers is zero, nor negative."""
    y = x[0]
    for length, width in [(1.5, 0.1), (0.3, 2.0), (0.7, 0.4)] * 24:
        y = np.sin(y * length / width) + length**0.5
    return y


def divided_by_computed(x):
    return divided_by_sums(x, (1.5, 0.1, -0.3, 2.0))


def divided_by_sums(x, numbers):
    total, y = 0.0, x[0]
    for w in list(numbers) * 20:
        total = total + w
        y = np.sin(y + w / total) + 1.0 / (3.0 * w)
    return y


@pytest.mark.parametrize("program", [divided_by_listed, divided_by_computed])
def test_a_loop_that_divides_stays_one(program):
    assert "loop" in str(sdfgad.explain(program, X, stage="parsed"))
    assert_value_and_slope(program, X)


def test_python_raises_where_a_computed_number_is_zero():
    def program(x):
        return divided_by_sums(x, (1.5, 0.1, -1.6, 2.0))

    with pytest.raises(ZeroDivisionError):
        program(X)
    with pytest.raises(DivisionByZero, match="a number of Python is divided by zero") as caught:
        sdfgad.differentiate(program).value(X)
    assert str(caught.value.where) == line_of(divided_by_sums, "w / total")


@pytest.mark.parametrize("grown", [lambda n: n**2, lambda n: n << 40, lambda n: n * 10**12], ids=["**", "<<", "*"])
def test_powers_and_products_of_integers_of_data_that_outgrow_64_bits(grown):
    def program(x):
        return float(grown(int(x[0] * 1e10))) / 1e20 * x[1]

    g = sdfgad.differentiate(program)
    x = np.array([1e-6, 2.0])
    assert g.value(x) == pytest.approx(program(x), rel=1e-12)
    with pytest.raises(ArgumentError, match="an integer needs more than 64 bits"):
        g.value(np.array([1.5, 2.0]))
