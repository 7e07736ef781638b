"""Leaf statements of a nest, each with the loops and branches around it; and the nest for some of its trips.

A counter of a leaf is one of its parameters, or the counter of a loop around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, Branch, Compute, Loop, Statement, rewrite_statement, substituted


def leaves(statement: Statement) -> Iterator[tuple[Statement, Statement]]:
    """The leaf statements of a nest, each also with the loops and branches around it, and nothing else in these."""
    if isinstance(statement, Loop):
        for nested in statement.body:
            yield from ((leaf, replace(statement, body=(nest,))) for leaf, nest in leaves(nested))
    elif isinstance(statement, Branch):
        for nested in statement.then:
            yield from ((leaf, replace(statement, then=(nest,), orelse=())) for leaf, nest in leaves(nested))
        for nested in statement.orelse:
            yield from ((leaf, replace(statement, then=(), orelse=(nest,))) for leaf, nest in leaves(nested))
    else:
        yield statement, statement


def runs(leaf: Statement, nest: Statement, counter: str, length: int) -> bool:
    """Whether a counter of a leaf, or of a loop around it, has exactly `length` values, known beforehand."""
    if isinstance(leaf, Compute) and counter in dict(leaf.params):
        return dict(leaf.params)[counter] == Lin(length)
    while isinstance(nest, (Loop, Branch)):
        if isinstance(nest, Loop) and nest.var == counter:
            return nest.trips == Lin(length) and nest.start == Lin(0) and not nest.is_open
        (nest,) = nest.body if isinstance(nest, Loop) else nest.then + nest.orelse
    return False


def agree(statement: Statement, along: Iterator[str]) -> bool:
    """Whether in each loop either all leaves are cut along the loop's counter, or none of them are."""
    return _common(statement, along) is not None


def _common(statement: Statement, along: Iterator[str]) -> set[str] | None:
    """The counters of a statement's leaves; None if some leaves of a loop are cut along its counter and others not."""
    if not isinstance(statement, (Loop, Branch)):
        return {next(along)}
    nested = statement.body if isinstance(statement, Loop) else statement.then + statement.orelse
    found = [_common(one, along) for one in nested]
    names = set[str]().union(*(one for one in found if one is not None))
    is_mixed = isinstance(statement, Loop) and statement.var in names and names != {statement.var}
    return None if is_mixed or None in found else names


def restricted(statement: Statement, along: Iterator[str], start: Lin, width: int) -> tuple[Statement, set[str]]:
    """A statement for `width` values from `start` on of the counters `along`, one for each leaf; and these counters."""
    if isinstance(statement, Compute):
        counter = next(along)
        if counter not in dict(statement.params):
            return statement, {counter}
        moved = rewrite_statement(statement, {counter: Lin.symbol(counter) + start})
        params = tuple((name, Lin(width) if name == counter else extent) for name, extent in moved.params)
        return replace(moved, params=params), {counter}
    if isinstance(statement, Branch):
        then, orelse = (_block(block, along, start, width) for block in (statement.then, statement.orelse))
        return replace(statement, then=then[0], orelse=orelse[0]), then[1] | orelse[1]
    assert isinstance(statement, Loop)
    body, counters = _block(statement.body, along, start, width)
    if statement.var not in counters:
        return replace(statement, body=body), counters
    body = substituted(body, {statement.var: Lin.symbol(statement.var) + start})
    return statement.with_trips(Lin(width), body), counters


def _block(block: Block, along: Iterator[str], start: Lin, width: int) -> tuple[Block, set[str]]:
    found = [restricted(statement, along, start, width) for statement in block]
    return tuple(statement for statement, _ in found), set[str]().union(*(names for _, names in found))
