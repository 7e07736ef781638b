"""Placement: which buffers are in the memory of a device, which on the host, and the copies between the two.

Kernels work on the device; the host runs loops over time, branches, and what has no form as a kernel. Numbers that
follow from the caller's numbers alone stay on the host, which passes them to kernels by value. Where the host needs a
value of the device, for a bound, a condition or a function of a library, a statement copies it; so the interpreter, the
accounts of memory and the generated code all see the same copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

from sdfgad.ir.expr import Expr, Int, Lin, Read, Rewriter, as_linear, reads
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Program,
    S,
    Statement,
    Whole,
    computes,
    reads_of,
    rewrite_statement,
    transform,
    with_blocks,
)
from sdfgad.ir.rename import renamed
from sdfgad.optimise.device.memories import is_kernel_loop, placed_buffers, private_numbers
from sdfgad.optimise.device.side import Side
from sdfgad.optimise.loops.nest import in_two
from sdfgad.optimise.names import names_of
from sdfgad.schedule.device_sums import Sum
from sdfgad.schedule.kernels import Form, form_of, points_of
from sdfgad.schedule.mean_work import Means, means_in
from sdfgad.schedule.products import product_of


def place(program: Program) -> Program:
    """The program with its buffers placed, and with the copies that this needs."""
    placement = _Placement(program)
    body = placement.block(program.body)
    return replace(program, body=body, buffers=placement.buffers)


class _Placement:
    """Places the buffers of one program.

    Attributes:
        buffers: all storage, with that of copies.
        counters: trip counts that data decides -> their copies on the host.
        means: of the counters of the loops around the statement that is placed.
    """

    def __init__(self, program: Program) -> None:
        self.private, self.names = private_numbers(program), names_of(program)
        self.buffers = placed_buffers(program, self.private)
        self.bounds = set(program.bounds)
        self.side = Side(self.buffers, self.private, program.bounds)
        self.counters: dict[str, str] = {}
        self.means: Means = {}

    # --- statements

    def block(self, block: Block) -> Block:
        return tuple(part for statement in block for part in self.statement(statement))

    def statement(self, statement: Statement) -> Iterator[Statement]:
        if isinstance(statement, Loop) and statement.is_in_block:
            yield from self.kernel(statement, [], ())
        elif isinstance(statement, Loop) and is_kernel_loop(statement, self.buffers, self.private):
            loop = points_of(statement, self.private)
            yield from self.kernel(statement, [extent for _, extent in loop.own], loop.body)
        elif isinstance(statement, Loop) and self.side.is_host(statement, self.means):
            yield from self.on_host(statement)
            yield from self.counted(statement)
        elif isinstance(statement, Loop) and statement.is_open:
            yield from self.open_loop(statement)
        elif isinstance(statement, Loop | Branch):
            yield from self.fetched(statement, reads_of(statement))
        elif isinstance(statement, Call) and form_of(statement, self.buffers) is Form.LIBRARY:
            yield statement
            yield from self.counted(statement)
        elif isinstance(statement, Call):
            yield from self.on_host(statement)
        else:
            yield from self.compute(statement)

    def compute(self, statement: Compute) -> Iterator[Statement]:
        target = statement.target.buffer
        form = form_of(statement, self.buffers)
        if form is Form.SERIAL and statement.fresh and statement.params:
            for part in in_two(statement):
                yield from self.compute(part)
            return
        if not self.buffers[target].is_on_device:
            yield statement
        elif form is Form.HOST:
            yield from self.on_host(statement)
            yield from self.counted(statement)
        elif form is Form.PRODUCT:
            yield from self.fetched(statement, self.operands(statement))
        else:
            box = Sum(statement)
            yield from self.kernel(statement, [box.extents[name] for name in box.own], (statement,))

    def kernel(self, statement: Compute | Loop, grid: list[Lin], body: Block) -> Iterator[Statement]:
        """A kernel after copies of what the host reads for it: extents of its grid, and slots of tapes."""
        slots = [slot for one in computes(body) for slot in self.slots(one)]
        needed = [read for read in reads(*map(Int, (*grid, *slots))) if self.buffers[read.buffer].is_on_device]
        copies: dict[Expr, Expr] = {}
        for read in needed:
            yield self.element(read, copies)
        rewritten = (statement,) if not copies else substituted_nodes((statement,), copies.get)
        yield from rewritten
        yield from self.counted(statement)

    def slots(self, statement: Compute) -> list[Lin]:
        """The indices along axes whose bounds the host checks."""
        axes = zip(statement.target.index, self.buffers[statement.target.buffer].shape, strict=True)
        return [index for index, extent in axes if extent.symbols & self.bounds]

    def operands(self, statement: Compute) -> list[Read]:
        """What the host reads for a product: its extents, its factors, and where its matrices begin."""
        product = product_of(statement, self.buffers)
        assert product is not None
        forms = [
            *(extent for _, extent in statement.params),
            *statement.target.index,
            *(form for read in statement.read for form in read.index),
        ]
        return [*reads(*map(Int, forms)), *reads(*product.alpha)]

    def counted(self, statement: Statement) -> Iterator[Statement]:
        """Copies of trip counts that a statement changes."""
        for name in sorted(statement.written & self.counters.keys()):
            yield self.whole_copy(name, self.counters[name])

    def open_loop(self, loop: Loop) -> Iterator[Statement]:
        """A loop whose body decides how often it runs: the host reads that number again after each change."""
        (count,) = reads_of(loop)
        if not self.buffers[count.buffer].is_on_device:
            yield self.with_blocks(loop)
            return
        twin = self.counters.get(count.buffer) or self.twin(count.buffer)
        self.counters[count.buffer] = twin
        yield self.whole_copy(count.buffer, twin)
        inside = self.with_blocks(loop)
        yield replace(inside, trips=as_linear(Read(twin, (), count.dtype)), guards=())

    def fetched(self, statement: Statement, needed: list[Read]) -> Iterator[Statement]:
        """The statement after copies of the elements that the host reads for it."""
        copies: dict[Expr, Expr] = {}
        for read in needed:
            if self.buffers[read.buffer].is_on_device:
                yield self.element(read, copies)
        statement = self.with_blocks(statement)
        yield rewrite_statement(statement, replace_node=copies.get) if copies else statement

    def element(self, read: Read, copies: dict[Expr, Expr]) -> Compute:
        """A copy of an element, whose index may contain others that are copied already; `copies` gets it."""
        buffer = Buffer(self.names.fresh(f"{read.buffer}_host"), (), read.dtype)
        self.buffers[buffer.name] = buffer
        source = Read(read.buffer, Rewriter({}, copies.get).index(read.index), read.dtype)
        # With the copies in its index, as it is found where reads are replaced, inner ones first.
        copies[source] = Read(buffer.name, (), read.dtype)
        return Compute((), Access(buffer.name), source)

    def with_blocks(self, statement: S) -> S:
        outside = self.means
        if isinstance(statement, Loop):
            self.means = means_in(statement, outside)
        result = cast("S", with_blocks(statement, self.block))
        self.means = outside
        return result

    # --- on the host

    def on_host(self, statement: Statement) -> Iterator[Statement]:
        """The statement on copies on the host, which go back to the device if it changes them."""
        names = {n: self.twin(n) for n in sorted(statement.mentioned) if self.buffers[n].is_on_device}
        fresh = _assigned_whole(statement)
        yield from (self.whole_copy(name, twin) for name, twin in names.items() if name not in fresh)
        yield from renamed((statement,), names)
        yield from (self.whole_copy(names[name], name) for name in sorted(statement.written) if name in names)

    def twin(self, name: str) -> str:
        """A copy of a buffer in the host's memory."""
        twin = self.names.fresh(f"{name}_host")
        self.buffers[twin] = replace(self.buffers[name], name=twin, is_on_device=False)
        return twin

    def whole_copy(self, source: str, target: str) -> Compute:
        buffer = self.buffers[source]
        whole = Whole(source, buffer.shape, buffer.dtype)
        return Compute(whole.params, Access(target, whole.access.index), whole.access.read(buffer.dtype))


def substituted_nodes(block: Block, replacement: Callable[[Expr], Expr | None]) -> Block:
    """A block with nodes replaced, in nested blocks, too."""
    return transform(block, lambda statement: (rewrite_statement(statement, replace_node=replacement),))


def _assigned_whole(statement: Statement) -> set[str]:
    """The buffers that a library function assigns, of which nothing is read."""
    if not isinstance(statement, Call):
        return set()
    return {w.buffer for w in statement.outputs} - {w.buffer for w in statement.inputs}
