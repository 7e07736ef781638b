"""Privatisation: which buffers carry no value from one run of a block to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdfgad.dependence.intervals import interval
from sdfgad.dependence.mixed_radix import Digits, written_indices
from sdfgad.dependence.regions import is_same_region
from sdfgad.dependence.uses import Use, own_params, uses_of, uses_of_buffer
from sdfgad.ir.expr import INT, Const, Int, Lin, symbols_of
from sdfgad.ir.program import Access, Block, Branch, Buffer, Call, Compute, Loop, Statement, blocks_of, reads_of, walk


def is_privatisable(block: Block, name: str) -> bool:
    """Whether each run of a block assigns the elements of a buffer that it reads before it reads them."""
    found = [statement for statement in block if name in statement.mentioned]
    if len(found) == 1 and isinstance(found[0], Branch):
        branch = found[0]
        sides = [side for side in (branch.then, branch.orelse) if any(name in s.mentioned for s in side)]
        is_in_condition = any(read.buffer == name for read in reads_of(branch))
        return not is_in_condition and all(is_privatisable(side, name) for side in sides)
    first = _first_write(found, name)
    if first is None:
        return False
    touched = [use for statement in found for use in uses_of_buffer(statement, name)]
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


def _first_write(users: Sequence[Statement], name: str, are_all: bool = True) -> Compute | None:
    """The elements that the first of `users` assigns before it reads any, as one statement with a dummy value.

    Args:
        are_all: whether there are no other users around, which may read what is not written where a loop has no trips.
    """
    if not users:
        return None  # The loop around reads it, as a number of trips.
    first = users[0]
    if isinstance(first, Branch):
        return _first_write_of_sides(first, name)
    if isinstance(first, Loop) and not first.is_open:
        is_only = are_all and len(users) == 1
        nested = _first_write([s for s in first.body if name in s.mentioned], name, is_only)
        if nested is None or not (first.is_parallel or _is_the_same(nested, first.var)):
            return None
        whole = replace(nested, params=(*nested.params, (first.var, first.trips)))
        # Each trip writes the same elements. Without any trip nothing is written, and a later use would read that.
        is_repeated = own_params(whole) == own_params(nested)
        is_certain = is_only or (first.trips.is_const and first.trips.const > 0)
        return (nested if is_certain else None) if is_repeated else whole
    if isinstance(first, Call) and all(whole.buffer != name for whole in first.inputs):
        (output,) = (whole for whole in first.outputs if whole.buffer == name)
        return Compute(output.params, output.access, Const(0, INT))
    if not isinstance(first, Compute) or not first.assigns or first.target.buffer != name:
        return None
    if any(use.buffer == name and use.kind == "read" for use in uses_of(first)):
        return None
    return _with_next(replace(first, params=own_params(first)), users[1:], name)


def _first_write_of_sides(branch: Branch, name: str) -> Compute | None:
    """The elements that a branch assigns whichever side it takes."""
    if any(read.buffer == name for read in reads_of(branch)):
        return None
    then, orelse = (
        _first_write([s for s in side if name in s.mentioned], name, False) for side in (branch.then, branch.orelse)
    )
    return then if then is not None and orelse is not None and is_same_region(then, orelse) else None


def _is_the_same(statement: Compute, counter: str) -> bool:
    """Whether a statement writes the same elements in all trips: a later trip may read what an earlier one wrote."""
    extents = [Int(extent) for _, extent in statement.params]
    return counter not in symbols_of(*extents, *(Int(form) for form in statement.target.index))


def _box(use: Use) -> Compute:
    """A use as an assignment, with a dummy value, over the parameters that its index contains."""
    whole = Compute(use.bound, Access(use.buffer, use.index), Const(0, INT))
    return replace(whole, params=own_params(whole))


def carries_no_value(block: Block, buffer: Buffer) -> bool:
    """Whether a temporary is not live on entry to a block: no run of it reads a value of an earlier run."""
    if buffer.is_single:
        return begins_with_write(block, buffer.name)
    return is_privatisable(block, buffer.name) or _begins_with_all(block, buffer)


def _begins_with_all(block: Block, buffer: Buffer) -> bool:
    """Whether a block first assigns all elements of a buffer: then others are not read, whatever indices may be."""
    users = tuple(s for s in block if buffer.name in s.mentioned)
    first = _first_write(users, buffer.name)
    if first is None or any(isinstance(s, Loop) and s.start != Lin(0) for s in walk(users)):
        return False
    axes = zip(_ranges(first), buffer.shape, strict=True)
    return all(span == (0, extent.const) and extent.is_const for span, extent in axes)


def _ranges(first: Compute) -> list[tuple[int, int] | None]:
    """The first index and the last one + 1 along each axis, where all in between are written; None if not known."""
    extents, found = dict(first.params), list[tuple[int, int] | None]()
    used = [name for form in first.target.index for name in form.symbols]
    for form in first.target.index:
        names = sorted(form.symbols)
        extent = extents.get(names[0]) if len(names) == 1 and used.count(names[0]) == 1 else None
        is_run = form.is_affine and extent is not None and extent.is_const and form.coefficient(names[0]) == 1
        if form.is_const:
            found.append((form.const, form.const + 1))
        elif is_run and extent is not None:
            found.append((form.const, form.const + extent.const))
        else:
            found.append(None)
    return found


def _with_next(first: Compute, users: Sequence[Statement], name: str) -> Compute:
    """What a statement and those after it assign before any reads, as far as that is one box."""
    for statement in users:
        if not isinstance(statement, Compute) or not statement.assigns or statement.target.buffer != name:
            return first
        if any(read.buffer == name for read in statement.read):
            return first
        first = _joined(first, replace(statement, params=own_params(statement))) or first
    return first


def _joined(one: Compute, other: Compute) -> Compute | None:
    """Two assignments as that to all elements of both, if these are a box."""
    spans = list(zip(_ranges(one), _ranges(other), strict=True))
    different = [axis for axis, (a, b) in enumerate(spans) if a != b]
    if len(different) != 1 or any(a is None or b is None for a, b in spans):
        return None
    (a, b) = spans[different[0]]
    assert a is not None
    assert b is not None
    if a[0] > b[1] or b[0] > a[1]:
        return None
    ranges = [a for a, _ in spans if a is not None]
    ranges[different[0]] = (min(a[0], b[0]), max(a[1], b[1]))
    params = tuple((f"joined{axis}_", Lin(stop - start)) for axis, (start, stop) in enumerate(ranges))
    index = tuple(Lin.symbol(n) + start for (n, _), (start, _) in zip(params, ranges, strict=True))
    return Compute(params, Access(one.target.buffer, index), Const(0, INT))


def begins_with_write(block: Block, name: str) -> bool:
    """Whether a scalar is defined before use in a block: assigned on every path before it is read."""
    users = [s for s in block if name in s.mentioned]
    first = users[0] if users else None
    if isinstance(first, Loop | Branch) and len(users) == 1:
        sides = [side for side in blocks_of(first) if any(name in s.mentioned for s in side)]
        is_asked = any(read.buffer == name for read in reads_of(first))
        return not is_asked and all(begins_with_write(side, name) for side in sides)
    if isinstance(first, Call):
        return all(whole.buffer != name for whole in first.inputs)
    if not isinstance(first, Compute) or (first.params and not first.fresh):
        return False
    is_read = any(read.buffer == name for read in reads_of(first))
    return first.assigns and first.target.buffer == name and not is_read
