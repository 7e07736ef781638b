"""Constructs of SDFGs, each in a graph that has it, beside the NumPy function that computes the same."""

from dataclasses import dataclass, field

import dace
import numpy as np
import pytest
from dace import Memlet
from dace.sdfg.state import LoopRegion

N, M = dace.symbol("N"), dace.symbol("M")
RNG = np.random.default_rng(7)
X, Y = RNG.uniform(0.5, 1.5, 6), RNG.uniform(0.5, 1.5, 6)
A, B = RNG.uniform(0.5, 1.5, (4, 6)), RNG.uniform(0.5, 1.5, (6, 3))


class Graph:
    """An SDFG with x and y of N numbers, A of M by N, and what else is declared; z is what it computes."""

    def __init__(self, z=(N,), **arrays):
        self.sdfg = dace.SDFG("graph")
        shapes = {"x": (N,), "y": (N,), "A": (M, N), "z": z, **arrays}
        self.shapes = shapes

    def use(self, *names, **options):
        for name in names:
            self.sdfg.add_array(name, self.shapes[name], dace.float64, **options)
        return self

    def state(self, region=None, label="s"):
        """The next state of a region, after its last one."""
        region = self.sdfg if region is None else region
        before = region.sink_nodes()
        state = region.add_state(label, is_start_block=not before)
        for block in before:
            region.add_edge(block, state, dace.InterstateEdge())
        return state

    def after(self, block, assignments=None):
        """Another block at the end of the SDFG."""
        before = self.sdfg.sink_nodes()
        self.sdfg.add_node(block, is_start_block=not before, ensure_unique_name=True)
        for one in before:
            self.sdfg.add_edge(one, block, dace.InterstateEdge(assignments=assignments or {}))
        return block

    def loop(self, condition, start="k = 0", step="k = k + 1", var="k", **options):
        if var:
            self.sdfg.add_symbol(var, dace.int64)
        return self.after(LoopRegion("loop", condition, var, start, step, **options))

    def map(self, ranges, code, output, state=None, wcr=None, schedule=None, **inputs):
        state = self.state() if state is None else state
        read = {name: Memlet(text) for name, text in inputs.items()}
        outputs = {"o": Memlet(output, wcr=wcr)}
        kind = schedule or dace.ScheduleType.Default
        state.add_mapped_tasklet("m", ranges, read, code, outputs, external_edges=True, schedule=kind)
        return self

    def tasklet(self, code, output, state=None, wcr=None, **inputs):
        state = self.state() if state is None else state
        tasklet = state.add_tasklet("t", {*inputs}, {"o"}, code)
        for name, text in inputs.items():
            state.add_edge(state.add_read(text.partition("[")[0]), None, tasklet, name, Memlet(text))
        state.add_edge(tasklet, "o", state.add_write(output.partition("[")[0]), None, Memlet(output, wcr=wcr))
        return self

    def copy(self, source, target, memlet, state=None):
        state = self.state() if state is None else state
        state.add_nedge(state.add_read(source), state.add_write(target), memlet)
        return self

    def clear(self, value="0.0", array="z", ranges=None):
        ranges = ranges or {"c": "0:N"}
        return self.map(ranges, f"o = {value}", f"{array}[{', '.join(ranges)}]")


@dataclass(frozen=True)
class Construct:
    """A construct in a graph, and the function that computes the same, or the text of its refusal."""

    group: str
    name: str
    graph: object
    reference: object = None
    refusal: str = ""
    wrt: tuple = ("x",)
    arguments: dict = field(default_factory=lambda: {"x": X})


CONSTRUCTS = []


def construct(group, name, reference=None, refusal="", wrt=("x",), **arguments):
    """Registers what makes a graph."""

    def register(make):
        given = {"x": X, **arguments}
        given = {key: value for key, value in given.items() if value is not None}
        CONSTRUCTS.append(Construct(group, name, make, reference, refusal, wrt, given))
        return make

    return register


def doubled(x):
    return 2.0 * x


def squared(x):
    return x * x


# --- data


@construct("data", "arrays of symbols as sizes, told by their shapes", squared)
def _():
    return Graph().use("x", "z").map({"i": "0:N"}, "o = a * a", "z[i]", a="x[i]")


def scaled(x, s):
    return s * x


@construct("data", "floating scalars as arguments", scaled, wrt=("x", "s"), s=1.5)
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_scalar("s", dace.float64)
    return graph.map({"i": "0:N"}, "o = a * b", "z[i]", a="x[i]", b="s[0]")


def powers(x, n):
    z = x * 1.0
    for _ in range(n):
        z = z * x
    return z


@construct("data", "integer scalars as arguments, as bounds of loops", powers, n=3)
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_scalar("n", dace.int32)
    graph.map({"i": "0:N"}, "o = a", "z[i]", a="x[i]")
    loop = graph.loop("k < n")
    return graph.map({"i": "0:N"}, "o = a * b", "z[i]", graph.state(loop), a="x[i]", b="z[i]")


@construct("data", "symbols that are passed", powers, n=3)
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_symbol("n", dace.int64)
    graph.map({"i": "0:N"}, "o = a", "z[i]", a="x[i]")
    loop = graph.loop("k < n")
    return graph.map({"i": "0:N"}, "o = a * b", "z[i]", graph.state(loop), a="x[i]", b="z[i]")


@construct("data", "floating symbols, also as `wrt`", scaled, wrt=("x", "s"), s=1.5)
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_symbol("s", dace.float64)
    return graph.map({"i": "0:N"}, "o = a * s", "z[i]", a="x[i]")


@construct("data", "constants: numbers", doubled)
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_constant("two", 2.0)
    return graph.map({"i": "0:N"}, "o = a * two", "z[i]", a="x[i]")


WEIGHTS = np.arange(1.0, 7.0)


def weighted(x):
    return x * np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


