"""Value-range analysis: check elimination, and simplification of what the ranges of integers decide.

Maxima and minima that cannot change their targets, above all index checks, go. So do clips and wraparounds of integers
that are in range anyway, and choices whose condition has one outcome.

The range of a buffer covers all values that the program ever writes to it, so that indices which the program computes
itself need no check. Of values that come from the caller or from library functions nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from sdfgad.ir.expr import Atom, Const, Expr, Int, Lin, Op, Read, Rewriter
from sdfgad.ir.program import (
    Block,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    blocks_of,
    rewrite_statement,
    transform,
    with_blocks,
    writes_of,
)

# The least and the greatest value; booleans are 0 and 1.
Range = tuple[int, int]
# None: nothing is known.
Ranges = Mapping[str, Range | None]
# So often ranges may grow; one that goes on is that of a counter or a sum.
ROUNDS = 4
DECIDABLE = frozenset(("select", "wrap", "maximum", "minimum"))


def remove_decided(program: Program) -> Program:
    """The program without maxima and minima that cannot change their targets, and without decided expressions."""
    ranges = _of_buffers(program)
    program = program.with_body(_simplified(program.body, ranges, {}))
    decided = [(id(s), _is_idle(s, _Values(ranges, symbols))) for s, symbols in _computes(program.body, {})]
    # One statement may stand in several places.
    idle = {name for name, is_idle in decided if is_idle} - {name for name, is_idle in decided if not is_idle}
    return program.with_body(transform(program.body, lambda s: () if id(s) in idle else (s,))) if idle else program


def _simplified(block: Block, ranges: Ranges, symbols: Ranges) -> Block:
    return tuple(_simple(statement, ranges, symbols) for statement in block)


def _simple(statement: Statement, ranges: Ranges, symbols: Ranges) -> Statement:
    inside = {**symbols, **_inside(statement)}
    values = _Values(ranges, inside)
    simple = rewrite_statement(statement, rewriter=Rewriter({}, values.decided))
    return with_blocks(simple, lambda nested: _simplified(nested, ranges, inside))


def _is_idle(statement: Compute, values: _Values) -> bool:
    if statement.accumulate not in ("maximum", "minimum") or statement.fresh:
        return False
    old, new = values.buffers.get(statement.target.buffer), values.of(statement.value)
    if old is None or new is None:
        return False
    return new[1] <= old[0] if statement.accumulate == "maximum" else new[0] >= old[1]


def _of_buffers(program: Program) -> dict[str, Range | None]:
    """The range of each buffer of integers or booleans that the program fills itself."""
    found: dict[str, Range | None] = dict.fromkeys(program.inputs)
    computes = [(s, symbols) for s, symbols in _computes(program.body, {}) if _is_integer(program, s)]
    found |= dict.fromkeys(_made_by_calls(program.body))
    for turn in range(ROUNDS * 2):
        before = dict(found)
        for statement, symbols in computes:
            _widen(found, statement, _Values(found, symbols), is_last=turn >= ROUNDS)
        if found == before:
            return found
    return dict.fromkeys(program.buffers)


def _is_integer(program: Program, statement: Compute) -> bool:
    return program.buffers[statement.target.buffer].dtype.kind in "bi"


def _widen(found: dict[str, Range | None], statement: Compute, values: _Values, is_last: bool) -> None:
    """Extends a buffer's range by the values that a statement writes."""
    name = statement.target.buffer
    if statement.accumulate == "add":
        found[name] = None
    if name in found and found[name] is None:
        return
    new, old = values.of(statement.value), found.get(name)
    wide = new if old is None or new is None else _hull(old, new)
    found[name] = None if is_last and wide != old else wide


def _computes(block: Block, symbols: Ranges) -> Iterator[tuple[Compute, Ranges]]:
    """The statements that compute, each with the ranges of the counters and parameters in scope."""
    for statement in block:
        inside = {**symbols, **_inside(statement)}
        if isinstance(statement, Compute):
            yield statement, inside
        for nested in blocks_of(statement):
            yield from _computes(nested, inside)


def _inside(statement: Statement) -> Ranges:
    """The ranges of a statement's own counters."""
    if isinstance(statement, Compute):
        return _of_params(statement.params)
    if not isinstance(statement, Loop):
        return {}
    is_known = statement.start.is_const and statement.trips.is_const and not statement.is_open
    first, last = statement.start.const, statement.start.const + statement.trips.const - 1
    return {statement.var: (first, max(first, last)) if is_known else None}


def _of_params(params: Params) -> dict[str, Range | None]:
    return {name: (0, max(extent.const - 1, 0)) if extent.is_const else None for name, extent in params}


def _made_by_calls(block: Block) -> Iterator[str]:
    for statement in block:
        if not isinstance(statement, Compute):
            yield from (access.buffer for access, _ in writes_of(statement))
            for nested in blocks_of(statement):
                yield from _made_by_calls(nested)


def _hull(a: Range, b: Range) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])


