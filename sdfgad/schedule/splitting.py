"""Index-set splitting: a loop whose indices wrap around runs in parts in which they do not.

``for i < 8: y[i] = x[(i + 1) % 8]`` is ``for i < 7: y[i] = x[i + 1]`` and ``for 7 <= i < 8: y[i] = x[i - 7]``: vectors,
and no remainders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from sdfgad.ir.expr import Expr, Lin, postorder
from sdfgad.ir.folding import Ranges, division, folded, folded_expression
from sdfgad.ir.program import Access, Block, Compute, Loop

# Into more parts loops are not split.
MOST = 8


def split(loop: Loop) -> list[Loop]:
    """The parts of an innermost parallel loop, in order; the loop itself, if no index wraps around along it."""
    if not loop.is_parallel or loop.backward or not (loop.start.is_const and loop.trips.is_const):
        return [loop]
    body = [s for s in loop.body if isinstance(s, Compute) and not s.params]
    borders = _borders(body, loop.var, loop.start.const, loop.start.const + loop.trips.const)
    if len(body) < len(loop.body) or len(borders) <= 2:
        return [loop]
    return [_trips(loop, a, b) for a, b in pairwise(borders)]


def split_points(statement: Compute, name: str) -> list[Compute]:
    """The parts of a statement along one of its parameters."""
    extents = dict(statement.params)
    if not extents[name].is_const:
        return [statement]
    borders = _borders([statement], name, 0, extents[name].const)
    if len(borders) <= 2:
        return [statement]
    parts = [_part(statement, name, a, b) for a, b in pairwise(borders)]
    is_sum = not any(name in lin.symbols for lin in statement.target.index)
    return [replace(part, fresh=False) if is_sum and k else part for k, part in enumerate(parts)]


def _trips(loop: Loop, start: int, end: int) -> Loop:
    counter, body = Lin.symbol(loop.var), _in(loop.body, {loop.var: (start, end - 1)})
    guards = (counter - start, end - 1 - counter)
    return replace(loop, start=Lin(start), trips=Lin(end - start), guards=guards, body=body)


def _part(statement: Compute, name: str, start: int, end: int) -> Compute:
    (part,) = _in((statement,), {name: (start, end - 1)})
    assert isinstance(part, Compute)
    params = tuple((n, Lin(end - start) if n == name else extent) for n, extent in part.params)
    moved = {name: Lin.symbol(name) + start}
    index = tuple(lin.substitute(moved, lambda atom: folded_expression(atom, moved, {})) for lin in part.target.index)
    value = folded_expression(part.value, moved, {})
    return replace(part, params=params, target=Access(part.target.buffer, index), value=value)


def _in(block: Block, ranges: Ranges) -> Block:
    """The statements with indices as they are where symbols have these ranges."""
    return tuple(
        replace(
            statement,
            target=Access(statement.target.buffer, tuple(folded(lin, ranges) for lin in statement.target.index)),
            value=folded_expression(statement.value, {}, ranges),
        )
        for statement in block
        if isinstance(statement, Compute)
    )


def _borders(statements: Iterable[Compute], name: str, start: int, end: int) -> list[int]:
    """Where a counter's range is to be split, its ends included; those alone, if there would be too many parts."""
    found = {start, end}
    for form, n in _wrapped(statements, name):
        rest = form - Lin.symbol(name)
        if form.coefficient(name) == 1 and rest.is_const:
            found |= {k for k in range(start + 1, end) if (k + rest.const) % n == 0}
    return sorted(found) if len(found) <= MOST + 1 else [start, end]


def _wrapped(statements: Iterable[Compute], name: str) -> Iterator[tuple[Lin, int]]:
    """The forms of a symbol of which statements take remainders, and the divisors."""
    for statement in statements:
        atoms = [atom for lin in statement.target.index for atom, _ in lin.terms if isinstance(atom, Expr)]
        for node in postorder(statement.value, *atoms):
            parts = division(node)
            if parts is not None and parts[0] == "remainder" and name in parts[1].symbols:
                yield parts[1], parts[2]
