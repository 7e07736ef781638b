"""Write regions: which elements of a buffer a statement writes: all, the same as another one, or a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sdfgad.dependence.boxes import Box
from sdfgad.dependence.mixed_radix import writes_same_elements
from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Lin, rewrite
from sdfgad.ir.program import Access, Buffer, Call, Compute, Statement


def is_whole(buffers: Mapping[str, Buffer], statement: Compute) -> bool:
    """Whether a statement writes every element of its target: its index is the own parameters, over the whole shape."""
    own, shape = own_params(statement), buffers[statement.target.buffer].shape
    in_order = statement.target.index == tuple(Lin.symbol(name) for name, _ in own)
    return in_order and tuple(extent for _, extent in own) == shape


def overwrites(statement: Statement, buffer: Buffer) -> bool:
    """Whether a statement gives every element of a buffer a new value."""
    if isinstance(statement, Call):
        return any(whole.buffer == buffer.name for whole in statement.outputs)
    if not isinstance(statement, Compute) or statement.accumulate or statement.target.buffer != buffer.name:
        return False
    return is_whole({buffer.name: buffer}, statement)


def fills_target(buffers: Mapping[str, Buffer], statement: Compute) -> bool:
    """As `is_whole`, but axes of extent 1 may have the index 0 instead of a parameter."""
    shape = buffers[statement.target.buffer].shape
    axes = zip(statement.target.index, shape, strict=True)
    long = [(lin, extent) for lin, extent in axes if (lin, extent) != (Lin(0), Lin(1))]
    own = own_params(statement)
    return long == [(Lin.symbol(name), extent) for name, extent in own]


def is_same_region(a: Compute, b: Compute) -> bool:
    """Whether two statements certainly write the same set of elements, each of them once per summed point."""
    return _is_same_box(a, b) or writes_same_elements(a, b)


def _is_same_box(a: Compute, b: Compute) -> bool:
    own_a, own_b = own_params(a), own_params(b)
    if len(own_a) != len(own_b) or len(own_a) < len(a.params):
        return False
    names = {y: Lin.symbol(x) for (x, _), (y, _) in zip(own_a, own_b, strict=True)}
    extents = tuple(extent for _, extent in own_b)
    lins = (*b.target.index, *extents)
    if not all(lin.is_affine for lin in lins):
        return False
    # Variable capture: a free symbol of `b` must not have the name of a parameter of `a`.
    if ({atom for lin in lins for atom, _ in lin.terms} - names.keys()) & {name for name, _ in own_a}:
        return False
    found = tuple(lin.substitute(names) for lin in lins)
    return found == (*a.target.index, *(extent for _, extent in own_a))


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


def box_of(statement: Compute, shape: tuple[Lin, ...]) -> Box | None:
    """The elements of a buffer of known size that an assignment writes, as a box with an interval for each axis."""
    region = region_of(statement) if statement.accumulate is None else None
    if region is None or not all(lin.is_const for lin in (*shape, *(lin for _, lin in region.fixed))):
        return None
    spans = {axis: (lin.const, lin.const + 1) for axis, lin in region.fixed}
    spans |= {axis: span for (axis, _), span in zip(region.axes, region.box, strict=True)}
    return tuple(spans[axis] for axis in range(len(shape)))


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
