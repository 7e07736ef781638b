"""Contributions to an element that have a factor in common become one product."""

import pytest

from sdfgad.optimise.collect import collect
from tests.helpers_passes import assert_becomes, assert_stays


def test_neighbours_with_the_same_factor():
    assert_becomes(
        collect,
        """
        loop parallel f < 18:
            z[f] = x[f] * 0.2
            z[f] += x[f + 1] * 0.2
            z[f] += -(0.2 * x[f + 2])
        """,
        """
        loop parallel f < 18:
            z[f] = (((x[f] + x[f + 1]) + -x[f + 2]) * 0.2)
        """,
    )


def test_of_two_elements_in_turn():
    assert_becomes(
        collect,
        """
        loop parallel f < 9:
            z[f] += x[f] * y[0]
            z[f + 9] += x[f] * y[1]
            z[f] += x[f + 1] * y[0]
            z[f + 9] += y[1] * x[f + 3]
        """,
        """
        loop parallel f < 9:
            z[f] += ((x[f] + x[f + 1]) * y[0])
            z[f + 9] += ((x[f] + x[f + 3]) * y[1])
        """,
    )


def test_past_one_with_another_factor():
    assert_becomes(
        collect,
        """
        loop f < 9:
            z[f] += x[f] * 2.0
            z[f] += x[f + 1] * 3.0
            z[f] += x[f + 2] * 2.0
        """,
        """
        loop f < 9:
            z[f] += ((x[f] + x[f + 2]) * 2.0)
            z[f] += (x[f + 1] * 3.0)
        """,
    )


KEPT = {
    "another factor": """
        loop f < 9:
            z[f] += x[f] * 2.0
            z[f] += x[f + 1] * 3.0
        """,
    "another element": """
        loop f < 9:
            z[f] += x[f] * 2.0
            z[f + 1] += x[f] * 2.0
        """,
    "the second one assigns": """
        loop f < 9:
            z[f] += x[f] * 2.0
            z[f] = x[f + 1] * 2.0
        """,
    "what is added changes in between": """
        loop f < 9:
            z[f] += x[f] * a[0]
            a[0] = x[f]
            z[f] += x[f + 1] * a[0]
        """,
    "the sum is read in between": """
        loop f < 9:
            z[f] += x[f] * 2.0
            a[f] = z[f]
            z[f] += x[f + 1] * 2.0
        """,
    "it adds itself": """
        loop f < 9:
            z[f] += x[f] * 2.0
            z[f] += z[f] * 2.0
        """,
    "a maximum": """
        loop f < 9:
            z[f] max= x[f] * 2.0
            z[f] max= x[f + 1] * 2.0
        """,
    "whole numbers": """
        loop f < 2:
            k[f] += i[f] * 2
            k[f] += i[f + 1] * 2
        """,
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    assert_stays(collect, KEPT[name])
