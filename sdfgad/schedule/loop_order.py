"""Loop order: in which order a `Compute`'s parameters run: innermost along memory, or summed over in a register."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sdfgad.ir.expr import Expr, Lin, Read, postorder, symbols_of
from sdfgad.ir.mixed_radix import places
from sdfgad.ir.program import Buffer, Compute


@dataclass(frozen=True)
class Order:
    """The loop order of a statement.

    Attributes:
        own: the parameters that select the target.
        outer: the loops around, outermost first.
        inner: the innermost loops, a reduction whose sum stays in a register.
        is_injective: whether different values of `own` certainly select different elements.
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
    # Along memory: the parameter of the last axis runs innermost, of several the one with the shortest steps.
    own.sort(key=lambda name: _place(statement.target.index, name))
    summed = [name for name in names if name not in own]
    summed.sort(key=lambda name: _reads_along(statement, name))
    # An assignment writes no element twice.
    injective = (statement.accumulate is None and not summed) or is_injective(statement.target.index, own)
    injective = injective or places(statement) is not None
    if not summed:
        return Order(tuple(own), tuple(own), (), injective, False)
    if statement.accumulate is None:
        # One element again and again: such parameters have one value.
        return Order(tuple(own), (*summed, *own), (), False, False)
    if injective and not _runs_along(statement, own, summed):
        return Order(tuple(own), tuple(own), tuple(summed), True, False)
    return Order(tuple(own), (*summed, *own), (), injective, statement.fresh)


def _place(index: tuple[Lin, ...], name: str) -> tuple[int, int]:
    """The last axis along which a parameter runs, and its steps there, which are less the longer they are."""
    axis = max(k for k, lin in enumerate(index) if _mentions((lin,), name))
    return axis, -abs(index[axis].coefficient(name))


def is_single(buffer: Buffer) -> bool:
    """Whether a buffer's storage has one element (an empty one has, too)."""
    return all(extent.is_const and extent.const <= 1 for extent in buffer.shape)


def is_injective(index: tuple[Lin, ...], params: list[str]) -> bool:
    """Whether different values of `params` certainly select different elements.

    So it is if each parameter can be read off an axis in which it is alone, or alone with others already read off.
    """
    unknown = set(params)
    while unknown:
        found = {name for lin in index for name in [_only(lin, unknown)] if name is not None}
        if not found:
            return False
        unknown -= found
    return True


def _only(lin: Lin, unknown: set[str]) -> str | None:
    mentioned = lin.symbols & unknown
    if len(mentioned) != 1:
        return None
    (name,) = mentioned
    inside = {s for atom, _ in lin.terms if isinstance(atom, Expr) for s in symbols_of(atom)}
    return name if name not in inside and lin.coefficient(name) else None


def _mentions(index: tuple[Lin, ...], symbol: str) -> bool:
    return any(symbol in lin.symbols for lin in index)


def _reads_along(statement: Compute, name: str) -> int:
    """In how many reads a parameter moves along memory."""
    found = [n for n in postorder(statement.value) if isinstance(n, Read) and n.index]
    return sum(_mentions(node.index[-1:], name) for node in found)


def _runs_along(statement: Compute, own: list[str], summed: list[str]) -> bool:
    """Whether reads of whole arrays run along memory with the target's parameters and across it with the others."""
    along = across = 0
    for node in postorder(statement.value):
        if isinstance(node, Read) and node.index and any(_mentions(node.index, s) for s in summed):
            along += any(_mentions(node.index[-1:], name) for name in own)
            across += any(_mentions(node.index[-1:], name) for name in summed)
    return along > across
