"""Loop analysis: reductions, vectorisable loops, dependence distances, and the free symbols of blocks."""

from __future__ import annotations

from collections.abc import Mapping

from sdfgad.ir.accesses import Use, interval
from sdfgad.ir.expr import Lin, symbols_in, symbols_of
from sdfgad.ir.mixed_radix import radix_of
from sdfgad.ir.program import Access, Block, Branch, Call, Compute, Loop, blocks_of, reads_of
from sdfgad.schedule.loop_order import is_injective


def scalar_reductions(body: Block, var: str) -> dict[Access, str]:
    """The scalar reductions of a loop: elements that trips only add to -> names of variables for the sums."""
    found: dict[Access, str] = {}
    read = {node.buffer for statement in body for node in reads_of(statement)}
    for statement in body:
        assert isinstance(statement, Compute)
        name, index = statement.target.buffer, statement.target.index
        alike = [s for s in body if isinstance(s, Compute) and s.target.buffer == name]
        is_sum = all(s.accumulate == "add" and not s.fresh and _aliasing_is_known(s.target.index, index) for s in alike)
        if is_sum and name not in read and var not in symbols_in(index):
            found.setdefault(statement.target, f"sum{len(found)}_")
    return found


def _aliasing_is_known(a: tuple[Lin, ...], b: tuple[Lin, ...]) -> bool:
    """Alias analysis: whether two elements of a buffer are known to be the same, or known to differ."""
    differences = [x - y for x, y in zip(a, b, strict=True)]
    return a == b or any(d.is_const and d.const for d in differences)


def is_vector(body: Block, var: str, scalars: list[str], sums: Mapping[Access, str]) -> bool:
    """Whether a loop can be vectorised: trips write different elements, except for `scalars` and reductions `sums`."""
    added: dict[str, list[Use]] = {}
    for statement in body:
        assert isinstance(statement, Compute)
        target = statement.target
        if target.buffer in scalars or target in sums:
            continue
        if var not in symbols_in(target.index):
            return False
        if not statement.assigns:
            added.setdefault(target.buffer, []).append(Use(target.buffer, target.index, (), "add"))
    return all(_sums_are_disjoint(uses, var) for uses in added.values())


def _sums_are_disjoint(uses: list[Use], var: str) -> bool:
    """Whether different trips certainly add to different elements, by one statement or several."""
    alike = {use.index for use in uses}
    return (len(alike) == 1 and is_injective(uses[0].index, [var])) or dependence_distance(uses, var) == 1


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


def header_reads(statement: Loop | Branch) -> set[str]:
    """The buffers that a loop's bounds, or a branch's condition, read."""
    return {read.buffer for read in reads_of(statement)}


def begins_with_write(block: Block, name: str) -> bool:
    """Whether a scalar is defined before use in a block: assigned on every path before it is read."""
    users = [s for s in block if name in s.mentioned]
    first = users[0] if users else None
    if isinstance(first, Loop | Branch) and len(users) == 1:
        sides = [side for side in blocks_of(first) if any(name in s.mentioned for s in side)]
        return name not in header_reads(first) and all(begins_with_write(side, name) for side in sides)
    if isinstance(first, Call):
        return all(whole.buffer != name for whole in first.inputs)
    if not isinstance(first, Compute) or (first.params and not first.fresh):
        return False
    is_read = any(read.buffer == name for read in reads_of(first))
    return first.assigns and first.target.buffer == name and not is_read


def free_symbols(block: Block) -> set[str]:
    """The free symbols of a block: all but the counters and parameters that are bound in it."""
    found: set[str] = set()
    for statement in block:
        if isinstance(statement, Loop):
            own = {statement.var}
            found |= symbols_in((statement.start, statement.trips)) | (free_symbols(statement.body) - own)
        elif isinstance(statement, Branch):
            found |= symbols_of(statement.condition) | free_symbols(statement.then) | free_symbols(statement.orelse)
        elif isinstance(statement, Compute):
            lins = (*statement.target.index, *(extent for _, extent in statement.params))
            mentioned = symbols_in(lins) | symbols_of(statement.value)
            found |= mentioned - {name for name, _ in statement.params}
    return found
