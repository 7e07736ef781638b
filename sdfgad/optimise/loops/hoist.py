"""Loop-invariant code motion (LICM) of expensive scalar values, and of indices read from arrays.

The power in ``A += z**s * H`` is computed once: the C++ compiler moves only functions that it knows, and those of
complex numbers are not among them. So is `k` in ``for f: y[f] += x[wrap(k[a, n]), f]``: it does not vectorise a loop in
which an address depends on a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sdfgad.ir.expr import Expr, Lin, Op, Read, postorder, reads, symbols_of
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
    computes,
    rewrite_statement,
    transform,
    walk,
    written,
)
from sdfgad.optimise.blocks import flat_map, flat_map_inside
from sdfgad.optimise.names import names_of
from sdfgad.schedule.work import is_small_power

# The values of a statement for which it holds that they are invariant.
Candidates = Callable[[Statement, Callable[[Expr], bool]], Iterable[Expr]]


def hoist(program: Program) -> Program:
    """The program with such values in scalars, computed before the loops."""
    values = _Hoisting(program, "fixed", _expensive_values)
    program = values.of(flat_map(program.body, values.statement))
    indices = _Hoisting(program, "place", _certain_indices)
    # Not between the outermost statements, each of which is a function.
    return indices.of(tuple(flat_map_inside(statement, indices.statement) for statement in program.body))


class _Hoisting:
    """Moves invariant values of one kind out of loops, out of as many as possible."""

    def __init__(self, program: Program, name: str, candidates: Candidates) -> None:
        self.program, self.name, self.candidates, self.names = program, name, candidates, names_of(program)
        self.made: dict[str, Buffer] = {}

    def of(self, body: Block) -> Program:
        return replace(self.program, body=body, buffers={**self.program.buffers, **self.made})

    def statement(self, statement: Statement) -> Block:
        """A statement, preceded by the invariant values that it needs."""
        if not isinstance(statement, Loop) and not (isinstance(statement, Compute) and statement.params):
            return (flat_map_inside(statement, self.statement),)
        changed, bound = written((statement,)), set(_bound(statement))

        def stays(value: Expr) -> bool:
            return bound.isdisjoint(symbols_of(value)) and changed.isdisjoint(r.buffer for r in reads(value))

        known = {value: self.scalar(value) for value in dict.fromkeys(self.candidates(statement, stays))}
        before = [Compute((), Access(read.buffer), value, where=statement.where) for value, read in known.items()]
        if known:
            (statement,) = transform((statement,), lambda s: (rewrite_statement(s, replace_node=known.get),))
        return (*before, flat_map_inside(statement, self.statement))

    def scalar(self, value: Expr) -> Read:
        buffer = Buffer(self.names.fresh(self.name), (), value.dtype)
        self.made[buffer.name] = buffer
        return Access(buffer.name).read(value.dtype)


def _bound(statement: Statement) -> Iterator[str]:
    """The counters and parameters of a statement and what is in it."""
    for nested in walk((statement,)):
        if isinstance(nested, Loop):
            yield nested.var
        elif isinstance(nested, Compute):
            yield from (name for name, _ in nested.params)


# --- expensive values


def _expensive_values(statement: Statement, stays: Callable[[Expr], bool]) -> Iterator[Expr]:
    """The largest invariant values, made of scalars, that contain an expensive operation; computing one is safe."""
    for nested in computes((statement,)):
        yield from _largest((nested.value,), stays, set())


def _largest(nodes: Iterable[Expr], stays: Callable[[Expr], bool], seen: set[Expr]) -> Iterator[Expr]:
    for node in nodes:
        # An expression is a graph: its paths may be many more than its nodes.
        if node in seen:
            continue
        seen.add(node)
        if not any(map(_is_expensive, postorder(node))):
            continue
        if stays(node) and not any(read.index for read in reads(node)):
            yield node
        elif isinstance(node, Op):
            yield from _largest(node.args, stays, seen)


def _is_expensive(node: Expr) -> bool:
    """Whether a value is worth a scalar of its own: that of a function or a root is, a quotient is not."""
    if not isinstance(node, Op) or node.name == "divide" or is_small_power(node):
        return False
    return OPERATIONS[node.name].is_expensive


# --- indices


def _certain_indices(statement: Statement, stays: Callable[[Expr], bool]) -> Iterator[Expr]:
    """The parts of indices that are read from arrays, in statements that certainly run: those elements exist."""
    return filter(stays, _atoms(statement))


def _atoms(statement: Statement) -> Iterator[Expr]:
    if isinstance(statement, Compute) and _runs(statement):
        indices = [statement.target.index, *(read.index for read in _certain(statement.value))]
        for lin in (lin for index in indices for lin in index):
            yield from (atom for atom, _ in lin.terms if isinstance(atom, Expr) and any(r.index for r in reads(atom)))
    elif isinstance(statement, Loop) and _runs(statement):
        for block in blocks_of(statement):
            for nested in block:
                yield from _atoms(nested)


def _runs(statement: Statement) -> bool:
    """Whether a parallel loop, or a box, certainly has trips."""
    if isinstance(statement, Loop):
        return statement.is_parallel and _is_positive(statement.trips)
    return isinstance(statement, Compute) and all(_is_positive(extent) for _, extent in statement.params)


def _is_positive(form: Lin) -> bool:
    return form.is_const and form.const > 0


def _certain(node: Expr) -> Iterator[Read]:
    """The elements that an expression reads whatever its conditions are."""
    if isinstance(node, Read):
        yield node
    elif isinstance(node, Op):
        for arg in node.args[: 1 if OPERATIONS[node.name].is_choice else None]:
            yield from _certain(arg)
