"""Blocks that leave a trip, a loop or a graph, in graphs."""

import dace
import numpy as np
from dace import Memlet
from dace.sdfg.state import (
    BreakBlock,
    ConditionalBlock,
    ContinueBlock,
    ControlFlowRegion,
    FunctionCallRegion,
    LoopRegion,
    ReturnBlock,
)

from tests.sdfg.foreign.constructs import Graph, construct

KINDS = {"break": BreakBlock, "continue": ContinueBlock, "return": ReturnBlock}


class Jumping(Graph):
    """A graph of regions: `add` puts a block after the last one of a region, made of what is in there."""

    def add(self, block, region=None, assignments=None):
        region = self.sdfg if region is None else region
        before = region.sink_nodes()
        region.add_node(block, is_start_block=not before, ensure_unique_name=True)
        for one in before:
            region.add_edge(one, block, dace.InterstateEdge(assignments=assignments or {}))
        return block

    def jump(self, kind, region, assignments=None):
        return self.add(KINDS[kind](kind), region, assignments)

    def when(self, region, *conditions):
        """The sides of a choice: one for each condition, which may be None."""
        choice, sides = self.add(ConditionalBlock("choice"), region), []
        for condition in conditions:
            code = None if condition is None else dace.properties.CodeBlock(condition)
            sides.append(ControlFlowRegion("side", sdfg=self.sdfg))
            choice.add_branch(code, sides[-1])
        return sides

    def during(self, region, condition, start="k = 0", step="k = k + 1", var="k", **options):
        """A loop in a region."""
        if var and var not in self.sdfg.symbols:
            self.sdfg.add_symbol(var, dace.int64)
        return self.add(LoopRegion("loop", condition, var, start, step, **options), region)

    def set(self, region, code, output, **inputs):
        """A state with one tasklet."""
        return self.tasklet(code, output, self.state(region), **inputs)


def until_large(x):
    z = np.zeros(6)
    for k in range(6):
        if x[k] < 0.8:
            break
        z[k] = x[k] * x[k]
    return z


@construct("control flow", "`break` in a counted loop", until_large)
def _():
    graph = Jumping().use("x", "z").clear()
    loop = graph.during(None, "k < N")
    graph.jump("break", *graph.when(loop, "x[k] < 0.8"))
    return graph.set(loop, "o = a * a", "z[k]", a="x[k]")


def of_small(x):
    z = np.zeros(6)
    for k in range(5, 0, -2):
        if x[k] > 1.2:
            z[k] = 2.0 * x[k]
            continue
        elif x[k] < 0.8:
            z[k] = 3.0 * x[k]
        z[k] += x[k] * x[k - 1]
    return z


@construct("control flow", "`continue`, in one of several sides", of_small)
def _():
    graph = Jumping().use("x", "z").clear()
    loop = graph.during(None, "k > 0", "k = N - 1", "k = k - 2")
    large, small = graph.when(loop, "x[k] > 1.2", "x[k] < 0.8")
    graph.set(large, "o = 2 * a", "z[k]", a="x[k]").jump("continue", large)
    graph.set(small, "o = 3 * a", "z[k]", a="x[k]")
    return graph.set(loop, "o = a * b + c", "z[k]", a="x[k]", b="x[k - 1]", c="z[k]")


def halved_until(x):
    z = x * x
    s = np.sum(z)
    k = 0
    while s > 0.1:
        s = 0.5 * s
        k = k + 1
        if k == 3:
            break
        z[0] = z[0] * s
    return z * s


@construct("control flow", "`break` in a `while` loop", halved_until)
def _():
    graph = Jumping(s=(1,)).use("x", "z").use("s", transient=True)
    graph.sdfg.add_symbol("k", dace.int64)
    graph.map({"i": "0:N"}, "o = a * a", "z[i]", a="x[i]").tasklet("o = 0.0", "s[0]")
    graph.map({"i": "0:N"}, "o = a", "s[0]", a="z[i]", wcr="lambda a, b: a + b")
    loop = graph.add(LoopRegion("loop", "s[0] > 0.1"), assignments={"k": "0"})
    graph.set(loop, "o = 0.5 * a", "s[0]", a="s[0]")
    after = graph.add(ControlFlowRegion("after", sdfg=graph.sdfg), loop, {"k": "k + 1"})
    graph.state(after)
    graph.jump("break", *graph.when(after, "k == 3"))
    graph.set(loop, "o = a * b", "z[0]", a="z[0]", b="s[0]")
    return graph.map({"i": "0:N"}, "o = a * b", "z[i]", a="z[i]", b="s[0]")


