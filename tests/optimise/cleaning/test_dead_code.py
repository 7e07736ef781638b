"""What no output depends on goes; everything that an output depends on stays."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from sdfgad.ir.program import Branch, Call, Loop, computes, walk
from sdfgad.ir.text import program_text
from sdfgad.optimise.cleaning.dead_code import remove_dead_code
from tests.helpers_ir import Interpreter, assert_same_outputs, evaluated_gradients, gradient_of, inputs_of, parsed
from tests.helpers_passes import assert_becomes, check_passes
from tests.helpers_text import program_of, sample
from tests.parse.test_copy_elimination import PROGRAMS


def targets(program):
    return {statement.target.buffer for statement in computes(program.body)}


@pytest.mark.parametrize(("program", "size"), PROGRAMS, ids=[p.__name__ for p, _ in PROGRAMS])
def test_outputs_stay(rng, program, size):
    args = (rng.uniform(0.2, 1.2, size), 0.8)
    primal = parsed(program, *args)
    assert_same_outputs(primal, remove_dead_code(primal.program), *args)


def many_outputs(x, y, s):
    a = np.sin(x) * s
    b = a * y
    for i in range(4):
        b[i] = b[i] * a[i]
        y[i] = a[i] + i
    if s > 0.5:
        x[0] = b[1]
    return a, b, np.sum(y * b)


@pytest.mark.parametrize("output", ["return[0]", "return[1]", "return[2]", "x", "y"])
def test_each_output_alone(rng, output):
    args = (rng.uniform(0.2, 1.2, 4), rng.uniform(0.2, 1.2, 4), 0.8)
    primal = parsed(many_outputs, *args)
    alone = replace(primal.program, outputs={output: primal.program.outputs[output]})
    removed = remove_dead_code(alone)
    assert len(list(computes(removed.body))) < len(list(computes(alone.body)))
    expected = Interpreter(alone, *inputs_of(primal, *args)).outputs[output]
    np.testing.assert_array_equal(Interpreter(removed, *inputs_of(primal, *args)).outputs[output], expected)
    assert remove_dead_code(removed) == removed


def all_dead(x, s):
    y = x * s
    for i in range(3):
        if x[i] > s:
            y[i] = 0.0
    return x * 2.0


def test_loops_and_branches_that_are_empty_go():
    program = parsed(all_dead, np.ones(3), 0.5).program
    assert any(isinstance(s, Loop) for s in program.body)
    assert program_text(remove_dead_code(program)) == "for p_1 < 3: result[p_1] = (x[p_1] * 2.0)"


def overwritten(x, s):
    y = x * s
    y[:] = x + s
    y[1:] = x[1:]
    z = np.zeros(3)
    z[:] = y
    return z


def test_a_write_that_is_wholly_overwritten_goes():
    program = parsed(overwritten, np.ones(3), 0.5).program
    removed = remove_dead_code(program)
    assert "(x[p] * s)" in program_text(program)
    assert "*" not in program_text(removed)
    assert [len(s.params[0][1].terms) for s in computes(removed.body)] == [0, 0, 0]


def read_in_the_next_trip(x, s):
    a = x * 1.0
    b = x * 2.0
    for _ in range(3):
        x[:] = b
        b[:] = a
        a[:] = a * s
    return x


def test_what_the_next_trip_reads_stays(rng):
    args = (rng.uniform(0.2, 1.2, 3), 0.5)
    primal = parsed(read_in_the_next_trip, *args)
    removed = remove_dead_code(primal.program)
    assert len(list(walk(removed.body))) == len(list(walk(primal.program.body)))
    assert_same_outputs(primal, removed, *args)


def overwritten_in_a_loop_that_may_not_run(x, n):
    y = x * 3.0
    for _ in range(n):
        y[:] = x
    return y


@pytest.mark.parametrize("n", [0, 2])
def test_a_loop_that_may_not_run_overwrites_nothing(n):
    primal = parsed(overwritten_in_a_loop_that_may_not_run, np.ones(3), n)
    assert_same_outputs(primal, remove_dead_code(primal.program), np.ones(3), n)


def one_side_overwrites(x, s):
    y = x * 3.0
    if s > 0.5:
        y[:] = x
    return y


@pytest.mark.parametrize("s", [0.2, 0.8])
def test_a_branch_that_may_not_run_overwrites_nothing(s):
    primal = parsed(one_side_overwrites, np.ones(3), s)
    assert_same_outputs(primal, remove_dead_code(primal.program), np.ones(3), s)


def test_the_condition_of_a_branch_that_stays_is_live():
    removed = remove_dead_code(parsed(one_side_overwrites, np.ones(3), 0.5).program)
    (branch,) = (s for s in removed.body if isinstance(s, Branch))
    assert branch.condition.buffer in targets(removed)


def checked(x, idx):
    y = x[idx[0]] * 2.0
    y = x[1]
    return y


def test_checks_stay():
    args = (np.ones(3), np.array([7]))
    primal = parsed(checked, *args)
    removed = remove_dead_code(primal.program)
    run = Interpreter(removed, *inputs_of(primal, *args))
    assert removed.failed(int(run.store["status"])) is removed.checks[0]
    assert run.outputs["return"] == 1.0


def test_of_a_gradient_the_forward_part_that_is_not_needed_goes(rng):
    args = (rng.uniform(0.2, 1.2, 4), 0.8)
    primal = parsed(lambda x, s: np.sum(np.exp(x) * s) + np.sum(np.cos(x)), *args)
    made = gradient_of(primal, ["s"])
    alone = replace(made.program, outputs={k: b for k, b in made.program.outputs.items() if k != "return"})
    removed = remove_dead_code(alone)
    assert "cos" not in program_text(removed)
    _, found = evaluated_gradients(primal, replace(made, program=removed, value=made.cotangent), 1.0, *args)
    assert found["s"] == pytest.approx(np.sum(np.exp(args[0])), rel=1e-14)


def solved(x, y):
    for k in range(3):
        a = np.linalg.solve(x, y)
        y = np.linalg.inv(x)
    return x[0] * 2.0, a


@pytest.mark.parametrize(
    ("output", "names"), [("return[0]", ["regular", "regular"]), ("return[1]", ["solve", "inverse"])]
)
def test_of_a_call_only_the_check(output, names):
    args = (np.eye(3) * 2.0, np.ones((3, 3)))
    primal = parsed(solved, *args)
    program = replace(primal.program, outputs={output: primal.program.outputs[output]})
    changed = remove_dead_code(program)
    calls = [s for s in walk(changed.body) if isinstance(s, Call)]
    assert [call.name for call in calls] == names
    assert all(len(call.outputs) == (1 if call.name == "regular" else 2) for call in calls)
    arrays = inputs_of(primal, *args)
    found, expected = (Interpreter(one, *copy.deepcopy(arrays)).outputs[output] for one in (changed, program))
    np.testing.assert_array_equal(found, expected)


def test_what_a_loop_overwrites_goes():
    assert_becomes(
        remove_dead_code,
        """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        q = x[3]
        loop backwards g < 20:
            loop parallel f < 6:
                Z[g, f] = Y[g, f]
            q = y[g]
        """,
        """
        loop backwards g < 20:
            loop parallel f < 6:
                Z[g, f] = Y[g, f]
            q = y[g]
        """,
    )


OLD = {
    "a row is left": "loop g < 19:\n    for c < 6: Z[g, c] = Y[g, c]",
    "one element twice": "loop g < 20:\n    for c < 6: Z[c, c] = Y[g, c]",
    "an element is read": "loop g < 20:\n    for c < 6: Z[g, c] = Y[g, c]\n    w[g] = Z[0, 0]",
    "added to": "loop g < 20:\n    for c < 6: Z[g, c] += Y[g, c]",
    "not in each trip": "loop g < 20:\n    if x[g] > 0.0:\n        for c < 6: Z[g, c] = Y[g, c]",
    "perhaps no trips": "loop n < k:\n    for p < 20, c < 6: Z[p, c] = Y[p, c]",
    "a triangle": "loop g < 20:\n    loop j < g:\n        for c < 6: Z[j, c] = Y[g, c]",
}


@pytest.mark.parametrize("name", OLD)
def test_what_a_loop_may_leave_stays(name):
    text = "k = 0\nfor p < 20, c < 6: Z[p, c] = X[p, c]\n" + OLD[name]
    program, arrays, _ = sample(text)
    check_passes(program, arrays, passes=[remove_dead_code])
    assert "Z[p, c] = X[p, c]" in program_text(remove_dead_code(program))


def test_what_may_be_a_part_does_not_overwrite_all():
    text = """
        q = 0.0
        for p < n + 4: a[p] = 1.0
        for p < 4: a[p] = x[p]
        for p < n + 4: q += a[p]
        """
    program = program_of(text, {"a": ("n + 4",), "x": (4,), "q": ()}, "x", "q", ["n"])
    assert remove_dead_code(program) == program
