"""Polynomials, and sums of them, against sums that are written out."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from sdfgad.ir.polynomial import Polynomial

X, Y = Polynomial.symbol("x"), Polynomial.symbol("y")


def number(value):
    return Polynomial.constant(value)


def value(polynomial, **symbols):
    return sum(c * math.prod(symbols[name] for name in monomial) for monomial, c in polynomial.terms.items())


def random_polynomial(rng):
    polynomial = number(0)
    for powers in itertools.product(range(3), repeat=2):
        factors = [X] * powers[0] + [Y] * powers[1]
        polynomial = polynomial + math.prod(factors, start=number(Fraction(rng.randint(-3, 3), rng.randint(1, 3))))
    return polynomial


@pytest.mark.parametrize("seed", range(5))
def test_arithmetic(seed):
    rng = random.Random(seed)
    one, two = random_polynomial(rng), random_polynomial(rng)
    point = {"x": rng.randint(-5, 5), "y": rng.randint(-5, 5)}
    assert value(one + two, **point) == value(one, **point) + value(two, **point)
    assert value(one * two, **point) == value(one, **point) * value(two, **point)


@pytest.mark.parametrize("seed", range(5))
def test_sums(seed):
    rng = random.Random(seed)
    term = random_polynomial(rng)
    for end in (number(4), Y, X, X * Y + number(1)):
        for x, y in itertools.product(range(4), repeat=2):
            trips = value(end, x=x, y=y)
            expected = sum(value(term, x=k, y=y) for k in range(int(trips)))
            assert value(term.summed("x", end), x=x, y=y) == expected


def test_terms_that_cancel_are_gone():
    assert (X + number(-1) * X).terms == {}
    assert (X * number(0)).terms == {}
    assert X * Y == Y * X


def test_denominator():
    assert (number(Fraction(1, 2)) * X + number(Fraction(1, 3))).denominator == 6
    assert number(0).denominator == 1
