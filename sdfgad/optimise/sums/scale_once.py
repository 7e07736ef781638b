"""Loop-invariant code motion of scalings and casts: arrays are multiplied by a number, or converted, once before loops.

``for i: for p, k: c[i, p] += alpha * (a[p, k] * b[i, k] + b[p, k] * a[i, k])`` needs ``alpha * a`` only. The adjoint
then has one sum of products each for `a` and `b`, and the adjoint of `alpha` is a sum over an array instead of over all
the products. Exactly the elements that the loops multiply are scaled, so that an infinity in other elements has no
effect. An array of lower precision is converted in the same way: the product that is left is one for BLAS, and its
adjoint is summed in the precision of the sum. Conversions to a lower precision stay where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np

from sdfgad.dependence.boxes import volume
from sdfgad.dependence.intervals import interval
from sdfgad.ir.expr import Expr, Lin, Op, Read, reads, rewrite
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, Loop, Program, Statement, written
from sdfgad.optimise.names import names_of
from sdfgad.optimise.sizes import known_bytes
from sdfgad.optimise.sums.numbers_in_sums import with_numbers_in_sums
from sdfgad.optimise.sums.order import Domain, Span, size_of
from sdfgad.optimise.sums.terms import as_sum

# A scaled or converted part of an array: the expression for an element, read without an index; array; box.
Part = tuple[Expr, str, tuple[Span, ...]]
# How often each element must be multiplied by the number, on average.
REUSE = 8
# What is multiplied where one of its arguments is, or all of them.
ONE, ALL = ("multiply",), ("add", "subtract", "negative")


def scale_once(program: Program) -> Program:
    """The program with such scalings and conversions before the loops."""
    for candidate in with_numbers_in_sums(program):
        scaled = _scaled(candidate.program)
        if not any(candidate.number in {r.buffer for r in reads(s.value)} for s in candidate.sums_of(scaled)):
            return scale_once(candidate.program)
    return _scaled(program)


def _scaled(program: Program) -> Program:
    names, buffers, body = names_of(program), dict(program.buffers), list[Statement]()
    for statement in program.body:
        parts = _Parts(program.buffers, names)
        changed = _Nest(parts, written((statement,))).inside(statement, _Place())
        while parts.settle():
            changed = _Nest(parts, written((statement,))).inside(statement, _Place())
        body += [*parts.made(changed), changed]
        buffers |= parts.arrays
    return replace(program, buffers=buffers, body=tuple(body))


@dataclass(frozen=True)
class _Place:
    """The iteration space around a statement.

    Attributes:
        extents: counter or parameter -> how many values it may have.
        guards: forms that are >= 0 there.
    """

    extents: dict[str, int] = field(default_factory=dict)
    guards: tuple[Lin, ...] = ()

    def within(self, name: str, extent: Lin) -> _Place | None:
        """The place inside a loop; None if it is not known how often that runs."""
        span = interval(extent, {other: Lin(most) for other, most in self.extents.items()})
        if span is None or span[0] != Lin(0) or span[2] < 1:
            return None
        guards = () if extent.is_const else (extent - Lin.symbol(name) - 1,)
        return _Place({**self.extents, name: span[2]}, (*self.guards, *guards))


class _Parts:
    """The parts of arrays that are scaled or converted, in `arrays` of their own, and those that are not worth it."""

    def __init__(self, buffers: Mapping[str, Buffer], names: Names) -> None:
        self.buffers, self.names = buffers, names
        self.points: dict[Part, int] = {}
        self.place: dict[Part, Part] = {}
        self.refused: set[Part] = set()
        self.arrays: dict[str, Buffer] = {}
        self.products: dict[Part, Compute] = {}

    def settle(self) -> bool:
        """Merges overlapping parts and refuses those read too rarely; whether that has changed anything."""
        place: dict[Part, Part] = {}
        total: dict[Part, int] = {}
        for part in sorted(self.points, key=lambda part: -volume(part[2])):
            whole = next((other for other in total if _is_within(part, other)), part)
            place[part] = whole
            total[whole] = total.get(whole, 0) + self.points[part]
        few = {whole for whole, points in total.items() if points < REUSE * volume(whole[2])}
        refused = {part for part, whole in place.items() if whole in few}
        is_done = not refused and place == self.place
        self.refused |= refused
        self.place, self.points = place, {}
        return not is_done

    def element(self, part: Part, read: Read, points: int) -> Read | None:
        """An element of the scaled or converted part of an array, if the part is read often enough."""
        if part in self.refused:
            return None
        self.points[part] = self.points.get(part, 0) + points
        whole = self.place.get(part, part)
        if whole not in self.products:
            self.products[whole] = self.product(whole, read.dtype)
        index = tuple(lin - low for lin, (low, _) in zip(read.index, whole[2], strict=True))
        return Read(self.products[whole].target.buffer, index, part[0].dtype)

    def product(self, part: Part, dtype: np.dtype[Any]) -> Compute:
        """The statement that multiplies, or converts, a part of an array."""
        how, name, spans = part
        shape = tuple(Lin(high - low) for low, high in spans)
        params = tuple((self.names.fresh("p"), extent) for extent in shape)
        place = tuple(Lin.symbol(name) for name, _ in params)
        source = tuple(lin + low for lin, (low, _) in zip(place, spans, strict=True))
        swap: dict[Expr, Expr] = {Read(name, (), dtype): Read(name, source, dtype)}
        made = Access(self.names.fresh(f"{name}_scaled" if how.reads[1:] else f"{name}_cast"), place)
        return Compute(params, made, rewrite(how, replace=swap.get))

    def made(self, changed: Statement) -> Block:
        """The statements that compute the parts which the changed statement reads."""
        wanted = (self.products[whole] for whole in dict.fromkeys(self.place.values()))
        kept = [one for one in wanted if one.target.buffer in changed.mentioned]
        for one in kept:
            shape = tuple(extent for _, extent in one.params)
            self.arrays[one.target.buffer] = Buffer(one.target.buffer, shape, one.value.dtype)
        return tuple(kept)


def _is_within(part: Part, other: Part) -> bool:
    is_same = part[:2] == other[:2]
    return is_same and all(low <= x and y <= high for (x, y), (low, high) in zip(part[2], other[2], strict=True))


class _Nest:
    """Rewrites one statement of the program's body to read the scaled or converted parts."""

    def __init__(self, parts: _Parts, changing: set[str]) -> None:
        self.parts, self.changing = parts, changing

    def inside(self, statement: Statement, place: _Place) -> Statement:
        """The statement with such products replaced by reads of scaled arrays."""
        if isinstance(statement, Loop):
            inner = place.within(statement.var, statement.trips) if statement.start == Lin(0) else None
            if inner is None or statement.is_open:
                return statement
            return replace(statement, body=tuple(self.inside(part, inner) for part in statement.body))
        if not isinstance(statement, Compute) or not place.extents or as_sum(statement) is None:
            return statement
        here: _Place | None = place
        for name, extent in statement.params:
            here = None if here is None else here.within(name, extent)
        domain = None if here is None else Domain.of(here.extents, here.guards)
        return statement if domain is None else replace(statement, value=self.less(statement.value, domain))

    def less(self, value: Expr, domain: Domain) -> Expr:
        """A sum of products in which products of a number and an array are replaced by reads of scaled arrays."""
        if not isinstance(value, Op) or value.name not in (*ONE, *ALL, "cast"):
            return value
        if value.name == "cast":
            return self.converted(value, domain) or value
        for number, other in permutations(value.args) if value.name in ONE else ():
            found = self.multiplied(number, other, domain) if self.is_number(number) else None
            if found is not None:
                return found
        return Op(value.name, tuple(self.less(arg, domain) for arg in value.args), value.dtype)

    def is_number(self, value: Expr) -> bool:
        return isinstance(value, Read) and not value.index and value.buffer not in self.changing

    def multiplied(self, number: Expr, value: Expr, domain: Domain) -> Expr | None:
        """The product of a number and an expression, by scaling one of the expression's arrays."""
        arrays = dict.fromkeys(read.buffer for read in reads(value) if read.buffer not in self.changing)
        for array in sorted(arrays, key=lambda name: known_bytes(self.parts.buffers[name])):
            found = self.times(number, value, array, domain)
            if found is not None:
                return found
        return None

    def times(self, number: Expr, value: Expr, array: str, domain: Domain) -> Expr | None:
        if isinstance(value, Read):
            how = Op("multiply", (number, Read(array, (), value.dtype)), number.dtype)
            return self.element(how, value, domain) if value.buffer == array and number.dtype == value.dtype else None
        if not isinstance(value, Op) or value.name not in (*ONE, *ALL) or _is_exact_sum(value):
            return None
        args = list[Expr]()
        for arg in value.args:
            # Of a product one factor is multiplied, of a sum all terms are.
            is_wanted = value.name in ALL or args == list(value.args[: len(args)])
            new = self.times(number, arg, array, domain) if is_wanted else None
            if new is None and value.name in ALL:
                return None
            args.append(arg if new is None else new)
        return Op(value.name, tuple(args), value.dtype) if tuple(args) != value.args else None

    def converted(self, value: Op, domain: Domain) -> Expr | None:
        """A read of the converted array, for an element that is converted to a higher precision."""
        (read,) = value.args
        if (
            not isinstance(read, Read)
            or read.buffer in self.changing
            or {read.dtype.kind, value.dtype.kind} - set("fc")
            or not np.can_cast(read.dtype, value.dtype)
        ):
            return None
        return self.element(Op("cast", (Read(read.buffer, (), read.dtype),), value.dtype), read, domain)

    def element(self, how: Expr, read: Read, domain: Domain) -> Expr | None:
        """An element of the scaled or converted part of an array in place of a read; None if that is not worth it."""
        names = [atom for lin in read.index for atom, _ in lin.terms]
        if not read.index or any(lin != lin.const + _symbol(lin) for lin in read.index):
            return None
        box = domain.onto(frozenset(map(str, names)))
        if box is None or len(set(names)) < len(names) or not set(names) <= domain.box.keys():
            return None
        part = (how, read.buffer, tuple(_moved(box, lin) for lin in read.index))
        return self.parts.element(part, read, _points(domain))


def _is_exact_sum(value: Op) -> bool:
    """Whether elements are added unscaled: scaling them first would lose the exactness of a cancelling sum."""
    return value.name in ("add", "subtract") and all(map(_is_element, value.args))


def _is_element(value: Expr) -> bool:
    return isinstance(value, Read) or (
        isinstance(value, Op) and value.name == "negative" and _is_element(value.args[0])
    )


def _symbol(lin: Lin) -> Lin:
    """The only symbol of a form; zero if it has none, or more."""
    return Lin.symbol(lin.terms[0][0]) if len(lin.terms) == 1 and isinstance(lin.terms[0][0], str) else Lin(0)


def _moved(box: Mapping[str, Span], lin: Lin) -> Span:
    """The values of a form of one symbol or none."""
    low, high = box[str(lin.terms[0][0])] if lin.terms else (0, 1)
    return low + lin.const, high + lin.const


def _points(domain: Domain) -> int:
    """About how many points a domain has."""
    return size_of(domain.box) >> len(domain.forms)
