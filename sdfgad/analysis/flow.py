"""Which writes destroy a value that the reverse sweep needs.

The forward program is described to isl as a schedule with accesses. A request is a value that the adjoint of a
statement reads, as it stands just before or just after that statement; a write needs its old values saved exactly
if some request may be followed by it with no other write to the same element in between. Affine accesses are
exact; others are taken to touch whatever they may.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import islpy as isl

from sdfgad.ir.expr import Expr
from sdfgad.ir.linear import Lin
from sdfgad.ir.program import Access, Block, Branch, Compute, Loop, Statement
from sdfgad.ir.sets import Encoder

BEFORE, WRITE, AFTER = 0, 1, 2


@dataclass(frozen=True)
class Request:
    """A value that the adjoint of `statement` reads: `phase` is BEFORE or AFTER that statement runs."""

    access: Access
    params: tuple[tuple[str, Lin], ...]
    phase: int


@dataclass(frozen=True)
class _Place:
    """A statement's position: enclosing counters, conditions that hold there, and its place in the order."""

    counters: tuple[str, ...]
    forms: tuple[Lin, ...]
    order: tuple[str, ...]


@dataclass
class _Model:
    """Collects isl maps in text form."""

    context: isl.Set
    requests: list[isl.Map] = field(default_factory=list)
    writes: list[isl.Map] = field(default_factory=list)
    exact: list[isl.Map] = field(default_factory=list)
    schedule: list[isl.Map] = field(default_factory=list)


def destroying_writes(
    body: Block, context: isl.Set, requests: Mapping[int, Iterable[Request]], only: frozenset[str]
) -> frozenset[int]:
    """Numbers of the statements whose overwritten values are requested.

    Statements are numbered in the order of `numbered`. Only buffers in `only` are looked at.
    """
    model = _Model(context)
    depth = _depth(body)
    for number, statement, place in _placed(body):
        for phase in (BEFORE, AFTER):
            for request in requests.get(number, ()):
                if request.phase == phase and request.access.buffer in only:
                    _add(model, number, place, request.access, request.params, phase, depth, True)
        if isinstance(statement, Compute) and statement.target.buffer in only:
            _add(model, number, place, statement.target, statement.params, WRITE, depth, False)
    return _solve(model)


def numbered(body: Block) -> list[Statement]:
    """All statements; a statement's number is its position."""
    return [statement for _, statement, _ in _placed(body)]


def _placed(body: Block) -> list[tuple[int, Statement, _Place]]:
    result: list[tuple[int, Statement, _Place]] = []

    def visit(block: Block, counters: tuple[str, ...], forms: tuple[Lin, ...], order: tuple[str, ...]) -> None:
        for position, statement in enumerate(block):
            here = (*order, str(position))
            result.append((len(result), statement, _Place(counters, forms, here)))
            if isinstance(statement, Loop):
                inner = (*counters, statement.var)
                visit(statement.body, inner, forms + statement.guards, (*here, statement.var))
            elif isinstance(statement, Branch):
                visit(statement.then, counters, forms + (statement.guards or ()), (*here, "0"))
                visit(statement.orelse, counters, forms, (*here, "1"))

    visit(body, (), (), ())
    return result


def _depth(body: Block) -> int:
    return max((len(place.order) for _, _, place in _placed(body)), default=0)


def _add(
    model: _Model,
    number: int,
    place: _Place,
    access: Access,
    params: tuple[tuple[str, Lin], ...],
    phase: int,
    depth: int,
    is_request: bool,
) -> None:
    encoder = Encoder()
    indices = [encoder.text(lin) for lin in access.index]
    conditions = [f"{encoder.text(form)} >= 0" for form in place.forms]
    for name, extent in params:
        conditions.append(f"0 <= {encoder.name(name)} < {encoder.text(extent)}")
    outputs = [f"o{k}_" for k in range(len(indices))]
    conditions += [f"{o} = {text}" for o, text in zip(outputs, indices, strict=True)]
    is_exact = all(isinstance(atom, str) or _is_encoded(atom) for atom in encoder.names)
    conditions += encoder.facts
    dims = [*place.counters, *(name for name, _ in params)]
    hidden = [text for atom, text in encoder.names.items() if isinstance(atom, Expr)]
    outer = [a for a in encoder.names if isinstance(a, str) and a not in dims]
    label = f"{'Q' if is_request else 'W'}{number}_{phase}_{len(model.requests) if is_request else 0}"
    where = " and ".join(conditions) or "0 = 0"
    where = f"exists {', '.join(hidden)} : {where}" if hidden else where
    relation = isl.Map(
        f"[{', '.join(outer)}] -> {{ {label}[{', '.join(dims)}] -> {access.buffer}[{', '.join(outputs)}] : {where} }}"
    ).intersect_params(model.context)
    time = [*place.order, *["0"] * (depth - len(place.order)), str(phase)]
    model.schedule.append(isl.Map(f"{{ {label}[{', '.join(dims)}] -> [{', '.join(time)}] }}"))
    if is_request:
        model.requests.append(relation)
    else:
        model.writes.append(relation)
        if is_exact:
            model.exact.append(relation)


def _is_encoded(atom: Expr) -> bool:
    """Whether an atom's meaning is known to isl exactly."""
    from sdfgad.ir.expr import Op, reads

    return isinstance(atom, Op) and atom.name in ("floor_divide", "remainder", "maximum", "minimum") and not reads(atom)


def _union(maps: list[isl.Map]) -> isl.UnionMap:
    result = isl.UnionMap("{ }")
    for one in maps:
        result = result.union(isl.UnionMap.from_map(one))
    return result


def _solve(model: _Model) -> frozenset[int]:
    if not model.requests or not model.writes:
        return frozenset()
    info = isl.UnionAccessInfo.from_sink(_union(model.writes))
    info = info.set_may_source(_union(model.requests)).set_must_source(_union(model.exact))
    flow = info.set_schedule_map(_union(model.schedule)).compute_flow()
    found: set[int] = set()
    dependences: list[isl.Map] = []
    flow.get_may_dependence().foreach_map(dependences.append)
    for dependence in dependences:
        if dependence.get_tuple_name(isl.dim_type.in_).startswith("Q"):
            found.add(int(dependence.get_tuple_name(isl.dim_type.out)[1:].partition("_")[0]))
    return frozenset(found)
