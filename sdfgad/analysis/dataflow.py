"""Dataflow analysis: which access is the last before another one that touches the same element, by isl.

isl's time grows with all that a question contains, and the same is asked over and over: of each component of a state,
of each row beside a boundary, of arrays that differ in their names. Questions are therefore about one buffer, at one
constant along an axis where there are many, and in a normal form: without names, fixed coordinates and parts of the
schedule that do not differ. What was asked before is not computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import islpy as isl

from sdfgad.analysis.model import AccessRelation

Accesses = Sequence[AccessRelation]
# With so many constants along one axis, the elements are looked at one constant after the other.
MANY_CONSTANTS = 3
# More run-time integers, such as the items of a list of indices, are not analysed.
MANY_PARAMETERS = 24
PARAMETER = isl.dim_type.param
# Of isl, for one analysis: many indices that are run-time integers take it exponential time, too.
MOST_OPERATIONS = 10**6


def flow(sinks: Accesses, may: Accesses, must: Accesses) -> frozenset[tuple[str, str]] | None:
    """Dataflow dependences: the labels of (source, sink) that access an element with no `must` source in between.

    A superset, where an access is sparse (none is in the gradients of the suite's 52 programs) or isl finds one too
    many. None where isl gives up, as it does on some relations with quotients, and after a number of operations; the
    caller must then assume every dependence.
    """
    found = frozenset[tuple[str, str]]()
    for name in dict.fromkeys(one.buffer for one in sinks):
        part = _of_buffer(*([one for one in accesses if one.buffer == name] for accesses in (sinks, may, must)))
        if part is None:
            return None
        found |= part
    return found


def _of_buffer(sinks: Accesses, may: Accesses, must: Accesses) -> frozenset[tuple[str, str]] | None:
    """The dependences by accesses to one buffer.

    isl takes time exponential in the number of different constants at which an array is written, as what is left
    between k points are k + 1 pieces along each axis. So each constant is looked at alone, and then what accesses that
    have none do elsewhere: where all of theirs are among the constants, that is a superset, too.
    """
    lists = sinks, may, must
    axes = [{one.fixed[axis] for accesses in lists for one in accesses} for axis in range(len(sinks[0].fixed))]
    axis = next((axis for axis, found in enumerate(axes) if _is_split(found)), None)
    if axis is None:
        return _answer(*lists)
    whole = frozenset[tuple[str, str]]()
    for constant in (*sorted(k for k in axes[axis] if k is not None), None):
        part = _of_part(axis, constant, lists)
        if part is None:
            return None
        whole |= part
    return whole


def _is_split(found: set[int | None]) -> bool:
    """Whether the elements are looked at by their index along an axis; None is one that is not an integer."""
    return (len(found) == 1 and None not in found) or len(found - {None}) >= MANY_CONSTANTS


def _of_part(axis: int, constant: int | None, lists: tuple[Accesses, ...]) -> frozenset[tuple[str, str]] | None:
    sinks, may, must = (_at(accesses, axis, constant) for accesses in lists)
    return _of_buffer(sinks, may, must) if sinks and (may or must) else frozenset()


def _at(accesses: Accesses, axis: int, constant: int | None) -> list[AccessRelation]:
    """Those that access elements at a constant, of arrays without that axis; those that have no constant for None."""
    if constant is None:
        return [one for one in accesses if one.fixed[axis] is None]
    found = [one for one in accesses if one.fixed[axis] in (None, constant)]
    return [one for one in (one.restricted(axis, constant) for one in found) if not one.relation.is_empty()]


@dataclass(frozen=True)
class _Event:
    """An access as isl is asked about it: its relation, without names, and its time."""

    text: str
    time: tuple[str, ...]
    is_sparse: bool
    relation: isl.Map = field(compare=False)


# Sinks, sources that may access, and sources that must.
_Question = tuple[tuple[_Event, ...], tuple[_Event, ...], tuple[_Event, ...]]


def _answer(sinks: Accesses, may: Accesses, must: Accesses) -> frozenset[tuple[str, str]] | None:
    """The dependences by accesses to one buffer, from the answer to their question in normal form."""
    labels: list[dict[_Event, list[str]]] = []
    times = _compressed([one.time for one in (*sinks, *may, *must)])
    for accesses in (sinks, may, must):
        events: dict[_Event, list[str]] = {}
        for one in accesses:
            events.setdefault(_Event(one.text, next(times), one.is_sparse, one.relation), []).append(one.label)
        labels.append(events)
    found = _dependences((tuple(labels[0]), tuple(labels[1]), tuple(labels[2])), MOST_OPERATIONS)
    if found is None:
        return None
    sink_labels, source_labels = list(labels[0].values()), [*labels[1].values(), *labels[2].values()]
    return frozenset((a, b) for source, sink in found for a in source_labels[source] for b in sink_labels[sink])


def _compressed(times: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Rank compression of schedules: coordinates in which all agree are left out, and positions are numbered anew."""
    columns = [_renumbered(column) for column in zip(*times, strict=True) if not _is_the_same(column)]
    return iter(zip(*columns, strict=True)) if columns else iter([()] * len(times))


def _is_the_same(column: tuple[str, ...]) -> bool:
    return len(set(column)) == 1 and _is_number(column[0])


def _renumbered(column: tuple[str, ...]) -> tuple[str, ...]:
    if not all(map(_is_number, column)):
        return column
    ranks = {text: str(rank) for rank, text in enumerate(sorted(set(column), key=int))}
    return tuple(ranks[text] for text in column)


def _is_number(coordinate: str) -> bool:
    return coordinate.lstrip("-").isdigit()


# A program is asked about again for each layout of its memory, and for derivatives of other orders and outputs.
@lru_cache(maxsize=4096)
def _dependences(question: _Question, most_operations: int) -> frozenset[tuple[int, int]] | None:
    """Numbers of (source, sink); sources that may access are counted first. None where isl gives up."""
    if _has_many_names(question):
        return None
    sinks, may, must = question
    relations = [one.relation.set_tuple_name(isl.dim_type.in_, f"A{k}") for k, one in enumerate((*may, *must, *sinks))]
    sources, targets = relations[: len(may) + len(must)], relations[len(may) + len(must) :]
    # Looking for the last sources of sparse ones can end in a segmentation fault of isl (islpy 2024.2 to 2026.2).
    is_sparse = any(one.is_sparse for one in (*sinks, *may, *must))
    first_must = len(sources) if is_sparse else len(may)
    info = isl.UnionAccessInfo.from_sink(_union(targets))
    info = info.set_may_source(_union(sources[:first_must])).set_must_source(_union(sources[first_must:]))
    found = _computed(info.set_schedule_map(_schedule((*may, *must, *sinks))), most_operations)
    if found is None:
        return None
    pairs = [(_number(one, isl.dim_type.in_), _number(one, isl.dim_type.out)) for one in found]
    return frozenset((source, sink - len(sources)) for source, sink in pairs)


def _has_many_names(question: _Question) -> bool:
    """Whether so many run-time integers are in the accesses that isl would give up, after a long time."""
    relations = [one.relation for accesses in question for one in accesses]
    names = {one.get_dim_name(PARAMETER, k) for one in relations for k in range(one.dim(PARAMETER))}
    return len(names) > MANY_PARAMETERS


def _schedule(events: Iterable[_Event]) -> isl.UnionMap:
    """When the instances of accesses run."""
    parts = []
    for number, event in enumerate(events):
        coordinates = ", ".join(f"i{axis}" for axis in range(event.relation.dim(isl.dim_type.in_)))
        parts.append(f"A{number}[{coordinates}] -> [{', '.join(event.time)}]")
    return isl.UnionMap(f"{{ {'; '.join(parts)} }}")


def _computed(info: isl.UnionAccessInfo, most_operations: int) -> list[isl.Map] | None:
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(most_operations)
    found: list[isl.Map] = []
    try:
        info.compute_flow().get_may_dependence().foreach_map(found.append)
    except isl.Error:
        return None
    finally:
        context.set_max_operations(0)
    return found


def _union(maps: Iterable[isl.Map]) -> isl.UnionMap:
    result = isl.UnionMap("{ }")
    for one in maps:
        result = result.union(isl.UnionMap.from_map(one))
    return result


def _number(dependence: isl.Map, side: isl.dim_type) -> int:
    return int(dependence.get_tuple_name(side)[1:])