def returned_early(x):
    z = 2.0 * x
    for i in range(6):
        for j in range(i):
            if x[i] * x[j] > 1.4:
                z[i] = x[j] * x[j]
                return 1.0 * z
            z[j] = z[j] + x[i]
        z[i] = z[i] * x[i]
    z[0] = x[1] * x[2]
    return 1.0 * z


@construct("control flow", "`return` out of nested loops", returned_early)
def _():
    graph = Jumping().use("x", "z").map({"i": "0:N"}, "o = 2 * a", "z[i]", a="x[i]")
    outer = graph.during(None, "i < N", "i = 0", "i = i + 1", "i")
    inner = graph.during(outer, "j < i", "j = 0", "j = j + 1", "j")
    (found,) = graph.when(inner, "x[i] * x[j] > 1.4")
    graph.set(found, "o = a * a", "z[i]", a="x[j]").jump("return", found)
    graph.set(inner, "o = a + b", "z[j]", a="z[j]", b="x[i]")
    graph.set(outer, "o = a * b", "z[i]", a="z[i]", b="x[i]")
    return graph.set(None, "o = a * b", "z[0]", a="x[1]", b="x[2]")


def first_above(x):
    z = np.zeros(6)
    for i in range(6):
        for k in range(i, 6):
            if x[k] > x[i]:
                z[i] = x[k] * x[i]
                break
    return z


@construct("control flow", "`return` in nested SDFGs, which ends these", first_above)
def _():
    graph = Jumping().use("x", "z").clear()
    inner = Jumping().use("x", "z")
    inner.sdfg.add_symbol("i", dace.int64)
    loop = inner.during(None, "k < N", "k = i")
    (found,) = inner.when(loop, "x[k] > x[i]")
    inner.set(found, "o = a * b", "z[i]", a="x[k]", b="x[i]").jump("return", found)
    state = graph.state()
    entry, end = state.add_map("m", {"i": "0:N"})
    nested = state.add_nested_sdfg(inner.sdfg, {"x": None}, {"z": None}, {"i": "i", "N": "N"})
    state.add_memlet_path(state.add_read("x"), entry, nested, dst_conn="x", memlet=Memlet("x[0:N]"))
    state.add_memlet_path(nested, end, state.add_write("z"), src_conn="z", memlet=Memlet("z[0:N]"))
    return graph


def last_place(x):
    z = np.zeros(6)
    for k in range(1, 6, 2):
        if x[k] < 0.9:
            break
    else:
        k = k + 2
    z[0] = x[k - 1] * x[k - 2]
    return z


@construct("control flow", "counters after a loop that is left", last_place)
def _():
    graph = Jumping().use("x", "z").clear()
    loop = graph.during(None, "k < N", "k = 1", "k = k + 2")
    graph.jump("break", *graph.when(loop, "x[k] < 0.9"))
    return graph.set(None, "o = a * b", "z[0]", a="x[k - 1]", b="x[k - 2]")


@construct("control flow", "jumps that have nothing to leave", refusal="`break` of type BreakBlock has no loop")
def _():
    graph = Jumping().use("x", "z").clear()
    graph.jump("break", *graph.when(None, "x[0] > 0"))
    return graph


@construct("control flow", "`return` from regions of called functions", refusal="`return` of type ReturnBlock")
def _():
    graph = Jumping().use("x", "z").clear()
    graph.jump("return", graph.add(FunctionCallRegion("called")))
    return graph


@construct("control flow", "`continue` before a condition at the end", refusal="continues: DaCe's code skips its step")
def _():
    graph = Jumping().use("x", "z").clear()
    loop = graph.during(None, "k < N", inverted=True)
    graph.jump("continue", *graph.when(loop, "x[k] > 1"))
    return graph.set(loop, "o = a", "z[k]", a="x[k]")
