"""What all terms of a sum are divided by is inverted once."""

import numpy as np
import pytest

import sdfgad
from sdfgad.optimise.products.invert_divisors import invert_divisors
from tests.helpers_passes import assert_becomes, assert_stays


def test_divisors_of_a_product():
    assert_becomes(
        invert_divisors,
        """
        for p < 20: s += -(x[p] / r) * (2.0 * y[p] / r)
        """,
        """
        inverse = (1.0 / r)
        for p < 20: s += (-(x[p] * inverse) * ((2.0 * y[p]) * inverse))
        """,
    )


def test_a_sum_for_each_row():
    assert_becomes(
        invert_divisors,
        """
        for p < 20, c < 6: z[p] = sum of (X[p, c] / (y[p] * r))
        """,
        """
        for p < 20: inverse[p] = (1.0 / (y[p] * r))
        for p < 20, c < 6: z[p] = sum of (X[p, c] * inverse[p])
        """,
    )


STAYS = {
    "nothing is divided": "for p < 20: s += r * x[p]",
    "by each point": "for p < 20: s += x[p] / y[p]",
    "a divided sum of others": "for p < 20: s += exp(x[p] / r)",
    "no sum": "for p < 20: z[p] += x[p] / r",
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_sums_that_stay(text):
    assert_stays(invert_divisors, text)


def spread(x, y, h, chosen):
    near = np.where(chosen, x * np.exp(-((x / h) ** 2)) / h, 0.0)
    return np.sum(near * y / (h * h)) + np.sum(np.where(chosen, (x - y) / h, 0.0) ** 2)


def test_gradients_by_what_is_divided_by():
    rng = np.random.default_rng(0)
    x, y, chosen = rng.random((7, 9)), rng.random((7, 9)), rng.random((7, 9)) > 0.4
    result = sdfgad.check_grads(spread, x, y, 0.7, chosen, wrt=("x", "y", "h"))
    assert result.error < 1e-8


def scaled(x, y, h):
    return np.sum(np.where(x > 0.0, x / h * y, 0.0))


def test_strong_zeros_stay():
    # No element is chosen, and the others are divided by zero.
    dx, dh = sdfgad.differentiate(scaled, wrt=("x", "h"))(-np.ones(5), np.full(5, np.inf), 0.0)
    assert np.all(dx == 0.0)
    assert dh == 0.0


def scaled_norm(x):
    m = np.max(np.abs(x))
    return m * np.sqrt(np.sum((x / m) * (x / m)))


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_what_is_divided_to_be_in_range_stays_so(size):
    x = np.array([0.4, 1.3, -0.7, 0.2])
    value, dx = sdfgad.differentiate(scaled_norm, wrt="x").value_and_grad(size * x)
    np.testing.assert_allclose(value, size * np.linalg.norm(x), rtol=1e-14)
    np.testing.assert_allclose(dx, x / np.linalg.norm(x), rtol=1e-14)


def mean_of_quotients(x, h):
    return np.mean(x / h)


def test_infinities_of_both_signs_add_up_to_nan():
    assert np.isnan(sdfgad.differentiate(mean_of_quotients, wrt="x").value(np.array([1.0, -2.0, 3.0]), 0.0))


def of_first(x, h, n):
    return np.sum(np.sin(x[:n] / h) * x[:n] / h) + np.sum(x[:n] / n)


def test_a_sum_of_nothing_is_zero_whatever_divides_it():
    x, g = np.linspace(0.3, 1.0, 4), sdfgad.differentiate(of_first, wrt=("x", "h"))
    value, (dx, dh) = g.value_and_grad(x, 0.0, 0)
    assert value == dh == 0.0
    np.testing.assert_array_equal(dx, np.zeros(4))
    np.testing.assert_allclose(g.value(x, 0.7, 3), of_first(x, 0.7, 3))
    assert sdfgad.check_grads(of_first, x, 0.7, 3, wrt=("x", "h")).error < 1e-7
