"""Placement: which buffers are in the memory of a device, which on the host, and the copies between the two.

Kernels work on the device; the host runs loops over time, branches, and what has no form as a kernel. Numbers that follow
from the caller's numbers alone stay on the host, which passes them to kernels by value. Where the host needs a value of
the device, for a bound, a condition or a function of a library, a statement copies it; so the interpreter, the accounts
of memory and the generated code all see the same copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdfgad.ir.expr import Expr, Int, Read, as_linear, reads, symbols_of
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    Whole,
    reads_of,
    rewrite_statement,
    walk,
    with_blocks,
    writes_of,
)
from sdfgad.ir.rename import renamed
from sdfgad.optimise.loops.nest import in_two
from sdfgad.optimise.names import names_of
from sdfgad.schedule.kernels import Form, form_of
from sdfgad.schedule.products import product_of


def place(program: Program) -> Program:
    """The program with its buffers placed, and with the copies that this needs."""
    placement = _Placement(program)
    body = placement.block(program.body)
    return replace(program, body=body, buffers=placement.buffers)


def host_buffers(program: Program) -> set[str]:
    """The buffers that the host knows without the device: numbers, and tables of integers that no kernel looks up."""
    found = _candidates(program)
    while True:
        wrong = {name for s in walk(program.body) for name in _not_on_host(s, found)}
        if wrong.isdisjoint(found):
            return found
        found -= wrong


def _candidates(program: Program) -> set[str]:
    written = {access.buffer for s in walk(program.body) for access, _ in writes_of(s)}
    inputs = {n for n in program.inputs if n not in written}
    buffers = program.buffers.values()
    return {b.name for b in buffers if b.is_single or (b.name in inputs and b.dtype.kind in "iu")}


def _not_on_host(statement: Statement, host: set[str]) -> Iterator[str]:
    """The candidates that a statement keeps from being on the host."""
    if isinstance(statement, Call):
        yield from statement.touched
    if not isinstance(statement, Compute):
        return
    if statement.params:
        yield statement.target.buffer
        params = {name for name, _ in statement.params}
        yield from (r.buffer for r in statement.read if not params.isdisjoint(symbols_of(r)))
    elif any(read.buffer not in host for read in statement.read):
        yield statement.target.buffer


class _Placement:
    """Places the buffers of one program.

    Attributes:
        buffers: all storage, with that of copies.
        counters: trip counts that data decides -> their copies on the host.
    """

    def __init__(self, program: Program) -> None:
        self.host, self.names = host_buffers(program), names_of(program)
        self.buffers = {n: replace(b, is_on_device=n not in self.host) for n, b in program.buffers.items()}
        self.bounds = set(program.bounds)
        self.counters: dict[str, str] = {}

    # --- statements

    def block(self, block: Block) -> Block:
        return tuple(part for statement in block for part in self.statement(statement))

    def statement(self, statement: Statement) -> Iterator[Statement]:
        if isinstance(statement, Loop) and statement.is_open:
            yield from self.open_loop(statement)
        elif isinstance(statement, Loop | Branch):
            yield from self.fetched(statement, reads_of(statement))
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
        else:
            yield from self.fetched(statement, self.needed(statement, form))
        if target in self.counters:
            yield self.whole_copy(target, self.counters[target])

    def needed(self, statement: Compute, form: Form) -> list[Read]:
        """What the host reads for a kernel: extents, slots of tapes, and factors of products."""
        forms = [extent for _, extent in statement.params]
        shape = self.buffers[statement.target.buffer].shape
        forms += [i for i, extent in zip(statement.target.index, shape, strict=True) if extent.symbols & self.bounds]
        found = reads(*(Int(form) for form in forms))
        if form is Form.PRODUCT:
            product = product_of(statement, self.buffers)
            assert product is not None
            found += reads(*product.alpha, *(Int(form) for read in statement.read for form in read.index))
            found += reads(*(Int(form) for form in statement.target.index))
        return found

    def open_loop(self, loop: Loop) -> Iterator[Statement]:
        """A loop whose body decides how often it runs: the host reads that number again after each change."""
        (count,) = reads_of(loop)
        if not self.buffers[count.buffer].is_on_device:
            yield self.with_blocks(loop)
            return
        twin = self.counters.setdefault(count.buffer, self.twin(count.buffer))
        yield self.whole_copy(count.buffer, twin)
        loop = self.with_blocks(loop)
        yield replace(loop, trips=as_linear(Read(twin, (), count.dtype)), guards=())

    def fetched(self, statement: Statement, needed: list[Read]) -> Iterator[Statement]:
        """The statement after copies of the elements that the host reads for it."""
        copies: dict[Expr, Expr] = {}
        for read in needed:
            if self.buffers[read.buffer].is_on_device:
                copies[read] = yield from self.element(read, copies)
        statement = self.with_blocks(statement)
        yield rewrite_statement(statement, replace_node=copies.get) if copies else statement

    def element(self, read: Read, copies: dict[Expr, Expr]) -> Iterator[Statement]:
        """A copy of an element, whose index may contain others; returns what reads the copy."""
        buffer = Buffer(self.names.fresh(f"{read.buffer}_host"), (), read.dtype)
        self.buffers[buffer.name] = buffer
        copy = Compute((), Access(buffer.name), read)
        yield rewrite_statement(copy, replace_node=lambda node: copies.get(node) if node != read else None)
        return Read(buffer.name, (), read.dtype)

    def with_blocks(self, statement: Statement) -> Statement:
        return with_blocks(statement, self.block)

    # --- on the host

    def on_host(self, statement: Statement) -> Iterator[Statement]:
        """The statement on copies on the host, which go back to the device if it changes them."""
        names = {n: self.twin(n) for n in sorted(statement.touched) if self.buffers[n].is_on_device}
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


def _assigned_whole(statement: Statement) -> set[str]:
    """The buffers that a library function assigns, of which nothing is read."""
    if not isinstance(statement, Call):
        return set()
    return {w.buffer for w in statement.outputs} - {w.buffer for w in statement.inputs}
