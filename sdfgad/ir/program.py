"""Structured programs: buffers, and a tree of statements over them.

Four statements are enough. A `Compute` evaluates one expression for every point of a box and assigns it to, or
accumulates it into, one element per point; element-wise operations, copies, fills, reductions and matrix products
are all of this form. A `Call` runs a library function, such as a linear solver, on whole buffers. A `Loop` runs its
body in order; a `Branch` runs one of two bodies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, Literal, TypeVar, cast

import numpy as np

from sdfgad.errors import Location, SdfgadError
from sdfgad.ir.expr import Expr, Int, IntLike, Lin, Read, Rewriter, reads
from sdfgad.options import Device

FIRST_CHECK = 1 << 30
# A status above that is the code of a check, and in these units what it has counted.
SLOTS = 1 << 31
# The buffer that each call that communicates reads and writes.
MESSAGES = "messages"
ZERO = Lin(0)
Accumulate = Literal["add", "maximum", "minimum"]
Params = tuple[tuple[str, Lin], ...]


@dataclass(frozen=True)
class Buffer:
    """Named storage: shape in elements (0-d is a scalar), dtype, the user's name of it and the line that defines it.

    A tape may have an extent that is known only at run time; every other extent is a number. What `is_pinned` is
    recomputed for the reverse sweep, where that is possible (`sdfgad.checkpoint`). What `is_on_device` is in the memory
    of an accelerator, which the host does not access.
    """

    name: str
    shape: tuple[Lin, ...]
    dtype: np.dtype[Any]
    source: str = ""
    where: Location | None = None
    is_pinned: bool = False
    is_on_device: bool = False

    @property
    def is_floating(self) -> bool:
        """Whether values have derivatives: real or complex."""
        return self.dtype.kind in "fc"

    @property
    def is_single(self) -> bool:
        """Whether the storage is a single element (at most one; empty buffers are stored as one)."""
        return all(extent.is_const and extent.const <= 1 for extent in self.shape)


@dataclass(frozen=True)
class Access:
    """One element of a buffer, as linear forms of the symbols in scope."""

    buffer: str
    index: tuple[Lin, ...] = ()

    def read(self, dtype: np.dtype[Any]) -> Read:
        return Read(self.buffer, self.index, dtype)


class Node:
    """Base of statements: caches their hash and their use-def sets (the buffers that they read and write)."""

    def __hash__(self) -> int:
        found = self.__dict__.get("_hash")
        if found is None:
            found = hash(tuple(getattr(self, field.name) for field in fields(self)))  # type: ignore[arg-type]
            self.__dict__["_hash"] = found
        return int(found)

    @cached_property
    def read(self) -> tuple[Read, ...]:
        """The reads of the statement itself, without its nested statements."""
        return tuple(_reads_of(cast("Statement", self)))

    @cached_property
    def touched(self) -> frozenset[str]:
        """The buffers that the statement itself reads or writes."""
        statement = cast("Statement", self)
        written = (access.buffer for access, _ in writes_of(statement))
        return frozenset(read.buffer for read in self.read).union(written)

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """The buffers that the statement, or one nested in it, reads or writes."""
        statement = cast("Statement", self)
        nested = (s.mentioned for block in blocks_of(statement) for s in block)
        return self.touched.union(*nested)

    @cached_property
    def guarding(self) -> frozenset[str]:
        """The buffers of which the statement's own guards speak, which may be no longer there."""
        return frozenset(read.buffer for read in reads(*map(Int, getattr(self, "guards", ()))))

    @cached_property
    def named(self) -> frozenset[str]:
        """The buffers that the statement, or one nested in it, reads or writes, or of which their guards speak."""
        nested = (s.named for block in blocks_of(cast("Statement", self)) for s in block)
        return self.touched.union(self.guarding, *nested)

    @cached_property
    def size(self) -> int:
        """The number of statements nested in it."""
        return sum(s.size + 1 for block in blocks_of(cast("Statement", self)) for s in block)

    @cached_property
    def written(self) -> frozenset[str]:
        """The buffers that the statement, or one nested in it, writes."""
        statement = cast("Statement", self)
        nested = (s.written for block in blocks_of(statement) for s in block)
        return frozenset(access.buffer for access, _ in writes_of(statement)).union(*nested)


