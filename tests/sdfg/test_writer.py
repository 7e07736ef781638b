"""Programs as SDFGs: valid, with structured control flow, true memlets, no callbacks, and the user's lines."""

import dace
import numpy as np
import pytest
from dace.sdfg import nodes
from dace.sdfg.state import ConditionalBlock, LoopRegion

import npbench_suite
from sdfgad.optimise.passes import optimise
from sdfgad.sdfg.library import Product
from sdfgad.sdfg.marks import is_marked, schedule, storage
from sdfgad.sdfg.writer import write
from tests.helpers import line_of
from tests.helpers_compiled import compiled_outputs
from tests.helpers_ir import gradient_of, inputs_of, parsed
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of, sample
from tests.parse.test_control import CASES

# The first trip of a loop saves values that nothing has set yet and that nothing will read.
pytestmark = pytest.mark.filterwarnings("ignore:.*uninitialized transient")

X = np.linspace(0.5, 1.5, 6)


def control(sdfg, kind):
    return [block for block in sdfg.all_control_flow_blocks(recursive=True) if isinstance(block, kind)]


def nodes_of(sdfg, kind):
    return [node for node, _ in sdfg.all_nodes_recursive() if isinstance(node, kind)]


def assert_valid(program):
    sdfg = write(program)
    sdfg.validate()
    assert all(t.language == dace.dtypes.Language.Python for t in nodes_of(sdfg, nodes.Tasklet))
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
    # Each is its own region, and the outermost one is in a nested SDFG.
    assert inner.parent_graph is outer
    assert outer.sdfg.parent_sdfg is sdfg
    (branch,) = control(sdfg, ConditionalBlock)
    assert [condition is None for condition, _ in branch.branches] == [False, True]


def test_backward_loops_count_down():
    sdfg = assert_valid(gradient_of(parsed(nested, X, 4), ["x"]).program)
    updates = sorted(loop.update_statement.as_string for loop in control(sdfg, LoopRegion))
    assert [" - 1" in text for text in updates].count(True) == 2
    assert len(updates) == 4


def test_run_time_integers_are_symbols():
    sdfg = write(parsed(nested, X, 4).program)
    assert sdfg.arglist()["n"].dtype == dace.int64
    assert "n" in map(str, sdfg.free_symbols)


def test_lines_of_the_user():
    sdfg = write(parsed(nested, X, 4).program)
    lines = {(t.debuginfo.filename, t.debuginfo.start_line) for t in nodes_of(sdfg, nodes.Tasklet)}
    for text in ("s = s + x[i]", "x[j] = s"):
        file, line, _ = line_of(nested, text).split(":", 2)
        assert (file, int(line)) in lines


def test_arrays_know_the_line_that_makes_them():
    sdfg = write(parsed(nested, X, 4).program)
    buffers = parsed(nested, X, 4).program.buffers
    known = {name: buffer.where for name, buffer in buffers.items() if buffer.where and name in sdfg.arrays}
    assert known
    for name, where in known.items():
        assert sdfg.arrays[name].debuginfo.start_line == where.line, name


# --- nodes


def edges_of(sdfg, node_kind):
    """The edges of the nodes of a kind, as (memlet, whether it is read)."""
    for node, state in sdfg.all_nodes_recursive():
        if isinstance(node, node_kind):
            yield from ((edge.data, True) for edge in state.in_edges(node))
            yield from ((edge.data, False) for edge in state.out_edges(node))


def written(text, **integers):
    program, _, _ = sample(text, **integers)
    return write(program)


def test_boxes_of_points_are_maps():
    sdfg = written("for p < 20, c < 6: Z[p, c] = X[p, c] * y[p]")
    (entry,) = nodes_of(sdfg, nodes.MapEntry)
    assert (entry.map.params, str(entry.map.range)) == (["p", "c"], "0:20, 0:6")
    assert entry.map.schedule == schedule
    memlets = {str(memlet) for memlet, _ in edges_of(sdfg, nodes.Tasklet)}
    assert memlets == {"X[p, c]", "y[p]", "Z[p, c]"}


