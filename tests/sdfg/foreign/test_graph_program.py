"""Gradients of SDFGs as users call them: by name, within a memory limit, checked, sent to other processes."""

import pickle

import dace
import numpy as np
import pytest
from dace import Memlet
from dace.libraries.linalg import Solve
from dace.sdfg.state import LoopRegion

import sdfgad
from sdfgad.errors import (
    ArgumentError,
    InfeasibleBudget,
    OutputError,
    SingularMatrix,
    UnsupportedGraph,
    UnsupportedProgram,
    WrtError,
)
from sdfgad.sdfg.foreign.graph_program import GraphProgram
from tests.helpers_graphs import primal_of
from tests.sdfg.foreign.rows import CONSTRUCTS

N = dace.symbol("N")
RNG = np.random.default_rng(0)
U, A = RNG.uniform(size=30), RNG.uniform(0.0, 0.1, size=30)


def heat_graph():
    """Steps of a heat equation that is not linear, and the sum of squares at the end."""
    sdfg = dace.SDFG("heat")
    for name in ("u", "a"):
        sdfg.add_array(name, [N], dace.float64)
    sdfg.add_array("loss", [1], dace.float64)
    sdfg.add_transient("v", [N], dace.float64)
    for name in ("T", "t"):
        sdfg.add_symbol(name, dace.int64)
    loop = LoopRegion("loop", "t < T", "t", "t = 0", "t = t + 1")
    sdfg.add_node(loop, is_start_block=True)
    first = loop.add_state("copy", is_start_block=True)
    first.add_nedge(first.add_read("u"), first.add_write("v"), Memlet("u[0:N]"))
    reads = {"l": Memlet("v[i - 1]"), "m": Memlet("v[i]"), "r": Memlet("v[i + 1]"), "k": Memlet("a[i]")}
    code = "o = m + k * (r - 2.0 * m + l) * m"
    loop.add_state_after(first, "step").add_mapped_tasklet(
        "step", {"i": "1:N-1"}, reads, code, {"o": Memlet("u[i]")}, external_edges=True
    )
    clear = sdfg.add_state_after(loop, "clear")
    tasklet = clear.add_tasklet("zero", {}, {"o"}, "o = 0.0")
    clear.add_edge(tasklet, "o", clear.add_write("loss"), None, Memlet("loss[0]"))
    total = Memlet("loss[0]", wcr="lambda x, y: x + y")
    sdfg.add_state_after(clear, "sum").add_mapped_tasklet(
        "sum", {"i": "0:N"}, {"x": Memlet("u[i]")}, "o = x * x", {"o": total}, external_edges=True
    )
    return sdfg


def heat(T, u, a):
    for t in range(T):
        v = u.copy()
        u[1:-1] = v[1:-1] + a[1:-1] * (v[2:] - 2.0 * v[1:-1] + v[:-2]) * v[1:-1]
    return np.sum(u * u)


@pytest.fixture(scope="module")
def expected():
    value, (du, da) = sdfgad.differentiate(heat, wrt=("u", "a")).value_and_grad(20, U, A)
    return value, {"u": du, "a": da}


@pytest.fixture(scope="module")
def gradient():
    return sdfgad.differentiate(heat_graph(), wrt=("a", "u"), output="loss")


def test_values_and_gradients_by_name(gradient, expected):
    before = U.copy(), A.copy()
    value, found = gradient.value_and_grad(u=U, a=A, T=20)
    assert value == pytest.approx(expected[0], rel=1e-14)
    assert list(found) == ["a", "u"]
    for name, one in found.items():
        np.testing.assert_allclose(one, expected[1][name], rtol=1e-12)
    np.testing.assert_array_equal(U, before[0])
    np.testing.assert_array_equal(A, before[1])


def test_a_symbol_is_another_number_in_the_next_call(gradient):
    reference = sdfgad.differentiate(heat, wrt="u")
    np.testing.assert_allclose(gradient(u=U, a=A, T=3)["u"], reference(3, U, A), rtol=1e-12)


def test_what_is_left_out_may_be_passed(gradient):
    loss = np.full(1, 7.0)
    assert gradient.value(u=U, a=A, T=20, N=30, loss=loss) == gradient.value(u=U, a=A, T=20)
    assert loss[0] == 7.0


def test_memory_limits_plans_and_measurements(expected):
    g = sdfgad.differentiate(heat_graph(), wrt="a", output="loss", memory_limit="6 KiB")
    np.testing.assert_allclose(g(u=U, a=A, T=20), expected[1]["a"], rtol=1e-12)
    plan = g.plan(u=U, a=A, T=20)
    assert plan.peak_bytes <= 6 * 1024
    assert g.measure(u=U, a=A, T=20).peak_bytes <= plan.peak_bytes
    assert {row.name for row in plan.decisions} <= {"u", "v"}
    with pytest.raises(InfeasibleBudget):
        sdfgad.differentiate(heat_graph(), wrt="a", output="loss", memory_limit="1 KiB")(u=U, a=A, T=20)


