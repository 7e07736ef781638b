"""LAPACK's own nodes in compiled gradients: in loops, of parts and views, of all types, and where they fail."""

import dace
import numpy as np
import pytest
from dace import Memlet
from dace.libraries.lapack import Getrf, Getri, Potrf
from dace.libraries.linalg import Solve
from dace.sdfg.state import ConditionalBlock, ControlFlowRegion

import sdfgad
from sdfgad.errors import SingularMatrix, UnsupportedGraph
from sdfgad.explain.interpreter import Interpreter
from sdfgad.ir.program import Call, walk
from sdfgad.optimise.device.lower_calls import lower_calls
from tests.helpers import assert_close
from tests.helpers_graphs import assert_like, primal_of
from tests.sdfg.foreign.constructs import SQUARE, M, N
from tests.sdfg.foreign.lapack_constructs import MIXED, POSITIVE, Factored, eliminated


def slope(f, x, direction, step=1e-4):
    """The derivative of a function along a direction, by differences of fourth order."""
    near, far = (
        f(x + step * direction) - f(x - step * direction),
        f(x + 2 * step * direction) - f(x - 2 * step * direction),
    )
    return (8.0 * near - far) / (12.0 * step)


def of_many():
    """Trips over a stack: in each its matrix is factored in its place, if there is a number, and z is solved for."""
    graph = Factored(T=(3, N, N), x=(3,), Q=(N, N), p=(2, N)).use("T", "x")
    loop = graph.loop("k < 3", "k = 0")
    choice = ConditionalBlock("choice")
    loop.add_node(choice, is_start_block=True)
    chosen, other = ControlFlowRegion("chosen", sdfg=graph.sdfg), ControlFlowRegion("other", sdfg=graph.sdfg)
    choice.add_branch(dace.properties.CodeBlock("x[k] > 0"), chosen)
    choice.add_branch(None, other)
    matrix = "T[k, 0:N, 0:N]"
    inputs = {"_a": matrix, "_ipiv": "p[1, 0:N]", "_rhs_in": "z[0:N, 0:3]"}
    graph.begin(graph.state(chosen))
    graph.node(
        dace.libraries.lapack.Getrf("f"), {"_xin": matrix}, {"_xout": matrix, "_ipiv": "p[1, 0:N]", "_res": "r[0]"}
    )
    graph.node(dace.libraries.lapack.Getrs("s"), inputs, {"_rhs_out": "z[0:N, 0:3]", "_res": "r[0]"})
    state = graph.state(other)
    graph.sdfg.add_view("v", (N, N), dace.float64, strides=graph.sdfg.arrays["T"].strides[1:])
    view, after = state.add_access("v"), state.add_access("v")
    state.add_edge(state.add_read("T"), None, view, "views", Memlet(matrix))
    state.add_edge(after, "views", state.add_write("T"), None, Memlet(matrix))
    node = Potrf("c", lower=False)
    state.add_edge(view, None, node, "_xin", Memlet("v[0:N, 0:N]"))
    state.add_edge(node, "_xout", after, None, Memlet("v[0:N, 0:N]"))
    parts = {"a": "T[0, i, j]", "b": "T[1, i, j]", "c": "z[i, j]"}
    return graph.map({"i": "0:N", "j": "0:3"}, "o = a * b + c", "z[i, j]", **parts).sdfg


def of_many_in_numpy(T, x, z):
    T, z = T.copy(), z.copy()
    for k in range(3):
        if x[k] > 0:
            z = np.linalg.solve(T[k], z)
            T[k] = eliminated(T[k])
        else:
            T[k] = np.triu(np.linalg.cholesky(T[k].T).T) + np.tril(T[k], -1)
    return T[0, :, :3] * T[1, :, :3] + z


def test_nodes_in_loops_branches_parts_and_views(rng):
    arguments = {"T": np.stack([MIXED, POSITIVE, MIXED + 0.1]), "x": np.array([1.0, -1.0, 2.0])}
    arguments["z"], weights = rng.standard_normal((6, 3)), rng.standard_normal((6, 3))
    found = sdfgad.differentiate(of_many(), wrt=("T", "z"), output="z").vjp(**arguments, cotangent=weights)
    for name in ("T", "z"):
        direction = rng.standard_normal(arguments[name].shape)

        def f(moved, name=name):
            return np.sum(weights * of_many_in_numpy(**{**arguments, name: moved}))

        assert_close(np.sum(found[name] * direction), slope(f, arguments[name], direction), 1e-9, name)


def half(Q, B):
    return 0.5 * np.linalg.solve(Q, B)


def changed_factors():
    """Between the nodes the upper factor is doubled, so that they are those of another matrix."""
    graph = Factored().use("B")
    graph.sdfg.add_array("q", (N, N), dace.float64, transient=True)
    graph.begin().copied("Q", "q", "Q[0:N, 0:N]").getrf("q[0:N, 0:N]").copied("B", "z", "B[0:N, 0:3]")
    graph.map({"i": "0:N", "j": "0:N"}, "o = 2.0 * a if j >= i else a", "q[i, j]", a="q[i, j]")
    return graph.begin().getrs("q[0:N, 0:N]", "z[0:N, 0:3]")


