"""Whether the points of a statement may run in any order."""

from __future__ import annotations

from collections.abc import Callable

from sdfgad.ir.expr import Expr, Lin, Rewriter, reads
from sdfgad.ir.program import Access
from sdfgad.ir.sets import Domain

Params = tuple[tuple[str, Lin], ...]


def is_hazard(
    domain: Domain, params: Params, target: Access, value: Expr, is_empty: Callable[[Domain], bool] | None = None
) -> bool:
    """Whether some point may read, through another index than its own, an element that a point writes.

    Args:
        domain: what holds for the symbols around the statement.
        is_empty: decides emptiness of a domain, where more is known than the domain says.
    """
    others = [r for r in reads(value) if r.buffer == target.buffer and r.index != target.index]
    if not others:
        return False
    twins = {name: Lin.symbol(f"{name}_twin") for name, _ in params}
    for name, extent in params:
        domain = domain.with_range(name, extent).with_range(f"{name}_twin", extent)
    written = Rewriter(twins).index(target.index)
    test = is_empty or (lambda d: d.is_empty)
    return not all(_are_apart(domain, read.index, written, test) for read in others)


def is_once(domain: Domain, params: Params, index: tuple[Lin, ...]) -> bool:
    """Whether different points certainly select different elements."""
    twins = {name: Lin.symbol(f"{name}_twin") for name, _ in params}
    for name, extent in params:
        domain = domain.with_range(name, extent).with_range(f"{name}_twin", extent)
    other = Rewriter(twins).index(index)
    domain = domain.with_form(*(f for a, b in zip(index, other, strict=True) for f in (a - b, b - a)))
    # Of two points one has the smaller value of some parameter.
    return all(domain.with_form(twins[name] - Lin.symbol(name) - 1).is_empty for name, _ in params)


def _are_apart(
    domain: Domain, left: tuple[Lin, ...], right: tuple[Lin, ...], is_empty: Callable[[Domain], bool]
) -> bool:
    equal = [f for a, b in zip(left, right, strict=True) for f in (a - b, b - a)]
    return is_empty(domain.with_form(*equal))
