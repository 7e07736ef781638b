"""Which loops around library calls threads may share, and that they compute the same."""

import numpy as np
import pytest

from sdfgad.memory.lifetimes import local_variables
from sdfgad.schedule.thread_independence import private_arrays
from sdfgad.targets.cpu.nests import nest_of
from tests.helpers import with_target
from tests.helpers_compiled import compiled_outputs, threads
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of

I = np.int64
SHAPES = {"A": (4, 4), "Y": (4, 3), "M": (9, 4, 4), "m": (4, 4), "x": (4, 3), "b": (4, 3), "Z": (9, 4, 3), "S": (4, 3)}
SHAPES |= {"failed": (), "k": (), "s": (), "t": ()}
SOLVED = """
for p < 4, c < 3: S[p, c] = 0.0
k = 0
s = 0.0
loop{} f < 9:
    for p < 4, c < 4: m[p, c] = M[f, p, c]
    {}
    x, failed = solve(m, Y)
    k max= failed + f
    for p < 4, c < 3: Z[f, p, c] = x[p, c]
    for p < 4, c < 3: S[p, c] += x[p, c]
    for p < 4, c < 3: s += x[p, c]
    {}
"""


def program(order="", before="", after=""):
    given, results = ["A", "Y", "M"], ["Z", "S", "k", "s"]
    return program_of(SOLVED.format(order, before, after), SHAPES, given, results, dtypes={"failed": I, "k": I})


def code_of(made):
    outside = set(SHAPES) - local_variables(made)
    return nest_of((made.body[3],), "nest", made.buffers, outside).code


@pytest.mark.parametrize("order", ["", " backwards", " parallel"])
def test_threads_share_them(order, monkeypatch):
    assert "dynamic" not in code_of(program(order))
    with_target(monkeypatch, parallel_work=1)
    # Small arrays to add to would not be worth it.
    with_target(monkeypatch, private_elements=100)
    made = program(order)
    assert local_variables(made) == {"m", "x", "failed"}
    assert private_arrays(made.body[3], made.buffers, ["m", "x", "failed"]) == {"m", "x", "failed"}
    code = code_of(made)
    assert "parallel for schedule(dynamic)" in code
    assert "b_m_[16]" in code.partition("parallel for")[0]


KEPT_APART = {
    "read before": "for p < 4, c < 3: b[p, c] = x[p, c]",
    "passed on": "for p < 4, c < 4: m[p, c] += A[p, c] * s",
    "a read sum": "for p < 4, c < 3: b[p, c] = S[p, c]",
    "a read maximum": "t = 1.0 * k",
    "assigned by all trips": "for p < 4, c < 3: Z[0, p, c] = 1.0",
    "another trip's": "for p < 4, c < 3: b[p, c] = Z[f - 1, p, c]",
}


@pytest.mark.parametrize("name", KEPT_APART)
def test_threads_do_not_share(name, monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    made = program(before=KEPT_APART[name])
    found = {"m", "x", "b", "t", "failed"} & made.body[3].mentioned
    assert not private_arrays(made.body[3], made.buffers, found)
    assert "dynamic" not in code_of(made)


def test_threads_do_not_share_few_trips(monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    with_target(monkeypatch, parallel_trips=10)
    assert "dynamic" not in code_of(program())


def test_a_scalar_that_is_carried(monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    made = program(before="for p < 4, c < 4: m[p, c] += t", after="t = x[0, 0]")
    assert "dynamic" not in code_of(made)


@pytest.mark.parametrize("number", [1, 4])
@pytest.mark.parametrize("order", ["", " backwards"])
def test_the_same_on_all_numbers_of_threads(order, number, monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=SHAPES[name]) for name in ("A", "Y", "M")}
    made = program(order)
    with threads(number):
        found = compiled_outputs(made, arrays, {})
    assert_same(found, outputs(made, arrays), "")


def test_what_fails_in_a_thread_is_noticed(monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    arrays = {name: np.ones(SHAPES[name]) for name in ("A", "Y", "M")}
    arrays["M"][:] = np.eye(4)
    # A failed call says 1: more than the number of any other trip.
    arrays["M"][8] = 0.0
    with threads(4):
        assert compiled_outputs(program(), arrays, {})["k"] == 9
