"""Steps of a block of threads (CUDA C++): a sequential loop in one block, or a row in each of many.

All threads run the steps, loops and branches, whose conditions are the same for them. Points, and terms of sums, are
dealt out to the threads; single elements are one thread's; numbers that only the loop uses are variables of which each
thread has the same. A barrier is between what threads write and what others do with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sdfgad.ir.expr import Read, reads
from sdfgad.ir.program import Block, Branch, Buffer, Compute, Loop, Statement, reads_of
from sdfgad.schedule.device_sums import SHORT, WARP, Sum
from sdfgad.schedule.kernels import Form, form_of, points_of, private_of
from sdfgad.schedule.launches import Launch, launches
from sdfgad.schedule.sequences import group_of, rows_of, shared_by_rows, written_in_parallel
from sdfgad.targets.cpu.cpp import COMBINE, cpp_type
from sdfgad.targets.gpu.threads import ThreadWriter, decoded, head, product_text

BARRIER = "sdfgad::barrier();"
# Points of so many statements are unrolled: a thread reads what several of them need before it waits.
SHORT_BODY = 4


class SequenceWriter(ThreadWriter):
    """Writes what the threads of a block do.

    Attributes:
        threads: those of the block.
        touched: arrays of the device that threads may still be at work on.
    """

    def __init__(self, buffers: Mapping[str, Buffer], threads: int) -> None:
        super().__init__(buffers)
        self.threads = threads
        self.touched = frozenset[str]()

    def sequence(self, loop: Loop) -> list[str]:
        """The whole kernel."""
        self.local = private_of(loop, self.buffers) - written_in_parallel(loop)
        numbers = [f"{cpp_type(self.buffers[name].dtype)} n_{name}_{{}};" for name in sorted(self.local)]
        rows, block = rows_of(loop)
        if not rows:
            return [*numbers, *self.loop(loop)]
        self.shared = shared_by_rows(loop)
        row = decoded(tuple(name for name, _ in rows), dict(rows), "sdfgad::block()", self.writer())
        return [*numbers, *row, *self.block(block)]

    # --- control

    def block(self, block: Block) -> list[str]:
        lines: list[str] = []
        for launch in launches(block, self.buffers):
            (first, *_) = launch.statements
            if isinstance(first, Branch):
                lines += self.branch(first)
            elif isinstance(first, Loop) and launch.form is Form.HOST:
                lines += self.loop(first)
            else:
                lines += self.step(launch)
        return lines

    def loop(self, loop: Loop) -> list[str]:
        start = head(loop, self.writer())
        self.touched |= self.on_device(reads_of(loop))
        body = self.block(loop.body)
        last = self.wait()
        # The next trip, or what is after the loop, reads the bounds again.
        self.touched |= self.on_device(reads_of(loop))
        return ["{", *start, *body, *last, "}", "}"]

    def branch(self, branch: Branch) -> list[str]:
        writer = self.writer()
        condition = writer.value(branch.condition)
        before = self.touched | self.on_device(reads(branch.condition))
        sides, after = list[list[str]](), frozenset[str]()
        for side in (branch.then, branch.orelse):
            self.touched = before
            sides.append(self.block(side))
            after |= self.touched
        self.touched = after
        then, otherwise = sides
        return ["{", *writer.lines, f"if ({condition}) {{", *then, "} else {", *otherwise, "}", "}"]

    def wait(self) -> list[str]:
        """A barrier, if threads may still be at work."""
        is_needed, self.touched = bool(self.touched), frozenset()
        return [BARRIER] if is_needed else []

    def on_device(self, found: Iterable[Read]) -> frozenset[str]:
        return frozenset(read.buffer for read in found if self.buffers[read.buffer].is_on_device)

    # --- steps

    def step(self, launch: Launch) -> list[str]:
        """Statements that are independent of each other, after a barrier if they change what threads are at work on."""
        names = frozenset[str]().union(*(s.mentioned for s in launch.statements))
        # Nothing reads what all blocks combine values with.
        names = frozenset(name for name in names - self.shared if self.buffers[name].is_on_device)
        changed = frozenset[str]().union(*(s.written for s in launch.statements)) & names
        before = self.wait() if not changed.isdisjoint(self.touched) else []
        lines = [line for s in self.parts(launch) for line in ("{", *s, "}")]
        self.touched |= names
        return [*before, *lines, *(self.wait() if changed else [])]

    def parts(self, launch: Launch) -> list[list[str]]:
        computes = [s for s in launch.statements if isinstance(s, Compute)]
        if launch.form is Form.SERIAL:
            return [["if (sdfgad::lane() == 0) {", *self.serial(computes), "}"]]
        return [self.part(s) for s in launch.statements]

    def part(self, statement: Statement) -> list[str]:
        assert isinstance(statement, Compute | Loop)
        if isinstance(statement, Loop):
            return self.points(statement)
        box, form = Sum(statement), form_of(statement, self.buffers)
        is_in_order = form in (Form.SERIAL, Form.ORDERED, Form.HOST)
        if statement.target.buffer in self.local:
            return self.run(statement) if is_in_order else self.totals(statement, box)
        if is_in_order:
            return self.alone(statement)
        return self.totals(statement, box) if self.is_split(box) else self.points(statement)

    def is_split(self, box: Sum) -> bool:
        """Whether several threads add up a sum: those that read neighbours, or would have nothing else to do."""
        is_wide = box.elements is None or 2 * box.elements > self.threads
        return bool(box.summed) and (box.is_along or not is_wide) and (box.terms is None or box.terms >= SHORT)

    def alone(self, statement: Compute) -> list[str]:
        """One thread, in order."""
        return ["if (sdfgad::lane() == 0) {", *self.serial([statement]), "}"]

    def points(self, statement: Compute | Loop) -> list[str]:
        private = private_of(statement, self.buffers) - self.local
        loop = points_of(statement, private | self.local)
        writer, extents = self.writer(), dict(loop.own)
        size = product_text(writer, extents.values())
        counters = decoded(tuple(extents), extents, "point_", writer)
        head = f"for (int64_t point_ = sdfgad::lane(); point_ < {size}; point_ += {self.threads}) {{"
        unrolled = ["SDFGAD_UNROLL"] if len(loop.body) <= SHORT_BODY else []
        return [*writer.lines, *unrolled, head, *counters, *self.at_point(loop, private, "continue"), "}"]

    def totals(self, statement: Compute, box: Sum) -> list[str]:
        """Sums, each by a group of threads: each thread adds up every n-th term, and a tree adds these up."""
        group, type_ = group_of(box, self.threads), self.type(statement)
        writer, bounds = self.writer(), self.writer()
        value = writer.value(statement.value)
        terms, elements = (product_text(bounds, [box.extents[n] for n in names]) for names in (box.summed, box.own))
        counters, own = (decoded(ns, box.extents, w, bounds) for ns, w in ((box.summed, "term_"), (box.own, "point_")))
        combine = COMBINE[statement.accumulate].format("a", "b")
        is_own = statement.target.buffer in self.local
        return [
            *bounds.lines,
            f"const auto combine_ = []({type_} a, {type_} b) {{ return {combine}; }};",
            f"for (int64_t first_ = 0; first_ < {elements}; first_ += {self.threads // group}) {{",
            f"const int64_t point_ = first_ + sdfgad::lane() / {group};",
            f"{type_} total_ = {self.identity(statement)};",
            f"if (point_ < {elements}) {{",
            *own,
            "SDFGAD_UNROLL",
            f"for (int64_t term_ = sdfgad::lane() % {group}; term_ < {terms}; term_ += {group}) {{",
            *counters,
            *writer.lines,
            f"total_ = {COMBINE[statement.accumulate].format('total_', value)};",
            "}",
            "}",
            f"total_ = sdfgad::block_total<{self.threads}, {group}>(total_, combine_);",
            "{" if is_own else f"if (point_ < {elements} && sdfgad::lane() % {group} == 0) {{",
            *own,
            *self.stored(statement, "total_"),
            "}",
            # Totals of larger groups are in shared memory, which the next ones use again.
            *([BARRIER] if group > WARP else []),
            "}",
        ]
