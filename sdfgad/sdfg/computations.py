"""Conversion of computations to dataflow: each becomes a tasklet in a map, with memlets for its reads and its write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import dace
from dace import subsets

from sdfgad.ir.expr import Const, Expr, Lin, Read
from sdfgad.ir.names import Names
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Access, Branch, Buffer, Call, Compute, Loop, Statement
from sdfgad.schedule.products import product_of
from sdfgad.sdfg.descriptors import box, connector_type, debug_info, inside, is_affine, point, symbolic_form, whole
from sdfgad.sdfg.library import BEFORE, LibraryCall, Product
from sdfgad.sdfg.marks import mark_clear, schedule
from sdfgad.sdfg.tasklet import RESULT, TaskletWriter, conversion

WCR = {
    "add": "lambda a, b: a + b",
    "maximum": "lambda a, b: sdfgad_maximum(a, b)",
    "minimum": "lambda a, b: sdfgad_minimum(a, b)",
}
Extents = Sequence[tuple[str, Lin]]


def label(statement: Statement) -> str:
    if isinstance(statement, Loop):
        return f"loop_{statement.var}"
    if isinstance(statement, Branch):
        return "branch"
    return statement.target.buffer if isinstance(statement, Compute) else statement.name


class Computations:
    """Adds a state for each computation.

    Args:
        buffers: those of the program, by name.
    """

    def __init__(self, buffers: Mapping[str, Buffer]) -> None:
        self.buffers = buffers
        self.names = Names()

    def compute(self, statement: Compute, extents: Extents, place: Any) -> None:
        """A map around a tasklet; a sum that clears its target is two, and a product is a library node."""
        product = product_of(statement, self.buffers)
        if product is not None:
            return self.product(replace(statement, params=tuple(extents)), place)
        if statement.fresh:
            clear = self.state(statement, place)
            mark_clear(self.over_box(cleared(statement), [e for e in extents if e[0] in own(statement)], clear))
        self.over_box(replace(statement, fresh=False), extents, self.state(statement, place))
        return None

    def over_box(self, statement: Compute, extents: Extents, state: Any) -> Any:
        """Adds a tasklet, in a map if it has a box of points."""
        tasklet, reads, writes = self.tasklet(statement, state, state.sdfg)
        if not extents:
            sources = {name: state.add_access(name) for name in dict.fromkeys(memlet.data for _, memlet in reads)}
            for connector, memlet in reads:
                state.add_edge(sources[memlet.data], None, tasklet, connector, memlet)
            state.add_edge(tasklet, RESULT, state.add_access(writes.data), None, writes)
            return tasklet
        ranges = {name: subsets.Range([(0, symbolic_form(e) - 1, 1)]) for name, e in extents}
        entry, exit_ = state.add_map(f"m_{label(statement)}", ranges, schedule=schedule)
        entry.map.debuginfo = tasklet.debuginfo
        self.enter(state, entry, tasklet, reads, state.sdfg)
        self.leave(state, exit_, tasklet, [(RESULT, writes)], state.sdfg)
        return tasklet

    def scalar(self, buffer: Buffer, value: Expr, place: Any) -> None:
        """Assigns a value to a scalar that only the graph has, not the program."""
        known = Computations({**self.buffers, buffer.name: buffer})
        known.names = self.names
        known.compute(Compute((), Access(buffer.name), value), (), place)

    def state(self, statement: Compute | Call, place: Any) -> Any:
        return place.follow(place.region.add_state(self.names.fresh(f"s_{label(statement)}")))

    def tasklet(self, statement: Compute, state: Any, sdfg: Any) -> tuple[Any, list[tuple[str, Any]], Any]:
        """The tasklet for one point, its input connectors with their memlets, and the memlet that it writes."""
        reader = Connectors(self.buffers, sdfg)
        writer = TaskletWriter(reader)
        lines = writer.value(statement.value)
        is_point = is_affine(statement.target.index) or self.buffers[statement.target.buffer].is_single
        target = RESULT
        if not is_point:
            target = f"{RESULT}[{', '.join(map(writer.form, statement.target.index))}]"
        code = "\n".join([*writer.lines, f"{target} = {lines}"])
        info = debug_info(statement.where)
        inputs = reader.types()
        output = {RESULT: connector_type(sdfg.arrays[statement.target.buffer], is_point)}
        tasklet = state.add_tasklet(f"t_{label(statement)}", inputs, output, code)
        # DaCe drops the debug info passed to `add_tasklet` if it does not look for lines itself.
        tasklet.debuginfo = info
        written = point(element(statement.target, self.buffers)) if is_point else whole(sdfg, statement.target.buffer)
        if not is_point:
            written.volume, written.dynamic = 1, False
        if statement.accumulate is not None:
            written.wcr = WCR[statement.accumulate]
        return tasklet, list(reader.found.values()), written

    def product(self, statement: Compute, place: Any) -> None:
        state = self.state(statement, place)
        reader = Connectors(self.buffers, place.sdfg, statement.params)
        writer = TaskletWriter(reader)
        value = writer.value(statement.value)
        target = box(statement.target, statement.params, place.sdfg)
        index = ", ".join(map(writer.form, inside(statement.target, statement.params)))
        code = "\n".join([*writer.lines, f"{RESULT}[{index}] = {value}"])
        ranges = subsets.Range([(0, symbolic_form(e) - 1, 1) for _, e in statement.params])
        inputs = {name: None for name, _ in reader.found.values()}
        node = Product(f"p_{label(statement)}", inputs, {RESULT: None}, [n for n, _ in statement.params], ranges, code)
        node.fresh, node.schedule, node.debuginfo = statement.fresh, schedule, debug_info(statement.where)
        state.add_node(node)
        for connector, memlet in reader.found.values():
            state.add_edge(state.add_access(memlet.data), None, node, connector, memlet)
        if not statement.fresh:
            state.add_edge(
                state.add_access(target.data),
                None,
                node,
                BEFORE,
                box(statement.target, statement.params, place.sdfg),
            )
            node.add_in_connector(BEFORE)
        state.add_edge(node, RESULT, state.add_access(target.data), None, target)

    def call(self, call: Call, place: Any) -> None:
        state = self.state(call, place)
        inputs, outputs = [f"_in{k}" for k in range(len(call.inputs))], [f"_out{k}" for k in range(len(call.outputs))]
        node = LibraryCall(f"c_{call.name}", dict.fromkeys(inputs), dict.fromkeys(outputs), call.name, list(call.sizes))
        node.schedule, node.debuginfo = schedule, debug_info(call.where)
        state.add_node(node)
        for entry, connector in zip(call.inputs, inputs, strict=True):
            state.add_edge(state.add_access(entry.buffer), None, node, connector, whole(place.sdfg, entry.buffer))
        for entry, connector in zip(call.outputs, outputs, strict=True):
            state.add_edge(node, connector, state.add_access(entry.buffer), None, whole(place.sdfg, entry.buffer))

    # --- nested SDFGs

    def beside(self, state: Any, node: Any, names: tuple[list[str], list[str]]) -> None:
        """Connects a nested SDFG with the arrays that it reads and writes."""
        for name in names[0]:
            state.add_edge(state.add_access(name), None, node, name, whole(state.sdfg, name))
        for name in names[1]:
            state.add_edge(node, name, state.add_access(name), None, whole(state.sdfg, name))

    def around(
        self, state: Any, node: Any, names: tuple[list[str], list[str]], counters: list[tuple[str, Lin, Lin]]
    ) -> None:
        """The same for a nested SDFG in a map over counters, each with its first value and the one after its last."""
        ranges = {v: subsets.Range([(symbolic_form(a), symbolic_form(b) - 1, 1)]) for v, a, b in counters}
        entry, exit_ = state.add_map(f"m_{counters[0][0]}", ranges, schedule=schedule)
        self.enter(state, entry, node, [(name, whole(state.sdfg, name)) for name in names[0]], state.sdfg)
        self.leave(state, exit_, node, [(name, whole(state.sdfg, name)) for name in names[1]], state.sdfg)

    def enter(self, state: Any, entry: Any, node: Any, reads: list[tuple[str, Any]], sdfg: Any) -> None:
        """Edges through a map's entry, with memlets of whole arrays outside: DaCe need not propagate memlets."""
        for connector, memlet in reads:
            if f"IN_{memlet.data}" not in entry.in_connectors:
                entry.add_in_connector(f"IN_{memlet.data}")
                entry.add_out_connector(f"OUT_{memlet.data}")
                state.add_edge(
                    state.add_access(memlet.data), None, entry, f"IN_{memlet.data}", whole(sdfg, memlet.data)
                )
            state.add_edge(entry, f"OUT_{memlet.data}", node, connector, memlet)
        if not reads:
            state.add_nedge(entry, node, dace.Memlet())

    def leave(self, state: Any, exit_: Any, node: Any, writes: list[tuple[str, Any]], sdfg: Any) -> None:
        for connector, memlet in writes:
            exit_.add_in_connector(f"IN_{memlet.data}")
            exit_.add_out_connector(f"OUT_{memlet.data}")
            state.add_edge(node, connector, exit_, f"IN_{memlet.data}", memlet)
            outer = whole(sdfg, memlet.data)
            outer.wcr = memlet.wcr
            state.add_edge(exit_, f"OUT_{memlet.data}", state.add_access(memlet.data), None, outer)


