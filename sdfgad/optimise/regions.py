"""Write regions: the part of a buffer that a statement writes, where that is a box."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sdfgad.ir.expr import Lin, rewrite
from sdfgad.ir.program import Access, Compute
from sdfgad.optimise.boxes import Box


@dataclass(frozen=True)
class Region:
    """The box of elements that a `Compute` writes, one element for each of its points.

    Attributes:
        fixed: axis -> index, where it is the same for all points.
        axes: the axes along which a parameter runs, with its name.
        box: for each of `axes` the interval of indices.
    """

    buffer: str
    fixed: tuple[tuple[int, Lin], ...]
    axes: tuple[tuple[int, str], ...]
    box: Box

    @property
    def shape_key(self) -> tuple[str, tuple[tuple[int, Lin], ...]]:
        """Equal for regions that differ in their intervals only."""
        return self.buffer, self.fixed


def region_of(statement: Compute) -> Region | None:
    """The region that a statement writes; None if it is not a box of known size, or if two points write one element."""
    extents = dict(statement.params)
    fixed: list[tuple[int, Lin]] = []
    axes: list[tuple[int, str]] = []
    box: list[tuple[int, int]] = []
    for axis, lin in enumerate(statement.target.index):
        names = [atom for atom, _ in lin.terms if atom in extents]
        if not names:
            if not lin.symbols.isdisjoint(extents):
                return None
            fixed.append((axis, lin))
            continue
        (name,) = names[:1]
        if lin != Lin.symbol(name) + lin.const or not extents[name].is_const:
            return None
        axes.append((axis, str(name)))
        box.append((lin.const, lin.const + extents[name].const))
    if sorted(name for _, name in axes) != sorted(extents):
        return None
    return Region(statement.target.buffer, tuple(fixed), tuple(axes), tuple(box))


def restricted(statement: Compute, region: Region, box: Box) -> Compute:
    """The part of a statement that writes the elements of `box`; its parameters keep their order."""
    symbols = {
        name: Lin.symbol(name) + (low - old)
        for (_, name), (low, _), (old, _) in zip(region.axes, box, region.box, strict=True)
    }
    sizes = {name: Lin(high - low) for (_, name), (low, high) in zip(region.axes, box, strict=True)}
    params = tuple((name, sizes[name]) for name, _ in statement.params)
    index = tuple(lin.substitute(symbols) for lin in statement.target.index)
    target = Access(statement.target.buffer, index)
    return replace(statement, params=params, target=target, value=rewrite(statement.value, symbols))