@construct("data", "constants: arrays", weighted)
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_constant("weights", WEIGHTS)
    return graph.map({"i": "0:N"}, "o = a * weights[i]", "z[i]", a="x[i]")


@construct("data", "transient arrays and scalars", squared)
def _():
    graph = Graph(t=(N,)).use("x", "z").use("t", transient=True)
    graph.map({"i": "0:N"}, "o = a", "t[i]", a="x[i]")
    return graph.map({"i": "0:N"}, "o = a * b", "z[i]", a="x[i]", b="t[i]")


def row_sums(A, x):
    return A @ x


@construct("data", "arrays stored column by column", row_sums, wrt=("A", "x"), A=A)
def _():
    graph = Graph(z=(M,)).use("x", "z")
    graph.sdfg.add_array("A", (M, N), dace.float64, strides=(1, M))
    graph.clear(ranges={"c": "0:M"})
    sums = "lambda a, b: a + b"
    return graph.map({"i": "0:M", "j": "0:N"}, "o = a * b", "z[i]", wcr=sums, a="A[i, j]", b="x[j]")


def gathered(x, order):
    return x[order] * x


@construct("data", "arrays of indices", gathered, order=np.array([3, 0, 5, 5, 1, 2]))
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_array("order", (N,), dace.int64)
    return graph.map({"i": "0:N"}, "o = a[k] * b", "z[i]", a="x[0:N]", k="order[i]", b="x[i]")


def inner_squares(x):
    z = np.zeros(6)
    z[1:5] = x[1:5] * x[2:6]
    return z


@construct("data", "views of a part", inner_squares)
def _():
    graph = Graph().use("x", "z").clear()
    graph.sdfg.add_view("v", (N - 2,), dace.float64)
    state = graph.state()
    view = state.add_access("v")
    state.add_edge(state.add_read("x"), None, view, "views", Memlet("x[2:N]"))
    view.add_in_connector("views", force=True)
    state.add_mapped_tasklet(
        "m", {"i": "0:N-2"}, {"a": Memlet("x[i + 1]"), "b": Memlet("v[i]")}, "o = a * b", {"o": Memlet("z[i + 1]")},
        input_nodes={"v": view}, external_edges=True,
    )  # fmt: skip
    return graph


def reshaped(x):
    return np.sum(np.reshape(x, (2, 3)) ** 2, axis=0)


@construct("data", "views of another shape", reshaped)
def _():
    graph = Graph(z=(3,)).use("x", "z")
    graph.sdfg.add_view("v", (2, 3), dace.float64)
    graph.clear(ranges={"c": "0:3"})
    state = graph.state()
    view = state.add_access("v")
    view.add_in_connector("views", force=True)
    state.add_edge(state.add_read("x"), None, view, "views", Memlet("x[0:6]"))
    state.add_mapped_tasklet(
        "m", {"i": "0:2", "j": "0:3"}, {"a": Memlet("v[i, j]")}, "o = a * a",
        {"o": Memlet("z[j]", wcr="lambda a, b: a + b")}, input_nodes={"v": view}, external_edges=True,
    )  # fmt: skip
    return graph


def flattened(A):
    return np.reshape(A, (24,)) ** 2


@construct("data", "views with fewer axes", flattened, wrt=("A",), A=A, x=None)
def _():
    graph = Graph(z=(M * N,)).use("A", "z")
    graph.sdfg.add_view("v", (M * N,), dace.float64)
    state = graph.state()
    view = state.add_access("v")
    view.add_in_connector("views", force=True)
    state.add_edge(state.add_read("A"), None, view, "views", Memlet("A[0:M, 0:N]"))
    state.add_mapped_tasklet(
        "m", {"i": "0:M*N"}, {"a": Memlet("v[i]")}, "o = a * a", {"o": Memlet("z[i]")}, input_nodes={"v": view},
        external_edges=True,
    )  # fmt: skip
    return graph


@construct("data", "streams", refusal="`s` in the SDFG `graph` is a Stream of double")
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_stream("s", dace.float64, transient=True)
    return graph.map({"i": "0:N"}, "o = a", "z[i]", a="x[i]")


@construct("data", "references", refusal="`r` in the SDFG `graph` is a ArrayReference of double")
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_reference("r", (N,), dace.float64)
    return graph.map({"i": "0:N"}, "o = a", "z[i]", a="x[i]")


@construct("data", "arguments that may share memory", refusal="may share memory with another argument")
def _():
    graph = Graph().use("x", may_alias=True).use("z")
    return graph.map({"i": "0:N"}, "o = a", "z[i]", a="x[i]")


# --- dataflow


@construct("dataflow", "maps of any schedule", squared)
def _():
    kind = dace.ScheduleType.GPU_Device
    return Graph().use("x", "z").map({"i": "0:N"}, "o = a * a", "z[i]", schedule=kind, a="x[i]")


def every_other(x):
    z = np.zeros(6)
    z[1::2] = x[1::2] ** 2
    return z


@construct("dataflow", "maps in steps", every_other)
def _():
    return Graph().use("x", "z").clear().map({"i": "1:N:2"}, "o = a * a", "z[i]", a="x[i]")


def triangle(x):
    z = np.zeros(6)
    for i in range(6):
        for j in range(i):
            z[i] += x[i] * x[j]
    return z


@construct("dataflow", "maps whose ranges depend on each other", triangle)
def _():
    graph = Graph().use("x", "z").clear()
    sums = "lambda a, b: a + b"
    return graph.map({"i": "0:N", "j": "0:i"}, "o = a * b", "z[i]", wcr=sums, a="x[i]", b="x[j]")


def first_products(x, count):
    z = np.zeros(6)
    for i in range(6):
        if i < count[0]:
            z[i] = x[i] * x[i]
    return z


