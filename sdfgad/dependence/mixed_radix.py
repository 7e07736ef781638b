"""Mixed-radix numerals: the index ``12*a + 4*b + c`` with b < 3 and c < 4 has the digits a, b and c, so it is
injective: it has a different value at every point.

Adjacent digits can be joined: the values above are those of ``4*d + c`` with d below 3 times the extent of a, and for
a < 2 they are the numbers from 0 to 23.
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
    """The numbers ``fixed + sum of weight * digit``, 0 <= digit < count; `digits` has (weight, count), lowest first."""

    fixed: Lin
    digits: tuple[tuple[int, int], ...]

    def is_all(self, extent: Lin) -> bool:
        """Whether these are all the numbers from 0 to an extent, exclusive."""
        digits = () if extent == Lin(1) else ((1, extent.const),)
        return extent.is_const and self.fixed == Lin(0) and self.digits == digits


def radix_of(form: Lin, extents: Mapping[str, Lin]) -> Digits | None:
    """The mixed-radix digits of a form of parameters; None if it is not certainly injective in them."""
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
    """As `radix_of`, with adjacent digits joined: a canonical form, equal for equal sets of values."""
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
def written_indices(statement: Compute) -> tuple[Digits, ...] | None:
    """The set of indices that a statement writes, by axis of its target; None if a parameter is in several axes."""
    extents = dict(statement.params)
    found = [digits_of(lin, extents) for lin in statement.target.index]
    mentioned = [atom for lin in statement.target.index for atom, _ in lin.terms if atom in extents]
    is_apart = len(mentioned) == len(set(mentioned))
    return tuple(d for d in found if d is not None) if is_apart and None not in found else None


def writes_all(statement: Compute, shape: tuple[Lin, ...]) -> bool:
    """Whether a statement certainly writes every element of a buffer of this shape."""
    found = written_indices(statement)
    return found is not None and all(d.is_all(extent) for d, extent in zip(found, shape, strict=True))


def writes_same_elements(a: Compute, b: Compute) -> bool:
    """Whether two statements certainly write the same set of elements, and `a` is injective (writes each once)."""
    indices_a, indices_b = written_indices(a), written_indices(b)
    if indices_a is None or indices_a != indices_b:
        return False
    is_plain = all(d.fixed.is_affine for d in indices_a)
    used = {atom for lin in a.target.index for atom, _ in lin.terms}
    return is_plain and all(name in used or extent == Lin(1) for name, extent in a.params)
