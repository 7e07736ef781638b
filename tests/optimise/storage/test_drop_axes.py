"""Arrays lose the axes along which all elements are alike."""

import pytest

from sdfgad.optimise.storage.drop_axes import drop_axes
from tests.helpers_passes import assert_becomes, assert_stays


def test_an_axis():
    assert_becomes(
        drop_axes,
        """
        for p < 20, c < 6: A[p, c] = exp(x[p])
        for p < 20, c < 6: Z[p, c] = A[p, c] * X[p, c]
        loop j < 6:
            for p < 20: W[p, j] = A[p, j] + A[3, 5 - j]
        """,
        """
        for p < 20: A[p] = exp(x[p])
        for p < 20, c < 6: Z[p, c] = (A[p] * X[p, c])
        loop j < 6:
            for p < 20: W[p, j] = (A[p] + A[3])
        """,
    )


def test_all_axes():
    assert_becomes(
        drop_axes,
        """
        for p < 20, c < 6: A[p, c] = x[2] * y[3]
        for p < 20, c < 6: Z[p, c] = A[p, c] * X[p, c]
        """,
        """
        A = (x[2] * y[3])
        for p < 20, c < 6: Z[p, c] = (A * X[p, c])
        """,
    )


def test_made_in_every_trip():
    assert_becomes(
        drop_axes,
        """
        loop j < 6:
            for p < 20, c < 6: A[p, c] = y[c] * x[j]
            for p < 20: W[p, j] = A[p, j]
        """,
        """
        loop j < 6:
            for c < 6: A[c] = (y[c] * x[j])
            for p < 20: W[p, j] = A[j]
        """,
    )


STAYS = {
    "an output": "for p < 20, c < 6: Z[p, c] = x[p]",
    "two places": """
        for p < 20, c < 6: A[p, c] = x[p]
        A[2, 3] = y[0]
        for p < 20, c < 6: Z[p, c] = A[p, c]
        """,
    "a part": """
        for p < 20, c < 5: A[p, c] = x[p]
        for p < 20, c < 5: Z[p, c] = A[p, c]
        """,
    "added to": """
        for p < 20, c < 6: A[p, c] += x[p]
        for p < 20, c < 6: Z[p, c] = A[p, c]
        """,
    "used": """
        for p < 20, c < 6: A[p, c] = x[p] * y[c]
        for p < 20, c < 6: Z[p, c] = A[p, c]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(drop_axes, STAYS[name])
