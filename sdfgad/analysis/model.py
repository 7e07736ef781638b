"""Polyhedral model: each statement's instances, their schedule and access relations as isl sets and maps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import islpy as isl

from sdfgad.dependence.sets import Encoder
from sdfgad.ir.expr import Expr, Lin
from sdfgad.ir.program import Access, Block, Branch, Loop, Statement

Params = tuple[tuple[str, Lin], ...]

# Schedule coordinates of a loop's trips, and of what follows them: the trip count of an open loop is known only then.
INSIDE, AFTERWARDS = "0", "1"


@dataclass(frozen=True)
class Place:
    """A statement's iteration domain and schedule.

    Attributes:
        counters: of the enclosing loops.
        forms: linear forms that are >= 0 where the statement runs.
        order: schedule coordinates, positions in blocks and counters.
        is_exact: whether the statement runs wherever all forms are >= 0.
    """

    counters: tuple[str, ...] = ()
    forms: tuple[Lin, ...] = ()
    order: tuple[str, ...] = ()
    is_exact: bool = True

    def inside(self, forms: tuple[Lin, ...] | None, order: str, counter: str | None = None) -> Place:
        """A place nested in this one, where `forms` >= 0; `forms` is None for a condition that has no such forms."""
        counters = (*self.counters, counter) if counter else self.counters
        is_exact = self.is_exact and forms is not None
        return Place(counters, self.forms + (forms or ()), (*self.order, order), is_exact)


def after(statement: Statement, place: Place) -> Place:
    """The place at which the reverse sweep reads a statement's sizes and conditions: a loop's, after its last trip."""
    return place.inside((), AFTERWARDS) if isinstance(statement, Loop) else place


def numbered(body: Block) -> list[Statement]:
    """All statements of a body, nested ones included, in program order; a statement's number is its position here."""
    return [statement for _, statement, _ in placed(body)]


def placed(body: Block) -> list[tuple[int, Statement, Place]]:
    """The number, statement and place of each statement of a body, nested ones included, in program order."""
    result: list[tuple[int, Statement, Place]] = []

    def visit(block: Block, outer: Place) -> None:
        for position, statement in enumerate(block):
            here = outer.inside((), str(position))
            result.append((len(result), statement, here))
            if isinstance(statement, Loop):
                inside = here.inside((), INSIDE)
                trip = inside.inside(statement.guards, statement.var, statement.var)
                visit(statement.body, replace(trip, is_exact=trip.is_exact and not statement.is_open))
            elif isinstance(statement, Branch):
                visit(statement.then, here.inside(statement.guards or None, "0"))
                visit(statement.orelse, here.inside(_negation(statement.guards), "1"))

    visit(body, Place())
    return result


def _negation(guards: tuple[Lin, ...]) -> tuple[Lin, ...] | None:
    """Forms that are all >= 0 exactly where not all of `guards` are; None if that is no conjunction."""
    return (-guards[0] - 1,) if len(guards) == 1 else None


def depth_of(body: Block) -> int:
    """The number of schedule coordinates that suffices for all statements of a block."""
    return max((len(after(statement, place).order) for _, statement, place in placed(body)), default=0)


