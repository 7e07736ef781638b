"""Graphs that leave trips, loops and graphs in the middle, and names that counters of ours must not hide."""

import copy

import dace
import numpy as np
import pytest
from dace import Memlet
from dace.libraries.linalg import Inv
from dace.sdfg.state import ControlFlowRegion, LoopRegion

import sdfgad
from tests.helpers import assert_close
from tests.helpers_graphs import assert_like
from tests.sdfg.foreign.constructs import SQUARE, A, M, N, X
from tests.sdfg.foreign.jump_constructs import Jumping

GRAPHS = []


def like(reference, wrt="x", **arguments):
    """Registers what makes a graph that is to compute what a NumPy function does."""

    def register(make):
        GRAPHS.append(pytest.param(make, reference, wrt, arguments or {"x": X}, id=reference.__name__))
        return make

    return register


def changed_condition(x):
    z = x.copy()
    for k in range(5):
        if z[k] > 1.5:
            z[k] = z[k] * z[k]
            break
        z[k + 1] = z[k + 1] + 0.4 * z[k]
        z[k] = 0.1 * z[k]
    return z


@like(changed_condition)
def _():
    graph = Jumping().use("x", "z").copy("x", "z", Memlet("x[0:N]"))
    loop = graph.during(None, "k < N - 1")
    (large,) = graph.when(loop, "z[k] > 1.5")
    graph.set(large, "o = a * a", "z[k]", a="z[k]").jump("break", large)
    graph.set(loop, "o = a + 0.4 * b", "z[k + 1]", a="z[k + 1]", b="z[k]")
    return graph.set(loop, "o = 0.1 * a", "z[k]", a="z[k]")


def counters_of_the_same_names(A):
    z = np.zeros((4, 6))
    for i in range(4):
        for j in range(i, 6):
            if A[i, j] * A[0, j] > 1.9:
                break
            for k in range(j):
                if A[i, k] < 0.6:
                    continue
                z[i, j] += A[i, k] * A[i, j]
    return z


@like(counters_of_the_same_names, "A", A=A)
def _():
    graph = Jumping(z=(M, N)).use("A", "z").clear(ranges={"a": "0:M", "b": "0:N"})
    rows = graph.during(None, "i < M", "i = 0", "i = i + 1", "i")
    places = graph.during(rows, "j < N", "j = i", "j = j + 1", "j")
    graph.jump("break", *graph.when(places, "A[i, j] * A[0, j] > 1.9"))
    loop = graph.during(places, "k < j")
    graph.jump("continue", *graph.when(loop, "A[i, k] < 0.6"))
    return graph.set(loop, "o = c + a * b", "z[i, j]", c="z[i, j]", a="A[i, k]", b="A[i, j]")


def symbol_on_the_way_out(x):
    z = 2.0 * x
    found = 0
    for k in range(6):
        if x[k] > 1.2:
            found = k + 1
            break
    if found > 0:
        z[found - 1] = x[found - 1] * x[found - 1]
    return z


@like(symbol_on_the_way_out)
def _():
    graph = Jumping().use("x", "z").map({"i": "0:N"}, "o = 2 * a", "z[i]", a="x[i]")
    for name in ("found", "k"):
        graph.sdfg.add_symbol(name, dace.int64)
    loop = graph.add(LoopRegion("loop", "k < N", "k", "k = 0", "k = k + 1"), assignments={"found": "0"})
    (large,) = graph.when(loop, "x[k] > 1.2")
    graph.state(large)
    graph.jump("break", large, {"found": "k + 1"})
    graph.state(loop)
    (is_found,) = graph.when(None, "found > 0")
    return graph.set(is_found, "o = a * a", "z[found - 1]", a="x[found - 1]")


def symbol_before_the_way_out(x):
    z = 2.0 * x
    at = 0
    for k in range(6):
        at = at + k
        if at > 3:
            break
        z[k] *= x[at]
    z[5] = x[min(at, 5)] * x[0]
    return z


@like(symbol_before_the_way_out)
def _():
    graph = Jumping().use("x", "z").map({"i": "0:N"}, "o = 2 * a", "z[i]", a="x[i]")
    for name in ("at", "k"):
        graph.sdfg.add_symbol(name, dace.int64)
    loop = graph.add(LoopRegion("loop", "k < N", "k", "k = 0", "k = k + 1"), assignments={"at": "0"})
    graph.state(loop)
    choice = graph.add(ControlFlowRegion("choice", sdfg=graph.sdfg), loop, {"at": "at + k"})
    graph.jump("break", *graph.when(choice, "at > 3"))
    graph.set(loop, "o = a * b", "z[k]", a="z[k]", b="x[at]")
    return graph.set(None, "o = a * b", "z[5]", a="x[min(at, N - 1)]", b="x[0]")


def condition_at_the_end(x):
    z = x.copy()
    k = 0
    while True:
        z[k] = z[k] * x[k]
        if x[k] < 0.75:
            break
        k += 1
        if k >= 6:
            break
    z[0] = z[0] + k * x[1]
    return z