@construct("dataflow", "maps whose ranges are data", first_products, count=np.array([4]))
def _():
    graph = Graph().use("x", "z").clear()
    graph.sdfg.add_array("count", (1,), dace.int64)
    state = graph.state()
    entry, end = state.add_map("m", {"i": "0:n"})
    entry.add_in_connector("n")
    tasklet = state.add_tasklet("t", {"a"}, {"o"}, "o = a * a")
    state.add_edge(state.add_read("count"), None, entry, "n", Memlet("count[0]"))
    state.add_memlet_path(state.add_read("x"), entry, tasklet, dst_conn="a", memlet=Memlet("x[i]"))
    state.add_memlet_path(tasklet, end, state.add_write("z"), src_conn="o", memlet=Memlet("z[i]"))
    return graph


def summed(x):
    return np.sum(x * x) * np.ones(1)


@construct("dataflow", "sums of all points (WCR)", lambda x: np.sum(x * x))
def _():
    graph = Graph(z=(1,)).use("x", "z").tasklet("o = 0.0", "z[0]")
    return graph.map({"i": "0:N"}, "o = a * a", "z[0]", wcr="lambda a, b: a + b", a="x[i]")


@construct("dataflow", "products of all points (WCR)", lambda x: 2.0 * np.prod(x))
def _():
    graph = Graph(z=(1,)).use("x", "z").tasklet("o = 2.0", "z[0]")
    return graph.map({"i": "0:N"}, "o = a", "z[0]", wcr="lambda a, b: a * b", a="x[i]")


@construct("dataflow", "maxima of all points (WCR)", lambda x: np.max(x * x))
def _():
    graph = Graph(z=(1,)).use("x", "z").tasklet("o = -1.0e9", "z[0]")
    return graph.map({"i": "0:N"}, "o = a * a", "z[0]", wcr="lambda a, b: max(a, b)", a="x[i]")


@construct("dataflow", "minima of all points (WCR)", lambda x: np.min(x * x))
def _():
    graph = Graph(z=(1,)).use("x", "z").tasklet("o = 1.0e9", "z[0]")
    return graph.map({"i": "0:N"}, "o = a * a", "z[0]", wcr="lambda a, b: min(a, b)", a="x[i]")


def largest_so_far(x):
    z = np.maximum(np.full(6, 1.0), x)
    for k in range(3):
        z = np.maximum(z, np.max(x * (0.8 + 0.2 * k)))
    return z


@construct("dataflow", "maxima with what was there before, trip by trip", largest_so_far)
def _():
    graph = Graph().use("x", "z").clear("1.0")
    larger = "lambda a, b: max(a, b)"
    graph.map({"i": "0:N"}, "o = a", "z[i]", wcr=larger, a="x[i]")
    loop = graph.loop("k < 3")
    ranges = {"i": "0:N", "j": "0:N"}
    return graph.map(ranges, "o = a * (0.8 + 0.2 * k)", "z[i]", graph.state(loop), wcr=larger, a="x[j]")


@construct("dataflow", "other WCR", refusal=r"the write-conflict resolution `lambda a, b: a - b`")
def _():
    graph = Graph(z=(1,)).use("x", "z").tasklet("o = 0.0", "z[0]")
    return graph.map({"i": "0:N"}, "o = a", "z[0]", wcr="lambda a, b: a - b", a="x[i]")


def smooth(x):
    t = np.exp(-x) + 1.0
    return np.where(t > 1.4, np.sqrt(t) * x, x**2 / t)


@construct("dataflow", "tasklets of several statements and choices", smooth)
def _():
    code = "t = math.exp(-a) + 1.0\nif t > 1.4:\n    o = math.sqrt(t) * a\nelse:\n    u = a ** 2\n    o = u / t"
    return Graph().use("x", "z").map({"i": "0:N"}, code, "z[i]", a="x[i]")


def two(x):
    return x * x + np.sin(x)


@construct("dataflow", "tasklets with several outputs", two)
def _():
    graph = Graph(t=(N,)).use("x", "z").use("t", transient=True)
    state = graph.state()
    outputs = {"p": Memlet("z[i]"), "q": Memlet("t[i]")}
    state.add_mapped_tasklet(
        "m", {"i": "0:N"}, {"a": Memlet("x[i]")}, "p = a * a\nq = sin(a)", outputs, external_edges=True
    )
    return graph.map({"i": "0:N"}, "o = a + b", "z[i]", a="z[i]", b="t[i]")


@construct("dataflow", "tasklets that set several elements of an output", refusal="elements of `o` are assigned")
def _():
    graph = Graph().use("x", "z")
    return graph.tasklet("o[0] = a\no[1] = 2.0 * a", "z[0:2]", a="x[0]")


@construct("dataflow", "edges between tasklets without data", refusal="an edge of a tasklet has no data")
def _():
    graph = Graph().use("x", "z")
    state = graph.state()
    entry, end = state.add_map("m", {"i": "0:N"})
    first, second = (
        state.add_tasklet("f", {"a"}, {"b"}, "b = sin(a)"),
        state.add_tasklet("g", {"b", "a"}, {"o"}, "o = b + a * a"),
    )
    x = state.add_read("x")
    state.add_memlet_path(x, entry, first, dst_conn="a", memlet=Memlet("x[i]"))
    state.add_memlet_path(x, entry, second, dst_conn="a", memlet=Memlet("x[i]"))
    state.add_edge(first, "b", second, "b", Memlet())
    state.add_memlet_path(second, end, state.add_write("z"), src_conn="o", memlet=Memlet("z[i]"))
    return graph


