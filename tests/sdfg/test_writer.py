"""Programs as SDFGs: valid, with structured control flow, without callbacks, and with the user's lines."""

import dace
import numpy as np
import pytest
from dace.sdfg import nodes
from dace.sdfg.state import ConditionalBlock, LoopRegion

import npbench_suite
from sdfgad.optimise.passes import optimise
from sdfgad.sdfg.lower import lower
from tests.helpers import line_of
from tests.helpers_ir import gradient_of, parsed
from tests.parse.test_control import CASES

# The first trip of a loop saves values that nothing has set yet and that nothing will read.
pytestmark = pytest.mark.filterwarnings("ignore:.*uninitialized transient")

X = np.linspace(0.5, 1.5, 6)


def control(sdfg, kind):
    return [block for block in sdfg.all_control_flow_blocks() if isinstance(block, kind)]


def nodes_of(sdfg, kind):
    return [node for node, _ in sdfg.all_nodes_recursive() if isinstance(node, kind)]


def assert_valid(program):
    sdfg = lower(program)
    sdfg.validate()
    assert all(t.language == dace.dtypes.Language.CPP for t in nodes_of(sdfg, nodes.Tasklet))
    assert not any("callback" in str(type(d.dtype)) for d in sdfg.arrays.values())
    expected = {*program.inputs, *program.outputs.values(), *(("status",) if program.checks else ())}
    assert {name for name, data in sdfg.arrays.items() if not data.transient} == expected
    assert set(sdfg.arglist()) == expected | set(program.integers)
    return sdfg


@pytest.mark.parametrize("function", [case[0] for case in CASES], ids=lambda function: function.__name__)
def test_control_flow_is_valid(function):
    primal = parsed(function, np.linspace(0.2, 1.2, 11), 0.8)
    assert_valid(primal.program)
    assert_valid(optimise(gradient_of(primal, ["x"]).program))


@pytest.mark.parametrize("name", ["adi", "cholesky", "gemm", "seidel_2d", "symm"])
def test_the_suite_is_valid(name):
    entry = npbench_suite.load(name)
    primal = parsed(entry.program, *entry.arguments_for("test"))
    assert_valid(primal.program)
    assert_valid(optimise(gradient_of(primal, entry.arrays, entry.output).program))


def nested(x, n):
    s = 0.0
    for i in range(n):
        for j in range(i):
            if x[j] > s:
                s = s + x[i] * x[j]
            else:
                x[j] = s
    return s


def test_loops_and_branches_are_regions():
    sdfg = assert_valid(parsed(nested, X, 4).program)
    outer, inner = control(sdfg, LoopRegion)
    assert outer.loop_condition.as_string.replace("(", "").replace(")", "") == "i < n"
    assert inner.loop_variable == "j"
    assert inner.parent_graph is outer
    (branch,) = control(sdfg, ConditionalBlock)
    assert [condition is None for condition, _ in branch.branches] == [False, True]


def test_backward_loops_count_down():
    sdfg = assert_valid(gradient_of(parsed(nested, X, 4), ["x"]).program)
    updates = sorted(loop.update_statement.as_string for loop in control(sdfg, LoopRegion))
    assert [" - 1" in text for text in updates].count(True) == 2
    assert len(updates) == 4


def test_run_time_integers_are_symbols():
    sdfg = lower(parsed(nested, X, 4).program)
    assert sdfg.arglist()["n"].dtype == dace.int64
    assert "n" in map(str, sdfg.free_symbols)


def test_lines_of_the_user():
    sdfg = lower(parsed(nested, X, 4).program)
    lines = {(t.debuginfo.filename, t.debuginfo.start_line) for t in nodes_of(sdfg, nodes.Tasklet)}
    for text in ("s = s + x[i]", "x[j] = s"):
        file, line, _ = line_of(nested, text).split(":", 2)
        assert (file, int(line)) in lines


def test_maps_are_parallel_only_where_it_pays():
    def program(x, m):
        y = x * 2.0
        return np.sum(m, axis=1) + y[0], np.exp(m) * m

    sdfg = assert_valid(parsed(program, X, np.ones((1000, 500))).program)
    schedules = {e.map.label: e.map.schedule for e in nodes_of(sdfg, nodes.MapEntry)}
    assert set(schedules.values()) == {
        dace.dtypes.ScheduleType.Sequential,
        dace.dtypes.ScheduleType.CPU_Multicore,
    }


def test_buffers_that_nothing_uses_are_not_declared():
    primal = parsed(lambda x: x * 2.0 + x, X)
    assert set(lower(primal.program).arrays) == set(primal.program.buffers)
    made = gradient_of(primal)
    assert "result" not in {n for n, d in lower(optimise(made.program)).arrays.items() if d.transient}


def test_scalars_that_are_passed_are_arrays_of_one_element():
    sdfg = lower(parsed(lambda x, s: np.sum(x) * s, X, 0.5).program)
    assert {name: tuple(data.shape) for name, data in sdfg.arrays.items() if not data.transient} == {
        "x": (6,),
        "s": (1,),
        "result": (1,),
    }


def test_empty_arrays():
    sdfg = assert_valid(parsed(lambda x: np.sum(x * 2.0), np.ones(0)).program)
    assert tuple(sdfg.arrays["x"].shape) == (1,)


def test_names_that_others_reserve():
    def program(lambda_, I, double, N):
        for E in range(3):
            lambda_[E] = lambda_[E] * I * double
        return np.sum(lambda_) * N

    assert_valid(parsed(program, X, 0.5, 2.0, 1.0).program)


def test_the_program_is_not_changed():
    primal = parsed(nested, X, 4)
    before = dict(primal.program.buffers)
    lower(primal.program)
    assert primal.program.buffers == before
    assert lower(primal.program).hash_sdfg() == lower(primal.program).hash_sdfg()
