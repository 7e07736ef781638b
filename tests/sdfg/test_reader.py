"""SDFGs read as programs: those that we write come back as they were; others compute what they say, or are refused."""

import dace
import numpy as np
import pytest
from dace.sdfg.state import BreakBlock, ConditionalBlock, ContinueBlock, ControlFlowRegion, LoopRegion

import npbench_suite
from sdfgad.errors import UnsupportedGraph
from sdfgad.explain.interpreter import Interpreter
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Branch, Loop, computes, walk
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.ir.text import program_text
from sdfgad.optimise.passes import optimise
from sdfgad.runtime.compile import generate
from sdfgad.sdfg.reader import read
from sdfgad.sdfg.writer import write
from tests import helpers_arrays, helpers_memory
from tests.helpers import module_from
from tests.helpers_ir import gradient_of, parsed
from tests.helpers_passes import assert_same, gradient_case, outputs
from tests.helpers_text import sample
from tests.helpers_tiers import some
from tests.targets.cpu.test_nests_compiled import CASES

X = np.linspace(0.5, 1.5, 20)


# --- what we write


def read_back(program):
    sdfg = write(program)
    sdfg.expand_library_nodes()
    return read(sdfg)


def assert_comes_back(program):
    """Reading what was written gives the same code, and writing it again the same graph."""
    again = read_back(program)
    # An array of one element comes back as a number, which is written otherwise.
    is_same = all(b.shape != (Lin(1),) for b in program.buffers.values())
    first, second = (program, again) if is_same else (again, read_back(again))
    assert generate(write(second)).code == generate(write(first)).code
    return again


def programs_of(entry):
    """The program of an entry of the suite, and its gradient; integers that decide a size are constants."""
    constant = set()
    while True:
        try:
            primal = parsed(entry.program, *entry.arguments_for("test"), constant=constant)
            made = [gradient_of(primal, entry.arrays, entry.output).program] if entry.arrays else []
            return [primal.program, *made]
        except NeedsConstant as need:
            constant |= need.symbols


@pytest.mark.slow
@pytest.mark.parametrize("name", some(npbench_suite.names(), 3))
def test_the_suite_comes_back(name):
    for program in programs_of(npbench_suite.load(name)):
        assert_comes_back(optimise(program))


@pytest.mark.parametrize("name", CASES)
def test_programs_come_back(name):
    made, program, arrays, integers = CASES[name]
    assert_comes_back(made)
    again = assert_comes_back(program)
    # The reader does not know what is an output only.
    if set(again.inputs) == set(program.inputs):
        expected = outputs(program, arrays, integers)
        found = {n: v.reshape(expected[n].shape) for n, v in outputs(again, arrays, integers).items() if n in expected}
        assert_same(found, expected, name)


@pytest.mark.parametrize("maker", [helpers_arrays.ArrayMaker, helpers_memory.Maker], ids=["matrices", "control flow"])
@pytest.mark.parametrize("seed", some(range(6), 3))
def test_random_programs_come_back(maker, seed, tmp_path):
    program = module_from(maker(seed).text(), tmp_path).program
    if maker is helpers_arrays.ArrayMaker:
        args = helpers_arrays.arguments(seed)
    else:
        rng = np.random.default_rng(seed)
        args = (*rng.uniform(0.2, 1.0, (2, 5)), np.array([0, 2, 1, 4, 1]), seed % 4)
    primal, made, arrays, integers = gradient_case(program, args, wrt=["x", "y"])
    assert_comes_back(optimise(primal.program))
    optimised = optimise(made.program)
    again = assert_comes_back(optimised)
    if set(again.inputs) == set(made.program.inputs):
        found = outputs(again, arrays, integers)
        expected = outputs(made.program, arrays, integers)
        assert_same({name: found[buffer] for name, buffer in made.program.outputs.items()}, expected, f"of seed {seed}")