@construct("dataflow", "scalars between the tasklets of a map", two)
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_scalar("t", dace.float64, transient=True)
    state = graph.state()
    entry, end = state.add_map("m", {"i": "0:N"})
    first, second = (
        state.add_tasklet("f", {"a"}, {"b"}, "b = sin(a)"),
        state.add_tasklet("g", {"b", "a"}, {"o"}, "o = b + a * a"),
    )
    x, between = state.add_read("x"), state.add_access("t")
    state.add_memlet_path(x, entry, first, dst_conn="a", memlet=Memlet("x[i]"))
    state.add_memlet_path(x, entry, second, dst_conn="a", memlet=Memlet("x[i]"))
    state.add_edge(first, "b", between, None, Memlet("t[0]"))
    state.add_edge(between, None, second, "b", Memlet("t[0]"))
    state.add_memlet_path(second, end, state.add_write("z"), src_conn="o", memlet=Memlet("z[i]"))
    return graph


def shifted(x):
    z = np.zeros(6)
    z[2:] = x[:4]
    return z * x


@construct("dataflow", "copies of parts", shifted)
def _():
    graph = Graph().use("x", "z").clear().copy("x", "z", Memlet("x[0:N-2] -> [2:N]"))
    return graph.map({"i": "0:N"}, "o = a * b", "z[i]", a="x[i]", b="z[i]")


def halves(x):
    return x[::2] ** 2


@construct("dataflow", "copies in steps", halves)
def _():
    graph = Graph(z=(3,), t=(3,)).use("x", "z").use("t", transient=True)
    graph.copy("x", "t", Memlet("x[0:6:2] -> [0:3]"))
    return graph.map({"i": "0:3"}, "o = a * a", "z[i]", a="t[i]")


@construct("dataflow", "copies to another shape", reshaped)
def _():
    graph = Graph(z=(3,), t=(2, 3)).use("x", "z").use("t", transient=True).clear(ranges={"c": "0:3"})
    graph.copy("x", "t", Memlet("x[0:6] -> [0:2, 0:3]"))
    sums = "lambda a, b: a + b"
    return graph.map({"i": "0:2", "j": "0:3"}, "o = a * a", "z[j]", wcr=sums, a="t[i, j]")


def column_products(A):
    z = np.ones(4)
    for k in range(6):
        z = z * A[:, k]
    return z


@construct(
    "dataflow",
    "nested SDFGs in maps, and what they see of arrays through views",
    column_products,
    wrt=("A",),
    A=A,
    x=None,
)
def _():
    graph = Graph(z=(M,)).use("A", "z")
    graph.sdfg.add_view("row", (N,), dace.float64)
    graph.sdfg.add_array("t", (1,), dace.float64, transient=True)
    inner = dace.SDFG("inner")
    inner.add_array("row", (N,), dace.float64)
    inner.add_array("p", (1,), dace.float64)
    inside = Graph()
    inside.sdfg = inner
    inside.tasklet("o = 1.0", "p[0]")
    loop = inside.loop("k < N")
    inside.tasklet("o = a * b", "p[0]", inside.state(loop), a="row[k]", b="p[0]")
    state = graph.state()
    entry, end = state.add_map("m", {"i": "0:M"})
    node = state.add_nested_sdfg(inner, {"row": None}, {"p": None}, {"N": "N"})
    view, result = state.add_access("row"), state.add_access("t")
    view.add_in_connector("views", force=True)
    state.add_memlet_path(state.add_read("A"), entry, view, dst_conn="views", memlet=Memlet("A[i, 0:N]"))
    state.add_edge(view, None, node, "row", Memlet("row[0:N]"))
    state.add_edge(node, "p", result, None, Memlet("t[0]"))
    state.add_memlet_path(result, end, state.add_write("z"), memlet=Memlet("z[i]"))
    return graph


@construct("dataflow", "nested SDFGs with another array for one", refusal="`row` in `inner` is not as", A=A, x=None)
def _():
    graph = Graph(z=(M,)).use("A", "z")
    inner = dace.SDFG("inner")
    inner.add_array("row", (N,), dace.float64)
    inner.add_array("p", (M,), dace.float64)
    inside = Graph()
    inside.sdfg = inner
    inside.tasklet("o = a", "p[0]", a="row[0]")
    state = graph.state()
    node = state.add_nested_sdfg(inner, {"row": None}, {"p": None}, {"N": "N", "M": "M"})
    state.add_edge(state.add_read("A"), None, node, "row", Memlet("A[1, 0:N]"))
    state.add_edge(node, "p", state.add_write("z"), None, Memlet("z[0:M]"))
    return graph


@construct(
    "dataflow",
    "nested SDFGs that assign what is accumulated",
    refusal="what the edge out of it accumulates",
    x=None,
    A=A,
)
def _():
    graph = Graph(z=(M,)).use("A", "z")
    inner = dace.SDFG("inner")
    inner.add_array("z", (M,), dace.float64)
    inside = Graph()
    inside.sdfg = inner
    inside.tasklet("o = 1.0", "z[0]")
    state = graph.state()
    node = state.add_nested_sdfg(inner, {}, {"z": None}, {"M": "M"})
    state.add_edge(node, "z", state.add_write("z"), None, Memlet("z[0:M]", wcr="lambda a, b: a + b"))
    return graph


def floored(x):
    z = np.where(x > 1.0, x * x, x)
    return np.where(x < 0.7, 0.0, z)


@construct("dataflow", "outputs that tasklets assign in some cases, by dynamic memlets", floored)
def _():
    graph = Graph().use("x", "z").copy("x", "z", Memlet("x[0:N]"))
    code = "if a > 1.0:\n    o = a * a\nelse:\n    if a < 0.7:\n        o = 0"
    output = {"o": Memlet("z[i]", dynamic=True)}
    graph.state().add_mapped_tasklet("m", {"i": "0:N"}, {"a": Memlet("x[i]")}, code, output, external_edges=True)
    return graph


def odd(x):
    return x[1::2] * 2.0


@construct("dataflow", "sizes that are halves", odd)
def _():
    graph = Graph(z=(N / 2,)).use("x", "z")
    return graph.map({"i": "0:N/2"}, "o = 2.0 * a", "z[i]", a="x[2*i + 1]")


