"""Reaching definitions of integers in loops: what the statements of a trip compute, for all trips at once.

``dofs = np.array([2 * i, 2 * i + 1])`` in a loop is another array in each trip, which constant propagation gives up.
What the trips compute is known all the same where it depends on counters and known arrays alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.ir.evaluate import Varying, contains
from sdfgad.ir.expr import Expr, Int, reads
from sdfgad.ir.program import Compute, written
from sdfgad.parse.builder import Builder
from sdfgad.parse.followed import points as box_of

Array = np.ndarray[Any, Any]
Columns = dict[str, Array]
# Elements of all trips together.
MOST_ELEMENTS = 2**22


def known_at(b: Builder, expr: Expr, columns: Columns, count: int, decide: bool = False) -> Array | None:
    """The values of an expression of integers or truths at points of the loops around, if they are known.

    Args:
        columns: the counters at each of `count` points.
        decide: whether inputs that would have to be constants for that become so.

    Raises:
        Decides: they do.
    """
    found = _Trips(b, columns, count, decide).evaluated(expr, columns, (), None)
    return None if found is None else np.broadcast_to(found, (count,))


# A place in the blocks that are open: the depth of one, and how many of its statements come before; None for the end.
_Until = tuple[int, int] | None


@dataclass(frozen=True)
class _Trips:
    """Points of the loops around the present statement, and whether inputs may become constants."""

    b: Builder
    columns: Columns
    count: int
    decide: bool

    def evaluated(self, expr: Expr, symbols: Columns, sizes: tuple[int, ...], until: _Until) -> Any:
        """The values of an expression, with the points as the first axis, and those of a box of sizes behind it."""
        number, varying = self._numbers(sizes), dict[str, Varying]()
        names = {read.buffer for read in reads(expr)}
        if not names.isdisjoint(self.b.carried):
            return None
        for name in sorted(names):
            depth = self._depth(name)
            found = None if depth is None else self._contents(name, depth, until)
            if found is not None:
                varying[name] = Varying(found, number)
            elif depth is not None and until is not None:
                # Constant propagation knows what there is now, but not what there was.
                return None
        return self.b.constants.at_points(expr, symbols, self.b.here, varying, self.decide)

    def _numbers(self, sizes: tuple[int, ...]) -> Array:
        return np.arange(self.count).reshape(self.count, *(1 for _ in sizes))

    def _depth(self, name: str) -> int | None:
        """The depth of the open block of a loop or branch that makes a buffer."""
        home = self.b.constants.home(name)
        return next((depth for depth, block in enumerate(self.b.blocks) if depth and block is home), None)

    def _contents(self, name: str, depth: int, until: _Until) -> Array | None:
        """What a buffer holds at each point; None where that is not known."""
        shape = tuple(extent.const for extent in self.b.buffers[name].shape)
        last = len(self.b.blocks) - 1 if until is None else until[0]
        between = self.b.blocks[depth + 1 : last + 1]
        if self.count * int(np.prod(shape)) > MOST_ELEMENTS or any(name in written(tuple(block)) for block in between):
            return None
        block = self.b.blocks[depth]
        end = until[1] if until is not None and until[0] == depth else len(block)
        held = np.zeros((self.count, *shape), self.b.buffers[name].dtype)
        missing = np.ones(held.shape, bool)
        for position, statement in enumerate(block[:end]):
            if name in written((statement,)) and not self._is_done(statement, held, missing, (depth, position)):
                return None
        return None if missing.any() else held

    def _is_done(self, statement: Any, held: Array, missing: Array, until: _Until) -> bool:
        """Write what a statement does; returns whether that is known."""
        box = box_of(statement.params) if isinstance(statement, Compute) and not statement.accumulate else None
        if box is None:
            return False
        sizes = tuple(extent.const for _, extent in statement.params)
        symbols = {name: values.reshape(1, *values.shape) for name, values in box.items()}
        symbols |= {name: values.reshape(self.count, *(1 for _ in sizes)) for name, values in self.columns.items()}
        value = self.evaluated(statement.value, symbols, sizes, until)
        index = [self.evaluated(Int(form), symbols, sizes, until) for form in statement.target.index]
        if value is None or any(place is None for place in index):
            return False
        if not all(map(contains, held.shape[1:], index)):
            return False
        place = (self._numbers(sizes), *index)
        held[place], missing[place] = value, False
        return True