class _Values:
    """Interval arithmetic: the ranges of expressions, given those of buffers and symbols."""

    def __init__(self, buffers: Ranges, symbols: Ranges) -> None:
        self.buffers, self.symbols = buffers, symbols
        self._known: dict[Expr, Range | None] = {}

    def of(self, node: Expr) -> Range | None:
        """The range of an integer or boolean expression; None if it is unknown, or the expression is neither."""
        if node.dtype.kind not in "bi":
            return None
        if node not in self._known:
            self._known[node] = self._of(node)
        return self._known[node]

    def _of(self, node: Expr) -> Range | None:
        found = self._found(node)
        if node.dtype.kind == "b":
            return _truth(found)
        return found if found is not None and _fits(found, node.dtype) else None

    def _found(self, node: Expr) -> Range | None:
        if isinstance(node, Const):
            return int(node.value), int(node.value)
        if isinstance(node, Int):
            return self.form(node.value)
        if isinstance(node, Read):
            return self.buffers.get(node.buffer)
        assert isinstance(node, Op)
        if node.name == "select":
            return self._choice(*node.args)
        if node.name == "cast":
            # Of a real number nothing is known.
            return self.of(node.args[0]) if node.args[0].dtype.kind in "bi" else None
        args = [self.of(arg) for arg in node.args]
        if node.name in ("maximum", "minimum"):
            # Of these an unknown operand leaves one side known.
            args = [_limits(node.dtype) if arg is None else arg for arg in args]
        if node.name.startswith("logical_"):
            args = [_truth(arg) for arg in args]
        known = [arg for arg in args if arg is not None]
        if node.name not in RULES or len(known) < len(args):
            return None
        return RULES[node.name](*known)

    def _choice(self, condition: Expr, first: Expr, second: Expr) -> Range | None:
        which, a, b = self.of(condition), self.of(first), self.of(second)
        if which == (1, 1):
            return a
        if which == (0, 0):
            return b
        return None if a is None or b is None else _hull(a, b)

    def decided(self, node: Expr) -> Expr | None:
        """What an expression is equal to, if ranges decide it: one of its operands."""
        if not isinstance(node, Op) or node.name not in DECIDABLE:
            return None
        args = [self.of(arg) for arg in node.args]
        if node.name == "select" and args[0] in ((0, 0), (1, 1)):
            chosen = node.args[1] if args[0] == (1, 1) else node.args[2]
            return chosen if chosen.dtype == node.dtype else None
        known = [arg for arg in args if arg is not None]
        if len(known) < len(args):
            return None
        if node.name == "wrap":
            return node.args[0] if known[0][0] >= 0 and known[0][1] < known[1][0] else None
        if node.name in ("maximum", "minimum") and {arg.dtype for arg in node.args} == {node.dtype}:
            return _extreme(node, *known)
        return None

    def form(self, form: Lin) -> Range | None:
        low = high = form.const
        for atom, coefficient in form.terms:
            span = self._atom(atom)
            if span is None:
                return None
            ends = coefficient * span[0], coefficient * span[1]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _atom(self, atom: Atom) -> Range | None:
        return self.symbols.get(atom) if isinstance(atom, str) else self.of(atom)


def _fits(span: Range, dtype: np.dtype[Any]) -> bool:
    """Whether a dtype can hold a range, so that no arithmetic has wrapped around."""
    limits = np.iinfo(dtype)
    return bool(limits.min <= span[0] and span[1] <= limits.max)


def _compared(is_true: Callable[[Range, Range], bool], is_false: Callable[[Range, Range], bool]) -> Any:
    return lambda a, b: (1, 1) if is_true(a, b) else (0, 0) if is_false(a, b) else (0, 1)


def _extreme(node: Op, first: Range, second: Range) -> Expr | None:
    """The operand of a maximum or minimum that is always the one; None if either may be."""
    if node.name == "minimum":
        # Of the negatives it is the maximum.
        first, second = (-first[1], -first[0]), (-second[1], -second[0])
    if first[0] >= second[1]:
        return node.args[0]
    return node.args[1] if second[0] >= first[1] else None


def _limits(dtype: np.dtype[Any]) -> Range | None:
    """The range of a dtype of integers."""
    return (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) if dtype.kind in "iu" else None


def _truth(span: Range | None) -> Range:
    """The range of numbers as booleans: all but 0 are true."""
    if span is None or span[0] <= 0 <= span[1]:
        return (0, 0) if span == (0, 0) else (0, 1)
    return 1, 1


def _product(a: Range, b: Range) -> Range:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _remainder(a: Range, b: Range) -> Range | None:
    if b[0] < 1:
        return None
    return a if a[0] >= 0 and a[1] < b[0] else (0, b[1] - 1)


RULES: dict[str, Callable[..., Range | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "subtract": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "multiply": _product,
    "negative": lambda a: (-a[1], -a[0]),
    "minimum": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "maximum": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "remainder": _remainder,
    "floor_divide": lambda a, b: (a[0] // b[0], a[1] // b[0]) if b[0] == b[1] > 0 else None,
    "wrap": lambda a, n: (0, n[1] - 1) if n[0] > 0 else None,
    "less": _compared(lambda a, b: a[1] < b[0], lambda a, b: a[0] >= b[1]),
    "less_equal": _compared(lambda a, b: a[1] <= b[0], lambda a, b: a[0] > b[1]),
    "greater": _compared(lambda a, b: a[0] > b[1], lambda a, b: a[1] <= b[0]),
    "greater_equal": _compared(lambda a, b: a[0] >= b[1], lambda a, b: a[1] < b[0]),
    "logical_not": lambda a: (1 - a[1], 1 - a[0]),
    "logical_and": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "logical_or": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}