@dataclass(frozen=True)
class Compute(Node):
    """For every point of the box `params` (name, extent): ``target = value``, or ``target op= value``.

    An assigning `Compute` writes each element at most once, and reads of the target's buffer see either the very
    element that the same point writes or an element that no point writes: the points may run in any order.
    Where it is `fresh`, an accumulation clears its target first: ``target = sum`` over the points that share one.
    """

    __hash__ = Node.__hash__

    params: Params
    target: Access
    value: Expr
    accumulate: Accumulate | None = None
    where: Location | None = None
    fresh: bool = False

    @property
    def assigns(self) -> bool:
        """Whether the target's old value is overwritten (killed), not accumulated into."""
        return self.accumulate is None or self.fresh


@dataclass(frozen=True)
class Whole:
    """All of a buffer."""

    buffer: str
    shape: tuple[Lin, ...]
    dtype: np.dtype[Any]

    @property
    def params(self) -> Params:
        """A box with one point for each element; the parameters' names are used for nothing else."""
        return tuple((f"w{axis}_", extent) for axis, extent in enumerate(self.shape))

    @property
    def access(self) -> Access:
        return Access(self.buffer, tuple(Lin.symbol(name) for name, _ in self.params))


@dataclass(frozen=True)
class Call(Node):
    """``outputs = name(inputs, sizes)``, by a function of ``targets/cpu/include``; see `sdfgad.ir.library`.

    The outputs are other buffers than the inputs, and every element of them is written.
    """

    __hash__ = Node.__hash__

    name: str
    inputs: tuple[Whole, ...]
    outputs: tuple[Whole, ...]
    sizes: tuple[int, ...]
    where: Location | None = None


@dataclass(frozen=True)
class Loop(Node):
    """``for var = start, … start+trips-1: body``, or backwards; `guards` are linear forms that are >= 0 in the body.

    A loop of the user's starts at 0: the user's own index is an affine form of `var` in the body; `guards` states its
    range without the rounding that `trips` may contain. If the loop `is_open`, `trips` is a scalar buffer, which the
    body changes: after the loop it has the number of trips. The trips of a loop that `is_parallel` may run in any
    order: what one writes, no other one touches, except that several may accumulate into the same element. One that
    `is_in_block` is a kernel of a device: one block of threads runs all trips in order.
    """

    __hash__ = Node.__hash__

    var: str
    trips: Lin
    body: Block
    guards: tuple[Lin, ...]
    backward: bool = False
    where: Location | None = None
    is_open: bool = False
    start: Lin = ZERO
    is_parallel: bool = False
    is_in_block: bool = False

    @staticmethod
    def over(var: str, trips: Lin, body: Block, where: Location | None = None, *, is_parallel: bool = False) -> Loop:
        """``for var < trips: body``, with guards that say so."""
        return Loop(var, trips, body, guards_of(var, trips), where=where, is_parallel=is_parallel)

    def with_trips(self, trips: Lin, body: Block) -> Loop:
        """The loop with another number of trips, from 0 on, and another body."""
        return replace(self, trips=trips, body=body, guards=guards_of(self.var, trips))

    @cached_property
    def users(self) -> Mapping[str, Block]:
        """Use-def chain: each buffer that the body mentions -> the statements of the body that mention it, in order."""
        return users_of(self.body)


def guards_of(var: str, trips: Lin) -> tuple[Lin, Lin]:
    """The forms that are >= 0 where ``0 <= var < trips``."""
    counter = Lin.symbol(var)
    return counter, trips - counter - 1


@dataclass(frozen=True)
class Branch(Node):
    """Run `then` where `condition` holds and `orelse` where it does not.

    `guards`, if any, are linear forms that are all >= 0 exactly where the condition holds.
    """

    __hash__ = Node.__hash__

    condition: Expr
    then: Block
    orelse: Block
    guards: tuple[Lin, ...] = ()
    where: Location | None = None


Statement = Compute | Call | Loop | Branch
S = TypeVar("S", bound=Statement)
Block = tuple[Statement, ...]


@dataclass(frozen=True)
class Check:
    """A run-time check: the error that is raised where it fails, with its message, the user's line and advice."""

    error: type[SdfgadError]
    message: str
    where: Location | None
    todo: str

    def failure(self) -> SdfgadError:
        return self.error(self.message, self.where, self.todo)

    def exceeded(self, count: int) -> Check:
        """The check after a run in which it has failed, and has counted so many of what there were too few."""
        return self


