"""``for`` and ``while`` loops: which are ranges, tables, type switches or generators, and which are written out."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sized
from functools import partial
from typing import Any

from sdfgad.errors import (
    SdfgadError,
    UnsupportedProgram,
)
from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import (
    endless_iterators,
    filtered_objects,
    generator_loops,
    masked_lists,
    trees,
)
from sdfgad.parse.backtracking import ChoicePoint, attempted
from sdfgad.parse.endless_iterators import is_endless
from sdfgad.parse.frame import Frame
from sdfgad.parse.induction_variables import Counter, NotCounted
from sdfgad.parse.internal_iteration import is_inverted
from sdfgad.parse.iterables import iterable_of
from sdfgad.parse.iterators import as_sequence
from sdfgad.parse.jumps import stops, tested_inside
from sdfgad.parse.known_trips import known_trips
from sdfgad.parse.loop_heads import Head, head_of, identity
from sdfgad.parse.loop_nests import nest_of
from sdfgad.parse.loop_strategies import parse_filling, parse_loop
from sdfgad.parse.operands import may_change_something
from sdfgad.parse.ranges import AS_LIST, Range, gone_over, is_lazy
from sdfgad.parse.rolled_loops import is_table_to_roll, is_type_switch, keeps_items, rolled_over_table
from sdfgad.parse.unrolling import (
    FEW_TRIPS,
    unroll,
    unroll_while,
)
from sdfgad.parse.values import Iteration, Record


def for_loop(frame: Frame, node: ast.For) -> None:
    """A ``for`` over a range, an array's leading axis, or a sequence known while parsing (unrolled)."""
    if _is_short_for_another(frame, node):
        return
    value = iterable_of(frame, node.iter, node)
    if is_inverted(frame, node, value):
        return
    nest = nest_of(frame.b, node, value, frame.source.node)
    if nest is not None:
        for_loop(frame, nest)
        return
    if masked_lists.is_filtered(value):
        with filtered_objects.named(frame, value):
            for_loop(frame, filtered_objects.loop_over_all(node, keeps_items(frame, node)))
        return
    if stops(node) and is_endless(value) and attempted(frame, partial(_over_endless, frame, node, value)):
        return
    if is_table_to_roll(frame.b, value) and rolled_over_table(frame, node, value):
        return
    if is_type_switch(frame, node, value):
        return
    iterable = gone_over(frame.b, value)
    frame.iterables.append(value)
    try:
        head = head_of(frame, node, iterable)
        if head is not None:
            parse_filling(frame, head, parse_loop)
        else:
            items = (partial(identity, item) for item in as_sequence(frame, node.iter, iterable))
            with frame.b.unrolling(_trips(value)):
                unroll(frame, node, items, *_unless_data_ends(value))
        for source in value.sources if isinstance(value, Iteration) else (value,):
            frame.b.logs.require_same_length(source)
    finally:
        frame.iterables.pop()


def _unless_data_ends(value: Any) -> tuple[str, ...]:
    """What a loop that is unrolled goes over, if data must not end it, and what to write instead."""
    if endless_iterators.may_not_end(value):
        return "an endless iterator", endless_iterators.BY_NUMBER
    return ("a generator", AS_LIST) if is_lazy(value) else ()


def _over_endless(frame: Frame, node: ast.For, value: Iteration) -> bool:
    """Parse a loop over an iterator without an end as one over many items; returns whether it can be one."""
    is_count = value.function is itertools.count and endless_iterators.is_whole(frame.b, value)
    items = endless_iterators.items(frame.b, value)
    if items is None and is_count:
        loop, names = endless_iterators.counting(node)
        frame.env |= dict(zip(names, endless_iterators.bounds(value), strict=True))
        while_loop(frame, loop)
    if items is None:
        return is_count
    parse_filling(frame, Head(node, Range(Lin(0), items.length, 1), items.at, must_stay_loop=True), parse_loop)
    return True


def _trips(value: Any) -> int:
    """How many trips a loop that is unrolled has, as far as that is plain."""
    sources = value.sources if isinstance(value, Iteration) else (value,)
    return min((len(one) for one in sources if isinstance(one, Sized) and len(one)), default=1)


def _is_short_for_another(frame: Frame, node: ast.For) -> bool:
    """Parse a loop over a generator expression, or ``enumerate`` of a masked list, as a loop over what that goes over;
    returns whether it is such a loop."""
    fused = generator_loops.fused(node, generator_loops.as_generator(frame, node.iter))
    if fused is not None:
        for_loop(frame, fused)
        return True
    numbered = filtered_objects.enumerated(frame, node.iter)
    if numbered is not None:
        with filtered_objects.named(frame, numbered):
            for_loop(frame, filtered_objects.numbered_loop_over_all(node, keeps_items(frame, node)))
    return numbered is not None


def while_loop(frame: Frame, node: ast.While) -> None:
    """A ``while``: a loop over a range if it counts."""
    found = dict(frame.b.logs.found)
    if not attempted(frame, partial(_counted, frame, node), (NotCounted, NeedsConstant, SdfgadError)):
        with frame.b.logs.instead(found):
            _uncounted(frame, node)


def _counted(frame: Frame, node: ast.While) -> bool:
    """Parse a ``while`` whose trips are known before it as a loop over a range; returns whether it is one."""
    counter = Counter.of(frame, node)
    if counter is not None:
        parse_filling(frame, Head(node, counter.span, counter=counter), parse_loop)
        frame.env[counter.name] = counter.last(frame.b)
        return True
    trips = known_trips(frame, node)
    if trips is None or trips.count <= FEW_TRIPS:
        return False
    parse_filling(frame, Head(node, Range(Lin(0), Lin(trips.count), 1)), parse_loop)
    trips.require_same(frame)
    frame.env |= trips.values
    return True


def _uncounted(frame: Frame, node: ast.While) -> None:
    """Any other ``while``; unrolled where its tests are known while parsing and it has few trips."""
    if _changes_something(frame, node):
        node, flag = tested_inside(node)
        frame.env[flag] = False
    head, point = Head(node), ChoicePoint.of(frame)
    if not isinstance(head.test(frame, Lin(0)), bool) or not _is_short(frame, head):
        point.backtrack(frame)
        parse_loop(frame, head)


def _changes_something(frame: Frame, node: ast.While) -> bool:
    """Whether the test of a loop binds a name, or changes an object, a container or an array, when it is evaluated."""
    if any(isinstance(one, ast.NamedExpr) for one in ast.walk(node.test)):
        return True
    names = [one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)]
    has_object = any(isinstance(frame.env.get(name), Record) for name in names)
    if not has_object and not may_change_something(frame, node.test):
        return False
    point, values, writes = ChoicePoint.of(frame), list(frame.env.values()), frame.b.versions.writes
    before = trees.copied(values)
    try:
        Head(node).test(frame, Lin(0))
        return frame.b.versions.writes != writes or trees.is_changed(values, before)
    finally:
        point.backtrack(frame)


def _is_short(frame: Frame, head: Head) -> bool:
    """Unroll a ``while`` of few trips; whether it is one, in which all lists can be followed."""
    logs = frame.b.logs
    found = dict(logs.found)
    try:
        return unroll_while(frame, head, FEW_TRIPS) is None
    except UnsupportedProgram:
        if logs.found.keys() == found.keys():
            raise
        logs.found = found
        return False
