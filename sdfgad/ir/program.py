"""Structured programs: buffers, and a tree of statements over them.

Three statements are enough. A `Compute` evaluates one expression for every point of a box and assigns it to, or
accumulates it into, one element per point; element-wise operations, copies, fills, reductions and matrix products
are all of this form. A `Loop` runs its body in order; a `Branch` runs one of two bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sdfgad.errors import Location
from sdfgad.ir.expr import Expr, Read, Rewriter, reads
from sdfgad.ir.linear import IntLike, Lin

Accumulate = Literal["add", "maximum", "minimum"]


@dataclass(frozen=True)
class Buffer:
    """Named storage: shape in elements (0-d is a scalar), dtype, and how the user would call it.

    A tape may have an extent that is known only at run time; every other extent is a number.
    """

    name: str
    shape: tuple[Lin, ...]
    dtype: np.dtype[Any]
    source: str = ""
    where: Location | None = None

    @property
    def is_floating(self) -> bool:
        return self.dtype.kind == "f"


@dataclass(frozen=True)
class Access:
    """One element of a buffer, as linear forms of the symbols in scope."""

    buffer: str
    index: tuple[Lin, ...] = ()

    def read(self, dtype: np.dtype[Any]) -> Read:
        return Read(self.buffer, self.index, dtype)


@dataclass(frozen=True)
class Compute:
    """For every point of the box `params` (name, extent): ``target = value``, or ``target op= value``.

    An assigning `Compute` writes each element at most once, and reads of the target's buffer see either the very
    element that the same point writes or an element that no point writes: the points may run in any order.
    """

    params: tuple[tuple[str, Lin], ...]
    target: Access
    value: Expr
    accumulate: Accumulate | None = None
    where: Location | None = None


@dataclass(frozen=True)
class Loop:
    """``for var = 0, 1, … trips-1: body``, or backwards; `guards` are linear forms that are >= 0 in the body.

    The user's own index is an affine form of `var` in the body; `guards` states its range without the rounding
    that `trips` may contain.
    """

    var: str
    trips: Lin
    body: Block
    guards: tuple[Lin, ...]
    backward: bool = False
    where: Location | None = None


@dataclass(frozen=True)
class Branch:
    """Run `then` where `condition` holds and `orelse` where it does not.

    `guards`, if any, are linear forms that are all >= 0 exactly where the condition holds.
    """

    condition: Expr
    then: Block
    orelse: Block
    guards: tuple[Lin, ...] = ()
    where: Location | None = None


Statement = Compute | Loop | Branch
Block = tuple[Statement, ...]


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
        checks: sites of run-time checks; check k writes k + 1 into the buffer `status`.
    """

    name: str
    buffers: Mapping[str, Buffer]
    inputs: tuple[str, ...]
    integers: tuple[str, ...]
    outputs: Mapping[str, str]
    body: Block
    checks: tuple[tuple[str, Location | None], ...] = ()

    def with_body(self, body: Block) -> Program:
        return replace(self, body=body)


def walk(block: Block) -> Iterator[Statement]:
    """All statements of a block, outer before inner, in program order."""
    for statement in block:
        yield statement
        if isinstance(statement, Loop):
            yield from walk(statement.body)
        elif isinstance(statement, Branch):
            yield from walk(statement.then)
            yield from walk(statement.orelse)


def computes(block: Block) -> Iterator[Compute]:
    return (s for s in walk(block) if isinstance(s, Compute))


def reads_of(statement: Statement) -> list[Read]:
    """What the statement itself reads (not its nested statements): value, indices, bounds, condition."""
    if isinstance(statement, Compute):
        lins = statement.target.index + tuple(extent for _, extent in statement.params)
        return reads(statement.value, *_atoms(lins))
    if isinstance(statement, Branch):
        return reads(statement.condition)
    return reads(*_atoms((statement.trips,)))


def _atoms(lins: tuple[Lin, ...]) -> list[Expr]:
    return [atom for lin in lins for atom, _ in lin.terms if isinstance(atom, Expr)]


def transform(block: Block, each: Callable[[Statement], Block]) -> Block:
    """Rebuild a block bottom-up: `each` maps a statement, its nested blocks already done, to statements."""
    result: list[Statement] = []
    for statement in block:
        if isinstance(statement, Loop):
            statement = replace(statement, body=transform(statement.body, each))
        elif isinstance(statement, Branch):
            then, orelse = transform(statement.then, each), transform(statement.orelse, each)
            statement = replace(statement, then=then, orelse=orelse)
        result.extend(each(statement))
    return tuple(result)


def rewrite_statement(
    statement: Statement,
    symbols: Mapping[str, IntLike] | None = None,
    replace_node: Callable[[Expr], Expr | None] | None = None,
    rename: Mapping[str, str] | None = None,
) -> Statement:
    """A statement itself (not its nested blocks) with symbols, nodes and target buffers replaced."""
    rewriter = Rewriter(symbols or {}, replace_node)
    if isinstance(statement, Compute):
        params = tuple((name, rewriter.index((extent,))[0]) for name, extent in statement.params)
        buffer = (rename or {}).get(statement.target.buffer, statement.target.buffer)
        target = Access(buffer, rewriter.index(statement.target.index))
        return replace(statement, params=params, target=target, value=rewriter(statement.value))
    if isinstance(statement, Branch):
        return replace(statement, condition=rewriter(statement.condition), guards=rewriter.index(statement.guards))
    return replace(statement, trips=rewriter.index((statement.trips,))[0], guards=rewriter.index(statement.guards))
