"""Vectorising map (batching transformation) of a program over a leading axis of some of its inputs.

What depends on such an input gets the axis, too: an axis of its storage, and a parameter of its statements. All else is
computed once. Where the flow of control depends on the inputs, the branch or loop runs for one entry after another.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from sdfgad.batch.dependents import dependents
from sdfgad.ir.expr import Expr, Lin, Read, Rewriter
from sdfgad.ir.library import LIBRARY, require_silent
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    Whole,
    reads_of,
    rewrite_statement,
    transform,
    with_blocks,
)
from sdfgad.ir.rename import renamed


@dataclass(frozen=True)
class Batched:
    """A program for a batch.

    Attributes:
        program: it takes the inputs, and gives the outputs, in `buffers` with a leading axis.
        buffers: what has the axis: all that depends on an entry of the batch.
    """

    program: Program
    buffers: frozenset[str]


def batched(program: Program, inputs: Collection[str], size: int) -> Batched:
    """The program for `size` values of some inputs, which it takes along a leading axis."""
    require_silent(program.body, "`vmap` of a program")
    found = dependents(program, inputs)
    batch = _Batch(program, found, Lin(size))
    body = batch.block(program.body, None)
    shapes = {name: replace(b, shape=(Lin(size), *b.shape)) for name, b in program.buffers.items() if name in found}
    buffers = dict(program.buffers) | shapes | batch.buffers
    return Batched(replace(program, name=batch.names.fresh(f"{program.name}_batch"), buffers=buffers, body=body), found)


class _Batch:
    """The statements of a program, over a batch.

    Attributes:
        found: the buffers that have the batch's axis.
        buffers: new storage.
    """

    def __init__(self, program: Program, found: frozenset[str], size: Lin) -> None:
        self.program, self.found, self.size = program, found, size
        self.names, self.buffers = Names(program.identifiers), dict[str, Buffer]()

    def block(self, block: Block, entry: Lin | None) -> Block:
        """Statements for an entry of the batch; None: for all."""
        return tuple(one for statement in block for one in self.statement(statement, entry))

    def statement(self, statement: Statement, entry: Lin | None) -> Block:
        if statement.mentioned.isdisjoint(self.found):
            return (statement,)
        if entry is None and self.is_single(statement):
            return self.one_by_one(statement)
        if isinstance(statement, Compute):
            return (self.compute(statement, entry),)
        if isinstance(statement, Call):
            return self.call(statement, entry)
        if isinstance(statement, Loop) and statement.is_open and any(map(self.depends, reads_of(statement))):
            return self.open_loop(statement, entry)
        return (with_blocks(self.own(statement, entry), lambda block: self.block(block, entry)),)

    def is_single(self, statement: Statement) -> bool:
        """Whether a statement runs for one entry after another: what it does, or the box of its points, differs."""
        if isinstance(statement, Compute):
            forms = [extent for _, extent in statement.params]
            return any(self.depends(read) for form in forms for atom, _ in form.terms for read in _reads_in(atom))
        if isinstance(statement, Call):
            return not LIBRARY[statement.name].has_batch and not self.is_of_columns(statement)
        return any(self.depends(read) for read in reads_of(statement))

    def depends(self, read: Read) -> bool:
        return read.buffer in self.found

    def one_by_one(self, statement: Statement) -> Block:
        entry = self.names.fresh("entry")
        return (Loop.over(entry, self.size, self.statement(statement, Lin.symbol(entry)), statement.where),)

    # --- single statements

    def rewriter(self, entry: Lin) -> Rewriter:
        def replaced(node: Expr) -> Expr | None:
            if not isinstance(node, Read) or node.buffer not in self.found:
                return None
            return Read(node.buffer, (entry, *node.index), node.dtype)

        return Rewriter({}, replaced)

    def own(self, statement: Statement, entry: Lin | None) -> Statement:
        return statement if entry is None else rewrite_statement(statement, rewriter=self.rewriter(entry))

    def compute(self, statement: Compute, entry: Lin | None) -> Compute:
        added: tuple[tuple[str, Lin], ...] = ()
        if entry is None:
            name = self.names.fresh("entry")
            entry, added = Lin.symbol(name), ((name, self.size),)
        inside = rewrite_statement(statement, rewriter=self.rewriter(entry))
        target = inside.target
        if target.buffer in self.found:
            target = Access(target.buffer, (entry, *target.index))
        return replace(inside, params=(*added, *inside.params), target=target)

    def call(self, call: Call, entry: Lin | None) -> Block:
        return self.call_of_all(call) if entry is None else self.call_of_one(call, entry)

    def call_of_all(self, call: Call) -> Block:
        """A function of a batch of matrices, or of rows, for all entries at once."""
        if self.is_of_columns(call):
            return self.call_of_columns(call)
        before, after = list[Statement](), list[Statement]()
        inputs = [self.with_axis(whole, before) for whole in call.inputs]
        outputs = [self.with_axis(whole) for whole in call.outputs]
        if LIBRARY[call.name].failure:
            one = self.new(call.outputs[-1])
            outputs[-1] = one
            after.append(self.copied(self.with_axis(call.outputs[-1]), one))
        sizes = (call.sizes[0] * self.size.const, *call.sizes[1:])
        return (*before, replace(call, inputs=tuple(inputs), outputs=tuple(outputs), sizes=sizes), *after)

    def is_of_columns(self, call: Call) -> bool:
        """Whether all entries have one matrix, and right-hand sides of their own."""
        place = LIBRARY[call.name].columns
        others = [one for position, one in enumerate(call.inputs) if not place or position != place[0]]
        return bool(place) and all(one.buffer not in self.found and len(one.shape) <= 2 for one in others)

    def call_of_columns(self, call: Call) -> Block:
        """A system with one matrix for all entries: their right-hand sides are columns beside each other."""
        position, of_size = LIBRARY[call.name].columns or (0, 0)
        rights, (result, *others) = call.inputs[position], call.outputs
        width = call.sizes[of_size] * self.size.const
        wide, solution = (self.new(one, (rights.shape[0], Lin(width))) for one in (rights, result))
        alone = [self.new(one) for one in others]
        inputs = (*call.inputs[:position], wide, *call.inputs[position + 1 :])
        sizes = (*call.sizes[:of_size], width, *call.sizes[of_size + 1 :])
        return (
            self.columns(self.with_axis(rights), wide, into=True),
            replace(call, inputs=inputs, outputs=(solution, *alone), sizes=sizes),
            self.columns(self.with_axis(result), solution, into=False),
            *(self.copied(self.with_axis(one), new) for one, new in zip(others, alone, strict=True)),
        )

    def columns(self, each: Whole, wide: Whole, into: bool) -> Compute:
        """A copy of the columns of all entries to those of one matrix, or back."""
        entry, row, column = each.access.index
        place = Access(wide.buffer, (row, column.scaled(self.size.const) + entry))
        target, source = (place, each.access) if into else (each.access, place)
        return Compute(each.params, target, source.read(each.dtype))

    def call_of_one(self, call: Call, entry: Lin) -> Block:
        """A call for one entry: on copies of its parts of the buffers."""
        names = {whole.buffer: self.new(whole).buffer for whole in (*call.inputs, *call.outputs)}
        names = {old: new for old, new in names.items() if old in self.found}
        (inner,) = renamed((call,), names)
        before = [self.part(whole, entry, names, into=True) for whole in call.inputs if whole.buffer in names]
        after = [self.part(whole, entry, names, into=False) for whole in call.outputs if whole.buffer in names]
        return (*before, inner, *after)

    def open_loop(self, loop: Loop, entry: Lin | None) -> Block:
        """A loop that ends by data, for one entry: its number of trips is counted in a scalar of its own."""
        assert entry is not None
        (trips,) = set(reads_of(loop))
        one = self.new(Whole(trips.buffer, (), trips.dtype)).access
        inner = _with_element_in(one, trips, loop)
        own = replace(rewrite_statement(inner, rewriter=self.rewriter(entry)), body=self.block(inner.body, entry))
        element = Access(trips.buffer, (entry, *self.rewriter(entry).index(trips.index)))
        before, after = Compute((), one, element.read(trips.dtype)), Compute((), element, one.read(trips.dtype))
        return (before, own, after)

    # --- storage

    def new(self, like: Whole, shape: tuple[Lin, ...] | None = None) -> Whole:
        """A buffer for one entry, or of another shape."""
        shape = like.shape if shape is None else shape
        buffer = replace(self.program.buffers[like.buffer], name=self.names.fresh(f"{like.buffer}_one"), shape=shape)
        self.buffers[buffer.name] = buffer
        return Whole(buffer.name, shape, like.dtype)

    def with_axis(self, whole: Whole, before: list[Statement] | None = None) -> Whole:
        """A buffer with the axis; one that has none is repeated along it, by statements that go to `before`."""
        wide = replace(whole, shape=(self.size, *whole.shape))
        if whole.buffer in self.found:
            return wide
        assert before is not None
        buffer = replace(self.program.buffers[whole.buffer], name=self.names.fresh(f"{whole.buffer}_each"))
        self.buffers[buffer.name] = replace(buffer, shape=wide.shape)
        wide = replace(wide, buffer=buffer.name)
        before.append(self.copied(wide, whole))
        return wide

    def copied(self, wide: Whole, one: Whole) -> Compute:
        index = wide.access.index
        return Compute(wide.params, wide.access, Access(one.buffer, index[1:]).read(one.dtype))

    def part(self, whole: Whole, entry: Lin, names: dict[str, str], into: bool) -> Compute:
        """A copy of an entry's part of a buffer to the one that stands for it, or back."""
        index = whole.access.index
        one, part = Access(names[whole.buffer], index), Access(whole.buffer, (entry, *index))
        target, source = (one, part) if into else (part, one)
        return Compute(whole.params, target, source.read(whole.dtype))


def _with_element_in(scalar: Access, element: Read, loop: Loop) -> Loop:
    """The loop with a scalar in place of an element of a buffer, such as one of many numbers of trips."""

    def moved(node: Expr) -> Expr | None:
        return scalar.read(node.dtype) if node == element else None

    def changed_in(statement: Statement) -> Block:
        statement = rewrite_statement(statement, replace_node=moved)
        if isinstance(statement, Compute) and statement.target == Access(element.buffer, element.index):
            statement = replace(statement, target=scalar)
        return (statement,)

    (inner,) = transform((loop,), changed_in)
    assert isinstance(inner, Loop)
    return inner


def _reads_in(atom: str | Expr) -> list[Read]:
    return [] if isinstance(atom, str) else list(atom.reads)