def of_segments(x, start):
    z = np.zeros(4)
    for k in range(4):
        part = x[start[k] : start[k + 1]] * 2.0
        z[k] = np.sum(part * part * np.sin(part))
    return z


def segments(code, **inputs):
    """A graph of trips, each with an array as long as a segment of x, which a map fills."""
    graph = Graph(z=(M,), start=(M + 1,)).use("x", "z").clear(ranges={"c": "0:M"})
    graph.sdfg.add_array("start", (M + 1,), dace.int64)
    for name in ("low", "high"):
        graph.sdfg.add_symbol(name, dace.int64)
    low, high = dace.symbol("low"), dace.symbol("high")
    graph.sdfg.add_transient("part", (high - low,), dace.float64)
    loop = graph.loop("k < M")
    first, second = loop.add_state("first", is_start_block=True), loop.add_state("second")
    loop.add_edge(first, second, dace.InterstateEdge(assignments={"low": "start[k]", "high": "start[k + 1]"}))
    graph.map({"i": "0:high - low"}, code, "part[i]", second, **inputs)
    after = {"a": "part[i]", "wcr": "lambda a, b: a + b"}
    return graph.map({"i": "0:high - low"}, "o = a * a * math.sin(a)", "z[k]", graph.state(loop), **after)


SEGMENTS = np.array([0, 2, 2, 5, 6])


@construct("dataflow", "arrays whose size is data, as many as what is read for them", of_segments, start=SEGMENTS)
def _():
    return segments("o = 2 * a", a="x[low + i]")


@construct(
    "dataflow", "arrays whose size is data, of any other length", refusal="size of `part` is known only", start=SEGMENTS
)
def _():
    return segments("o = 2.0 * i")


@construct("dataflow", "outputs that a tasklet does not assign in every case", refusal="does not assign `o`, or not in")
def _():
    return Graph().use("x", "z").map({"i": "0:N"}, "if a > 1.0:\n    o = a", "z[i]", a="x[i]")


def chosen_in_parts(x):
    t = np.sqrt(x) * 2.0
    t = np.where(x > 1.0, t - x / 3.0, t * np.minimum(x, 0.75) ** 2)
    u = np.where((x > 0.9) & ~(x > 1.2), -t, np.float32(0.25) + 3.0 * (1.5 - t))
    return np.abs(u) + np.maximum(np.exp(-t), 1e-3)


CPP = """
// Declarations, choices, functions and conversions.
const double s = std::sqrt(a);
double t;
t = s * 2.0;
if (a > 1.0) { t -= a / 3; } else t *= std::pow(std::min(a, 0.75), 2);
auto u = (a > .9 && !(a > 1.2)) ? -t : static_cast<double>(0.25f) + (double)3 * (1.5e0 - t);
o = std::fabs(u) + std::max(dace::math::exp(-t), 1e-3); /* the end */
"""


@construct("dataflow", "tasklets in C++: expressions, choices, conversions", chosen_in_parts)
def _():
    graph = Graph().use("x", "z")
    read, written = {"a": Memlet("x[i]")}, {"o": Memlet("z[i]")}
    graph.state().add_mapped_tasklet(
        "t", {"i": "0:N"}, read, CPP, written, external_edges=True, language=dace.Language.CPP
    )
    return graph


def cpp(code, language=dace.Language.CPP, **options):
    graph = Graph(z=(1,)).use("x", "z")
    state = graph.state()
    tasklet = state.add_tasklet("t", {}, {"o"}, code, language=language, **options)
    state.add_edge(tasklet, "o", state.add_write("z"), None, Memlet("z[0]"))
    return graph


@construct("dataflow", "tasklets in C++: loops", refusal=r"the C\+\+ of the tasklet `t` near `0 ; for \( int k")
def _():
    return cpp("o = 0; for (int k = 0; k < 3; k = k + 1) o += k;")


@construct("dataflow", "tasklets in C++: functions of one's own", refusal=r"the function `magic` in the C\+\+ of")
def _():
    return cpp("o = magic(2.0);")


@construct("dataflow", "tasklets in C++: a name declared twice", refusal=r"the C\+\+ of the tasklet `t` near")
def _():
    return cpp("double t = 1.0; { double t = 2.0; o = t; } o += t;")


@construct("dataflow", "tasklets in C++: other signs", refusal=r"the C\+\+ of the tasklet `t` at `& 3;")
def _():
    return cpp("o = 5 & 3;")


@construct("dataflow", "tasklets with global code", refusal="has global code, or code that runs once")
def _():
    return cpp("o = 1.0;", code_global="static int k = 3;")


@construct("dataflow", "tasklets in other languages", refusal="the tasklet `t` is in OpenCL, and not in Python")
def _():
    return cpp("o = 1.0;", dace.Language.OpenCL)


@construct("dataflow", "callbacks to Python", refusal="the SDFG `graph` calls Python back: `f`")
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_symbol("f", dace.callback(dace.float64, dace.float64))
    return graph.map({"i": "0:N"}, "o = f(a)", "z[i]", a="x[i]")


@construct("dataflow", "functions that are none of `math` or NumPy", refusal="the function `magic` of 1 values")
def _():
    return Graph().use("x", "z").map({"i": "0:N"}, "o = magic(a)", "z[i]", a="x[i]")


@construct("dataflow", "divisions of integers", refusal="divides integers, of which C\\+\\+ drops the fraction")
def _():
    return Graph().use("x", "z").map({"i": "0:N"}, "o = a * (i / 2)", "z[i]", a="x[i]")


@construct(
    "dataflow", "remainders of integers by `%`", refusal="is a remainder of integers, which C\\+\\+ gives the sign"
)
def _():
    return Graph().use("x", "z").map({"i": "0:N"}, "o = a * (i % 2)", "z[i]", a="x[i]")


