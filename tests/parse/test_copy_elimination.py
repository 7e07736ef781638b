"""Copy elimination: temporaries that are only copied are written to the target; results stay the same."""

import numpy as np
import pytest

from sdfgad.ir.program import computes
from sdfgad.ir.text import program_text
from sdfgad.parse.copy_elimination import coalesce
from tests.helpers import numpy_output
from tests.helpers_ir import assert_same_outputs, outputs_of, parsed, parsed_without
from tests.parse.test_control import CASES


def carried_through_a_loop(x, s):
    for _ in range(3):
        x = np.sin(x) * s
    return x


def chosen_in_a_branch(x, s):
    if s > 0.5:
        y = x * s
    else:
        y = x + s
    return y * y


def shifted_in_place(x, s):
    x[1:] = x[:-1] * s
    return x


def swapped(x, s):
    a, b = x * s, x + s
    for _ in range(3):
        a, b = b, a
    return a - b


def reversed_into_itself(x, s):
    y = x[::-1] * s
    x[:] = y
    return x + y


def read_between(x, s):
    y = x * s
    z = x[0] + y[1]
    x[:] = y
    return x * z


def half_of_a_temporary(x, s):
    y = np.zeros(4)
    y[1:3] = x[:2]
    x[:4] = y
    return x


def written_in_one_branch(x, s):
    y = np.zeros(5)
    if s > 0.5:
        y = x * 2.0
    x[:] = y
    return x


def target_changes_in_between(x, s):
    y = x * s
    x[0] = 5.0
    x[:] = y
    return x


def last_trip_counts(x, s):
    y = x
    for i in range(1, 4):
        y = y * x[i]
        x[0] = y[0] + s
    return y + x


def sum_of_a_temporary(x, s):
    t = 0.0
    for i in range(5):
        t = t + x[i] * s
    x[0] = t
    return x * t


def two_names_of_a_chosen_scalar(x, s):
    if x[0] > 5.0:
        s = s * 2.0
    else:
        if x[1] > 0.4:
            s = x[0]
        else:
            s = x[1]
    t = s
    for i in range(3):
        t += x[i]
    return s + t


OWN = [
    carried_through_a_loop,
    chosen_in_a_branch,
    shifted_in_place,
    swapped,
    reversed_into_itself,
    read_between,
    half_of_a_temporary,
    written_in_one_branch,
    target_changes_in_between,
    last_trip_counts,
    sum_of_a_temporary,
    two_names_of_a_chosen_scalar,
]
PROGRAMS = [(program, 5) for program in OWN] + [(program, size) for program, _, size in CASES]


def count(program):
    return len(list(computes(program.body)))


@pytest.mark.parametrize(("program", "size"), PROGRAMS, ids=[p.__name__ for p, _ in PROGRAMS])
def test_outputs_stay(monkeypatch, rng, program, size):
    args = (rng.uniform(0.2, 1.2, size), 0.8)
    # Other passes on copies are not looked at.
    monkeypatch.setattr("sdfgad.parse.parse.propagate_copies", lambda program: program)
    before = parsed_without(monkeypatch, "coalesce", program, *args)
    after = coalesce(before.program)
    assert_same_outputs(before, after, *args)
    np.testing.assert_allclose(outputs_of(before, *args)["return"], numpy_output(program, args), rtol=1e-12)
    assert count(after) <= count(before.program)
    assert coalesce(after) == after
    assert after == parsed(program, *args).program


def text_of(program):
    return program_text(parsed(program, np.ones(5), 0.8).program)


def test_a_carried_value_is_updated_in_place():
    assert text_of(carried_through_a_loop).splitlines() == [
        "for p < 5: result[p] = x[p]",
        "loop v < 3:",
        "    for p_1 < 5: result[p_1] = (sin(result[p_1]) * s)",
    ]


def test_a_temporary_of_each_branch_is_written_to_their_common_place():
    branch = text_of(chosen_in_a_branch)
    assert sum("(x[" in line for line in branch.splitlines()) == 2
    assert "= y_" not in branch


def test_an_overlapping_update_keeps_its_temporary():
    program = parsed(shifted_in_place, np.ones(5), 0.8).program
    assert any(name.startswith("t") for name in program.buffers)


def test_buffers_that_are_gone_are_not_declared():
    for program in OWN:
        made = parsed(program, np.ones(5), 0.8).program
        mentioned = {s.target.buffer for s in computes(made.body)}
        assert set(made.buffers) <= mentioned | set(made.inputs)