def one_after_the_other(T):
    z = np.ones((6, 3))
    q = 1.0 * T[0]
    for k in range(1, 3):
        z = np.linalg.solve(q, z) + 0.1
        q = T[k] * z[0, 0]
    return z


def factors_of_the_trip_before():
    graph = Factored(T=(3, N, N)).use("T").map({"i": "0:N", "j": "0:3"}, "o = 1.0", "z[i, j]")
    graph.sdfg.add_array("q", (N, N), dace.float64, transient=True)
    graph.begin().copied("T", "q", "T[0, 0:N, 0:N] -> [0:N, 0:N]").getrf("q[0:N, 0:N]")
    loop = graph.loop("k < 3", "k = 1")
    graph.begin(graph.state(loop)).getrs("q[0:N, 0:N]", "z[0:N, 0:3]")
    graph.map({"i": "0:N", "j": "0:3"}, "o = a + 0.1", "z[i, j]", graph.state(loop), a="z[i, j]")
    scaled = {"a": "T[k, i, j]", "b": "z[0, 0]"}
    graph.map({"i": "0:N", "j": "0:N"}, "o = a * b", "q[i, j]", graph.state(loop), **scaled)
    return graph.begin(graph.state(loop)).getrf("q[0:N, 0:N]")


def test_factors_are_those_that_are_there():
    right = np.arange(18.0).reshape(6, 3)
    assert_like(changed_factors().sdfg, half, ("Q", "B"), "z", "return", Q=MIXED, B=right)
    stack = np.stack([MIXED, SQUARE, MIXED.T])
    made = factors_of_the_trip_before().sdfg
    assert_like(made, one_after_the_other, ("T",), "z", "return", tolerance=1e-11, T=stack)


def factors(dtype, **shapes):
    graph = Factored(dtype, z=(N, N), **shapes)
    return graph.begin().copied("Q", "z", "Q[0:N, 0:N]").getrf("z[0:N, 0:N]")


def test_second_derivatives_of_complex_factors(rng):
    matrix = MIXED + 0.3j * rng.standard_normal((6, 6))
    assert sdfgad.check_grads(factors(dace.complex128).sdfg, order=2, output="z", Q=matrix).error < 1e-7


def test_singular_matrices_raise_also_where_the_graph_looks_at_the_status(rng):
    graph = factors(dace.float32, r=(1,))
    graph.sdfg.arrays["r"].transient = False
    gradient = sdfgad.differentiate(graph.sdfg, wrt="Q", output="z", reduce="sum")
    matrix = MIXED.astype(np.float32)
    assert gradient(Q=matrix).dtype == np.float32
    matrix[:, 1] = 0.0
    with pytest.raises(SingularMatrix, match="a matrix is singular"):
        gradient(Q=matrix)


def test_factors_on_a_device_are_the_same():
    matrix = MIXED.astype(np.float32)
    primal = primal_of(factors(dace.float32).sdfg, {"Q": matrix})
    program, lowered = primal.program, lower_calls(primal.program)
    assert {one.name for one in walk(lowered.body) if isinstance(one, Call)} == {"lu_columns"}
    found = [Interpreter(one, {primal.inputs["Q"]: matrix}).outputs["z"] for one in (program, lowered)]
    np.testing.assert_array_equal(*found)


def getrs(shape):
    return Factored(z=shape).begin().getrs("Q[0:N, 0:N]", f"z[{', '.join(f'0:{size}' for size in shape)}]")


def exchanged_elsewhere():
    inputs = {"_xin": "Q[0:N, 0:N]", "_ipiv": "p[0:3]"}
    return Factored().begin().node(Getri("i"), inputs, {"_xout": "Q[0:N, 0:N]", "_res": "r[0]"})


def without_rows():
    return Factored().begin().node(Getrf("f"), {"_xin": "Q[0:N, 0:N]"}, {"_xout": "Q[0:N, 0:N]"})


def solved_to_a_part():
    graph = Factored().use("B")
    inputs = {"_ain": "Q[0:N, 0:N]", "_bin": "B[0:N, 0:3]"}
    return graph.begin().node(Solve("s"), inputs, {"_bout": "z[0:N, 0:2]"})


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (getrs((M, 3)), "has factors of 6 rows of float64, and a right side of 4 of float64"),
        (exchanged_elsewhere(), "the node `i` of LAPACK has another number of exchanged rows than of rows"),
        (without_rows(), "the node `f` of LAPACK has nothing at `_ipiv`, in the state `s`"),
        (solved_to_a_part(), "the memlet `z.0:N, 0:2.` of a library node has another shape than what it is"),
    ],
)
def test_parts_that_do_not_fit_are_refused(graph, message):
    arguments = {"Q": MIXED, "B": np.ones((6, 3)), "z": np.ones((4 if M in graph.shapes["z"] else 6, 3))}
    with pytest.raises(UnsupportedGraph, match=message) as found:
        primal_of(graph.sdfg, {name: arguments[name] for name in graph.sdfg.arglist() if name in arguments})
    assert found.value.todo
