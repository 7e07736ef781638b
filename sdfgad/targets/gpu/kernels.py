"""Kernels (CUDA C++): the text of one launch, in the dialect of ``include/kernel.h`` and ``include/emulated.h``.

A kernel of points has a thread for each point; statements of one launch are independent of each other, and a thread
finds by its number to which one its point belongs. A kernel of sums has a block for each element of each of them. A
serial kernel is one thread; a scatter of few contributions is one block; a sequence is one block, or one for each row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sdfgad.errors import Location
from sdfgad.ir.expr import Lin, Read, symbols_in
from sdfgad.ir.program import Buffer, Compute, Loop, Statement, walk, written
from sdfgad.schedule.device_sums import BLOCK, Sum, threads_of, threads_of_scatter
from sdfgad.schedule.kernels import Form, points_of, private_of
from sdfgad.schedule.loop_facts import free_symbols
from sdfgad.schedule.sequences import rows_of, threads_of_sequence
from sdfgad.targets.cpu.cpp import COMBINE, cpp_type
from sdfgad.targets.gpu.sequences import SequenceWriter
from sdfgad.targets.gpu.threads import ThreadWriter, decoded, product_text


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
        places: the user's lines of its statements.
    """

    name: str
    code: str
    buffers: tuple[str, ...]
    values: tuple[Read, ...]
    integers: tuple[str, ...]
    boxes: tuple[tuple[Lin, ...], ...]
    threads: int = BLOCK
    has_barriers: bool = False
    places: tuple[Location, ...] = ()


def kernel_of(name: str, form: Form, statements: Sequence[Statement], buffers: Mapping[str, Buffer]) -> Kernel:
    """The kernel of statements: of independent boxes of points, of a sum, of a thread in order, or of a sequence."""
    return _KernelWriter(name, statements, buffers).kernel(form)


