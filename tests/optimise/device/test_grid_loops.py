"""A block of threads for each trip of loops of independent trips: which loops, and with what copies."""

import numpy as np
import pytest

import sdfgad
from sdfgad.emulated import VARIABLE
from sdfgad.ir.program import Branch, Compute, Loop, computes, walk
from sdfgad.optimise.device import grid_loops, side
from sdfgad.optimise.passes import optimise
from sdfgad.schedule.sequences import threads_of_sequence
from tests.helpers_sequences import CASES, args_of, ensemble, in_time, made, markov


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(side, "SECONDS", side.GRIDS_ONLY)


def grids(program):
    return [s for s in walk(program.body) if isinstance(s, Loop) and s.is_in_block and s.is_parallel]


@pytest.mark.parametrize("function", CASES)
def test_both_sweeps_are_grids(function):
    _, program = made(function, "gpu").programs(*args_of(function))
    found = grids(optimise(program))
    assert len(found) == 2
    assert [loop.trips.const for loop in found] == [7, 7]
    assert all(any(isinstance(s, Loop) and not s.is_parallel for s in walk(loop.body)) for loop in found)


def test_where_blocks_are_few_each_has_several_trips(monkeypatch):
    monkeypatch.setattr(grid_loops, "RESIDENT", 4 * 32)
    _, program = made(ensemble, "gpu").programs(*args_of(ensemble))
    for loop in grids(optimise(program)):
        (trips,) = loop.body
        (branch,) = trips.body
        assert (loop.trips.const, trips.trips.const) == (4, 2)
        assert isinstance(branch, Branch)


def test_copies_are_no_larger_than_what_there_is(monkeypatch):
    monkeypatch.setattr(grid_loops, "SMALL", 0)
    _, program = made(markov, "gpu").programs(*args_of(markov))
    held = sum(np.prod([e.const for e in b.shape], initial=1) * b.dtype.itemsize for b in program.buffers.values())
    program = optimise(program)
    copies = [b for b in program.buffers.values() if b.name.endswith(("_parts", "_each")) and b.shape]
    assert copies
    assert sum(np.prod([e.const for e in b.shape]) * b.dtype.itemsize for b in copies) <= 2 * held


def test_sums_are_copied_without_the_axes_at_one_place():
    _, program = made(in_time, "gpu").programs(*args_of(in_time))
    program = optimise(program)
    parts = [b for b in program.buffers.values() if b.name == "t_parts"]
    assert [tuple(e.const for e in b.shape) for b in parts] == [(7, 9)]


def filtered(x, a):
    """Each trip begins with what the one before has left."""
    state, total = np.zeros(5), 0.0
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            state = np.tanh(a * state + x[b, t])
        total += np.sum(state)
    return total


def updated(x, a):
    """Each trip reads a sum of the trips before."""
    sums = np.zeros(5)
    for b in range(x.shape[0]):
        state = sums * 0.1
        for t in range(x.shape[1]):
            state = np.tanh(a * state + x[b, t])
        sums += state
    return np.sum(sums)


@pytest.mark.parametrize("function", [filtered, updated])
def test_trips_that_need_others_stay_in_order(function):
    g = sdfgad.differentiate(function, wrt=("x", "a"), device="gpu")
    for program in g.programs(np.ones((7, 4)), np.ones(5)):
        assert not grids(optimise(program))


def solved(a, b):
    """Products of matrices that a library had better make."""
    total = 0.0
    for k in range(a.shape[0]):
        x = a[k] @ b
        for _ in range(3):
            x = np.tanh(x @ b)
        total += np.sum(x)
    return total


def test_large_products_are_a_library_s(monkeypatch):
    args = np.ones((4, 40, 40)), np.ones((40, 40))
    g = sdfgad.differentiate(solved, wrt=("a", "b"), device="gpu")
    assert grids(optimise(g.programs(*args)[1]))
    monkeypatch.setattr(grid_loops, "LARGE", 40**3)
    assert not grids(optimise(g.programs(*args)[1]))


def test_the_estimate_takes_many_sequences(monkeypatch):
    monkeypatch.setattr(side, "SECONDS", side.Seconds())
    rng = np.random.default_rng(5)
    args = rng.integers(0, 9, (24, 50)), rng.normal(size=32), rng.normal(size=(32, 32)), rng.normal(size=(32, 9))
    found = grids(optimise(made(markov, "gpu").programs(*args)[1]))
    # So few that each has a multiprocessor, and all of its threads.
    assert [threads_of_sequence(loop) for loop in found if loop.trips.const == 24] == [1024, 1024]


def test_all_statuses_are_combined():
    _, program = made(markov, "gpu").programs(*args_of(markov))
    checks = [s for loop in grids(optimise(program)) for s in computes(loop.body) if s.target.buffer == "status"]
    assert checks
    assert all(isinstance(s, Compute) and s.accumulate == "maximum" for s in checks)
