"""C++ functions for loop nests: each outermost statement becomes a function over the buffers and integers it mentions.

Buffers are restricted pointers, scalars are local variables, and a temporary scalar is declared in the innermost
possible block, so that the compiler keeps it in a register. Loops whose trips may run in any order are vectorised; a
loop with enough work becomes a function of a range of trips, and threads run these ranges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sdfgad.dependence.private import begins_with_write
from sdfgad.ir.expr import Lin
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Statement,
    buffers_of,
    reads_of,
    walk,
    written,
)
from sdfgad.memory.basic_blocks import mentioned_in
from sdfgad.memory.sharing import distance_of
from sdfgad.schedule.bounds import range_of
from sdfgad.schedule.collapse import collapsed
from sdfgad.schedule.loop_facts import is_vector, scalar_reductions
from sdfgad.schedule.masks import mask_of
from sdfgad.schedule.products import has_small_products
from sdfgad.schedule.scopes import is_local_to
from sdfgad.schedule.splitting import split
from sdfgad.schedule.target import cpu
from sdfgad.schedule.vector_width import calls_vector_functions, is_wide
from sdfgad.targets.cpu.accumulators import Accumulator
from sdfgad.targets.cpu.cpp import simd
from sdfgad.targets.cpu.folding import by_first_use
from sdfgad.targets.cpu.functions import Functions
from sdfgad.targets.cpu.masked_loops import head_of
from sdfgad.targets.cpu.nontemporal_stores import rows_of
from sdfgad.targets.cpu.slot_checks import SlotChecks


@dataclass(frozen=True)
class Nest:
    """The C++ function for one statement of a program's body.

    Attributes:
        name: the function's name.
        code: its text, after those of the functions that it calls.
        passed: the buffers that it is passed, in order; scalars by value, or by reference where they are written.
        writes: those of them that it writes.
        integers: the integers that it is passed.
        headers: of the library functions that it calls.
        uses_blas: whether it calls BLAS or LAPACK.
    """

    name: str
    code: str
    passed: tuple[str, ...]
    writes: frozenset[str]
    integers: tuple[str, ...]
    headers: tuple[str, ...] = ()
    uses_blas: bool = False


def nest_of(
    block: Block,
    name: str,
    buffers: Mapping[str, Buffer],
    outside: Iterable[str],
    bounds: Iterable[str] = (),
    filled: Iterable[str] = (),
    alone: Iterable[str] = (),
) -> Nest:
    """The function of a block, which is a single statement as a rule.

    Args:
        outside: the buffers that are used outside of the block, too: they are passed.
        bounds: the integers that may be too small for what is written, as of a `Program`.
        filled: the arrays for which non-temporal stores are used: the block only assigns elements of them.
        alone: the arrays that are passed, but that nothing else reads or writes.
    """
    slot_checks = SlotChecks(block, buffers, frozenset(bounds))
    writer = NestWriter(buffers, name, frozenset(outside), slot_checks, filled=frozenset(filled))
    if len(block) == 1 and isinstance(block[0], Loop):
        writer.outermost, writer.alone = block[0].var, frozenset(alone)
    return writer.made(block)


@dataclass
class NestWriter(Functions):
    outside: frozenset[str]
    slot_checks: SlotChecks
    headers: dict[str, None] = field(default_factory=dict, init=False)

    def made(self, block: Block) -> Nest:
        found = sorted({name for s in walk(block) for name in buffers_of(s)})
        changed = written(block)
        local = [name for name in found if name not in self.outside]
        carried = [name for name in local if self.buffers[name].is_single and not begins_with_write(block, name)]
        integers = self.integers(block, found)
        self.is_long = sum(1 for _ in walk(block)) >= cpu().long_body
        self.is_wide = is_wide(block) or calls_vector_functions(block)
        lines = self.block(block, [name for name in local if name not in carried])
        start = [f"{self.type(name)} b_{name}_{{}};" for name in carried]
        if any(has_small_products(statement, self.buffers) for statement in block):
            # Once for all of them: it takes as long as some of them do, and threads would do it to each other.
            start.append("const sdfgad::OneThread alone_;")
        passed = by_first_use((name for name in found if name in self.outside), lines)
        text = self.function(self.name, passed, changed, integers, [*start, *lines])
        code = "\n".join([*self.functions, text])
        writes = frozenset(changed.intersection(passed))
        return Nest(self.name, code, tuple(passed), writes, tuple(integers), tuple(self.headers), self.uses_blas)

    # --- blocks

    def block(self, block: Block, scalars: list[str]) -> list[str]:
        """The C++ text of a block; `scalars` are temporaries local to it, each written before it is read."""
        lines: list[str] = []
        here: list[str] = []
        deeper: dict[int, list[str]] = {}
        pieces = self.pieces(block)
        users = {name: list[int]() for name in scalars}
        for position, piece in enumerate(pieces):
            for name in mentioned_in(piece) & users.keys():
                users[name].append(position)
        for name, positions in users.items():
            is_deeper = len(positions) == 1 and self.is_local(pieces[positions[0]], name)
            (deeper.setdefault(positions[0], []) if is_deeper else here).append(name)
        lines += map(self.declared, here)
        for position, piece in enumerate(pieces):
            lines += self.piece(piece, deeper.get(position, []), is_single=len(block) == 1)
        return lines

    def is_local(self, piece: Block, name: str) -> bool:
        """Whether a temporary that a block mentions in one piece alone can be declared inside of that."""
        return len(piece) > 1 or is_local_to(piece[0], name, self.buffers)

    def piece(self, piece: Block, scalars: list[str], is_single: bool) -> list[str]:
        if len(piece) > 1:
            return self.outlined(piece, scalars)
        writer, lines = self.writer(), list[str]()
        with self.slot_checks.of(piece[0]) as needed:
            lines += [f"sdfgad::memory::need({writer.form(slot)}, {extent});" for slot, extent in needed]
            if not is_single and self.is_outlined(piece[0]):
                return [*lines, *self.outlined(piece, scalars)]
            return [*lines, *self.statement(piece[0], scalars)]

    def declared(self, name: str) -> str:
        buffer = self.buffers[name]
        if buffer.is_single:
            return f"{self.type(name)} b_{name}_;"
        return f"alignas(64) {self.type(name)} b_{name}_[{math.prod(extent.const for extent in buffer.shape)}];"

    def statement(self, statement: Statement, scalars: list[str]) -> list[str]:
        if isinstance(statement, Compute):
            return self.compute(statement)
        if isinstance(statement, Call):
            return [self.call(statement)]
        if isinstance(statement, Branch):
            return self.branch(statement, scalars)
        return self.loop(statement, scalars)

    def branch(self, branch: Branch, scalars: list[str]) -> list[str]:
        """The C++ text of a branch; `scalars` are temporaries local to either of its blocks."""
        writer = self.writer()
        condition = writer.value(branch.condition)
        then, orelse = (self.block(side, self.mentioned(side, scalars)) for side in (branch.then, branch.orelse))
        return ["{", *writer.lines, f"if ({condition}) {{", *then, "} else {", *orelse, "}", "}"]

    def mentioned(self, block: Block, names: list[str]) -> list[str]:
        return [name for name in names if any(name in s.mentioned for s in block)]

    def call(self, call: Call) -> str:
        self.headers[LIBRARY[call.name].header] = None
        self.uses_blas = True
        texts = [
            ("&" if self.buffers[w.buffer].is_single else "") + f"b_{w.buffer}_" for w in call.inputs + call.outputs
        ]
        target = f"{texts.pop()[1:]} = " if LIBRARY[call.name].failure else ""
        return f"{target}sdfgad::{call.name}({', '.join([*texts, *map(str, call.sizes)])});"

    # --- loops

    def loop(self, loop: Loop, scalars: list[str]) -> list[str]:
        loop = collapsed(loop, self.buffers)
        parts = split(loop)
        if len(parts) > 1:
            return [line for part in parts for line in self.loop(part, scalars)]
        distance = None if self.is_shared else distance_of(loop, scalars, self.buffers)
        if distance is not None:
            return self.shared(loop, scalars, distance)
        writer = self.writer()
        start, end = writer.form(loop.start), writer.form(loop.start + loop.trips)
        var, sums = loop.var, dict[Access, str]()
        bounds: list[str] = []
        if reads_of(loop) and not loop.is_open:
            # The body may change what they are read from.
            bounds = [f"const int64_t start_ = {start}, end_ = {end};"]
            start, end = "start_", "end_"
        body = loop.body
        pragma: list[str] = []
        is_innermost = all(isinstance(s, Compute) and not s.params for s in body)
        if loop.is_parallel and is_innermost:
            sums = scalar_reductions(body, var)
            pragma = self.pragma(sums) if is_vector(loop, scalars, sums) else []
        mask = mask_of(loop, self.buffers)
        if mask is not None:
            head = head_of(loop, mask, start, end)
        elif loop.backward:
            head = f"for (int64_t {var} = {end} - 1; {var} >= {start}; --{var}) {{"
        else:
            head = f"for (int64_t {var} = {start}; {var} < {end}; ++{var}) {{"
        if loop.is_open:
            # The body changes the number of trips.
            return [head, *self.block(body, scalars), "}"]
        rows = rows_of(body, var, loop.trips, self.filled) if pragma and not loop.backward else {}
        # Of a part of a parallel loop the range of all trips is known already.
        ranges = {} if var in self.ranges else {var: range_of(loop)}
        innermost = body if is_innermost else ()
        inside = self.within(ranges, bool(pragma))
        with inside, self.hoisting(innermost, (var,)) as hoisted, self.filling(rows, var):
            inner = self.summed(body, sums, scalars) if sums else self.block(body, scalars)
        first, last = list[str](), list[str]()
        for access, name in sums.items():
            total, element = self.sum(access.buffer, name), self.element(access, writer)
            first += total.begin(element)
            last.append(f"{element} = {total.value};")
        # Without trips a sum's element need not be one.
        guard = [f"if ({start} < {end})"] if sums and not loop.trips.is_const else []
        run = self.in_strips((var, start, end), inner, rows, pragma) if rows else [*pragma, head, *inner, "}"]
        return ["{", *writer.lines, *bounds, *hoisted, *guard, "{", *first, *run, *last, "}", "}"]

    def is_slot(self, lin: Lin, extent: Lin) -> bool:
        return self.slot_checks.is_slot(lin, extent)

    def pragma(self, sums: Mapping[Access, str]) -> list[str]:
        """The pragma that vectorises a loop with these reductions."""
        if not sums:
            return simd()
        names = [part for access, name in sums.items() for part in self.sum(access.buffer, name).parts]
        return simd(names)

    def sum(self, buffer: str, name: str) -> Accumulator:
        return Accumulator(self.buffers[buffer].dtype, name)

    def summed(self, block: Block, sums: Mapping[Access, str], scalars: list[str]) -> list[str]:
        """The body of a loop whose sums are in registers."""
        lines = [*map(self.declared, scalars)]
        for statement in block:
            assert isinstance(statement, Compute)
            name = sums.get(statement.target)
            lines += self.compute(statement) if name is None else self.added(statement, name)
        return lines

    def added(self, statement: Compute, name: str) -> list[str]:
        writer = self.writer()
        value = writer.value(statement.value)
        return ["{", *writer.lines, *self.sum(statement.target.buffer, name).add(value), "}"]
