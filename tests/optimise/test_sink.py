"""Rows of a matrix are cleared in the trips that use them."""

import pytest

from sdfgad.optimise.sink import sink_clears
from tests.helpers_passes import assert_becomes, assert_stays

CLEAR = """
        for p < 20, c < 6: Z[p, c] = 0.0
"""


def test_in_the_loop_that_goes_over_the_rows():
    body = """
            z[f] = x[f]
            Z[f, 2] += x[f]
            loop g < 5:
                Z[f, g] += X[f, g]
        for p < 20, c < 6: W[p, c] = Z[p, c]
        """
    assert_becomes(
        sink_clears,
        CLEAR + "        loop backwards f < 20:" + body,
        "\n        loop backwards f < 20:"
        + body.replace("            Z[f, 2]", "            for c < 6: Z[f, c] = 0.0\n            Z[f, 2]"),
    )


def test_a_counter_with_the_name_of_a_column():
    assert_becomes(
        sink_clears,
        """
        for p < 20, f < 6: Z[p, f] = 1.0
        loop f < 20:
            Z[f, 0] = x[f]
        """,
        """
        loop f < 20:
            for f_1 < 6: Z[f, f_1] = 1.0
            Z[f, 0] = x[f]
        """,
    )


def test_in_a_loop_in_a_loop():
    assert_becomes(
        sink_clears,
        """
        loop j < 3:
            for p < 20, c < 6: A[p, c] = 1.0
            loop f < 20:
                for c < 6: A[f, c] += X[f, c]
            for p < 20, c < 6: Z[p, c] = A[p, c]
        """,
        """
        loop j < 3:
            loop f < 20:
                for c < 6: A[f, c] = 1.0
                for c < 6: A[f, c] += X[f, c]
            for p < 20, c < 6: Z[p, c] = A[p, c]
        """,
    )


KEPT = {
    "not all rows": CLEAR
    + """
        loop f < 19:
            for c < 6: Z[f, c] += X[f, c]
        """,
    "rows from another one on": CLEAR
    + """
        loop 1 <= f < 20:
            for c < 6: Z[f, c] += X[f, c]
        """,
    "a number of rows that is not known": CLEAR
    + """
        loop f < n:
            for c < 6: Z[f, c] += X[f, c]
        """,
    "other rows, too": CLEAR
    + """
        loop f < 20:
            for c < 6: Z[f, c] += Z[-f + 19, c]
        """,
    "in use before": CLEAR
    + """
        for c < 6: w[c] = Z[3, c]
        loop f < 20:
            for c < 6: Z[f, c] += X[f, c]
        """,
    "vectors": CLEAR
    + """
        loop parallel f < 20:
            Z[f, 2] += x[f]
        """,
    "no clear": """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop f < 20:
            for c < 6: Z[f, c] += Y[f, c]
        """,
    "in a branch": CLEAR
    + """
        if x[0] > 0.0:
            loop f < 20:
                for c < 6: Z[f, c] += X[f, c]
        """,
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    assert_stays(sink_clears, KEPT[name], **({"n": 4} if "f < n" in KEPT[name] else {}))