class _KernelWriter:
    def __init__(self, name: str, statements: Sequence[Statement], buffers: Mapping[str, Buffer]) -> None:
        self.name, self.statements, self.buffers = name, statements, buffers
        self.thread = ThreadWriter(buffers)

    def kernel(self, form: Form) -> Kernel:
        boxes: tuple[tuple[Lin, ...], ...] = ((),)
        if form is Form.SERIAL:
            lines, threads = self.thread.serial([s for s in self.statements if isinstance(s, Compute)]), 1
        elif form is Form.ORDERED:
            (one,) = self.statements
            assert isinstance(one, Compute)
            threads = threads_of_scatter(one)
            lines = self.scatter(one, threads)
        elif form is Form.SEQUENCE:
            (loop,) = self.statements
            assert isinstance(loop, Loop)
            self.thread = SequenceWriter(self.buffers, threads := threads_of_sequence(loop))
            lines, rows = self.thread.sequence(loop), rows_of(loop)[0]
            boxes = (tuple(extent for _, extent in rows),)
        elif form is Form.BLOCK:
            sums = [s for s in self.statements if isinstance(s, Compute)]
            lines, boxes = self.totals(sums), tuple(_extents(Sum(one)) for one in sums)
            threads = threads_of(Sum(sums[0]))
        else:
            lines, threads = self.points(), BLOCK
            loops = [points_of(s, private_of(s, self.buffers)) for s in self.statements]
            boxes = tuple(tuple(extent for _, extent in loop.own) for loop in loops)
        return self.assembled(lines, boxes, threads, has_barriers=form in (Form.BLOCK, Form.ORDERED, Form.SEQUENCE))

    def assembled(
        self, lines: list[str], boxes: tuple[tuple[Lin, ...], ...], threads: int, *, has_barriers: bool
    ) -> Kernel:
        touched = sorted(frozenset[str]().union(*(s.mentioned for s in self.statements)))
        passed = tuple(name for name in touched if self.buffers[name].is_on_device)
        integers = tuple(sorted(self._integers(touched)))
        code = self._function(passed, integers, threads, lines)
        found = (one.where for one in walk(tuple(self.statements)) if isinstance(one, Compute) and one.where)
        places = tuple(dict.fromkeys(found))
        return Kernel(
            self.name, code, passed, tuple(self.thread.values), integers, boxes, threads, has_barriers, places
        )

    def _integers(self, touched: Iterable[str]) -> set[str]:
        return free_symbols(tuple(self.statements)) | symbols_in(
            e for name in touched for e in self.buffers[name].shape
        )

    def _function(self, passed: tuple[str, ...], integers: tuple[str, ...], threads: int, lines: list[str]) -> str:
        changed = written(tuple(self.statements))
        parameters = [self._pointer(name, name in changed) for name in passed]
        parameters += [f"const {cpp_type(read.dtype)} {name}" for read, name in self.thread.values.items()]
        parameters += [f"const int64_t {name}" for name in integers]
        body = "\n".join(f"    {line}" for line in lines)
        kind = "SDFGAD_KERNEL" if threads <= BLOCK else f"SDFGAD_WIDE_KERNEL({threads})"
        return f"{kind} {self.name}({', '.join(parameters)}) {{\n{body}\n}}\n"

    def _pointer(self, name: str, is_changed: bool) -> str:
        return f"SDFGAD_{'OUT' if is_changed else 'IN'}({cpp_type(self.buffers[name].dtype)}) b_{name}_"

    def points(self) -> list[str]:
        """A branch for each box of points."""
        lines = ["int64_t point_ = sdfgad::point();"]
        for statement in self.statements:
            private = private_of(statement, self.buffers)
            loop = points_of(statement, private)
            writer, extents = self.thread.writer(), dict(loop.own)
            size = product_text(writer, extents.values())
            body = decoded(tuple(extents), extents, "point_", writer)
            body += self.thread.at_point(loop, private, "return")
            lines += [*writer.lines, f"if (point_ < {size}) {{", *body, "return;", "}", f"point_ -= {size};"]
        return lines[:-1]

    def totals(self, sums: Sequence[Compute]) -> list[str]:
        """A branch for each sum, whose elements are blocks."""
        lines = ["int64_t point_ = sdfgad::block();"]
        for one in sums:
            writer = self.thread.writer()
            size = product_text(writer, _extents(Sum(one)))
            body = self.total(one, Sum(one))
            lines += [*writer.lines, f"if (point_ < {size}) {{", *body, "return;", "}", f"point_ -= {size};"]
        return lines[:-1]

    def scatter(self, statement: Compute, threads: int) -> list[str]:
        """Contributions that meet are added up by the thread of the first of them, in order."""
        thread, writer, type_ = self.thread, self.thread.writer(), self.thread.type(statement)
        names, extents = tuple(name for name, _ in statement.params), dict(statement.params)
        count = math.prod(extent.const for extent in extents.values())
        place, value = thread.offset(statement.target, writer), writer.value(statement.value)
        array = f"b_{statement.target.buffer}_"
        combined = COMBINE[statement.accumulate].format("total_", "sdfgad::load(terms_, other_)")
        each = f"for (int64_t term_ = sdfgad::lane(); term_ < {count}; term_ += {threads}) {{"
        return [
            f"SDFGAD_SHARED(int64_t, places_, {count});",
            f"SDFGAD_SHARED({type_}, terms_, {count});",
            each,
            *decoded(names, extents, "term_", writer),
            *writer.lines,
            f"sdfgad::store(places_, term_, {place});",
            f"sdfgad::store(terms_, term_, {value});",
            "}",
            "sdfgad::barrier();",
            each,
            "const int64_t place_ = sdfgad::load(places_, term_);",
            "int64_t other_ = 0;",
            "while (sdfgad::load(places_, other_) != place_) ++other_;",
            "if (other_ != term_) continue;",
            f"{type_} total_ = sdfgad::load({array}, place_);",
            "SDFGAD_UNROLL",
            f"for (; other_ < {count}; ++other_) {{",
            f"if (sdfgad::load(places_, other_) == place_) total_ = {combined};",
            "}",
            f"sdfgad::store<{type_}>({array}, place_, total_);",
            "}",
        ]

    def total(self, statement: Compute, box: Sum) -> list[str]:
        """A block for each element: each thread adds up every n-th term, and a tree adds these up."""
        thread = self.thread
        writer, bounds, type_ = thread.writer(), thread.writer(), thread.type(statement)
        value = writer.value(statement.value)
        combine = COMBINE[statement.accumulate].format("a", "b")
        terms = product_text(bounds, [box.extents[n] for n in box.summed])
        counters = decoded(box.summed, box.extents, "term_", bounds)
        own = decoded(box.own, box.extents, "point_", bounds)
        return [
            *bounds.lines,
            *own,
            f"{type_} total_ = {thread.identity(statement)};",
            "SDFGAD_UNROLL",
            f"for (int64_t term_ = sdfgad::lane(); term_ < {terms}; term_ += {threads_of(box)}) {{",
            *counters,
            *writer.lines,
            f"total_ = {COMBINE[statement.accumulate].format('total_', value)};",
            "}",
            f"const auto combine_ = []({type_} a, {type_} b) {{ return {combine}; }};",
            f"total_ = sdfgad::block_total<{threads_of(box)}>(total_, combine_);",
            "if (sdfgad::lane() == 0) {",
            *thread.stored(statement, "total_"),
            "}",
        ]


def _extents(box: Sum) -> tuple[Lin, ...]:
    return tuple(box.extents[name] for name in box.own)
