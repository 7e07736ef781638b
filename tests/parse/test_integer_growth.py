"""Python's integers in loops, which get longer than the 64 bits of compiled code."""

import functools
import re

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.7, 0.3, 0.45])


def factorials(x):
    total, factorial = 1.0, 1
    for k in range(1, 30):
        factorial *= k
        total += x[0] ** k * (1e30 / factorial)
    return total + factorial * x[1] * 1e-20


def fibonacci(x):
    a, b, total = 1, 1, 0.0
    for _ in range(120):
        a, b = b, a + b
        total += x[0] / a
    return total * a


def powers(x):
    p, total, k = 1, 0.0, 0
    while k < 70:
        total += np.sin(p * x[0] * 1e-18) / p
        p *= 2
        k += 1
    return total * p


def generator(x):
    """Random numbers by a linear congruential generator of 64 bits."""
    state, total = 12345, 0.0
    for k in range(50):
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        total += x[k % 3] * state / 2**64
    return total


def nested(x):
    p, total = 1, 0.0
    for k in range(12):
        for _ in range(4):
            p = p * 3 + k
        total += x[0] / p
    return total * p


def counted(x):
    """Sums of sums, up to the fourth, which grow as polynomials do."""
    a, b, c, d, total = 1, 0, 0, 0, 0.0
    for k in range(3000):
        d += c
        c += b
        b += a
        a += 1
        total += x[k % 3] * (d % 7)
    return total


def of_counters(x):
    total = 0.0
    for k in range(60):
        if k**12 > 10**15:
            total += x[0] * k
        if k * 2**60 > 2**65:
            total += x[1] * k
        total += x[2] * ((k * 2**60) % 2**64) * 1e-18
    return total


def factorial_of(n):
    found = 1
    for k in range(2, n + 1):
        found *= k
    return found


def of_factorials(x):
    """Products of what loops have computed, each of which fits."""
    total = x[1] / np.sqrt(float(factorial_of(16) * factorial_of(16))) * 1e13
    for m in range(5):
        total += x[0] * 1e10 / (factorial_of(16 - m) * factorial_of(12 + m)) ** 0.5
    return total


def of_what_grows(x):
    n, total = 1, 0.0
    for _ in range(30):
        n = n * 3
        total += x[0] * 1e-20 * (n * n)
        if n * n > 2**70:
            total += x[1]
    return total + x[2] * 1e-20 * (n * n)


class Part:
    def __init__(self, x, k):
        self.x, self.k = x, k


def of_attributes(x):
    parts = [Part(x[k], k) for k in range(3)]
    total = 0.0
    for t in range(6):
        for k, part in enumerate(parts):
            part.k = 10**10 * (k + t)
            if part.x > 0.4:
                total += 1e-20 * (part.k * part.k) * part.x
    return total


@pytest.mark.parametrize("program", [of_factorials, of_what_grows, of_attributes])
def test_products_of_integers_that_have_grown(program):
    """They overflowed, without a word."""
    assert_value_and_slope(program, X.copy())


@pytest.mark.parametrize("program", [factorials, fibonacci, powers, generator, of_counters, nested])
def test_long_integers_are_pythons(program):
    """They were those of 64 bits, without a word."""
    assert_value_and_slope(program, X.copy())


def by_a_count(x, n):
    total, factorial = 1.0, 1
    for k in range(1, n):
        factorial *= k
        total += x[0] ** k / factorial
    return total + factorial * x[1] * 1e-20


def where_data_decides(x):
    n, p = 0, 1
    for k in range(60):
        if x[0] * k > 20:
            n += 1
        if x[0] * k > 30:
            p = p * 3
    return x[1] * n + x[2] * p


def series(x):
    term, total, factorial, k = 1.0, 1.0, 1, 0
    while abs(term) > 1e-8:
        k += 1
        factorial *= k
        term = x[0] ** k / factorial
        total += term
    return total


def product(x):
    n = int(x[0] * 1e11)
    return x[1] * (n * n)


