"""Data hazards (read-after-write, write-after-read) and injectivity within one statement, decided by isl."""

from __future__ import annotations

from collections.abc import Callable

from sdfgad.dependence.sets import Domain
from sdfgad.ir.expr import Expr, Lin, Rewriter, reads, symbols_of
from sdfgad.ir.program import Access

Params = tuple[tuple[str, Lin], ...]


def is_hazard(
    domain: Domain, params: Params, target: Access, value: Expr, is_empty: Callable[[Domain], bool] | None = None
) -> bool:
    """Whether one point may read an element that another point writes, so that the order of points matters.

    Args:
        domain: the constraints on the symbols around the statement.
        is_empty: an emptiness test that replaces `Domain.is_empty`, where the caller knows more constraints.
    """
    others = [r for r in reads(value) if r.buffer == target.buffer and r.index != target.index]
    if not others:
        return False
    primed = {name: Lin.symbol(f"{name}_twin") for name, _ in params}
    for name, extent in params:
        domain = domain.with_range(name, extent).with_range(f"{name}_twin", extent)
    written = Rewriter(primed).index(target.index)
    test = is_empty or (lambda d: d.is_empty)
    return not all(_are_disjoint(domain, read.index, written, test) for read in others)


def is_once(domain: Domain, params: Params, index: tuple[Lin, ...]) -> bool:
    """Whether the index is certainly injective: different points select different elements."""
    primed = {name: Lin.symbol(f"{name}_twin") for name, _ in params}
    for name, extent in params:
        domain = domain.with_range(name, extent).with_range(f"{name}_twin", extent)
    other = Rewriter(primed).index(index)
    domain = domain.with_form(*(f for a, b in zip(index, other, strict=True) for f in (a - b, b - a)))
    # Two different points differ in some parameter, and by symmetry the second may be taken to have the larger value.
    return all(domain.with_form(primed[name] - Lin.symbol(name) - 1).is_empty for name, _ in params)


def _are_disjoint(
    domain: Domain, left: tuple[Lin, ...], right: tuple[Lin, ...], is_empty: Callable[[Domain], bool]
) -> bool:
    equal = [f for a, b in zip(left, right, strict=True) for f in (a - b, b - a)]
    return is_empty(domain.with_form(*equal))


def is_injective(index: tuple[Lin, ...], params: list[str]) -> bool:
    """Whether different values of `params` certainly select different elements.

    Sufficient: each parameter is determined by an axis in which it is the only one not determined already.
    """
    unknown = set(params)
    while unknown:
        found = {name for lin in index for name in [_sole_parameter(lin, unknown)] if name is not None}
        if not found:
            return False
        unknown -= found
    return True


def _sole_parameter(lin: Lin, unknown: set[str]) -> str | None:
    mentioned = lin.symbols & unknown
    if len(mentioned) != 1:
        return None
    (name,) = mentioned
    inside = {s for atom, _ in lin.terms if isinstance(atom, Expr) for s in symbols_of(atom)}
    return name if name not in inside and lin.coefficient(name) else None