WRITTEN = {
    "backwards": "loop backwards f < 20:\n    z[f] = x[f]\n",
    "backwards from 3 on": "loop backwards 3 <= f < 20:\n    z[f] = z[f - 1] + x[f]\n",
    "a branch in a loop": """
        q = 0.0
        loop f < 20:
            if x[f] > 0.0:
                q += x[f]
            else:
                if y[f] > 0.0:
                    q += 2.0 * y[f]
                else:
                    z[f] = q
        """,
    "a box of points": "for p < 20, c < 6: Z[p, c] = X[p, c] * y[p]",
    "a part of a box": "for p < 18, c < 5: Z[p + 2, c + 1] = X[p, c] * y[p + 1]",
    "every other": "for p < 10: z[2*p + 1] = x[2*p]",
    "a fresh sum": "for p < 20, c < 6: z[p] = sum of X[p, c]",
    "a fresh maximum": "for p < 20, c < 6: z[p] max= all X[p, c]",
    "a sum": "for p < 20: z[p] = 1.0\nfor p < 20, c < 6: z[p] += X[p, c]",
    "a sum that is cleared before": "for p < 20: z[p] = 0.0\nfor p < 20, c < 6: z[p] += X[p, c]",
    "one element cleared, then added to": "loop f < 20:\n    z[f] = 0.0\n    z[f] += x[f]",
    "fresh sums of unknown length": "loop f < 20:\n    for p < f: z[f] = sum of x[p]",
    "a scattered sum": "for p < 20: z[p] = 0.0\nfor p < 20: z[i[p]] += x[p]",
    "gathered": "for p < 20: z[p] = x[i[p]]",
    "a triangle": "loop f < 20:\n    for p < f: z[p] = x[p] * y[f]\n    z[f] = x[f]",
    "data as bounds": "k = 7\nloop f < k:\n    z[f] = x[f]\nloop parallel f < k:\n    w[f] = x[f]",
    "parallel": "loop parallel f < 20:\n    t[f] = x[f] * 2.0\n    for c < 6: Z[f, c] = t[f] * X[f, c]",
    "parallel in parallel": "loop parallel f < 20:\n    loop parallel g < 6:\n        Z[f, g] = X[f, g] * x[f]\n",
    "open": "k = 3\nm = 0\nloop f < k (still):\n    if x[f] > 100.0:\n        k = 5\n    z[f] = x[f]\n",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_read(name):
    program, arrays, integers = sample(WRITTEN[name])
    again = assert_comes_back(program)
    expected = outputs(program, arrays, integers)
    assert_same({n: v for n, v in outputs(again, arrays, integers).items() if n in expected}, expected, name)
    kinds = [
        (type(s).__name__, s.backward, s.is_open, s.is_parallel) for s in walk(program.body) if isinstance(s, Loop)
    ]
    found = [(type(s).__name__, s.backward, s.is_open, s.is_parallel) for s in walk(again.body) if isinstance(s, Loop)]
    assert found == kinds
    assert [s.fresh for s in computes(again.body)] == [s.fresh for s in computes(program.body)]


# --- what others write


class Graph:
    """An SDFG of arrays x, y, z of 20 numbers, one of integers `order`, a scalar k, and the symbol n."""

    def __init__(self):
        self.sdfg = dace.SDFG("graph")
        for name in "xyz":
            self.sdfg.add_array(name, [20], dace.float64)
        self.sdfg.add_array("order", [20], dace.int64)
        self.sdfg.add_symbol("n", dace.int64)
        self.begin = self.sdfg.add_state("begin", is_start_block=True)
        self.last = self.begin

    def then(self, block, assignments=None):
        if block not in self.sdfg.nodes():
            self.sdfg.add_node(block)
        self.sdfg.add_edge(self.last, block, dace.InterstateEdge(assignments=assignments or {}))
        self.last = block
        return block

    def symbol(self, *names):
        for name in names:
            self.sdfg.add_symbol(name, dace.int64)

    def assign(self, region, target, value, **reads):
        """A state that assigns a value, in Python, of elements of arrays."""
        state = region.add_state(f"s{region.number_of_nodes()}", is_start_block=region.number_of_nodes() == 0)
        return self.computed(state, target, value, **reads)

    def computed(self, state, target, value, wcr=None, **reads):
        tasklet = state.add_tasklet("t", {*reads}, {"_o"}, f"_o = {value}")
        for connector, memlet in reads.items():
            array = memlet.partition("[")[0]
            state.add_edge(state.add_access(array), None, tasklet, connector, dace.Memlet(memlet))
        array = target.partition("[")[0]
        state.add_edge(tasklet, "_o", state.add_access(array), None, dace.Memlet(target, wcr=wcr))
        return state

    def filled(self, value="0"):
        """Every element of z is 0."""
        state = self.then(self.sdfg.add_state())
        state.add_mapped_tasklet(
            "fill", {"p": "0:20"}, {}, f"_o = {value}", {"_o": dace.Memlet("z[p]")}, external_edges=True
        )

    def run(self, n=5, order=None):
        """What z is in the end."""
        self.sdfg.validate()
        program = read(self.sdfg)
        arrays = {"x": X, "y": X * 0.5, "order": np.arange(20) if order is None else order}
        return Interpreter(program, {name: arrays[name] for name in program.inputs}, {"n": n}).store["z"]


def loop_of(graph, head, var="i"):
    """A loop that sets z[i] to x[i], with this start, condition and step."""
    graph.filled()
    graph.symbol(var)
    loop = LoopRegion("loop", head[1], var, head[0], head[2])
    graph.then(loop)
    graph.assign(loop, f"z[{var}]", "_x", _x=f"x[{var}]")
    return loop


LOOPS = {
    "up": (("i = 0", "i < 20", "i = i + 1"), range(20)),
    "with its end": (("i = 2", "i <= 7", "i = i + 1"), range(2, 8)),
    "in steps": (("i = 1", "i < 20", "i = i + 3"), range(1, 20, 3)),
    "in steps with its end": (("i = 1", "i <= 19", "i = i + 3"), range(1, 20, 3)),
    "in steps to n": (("i = 1", "i < n", "i = i + 3"), range(1, 5, 3)),
    "in steps to n with its end": (("i = 1", "i <= n + 2", "i = i + 3"), range(1, 8, 3)),
    "down": (("i = 19", "i >= 0", "i = i - 1"), range(20)),
    "down but for the end": (("i = 19", "i > 2", "i = i - 1"), range(3, 20)),
    "down in steps": (("i = 19", "i >= 2", "i = i - 4"), range(19, 1, -4)),
    "down in steps but for the end": (("i = 19", "i > 3", "i = i - 4"), range(19, 3, -4)),
    "down from n": (("i = n - 1", "i >= 0", "i = i - 2"), range(4, -1, -2)),
    "never": (("i = 7", "i < 3", "i = i + 1"), range(0)),
    "never down": (("i = 3", "i > 7", "i = i - 2"), range(0)),
    "never in steps": (("i = 9", "i < n", "i = i + 4"), range(0)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    head, trips = LOOPS[name]
    graph, expected = Graph(), np.zeros(20)
    loop_of(graph, head)
    expected[list(trips)] = X[list(trips)]
    np.testing.assert_array_equal(graph.run(), expected)


def test_trips_of_a_backward_loop_run_backwards():
    graph = Graph()
    graph.filled("1.0")
    graph.symbol("i")
    loop = graph.then(LoopRegion("loop", "i >= 1", "i", "i = 4", "i = i - 2"))
    graph.assign(loop, "z[0]", "_z * 10.0 + i", _z="z[0]")
    assert graph.run()[0] == (1.0 * 10 + 4) * 10 + 2


def test_an_open_loop():
    """Its end changes while it runs."""
    graph = Graph()
    graph.filled()
    graph.symbol("i")
    graph.sdfg.add_scalar("k", dace.int64, transient=True)
    graph.computed(graph.then(graph.sdfg.add_state()), "k[0]", "2")
    loop = graph.then(LoopRegion("loop", "i < k", "i", "i = 0", "i = i + 1"))
    graph.assign(loop, "z[i]", "_x", _x="x[i]")
    block = ConditionalBlock("branch")
    loop.add_node(block)
    loop.add_edge(loop.nodes()[0], block, dace.InterstateEdge())
    case = ControlFlowRegion("case", sdfg=graph.sdfg)
    block.add_branch(dace.properties.CodeBlock("i == 1"), case)
    graph.assign(case, "k[0]", "6")
    program = read(graph.sdfg)
    assert [s.is_open for s in walk(program.body) if isinstance(s, Loop)] == [True]
    np.testing.assert_array_equal(graph.run(), np.where(np.arange(20) < 6, X, 0))


@pytest.mark.parametrize("n", [0, 3, 8, 15])
def test_branches_of_several_sides(n):
    graph = Graph()
    graph.filled()
    block = graph.then(ConditionalBlock("branch"))
    for k, condition in enumerate(["n < 2", "n < 5 and x[0] < 1.0", "n < 10", None]):
        region = ControlFlowRegion(f"case{k}", sdfg=graph.sdfg)
        block.add_branch(None if condition is None else dace.properties.CodeBlock(condition), region)
        graph.assign(region, "z[n]", str(k + 1.0))
    expected = np.zeros(20)
    expected[n] = 1 + [n < 2, n < 5, n < 10, True].index(True)
    np.testing.assert_array_equal(graph.run(n), expected)
    assert sum(isinstance(s, Branch) for s in walk(read(graph.sdfg).body)) == 3


def test_a_branch_without_another_side():
    for n in (1, 4):
        graph = Graph()
        graph.filled()
        block = graph.then(ConditionalBlock("branch"))
        region = ControlFlowRegion("case", sdfg=graph.sdfg)
        block.add_branch(dace.properties.CodeBlock("n > 2"), region)
        graph.assign(region, "z[0]", "1.0")
        assert graph.run(n)[0] == (n > 2)


# The ranges, what is set to what, and the elements that are set with those that they get.
MAPS = {
    "an offset": ({"p": "3:9"}, "z[p]", "x[p]", {p: p for p in range(3, 9)}),
    "a step": ({"p": "1:20:4"}, "z[p]", "x[p]", {p: p for p in range(1, 20, 4)}),
    "a step to n": ({"p": "1:n+3:4"}, "z[p]", "x[p - 1]", {1: 0, 5: 4}),
    "two": (
        {"p": "0:4", "q": "2:5"},
        "z[5*p + q - 2]",
        "x[p + q]",
        {5 * p + q - 2: p + q for p in range(4) for q in range(2, 5)},
    ),
    "two with steps": (
        {"p": "0:4:2", "q": "1:6:2"},
        "z[5*p + q]",
        "x[q]",
        {5 * p + q: q for p in (0, 2) for q in (1, 3, 5)},
    ),
    "one after the other": (
        {"p": "1:4", "q": "p:5"},
        "z[5*(p - 1) + q]",
        "x[q]",
        {5 * (p - 1) + q: q for p in range(1, 4) for q in range(p, 5)},
    ),
    "steps one after the other": (
        {"p": "1:6:2", "q": "p:8:3"},
        "z[3*p + q - 4]",
        "x[p]",
        {3 * p + q - 4: p for p in (1, 3, 5) for q in range(p, 8, 3)},
    ),
    "none": ({"p": "7:n"}, "z[p]", "x[p]", {}),
}


@pytest.mark.parametrize("name", MAPS)
def test_maps(name):
    ranges, target, source, elements = MAPS[name]
    graph, expected = Graph(), np.zeros(20)
    graph.filled()
    state = graph.then(graph.sdfg.add_state())
    state.add_mapped_tasklet(
        "m", ranges, {"_x": dace.Memlet(source)}, "_o = _x", {"_o": dace.Memlet(target)}, external_edges=True
    )
    expected[[*elements]] = X[[*elements.values()]]
    np.testing.assert_array_equal(graph.run(), expected)


def test_nested_maps():
    graph, expected = Graph(), np.zeros(20)
    graph.filled()
    state = graph.then(graph.sdfg.add_state())
    outer, outer_exit = state.add_map("outer", {"p": "1:4"})
    inner, inner_exit = state.add_map("inner", {"q": "0:p"})
    tasklet = state.add_tasklet("t", {"_x"}, {"_o"}, "_o = _x")
    x, z = state.add_access("x"), state.add_access("z")
    state.add_memlet_path(x, outer, inner, tasklet, dst_conn="_x", memlet=dace.Memlet("x[p + q]"))
    state.add_memlet_path(tasklet, inner_exit, outer_exit, z, src_conn="_o", memlet=dace.Memlet("z[5*p + q]"))
    for p in range(1, 4):
        for q in range(p):
            expected[5 * p + q] = X[p + q]
    np.testing.assert_array_equal(graph.run(), expected)


@pytest.mark.parametrize(
    ("wcr", "expected"),
    [
        ("lambda a, b: a + b", np.sum(X)),
        ("lambda a, b: max(a, b)", X[-1]),
        ("lambda a, b: min(a, b)", 0.0),
        ("lambda a, b: sdfgad_maximum(a, b)", X[-1]),
    ],
)
def test_accumulations(wcr, expected):
    graph = Graph()
    graph.filled()
    state = graph.then(graph.sdfg.add_state())
    memlet = dace.Memlet("z[0]", wcr=wcr)
    state.add_mapped_tasklet(
        "m", {"p": "0:20"}, {"_x": dace.Memlet("x[p]")}, "_o = _x", {"_o": memlet}, external_edges=True
    )
    assert graph.run()[0] == pytest.approx(expected, rel=1e-15)


def test_symbols_that_are_assigned():
    graph = Graph()
    graph.filled()
    graph.symbol("a", "b")
    state = graph.then(graph.sdfg.add_state(), {"a": "n + 2", "b": "order[3]"})
    graph.computed(state, "z[a]", "_x", _x="x[b]")
    state = graph.then(graph.sdfg.add_state(), {"a": "a * 2 + b"})
    graph.computed(state, "z[a]", "_x", _x="x[b + 1]")
    expected = np.zeros(20)
    expected[3], expected[8] = X[2], X[3]
    np.testing.assert_array_equal(graph.run(1, np.full(20, 2)), expected)


def test_a_symbol_keeps_the_value_of_data_that_changes():
    """What is assigned to a symbol stays, whatever is written to the array that it came from."""
    graph = Graph()
    graph.filled()
    graph.symbol("a")
    graph.sdfg.add_array("moving", [1], dace.int64, transient=True)
    graph.computed(graph.then(graph.sdfg.add_state()), "moving[0]", "2")
    graph.then(graph.sdfg.add_state(), {"a": "moving[0]"})
    graph.computed(graph.then(graph.sdfg.add_state()), "moving[0]", "7")
    graph.computed(graph.then(graph.sdfg.add_state()), "z[a]", "1.0")
    refused(graph, "the symbol `a` in `.*` is what was in `moving`, which has changed")


def test_a_symbol_of_a_loop_keeps_the_value_of_data_that_changes():
    graph = Graph()
    graph.filled()
    graph.symbol("a", "i")
    graph.sdfg.add_array("moving", [1], dace.int64, transient=True)
    graph.computed(graph.then(graph.sdfg.add_state()), "moving[0]", "2")
    loop = LoopRegion("loop", "i < 3", "i", "i = 0", "i = i + 1")
    graph.then(loop, {"a": "moving[0]"})
    graph.assign(loop, "z[a + i]", "1.0")
    after = loop.add_state_after(loop.nodes()[0])
    graph.computed(after, "moving[0]", "7 + i")
    refused(graph, "the symbol `a` in `loop` is what was in `moving`, which has changed")


def test_a_symbol_may_be_assigned_again_when_data_has_changed():
    graph = Graph()
    graph.filled()
    graph.symbol("a")
    graph.sdfg.add_array("moving", [1], dace.int64, transient=True)
    for value in (2, 7):
        graph.computed(graph.then(graph.sdfg.add_state()), "moving[0]", str(value))
        graph.computed(graph.then(graph.sdfg.add_state(), {"a": "moving[0]"}), "z[a]", "1.0")
    np.testing.assert_array_equal(np.flatnonzero(graph.run()), [2, 7])


def test_a_bound_may_come_from_data_that_the_loop_changes():
    """It is known before the loop."""
    graph = Graph()
    graph.filled()
    graph.symbol("a", "i")
    graph.sdfg.add_array("moving", [1], dace.int64, transient=True)
    graph.computed(graph.then(graph.sdfg.add_state()), "moving[0]", "2")
    loop = LoopRegion("loop", "i < a", "i", "i = 0", "i = i + 1")
    graph.then(loop, {"a": "moving[0]"})
    graph.assign(loop, "z[i]", "1.0")
    graph.computed(loop.add_state_after(loop.nodes()[0]), "moving[0]", "7 + i")
    np.testing.assert_array_equal(np.flatnonzero(graph.run()), [0, 1])


def nested(symbols, body):
    """z of the outer graph, x and the given symbols as the nested SDFG sees them; `body` fills its only state."""
    graph = Graph()
    graph.filled()
    graph.symbol("i")
    inner = dace.SDFG("inner")
    for name in ("x", "z"):
        inner.add_array(name, [20], dace.float64)
    for name in symbols:
        inner.add_symbol(name, dace.int64)
    body(inner, inner.add_state("only", is_start_block=True))
    loop = graph.then(LoopRegion("loop", "i < 3", "i", "i = 0", "i = i + 1"))
    state = loop.add_state("s", is_start_block=True)
    node = state.add_nested_sdfg(inner, {"x": None}, {"z": None}, symbols)
    state.add_edge(state.add_access("x"), None, node, "x", dace.Memlet("x[0:20]"))
    state.add_edge(node, "z", state.add_access("z"), None, dace.Memlet("z[0:20]"))
    return graph


def test_symbols_of_nested_graphs():
    def body(inner, state):
        Graph.computed(None, state, "z[row*5 + 1]", "_x", _x="x[row]")

    expected = np.zeros(20)
    graph = nested({"row": "i + 1"}, body)
    for i in range(3):
        expected[(i + 1) * 5 + 1] = X[i + 1]
    np.testing.assert_array_equal(graph.run(), expected)


def test_counters_of_nested_graphs_are_others():
    """A counter of a nested SDFG has the name of one around it, which a symbol stands for."""

    def body(inner, state):
        state.add_mapped_tasklet(
            "m",
            {"i": "0:4"},
            {"_x": dace.Memlet("x[i]")},
            "_o = _x",
            {"_o": dace.Memlet("z[5*row + i]")},
            external_edges=True,
        )

    graph, expected = nested({"row": "i"}, body), np.zeros(20)
    for row in range(3):
        expected[5 * row : 5 * row + 4] = X[:4]
    np.testing.assert_array_equal(graph.run(), expected)


def test_arrays_of_nested_graphs_are_others():
    def body(inner, state):
        inner.add_scalar("y", dace.float64, transient=True)
        Graph.computed(None, state, "y[0]", "_x * 2.0", _x="x[0]")
        second = inner.add_state_after(state)
        Graph.computed(None, second, "z[row]", "_y", _y="y[0]")

    found = nested({"row": "i"}, body).run()
    np.testing.assert_array_equal(found, np.where(np.arange(20) < 3, 1.0, 0.0))


# --- what is refused


def refused(graph, message):
    with pytest.raises(UnsupportedGraph, match=message):
        read(graph.sdfg)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (("i = 0", "i != 9", "i = i + 1"), r"the loop `loop` goes on while `\(?i != 9"),
        (("i = 0", "i > 9", "i = i + 1"), "the loop `loop` goes on while"),
        (("i = 9", "i < 12", "i = i - 1"), "the loop `loop` goes on while"),
        (("i = 0", "i < 9 and i < n", "i = i + 1"), "the loop `loop` goes on while"),
        (("i = 0", "9 > i", "i = i + 1"), "the loop `loop` goes on while"),
        (("i = 0", "i < 9 < n", "i = i + 1"), "the loop `loop` goes on while"),
        (("i = 0", "i + 1 < 9", "i = i + 1"), "the loop `loop` goes on while"),
        (("i = 1", "i < 9", "i = i * 2"), r"the loop `loop` steps by `i = \(?i \* 2"),
        (("i = 1", "i < 9", "i = i + n"), r"the loop `loop` steps by"),
        (("i = 1", "i < 9", "i = i"), r"the loop `loop` steps by"),
    ],
)
def test_loops_that_are_refused(head, message):
    graph = Graph()
    loop_of(graph, head)
    refused(graph, message)


@pytest.mark.parametrize(
    "head",
    [
        ("i = 0", "i < order[0] + 1", "i = i + 1"),
        ("i = 9", "i > order[0]", "i = i - 1"),
        ("i = 0", "i < order[0]", "i = i + 2"),
    ],
)
def test_loops_that_change_their_bounds(head):
    graph = Graph()
    loop = loop_of(graph, head)
    graph.computed(loop.add_state_after(loop.nodes()[0]), "order[0]", "5")
    refused(graph, "the loop `loop` changes how long it goes on")


@pytest.mark.parametrize("step", [2, -2])
def test_loops_in_steps_that_change_where_they_started(step):
    graph = Graph()
    compare = "i < 20" if step > 0 else "i >= 0"
    loop = loop_of(graph, ("i = order[0]", compare, f"i = i + {step}"))
    graph.computed(loop.add_state_after(loop.nodes()[0]), "order[0]", "9")
    refused(graph, "the loop `loop` changes where it started")


def with_symbol_of_a_loop(inside, used):
    """A loop that assigns the symbol `a` at the end of each trip, and a use of a symbol in the loop or after it."""
    graph = Graph()
    graph.filled()
    graph.symbol("i", "a")
    loop = LoopRegion("loop", "i < 5", "i", "i = 0", "i = i + 1")
    graph.then(loop, {"a": "0"})
    graph.assign(loop, f"z[{used if inside else 'i'}]", "_x", _x="x[i]")
    (first,) = loop.nodes()
    loop.add_edge(first, loop.add_state("last"), dace.InterstateEdge(assignments={"a": "i + 2"}))
    if not inside:
        graph.computed(graph.then(graph.sdfg.add_state("after")), f"z[{used}]", "2.0")
    return graph


@pytest.mark.parametrize(("inside", "used"), [(True, "a"), (False, "a"), (False, "i")])
def test_symbols_that_a_loop_assigns_are_not_known_elsewhere(inside, used):
    graph = with_symbol_of_a_loop(inside, used)
    refused(graph, f"the symbol `{used}` keeps a value that a loop or a branch in `graph` has assigned")


def test_a_loop_that_assigns_its_counter():
    graph = Graph()
    loop = loop_of(graph, ("i = 0", "i < 20", "i = i + 1"))
    (first,) = loop.nodes()
    loop.add_edge(first, loop.add_state("last"), dace.InterstateEdge(assignments={"i": "i + 1"}))
    refused(graph, "the loop `loop` assigns its counter")


def test_a_loop_that_is_checked_at_its_end():
    graph = Graph()
    loop_of(graph, ("i = 0", "i < 9", "i = i + 1")).inverted = True
    refused(graph, "the loop `loop` goes on while")


@pytest.mark.parametrize("kind", [BreakBlock, ContinueBlock])
def test_jumps(kind):
    graph = Graph()
    loop = loop_of(graph, ("i = 0", "i < 9", "i = i + 1"))
    block = kind("jump")
    loop.add_node(block)
    loop.add_edge(loop.nodes()[0], block, dace.InterstateEdge())
    refused(graph, f"the block `jump` of type {kind.__name__}")


def test_states_that_branch():
    graph = Graph()
    other, another = graph.sdfg.add_state("other"), graph.sdfg.add_state("another")
    graph.sdfg.add_edge(graph.begin, other, dace.InterstateEdge("n < 2"))
    graph.sdfg.add_edge(graph.begin, another, dace.InterstateEdge("n >= 2"))
    refused(graph, "the block `begin` has conditional successors")


def test_a_conditional_edge():
    graph = Graph()
    graph.sdfg.add_edge(graph.begin, graph.sdfg.add_state("other"), dace.InterstateEdge("n < 2"))
    refused(graph, "the block `begin` has conditional successors")


def test_tasklets_in_cpp():
    graph = Graph()
    state = graph.then(graph.sdfg.add_state())
    tasklet = state.add_tasklet("t", {}, {"_o"}, "_o = 1;", language=dace.Language.CPP)
    state.add_edge(tasklet, "_o", state.add_access("z"), None, dace.Memlet("z[0]"))
    refused(graph, "the tasklet `t` is in CPP, and not in Python")


def test_accumulations_that_are_refused():
    graph = Graph()
    graph.computed(graph.then(graph.sdfg.add_state()), "z[0]", "2.0", wcr="lambda a, b: a * b")
    refused(graph, r"the write-conflict resolution `lambda a, b: \(?a \* b\)?`")
    graph = Graph()
    graph.computed(graph.then(graph.sdfg.add_state()), "z[0]", "2.0", wcr="lambda a, b: a + 2 * b")
    refused(graph, "the write-conflict resolution")
    graph = Graph()
    graph.computed(graph.then(graph.sdfg.add_state()), "z[0]", "2.0", wcr="lambda a, b: max(a, 2.0)")
    refused(graph, "the write-conflict resolution")


def test_parts_of_arrays():
    graph = Graph()
    graph.computed(graph.then(graph.sdfg.add_state()), "z[0]", "_x", _x="x[0:2]")
    refused(graph, "the memlet `x.* has more than one element")
    graph = Graph()
    graph.computed(graph.then(graph.sdfg.add_state()), "z[0]", "_x[0]", _x="x[0:9:2]")
    refused(graph, "the memlet `x")
    graph = Graph()
    graph.computed(graph.then(graph.sdfg.add_state()), "z[0]", "_x[0, 1]", _x="x[0:9]")
    refused(graph, "an element of the memlet `x.* with 2 indices")


def test_an_element_of_a_part():
    graph = Graph()
    graph.filled()
    graph.computed(graph.then(graph.sdfg.add_state()), "z[4]", "_x[n - 3]", _x="x[2:9]")
    assert graph.run()[4] == X[4]


def test_a_part_for_a_nested_graph():
    graph = nested({"row": "i"}, lambda inner, state: Graph.computed(None, state, "z[row]", "1.0"))
    state = next(s for s in graph.sdfg.states() if s.label == "s")
    (edge,) = (e for e in state.edges() if e.dst_conn == "x")
    edge.data = dace.Memlet("x[1:20]")
    refused(graph, "the nested SDFG `inner` sees only a part of `x`")


def test_accumulation_into_a_nested_graph_s_array():
    graph = nested({"row": "i"}, lambda inner, state: Graph.computed(None, state, "z[row]", "1.0"))
    state = next(s for s in graph.sdfg.states() if s.label == "s")
    (edge,) = (e for e in state.edges() if e.src_conn == "z")
    edge.data.wcr = "lambda a, b: a + b"
    refused(graph, "the nested SDFG `inner` accumulates into all of `z`")


def mapped(graph, span):
    """A map that assigns ones to z, and its state."""
    state = graph.then(graph.sdfg.add_state())
    output = {"_o": dace.Memlet("z[i]")}
    state.add_mapped_tasklet("m", {"i": span}, {}, "_o = 1.0", output, external_edges=True)
    return state


def test_maps_that_accumulate_later():
    graph = Graph()
    state = mapped(graph, "0:4")
    (edge,) = (e for e in state.edges() if isinstance(e.dst, dace.nodes.AccessNode))
    edge.data.wcr = "lambda a, b: a + b"
    refused(graph, "the map accumulates into `z`, and its tasklet does not")


@pytest.mark.parametrize("span", ["0:9:n", "8:0:-1"])
def test_steps_of_maps(span):
    graph = Graph()
    mapped(graph, span)
    refused(graph, "the map `m.*` steps by")


def test_copies_are_refused():
    graph = Graph()
    state = graph.then(graph.sdfg.add_state("copy"))
    state.add_nedge(state.add_access("x"), state.add_access("z"), dace.Memlet("x[0:20]"))
    refused(graph, "cop")


def test_streams_and_views_are_refused():
    graph = Graph()
    graph.sdfg.add_stream("s", dace.float64)
    refused(graph, "`s` is a Stream, and no array")
    graph = Graph()
    graph.sdfg.add_view("v", [4], dace.float64)
    refused(graph, "`v` is a .*View, and no array")


def test_a_tasklet_that_writes_an_array_twice():
    graph = Graph()
    state = graph.then(graph.sdfg.add_state())
    tasklet = state.add_tasklet("t", {}, {"_a", "_b"}, "_a = 1.0\n_b = 2.0")
    state.add_edge(tasklet, "_a", state.add_access("z"), None, dace.Memlet("z[0]"))
    state.add_edge(tasklet, "_b", state.add_access("z"), None, dace.Memlet("z[1]"))
    refused(graph, "the tasklet `t` writes `z` more than once")


def test_a_tasklet_that_assigns_nothing():
    graph = Graph()
    state = graph.then(graph.sdfg.add_state())
    tasklet = state.add_tasklet("t", {}, {"_a", "_b"}, "_a = 1.0")
    state.add_edge(tasklet, "_a", state.add_access("z"), None, dace.Memlet("z[0]"))
    state.add_edge(tasklet, "_b", state.add_access("y"), None, dace.Memlet("y[1]"))
    refused(graph, "`_b`")


def test_library_nodes_are_to_be_expanded():
    program, _, _ = sample("for p < 20, c < 20, d < 6: Z[p, d] += X[p, d] * X[c, d]")
    sdfg = write(program)
    kinds = [type(n).__name__ for n, _ in sdfg.all_nodes_recursive() if isinstance(n, dace.nodes.LibraryNode)]
    assert program_text(read_back(program)) == program_text(program)
    if kinds:
        with pytest.raises(UnsupportedGraph, match="of type Product"):
            read(sdfg)
