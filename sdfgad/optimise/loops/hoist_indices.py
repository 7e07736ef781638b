"""Loop-invariant code motion (LICM) of indices read from arrays: `k` in ``for f: y[f] += x[wrap(k[a, n]), f]``.

The C++ compiler does not vectorise a loop in which an address depends on a condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdfgad.ir.expr import Expr, Lin, Op, Read, reads, symbols_of
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    blocks_of,
    rewrite_statement,
    transform,
    walk,
    written,
)
from sdfgad.optimise.blocks import flat_map_inside
from sdfgad.optimise.names import names_of


def hoist_indices(program: Program) -> Program:
    """The program with such indices in scalars, computed before the loops."""
    hoisting = _Hoisting(program)
    # Not between the outermost statements, each of which is a function.
    body = tuple(flat_map_inside(statement, hoisting.statement) for statement in program.body)
    return replace(program, body=body, buffers={**program.buffers, **hoisting.made}) if hoisting.made else program


class _Hoisting:
    def __init__(self, program: Program) -> None:
        self.names = names_of(program)
        self.made: dict[str, Buffer] = {}

    def statement(self, statement: Statement) -> Block:
        """A statement, preceded by the computation of the indices that are the same at all its points."""
        if not _runs(statement) or (isinstance(statement, Compute) and not statement.params):
            return (flat_map_inside(statement, self.statement),)
        changed, bound = written((statement,)), set(_bound(statement))
        found = [
            atom
            for atom in dict.fromkeys(_atoms(statement))
            if bound.isdisjoint(symbols_of(atom)) and changed.isdisjoint(read.buffer for read in reads(atom))
        ]
        known: dict[Expr, Read] = {atom: self.scalar(atom) for atom in found}
        computed = [Compute((), Access(read.buffer), atom) for atom, read in known.items()]
        if not known:
            return (flat_map_inside(statement, self.statement),)
        (after,) = transform((statement,), lambda s: (rewrite_statement(s, replace_node=known.get),))
        return (*computed, after)

    def scalar(self, atom: Expr) -> Read:
        buffer = Buffer(self.names.fresh("place"), (), atom.dtype)
        self.made[buffer.name] = buffer
        return Access(buffer.name).read(atom.dtype)


def _runs(statement: Statement) -> bool:
    """Whether a parallel loop, or a box, certainly has trips: then the elements that it reads exist."""
    if isinstance(statement, Loop):
        return statement.is_parallel and _is_positive(statement.trips)
    return isinstance(statement, Compute) and all(_is_positive(extent) for _, extent in statement.params)


def _is_positive(form: Lin) -> bool:
    return form.is_const and form.const > 0


def _bound(statement: Statement) -> Iterator[str]:
    """The counters and parameters of a statement and what is in it."""
    for nested in walk((statement,)):
        if isinstance(nested, Loop):
            yield nested.var
        elif isinstance(nested, Compute):
            yield from (name for name, _ in nested.params)


def _atoms(statement: Statement) -> Iterator[Expr]:
    """The parts of indices that are read from arrays, in statements that certainly run."""
    if isinstance(statement, Compute) and _runs(statement):
        indices = [statement.target.index, *(read.index for read in _certain(statement.value))]
        for lin in (lin for index in indices for lin in index):
            yield from (atom for atom, _ in lin.terms if isinstance(atom, Expr) and any(r.index for r in reads(atom)))
    elif isinstance(statement, Loop) and _runs(statement):
        for block in blocks_of(statement):
            for nested in block:
                yield from _atoms(nested)


def _certain(node: Expr) -> Iterator[Read]:
    """The elements that an expression reads whatever its conditions are."""
    if isinstance(node, Read):
        yield node
    elif isinstance(node, Op):
        for arg in node.args[: 1 if OPERATIONS[node.name].is_choice else None]:
            yield from _certain(arg)
