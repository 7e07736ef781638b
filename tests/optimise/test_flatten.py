"""What is only read by the position of its elements has one axis."""

import numpy as np
import pytest

from sdfgad.optimise.flatten import flatten
from tests.helpers_passes import assert_becomes, assert_stays, check_function


def test_a_box_of_digits_becomes_a_loop_along_memory():
    assert_becomes(
        flatten,
        """
        for p < 20, c < 6: A[p, c] = X[p, c] * y[p]
        loop j < 2:
            for p < 20: z[p] = A[p // 6, p % 6] + y[p]
        """,
        """
        for p < 20, c < 6: A[c + 6*p] = (X[p, c] * y[p])
        loop j < 2:
            for p < 20: z[p] = (A[p] + y[p])
        """,
    )


def test_every_access_is_changed():
    assert_becomes(
        flatten,
        """
        for p < 20, c < 6: A[p, c] = 0.0
        loop j < 6:
            A[j, 2] = x[j]
            for p < 18: A[p + 2, j] = y[p]
        loop l < 2:
            for p < 20: z[p] = y[p] * A[(p + 6) // 6, p % 6]
            for p < 20: w[p] = (A[p // 6, p % 6] - A[(p + 12) // 6, p % 6]) + y[p]
        """,
        """
        for p < 20, c < 6: A[c + 6*p] = 0.0
        loop j < 6:
            A[6*j + 2] = x[j]
            for p < 18: A[j + 6*p + 12] = y[p]
        loop l < 2:
            for p < 20: z[p] = (y[p] * A[p + 6])
            for p < 20: w[p] = ((A[p] - A[p + 12]) + y[p])
        """,
    )


FILLED = "for p < 20, c < 6: A[p, c] = X[p, c] * y[p]\n"
STAYS = {
    "read once": FILLED + "for p < 20: z[p] = A[p // 6, p % 6] + y[p]",
    "a copy": FILLED + "loop j < 2:\n    for p < 20: z[p] = A[p // 6, p % 6]",
    "read by its axes, too": FILLED
    + "loop j < 2:\n    for p < 20: z[p] = A[p // 6, p % 6] + y[p]\n    for p < 20: w[p] = A[p, 0] + y[p]",
    "another divisor": FILLED + "loop j < 2:\n    for p < 20: z[p] = A[p // 5, p % 5] + y[p]",
    "other quotients": FILLED + "loop j < 2:\n    for p < 20: z[p] = A[p // 6, p % 6] + y[p // 6]",
    "a quotient where it is put": FILLED + "loop j < 2:\n    for p < 20: Z[p // 4, p % 4] = A[p // 6, p % 6] + y[p]",
    "sums": FILLED + "q = 0.0\nfor p < 20: q += A[p // 6, p % 6] * y[p]",
    "made by a sum": """
        for p < 20, c < 6, d < 2: A[p, c] = sum of X[p, d] * y[c]
        for p < 20: z[p] = A[p // 6, p % 6] + y[p]
        """,
    "an input": "for p < 20: z[p] = X[p // 6, p % 6] + y[p]",
    "a condition": FILLED + "if A[0, 0] > 1.0:\n    for p < 20: z[p] = A[p // 6, p % 6] + y[p]",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(flatten, STAYS[name])


def masked(x, y, bound):
    c = x[:, None] * y
    z, c = np.zeros(c.size), c.reshape(-1)
    for _ in range(4):
        z = z * z + c
        keep = np.abs(z) < bound
        z, c = z[keep], c[keep]
    return np.sum(z * z)


def test_gradients(rng):
    check_function(masked, (rng.uniform(0.2, 0.9, 5), rng.uniform(0.2, 0.9, 4), 1.0))
