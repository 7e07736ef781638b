"""Scatter-to-gather conversion of windows (transposed convolution): contributions that meet become sums.

In ``x[i + k] += f(i, k)`` points with different i and k meet. As ``x[q] += sum over k of f(q - k, k)``, where there is
such an i, each element is a thread's, in one launch. With a stride, in ``x[s*i + k]``, i is a quotient without
remainder.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import reduce

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, as_linear, rewrite
from sdfgad.ir.names import Names
from sdfgad.ir.ops import identity
from sdfgad.ir.program import Access, Compute


def gathered(statement: Compute, window: Collection[str], names: Names) -> Compute | None:
    """A statement with a parameter for each element along the axes that a window goes along; None if that cannot be.

    Args:
        window: the parameters that are summed in each element. The extent of one that an element is determined by may
            depend on them, as in a triangle.
    """
    gathering = _Gathering(dict(statement.params), window, names)
    index = tuple(gathering.axis(form) for form in statement.target.index)
    if not gathering.is_possible or not gathering.places or gathering.are_shared(statement.target.index):
        return None
    value = rewrite(statement.value, gathering.places)
    is_there = reduce(lambda a, b: Op("logical_and", (a, b), BOOL), gathering.conditions)
    otherwise = Const(identity(statement.accumulate or "add", value.dtype), value.dtype)
    value = Op("select", (is_there, value, otherwise), value.dtype)
    rest = tuple((name, extent) for name, extent in statement.params if name not in gathering.places)
    target = Access(statement.target.buffer, index)
    return replace(statement, params=(*gathering.elements, *rest), target=target, value=value)


@dataclass
class _Gathering:
    """What becomes of the parameters and axes of a statement.

    Attributes:
        elements: the new parameters.
        places: parameters as forms of the new ones and the window's.
        conditions: where these are values of the parameters.
    """

    extents: dict[str, Lin]
    window: Collection[str]
    names: Names
    elements: list[tuple[str, Lin]] = field(default_factory=list)
    places: dict[str, Lin] = field(default_factory=dict)
    conditions: list[Expr] = field(default_factory=list)
    is_possible: bool = True

    def axis(self, form: Lin) -> Lin:
        """The index along an axis, by a new parameter if the window goes along it."""
        along = sorted(form.symbols & set(self.window))
        if not along:
            return form
        others = sorted((form.symbols & self.extents.keys()) - set(along))
        if len(others) != 1 or others[0] in self.places or not self.is_dense(form, (*along, *others)):
            self.is_possible = False
            return form
        (name,) = others
        stride, trips = form.coefficient(name), self.extents[name]
        shift = form - Lin.symbol(name).scaled(stride)
        first, last = self.extreme(shift, -1), self.extreme(shift + (trips - 1).scaled(stride), 1)
        element = self.names.fresh("element")
        self.elements.append((element, last - first + 1))
        index = first + Lin.symbol(element)
        self.place(name, index - shift, stride)
        return index

    def is_dense(self, form: Lin, names: Collection[str]) -> bool:
        """Whether the parameters reach all elements from the first one to the last, and i goes upwards."""
        if not form.is_affine or not all(self.extents[name].is_affine for name in names):
            return False
        if any(not self.extents[name].symbols.isdisjoint(self.window) for name in names):
            return all(abs(form.coefficient(n)) == 1 and (form.coefficient(n) > 0 or n in self.window) for n in names)
        steps = sorted((abs(form.coefficient(n)), n) for n in names)
        reached = 1
        for step, name in steps:
            if not 0 < step <= reached:
                return False
            reached += step * (self.extents[name].const - 1) if self.extents[name].is_const else 0
        return all(form.coefficient(n) > 0 or n in self.window for n in names)

    def extreme(self, form: Lin, side: int) -> Lin:
        """The least (-1) or greatest (1) value of a form of the window's parameters."""
        ends = {n: self.extents[n] - 1 if form.coefficient(n) * side > 0 else Lin(0) for n in self.window}
        return form.substitute(ends)

    def place(self, name: str, distance: Lin, stride: int) -> None:
        """The parameter for an element at a distance from the one that it is 0 for."""
        conditions = [
            Op("greater_equal", (Int(distance), Int(Lin(0))), BOOL),
            Op("less", (Int(distance), Int(self.extents[name].scaled(stride))), BOOL),
        ]
        place = distance
        if stride > 1:
            left = Op("remainder", (Int(distance), Int(Lin(stride))), INT)
            conditions.append(Op("equal", (left, Int(Lin(0))), BOOL))
            place = as_linear(Op("floor_divide", (Int(distance), Int(Lin(stride))), INT))
        self.conditions += conditions
        self.places[name] = place

    def are_shared(self, index: tuple[Lin, ...]) -> bool:
        """Whether a parameter selects along two axes, or extents of others than places depend on it."""
        changed = {*self.places, *self.window}
        others = (extent.symbols for name, extent in self.extents.items() if name not in self.places)
        is_twice = any(sum(name in form.symbols for form in index) > 1 for name in changed)
        return is_twice or any(not symbols.isdisjoint(changed) for symbols in others)