def test_one_point_is_no_map():
    sdfg = written("z[3] = x[4] * 2.0")
    assert nodes_of(sdfg, nodes.MapEntry) == []
    assert {str(memlet) for memlet, _ in edges_of(sdfg, nodes.Tasklet)} == {"x[4]", "z[3]"}
    assert all(map(is_marked, nodes_of(sdfg, nodes.Tasklet)))


@pytest.mark.parametrize(
    ("sign", "function"), [("+=", "a + b"), ("max=", "sdfgad_maximum"), ("min=", "sdfgad_minimum")]
)
def test_accumulations_resolve_conflicts(sign, function):
    sdfg = written(f"for p < 20, c < 6: z[p] {sign} X[p, c]")
    for memlet, is_read in [*edges_of(sdfg, nodes.Tasklet), *edges_of(sdfg, nodes.MapExit)]:
        if memlet.data == "z" and not is_read:
            assert function in str(memlet.wcr)
        elif memlet.data == "X":
            assert memlet.wcr is None


def test_what_clears_its_target_does_that_before():
    sdfg = written("for p < 20, c < 6: z[p] = sum of X[p, c]")
    first, second = nodes_of(sdfg, nodes.MapEntry)
    assert (str(first.map.range), str(second.map.range)) == ("0:20", "0:20, 0:6")
    assert nodes_of(sdfg, nodes.Tasklet)[0].code.as_string == "_out = 0.0"


def test_places_that_are_data_see_the_whole_array():
    sdfg = written("for p < 20: z[i[p]] = y[i[p] + 0]")
    (tasklet,) = nodes_of(sdfg, nodes.Tasklet)
    memlets = {f"{memlet.data}[{memlet.subset}]" for memlet, _ in edges_of(sdfg, nodes.Tasklet)}
    assert memlets == {"i[p]", "y[0:20]", "z[0:20]"}
    assert "_out[" in tasklet.code.as_string


def test_single_elements_are_passed_as_such():
    program = program_of("for p < 20: z[p] = o[p - p, q] * x[p]", {"z": (20,), "o": (1, 1), "x": (20,)}, "ox", "z", "q")
    assert "o[0, 0]" in {str(memlet) for memlet, _ in edges_of(write(program), nodes.Tasklet)}


def test_parallel_loops_are_maps_of_what_is_their_own():
    sdfg = written("""
        loop parallel 2 <= f < 20:
            s = x[f] * 2.0
            z[f] = s * y[f - 1]
        """)
    (entry,) = nodes_of(sdfg, nodes.MapEntry)
    assert (entry.map.params, str(entry.map.range)) == (["f"], "2:20")
    assert control(sdfg, LoopRegion) == []
    (owner,) = [n for n in sdfg.all_sdfgs_recursive() if "s" in n.arrays]
    assert owner.arrays["s"].transient
    assert owner is not sdfg
    assert owner.parent_nsdfg_node in [n for n, state in sdfg.all_nodes_recursive() if state.entry_node(n) is entry]


def test_parallel_loops_in_each_other_are_one_map():
    sdfg = written("loop parallel f < 20:\n    loop parallel g < 6:\n        Z[f, g] = X[f, g] * x[f]\n")
    (entry,) = nodes_of(sdfg, nodes.MapEntry)
    assert (entry.map.params, str(entry.map.range)) == (["f", "g"], "0:20, 0:6")


def test_products_are_library_nodes():
    shapes = dict.fromkeys("abc", (64, 64))
    (found,) = nodes_of(
        write(program_of("for p < 64, q < 64, r < 64: c[p, q] += a[p, r] * b[r, q]", shapes, "ab", "c")), Product
    )
    assert (found.params, str(found.range)) == (["p", "q", "r"], "0:64, 0:64, 0:64")
    assert found.code.as_string == "_out[p, q] = (_a_0[p, r] * _b_1[r, q])"


