"""``for`` and ``while`` loops.

The body is parsed repeatedly until the loop-carried names and their dtypes reach a fixed point. The first trip is
peeled where it differs from the others: it updates an array with aliases in place, binds a name that later trips
read, or changes its shape. A loop whose trips differ in shapes, or other things that must be known while parsing, is
unrolled.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sized
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from sdfgad.errors import (
    AmbiguousArray,
    Rebound,
    SdfgadError,
    ShapeMismatch,
    UnboundVariable,
    UnsupportedProgram,
    UpdateOfCopy,
)
from sdfgad.ir.expr import INT, Const, Int, Lin, Op, as_linear, reads
from sdfgad.ir.program import Loop, Statement
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import (
    control,
    endless_iterators,
    filled_loops,
    filtered_objects,
    generator_loops,
    masked_lists,
    trees,
    type_switch,
)
from sdfgad.parse.backtracking import ChoicePoint, attempted
from sdfgad.parse.builder import Builder
from sdfgad.parse.constants import Decides, Guessed
from sdfgad.parse.containers import ItemsMoved
from sdfgad.parse.contents import Rolling, Taken
from sdfgad.parse.endless_iterators import is_endless
from sdfgad.parse.frame import Frame
from sdfgad.parse.index_set_splitting import ByTrip, loses_a_name, split
from sdfgad.parse.induction_variables import Counter, NotCounted
from sdfgad.parse.internal_iteration import is_inverted
from sdfgad.parse.item_tables import has_arrays, is_tabular, is_worth_a_loop
from sdfgad.parse.items import Items, begun, settled
from sdfgad.parse.iterables import iterable_of
from sdfgad.parse.iterators import as_sequence
from sdfgad.parse.jumps import stops, tested_inside
from sdfgad.parse.known_trips import known_trips
from sdfgad.parse.liveness import assigned_names, is_read_behind
from sdfgad.parse.loop_attempts import Carried, Peel, first_trip, parse_as_loop
from sdfgad.parse.loop_heads import Head, head_of, identity, require_sign
from sdfgad.parse.loop_nests import nest_of
from sdfgad.parse.operands import may_change_something
from sdfgad.parse.ranges import AS_LIST, MANY_ITEMS, Range, are_rows, fewest, gone_over, is_lazy
from sdfgad.parse.unrolling import (
    FEW_TRIPS,
    remainder_trips,
    unroll,
    unroll_instead,
    unroll_while,
    unroll_while_instead,
)
from sdfgad.parse.values import Iteration, Record
from sdfgad.parse.warm_up import is_warm_up, warmed_up

Result = TypeVar("Result")


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
            for_loop(frame, filtered_objects.loop_over_all(node, _keeps_items(frame, node)))
        return
    if stops(node) and is_endless(value) and attempted(frame, partial(_over_endless, frame, node, value)):
        return
    if _is_table_to_roll(frame.b, value) and _rolled_over_table(frame, node, value):
        return
    if _is_type_switch(frame, node, value):
        return
    iterable = gone_over(frame.b, value)
    frame.iterables.append(value)
    try:
        head = head_of(frame, node, iterable)
        if head is not None:
            _filling(frame, head, parse_loop)
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
    _filling(frame, Head(node, Range(Lin(0), items.length, 1), items.at, must_stay_loop=True), parse_loop)
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
            for_loop(frame, filtered_objects.numbered_loop_over_all(node, _keeps_items(frame, node)))
    return numbered is not None


def _keeps_items(frame: Frame, node: ast.For) -> bool:
    """Whether a name that a loop binds may be read behind it, as what it binds besides always may."""
    names = assigned_names(node.target)
    shared = frame.source.nonlocals | frame.source.cells
    bound = [one for one in ast.walk(node.target) if isinstance(getattr(one, "ctx", None), ast.Store)]
    if not all(isinstance(one, (ast.Name, ast.Tuple, ast.List, ast.Starred)) for one in bound) or names & shared:
        return True
    return any(is_read_behind(frame.source.tree, node, tuple(frame.around), name) for name in names)


def _is_table_to_roll(b: Builder, value: Any) -> bool:
    """Whether a loop goes over a list of numbers or alike arrays that would else be written out."""
    few = fewest(b)
    if b.rolling is Rolling.NONE or not is_tabular(value, few):
        return False
    sources = value.sources if isinstance(value, Iteration) else (value,)
    tables = [source for source in sources if is_tabular(source, few)]
    return any(not has_arrays(one) or not are_rows(b, one) for one in tables)


def _rolled_over_table(frame: Frame, node: ast.For, value: Any) -> bool:
    """Parse a loop over a list of alike items as a loop; returns whether it can be one, and is worth it."""
    b = frame.b
    sources = list(map(trees.dict_of, value.sources if isinstance(value, Iteration) else [value]))
    before = trees.copied(sources)

    def rolled() -> bool:
        with b.rolling_tables():
            head = head_of(frame, node, gone_over(b, value))
        return head is not None and _is_rolled(frame, head) and not trees.is_changed(sources, before)

    frame.iterables.append(value)
    try:
        is_rolled = bool(attempted(frame, rolled, (NeedsConstant, Decides, Guessed, Taken, SdfgadError)))
    finally:
        frame.iterables.pop()
    b.has_rolled |= is_rolled
    return is_rolled


def _is_type_switch(frame: Frame, node: ast.For, value: Any) -> bool:
    """Parse a loop over items of several kinds as one with a branch for each kind; returns whether it can be one."""
    b = frame.b
    is_begun = isinstance(value, Iteration) and (id(value) in b.exhausted or value.blocks != tuple(b.blocks))
    if b.rolling is Rolling.NONE or is_begun:
        return False
    candidates = list(type_switch.candidates(node, value))
    if not candidates or _keeps_items(frame, node):
        return False
    return any(_rolled_switch(frame, value, switch) for switch in candidates)


def _rolled_switch(frame: Frame, value: Any, switch: type_switch.TypeSwitch) -> bool:
    before = trees.copied(switch.lists)

    def rolled() -> bool:
        with switch.named(frame):
            gone_over(frame.b, value)
            is_rolled = _rolled_over_table(frame, switch.node, iterable_of(frame, switch.node.iter))
        return is_rolled and not trees.is_changed(switch.lists, before)

    return bool(attempted(frame, rolled, ()))


def _is_rolled(frame: Frame, head: Head) -> bool:
    """Parse a loop over a list as one loop that is worth it, or as several; returns whether it is such."""
    failure = _filling(frame, head, _as_loop)
    if failure is None:
        return _is_worth(frame.b, frame.b.blocks[-1][-1])
    return split(frame, head, failure.by_trip, _part)


def _part(frame: Frame, head: Head) -> None:
    _filling(frame, head, parse_loop)


def _is_worth(b: Builder, loop: Statement) -> bool:
    return is_worth_a_loop(b, loop) or b.objects.are_written(loop)


def _filling(frame: Frame, head: Head, parse: Callable[[Frame, Head], Result]) -> Result:
    """Parse a loop, which may fill lists."""
    first = partial(first_trip, frame, head)
    return filled_loops.parsed(frame, head.node, _may_fill(frame.b, head), partial(parse, frame, head), first)


def _may_fill(b: Builder, head: Head) -> bool:
    """Whether a loop may fill lists: its number of trips is known, and not small."""
    if not head.is_counted or head.span is None or head.node.orelse:
        return False
    trips = head.span.trips
    return trips.is_const and trips.const >= MANY_ITEMS and b.rolling is not Rolling.NONE


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
        _filling(frame, Head(node, counter.span, counter=counter), parse_loop)
        frame.env[counter.name] = counter.last(frame.b)
        return True
    trips = known_trips(frame, node)
    if trips is None or trips.count <= FEW_TRIPS:
        return False
    _filling(frame, Head(node, Range(Lin(0), Lin(trips.count), 1)), parse_loop)
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


def parse_loop(frame: Frame, head: Head, may_peel: bool = True) -> None:
    """Parse a loop as a loop of the program; where that fails, with its first trip peeled, or unrolled.

    One that has no trip, whatever the arguments, is left out where it reads what only later trips of one around have.
    """
    trips = Lin(1) if head.span is None or head.node.orelse else head.span.trips
    parse = partial(_parse, frame, head, may_peel)
    if trips.is_const and trips.const <= 0:
        attempted(frame, parse, (UnboundVariable,))
    else:
        parse()


def _parse(frame: Frame, head: Head, may_peel: bool) -> bool:
    """The same of any loop; returns True, or raises."""
    require_sign(frame.b, head)
    found = dict(frame.b.logs.found)
    failure = _as_loop_if_worth(frame, head)
    if failure is not None:
        with frame.b.logs.instead(found):
            _parse_otherwise(frame, head, failure, may_peel)
    return True


def _parse_otherwise(frame: Frame, head: Head, failure: _Failure, may_peel: bool) -> None:
    if may_peel and is_warm_up(failure.reason) and warmed_up(frame, head, partial(_reason_against, frame)):
        return
    if split(frame, head, failure.by_trip, _part):
        return
    if isinstance(failure.reason, UpdateOfCopy) and head.is_counted and _periodic(frame, head):
        return
    if failure.is_peeled and may_peel:
        _peeled(frame, head, failure.reason)
    elif isinstance(failure.reason, (AmbiguousArray, Rebound)) and may_peel and _settles(frame, head, failure.reason):
        return
    elif head.must_stay_loop:
        raise failure.reason
    elif isinstance(head.node, ast.While) and head.span is None:
        _with_known_trips(frame, head.node, failure.reason)
    elif isinstance(failure.reason, (NeedsConstant, Rebound)):
        unroll_instead(frame, head, failure.var, failure.reason)
    else:
        raise failure.reason


def _with_known_trips(frame: Frame, node: ast.While, failure: Exception) -> None:
    """Unroll a ``while`` that is no loop, as its length must be known; many known trips are those of a loop."""
    point = ChoicePoint.of(frame)
    trips = unroll_while_instead(frame, Head(node), failure)
    if trips <= FEW_TRIPS or stops(node) or frame.b.rolling is Rolling.NONE:
        return
    found = {name: frame.env.get(name) for name in assigned_names(node)}
    point.backtrack(frame)
    try:
        _filling(frame, Head(node, Range(Lin(0), Lin(trips), 1), must_stay_loop=True), parse_loop)
        frame.env |= {name: value for name, value in found.items() if type(value) in (int, float)}
    except (NeedsConstant, SdfgadError):
        point.backtrack(frame)
        unroll_while_instead(frame, Head(node), failure)


def _reason_against(frame: Frame, head: Head) -> Exception | None:
    """Parse a loop as one or several loops; returns why it is none."""
    failure = _filling(frame, head, _as_loop_if_worth)
    if failure is None or (not is_warm_up(failure.reason) and split(frame, head, failure.by_trip, _part)):
        return None
    return failure.reason


@dataclass(frozen=True)
class _Failure:
    """Why a loop is none of the program.

    Attributes:
        is_peeled: whether it would be with its first trip peeled.
        var: its counter.
        by_trip: what conditions on the counter alone are at each trip.
    """

    reason: Exception
    is_peeled: bool
    var: str
    by_trip: ByTrip


def _as_loop_if_worth(frame: Frame, head: Head) -> _Failure | None:
    """Parse a loop as a loop; without looking up items of lists by its counter, if it is not worth that."""
    b = frame.b
    point = ChoicePoint.of(frame)
    failure = _as_loop(frame, head)
    if _is_final(b, failure):
        return failure
    point.backtrack(frame)
    before, b.table_depth = b.table_depth, min(b.table_depth, len(b.blocks) + 1)
    try:
        return _as_loop(frame, head)
    finally:
        b.table_depth = before


def _is_final(b: Builder, failure: _Failure | None) -> bool:
    """Whether an attempt needs no other one that looks up no items by the counter: it is worth it, or fails so that the
    loop is unrolled."""
    if failure is not None:
        return failure.var not in b.table_symbols or isinstance(failure.reason, (NeedsConstant, Rebound))
    loop = b.blocks[-1][-1] if b.blocks[-1] else None
    return not isinstance(loop, Loop) or loop.var not in b.table_symbols or _is_worth(b, loop)


def _as_loop(frame: Frame, head: Head) -> _Failure | None:
    """Parse a loop as a loop of the program, again until all that it carries is known; else all is as before."""
    point, carried = ChoicePoint.of(frame), Carried()
    return settled(
        frame.b,
        head.node,
        lambda items: _attempted(frame, head, carried, items, point),
        lambda: point.backtrack(frame),
    )


def _attempted(frame: Frame, head: Head, carried: Carried, items: Items, point: ChoicePoint) -> _Failure | None:
    b, reason = frame.b, Exception()
    while True:
        begun(b)
        var = b.fresh(head.base)
        b.by_trip.pop(var, None)
        try:
            if parse_as_loop(frame, head, var, carried, items):
                return None
            point.backtrack(frame)
            continue
        except Peel as peel:
            reason, is_peeled = peel.reason, True
        except (NeedsConstant, Rebound, ShapeMismatch, UnsupportedProgram) as error:
            reason, is_peeled = error, False
        point.backtrack(frame)
        if b.nest.is_given_up or not _carries_otherwise(b, items, reason):
            return _Failure(reason, is_peeled, var, tuple(b.by_trip.pop(var, {}).values()))
        carried.names.clear()


def _carries_otherwise(b: Builder, items: Items, reason: Exception) -> bool:
    """Whether a loop that has failed carries all items of a list or dict in the next attempt, or does so no more."""
    return items.moved(b, reason) if isinstance(reason, ItemsMoved) else items.give_up_whole()


LONGEST_PERIOD = 3


def _periodic(frame: Frame, head: Head) -> bool:
    """Unroll a loop that permutes arrays, as ``x, y = y, x`` does, by its period, and add a remainder loop.

    Returns whether this succeeds: after 2 or 3 trips all names must refer to the same arrays as before.
    """
    span = head.span
    assert span is not None
    if span.period > 1:
        return False
    point = ChoicePoint.of(frame)
    for period in range(2, LONGEST_PERIOD + 1):
        period_count = as_linear(Op("floor_divide", (Int(span.trips), Const(period, INT)), INT))
        done = period_count.scaled(period)
        try:
            periodic = replace(head, span=replace(span, period_count=period_count, period=period))
            parse_loop(frame, periodic, may_peel=False)
            remainder_trips(frame, head, done, period - 1)
            return True
        except (UpdateOfCopy, Peel):
            point.backtrack(frame)
    return False


def _peeled(frame: Frame, head: Head, reason: Exception) -> None:
    """Loop peeling: the first trip, and then a loop over the others; in a branch where data tells if there is one."""
    b, span = frame.b, head.span
    if span is not None and b.holds(-span.trips):
        return
    if span is not None and not b.holds(span.trips - 1) and not reads(Int(span.trips)):
        raise reason

    def both() -> None:
        first_trip(frame, head)
        try:
            parse_loop(frame, head.rest(), may_peel=False)
        except (Peel, UpdateOfCopy):
            raise reason from None

    control.branch_on(frame, head.test(frame, Lin(0)), both, lambda: None, head.node)


def _settles(frame: Frame, head: Head, reason: Exception) -> bool:
    """Peel a loop whose first trip alone changes the shape or kind of a name; returns whether this succeeds."""
    env = dict(frame.env)

    def peeled() -> bool:
        _peeled(frame, head, reason)
        return not loses_a_name(frame, head.node, env)

    failures = (NeedsConstant, Rebound, ShapeMismatch, UnboundVariable, UnsupportedProgram)
    return bool(attempted(frame, peeled, failures))


__all__ = ["for_loop", "while_loop"]
