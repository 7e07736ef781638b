"""Kernels (CUDA C++): the text of one launch, in the dialect of ``include/kernel.h`` and ``include/emulated.h``.

A kernel of points has a thread for each point; statements of one launch are independent of each other, and a thread
finds by its number to which one its point belongs. A kernel of sums has a block for each element. A serial kernel is
one thread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sdfgad.dependence.private import begins_with_write
from sdfgad.ir.expr import Lin, Read, symbols_in
from sdfgad.ir.ops import identity
from sdfgad.ir.program import Access, Buffer, Compute, Statement, written
from sdfgad.schedule.kernels import BLOCK, Form, PointLoop, Sum, points_of, private_of
from sdfgad.schedule.loop_facts import free_symbols
from sdfgad.targets.cpu.cpp import COMBINE, Writer, cpp_type, literal
from sdfgad.targets.cpu.points import offset_text
from sdfgad.targets.gpu.guarded import GuardedWriter, keeps

# Counters of fewer points than that are 32-bit numbers, whose quotients are several times as fast.
NARROW = 1 << 31


@dataclass(frozen=True)
class Kernel:
    """One kernel and its launch.

    Attributes:
        code: the text of the kernel.
        buffers: the buffers in the memory of the device that it is passed, in order.
        values: what the host reads and passes by value, in order.
        integers: the integers that it is passed, in order.
        boxes: the extents of the boxes, whose points are threads; for sums, blocks.
        threads: those of a block.
        has_barriers: whether the threads of a block wait for each other.
    """

    name: str
    code: str
    buffers: tuple[str, ...]
    values: tuple[Read, ...]
    integers: tuple[str, ...]
    boxes: tuple[tuple[Lin, ...], ...]
    threads: int = BLOCK
    has_barriers: bool = False


def kernel_of(name: str, form: Form, statements: Sequence[Statement], buffers: Mapping[str, Buffer]) -> Kernel:
    """The kernel of statements: of independent boxes of points, of one sum, or of a sequence for one thread."""
    return _KernelWriter(name, statements, buffers).kernel(form)


@dataclass
class _KernelWriter:
    name: str
    statements: Sequence[Statement]
    buffers: Mapping[str, Buffer]
    values: dict[Read, str] = field(default_factory=dict, init=False)
    local: set[str] = field(default_factory=set, init=False)

    def kernel(self, form: Form) -> Kernel:
        boxes: tuple[tuple[Lin, ...], ...]
        if form is Form.SERIAL:
            lines, boxes, threads = self.serial(), ((),), 1
        elif form is Form.BLOCK:
            (statement,) = self.statements
            assert isinstance(statement, Compute)
            box = Sum(statement)
            lines, boxes, threads = self.total(statement, box), (_extents(box),), threads_of(box)
        else:
            loops = [points_of(s, private_of(s, self.buffers)) for s in self.statements]
            lines = self.points(loops)
            boxes, threads = tuple(tuple(extent for _, extent in loop.own) for loop in loops), BLOCK
        touched = sorted(frozenset[str]().union(*(s.mentioned for s in self.statements)))
        passed = tuple(name for name in touched if self.buffers[name].is_on_device)
        integers = tuple(sorted(self._integers(touched)))
        code = self._function(passed, integers, lines)
        has_barriers = form is Form.BLOCK
        return Kernel(self.name, code, passed, tuple(self.values), integers, boxes, threads, has_barriers)

    def _integers(self, touched: Iterable[str]) -> set[str]:
        return free_symbols(tuple(self.statements)) | symbols_in(
            e for name in touched for e in self.buffers[name].shape
        )

    def _function(self, passed: tuple[str, ...], integers: tuple[str, ...], lines: list[str]) -> str:
        changed = written(tuple(self.statements))
        parameters = [self._pointer(name, name in changed) for name in passed]
        parameters += [f"const {cpp_type(read.dtype)} {name}" for read, name in self.values.items()]
        parameters += [f"const int64_t {name}" for name in integers]
        body = "\n".join(f"    {line}" for line in lines)
        return f"SDFGAD_KERNEL void {self.name}({', '.join(parameters)}) {{\n{body}\n}}\n"

    def _pointer(self, name: str, is_changed: bool) -> str:
        return f"SDFGAD_{'OUT' if is_changed else 'IN'}({cpp_type(self.buffers[name].dtype)}) b_{name}_"

    # --- points

    def points(self, loops: Sequence[PointLoop]) -> list[str]:
        """A branch for each box of points."""
        lines = ["int64_t point_ = sdfgad::point();"]
        for statement, loop in zip(self.statements, loops, strict=True):
            writer, extents = self.writer(), dict(loop.own)
            size = product_text(writer, extents.values())
            self.local = set(private_of(statement, self.buffers))
            body = _decoded(tuple(extents), extents, "point_", writer)
            body += [f"{cpp_type(self.buffers[name].dtype)} n_{name}_;" for name in sorted(self.local)]
            body += [f"if ({name} >= {writer.form(extent)}) return;" for name, extent in loop.guards]
            for one in loop.body:
                body += ["{", *(self.run(one) if Sum(one).own else self.point(one, Sum(one))), "}"]
            lines += [*writer.lines, f"if (point_ < {size}) {{", *body, "return;", "}", f"point_ -= {size};"]
        return lines[:-1]

    def point(self, statement: Compute, box: Sum) -> list[str]:
        """The lines for one element of the target."""
        if not box.summed:
            return self.element(statement)
        writer, bounds = self.writer(), self.writer()
        value = writer.value(statement.value)
        type_ = self._type(statement)
        heads = [f"for (int64_t {n} = 0; {n} < {bounds.form(box.extents[n])}; ++{n}) {{" for n in box.summed]
        step = f"total_ = {COMBINE[statement.accumulate].format('total_', value)};"
        first = f"{type_} total_ = {self.identity(statement)};"
        loop = [*heads[:-1], "SDFGAD_UNROLL", heads[-1], *writer.lines, step, *["}"] * len(heads)]
        return [*bounds.lines, first, *loop, *self.stored(statement, "total_")]

    def element(self, statement: Compute) -> list[str]:
        if self.is_move(statement):
            return self.moved(statement)
        own = statement.target.read(self.buffers[statement.target.buffer].dtype)
        if statement.accumulate is None and keeps(statement.value, own):
            return self.chosen(statement, own)
        writer = self.writer()
        value = writer.value(statement.value)
        return [*writer.lines, *self.stored(statement, value)]

    def chosen(self, statement: Compute, own: Read) -> list[str]:
        """Predicated stores: what a side leaves as it is may be what nothing has assigned yet."""
        condition, *sides = statement.value.children
        writer = self.writer()
        test = writer.value(condition)
        first, second = ([] if side == own else self.element(replace(statement, value=side)) for side in sides)
        return ["{", *writer.lines, f"if ({test}) {{", *first, "} else {", *second, "}", "}"]

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
        if not statement.assigns:
            value = COMBINE[statement.accumulate].format(f"sdfgad::load(b_{name}_, {offset})", value)
        return ["{", *writer.lines, f"sdfgad::store<{self._type(statement)}>(b_{name}_, {offset}, {value});", "}"]

    # --- sums

    def total(self, statement: Compute, box: Sum) -> list[str]:
        """A block for each element: each thread adds up every n-th term, and a tree adds these up."""
        writer, bounds, type_ = self.writer(), self.writer(), self._type(statement)
        value = writer.value(statement.value)
        combine = COMBINE[statement.accumulate].format("a", "b")
        terms = product_text(bounds, [box.extents[n] for n in box.summed])
        counters = _decoded(box.summed, box.extents, "term_", bounds)
        own = _counters(box, bounds)
        return [
            "const int64_t point_ = sdfgad::block();",
            *bounds.lines,
            *own,
            f"{type_} total_ = {self.identity(statement)};",
            "SDFGAD_UNROLL",
            f"for (int64_t term_ = sdfgad::lane(); term_ < {terms}; term_ += {threads_of(box)}) {{",
            *counters,
            *writer.lines,
            f"total_ = {COMBINE[statement.accumulate].format('total_', value)};",
            "}",
            f"const auto combine_ = []({type_} a, {type_} b) {{ return {combine}; }};",
            f"total_ = sdfgad::block_total<{threads_of(box)}>(total_, combine_);",
            "if (sdfgad::lane() == 0) {",
            *self.stored(statement, "total_"),
            "}",
        ]

    def identity(self, statement: Compute) -> str:
        """The first value of a total: the neutral element."""
        dtype = self.buffers[statement.target.buffer].dtype
        return literal(identity(statement.accumulate or "add", dtype), dtype)

    # --- one thread

    def serial(self) -> list[str]:
        """The statements in order; numbers on the device are variables in between."""
        lines, last = list[str](), list[str]()
        statements = tuple(s for s in self.statements if isinstance(s, Compute))
        touched, changed = frozenset[str]().union(*(s.touched for s in statements)), written(statements)
        self.local = {n for n in touched if self.buffers[n].is_single and self.buffers[n].is_on_device}
        for name in sorted(self.local):
            type_ = cpp_type(self.buffers[name].dtype)
            is_new = begins_with_write(statements, name)
            lines.append(f"{type_} n_{name}_" + ("{};" if is_new else f" = sdfgad::peek(b_{name}_, 0);"))
            last += [f"sdfgad::store<{type_}>(b_{name}_, 0, n_{name}_);"] if name in changed else []
        for statement in statements:
            lines += ["{", *self.run(statement), "}"]
        return [*lines, *last]

    def run(self, statement: Compute) -> list[str]:
        """A statement in order, in loops over its points."""
        bounds = self.writer()
        heads = [f"for (int64_t {n} = 0; {n} < {bounds.form(e)}; ++{n}) {{" for n, e in statement.params]
        return [*bounds.lines, *heads, *self.element(statement), *["}"] * len(heads)]

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

    def _type(self, statement: Compute) -> str:
        return cpp_type(self.buffers[statement.target.buffer].dtype)


def threads_of(box: Sum) -> int:
    """The threads of a block for a sum: a power of two, as many as there are terms, if they are few."""
    return BLOCK if box.terms is None else min(BLOCK, 1 << max(5, (max(box.terms, 1) - 1).bit_length()))


def _extents(box: Sum) -> tuple[Lin, ...]:
    return tuple(box.extents[name] for name in box.own)


def product_text(writer: Writer, extents: Iterable[Lin]) -> str:
    """The number of points of a box, as text."""
    extents = list(extents)
    if all(e.is_const for e in extents):
        return f"int64_t({math.prod(max(e.const, 0) for e in extents)})"
    return " * ".join(f"sdfgad::extent({writer.form(e)})" for e in extents)


def _counters(box: Sum, writer: Writer) -> list[str]:
    """The counters of a point from its number, the last one running fastest."""
    return _decoded(box.own, box.extents, "point_", writer)


def _decoded(names: tuple[str, ...], extents: Mapping[str, Lin], number: str, writer: Writer) -> list[str]:
    known = [extents[name] for name in names]
    is_narrow = all(e.is_const for e in known) and math.prod(e.const for e in known) < NARROW
    type_ = "uint32_t" if is_narrow else "int64_t"
    lines = [f"{type_} rest_ = {type_}({number});"] if names else []
    for name in reversed(names[1:]):
        extent = f"{type_}({writer.form(extents[name])})"
        lines += [f"const int64_t {name} = rest_ % {extent};", f"rest_ /= {extent};"]
    return [*lines, *([f"const int64_t {names[0]} = rest_;"] if names else [])]
