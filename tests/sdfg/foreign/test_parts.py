"""Canonical loops and names, the largest sizes of arrays, and what a program overwrites."""

import pytest

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Buffer, Loop, walk
from sdfgad.ir.text import program_text
from sdfgad.sdfg.foreign.canonical import canonical
from sdfgad.sdfg.foreign.extents import with_largest
from sdfgad.sdfg.foreign.interface import is_overwritten

# --- canonical
from tests.helpers_graphs import primal_of
from tests.helpers_text import F64, sample
from tests.sdfg.foreign.constructs import SEGMENTS, X, segments


def text_of(text):
    program, _, _ = sample(text)
    body, buffers, new, _ = canonical(program.body, program.buffers, ())
    assert set(buffers) == set(new.values())
    return program_text(program.with_body(body)), body


def test_loops_start_at_0_and_run_upwards():
    text, body = text_of("loop backwards 3 <= f < 20:\n    z[f] = x[f]")
    assert text == "loop f < 17:\n    z[-f + 19] = x[-f + 19]"
    (loop,) = (s for s in walk(body) if isinstance(s, Loop))
    assert loop.guards == (Lin.symbol("f"), Lin(16) - Lin.symbol("f"))


def test_loops_and_parameters_have_names_of_their_own():
    text, _ = text_of("loop 1 <= f < 5:\n    for p < f: z[p] = x[p]\nloop f < 3:\n    for p < 4: z[p] = x[f]")
    assert text == ("loop f < 4:\n    for p < f + 1: z[p] = x[p]\nloop f_1 < 3:\n    for p_1 < 4: z[p_1] = x[f_1]")


# --- extents


def largest(text, *shape):
    program, _, _ = sample(text)
    buffers = {**program.buffers, "s": Buffer("s", shape, F64)}
    return with_largest(program.body, buffers)["s"].shape


def test_sizes_of_counters():
    f, g = Lin.symbol("f"), Lin.symbol("g")
    assert largest("loop f < 5:\n    z[f] = x[f]", f + 1) == (Lin(5),)
    assert largest("loop 2 <= f < 5:\n    z[f] = x[f]", f.scaled(-1) + 9, Lin(3)) == (Lin(7), Lin(3))
    assert largest("loop f < 5:\n    loop f <= g < f + 3:\n        z[f] = x[g]", g) == (Lin(6),)
    assert largest("loop f < 1:\n    z[f] = x[f]", f) == (Lin(1),)


def test_counters_of_one_name_count_together():
    assert largest("loop f < 5:\n    z[f] = x[f]\nloop f < 9:\n    z[f] = x[f]", Lin.symbol("f")) == (Lin(8),)


def test_sizes_that_are_data():
    with pytest.raises(UnsupportedGraph, match="the size of `s` is known only while the program runs"):
        largest("k = 7\nloop f < k:\n    z[f] = x[f]", Lin.symbol("f"))


# --- what is overwritten

OVERWRITTEN = {
    "a box": "for p < 20: z[p] = x[p]",
    "a loop": "loop f < 20:\n    z[f] = x[f]",
    "loops around a box": "loop f < 20:\n    for p < 6: Z[f, p] = X[f, p]",
    "a fresh sum": "for p < 20, c < 6: z[p] = sum of X[p, c]",
    "a loop that reads what it has written": "loop f < 20:\n    z[f] = x[f]\n    z[f] = z[f] * 2.0",
}
NOT_OVERWRITTEN = {
    "a part": "for p < 19: z[p] = x[p]",
    "a sum": "for p < 20: z[p] += x[p]",
    "read first": "for p < 20: w[p] = z[p]\nfor p < 20: z[p] = x[p]",
    "reads itself": "for p < 20: z[p] = z[p] * x[p]",
    "a branch": "if x[0] > 0.0:\n    for p < 20: z[p] = x[p]",
    "a loop that reads elsewhere": "loop f < 20:\n    z[f] = x[f]\n    w[f] = z[19 - f]",
    "a loop of unknown length": "k = 7\nloop f < k:\n    z[f] = x[f]",
}


@pytest.mark.parametrize("name", [*OVERWRITTEN, *NOT_OVERWRITTEN])
def test_what_is_overwritten(name):
    program, _, _ = sample({**OVERWRITTEN, **NOT_OVERWRITTEN}[name])
    array = "Z" if "Z[" in (OVERWRITTEN.get(name) or "") else "z"
    assert is_overwritten(program.body, program.buffers[array]) is (name in OVERWRITTEN)


def test_what_is_read_in_some_cases_bounds_no_size():
    graph = segments("o = a if i < 1 else 0.0", a="x[low + i]")
    with pytest.raises(UnsupportedGraph, match="the size of `part` is known only while the program runs"):
        primal_of(graph.sdfg, {"x": X, "start": SEGMENTS})