def test_checks():
    found = sdfgad.check_grads(heat_graph(), output="loss", order=2, modes=("rev", "fwd"), u=U, a=A, T=3)
    assert found.error < 1e-6


def test_tangents_by_name(gradient, expected):
    value, slope = gradient.jvp(u=U, a=A, T=20, tangents={"u": np.ones(30)})
    assert value == pytest.approx(expected[0], rel=1e-14)
    assert slope == pytest.approx(np.sum(expected[1]["u"]), rel=1e-10)


def test_the_gradient_as_a_graph(gradient):
    assert isinstance(gradient.sdfg(u=U, a=A, T=20), dace.SDFG)


def test_other_processes(gradient):
    again = pickle.loads(pickle.dumps(gradient))
    np.testing.assert_array_equal(again(u=U, a=A, T=20)["a"], gradient(u=U, a=A, T=20)["a"])


def test_changes_of_the_graph_make_no_difference():
    sdfg = heat_graph()
    program = GraphProgram(sdfg)
    sdfg.arrays["u"].dtype = dace.float32
    assert program.parameters.dtype("u") == np.float64


def test_the_graph_itself_does_not_run():
    with pytest.raises(UnsupportedProgram, match="`heat` is a graph, which runs only as a compiled program"):
        GraphProgram(heat_graph())(u=U)


def test_singular_matrices():
    solve = next(one for one in CONSTRUCTS if one.name == "Solve")
    g = sdfgad.differentiate(solve.graph().sdfg, wrt="B", output="z", reduce="sum")
    found = g(**solve.arguments)
    np.testing.assert_allclose(found, np.linalg.solve(solve.arguments["Q"].T, np.ones((6, 3))), rtol=1e-12)
    with pytest.raises(SingularMatrix, match="a matrix is singular"):
        g(Q=np.zeros((6, 6)), B=np.ones((6, 3)))


def test_matrices_of_unknown_size():
    sdfg = dace.SDFG("sizes")
    for name in "xz":
        sdfg.add_array(name, [6], dace.float64)
    sdfg.add_array("Q", [6, 6], dace.float64)
    sdfg.add_symbol("n", dace.int64)
    state = sdfg.add_state()
    node = Solve("f")
    state.add_node(node)
    state.add_edge(state.add_read("Q"), None, node, "_ain", Memlet("Q[0:n, 0:n]"))
    state.add_edge(state.add_read("x"), None, node, "_bin", Memlet("x[0:n]"))
    state.add_edge(node, "_bout", state.add_write("z"), None, Memlet("z[0:n]"))
    found = primal_of(sdfg, {"x": np.ones(6), "z": np.ones(6), "Q": np.eye(6), "n": 4})
    assert found.fixed == {"n": 4}
    assert [check.error for check in found.program.checks] == [SingularMatrix]


# --- what does not fit


def refused(message, error=ArgumentError, **arguments):
    with pytest.raises(error, match=message) as found:
        primal_of(heat_graph(), {"u": U, "a": A, "T": 3, **arguments})
    assert found.value.todo


def test_arguments_that_do_not_fit():
    refused("the integer `T` is not passed, and no shape tells it", T=None)
    refused("the integer `T` is not passed", T=2.5)
    refused(r"the argument `a` has the shape \(29,\), and its axis 0 is to be N = 30 long", a=A[:-1])
    refused("the argument `a` has 2 axes, and the graph's has 1", a=np.ones((30, 30)))
    refused("the argument `u` is of float32, and the graph's is of float64", u=U.astype(np.float32))
    refused(r"the argument `loss` has the shape \(2,\), and is to be a number", loss=np.zeros(2))
    refused("the argument `u` is 3, and no array", u=3)
    refused("the argument `a` is not passed", a=None)
    refused("and its axis 0 is to be N = 31 long", N=31)


def test_what_the_graph_reads_before_it_has_written_all_of_it():
    refused("the argument `u` is not passed, and the graph reads what it holds before", u=None, N=30)


def test_names_that_are_none():
    with pytest.raises(WrtError, match="`heat` has no argument 'q'"):
        sdfgad.differentiate(heat_graph(), wrt="q", output="loss")
    g = sdfgad.differentiate(heat_graph(), wrt="a")
    with pytest.raises(OutputError, match="the output is ambiguous"):
        g(u=U, a=A, T=3)
    with pytest.raises(ArgumentError, match="the call does not fit `heat`"):
        g(u=U, a=A, T=3, b=1.0)


def test_symbols_that_are_not_declared_are_refused():
    sdfg = dace.SDFG("undeclared")
    sdfg.add_array("z", [4], dace.float64)
    tasklet = sdfg.add_state().add_tasklet("t", {}, {"o"}, "o = hidden * 1.0")
    state = sdfg.start_state
    state.add_edge(tasklet, "o", state.add_write("z"), None, dace.Memlet("z[0]"))
    with pytest.raises(UnsupportedGraph, match="the symbol `hidden` is used in the SDFG `undeclared`, which has none"):
        sdfgad.differentiate(sdfg, output="z")
