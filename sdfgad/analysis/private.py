"""Privatisation: which buffers carry no value from one run of a block to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdfgad.ir.accesses import Use, interval, is_same_region, mentioned_by, own_params, uses_of
from sdfgad.ir.expr import INT, Const, Lin
from sdfgad.ir.mixed_radix import Digits, written_indices
from sdfgad.ir.program import Access, Block, Branch, Call, Compute, Loop, Statement, reads_of


def is_privatisable(block: Block, name: str) -> bool:
    """Whether each run of a block assigns the elements of a buffer that it reads before it reads them."""
    found = [statement for statement in block if mentioned_by(statement, name)]
    if len(found) == 1 and isinstance(found[0], Branch):
        branch = found[0]
        sides = [side for side in (branch.then, branch.orelse) if any(mentioned_by(s, name) for s in side)]
        is_in_condition = any(read.buffer == name for read in reads_of(branch))
        return not is_in_condition and all(is_privatisable(side, name) for side in sides)
    first = _first_write(found, name)
    if first is None:
        return False
    touched = [use for statement in found for use in uses_of(statement) if use.buffer == name]
    return all(_is_within(use, first) or is_same_region(first, _box(use)) for use in touched)


def _is_within(use: Use, first: Compute) -> bool:
    """Whether all elements of a use are certainly among those that `first` writes, where these are a box."""
    box = written_indices(first)
    return box is not None and all(_is_inside(lin, axis, use) for lin, axis in zip(use.index, box, strict=True))


def _is_inside(lin: Lin, axis: Digits, use: Use) -> bool:
    span = interval(lin - axis.fixed, dict(use.bound)) if axis.fixed.is_affine else None
    if span is None or span[0] != Lin(0) or axis.digits[:-1] or (axis.digits and axis.digits[0][0] != 1):
        return False
    return span[1] >= 0 and span[2] < (axis.digits[0][1] if axis.digits else 1)


def _first_write(users: Sequence[Statement], name: str) -> Compute | None:
    """The elements that the first of `users` assigns before it reads any, as one statement with a dummy value."""
    first = users[0]
    if isinstance(first, Loop) and first.is_parallel:
        nested = _first_write([s for s in first.body if mentioned_by(s, name)], name)
        if nested is None:
            return None
        whole = replace(nested, params=(*nested.params, (first.var, first.trips)))
        # Each trip writes the same elements. Without any trip nothing is written, and a later use would read that.
        is_repeated = own_params(whole) == own_params(nested)
        is_certain = len(users) == 1 or (first.trips.is_const and first.trips.const > 0)
        return (nested if is_certain else None) if is_repeated else whole
    if isinstance(first, Call) and all(whole.buffer != name for whole in first.inputs):
        (output,) = (whole for whole in first.outputs if whole.buffer == name)
        return Compute(output.params, output.access, Const(0, INT))
    if not isinstance(first, Compute) or not first.assigns or first.target.buffer != name:
        return None
    if any(use.buffer == name and use.kind == "read" for use in uses_of(first)):
        return None
    return replace(first, params=own_params(first))


def _box(use: Use) -> Compute:
    """A use as an assignment, with a dummy value, over the parameters that its index contains."""
    whole = Compute(use.bound, Access(use.buffer, use.index), Const(0, INT))
    return replace(whole, params=own_params(whole))
