"""Assignments that only add to what is there become contributions, and totals of loops sums."""

import pytest

from sdfgad.ir.program import Loop
from sdfgad.optimise.device.contributions import with_contributions
from sdfgad.optimise.device.running_sums import running_sums
from tests.helpers_passes import assert_becomes, assert_stays


def contributions(program):
    """The program with contributions in its loops."""
    return program.with_body(tuple(with_contributions(s) if isinstance(s, Loop) else s for s in program.body))


ADDED = {
    "a value": ("z[p] = z[p] + x[p]", "z[p] += x[p]"),
    "a value on the left": ("z[p] = x[p] + z[p]", "z[p] += x[p]"),
    "two values": ("z[p] = (z[p] + x[p]) + y[p]", "z[p] += (x[p] + y[p])"),
    "less a value": ("z[p] = (z[p] + x[p]) - y[p]", "z[p] += (x[p] - y[p])"),
    "where a condition holds": (
        "z[p] = select(x[0] > 0.0, z[p] + x[p], z[p]) + y[p]",
        "z[p] += (select((x[0] > 0.0), x[p], 0.0) + y[p])",
    ),
}
OTHERS = {
    "a multiple": "z[p] = z[p] * x[p]",
    "twice the old value": "z[p] = z[p] + z[p]",
    "from a value": "z[p] = x[p] - z[p]",
    "a neighbour": "z[p] = z[p] + z[p + 1]",
    "a choice of something else": "z[p] = select(x[0] > 0.0, z[p] + x[p], y[p])",
    "a condition on the old value": "z[p] = select(z[p] > 0.0, z[p] + x[p], z[p])",
    "what another statement reads": "z[p] = z[p] + x[p]\n    for p < 6: w[p] = z[p]",
    "what another statement assigns": "z[p] = z[p] + x[p]\n    z[0] = 1.0",
}


@pytest.mark.parametrize("name", ADDED)
def test_contributions(name):
    before, after = ADDED[name]
    assert_becomes(contributions, f"loop n < 3:\n    for p < 6: {before}", f"loop n < 3:\n    for p < 6: {after}")


@pytest.mark.parametrize("name", OTHERS)
def test_other_assignments_stay(name):
    assert_stays(contributions, f"loop n < 3:\n    for p < 6: {OTHERS[name]}")


TOTALS = {
    "added to": ("z[0] = z[0] + x[n]", "z[0] += x[n]"),
    "less": ("z[0] = z[0] - x[n]", "z[0] += -x[n]"),
    "of an old value": ("s = q\n    q = s + x[n]", "q += x[n]"),
    "of an old value, later": ("s = q\n    r = x[n]\n    q = s + r", "r = x[n]\n    q += r"),
    "of old values": ("for p < 20: a[p] = z[p]\n    for p < 6: z[p] = a[p] + x[n]", "for p < 6: z[p] += x[n]"),
}
RUNNING = {
    "read in each trip": "w[n] = z[0]\n    z[0] = z[0] + x[n]",
    "read before it is added to": "s = q\n    w[n] = q\n    q = s + x[n]",
    "an old value that is used twice": "s = q\n    q = s + x[n]\n    w[n] = s",
    "an old value of other elements": "for p < 20: a[p] = z[p]\n    for p < 6: z[p] = a[p + 1] + x[n]",
    "changed in between": "s = q\n    q = x[n]\n    q = s + x[n]",
}


@pytest.mark.parametrize("name", TOTALS)
def test_totals(name):
    before, after = TOTALS[name]
    assert_becomes(running_sums, f"loop n < 3:\n    {before}", f"loop n < 3:\n    {after}")


@pytest.mark.parametrize("name", RUNNING)
def test_what_is_read_in_order_stays(name):
    assert_stays(running_sums, f"loop n < 3:\n    {RUNNING[name]}")


def test_outside_of_loops_nothing_changes():
    assert_stays(running_sums, "z[0] = z[0] + x[0]")