def test_arrays_are_in_our_storage_and_small_ones_of_a_statement_are_its_own():
    sdfg = written("""
        for p < 20: a[p] = x[p] * 2.0
        loop f < 20:
            for p < 20: b[p] = a[p] * y[f]
            z[f] = b[3]
        """)
    assert sdfg.arrays["a"].storage == storage
    assert sdfg.arrays["a"].transient
    assert "b" not in sdfg.arrays
    (owner,) = [n for n in sdfg.all_sdfgs_recursive() if "b" in n.arrays and n.arrays["b"].transient]
    assert owner.arrays["b"].storage == dace.StorageType.Register


def test_results_that_nobody_reads():
    """They are arrays of the state that makes them."""
    primal = parsed(lambda a: np.sum(np.linalg.qr(a)[1]), np.eye(4))
    assert_valid(primal.program)
    assert_valid(optimise(primal.program))


def test_bounds_that_are_data_become_symbols_before():
    sdfg = written("k = 7\nloop f < k + 1:\n    z[f] = x[f]\n")
    (loop,) = control(sdfg, LoopRegion)
    (assignments,) = [e.data.assignments for e in loop.sdfg.all_interstate_edges() if e.data.assignments]
    assert list(assignments.values()) == ["k"]
    assert loop.loop_condition.as_string.replace("(", "").replace(")", "") == f"f < {next(iter(assignments))} + 1"


def test_open_loops_ask_the_scalar_that_they_change():
    sdfg = written("k = 3\nloop f < k (still):\n    if x[f] > 100.0:\n        k = 5\n    z[f] = x[f]\n")
    (loop,) = control(sdfg, LoopRegion)
    assert loop.loop_condition.as_string.replace("(", "").replace(")", "") == "f < k"


def test_conditions_name_their_elements():
    sdfg = written("loop f < 20:\n    if x[f] > y[f]:\n        z[f] = 1.0\n")
    (branch,) = control(sdfg, ConditionalBlock)
    assert branch.branches[0][0].as_string == "(x[f] > y[f])"


def test_conditions_with_common_subexpressions_are_computed_before():
    text = "loop f < 20:\n    if x[f] * y[f] + x[f] * y[f] > x[f] * y[f]:\n        z[f] = 1.0\n"
    program, arrays, integers = sample(text + "    else:\n        z[f] = 2.0\n")
    sdfg = write(program)
    (branch,) = control(sdfg, ConditionalBlock)
    assert branch.branches[0][0].as_string in branch.sdfg.arrays
    assert_same(compiled_outputs(program, arrays, integers), outputs(program, arrays, integers), "")


def test_names_of_the_user_that_are_those_of_tasklets():
    """Names of connectors, of shared values and of results are not taken by integers of the user."""

    def program(x, v0_, _x_0, _out, size, s_x):
        y = np.sin(x) * np.sin(x) + v0_ * x[_x_0]
        for size_1 in range(size):
            y[size_1] = y[size_1] * _out + np.exp(y[size_1]) * np.exp(y[size_1]) * s_x
        return np.sum(y)

    args = (X, 3, 1, 2, 4, 5)
    primal = parsed(program, *args)
    arrays, integers = inputs_of(primal, *args)
    assert_valid(optimise(primal.program))
    for made in (primal.program, optimise(primal.program)):
        found = compiled_outputs(made, arrays, integers)
        np.testing.assert_allclose(found["return"], program(*args), rtol=1e-14)


# --- arrays


def test_buffers_that_nothing_uses_are_not_declared():
    primal = parsed(lambda x: x * 2.0 + x, X)
    assert set(write(primal.program).arrays) == set(primal.program.buffers)
    made = gradient_of(primal)
    assert "result" not in {n for n, d in write(optimise(made.program)).arrays.items() if d.transient}


def test_scalars_that_are_passed_are_arrays_of_one_element():
    sdfg = write(parsed(lambda x, s: np.sum(x) * s, X, 0.5).program)
    assert {name: tuple(data.shape) for name, data in sdfg.arrays.items() if not data.transient} == {
        "x": (6,),
        "s": (1,),
        "result": (1,),
    }


@pytest.mark.filterwarnings("ignore:The iteration range of Map")
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
    write(primal.program)
    assert primal.program.buffers == before
    assert write(primal.program).hash_sdfg() == write(primal.program).hash_sdfg()
