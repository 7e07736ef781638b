"""Passes as records: what they are called, why they are there, how they are left out, and that each is verified."""

from dataclasses import replace

import pytest

from sdfgad.errors import InvalidProgram
from sdfgad.ir.program import Access
from sdfgad.optimise.before_ad import EARLY, prepare
from sdfgad.optimise.loops.fuse import fuse
from sdfgad.optimise.pass_manager import Phase, in_order, pass_of, run_passes
from sdfgad.optimise.passes import BEFORE_LOOPS, PASSES, TABLE, before_loops, from_loops, optimise, passes_for
from tests.helpers_text import sample

PROGRAM, _, _ = sample("""
    for p < 20: a[p] = x[p] * 2.0
    for p < 20: z[p] = a[p] + y[p]
    """)


def broken(program):
    return program.with_body(tuple(replace(s, target=Access("gone", s.target.index)) for s in program.body))


def test_each_pass_says_why_it_is_there():
    for one in TABLE:
        assert len(one.motive) > 20, one.name
    assert pass_of(Phase.LOOPS, fuse).motive.startswith("Loop fusion: ")


def test_passes_before_and_from_loops_are_all():
    for device in ("cpu", "gpu"):
        assert before_loops(device) + from_loops(device) == passes_for(device)
        assert [one.name for one in before_loops(device)] == [one.name for one in BEFORE_LOOPS]
    assert from_loops("cpu")[0].run is fuse


def test_a_pass_can_be_left_out():
    names = tuple({one.name for one in PASSES})
    assert optimise(PROGRAM, without=names) is PROGRAM
    assert optimise(PROGRAM, without=("clean",)) != optimise(PROGRAM, without=names)
    assert prepare(PROGRAM, without=[one.name for one in EARLY]) is PROGRAM


def test_each_pass_is_verified_if_asked_for(monkeypatch):
    monkeypatch.setenv("SDFGAD_VERIFY", "1")
    with pytest.raises(InvalidProgram, match="after the pass `broken`: there is no buffer `gone`"):
        run_passes(PROGRAM, (pass_of(Phase.LOOPS, broken),))
    monkeypatch.setenv("SDFGAD_VERIFY", "0")
    run_passes(PROGRAM, (pass_of(Phase.LOOPS, broken),))


def test_a_table_that_is_out_of_order_is_refused():
    first = pass_of(Phase.STATEMENTS, fuse, name="first")
    second = pass_of(Phase.STATEMENTS, fuse, name="second", needs=("first",))
    assert in_order((first, second, first)) == (first, second, first)
    with pytest.raises(ValueError, match="`second` runs before what it needs: first"):
        in_order((second, first))
    early = pass_of(Phase.PRIMAL, fuse, name="early")
    with pytest.raises(ValueError, match="`early` is of the phase"):
        in_order((first, early))


def test_a_pass_of_several_runs_them_in_order():
    one = pass_of(Phase.LOOPS, lambda program: [*program, 1], lambda program: [*program, 2], name="two", motive="-")
    assert (one.name, one.motive, one.run([])) == ("two", "-", [1, 2])
