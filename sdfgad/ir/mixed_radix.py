"""Mixed-radix numbers: the index ``12*a + 4*b + c`` with b < 3 and c < 4 has the digits a, b and c, and so is another
number at every point.

Where digits follow on each other they are one: the numbers above are those of ``4*d + c`` with d < 3*extent of a, and
with a < 2 they are the numbers below 24.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Compute


@dataclass(frozen=True)
class Digits:
    """The numbers ``fixed + sum of weight * digit``, with 0 <= digit < count; the lowest weight comes first."""

    fixed: Lin
    digits: tuple[tuple[int, int], ...]

    def is_all(self, extent: Lin) -> bool:
        """Whether these are all the numbers below an extent."""
        digits = () if extent == Lin(1) else ((1, extent.const),)
        return extent.is_const and self.fixed == Lin(0) and self.digits == digits


def radix_of(form: Lin, extents: Mapping[str, Lin]) -> Digits | None:
    """The digits of a form of parameters, if other values of those that it has always make another value."""
    fixed, found = Lin(form.const), list[tuple[int, int]]()
    for atom, weight in form.terms:
        if not isinstance(atom, str) or atom not in extents:
            fixed = fixed + Lin.symbol(atom).scaled(weight)
        elif not extents[atom].is_const or extents[atom].const < 1 or weight < 0:
            return None
        elif extents[atom] != Lin(1):
            found.append((weight, extents[atom].const))
    found.sort()
    is_apart = all(weight >= low * count for (low, count), (weight, _) in pairwise(found))
    return Digits(fixed, tuple(found)) if is_apart and fixed.symbols.isdisjoint(extents) else None


def digits_of(form: Lin, extents: Mapping[str, Lin]) -> Digits | None:
    """The same, with digits that follow on each other as one: equal for equal sets of values."""
    radix = radix_of(form, extents)
    if radix is None:
        return None
    joined: list[tuple[int, int]] = []
    for weight, count in radix.digits:
        low, below = joined[-1] if joined else (0, 0)
        if joined and weight == low * below:
            joined[-1] = (low, below * count)
        else:
            joined.append((weight, count))
    return Digits(radix.fixed, tuple(joined))


@lru_cache(maxsize=50_000)
def places(statement: Compute) -> tuple[Digits, ...] | None:
    """For each axis of its target the indices at which a statement writes; None if a parameter is in several axes."""
    extents = dict(statement.params)
    found = [digits_of(lin, extents) for lin in statement.target.index]
    mentioned = [atom for lin in statement.target.index for atom, _ in lin.terms if atom in extents]
    is_apart = len(mentioned) == len(set(mentioned))
    return tuple(d for d in found if d is not None) if is_apart and None not in found else None


def writes_all(statement: Compute, shape: tuple[Lin, ...]) -> bool:
    """Whether a statement certainly writes every element of a buffer of this shape."""
    found = places(statement)
    return found is not None and all(d.is_all(extent) for d, extent in zip(found, shape, strict=True))


def is_same_place(a: Compute, b: Compute) -> bool:
    """Whether two statements certainly write the same elements, `a` each one of them once."""
    mine, theirs = places(a), places(b)
    if mine is None or mine != theirs:
        return False
    is_plain = all(d.fixed.is_affine for d in mine)
    used = {atom for lin in a.target.index for atom, _ in lin.terms}
    return is_plain and all(name in used or extent == Lin(1) for name, extent in a.params)
