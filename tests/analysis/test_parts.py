"""What statements read of a buffer may have been assigned in parts: the parts make up all of it, or they do not."""

import pytest

from sdfgad.analysis.parts import reads_what_is_made
from tests.helpers_text import sample

MADE = {
    "two parts": """
        for p < 12: a[p] = x[p]
        for p < 8: a[p + 12] = y[p]
        for p < 20: z[p] = a[p]
        """,
    "an inner part and its rim": """
        for p < 18, c < 4: A[p + 1, c + 1] = X[p, c]
        for c < 6: A[0, c] = 0.0
        for c < 6: A[19, c] = 0.0
        for p < 18: A[p + 1, 0] = 0.0
        for p < 18: A[p + 1, 5] = 0.0
        for p < 20, c < 6: A[p, c] += Y[p, c]
        for p < 20, c < 6: Z[p, c] = A[p, c]
        """,
    "in parallel loops": """
        loop parallel f < 19:
            loop parallel g < 6:
                A[f, g] = X[f, g]
                Z[f, g] = A[f, g]
        loop parallel f < 1:
            for c < 6: A[f + 19, c] = 0.0
        for p < 20, c < 5: Z[p, c] = (A[p, c] + A[p, c + 1])
        """,
    "parts that overlap": """
        for p < 15: a[p] = x[p]
        for p < 15: a[p + 5] = y[p]
        for p < 20: z[p] = a[p]
        """,
    "off by a number": """
        for p < 12: a[p + n] = x[p]
        for p < 3: a[p + n + 12] = y[p]
        for p < 15: z[p] = a[p + n]
        """,
}

NOT_MADE = {
    "a gap": """
        for p < 11: a[p] = x[p]
        for p < 8: a[p + 12] = y[p]
        for p < 20: z[p] = a[p]
        """,
    "a corner": """
        for p < 18, c < 4: A[p + 1, c + 1] = X[p, c]
        for c < 5: A[0, c] = 0.0
        for c < 6: A[19, c] = 0.0
        for p < 18: A[p + 1, 0] = 0.0
        for p < 18: A[p + 1, 5] = 0.0
        for p < 20, c < 6: Z[p, c] = A[p, c]
        """,
    "read too early": """
        for p < 12: a[p] = x[p]
        for p < 20: z[p] = a[p]
        for p < 8: a[p + 12] = y[p]
        """,
    "added to what is not there": """
        for p < 12: a[p] = x[p]
        for p < 20: a[p] += y[p]
        """,
    "what a statement reads itself": """
        for p < 12: a[p] = x[p]
        for p < 8: a[p + 12] = (a[p + 12] * 2.0)
        """,
    "every other element": """
        for p < 10: a[2*p] = x[p]
        for p < 1: a[p + 19] = x[p]
        for p < 20: z[p] = a[p]
        """,
    "a diagonal": """
        for p < 6: A[p, p] = x[p]
        for p < 6, c < 6: Z[p, c] = A[p, c]
        """,
    "a sequential loop": """
        loop j < 2:
            for p < 10: a[p + 10*j] = x[p]
        for p < 20: z[p] = a[p]
        """,
    "one side of a branch": """
        if x[0] > 0.0:
            for p < 20: a[p] = x[p]
        for p < 20: z[p] = a[p]
        """,
    "rows that data choose": """
        for p < 20: a[i[p]] = x[p]
        for p < 20: z[p] = a[p]
        """,
    "numbers that are not known": """
        for p < n: a[p] = x[p]
        for p < n: z[p] = a[p]
        """,
    "off by different numbers": """
        for p < 12: a[p + n] = x[p]
        for p < 12: z[p] = a[p + m]
        """,
    "no points": """
        for p < 0: a[p] = x[p]
        for p < 1: z[p] = a[p]
        """,
    "a largest element": """
        for p < 20: a[p] = x[p]
        for p < 20: a[0] max= x[p]
        """,
}


def found(text):
    program, _, _ = sample(text, n=3, m=4)
    return reads_what_is_made(program.body, "A" if "A[" in text else "a")


@pytest.mark.parametrize("name", MADE)
def test_made(name):
    assert found(MADE[name])


@pytest.mark.parametrize("name", NOT_MADE)
def test_not_made(name):
    assert not found(NOT_MADE[name])