@dataclass(frozen=True)
class Program:
    """A program over buffers.

    Attributes:
        name: a C identifier.
        buffers: all storage by name.
        inputs: buffers that the caller passes and that no statement writes.
        integers: run-time integer symbols that the caller passes.
        outputs: what the caller receives: output name -> buffer.
        body: the statements in order.
        checks: run-time checks; where check k fails, the buffer `status` is at least ``FIRST_CHECK - 1 - k``.
        bounds: run-time integers that are extents of axes and may be too small: the compiled program stops before it
            writes beyond such an axis, and reports it.
        device: "cpu" or "gpu": what it is optimised for, and runs on.
    """

    name: str
    buffers: Mapping[str, Buffer]
    inputs: tuple[str, ...]
    integers: tuple[str, ...]
    outputs: Mapping[str, str]
    body: Block
    checks: tuple[Check, ...] = ()
    bounds: tuple[str, ...] = ()
    device: Device = "cpu"

    def with_body(self, body: Block) -> Program:
        return replace(self, body=body)

    @cached_property
    def users(self) -> Mapping[str, Block]:
        """Use-def chain: each mentioned buffer -> the statements of the body that mention it, in order."""
        return users_of(self.body)

    @cached_property
    def interface(self) -> frozenset[str]:
        """The interface: the buffers that the caller passes or receives, `status` and `MESSAGES`."""
        return frozenset((*self.inputs, *self.outputs.values(), "status", MESSAGES))

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """All names that it uses: of buffers, run-time integers, loop counters and parameters."""
        loops = {statement.var for statement in walk(self.body) if isinstance(statement, Loop)}
        params = {name for statement in computes(self.body) for name, _ in statement.params}
        return frozenset((*self.buffers, *self.integers)) | loops | params

    def failed(self, status: int) -> Check | None:
        """The first check that failed, given what `status` holds after a run."""
        if not status:
            return None
        count, code = divmod(status, SLOTS)
        return self.checks[FIRST_CHECK - 1 - code].exceeded(count)


def users_of(block: Block) -> dict[str, Block]:
    """Use-def chain of a block: each buffer -> the statements of the block that mention it, in order."""
    found: dict[str, list[Statement]] = {}
    for statement in block:
        for name in statement.mentioned:
            found.setdefault(name, []).append(statement)
    return {name: tuple(statements) for name, statements in found.items()}


def touch_counts(block: Block) -> Counter[str]:
    """How many statements, also nested ones, read or write a buffer themselves."""
    return Counter(name for statement in walk(block) for name in statement.touched)


