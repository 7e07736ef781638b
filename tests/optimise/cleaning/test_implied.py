"""Checks that an earlier one implies go; all others stay."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex
from sdfgad.optimise.cleaning.implied import remove_implied
from tests.helpers_passes import assert_becomes, assert_stays

FIRST = "for p < 20: k max= select(i[p] < 9, 0, 7)\n"


def test_the_second_of_two_goes():
    assert_becomes(
        remove_implied,
        """
        k = 0
        for p < 20: k max= select((i[p] < 9), 0, 7)
        for p < 20: z[p] = x[p]
        for c < 20: k max= select((i[c] < 9), 0, 6)
        q = 1.0 * k
        """,
        """
        k = 0
        for p < 20: k max= select((i[p] < 9), 0, 7)
        for p < 20: z[p] = x[p]
        q = (1.0 * float64(k))
        """,
    )


@pytest.mark.parametrize(
    "second",
    [
        "for p < 20: k max= select(i[p] < 9, 0, 8)",
        "for p < 20: k max= select(i[p] < 8, 0, 6)",
        "for p < 20: k max= select(i[p] < 9, 1, 6)",
        "for p < 19: k max= select(i[p] < 9, 0, 6)",
        "for p < 20: m max= select(i[p] < 9, 0, 6)",
        "for p < 20: k min= select(i[p] < 9, 0, 6)",
        "for p < 20: i[p] = 1\nfor p < 20: k max= select(i[p] < 9, 0, 6)",
        "k = 0\nfor p < 20: k max= select(i[p] < 9, 0, 6)",
    ],
)
def test_stays(second):
    assert_stays(remove_implied, f"k = 0\nm = 0\n{FIRST}{second}\nq = 1.0 * k")


def taken_twice(x, at, other):
    y = x[at] * 2.0
    z = np.zeros(x.size)
    z[at] = y
    return np.sum(z[at] * x[other])


def test_what_is_wrong_is_still_reported():
    gradient = sdfgad.differentiate(taken_twice, wrt="x")
    x, good, bad = np.arange(4.0), np.array([3, 1, 2]), np.array([3, 4, 2])
    assert gradient(x, good, good).shape == (4,)
    for arguments in ((x, bad, good), (x, good, bad), (x, bad, bad)):
        with pytest.raises(InvalidIndex):
            gradient(*arguments)