@like(condition_at_the_end)
def _():
    graph = Jumping().use("x", "z").copy("x", "z", Memlet("x[0:N]"))
    loop = graph.during(None, "k < N", inverted=True)
    graph.set(loop, "o = a * b", "z[k]", a="z[k]", b="x[k]")
    graph.jump("break", *graph.when(loop, "x[k] < 0.75"))
    graph.state(loop)
    return graph.set(None, "o = a + k * b", "z[0]", a="z[0]", b="x[1]")


def as_long_as_the_counter(x):
    z = np.zeros(6)
    for k in range(1, 6):
        if x[k] < 0.75:
            break
        part = x[k] + np.arange(k)
        z[k] = np.sum(part * part * part)
    return z


@like(as_long_as_the_counter)
def _():
    graph = Jumping().use("x", "z").clear()
    loop = graph.during(None, "k < N", "k = 1")
    graph.sdfg.add_transient("part", (dace.symbol("k"),), dace.float64)
    graph.jump("break", *graph.when(loop, "x[k] < 0.75"))
    graph.map({"i": "0:k"}, "o = a + i", "part[i]", graph.state(loop), a="x[k]")
    return graph.map({"i": "0:k"}, "o = a * a * a", "z[k]", graph.state(loop), wcr="lambda a, b: a + b", a="part[i]")


def sums_of_rows(A):
    z = np.zeros(4)
    for i in range(4):
        s = 0.0
        for k in range(6):
            s += A[i, k] * A[i, k]
            if s > 2.5:
                s = s * s
                break
        z[i] = s * A[i, 0]
    return z


@like(sums_of_rows, "A", A=A)
def of_rows():
    """Each point of a map runs a graph of its own, of which one loop is left, and then the graph itself."""
    inner = Jumping(z=(M,), s=(1,)).use("A", "z").use("s", transient=True).tasklet("o = 0.0", "s[0]")
    inner.sdfg.add_symbol("i", dace.int64)
    loop = inner.during(None, "k < N")
    inner.set(loop, "o = c + a * a", "s[0]", c="s[0]", a="A[i, k]")
    (large,) = inner.when(loop, "s[0] > 2.5")
    inner.set(large, "o = a * a", "s[0]", a="s[0]")
    inner.set(large, "o = a * b", "z[i]", a="s[0]", b="A[i, 0]").jump("return", large)
    inner.set(None, "o = a * b", "z[i]", a="s[0]", b="A[i, 0]")
    graph = Jumping(z=(M,)).use("A", "z").clear(ranges={"c": "0:M"})
    state = graph.state()
    entry, end = state.add_map("m", {"i": "0:M"})
    nested = state.add_nested_sdfg(inner.sdfg, {"A": None}, {"z": None}, {"i": "i", "N": "N", "M": "M"})
    state.add_memlet_path(state.add_read("A"), entry, nested, dst_conn="A", memlet=Memlet("A[0:M, 0:N]"))
    state.add_memlet_path(nested, end, state.add_write("z"), src_conn="z", memlet=Memlet("z[0:M]"))
    return graph


@pytest.mark.parametrize(("make", "reference", "wrt", "arguments"), GRAPHS)
def test_a_graph_computes_what_the_function_does(make, reference, wrt, arguments):
    assert_like(make().sdfg, reference, (wrt,), "z", "return", **arguments)


def slope(function, arguments, name, direction, weights, step=1e-5):
    """The derivative of the weighted results along a direction, by differences of fourth order."""

    def at(t):
        return np.sum(weights * function(**{**copy.deepcopy(arguments), name: arguments[name] + t * direction}))

    return (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step)


@pytest.mark.parametrize(("make", "reference", "wrt", "arguments"), [GRAPHS[1], GRAPHS[-1]])
def test_compiled_gradients(make, reference, wrt, arguments, rng):
    value = reference(**copy.deepcopy(arguments))
    weights, direction = rng.standard_normal(value.shape), rng.standard_normal(arguments[wrt].shape)
    gradient = sdfgad.differentiate(make().sdfg, wrt=wrt, output="z")
    assert_close(gradient.value(**arguments), value, 1e-13)
    found = np.sum(gradient.vjp(**arguments, cotangent=weights) * direction)
    assert_close(found, slope(reference, arguments, wrt, direction, weights), 1e-8)


@pytest.mark.parametrize("name", ["c", "c_1", "p", "k"])
def test_counters_of_the_graph_are_not_hidden(name):
    graph = Jumping(T=(3, N, N), z=(3, N, N)).use("T", "z")
    loop = graph.during(None, f"{name} < 3", f"{name} = 0", f"{name} = {name} + 1", name)
    state, node = graph.state(loop), Inv("f")
    state.add_node(node)
    state.add_edge(state.add_read("T"), None, node, "_ain", Memlet(f"T[{name}, 0:N, 0:N]"))
    state.add_edge(node, "_aout", state.add_write("z"), None, Memlet(f"z[{name}, 0:N, 0:N]"))
    stack = np.stack([SQUARE, SQUARE.T, 2.0 * SQUARE])
    assert_like(graph.sdfg, lambda T: np.linalg.inv(T), ("T",), "z", "return", T=stack)
