"""Loop order of a `Compute`'s parameters: innermost the unit-stride one, or a reduction in a register."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sdfgad.dependence.hazards import is_injective
from sdfgad.dependence.mixed_radix import written_indices
from sdfgad.ir.expr import Lin, Read, postorder
from sdfgad.ir.program import Compute


@dataclass(frozen=True)
class Order:
    """The loop order of a statement.

    Attributes:
        own: the parameters that select the target.
        outer: the outer loops, outermost first.
        inner: the innermost loops: a reduction whose sum is held in a register.
        is_injective: whether different values of `own` certainly select different elements.
        clears_first: whether the target is cleared before the loops, not by them.
    """

    own: tuple[str, ...]
    outer: tuple[str, ...]
    inner: tuple[str, ...]
    is_injective: bool
    clears_first: bool

    @property
    def is_vector(self) -> bool:
        """Whether the innermost of the outer loops may be vectorised."""
        return self.is_injective and self.outer[-1] in self.own


@lru_cache(maxsize=10_000)
def order_of(statement: Compute) -> Order:
    names = [name for name, _ in statement.params]
    own = [name for name in names if _mentions(statement.target.index, name)]
    # Locality: the parameter of the last axis runs innermost, of several the one with the smallest stride.
    own.sort(key=lambda name: _axis_and_stride(statement.target.index, name))
    summed = [name for name in names if name not in own]
    summed.sort(key=lambda name: _reads_along(statement, name))
    # An assignment writes no element twice.
    injective = (statement.accumulate is None and not summed) or is_injective(statement.target.index, own)
    injective = injective or written_indices(statement) is not None
    if not summed:
        return Order(tuple(own), tuple(own), (), injective, False)
    if statement.accumulate is None:
        # The same element is assigned at each of these: such parameters have one value.
        return Order(tuple(own), (*summed, *own), (), False, False)
    if injective and not _runs_along(statement, own, summed):
        return Order(tuple(own), tuple(own), tuple(summed), True, False)
    return Order(tuple(own), (*summed, *own), (), injective, statement.fresh)


def _axis_and_stride(index: tuple[Lin, ...], name: str) -> tuple[int, int]:
    """Sort key: the last axis whose index contains the parameter, and the negative of its stride there."""
    axis = max(k for k, lin in enumerate(index) if _mentions((lin,), name))
    return axis, -abs(index[axis].coefficient(name))


def _mentions(index: tuple[Lin, ...], symbol: str) -> bool:
    return any(symbol in lin.symbols for lin in index)


def _reads_along(statement: Compute, name: str) -> int:
    """The number of reads in which a parameter is in the last index, so that it runs along memory."""
    found = [n for n in postorder(statement.value) if isinstance(n, Read) and n.index]
    return sum(_mentions(node.index[-1:], name) for node in found)


def _runs_along(statement: Compute, own: list[str], summed: list[str]) -> bool:
    """Whether more reads run along memory with the target's parameters than with the summed ones."""
    along = across = 0
    for node in postorder(statement.value):
        if isinstance(node, Read) and node.index and any(_mentions(node.index, s) for s in summed):
            along += any(_mentions(node.index[-1:], name) for name in own)
            across += any(_mentions(node.index[-1:], name) for name in summed)
    return along > across
