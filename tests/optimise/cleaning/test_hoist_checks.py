"""Checks that are the same in each trip of a loop are before it; all others stay."""

import numpy as np
import pytest

import sdfgad
from sdfgad.optimise.cleaning.hoist_checks import hoist_checks
from tests.helpers_passes import assert_becomes, assert_stays

CHECK = "for p < 20: k max= select(i[p] < 9, 0, 7)"


def test_a_check_leaves_all_loops_around_it():
    assert_becomes(
        hoist_checks,
        """
        k = 0
        loop c < 5:
            loop d < 6:
                for p < 20: k max= select((i[p] < 9), 0, 7)
                for p < 20: z[p] += x[p]
        q = 1.0 * k
        """,
        """
        k = 0
        for p < 20: k max= select((i[p] < 9), 0, 7)
        loop c < 5:
            loop d < 6:
                for p < 20: z[p] += x[p]
        q = (1.0 * float64(k))
        """,
    )


def test_a_loop_of_nothing_else_goes():
    assert_becomes(
        hoist_checks,
        f"k = 0\nloop c < 5:\n    {CHECK}\nq = 1.0 * k",
        "k = 0\nfor p < 20: k max= select((i[p] < 9), 0, 7)\nq = (1.0 * float64(k))\n",
    )


@pytest.mark.parametrize(
    "body",
    [
        "for p < 20: k max= select(i[p] < c, 0, 7)",
        "for p < c: k max= select(i[p] < 9, 0, 7)",
        f"{CHECK}\n    for p < 20: i[p] = c",
        f"for p < 20: i[p] = c\n    {CHECK}",
        f"{CHECK}\n    k = 0",
        f"{CHECK}\n    k min= 4",
        f"{CHECK}\n    for p < 20: z[p] += 1.0 * k",
        "for p < 20: k += select(i[p] < 9, 0, 7)",
    ],
)
def test_stays(body):
    assert_stays(hoist_checks, f"k = 0\nloop c < 5:\n    {body}\nq = 1.0 * k")


def gathered(x, at, steps):
    seen = 0.0
    for _ in range(steps):
        x = np.sin(x)
        seen = seen + np.sum(x[at])
    return seen


def test_loops_without_trips_check_nothing(rng):
    x, gradient = rng.normal(size=5), sdfgad.differentiate(gathered, wrt="x")
    wrong, right = np.array([1, 7]), np.array([1, 4])
    np.testing.assert_array_equal(gradient(x, wrong, 0), np.zeros(5))
    with pytest.raises(sdfgad.errors.InvalidIndex, match=r"(?s)index.*x\[at\]"):
        gradient(x, wrong, 1)
    h, v = 1e-6, rng.normal(size=5)
    slope = (gathered(x + h * v, right, 3) - gathered(x - h * v, right, 3)) / (2 * h)
    np.testing.assert_allclose(gradient(x, right, 3) @ v, slope, rtol=1e-7)
