"""Normal form of what a statement adds to its target: a sum of terms, each a product of factors.

``y = y - a * (b + c)`` adds the term ``-1 * a * (b + c)``; ``y += a * b - c`` adds the terms ``a * b`` and ``-1 * c``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdfgad.ir.expr import Expr, Lin, Op, reads
from sdfgad.ir.program import Access, Compute, Loop


def increment(target: Access, value: Expr) -> Expr | None:
    """What an assignment of a value adds to the target, where the value is the old one plus or minus something."""
    own = target.read(value.dtype)
    if not isinstance(value, Op) or value.name not in ("add", "subtract") or own not in value.args:
        return None
    left, right = value.args
    if value.name == "subtract":
        return Op("negative", (right,), value.dtype) if left is own else None
    return right if left is own else left


def as_sum(statement: Compute) -> Compute | None:
    """A statement that adds an expression of several elements to its target, as ``target += value``; else None."""
    target, added = statement.target, statement.value
    if statement.accumulate is None:
        found = increment(target, statement.value)
        if found is None:
            return None
        added = found
    elif statement.accumulate != "add":
        return None
    operands = reads(added)
    lins = (*target.index, *(extent for _, extent in statement.params))
    is_sum = isinstance(added, Op) and added.dtype.kind in "fc" and all(lin.is_affine for lin in lins)
    is_plain = len(operands) > 1 and not any(r.children or r.buffer == target.buffer for r in operands)
    return replace(statement, value=added, accumulate="add") if is_sum and is_plain else None


def terms(value: Expr) -> Iterator[Expr]:
    """The terms that an expression is the sum of, each with its sign."""
    if isinstance(value, Op) and value.name in ("add", "subtract"):
        left, right = value.args
        yield from terms(left)
        yield from terms(right if value.name == "add" else Op("negative", (right,), value.dtype))
    elif isinstance(value, Op) and value.name == "negative":
        yield from (Op("negative", (term,), value.dtype) for term in terms(value.args[0]))
    else:
        yield value


def is_negative(term: Expr) -> bool:
    """Whether a product has an odd number of signs."""
    signed = isinstance(term, Op) and term.name in ("negative", "multiply")
    inner = sum(map(is_negative, term.args)) if isinstance(term, Op) and signed else 0
    return (inner + (isinstance(term, Op) and term.name == "negative")) % 2 == 1


def is_counted(loop: Loop) -> bool:
    """Whether the number of trips is a known constant, and more than one."""
    return loop.start == Lin(0) and not loop.is_open and loop.trips.is_const and loop.trips.const > 1
