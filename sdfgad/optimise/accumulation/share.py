"""Common subexpression elimination across statements: quotients and functions that several need are computed once.

``x[p] += e / s; x[p + 1] += 2.0 * (e / s)`` divides once for each point. After the conversion to a gather (`gather`)
each element would divide once for each neighbour: so the quotients are stored first, and read from there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from sdfgad.ir.expr import Const, Expr, Lin, Op, postorder, reads, rewrite, symbols_of
from sdfgad.ir.ops import OPERATIONS, Cost
from sdfgad.ir.program import Access, Block, Buffer, Compute, Params, Program, Statement, written
from sdfgad.optimise.blocks import everywhere
from sdfgad.optimise.names import names_of
from sdfgad.schedule.target import cpu

# How many statements further down a contribution is looked for.
WINDOW = 24


def share(program: Program) -> Program:
    """The program with such values in temporaries."""
    sharing = _Sharing(program)
    body = everywhere(program.body, sharing.block)
    return replace(program, body=body, buffers={**program.buffers, **sharing.made}) if sharing.made else program


class _Sharing:
    def __init__(self, program: Program) -> None:
        self.names = names_of(program)
        self.made: dict[str, Buffer] = {}

    def block(self, block: Block) -> Block:
        position = 0
        while position < len(block):
            found = _worth_storing(block, position)
            if found is None:
                position += 1
            else:
                block = self.stored(block, position, found)
        return block

    def stored(self, block: Block, position: int, value: Expr) -> Block:
        """A block in which a value is stored, and read from there by all statements for which it is the same."""
        first = block[position]
        assert isinstance(first, Compute)
        own = _own(first.params, value)
        buffer = Buffer(self.names.fresh("shared"), tuple(extent for _, extent in own), value.dtype)
        self.made[buffer.name] = buffer
        target = Access(buffer.name, tuple(Lin.symbol(name) for name, _ in own))
        read = {value: target.read(value.dtype)}
        result: list[Statement] = []
        users = [k for k in _unchanged(block, position, value) if _has(block[k], first.params, value)]
        for k, statement in enumerate(block):
            if k == min(users):
                result.append(Compute(own, target, value, where=first.where))
            if k in users and isinstance(statement, Compute):
                statement = replace(statement, value=rewrite(statement.value, replace=read.get))
            result.append(statement)
        return tuple(result)


def _worth_storing(block: Block, position: int) -> Expr | None:
    """The subexpression whose storing saves most time, for contributions to several elements; None if none does."""
    first = block[position]
    if not isinstance(first, Compute) or not _contributes(first, first):
        return None
    best, most = None, 0
    for value in _candidates(first):
        near = block[position : _changed_at(block[: position + WINDOW], position, value)]
        alike = [s for s in near if _contributes(s, first) and _has(s, first.params, value)]
        places = {s.target.index for s in alike if isinstance(s, Compute)}
        gain = _gain(first.params, value, len(places) - 1)
        if gain > most:
            best, most = value, gain
    return best


def _contributes(statement: Statement, first: Compute) -> bool:
    """Whether a statement adds to the buffer that the first one adds to."""
    if not isinstance(statement, Compute) or statement.accumulate != "add" or statement.fresh:
        return False
    return statement.target.buffer == first.target.buffer


def _candidates(first: Compute) -> Iterator[Expr]:
    """The slow subexpressions of a statement, larger before smaller."""
    waiting, seen, slow = [first.value], set[Expr](), _slow(first)
    while waiting:
        node = waiting.pop(0)
        if node in seen or not isinstance(node, Op):
            continue
        seen.add(node)
        if node.dtype.kind == "f" and node in slow:
            yield node
        waiting += node.args[:1] if OPERATIONS[node.name].is_choice else node.args


def _slow(first: Compute) -> set[Expr]:
    """The subexpressions of a statement that take cycles at each point."""
    names, slow = {name for name, _ in first.params}, set[Expr]()
    for node in postorder(first.value):
        is_here = _weight(node) > 0 and not names.isdisjoint(symbols_of(node))
        if is_here or not slow.isdisjoint(node.children):
            slow.add(node)
    return slow


def _gain(params: Params, value: Expr, more: int) -> int:
    """The cycles saved at each point if a stored value is read by `more` further statements."""
    extents = [extent for _, extent in _own(params, value)]
    if more < 1 or not all(extent.is_const for extent in extents):
        return 0
    size = math.prod(extent.const for extent in extents) * value.dtype.itemsize
    return _cycles(params, value) * more - (cpu().cached_cycles if size <= cpu().cache_bytes else cpu().streamed_cycles)


def _cycles(params: Params, value: Expr) -> int:
    """An estimate of the cycles to compute a value at a point."""
    names = {name for name, _ in params}
    return sum(_weight(node) for node in postorder(value) if not names.isdisjoint(symbols_of(node)))


def _weight(node: Expr) -> int:
    if not isinstance(node, Op) or (node.name == "power" and isinstance(node.args[1], Const)):
        return 0
    operation = OPERATIONS[node.name]
    return (
        cpu().quotient_cycles if operation.cost is Cost.DIVISION else cpu().function_cycles if operation.is_slow else 0
    )


def _own(params: Params, value: Expr) -> Params:
    """The parameters that a value depends on."""
    names = symbols_of(value)
    return tuple((name, extent) for name, extent in params if name in names)


def _has(statement: Statement, params: Params, value: Expr) -> bool:
    """Whether a statement over the same points contains a value."""
    if not isinstance(statement, Compute) or statement.params != params:
        return False
    return any(node is value for node in postorder(statement.value))


def _unchanged(block: Block, position: int, value: Expr) -> list[int]:
    """The positions around one between which no operand of a value is overwritten."""
    low = _changed_at(block[position - 1 :: -1] if position else (), 0, value)
    return list(range(position - low, _changed_at(block, position, value)))


def _changed_at(block: Block, position: int, value: Expr) -> int:
    """The first position from one on at which a statement overwrites an operand of a value; the end if none does."""
    names = {read.buffer for read in reads(value)}
    for k in range(position, len(block)):
        if not names.isdisjoint(block[k].mentioned) and not names.isdisjoint(written((block[k],))):
            return k
    return len(block)