def touching(users: Mapping[str, Block], name: str) -> Iterator[Statement]:
    """The statements, also nested ones, that mention a buffer, outer before inner, in program order."""
    for statement in users.get(name, ()):
        yield statement
        if isinstance(statement, Loop):
            yield from touching(statement.users, name)
        elif isinstance(statement, Branch):
            yield from touching(users_of((*statement.then, *statement.orelse)), name)


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks nested in a statement."""
    if isinstance(statement, Loop):
        return (statement.body,)
    return (statement.then, statement.orelse) if isinstance(statement, Branch) else ()


def with_blocks(statement: Statement, each: Callable[[Block], Block]) -> Statement:
    """The statement with `each` applied to the blocks nested in it, in program order."""
    if isinstance(statement, Loop):
        return changed(statement, body=each(statement.body))
    if isinstance(statement, Branch):
        then = each(statement.then)
        return changed(statement, then=then, orelse=each(statement.orelse))
    return statement


def walk(block: Block) -> Iterator[Statement]:
    """All statements of a block, outer before inner, in program order."""
    waiting = list(reversed(block))
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, Loop):
            waiting.extend(reversed(statement.body))
        elif isinstance(statement, Branch):
            waiting.extend(reversed(statement.orelse))
            waiting.extend(reversed(statement.then))


def computes(block: Block) -> Iterator[Compute]:
    return (s for s in walk(block) if isinstance(s, Compute))


def writes_of(statement: Statement) -> list[tuple[Access, Params]]:
    """The writes of the statement itself: pairs of an access and the box for whose points it is done."""
    if isinstance(statement, Compute):
        return [(statement.target, statement.params)]
    return [(whole.access, whole.params) for whole in statement.outputs] if isinstance(statement, Call) else []


def written(block: Block) -> set[str]:
    """The buffers that a block writes."""
    return set().union(*(statement.written for statement in block))


def buffers_of(statement: Statement) -> frozenset[str]:
    """The buffers that the statement itself reads or writes."""
    return statement.touched


def boxed_reads(statement: Statement) -> list[tuple[Read, Params]]:
    """The reads of the statement itself, each with the box for whose points it is done."""
    if isinstance(statement, Call):
        return [(whole.access.read(whole.dtype), whole.params) for whole in statement.inputs]
    params = statement.params if isinstance(statement, Compute) else ()
    return [(read, params) for read in reads_of(statement)]


def reads_of(statement: Statement) -> list[Read]:
    """The reads of the statement itself (not of nested statements): in value, indices, bounds, condition."""
    return list(statement.read)


def _reads_of(statement: Statement) -> list[Read]:
    if isinstance(statement, Call):
        return [whole.access.read(whole.dtype) for whole in statement.inputs]
    if isinstance(statement, Compute):
        lins = statement.target.index + tuple(extent for _, extent in statement.params)
        return reads(statement.value, *_atoms(lins))
    if isinstance(statement, Branch):
        return reads(statement.condition)
    return reads(*_atoms((statement.start, statement.trips)))


def _atoms(lins: tuple[Lin, ...]) -> list[Expr]:
    return [atom for lin in lins for atom, _ in lin.terms if isinstance(atom, Expr)]


def transform(block: Block, each: Callable[[Statement], Block], buffers: Collection[str] | None = None) -> Block:
    """Rebuild a block bottom-up: `each` maps a statement, its nested blocks already done, to statements.

    With `buffers`, statements that mention none of these stay as they are.
    """
    result: list[Statement] = []
    inside = partial(transform, each=each, buffers=buffers)
    for statement in block:
        if buffers is not None and statement.mentioned.isdisjoint(buffers):
            result.append(statement)
        else:
            result.extend(each(with_blocks(statement, inside)))
    return tuple(result)


def changed(statement: S, **values: Any) -> S:
    """As `dataclasses.replace`; but the statement itself, with its caches, if no field changes."""
    is_same = all(_is_same(getattr(statement, name), value) for name, value in values.items())
    return statement if is_same else replace(statement, **values)


def _is_same(old: Any, new: Any) -> bool:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) == len(new) and all(map(_is_same, old, new))
    return old is new or (isinstance(old, (Lin, Access, str)) and old == new)


def rewrite_statement(
    statement: S,
    symbols: Mapping[str, IntLike] | None = None,
    replace_node: Callable[[Expr], Expr | None] | None = None,
    rewriter: Rewriter | None = None,
) -> S:
    """A statement itself (not its nested blocks) with symbols and nodes replaced; a call has neither.

    Args:
        rewriter: what replaces them, if several statements share one.
    """
    rewriter = rewriter or Rewriter(symbols or {}, replace_node)
    if isinstance(statement, Call):
        return statement
    if isinstance(statement, Compute):
        params = tuple((name, rewriter.index((extent,))[0]) for name, extent in statement.params)
        target = Access(statement.target.buffer, rewriter.index(statement.target.index))
        return changed(statement, params=params, target=target, value=rewriter(statement.value))
    if isinstance(statement, Branch):
        return changed(statement, condition=rewriter(statement.condition), guards=rewriter.index(statement.guards))
    start, trips = rewriter.index((statement.start, statement.trips))
    return changed(statement, start=start, trips=trips, guards=rewriter.index(statement.guards))


def reindexed(statement: Compute, params: Params, symbols: Mapping[str, IntLike]) -> Compute:
    """A statement over other parameters, of which its old ones, and other symbols, are forms."""
    return replace(rewrite_statement(replace(statement, params=()), symbols), params=params)


def substituted(block: Block, symbols: Mapping[str, IntLike]) -> Block:
    """A block with forms in place of symbols, in nested blocks, too."""
    return transform(block, lambda statement: (rewrite_statement(statement, symbols),))