@dataclass(frozen=True)
class AccessRelation:
    """An access relation: the elements that the instances of a statement access, with their schedule.

    Attributes:
        label: by which others refer to it.
        buffer: whose elements they are.
        relation: instance -> element, both without names. The coordinates of an instance are i0, i1, ...
        time: the schedule of an instance: integers and its coordinates.
        is_exact: whether exactly these elements are accessed, rather than some of them.
        is_sparse: whether an index is a multiple of a sum, as in x[2 * i + 2 * j].
    """

    label: str
    buffer: str
    relation: isl.Map
    time: tuple[str, ...]
    is_exact: bool
    is_sparse: bool

    @cached_property
    def text(self) -> str:
        """The relation, as isl writes it."""
        return str(self.relation)

    @cached_property
    def fixed(self) -> tuple[int | None, ...]:
        """The index along each axis, None where it is not one integer."""
        return _fixed(self.relation.range())

    def restricted(self, axis: int, constant: int) -> AccessRelation:
        """The access to elements at a constant along an axis, which these elements do not have any more."""
        relation = self.relation.fix_val(isl.dim_type.out, axis, isl.Val(constant))
        return replace(self, relation=relation.project_out(isl.dim_type.out, axis, 1)).normalised()

    def normalised(self) -> AccessRelation:
        """The same without coordinates of the instance that are constants: these are in its schedule."""
        constants = _fixed(self.relation.domain())
        relation, names = self.relation, dict[str, str]()
        for axis in reversed([axis for axis, constant in enumerate(constants) if constant is not None]):
            relation = relation.project_out(isl.dim_type.in_, axis, 1)
        for axis, constant in enumerate(constants):
            moved = f"i{axis - sum(one is not None for one in constants[:axis])}"
            names[f"i{axis}"] = moved if constant is None else str(constant)
        for axis in range(relation.dim(isl.dim_type.in_)):
            relation = relation.set_dim_name(isl.dim_type.in_, axis, f"i{axis}")
        return replace(self, relation=relation, time=tuple(names.get(one, one) for one in self.time))


def _fixed(points: isl.Set) -> tuple[int | None, ...]:
    """The coordinates of a set that are one integer, None for others."""
    found = [points.plain_get_val_if_fixed(isl.dim_type.set, k) for k in range(points.dim(isl.dim_type.set))]
    return tuple(None if value.is_nan() else int(value.to_python()) for value in found)


def access_relation(
    label: str, place: Place, access: Access, params: Params, phase: int, depth: int, context: isl.Set
) -> AccessRelation:
    """The access relation of the statement at `place` over the box `params`; `phase` orders it within the statement.

    Quotients, remainders and extrema of counters are coordinates of the instance: as existentially quantified variables
    of what overwrites all, they make isl's dataflow analysis lose dependences (in 6 % of random programs with them).
    """
    encoder = Encoder()
    counters = (*place.counters, *(name for name, _ in params))
    # Numbers for the names of counters, as no symbol has them: accesses of one form are one text.
    encoder.names.update((name, f"d{number}'") for number, name in enumerate(counters))
    indices = [encoder.text(lin) for lin in access.index]
    conditions = [f"{encoder.text(form)} >= 0" for form in place.forms]
    for name, extent in params:
        conditions.append(f"0 <= {encoder.name(name)} < {encoder.text(extent)}")
    outputs = [f"o{k}_" for k in range(len(indices))]
    conditions += [f"{o} = {text}" for o, text in zip(outputs, indices, strict=True)]
    conditions += encoder.facts
    known = encoder.determined
    hidden = [text for atom, text in encoder.names.items() if isinstance(atom, Expr) and text not in known]
    is_exact = place.is_exact and not hidden
    dims = [*(encoder.names[name] for name in counters), *known]
    outer = [a for a in encoder.names if isinstance(a, str) and a not in counters]
    where = " and ".join(conditions) or "0 = 0"
    where = f"exists {', '.join(hidden)} : {where}" if hidden else where
    points = f"[{', '.join(dims)}] -> [{', '.join(outputs)}]"
    relation = _map(f"[{', '.join(outer)}] -> {{ {points} : {where} }}").intersect_params(context)
    coordinates = {name: f"i{axis}" for axis, name in enumerate((*counters, *known))}
    order = [*place.order, *["0"] * (depth - len(place.order)), str(phase)]
    time = tuple(coordinates.get(one, one) for one in order)
    is_sparse = any(map(_is_sparse, access.index))
    return AccessRelation(label, access.buffer, relation, time, is_exact, is_sparse).normalised()


@lru_cache(maxsize=4096)
def _map(text: str) -> isl.Map:
    return isl.Map(text)


def _is_sparse(index: Lin) -> bool:
    return len(index.terms) > 1 and math.gcd(*(coefficient for _, coefficient in index.terms)) > 1
