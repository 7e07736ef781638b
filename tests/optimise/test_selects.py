"""Sums of two choices by one condition are one choice; all others stay."""

import pytest

from sdfgad.optimise.selects import join_selects
from tests.helpers_passes import assert_becomes, assert_stays


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("select(x[p] > 0.5, 0.0, y[p]) + select(x[p] > 0.5, w[p], 0.0)", "select((x[p] > 0.5), w[p], y[p])"),
        ("select(x[p] > 0.5, w[p], 0.0) + select(x[p] > 0.5, 0.0, y[p])", "select((x[p] > 0.5), w[p], y[p])"),
        ("select(x[p] > 0.5, 0.0, y[p]) + select(x[p] > 0.5, 0.0, w[p])", "select((x[p] > 0.5), 0.0, (y[p] + w[p]))"),
        ("select(x[p] > 0.5, 0.0, y[p]) + select(x[p] > 0.5, y[p], 0.0)", "y[p]"),
        (
            "select(x[p] > 0.5, 0.0, y[p]) + select(x[p] > 0.5, w[p], 0.0) + select(x[p] > 0.5, 0.0, w[p])",
            "select((x[p] > 0.5), w[p], (y[p] + w[p]))",
        ),
    ],
)
def test_one_choice(before, after):
    assert_becomes(join_selects, f"for p < 20: z[p] = {before}", f"for p < 20: z[p] = {after}")


def test_an_element_that_keeps_its_value():
    kept = "for p < 20: z[p] = x[p]\n"
    assert_becomes(
        join_selects,
        f"{kept}for p < 20: z[p] = select(x[p] > 0.5, 0.0, z[p]) + select(x[p] > 0.5, z[p], 0.0)",
        kept,
    )
    assert_stays(join_selects, f"{kept}for p < 20: z[p] += z[p]")


@pytest.mark.parametrize(
    "value",
    [
        "select((x[p] > 0.5), 0.0, y[p]) + select((x[p] >= 0.5), w[p], 0.0)",
        "select((x[p] > 0.5), x[p], y[p]) + select((x[p] > 0.5), w[p], y[p])",
        "select((x[p] > 0.5), 0.0, y[p]) - select((x[p] > 0.5), w[p], 0.0)",
        "select((x[p] > 0.5), 0.0, y[p]) + w[p]",
    ],
)
def test_what_stays(value):
    assert_stays(join_selects, f"for p < 20: z[p] = ({value})")
