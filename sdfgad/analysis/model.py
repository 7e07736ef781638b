"""Polyhedral model: each statement's instances, their schedule and access relations as isl sets and maps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
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
        relation: instance -> element.
        schedule: instance -> time.
        is_exact: whether exactly these elements are accessed, rather than some of them.
        is_sparse: whether an index is a multiple of a sum, as in x[2 * i + 2 * j].
    """

    relation: isl.Map
    schedule: isl.Map
    is_exact: bool
    is_sparse: bool

    @cached_property
    def buffer(self) -> str:
        return str(self.relation.get_tuple_name(isl.dim_type.out))

    @cached_property
    def text(self) -> tuple[str, str, bool]:
        """All that a dataflow analysis knows of it."""
        return str(self.relation), str(self.schedule), self.is_sparse

    @cached_property
    def fixed(self) -> tuple[isl.Val, ...]:
        """The index along each axis, NaN where it is not one integer."""
        elements = self.relation.range()
        return tuple(
            elements.plain_get_val_if_fixed(isl.dim_type.set, axis) for axis in range(elements.dim(isl.dim_type.set))
        )

    def restricted(self, axis: int, constant: int) -> AccessRelation:
        """The access to elements at a constant along an axis."""
        return replace(self, relation=self.relation.fix_val(isl.dim_type.out, axis, isl.Val(constant)))


def access_relation(
    label: str, place: Place, access: Access, params: Params, phase: int, depth: int, context: isl.Set
) -> AccessRelation:
    """The access relation of the statement at `place` over the box `params`; `phase` orders it within the statement.

    Quotients, remainders and extrema of counters are coordinates of the instance: as existentially quantified variables
    of what overwrites all, they make isl's dataflow analysis lose dependences (in 6 % of random programs with them).
    """
    encoder = Encoder()
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
    dims = [*place.counters, *(name for name, _ in params), *known]
    outer = [a for a in encoder.names if isinstance(a, str) and a not in dims]
    where = " and ".join(conditions) or "0 = 0"
    where = f"exists {', '.join(hidden)} : {where}" if hidden else where
    instance = f"{label}[{', '.join(dims)}]"
    element = f"{access.buffer}[{', '.join(outputs)}]"
    relation = isl.Map(f"[{', '.join(outer)}] -> {{ {instance} -> {element} : {where} }}")
    time = [*place.order, *["0"] * (depth - len(place.order)), str(phase)]
    schedule = isl.Map(f"{{ {instance} -> [{', '.join(time)}] }}")
    return AccessRelation(relation.intersect_params(context), schedule, is_exact, any(map(_is_sparse, access.index)))


def _is_sparse(index: Lin) -> bool:
    return len(index.terms) > 1 and math.gcd(*(coefficient for _, coefficient in index.terms)) > 1


Accesses = Sequence[AccessRelation]
# With so many constants along one axis, the elements are looked at one constant after the other.
MANY_CONSTANTS = 3
# Of isl, for one analysis: many indices that are run-time integers take it exponential time, too.
MOST_OPERATIONS = 4 * 10**6


def flow(sinks: Accesses, may: Accesses, must: Accesses) -> list[isl.Map] | None:
    """Dataflow dependences: pairs (source, sink) of the same element with no `must` source in between, or a superset.

    None where isl gives up, as it does on some relations with quotients, and after a number of operations; the caller
    must then assume every dependence. A superset where an access is sparse: none is in the 443 calls for the gradients
    of the suite's 52 programs at S.

    isl takes time exponential in the number of different constants at which an array is written, as what is left
    between k points are k + 1 pieces along each axis. So each constant is looked at alone, and then what accesses that
    have none do elsewhere: where all of theirs are among the constants, that is a superset, too.
    """
    for name in {one.buffer for one in sinks}:
        own, rest = zip(*(_partitioned(accesses, name) for accesses in (sinks, may, must)), strict=True)
        axis = next((axis for axis in range(_rank(own[0])) if _is_split(axis, *own)), None)
        if axis is not None:
            parts = _by_constants(axis, *own), flow(*rest) if rest[0] else []
            return None if parts[0] is None or parts[1] is None else [*parts[0], *parts[1]]
    texts = tuple(tuple(one.text for one in accesses) for accesses in (sinks, may, must))
    found = _flow(_Question(texts, MOST_OPERATIONS, sinks, may, must))
    return None if found is None else [*found]