@construct("dataflow", "floats written to integers", refusal="writes a float64 to `n`, which is of int64")
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_scalar("n", dace.int64, transient=True)
    return graph.tasklet("o = a", "n[0]", a="x[0]").map({"i": "0:N"}, "o = a * b", "z[i]", a="x[i]", b="n[0]")


@construct("dataflow", "an order that no edge gives", refusal="may both touch `z`, and one of them writes it")
def _():
    graph = Graph().use("x", "z")
    state = graph.state()
    graph.map({"i": "0:N"}, "o = a", "z[i]", state, a="x[i]")
    return graph.map({"i": "0:N"}, "o = a * 2.0", "z[N - 1 - i]", state, a="x[i]")


# --- control flow


def recurrence(x):
    z = x.copy()
    for k in range(1, 6):
        z[k] = z[k - 1] * x[k]
    return z


@construct("control flow", "sequential loops, also of updates in place", recurrence)
def _():
    graph = Graph().use("x", "z").copy("x", "z", Memlet("x[0:N]"))
    loop = graph.loop("k < N", "k = 1")
    return graph.tasklet("o = a * b", "z[k]", graph.state(loop), a="z[k - 1]", b="x[k]")


def backwards(x):
    z = x.copy()
    for k in range(4, -1, -2):
        z[k] = z[k + 1] * x[k]
    return z


@construct("control flow", "loops downwards and in steps", backwards)
def _():
    graph = Graph().use("x", "z").copy("x", "z", Memlet("x[0:N]"))
    loop = graph.loop("k >= 0", "k = N - 2", "k = k - 2")
    return graph.tasklet("o = a * b", "z[k]", graph.state(loop), a="z[k + 1]", b="x[k]")


def halved(x):
    z = x * x
    while z[0] > 0.1:
        z = z * 0.5
    return z


@construct("control flow", "`while` loops", halved)
def _():
    graph = Graph().use("x", "z").map({"i": "0:N"}, "o = a * a", "z[i]", a="x[i]")
    loop = graph.loop("z[0] > 0.1", None, None, None)
    return graph.map({"i": "0:N"}, "o = a * 0.5", "z[i]", graph.state(loop), a="z[i]")


def halved_once_more(x):
    z = x * x * 0.5
    while z[0] > 0.1:
        z = z * 0.5
    return z


@construct("control flow", "loops that are checked at their end", halved_once_more)
def _():
    graph = Graph().use("x", "z").map({"i": "0:N"}, "o = a * a", "z[i]", a="x[i]")
    loop = graph.loop("z[0] > 0.1", None, None, None, inverted=True)
    return graph.map({"i": "0:N"}, "o = a * 0.5", "z[i]", graph.state(loop), a="z[i]")


def doubling(x):
    z = np.zeros(6)
    k = 1
    while k < 6:
        z[k] = x[k] * x[k]
        k = k * 2
    return z


@construct("control flow", "loops whose counter takes any steps", doubling)
def _():
    graph = Graph().use("x", "z").clear()
    loop = graph.loop("k < N", "k = 1", "k = k * 2")
    return graph.tasklet("o = a * a", "z[k]", graph.state(loop), a="x[k]")


def last(x):
    z = x * x
    z[4] = x[0]
    return z


@construct("control flow", "counters after their loop", last)
def _():
    graph = Graph().use("x", "z").clear()
    loop = graph.loop("k < N - 2")
    graph.tasklet("o = a", "z[k]", graph.state(loop), a="x[k]")
    graph.map({"i": "0:N"}, "o = a * a", "z[i]", a="x[i]")
    return graph.tasklet("o = a", "z[k]", a="x[0]")


def chosen(x):
    z = np.zeros(6)
    for k in range(6):
        if x[k] > 1.0:
            z[k] = x[k] * x[k]
        elif k < 3:
            z[k] = np.sin(x[k])
        else:
            z[k] = 3.0 * x[k]
    return z


@construct("control flow", "branches by data and by symbols, with several sides", chosen, z=np.zeros(6))
def _():
    graph = Graph().use("x", "z")
    loop = graph.loop("k < N")
    loop.add_state("first", is_start_block=True)
    branch = dace.sdfg.state.ConditionalBlock("branch")
    loop.add_node(branch)
    loop.add_edge(loop.start_block, branch, dace.InterstateEdge())
    for condition, code in (("x[k] > 1.0", "o = a * a"), ("k < 3", "o = sin(a)"), (None, "o = 3.0 * a")):
        side = dace.sdfg.state.ControlFlowRegion(f"side{len(branch.branches)}", sdfg=graph.sdfg)
        branch.add_branch(None if condition is None else dace.properties.CodeBlock(condition), side)
        graph.tasklet(code, "z[k]", graph.state(side), a="x[k]")
    return graph


@construct("control flow", "old-style loops of states", recurrence)
def _():
    graph = Graph().use("x", "z").copy("x", "z", Memlet("x[0:N]"))
    before, body, after = graph.sdfg.sink_nodes()[0], graph.sdfg.add_state("body"), graph.sdfg.add_state("after")
    graph.tasklet("o = a * b", "z[k]", body, a="z[k - 1]", b="x[k]")
    graph.sdfg.add_loop(before, body, after, "k", "1", "k < N", "k + 1")
    return graph


def one_or_other(x, n):
    return x * x if n > 2 else 3.0 * x


@construct("control flow", "old-style branches of states", one_or_other, n=1, z=np.zeros(6))
def _():
    graph = Graph().use("x", "z")
    graph.sdfg.add_symbol("n", dace.int64)
    first, one, other, end = (graph.sdfg.add_state(name) for name in ("first", "one", "other", "end"))
    graph.map({"i": "0:N"}, "o = a * a", "z[i]", one, a="x[i]")
    graph.map({"i": "0:N"}, "o = 3.0 * a", "z[i]", other, a="x[i]")
    graph.sdfg.add_edge(first, one, dace.InterstateEdge("n > 2"))
    graph.sdfg.add_edge(first, other, dace.InterstateEdge("not (n > 2)"))
    for state in (one, other):
        graph.sdfg.add_edge(state, end, dace.InterstateEdge())
    return graph


