"""Copy propagation: originals are read instead of copies, and copies at the ends of both sides of a branch are sunk."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import Read
from sdfgad.ir.program import Loop, computes, walk
from sdfgad.parse.copy_elimination import coalesce
from sdfgad.parse.copy_propagation import propagate_final_copies, propagate_trip_copies, sink_common_copies
from tests.helpers_ir import assert_same_outputs, assert_value_and_slope, parsed, parsed_without


def copied_in_every_trip(x, s):
    z = np.zeros_like(x)
    for _ in range(3):
        y = x.copy()
        z += y * s
        s = s * y[0]
    return z


def copied_before_it_changes(x, s):
    y = x.copy()
    x *= s
    return x * y


def changed_by_the_next_trip(x, s):
    total = np.zeros_like(x)
    for _ in range(3):
        y = x.copy()
        x *= s
        total += x * y
    return total


def copy_that_changes(x, s):
    y = x.copy()
    y[1:] *= s
    return x * y


def read_before_it_changes(x, s):
    total = np.zeros_like(x)
    for _ in range(3):
        y = x.copy()
        total += np.sin(y) * s
        x *= s
    return total


def copies_of_copies_in_a_trip(x, s):
    total = np.zeros_like(x)
    for _ in range(3):
        y = x.copy()
        z = y.copy()
        if s > 0.5:
            w = z.copy()
            total += w * y * s
        x *= s
    return total


def read_by_the_next_trip(x, s):
    total, y = np.zeros_like(x), np.zeros_like(x)
    for _ in range(3):
        total += np.sin(y) * s
        y = x.copy()
        x *= s
    return total


def read_after_the_loop(x, s):
    y = np.zeros_like(x)
    for i in range(3):
        if s > 0.5:
            y = x.copy()
            s = s + y[0]
        x *= s
    return y


def copy_of_a_copy(x, s):
    y = x.copy()
    z = y.copy()
    return z * s + y


def reversed_copy(x, s):
    y = x[::-1].copy()
    return x * y * s


def ends_alike(x, s):
    y = np.zeros_like(x)
    for i in range(3):
        if s > 0.9:
            s = s * 0.5
            y = x * 1.0
        else:
            x = x * s
            y = x
    return y + x


def dropped_bit_by_bit(x, s):
    z, at, last = np.zeros_like(x), np.arange(x.size), np.zeros_like(x)
    c = x
    for _ in range(4):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        gone = z > s
        last[at[gone]] = z[gone]
        np.logical_not(gone, gone)
        z, at, c = z[gone], at[gone], c[gone]
    return last


PROGRAMS = [
    copied_in_every_trip,
    copied_before_it_changes,
    changed_by_the_next_trip,
    copy_that_changes,
    read_before_it_changes,
    copies_of_copies_in_a_trip,
    read_by_the_next_trip,
    read_after_the_loop,
    copy_of_a_copy,
    reversed_copy,
    ends_alike,
    dropped_bit_by_bit,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.__name__ for p in PROGRAMS])
def test_outputs_and_slopes_stay(monkeypatch, rng, program):
    args = (rng.uniform(0.2, 1.2, 5), 0.8)
    before = parsed_without(monkeypatch, "propagate_copies", program, *args)
    for one in (propagate_final_copies, propagate_trip_copies, sink_common_copies):
        assert_same_outputs(before, one(before.program), *args)
    assert_value_and_slope(program, *args)


@pytest.mark.parametrize(
    ("program", "copies"),
    [
        (copied_in_every_trip, 0),
        (copied_before_it_changes, 1),
        (changed_by_the_next_trip, 1),
        (read_before_it_changes, 0),
        (copies_of_copies_in_a_trip, 0),
        (copy_of_a_copy, 0),
    ],
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_only_what_changes_is_copied(program, copies):
    body = parsed(program, np.ones(5), 0.8).program.body
    # What is updated in place is a copy of the argument, too.
    made = [s for s in computes(body) if s.params and isinstance(s.value, Read) and s.target.buffer != "x"]
    assert len(made) == copies


def test_what_is_dropped_bit_by_bit_stays_in_its_place():
    program = parsed(dropped_bit_by_bit, np.ones(5), 0.8).program
    (loop,) = [s for s in walk(program.body) if isinstance(s, Loop) and s.is_open]
    changed = {s.target.buffer for s in computes(loop.body)}
    # The values, the masks, the place to record values in; the indices and the constants stay.
    assert changed == {"status", "taken", "broken_0", "trips", "count", "z", "gone", "mask", "at_1", "t_2"}


def test_a_program_without_copies_is_left_alone():
    program = parsed(copied_before_it_changes, np.ones(5), 0.8).program
    assert propagate_final_copies(program) == program
    assert propagate_trip_copies(program) == program
    assert sink_common_copies(program) == program
    assert coalesce(program) == program


def chosen_of_anything(x):
    """Elements that are not selected are NaN, infinite, or not differentiable."""
    y = x[np.isfinite(x)]
    y = y[y > 0.0]
    z = np.log(y) * y
    near = y[z < 0.5]
    scale = np.sqrt(near)
    for _ in range(2):
        near = near[near > 0.1]
        near = near * near + 1.0 / near
    return np.sum(z) + np.sum(near) * np.sum(scale)


def test_nothing_comes_from_what_is_not_chosen():
    gradient = sdfgad.differentiate(chosen_of_anything, wrt="x")
    x = np.array([0.3, 0.0, np.nan, 0.7, np.inf, -1.0, 1.2, -np.inf, 2.5, 1e-300, 0.05])
    good = np.isfinite(x) & (x > 0.0)
    value, found = gradient.value_and_grad(x)
    with np.errstate(all="ignore"):
        assert value == pytest.approx(chosen_of_anything(x), rel=1e-13)
    assert np.all(found[~good] == 0.0)
    assert np.all(np.isfinite(found[good]))
    alone = gradient(x[good])
    np.testing.assert_allclose(found[good], alone, rtol=1e-13)
    for k in np.flatnonzero(good)[:4]:
        step = np.where(np.arange(x.size) == k, 1e-6, 0.0)
        with np.errstate(all="ignore"):
            slope = (chosen_of_anything(x + step) - chosen_of_anything(x - step)) / 2e-6
        assert found[k] == pytest.approx(slope, rel=1e-6)
