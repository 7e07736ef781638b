"""Dependence distance: how many trips apart accesses can meet."""

from __future__ import annotations

from sdfgad.dependence.intervals import interval
from sdfgad.dependence.mixed_radix import radix_of
from sdfgad.dependence.uses import Use
from sdfgad.ir.expr import Lin


def dependence_distance(uses: list[Use], var: str) -> int | None:
    """Dependence distance: the least one at which trips certainly access different elements; None if unknown."""
    if not uses:
        return 1
    found = [_distance_along_axis([use.index[axis] for use in uses], uses, var) for axis in range(len(uses[0].index))]
    return min((trips for trips in found if trips is not None), default=None)


def _distance_along_axis(forms: list[Lin], uses: list[Use], var: str) -> int | None:
    """The distance along one axis: the span of the inner counters, divided by the step of one trip."""
    if _is_digit(forms, uses, var):
        return 1
    inside = [{name: extent for name, extent in use.bound if name != var} for use in uses]
    spans = [interval(form, bound) for form, bound in zip(forms, inside, strict=True)]
    known = [span for span in spans if span is not None]
    if len(known) < len(spans) or len({fixed for fixed, _, _ in known}) != 1:
        return None
    width, step = max(high for _, _, high in known) - min(low for _, low, _ in known), known[0][0].coefficient(var)
    return width // abs(step) + 1 if step else None


def _is_digit(forms: list[Lin], uses: list[Use], var: str) -> bool:
    """Whether the counter is a mixed-radix digit of the same weight in all the forms."""
    radixes = {radix_of(form, dict(use.bound)) for form, use in zip(forms, uses, strict=True)}
    weights = {form.coefficient(var) for form in forms}
    is_plain = all(radix is not None and radix.fixed.is_affine for radix in radixes)
    is_one = len(radixes) == len(weights) == 1 and weights != {0}
    return is_plain and is_one and all(var in use.names for use in uses)