def jumping(x, order):
    z = np.zeros(6)
    for k in range(6):
        z[order[k]] = x[k] * x[order[k]]
    return z


@construct("control flow", "symbols that are assigned, also from data", jumping, order=np.array([3, 0, 5, 4, 1, 2]))
def _():
    graph = Graph().use("x", "z").clear()
    graph.sdfg.add_array("order", (N,), dace.int64)
    graph.sdfg.add_symbol("at", dace.int64)
    loop = graph.loop("k < N")
    first, second = loop.add_state("first", is_start_block=True), loop.add_state("second")
    loop.add_edge(first, second, dace.InterstateEdge(assignments={"at": "order[k]"}))
    return graph.tasklet("o = a * b", "z[at]", second, a="x[k]", b="x[at]")


def growing(x):
    z = np.zeros(6)
    at = 0
    for k in range(3):
        z[at] = x[k] * x[at]
        at = at + k + 1
    return z


@construct("control flow", "symbols that loops carry from trip to trip", growing)
def _():
    graph = Graph().use("x", "z").clear()
    graph.sdfg.add_symbol("at", dace.int64)
    graph.sdfg.add_symbol("k", dace.int64)
    loop = graph.after(LoopRegion("loop", "k < 3", "k", "k = 0", "k = k + 1"), {"at": "0"})
    first, second = loop.add_state("first", is_start_block=True), loop.add_state("second")
    graph.tasklet("o = a * b", "z[at]", first, a="x[k]", b="x[at]")
    loop.add_edge(first, second, dace.InterstateEdge(assignments={"at": "at + k + 1"}))
    return graph


# --- library nodes


def library(graph, node, inputs, output):
    state = graph.state()
    state.add_node(node)
    for connector, text in inputs.items():
        name = text.partition("[")[0]
        state.add_edge(state.add_read(name), None, node, connector, Memlet(text))
    connector, text = output
    state.add_edge(node, connector, state.add_write(text.partition("[")[0]), None, Memlet(text))
    return graph


def product(A, B):
    return A @ B


@construct("library", "MatMul", product, wrt=("A", "B"), A=A, B=B, x=None)
def _():
    from dace.libraries.blas import MatMul

    graph = Graph(z=(M, 3), B=(N, 3)).use("A", "B", "z")
    return library(graph, MatMul("p"), {"_a": "A[0:M, 0:N]", "_b": "B[0:N, 0:3]"}, ("_c", "z[0:M, 0:3]"))


@construct("library", "Gemv", lambda A, x: A @ x, wrt=("A", "x"), A=A)
def _():
    from dace.libraries.blas import MatMul

    graph = Graph(z=(M,)).use("A", "x", "z")
    return library(graph, MatMul("p"), {"_a": "A[0:M, 0:N]", "_b": "x[0:N]"}, ("_c", "z[0:M]"))


@construct("library", "Dot", lambda x, y: np.dot(x, y), wrt=("x", "y"), y=Y)
def _():
    from dace.libraries.blas import Dot

    graph = Graph(z=(1,)).use("x", "y", "z")
    return library(graph, Dot("p"), {"_x": "x[0:N]", "_y": "y[0:N]"}, ("_result", "z[0]"))


@construct("library", "Reduce: sums", lambda A: np.sum(A, axis=0), wrt=("A",), A=A, x=None)
def _():
    from dace.libraries.standard import Reduce

    graph = Graph().use("A", "z")
    node = Reduce("r", "lambda a, b: a + b", axes=(0,), identity=0.0)
    return library(graph, node, {None: "A[0:M, 0:N]"}, (None, "z[0:N]"))


@construct("library", "Reduce: maxima", lambda A: np.max(A, axis=1), wrt=("A",), A=A, x=None)
def _():
    from dace.libraries.standard import Reduce

    graph = Graph(z=(M,)).use("A", "z")
    node = Reduce("r", "lambda a, b: max(a, b)", axes=(1,), identity=-1.0e9)
    return library(graph, node, {None: "A[0:M, 0:N]"}, (None, "z[0:M]"))


@construct("library", "Transpose", lambda A: np.transpose(A).copy(), wrt=("A",), A=A, x=None)
def _():
    from dace.libraries.linalg import Transpose

    graph = Graph(z=(N, M)).use("A", "z")
    return library(graph, Transpose("t", dtype=dace.float64), {"_inp": "A[0:M, 0:N]"}, ("_out", "z[0:N, 0:M]"))


SQUARE = np.eye(6) * 3.0 + RNG.uniform(0.0, 0.5, (6, 6))
POSITIVE = SQUARE @ SQUARE.T


@construct("library", "Solve", lambda Q, B: np.linalg.solve(Q, B), wrt=("Q", "B"), Q=SQUARE, B=B, x=None)
def _():
    from dace.libraries.linalg import Solve

    graph = Graph(Q=(N, N), B=(N, 3), z=(N, 3)).use("B", "z", "Q")
    return library(graph, Solve("f"), {"_ain": "Q[0:N, 0:N]", "_bin": "B[0:N, 0:3]"}, ("_bout", "z[0:N, 0:3]"))


@construct("library", "Inv", lambda Q: np.linalg.inv(Q), wrt=("Q",), Q=SQUARE, x=None)
def _():
    from dace.libraries.linalg import Inv

    graph = Graph(Q=(N, N), z=(N, N)).use("z", "Q")
    return library(graph, Inv("f"), {"_ain": "Q[0:N, 0:N]"}, ("_aout", "z[0:N, 0:N]"))


