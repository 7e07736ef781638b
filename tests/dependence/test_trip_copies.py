"""Of what each trip of a loop needs a copy, so that all trips can run at once."""

import pytest

from sdfgad.dependence.dead_after import is_dead_after
from sdfgad.dependence.trip_copies import trip_copies
from sdfgad.ir.program import Loop
from tests.helpers_text import sample

# The text of a loop -> the temporaries and the sums; None if a trip needs another one.
LOOPS = {
    "elements of its own": ("loop n < 6:\n    Z[n, 0] = x[n]\n    Z[n, 1] = Z[n, 0] + 1.0", (set(), set())),
    "a temporary": ("loop n < 6:\n    for p < 20: a[p] = x[p]\n    z[n] = a[3]", ({"a"}, set())),
    "a temporary of nested trips": (
        "loop n < 6:\n    for p < 20: a[p] = x[p]\n    loop t < 4:\n        for p < 20: a[p] += y[n]\n    z[n] = a[3]",
        ({"a"}, set()),
    ),
    "a number": ("loop n < 6:\n    s = x[n]\n    z[n] = s", ({"s"}, set())),
    "a sum": ("loop n < 6:\n    for p < 20: z[p] += x[n]", (set(), {"z"})),
    "a sum where data says": ("loop n < 6:\n    z[i[n]] += x[n]", (set(), {"z"})),
    "sums to elements of its own": ("loop n < 6:\n    for p < 6: Z[n, p] += x[p]", (set(), set())),
    "what the trip before has left": ("loop n < 6:\n    z[n] = a[3]\n    for p < 20: a[p] = x[p]", None),
    "a sum that is read": ("loop n < 6:\n    z[0] += x[n]\n    w[n] = z[0]", None),
    "a sum that is cleared": ("loop n < 6:\n    z[0] += x[n]\n    z[1] = 0.0", None),
    "a recurrence": ("loop n < 6:\n    z[n + 1] = z[n] * x[n]", None),
    "a maximum": ("loop n < 6:\n    q max= x[n]", None),
}


@pytest.mark.parametrize("name", LOOPS)
def test_copies(name):
    text, expected = LOOPS[name]
    program, *_ = sample(text)
    (loop,) = program.body
    found = trip_copies(loop, program.buffers, loop.written - program.interface, ())
    assert (found and (found.temporaries, found.sums)) == expected


def test_what_may_be_shared_needs_no_copy():
    program, *_ = sample("loop n < 6:\n    q max= x[n]\n    z[n] = x[n]")
    (loop,) = program.body
    found = trip_copies(loop, program.buffers, (), ("q",))
    assert (found.temporaries, found.sums) == (set(), set())


AFTER = {
    "nothing": ("", True),
    "assigned again": ("for p < 20: a[p] = y[p]\nz[0] = a[1]", True),
    "read": ("z[0] = a[1]", False),
    "assigned in part": ("a[0] = y[0]\nz[0] = a[1]", False),
}


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize("is_inside", [False, True])
def test_what_a_loop_leaves_is_dead(name, is_inside):
    after, expected = AFTER[name]
    text = f"loop n < 6:\n    for p < 20: a[p] = x[p]\n    z[n] = a[3]\n{after}"
    if is_inside:
        text = "loop k < 4:\n" + "\n".join(f"    {line}" for line in text.splitlines())
    program, *_ = sample(text)
    body, owner = (program.body[0].body, program.body[0]) if is_inside else (program.body, None)
    assert isinstance(body[0], Loop)
    around = [(None, ()), (owner, body[1:])] if is_inside else [(None, body[1:])]
    assert is_dead_after(around, program.buffers["a"]) == expected


def test_the_next_trip_of_a_loop_around_may_read_it():
    program, *_ = sample("loop k < 4:\n    z[0] = a[1]\n    loop n < 6:\n        for p < 20: a[p] = x[p]")
    (outer,) = program.body
    assert not is_dead_after([(None, ()), (outer, ())], program.buffers["a"])
