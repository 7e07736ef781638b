"""Sums of few terms are written out."""

import pytest

from sdfgad.optimise.products.unroll import unroll
from tests.helpers_passes import assert_becomes, assert_stays, check_function


def test_a_sum():
    assert_becomes(
        unroll,
        "for p < 20, c < 3: z[p] = sum of X[p, c] * y[c]",
        "for p < 20: z[p] = (((X[p, 0] * y[0]) + (X[p, 1] * y[1])) + (X[p, 2] * y[2]))",
    )


def test_contributions():
    assert_becomes(
        unroll,
        """
        for p < 18: z[p] = 1.0
        for p < 18, c < 2, d < 2: z[p] += X[p + c, d]
        q = 2.0
        for c < 2: q += x[c]
        """,
        """
        for p < 18: z[p] = 1.0
        for p < 18: z[p] += (((X[p, 0] + X[p, 1]) + X[p + 1, 0]) + X[p + 1, 1])
        q = 2.0
        q += (x[0] + x[1])
        """,
    )


STAYS = {
    "many terms": "for p < 20, c < 6: z[p] = sum of X[p, c]",
    "not known how many": "for p < 20, c < n: z[p] = sum of X[p, c]",
    "none": "q = 1.0\nfor c < 0: q += x[c]",
    "no sum": "for p < 20, c < 2: z[p] max= all X[p, c]",
    "nothing summed": "for p < 20, c < 2: Z[p, c] = X[p, c]",
    "elements that are read": "for p < 20: z[p] = 0.0\nfor p < 4: z[i[p]] += x[p]",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(unroll, STAYS[name], **({"n": 3} if "< n" in STAYS[name] else {}))


def small_products(a, b):
    t = a @ b
    for _ in range(2):
        t = t @ b + a[0] @ b
    return t * t


def test_gradients(rng):
    check_function(small_products, tuple(rng.uniform(0.2, 0.9, (2, 3, 3))))