class Connectors:
    """A connector, with its memlet, for each element that a tasklet reads.

    If the element's place depends on data, the memlet is of the whole array; if it depends on the box `params`, of the
    box of all the elements.

    Args:
        params: the box, if one node stands for all its points.
    """

    def __init__(
        self, buffers: Mapping[str, Buffer], sdfg: Any, params: tuple[tuple[str, Lin], ...] | None = None
    ) -> None:
        self.buffers, self.sdfg, self.params = buffers, sdfg, params
        self.found: dict[Any, tuple[str, Any]] = {}

    def __call__(self, read: Read, index: list[str]) -> str:
        """The text of a read; passes may have left out a conversion that C++ does by itself next to other integers."""
        text, dtype = self.read(read, index), self.buffers[read.buffer].dtype
        return text if read.dtype == dtype else conversion(text, read.dtype)

    def read(self, read: Read, index: list[str]) -> str:
        access = element(Access(read.buffer, read.index), self.buffers)
        names = {name for name, _ in self.params or ()}
        if is_affine(access.index) and all(names.isdisjoint(form.symbols) for form in access.index):
            return self.connector((access, True), point(access))
        if self.params is not None:
            forms = zip(inside(access, self.params), index, strict=True)
            texts = [str(form) if is_affine((form,)) else text for form, text in forms]
            return f"{self.connector((access, False), box(access, self.params, self.sdfg))}[{', '.join(texts)}]"
        memlet = whole(self.sdfg, read.buffer)
        memlet.volume, memlet.dynamic = 1, False
        return f"{self.connector((read.buffer, False), memlet)}[{', '.join(index)}]"

    def types(self) -> dict[str, Any]:
        """The type of each connector: that of an element, or of a pointer to the first element."""
        return {
            name: connector_type(self.sdfg.arrays[memlet.data], is_element)
            for (_, is_element), (name, memlet) in self.found.items()
        }

    def connector(self, key: tuple[Any, bool], memlet: Any) -> str:
        if key not in self.found:
            self.found[key] = (f"_{memlet.data.strip('_')}_{len(self.found)}", memlet)
        return self.found[key][0]


def element(access: Access, buffers: Mapping[str, Buffer]) -> Access:
    """The element as the SDFG indexes it: a buffer with one element has index 0."""
    if not buffers[access.buffer].is_single:
        return access
    return Access(access.buffer, tuple(Lin(0) for _ in buffers[access.buffer].shape))


def own(statement: Compute) -> set[str]:
    """The parameters that index the target."""
    return {name for name, _ in statement.params if any(name in form.symbols for form in statement.target.index)}


def cleared(statement: Compute) -> Compute:
    """The statement that clears the target of an accumulation."""
    value = Const(OPERATIONS[statement.accumulate or "add"].identity, statement.value.dtype)
    params = tuple(item for item in statement.params if item[0] in own(statement))
    return replace(statement, params=params, value=value, accumulate=None, fresh=False)
