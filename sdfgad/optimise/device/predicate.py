"""If-conversion (predication): what branches of a trip do, as assignments and sums that count where a condition holds.

``if c: y[i] = a`` becomes ``y[i] = a if c else y[i]``, and ``if c: s[j] += a`` becomes ``s[j] += a if c else 0``: boxes
can follow from loops of such statements. Code for devices computes the side of a choice that is chosen, and stores no
element that stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sdfgad.ir.expr import BOOL, Const, Expr, Op, Read, cast, reads
from sdfgad.ir.names import Names
from sdfgad.ir.ops import identity
from sdfgad.ir.program import Access, Block, Branch, Buffer, Compute, written
from sdfgad.optimise.device.guards import chosen
from sdfgad.schedule.bounds import Ranges, is_inside, ranges_of

NEVER = Const(False, BOOL)


@dataclass
class Predication:
    """The if-conversion of one block.

    Args:
        ranges: of the counters around the block.

    Attributes:
        conditions: numbers for conditions that a branch changes the operands of.
    """

    buffers: Mapping[str, Buffer]
    ranges: Ranges
    names: Names

    def __post_init__(self) -> None:
        self.conditions: list[Buffer] = []

    def flat(self, block: Block) -> tuple[Compute, ...] | None:
        """The block without branches; None if it has anything but computations in them."""
        found = list(self._parts(block, None))
        return tuple(one for one in found if one is not None) if None not in found else None

    def _parts(self, block: Block, guard: Expr | None) -> Iterator[Compute | None]:
        for statement in block:
            if isinstance(statement, Branch):
                yield from self._branch(statement, guard)
            elif isinstance(statement, Compute):
                yield statement if guard is None else self._guarded(statement, guard)
            else:
                yield None

    def _branch(self, branch: Branch, guard: Expr | None) -> Iterator[Compute | None]:
        condition = cast(branch.condition, BOOL)
        inside = written((*branch.then, *branch.orelse))
        if any(read.buffer in inside for read in reads(condition)):
            buffer = Buffer(self.names.fresh("condition"), (), BOOL)
            self.conditions.append(buffer)
            value = condition if guard is None else _both(guard, condition)
            yield Compute((), Access(buffer.name), value, where=branch.where)
            condition = Read(buffer.name, (), BOOL)
        opposite = Op("logical_not", (condition,), BOOL)
        for side, decision in ((branch.then, condition), (branch.orelse, opposite)):
            yield from self._parts(side, decision if guard is None else _both(guard, decision))

    def _guarded(self, one: Compute, guard: Expr) -> Compute | None:
        """A statement that does something where a condition holds alone; None if it has no such form."""
        dtype = self.buffers[one.target.buffer].dtype
        if one.fresh or not all(extent.is_affine for _, extent in one.params):
            return None
        if one.accumulate is None:
            nothing: Expr = one.target.read(dtype)
        else:
            nothing = Const(identity(one.accumulate, dtype), dtype)
            target = self._valid(one, guard)
            if target is None:
                return None
            one = replace(one, target=target)
        return replace(one, value=Op("select", (guard, cast(one.value, dtype), nothing), dtype))

    def _valid(self, one: Compute, guard: Expr) -> Access | None:
        """The target; where the condition does not hold, an element that there is."""
        shape = self.buffers[one.target.buffer].shape
        ranges = {**self.ranges, **ranges_of(one.params)}
        if is_inside(list(zip(one.target.index, shape, strict=True)), ranges, lambda *_: False):
            return one.target
        if not all(extent.is_const and extent.const > 0 for extent in shape):
            return None
        return replace(one.target, index=tuple(chosen(guard, form) for form in one.target.index))


def _both(first: Expr, then: Expr) -> Expr:
    """Two conditions, the second of which may be computed only where the first one holds."""
    return Op("select", (first, then, NEVER), BOOL)