def _partitioned(accesses: Accesses, buffer: str) -> tuple[Accesses, Accesses]:
    """The accesses to a buffer, and all others."""
    return [one for one in accesses if one.buffer == buffer], [one for one in accesses if one.buffer != buffer]


def _by_constants(axis: int, sinks: Accesses, may: Accesses, must: Accesses) -> list[isl.Map] | None:
    """The dependences by accesses to one buffer, for each constant along an axis, and elsewhere."""
    found: list[isl.Map] = []
    for constant in (*sorted({k for one in (*sinks, *may, *must) if (k := _constant(one, axis)) is not None}), None):
        parts = [_at(accesses, axis, constant) for accesses in (sinks, may, must)]
        part = flow(*parts) if parts[0] and (parts[1] or parts[2]) else []
        if part is None:
            return None
        found += part
    return maps_of(union(found))


def _rank(accesses: Accesses) -> int:
    return max((one.relation.dim(isl.dim_type.out) for one in accesses), default=0)


def _is_split(axis: int, *lists: Accesses) -> bool:
    """Whether accesses have many constants along an axis; a list of one constant has been looked at."""
    constants = {_constant(one, axis) for accesses in lists for one in accesses}
    return len(constants - {None}) >= MANY_CONSTANTS


def _constant(one: AccessRelation, axis: int) -> int | None:
    """The index along an axis, if it is one integer."""
    value = one.fixed[axis]
    return None if value.is_nan() else int(value.to_python())


def _at(accesses: Accesses, axis: int, constant: int | None) -> list[AccessRelation]:
    """Those that access elements at a constant; those that have no constant for None."""
    if constant is None:
        return [one for one in accesses if _constant(one, axis) is None]
    found = [one for one in accesses if _constant(one, axis) in (None, constant)]
    return [one for one in (one.restricted(axis, constant) for one in found) if not one.relation.is_empty()]


@dataclass(frozen=True)
class _Question:
    """What isl is asked; the same question has the same texts."""

    texts: tuple[tuple[tuple[str, str, bool], ...], ...]
    most_operations: int
    sinks: Accesses = field(compare=False)
    may: Accesses = field(compare=False)
    must: Accesses = field(compare=False)


# A program is asked about again for each layout of its memory, and for derivatives of other orders and outputs.
@lru_cache(maxsize=512)
def _flow(question: _Question) -> list[isl.Map] | None:
    sinks, may, must = question.sinks, question.may, question.must
    everything = {id(t): t for t in (*sinks, *may, *must)}.values()
    if any(t.is_sparse for t in everything):
        # Looking for the last sources of these can end in a segmentation fault of isl (islpy 2024.2 to 2026.2).
        may, must = [*may, *must], []
    info = isl.UnionAccessInfo.from_sink(union([t.relation for t in sinks]))
    info = info.set_may_source(union([t.relation for t in may]))
    info = info.set_must_source(union([t.relation for t in must]))
    info = info.set_schedule_map(union([t.schedule for t in everything]))
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(question.most_operations)
    try:
        return maps_of(info.compute_flow().get_may_dependence())
    except isl.Error:
        return None
    finally:
        context.set_max_operations(0)


def union(maps: Iterable[isl.Map]) -> isl.UnionMap:
    result = isl.UnionMap("{ }")
    for one in maps:
        result = result.union(isl.UnionMap.from_map(one))
    return result


def maps_of(whole: isl.UnionMap) -> list[isl.Map]:
    result: list[isl.Map] = []
    whole.foreach_map(result.append)
    return result


def source_of(dependence: isl.Map) -> str:
    return str(dependence.get_tuple_name(isl.dim_type.in_))


def sink_of(dependence: isl.Map) -> str:
    return str(dependence.get_tuple_name(isl.dim_type.out))
