"""Exact dependence test: the pairs of points at which two accesses meet, as a Presburger set."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sdfgad.dependence.sets import Domain
from sdfgad.dependence.uses import UNKNOWN, Use
from sdfgad.ir.expr import Int, Lin, Rewriter, reads


def there(name: str) -> str:
    """The name of a counter of the second access of a pair."""
    # No counter of a program ends in an underscore.
    return f"{name}_there_"


@lru_cache(maxsize=20_000)
def meeting(a: Use, b: Use, carried: str | None = None) -> Domain | None:
    """The pairs of points at which two uses of a buffer access the same element; those of `b` are named `there`.

    Forms that read data are left out: the set may be larger than that of the program. None where nothing is known.

    Args:
        carried: the counter of a loop around both uses, which are in two trips of it.
    """
    outer = frozenset() if carried is None else frozenset((carried,))
    if not a.names.isdisjoint(_free(b) - outer) or not b.names.isdisjoint(_free(a) - outer):
        return None  # A counter of one has the name of a symbol around both of them.
    renamed = Rewriter({name: Lin.symbol(there(name)) for name in outer | b.names})
    places = zip(a.index, renamed.index(b.index), strict=True)
    pairs = [(x, y) for x, y in places if not _is_data(x) and not _is_data(y)]
    if not pairs and a.index:
        return None
    domain = Domain().with_form(*(form for x, y in pairs for form in (x - y, y - x)))
    ranges = [*a.bound, *((there(name), renamed.index((extent,))[0]) for name, extent in b.bound)]
    for name, extent in ranges:
        domain = domain if extent == UNKNOWN or _is_data(extent) else domain.with_range(name, extent)
    return domain


def _free(use: Use) -> frozenset[str]:
    """The symbols of the loops around a use."""
    forms: Iterable[Lin] = (*use.index, *(extent for _, extent in use.bound))
    return frozenset(name for form in forms for name in form.symbols) - use.names


def _is_data(form: Lin) -> bool:
    return not form.is_affine and bool(reads(Int(form)))