@construct("library", "Cholesky", lambda Q: np.linalg.cholesky(Q), wrt=("Q",), Q=POSITIVE, x=None)
def _():
    from dace.libraries.linalg import Cholesky

    graph = Graph(Q=(N, N), z=(N, N)).use("z", "Q")
    return library(graph, Cholesky("f"), {"_a": "Q[0:N, 0:N]"}, ("_b", "z[0:N, 0:N]"))


def spectrum(x):
    c = np.fft.fft(x)
    return c.real * c.imag + c.real


def transformed(node, shape, axes):
    """The real part of a transform of x or A, and what it is times the other part."""
    name = "A" if len(shape) > 1 else "x"
    graph = Graph(z=shape, c=shape).use(name, "z")
    graph.sdfg.add_array("c", shape, dace.complex128, transient=True)
    everything = ", ".join(f"0:{extent}" for extent in shape)
    library(graph, node, {"_inp": f"{name}[{everything}]"}, ("_out", f"c[{everything}]"))
    ranges = {axis: f"0:{extent}" for axis, extent in zip(axes, shape, strict=True)}
    place = ", ".join(axes)
    return graph.map(ranges, "o = real(a) * imag(a) + real(a)", f"z[{place}]", a=f"c[{place}]")


@construct("library", "FFT", spectrum)
def _():
    from dace.libraries.fft import FFT

    return transformed(FFT("f"), (N,), "i")


def inverse_spectrum(A):
    c = np.fft.ifft2(A)
    return c.real * c.imag + c.real


@construct("library", "IFFT, of two axes, with a factor", inverse_spectrum, wrt=("A",), A=A, x=None)
def _():
    from dace.libraries.fft import IFFT

    node = IFFT("f")
    node.factor = 1 / (M * N)
    return transformed(node, (M, N), "ij")


@construct("library", "FFT to a real array", refusal="writes complex numbers to `z`, which is real")
def _():
    from dace.libraries.fft import FFT

    return library(Graph().use("x", "z"), FFT("f"), {"_inp": "x[0:N]"}, ("_out", "z[0:N]"))


def layer(A, B, y):
    scores = 1.0 / (1.0 + np.exp(-(np.maximum(A - 0.9, 0.0) @ B)))
    powers = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return powers / np.sum(powers, axis=1, keepdims=True) + np.tanh(y[:3])


@construct("library", "ONNX: Relu, MatMul, Sigmoid, Softmax, Add", layer, wrt=("A", "B", "y"), A=A, B=B, y=Y, x=None)
def _():
    nodes = pytest.importorskip("dace.libraries.onnx")
    pytest.importorskip("onnx")
    graph = Graph(B=(N, 3), z=(M, 3)).use("A", "B", "y", "z")
    for name, shape in {"p": (M, N), "q": (M, N), "r": (M, 3), "s": (M, 3), "t": (M, 3), "v": (3,)}.items():
        graph.sdfg.add_array(name, shape, dace.float64, transient=True)
    graph.map({"i": "0:M", "j": "0:N"}, "o = a - 0.9", "p[i, j]", a="A[i, j]")
    shapes = {"p": "0:M, 0:N", "q": "0:M, 0:N", "B": "0:N, 0:3", "y": "0:3", "v": "0:3"}

    def node(kind, output, connector, **inputs):
        one = getattr(nodes, f"ONNX{kind}")(f"f{kind}")
        for name in inputs:
            one.add_in_connector(name)
        one.add_out_connector(connector)
        read = {name: f"{array}[{shapes.get(array, '0:M, 0:3')}]" for name, array in inputs.items()}
        library(graph, one, read, (connector, f"{output}[{shapes.get(output, '0:M, 0:3')}]"))

    node("Relu", "q", "Y", X="p")
    node("MatMul", "r", "Y", A="q", B="B")
    node("Sigmoid", "s", "Y", X="r")
    node("Softmax", "t", "output", input="s")
    graph.map({"j": "0:3"}, "o = tanh(a)", "v[j]", a="y[j]")
    node("Add", "z", "C", A="t", B="v")
    return graph


@construct("library", "Einsum", lambda A, B: A @ B, wrt=("A", "B"), A=A, B=B, x=None)
def _():
    from dace.libraries.blas.nodes.einsum import Einsum

    graph, node = Graph(B=(N, 3), z=(M, 3)).use("A", "B", "z"), Einsum("f")
    node.einsum_str = "ij,jk->ik"
    node.add_in_connector("_in0")
    node.add_in_connector("_in1")
    node.add_out_connector("_out")
    return library(graph, node, {"_in0": "A[0:M, 0:N]", "_in1": "B[0:N, 0:3]"}, ("_out", "z[0:M, 0:3]"))


@construct("library", "TensorDot", lambda A, B: np.tensordot(A, B, ([1], [0])), wrt=("A", "B"), A=A, B=B, x=None)
def _():
    from dace.libraries.linalg import TensorDot

    graph, node = Graph(B=(N, 3), z=(M, 3)).use("A", "B", "z"), TensorDot("f", [1], [0])
    read = {"_left_tensor": "A[0:M, 0:N]", "_right_tensor": "B[0:N, 0:3]"}
    return library(graph, node, read, ("_out_tensor", "z[0:M, 0:3]"))


@construct("library", "TensorTranspose", lambda A: A.T, wrt=("A",), A=A, x=None)
def _():
    from dace.libraries.linalg import TensorTranspose

    graph = Graph(z=(N, M)).use("A", "z")
    return library(graph, TensorTranspose("f", [1, 0]), {"_inp_tensor": "A[0:M, 0:N]"}, ("_out_tensor", "z[0:N, 0:M]"))


@construct("library", "nodes without an expansion to a graph", refusal="the library node `f` of type Send")
def _():
    from dace.libraries.comm import Send

    graph = Graph().use("x", "z")
    state, node = graph.state(), Send("f")
    state.add_node(node)
    state.add_edge(state.add_read("x"), None, node, "_buffer", Memlet("x[0:N]"))
    return graph