def chosen_product(x):
    k = 10**10 if x[0] > 0.5 else 7
    return x[1] * (k * k)


def counted_product(x):
    n = 10
    for k in range(3):
        if x[k] > 0.1:
            n = n * 1000
    return x[0] * (n * n)


def late_product(x):
    """It fits in the first trips."""
    n, total = 0, 0.0
    for _ in range(1000):
        n = n + 10**7
        total += x[0] * 1e-20 * (n * n)
    return total


def long_loop(x):
    n, total = 0, 0.0
    for k in range(300):
        n = n * 10 + k % 10
        total += x[0] * n
    return total


def all_of_them(x):
    return by_a_count(x, 12) + by_a_count(x, 27) + series(x) + where_data_decides(x) + generator(x)


def test_gradients_of_compiled_code():
    gradient = sdfgad.differentiate(all_of_them)
    assert gradient.value(X) == pytest.approx(all_of_them(X), rel=1e-13)
    sdfgad.check_grads(all_of_them, X)


def test_a_count_that_is_an_argument():
    value = sdfgad.differentiate(by_a_count, wrt="x").value
    for n in (5, 12, 27):
        assert value(X, n) == pytest.approx(by_a_count(X, n), rel=1e-14)


@pytest.mark.parametrize(
    ("program", "x", "line"),
    [
        (where_data_decides, X * 3, "p = p * 3"),
        (series, X * 10, "factorial *= k"),
        (long_loop, X, "n = n * 10 + k % 10"),
        (late_product, X, "total += x[0] * 1e-20 * (n * n)"),
        (product, X, "return x[1] * (n * n)"),
        (chosen_product, X, "return x[1] * (k * k)"),
        (counted_product, X, "return x[0] * (n * n)"),
    ],
)
def test_a_check_where_they_cannot_be_known(program, x, line):
    with pytest.raises(ArgumentError, match=f"an integer needs more than 64 bits(.|\n)*{re.escape(line)}"):
        sdfgad.differentiate(program).value(x)


def bounded(x):
    seed, best, count, mask = 12345, 0, 0, 1
    total = 0.0
    for k in range(5000):
        seed = (1103515245 * seed + 12345) % 2**31
        best = max(best, seed % 97)
        count += 2 * k * k + 1
        mask = (mask * 5 + 1) & 1023
        total += x[k % 3] * (seed / 2**31 + mask)
    return total * best + count


def test_bounded_integers_are_not_checked():
    assert "status" not in str(sdfgad.explain(bounded, X, stage="parsed"))
    assert_value_and_slope(bounded, X.copy(), tolerance=1e-11)


def compared(x):
    total = 0.0
    for k in range(300):
        if k < 2**65 and k != 10**30 and k > -(10**20):
            total += x[0] * k
    return total


def test_comparisons_with_longer_numbers_are_known():
    assert_value_and_slope(compared, X.copy())


def modulo(x):
    total = 0.0
    for k in range(300):
        total += x[0] * (k % 2**65)
    return total


def test_arithmetic_with_longer_numbers_is_refused_in_many_trips():
    with pytest.raises(UnsupportedProgram, match=r"an integer needs more than 64 bits(.|\n)*total \+= x\[0\] \* \(k"):
        sdfgad.differentiate(modulo).value(X)


def reduced(x):
    return x[0] * functools.reduce(lambda a, b: a * b, range(1, 26)) * 1e-20


def test_a_reduction():
    assert_value_and_slope(reduced, X.copy())


def in_a_nest(x):
    """A counter of 8,100,000,000 trips: to follow 256 trips of each loop took minutes."""
    n, total = 0, 0.0
    for i in range(300):
        for _ in range(300):
            for _ in range(300):
                for _ in range(300):
                    n += 1
        total += x[i % 3] * (n % 7)
    return total


def test_nests_of_loops_are_not_followed_trip_by_trip():
    text = str(sdfgad.explain(in_a_nest, X, stage="parsed"))
    assert len(text.splitlines()) < 20
    assert "status" not in text
