"""Code of one thread (CUDA C++): what it does at a point, in the dialect of ``include/kernel.h`` and ``emulated.h``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sdfgad.dependence.private import begins_with_write
from sdfgad.ir.expr import Lin, Read
from sdfgad.ir.ops import identity
from sdfgad.ir.program import Access, Block, Branch, Buffer, Compute, Loop, reads_of, written
from sdfgad.schedule.device_sums import Sum
from sdfgad.schedule.kernels import PointLoop
from sdfgad.schedule.stores import is_sometimes
from sdfgad.targets.cpu.cpp import COMBINE, Writer, cpp_type, literal
from sdfgad.targets.cpu.points import offset_text
from sdfgad.targets.gpu.guarded import GuardedWriter, predicated

# Counters of fewer points than that are 32-bit numbers, whose quotients are several times as fast.
NARROW = 1 << 31


@dataclass
class ThreadWriter:
    """Writes what a thread does.

    Attributes:
        values: what the host reads and passes by value -> its name.
        local: numbers that are variables of the thread.
        shared: arrays that threads combine their values with by atomic operations.
    """

    buffers: Mapping[str, Buffer]
    values: dict[Read, str] = field(default_factory=dict, init=False)
    local: frozenset[str] = field(default=frozenset(), init=False)
    shared: frozenset[str] = field(default=frozenset(), init=False)

    # --- statements at a point

    def at_point(self, loop: PointLoop, private: frozenset[str], skip: str) -> list[str]:
        """What is done at a point, whose counters are known; `skip` leaves a point that is none."""
        outside = self.local, self.shared
        self.local, self.shared = self.local | private, self.shared | loop.shared
        lines = [f"{cpp_type(self.buffers[name].dtype)} n_{name}_;" for name in sorted(private)]
        lines += [f"if ({name} >= {self.writer().form(extent)}) {skip};" for name, extent in loop.guards]
        lines += self.in_order(loop.body)
        self.local, self.shared = outside
        return lines

    def in_order(self, block: Block) -> list[str]:
        """Statements of one thread."""
        lines = list[str]()
        for one in block:
            assert isinstance(one, Compute | Loop | Branch)
            if isinstance(one, Loop):
                part = self.trips(one)
            elif isinstance(one, Branch):
                part = self.either(one)
            else:
                part = self.run(one) if Sum(one).own else self.point(one, Sum(one))
            lines += ["{", *part, "}"]
        return lines

    def trips(self, loop: Loop) -> list[str]:
        return [*head(loop, self.writer()), *self.in_order(loop.body), "}"]

    def either(self, branch: Branch) -> list[str]:
        writer = self.writer()
        condition = writer.value(branch.condition)
        then, otherwise = self.in_order(branch.then), self.in_order(branch.orelse)
        return [*writer.lines, f"if ({condition}) {{", *then, "} else {", *otherwise, "}"]

    def serial(self, statements: Sequence[Compute]) -> list[str]:
        """Statements in order; numbers on the device are variables in between."""
        lines, last, outside = list[str](), list[str](), self.local
        touched, changed = frozenset[str]().union(*(s.touched for s in statements)), written(tuple(statements))
        own = touched - self.shared
        numbers = {n for n in own if self.buffers[n].is_single and self.buffers[n].is_on_device}
        self.local = outside | numbers
        for name in sorted(numbers):
            type_ = cpp_type(self.buffers[name].dtype)
            is_new = begins_with_write(tuple(statements), name)
            lines.append(f"{type_} n_{name}_" + ("{};" if is_new else f" = sdfgad::peek(b_{name}_, 0);"))
            last += [f"sdfgad::store<{type_}>(b_{name}_, 0, n_{name}_);"] if name in changed else []
        for statement in statements:
            lines += ["{", *self.run(statement), "}"]
        self.local = outside
        return [*lines, *last]

    def point(self, statement: Compute, box: Sum) -> list[str]:
        """The lines for one element of the target."""
        if not box.summed:
            return self.element(statement)
        writer, bounds = self.writer(), self.writer()
        value = writer.value(statement.value)
        type_ = self.type(statement)
        heads = [f"for (int64_t {n} = 0; {n} < {bounds.form(box.extents[n])}; ++{n}) {{" for n in box.summed]
        step = f"total_ = {COMBINE[statement.accumulate].format('total_', value)};"
        first = f"{type_} total_ = {self.identity(statement)};"
        loop = [*heads[:-1], "SDFGAD_UNROLL", heads[-1], *writer.lines, step, *["}"] * len(heads)]
        return [*bounds.lines, first, *loop, *self.stored(statement, "total_")]

    def element(self, statement: Compute) -> list[str]:
        if self.is_move(statement):
            return self.moved(statement)
        dtype, writer = self.buffers[statement.target.buffer].dtype, self.writer()
        if is_sometimes(statement, dtype):
            return predicated(statement, dtype, writer, self.element)
        value = writer.value(statement.value)
        return [*writer.lines, *self.stored(statement, value)]

    def is_move(self, statement: Compute) -> bool:
        """Whether a statement only copies, maybe what nothing has assigned yet, as the first trip of a loop does."""
        value = statement.value
        if statement.accumulate is not None or not isinstance(value, Read):
            return False
        return (
            self.buffers[value.buffer].is_on_device
            and value.buffer not in self.local
            and value.dtype == self.buffers[value.buffer].dtype
        )

    def moved(self, statement: Compute) -> list[str]:
        writer, value = self.writer(), statement.value
        assert isinstance(value, Read)
        of = f"b_{value.buffer}_, {self.offset(Access(value.buffer, value.index), writer)}"
        if statement.target.buffer in self.local:
            return [*writer.lines, f"n_{statement.target.buffer}_ = sdfgad::peek({of});"]
        to = f"b_{statement.target.buffer}_, {self.offset(statement.target, writer)}"
        return ["{", *writer.lines, f"sdfgad::move({to}, {of});", "}"]

    def stored(self, statement: Compute, value: str) -> list[str]:
        """The lines that assign a value to the target, or accumulate it there."""
        writer, name = self.writer(), statement.target.buffer
        if name in self.local:
            value = value if statement.assigns else COMBINE[statement.accumulate].format(f"n_{name}_", value)
            return [f"n_{name}_ = {value};"]
        offset = self.offset(statement.target, writer)
        if name in self.shared:
            call = f"sdfgad::atomic_{statement.accumulate}(b_{name}_, {offset}, {self.type(statement)}({value}));"
            return ["{", *writer.lines, call, "}"]
        if not statement.assigns:
            value = COMBINE[statement.accumulate].format(f"sdfgad::load(b_{name}_, {offset})", value)
        return ["{", *writer.lines, f"sdfgad::store<{self.type(statement)}>(b_{name}_, {offset}, {value});", "}"]

    def run(self, statement: Compute) -> list[str]:
        """A statement in order, in loops over its points."""
        bounds = self.writer()
        heads = [f"for (int64_t {n} = 0; {n} < {bounds.form(e)}; ++{n}) {{" for n, e in statement.params]
        return [*bounds.lines, *heads, *self.element(statement), *["}"] * len(heads)]

    def identity(self, statement: Compute) -> str:
        """The first value of a total: the neutral element."""
        dtype = self.buffers[statement.target.buffer].dtype
        return literal(identity(statement.accumulate or "add", dtype), dtype)

    # --- elements

    def writer(self) -> Writer:
        writer = GuardedWriter(lambda node: self.read(node, writer), self.writer)
        return writer

    def read(self, node: Read, writer: Writer) -> str:
        if not self.buffers[node.buffer].is_on_device and node.buffer not in self.local:
            return self.values.setdefault(node, f"h{len(self.values)}_")
        if node.buffer in self.local:
            return f"n_{node.buffer}_"
        return f"sdfgad::load(b_{node.buffer}_, {self.offset(Access(node.buffer, node.index), writer)})"

    def offset(self, access: Access, writer: Writer) -> str:
        buffer = self.buffers[access.buffer]
        return "0" if buffer.is_single else offset_text(access.index, buffer.shape, writer)

    def type(self, statement: Compute) -> str:
        return cpp_type(self.buffers[statement.target.buffer].dtype)


def head(loop: Loop, writer: Writer) -> list[str]:
    """The head of a loop, whose bounds are computed once, unless it is open."""
    start, end = writer.form(loop.start), writer.form(loop.start + loop.trips)
    lines = list(writer.lines)
    if reads_of(loop) and not loop.is_open:
        # The body may change what they are read from.
        lines.append(f"const int64_t start_ = {start}, end_ = {end};")
        start, end = "start_", "end_"
    if loop.backward:
        return [*lines, f"for (int64_t {loop.var} = {end} - 1; {loop.var} >= {start}; --{loop.var}) {{"]
    return [*lines, f"for (int64_t {loop.var} = {start}; {loop.var} < {end}; ++{loop.var}) {{"]


def product_text(writer: Writer, extents: Iterable[Lin]) -> str:
    """The number of points of a box, as text."""
    extents = list(extents)
    if all(e.is_const for e in extents):
        return f"int64_t({math.prod(max(e.const, 0) for e in extents)})"
    return " * ".join(f"sdfgad::extent({writer.form(e)})" for e in extents)


def decoded(names: tuple[str, ...], extents: Mapping[str, Lin], number: str, writer: Writer) -> list[str]:
    known = [extents[name] for name in names]
    is_narrow = all(e.is_const for e in known) and math.prod(e.const for e in known) < NARROW
    type_ = "uint32_t" if is_narrow else "int64_t"
    lines = [f"{type_} rest_ = {type_}({number});"] if names else []
    for name in reversed(names[1:]):
        extent = f"{type_}({writer.form(extents[name])})"
        lines += [f"const int64_t {name} = rest_ % {extent};", f"rest_ /= {extent};"]
    return [*lines, *([f"const int64_t {names[0]} = rest_;"] if names else [])]
