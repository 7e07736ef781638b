"""Scatter-to-gather conversion: contributions of a stencil's adjoint to neighbours are aligned by their targets.

``x[p] += e(p); x[p + 1] += f(p); …`` become statements over the elements of `x` that all of them reach, which can then
be fused so that each element is written once, and thin statements for the borders that only some of them reach. The
order of the contributions to each element stays the same.
"""

from __future__ import annotations

from functools import partial, reduce

from sdfgad.dependence.boxes import intersection, volume, without
from sdfgad.dependence.order import commute
from sdfgad.dependence.regions import Region, region_of, restricted
from sdfgad.ir.expr import reads
from sdfgad.ir.program import Block, Compute, Program, Statement
from sdfgad.optimise.blocks import everywhere

# What all contributions reach must be at least this share of what each reaches.
SHARE = 0.5
# How many statements further down a contribution is looked for.
WINDOW = 24


def gather(program: Program, most: int | None = None) -> Program:
    """The program with such contributions aligned; `most`: where that makes at most so many statements of a group."""
    return program.with_body(everywhere(program.body, partial(_block, most=most)))


def _block(block: Block, most: int | None) -> Block:
    rest, result, too_many = list(block), list[Statement](), set[int]()
    while rest:
        group = _group(rest)
        chosen = [id(rest[k]) for k in group]
        aligned = _aligned([rest[k] for k in group]) if len(group) > 1 else []  # type: ignore[misc]
        if most is not None and len(aligned) > most:
            too_many.update(chosen)
        if not aligned or not too_many.isdisjoint(chosen):
            result.append(rest.pop(0))
            continue
        rest = [s for k, s in enumerate(rest) if k not in set(group)]
        result.extend(aligned)
    return tuple(result)


def _group(rest: list[Statement]) -> list[int]:
    """The positions of the first statement and of contributions to the same buffer that can be moved next to it."""
    first = rest[0]
    region = _contribution(first)
    if region is None:
        return [0]
    group, passed = [0], list[Statement]()
    for position, statement in enumerate(rest[1:WINDOW], 1):
        other = _contribution(statement)
        is_like = other is not None and other.shape_key == region.shape_key
        if is_like and all(commute(statement, one) for one in passed):
            group.append(position)
        else:
            passed.append(statement)
    regions = [_contribution(rest[k]) for k in group]
    core = reduce(intersection, [r.box for r in regions if r is not None])
    is_worth = volume(core) > 0 and all(r is not None and volume(core) >= SHARE * volume(r.box) for r in regions)
    return group if is_worth and len({r.box for r in regions if r is not None}) > 1 else [0]


def _contribution(statement: Statement) -> Region | None:
    if not isinstance(statement, Compute) or statement.accumulate != "add" or statement.fresh or not statement.params:
        return None
    if any(read.buffer == statement.target.buffer for read in reads(statement.value)):
        return None
    region = region_of(statement)
    # Where a loop around goes along memory it is better run inside, and the points stay as they are.
    last = len(statement.target.index) - 1
    is_across = region is not None and any(axis == last and lin.terms for axis, lin in region.fixed)
    return None if is_across else region


def _aligned(group: list[Compute]) -> list[Compute]:
    regions = [region for region in map(region_of, group) if region is not None]
    core = reduce(intersection, [region.box for region in regions])
    inner, border = list[Compute](), list[Compute]()
    for statement, region in zip(group, regions, strict=True):
        inner.append(restricted(statement, region, core))
        border.extend(restricted(statement, region, box) for box in without(region.box, core))
    return [*inner, *border]
