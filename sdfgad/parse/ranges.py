"""Ranges and other iterables whose length may be known only at run time."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from sdfgad.errors import InvalidIndex
from sdfgad.ir.expr import INT, Const, Int, Lin, Op, as_linear
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import trees
from sdfgad.parse.basic_indexing import resolve
from sdfgad.parse.builder import Builder
from sdfgad.parse.columns import columns_of
from sdfgad.parse.contents import Rolling
from sdfgad.parse.flat import Flat
from sdfgad.parse.indexing import getitem
from sdfgad.parse.integers import affine, integer_extremum
from sdfgad.parse.item_tables import has_arrays, is_tabular, looked_up, table_of, trips_together
from sdfgad.parse.rows import whole_of
from sdfgad.parse.values import Iteration, Record, Selection, Tensor, as_tensor, cast, described, is_integer

# A loop over a shorter list is unrolled; so is one over a range that looks up its items, but in a nest of such loops.
MANY_ITEMS = 5
# In short loops that have so many trips together, such loops and ranges are not unrolled.
FEW_TOGETHER = 8
AS_LIST = "Make a list of it where you make it: items = list(...)."


@dataclass(frozen=True)
class Range:
    """``range(start, stop, step)`` with bounds known at run time and a step known while parsing.

    In a loop unrolled by `period`, `period_count` is the number of its trips, each of `period` trips of the range.
    """

    noun = "a range"
    instead = "Write np.arange(...)."

    start: Lin
    stop: Lin
    step: int
    period_count: Lin | None = None
    period: int = 1

    @staticmethod
    def of(b: Builder, arguments: list[Any]) -> Range | range:
        """A range; Python's own where its bounds are known while parsing."""
        bounds = [_bound(b, value) for value in arguments]
        if len(bounds) == 1:
            bounds = [Lin(0), *bounds]
        step = b.constant(bounds[2]) if len(bounds) > 2 else 1
        if step == 0:
            raise b.unsupported("range() step must not be zero", "Use a step that is not 0, such as 1 or -1.")
        if bounds[0].is_const and bounds[1].is_const:
            return range(bounds[0].const, bounds[1].const, step)
        return Range(bounds[0], bounds[1], step)

    @staticmethod
    def like(known: range) -> Range:
        return Range(Lin(known.start), Lin(known.stop), known.step)

    @property
    def trips(self) -> Lin:
        """The number of trips; negative or zero for none."""
        if self.period_count is not None:
            return self.period_count
        span = self.stop - self.start if self.step > 0 else self.start - self.stop
        size = abs(self.step)
        if size == 1:
            return span
        if span.is_const:
            return Lin(-(-span.const // size))
        return as_linear(Op("floor_divide", (Int(span + size - 1), Const(size, INT)), INT))

    def index(self, trip: Lin) -> Any:
        index = self.start + trip.scaled(self.step)
        return index.const if index.is_const else index

    def guards(self, trip: Lin) -> tuple[Lin, ...]:
        """Forms that are >= 0 exactly for the trips that run."""
        if self.period_count is not None:
            return (trip, self.period_count - 1 - trip)
        index = self.start + trip.scaled(self.step)
        inside = self.stop - index if self.step > 0 else index - self.stop
        return (trip, inside - 1)


def item(b: Builder, span: Range, index: Any) -> Any:
    """``span[index]``."""
    if isinstance(index, slice) or not is_integer(index):
        return range(b.constant(span.start), b.constant(span.stop), span.step)[index]
    position = Lin.of(index)
    if position.is_const and position.const < 0:
        position = position + span.trips
    if not (b.holds(position) and b.holds(span.trips - 1 - position)):
        raise InvalidIndex(
            f"the range has no item {index}",
            b.where,
            "Python raises IndexError here, too: use an index that is less than the length.",
        )
    return span.index(position)


@dataclass(frozen=True)
class Items:
    """An iterable of a loop that runs at run time: its length, and its item at an index."""

    length: Lin
    at: Callable[[Any], Any]


def gone_over(b: Builder, value: Any) -> Any:
    """The items of an iterator, which Python has but once, as they are now; any other value itself.

    Raises:
        NeedsConstant: a loop goes over it in each trip; unrolled, it does so once and then again.
        UnsupportedProgram: it has been gone over before, or is made in a loop or branch that has ended.
    """
    if isinstance(value, Flat):
        return value.elements
    if not isinstance(value, Iteration):
        return value
    depth = len(value.blocks)
    if len(b.blocks) < depth or not all(map(operator.is_, value.blocks, b.blocks)):
        raise b.unsupported("an iterator is used outside of the loop or `if` in which it is made", AS_LIST)
    what = "an iterator that is made outside of a loop is gone over inside of it"
    for body, var, trips in b.loops:
        if body > depth:
            raise NeedsConstant({var} | trips.symbols, b.where, what)
    _, position = b.exhausted.get(id(value), (value, 0))
    if position is None:
        what = "this iterator is used up, or as far as a loop has gone over it: what is left of it is not known here"
        raise b.unsupported(what, AS_LIST)
    b.exhausted[id(value)] = value, None
    if position and _has_turns(value):
        return _running(b, value, position)
    return _from(b, value.evaluate(), position) if position else value.evaluate()


def _has_turns(value: Iteration) -> bool:
    """Whether an iterator makes its items one by one, by statements of the program: it cannot begin anew."""
    return value.is_generator or any(isinstance(one, Iteration) for one in value.sources)


def _running(b: Builder, value: Iteration, position: int) -> Iterator[Any]:
    """Such an iterator, of which the first items have been taken.

    Raises:
        UnsupportedProgram: it has gone further, in an attempt to parse statements that are parsed anew now.
    """
    if position == 0:
        items = value.evaluate()
        is_span = isinstance(items, Items)
        return map(items.at, range(b.constant(items.length))) if is_span else iter(items)
    _, made, taken = b.running[id(value)]
    if taken != position:
        what = "`next` of an iterator is parsed more than once here, as in a branch or loop that data decides"
        raise b.unsupported(what, AS_LIST)
    return made


def _next_turn(b: Builder, value: Iteration, position: int) -> list[Any]:
    made = _running(b, value, position)
    found = list(islice(made, 1))
    b.running[id(value)] = value, made, position + 1
    b.exhausted[id(value)] = value, position + 1
    return found


def _from(b: Builder, items: Any, first: int) -> Any:
    """Items without the first ones."""
    if isinstance(items, Items):
        return Items(items.length - first, lambda trip: items.at(Lin.of(trip) + first))
    return islice(items, first, None)


def next_of(b: Builder, value: Iteration) -> list[Any] | None:
    """The next item of an iterator, in a list, which is empty if there is none; None where all have been taken.

    Raises:
        UnsupportedProgram: a branch takes it, so that what is left is known only at run time.
    """
    _, position = b.exhausted.get(id(value), (value, 0))
    if position is None:
        return None
    if len(b.blocks) != len(value.blocks):
        symbols = b.symbols_here()
        what = "`next` of an iterator in a loop or branch that is decided only at run time is not supported"
        raise NeedsConstant(symbols, b.where, what, AS_LIST)
    if _has_turns(value):
        return _next_turn(b, value, position)
    items = value.evaluate()
    b.exhausted[id(value)] = value, position + 1
    if isinstance(items, Items):
        return [items.at(position)] if b.holds(items.length - position - 1) else []
    return list(islice(items, position, position + 1))


def items_of(b: Builder, value: Any) -> Items | None:
    """A range or an array as items; None for an iterable of a loop that is unrolled while parsing."""
    if isinstance(value, Items):
        return value
    if isinstance(value, range):
        value = Range.like(value)
    if isinstance(value, Range):
        return Items(value.trips, lambda trip: value.index(Lin.of(trip)))
    if isinstance(value, Selection):
        value = as_tensor(value)
    if b.rolls_tables and (item := table_of(b, value, fewest(b))) is not None:
        return Items(Lin(len(value)), item)
    if isinstance(value, (list, tuple)) and len(value) >= MANY_ITEMS:
        if is_repeated(b, value):
            first = value[0]
            return Items(Lin(len(value)), lambda trip: first)
        found = tuple_at(b, value) or _row_at(b, value)
        if found is not None:
            return Items(Lin(len(value)), lambda trip: found(Lin.of(trip)))
    if isinstance(value, Tensor) and value.ndim:
        array = b.settle(value)
        return Items(array.shape[0], lambda trip: getitem(b, array, trip))
    return None


def fewest(b: Builder) -> int:
    """How many items a list has at least whose items are looked up at a counter, or gone over by a loop that is one."""
    return 2 if trips_together(b) >= FEW_TOGETHER else MANY_ITEMS


def are_rows(b: Builder, values: Any) -> bool:
    """Whether a loop over a list is one as it is: its items, or their parts, are the rows of arrays."""
    return whole_of(b, values) is not None or columns_of(b, values, MANY_ITEMS) is not None


def is_repeated(b: Builder, values: Any) -> bool:
    """Whether all items of a long list or tuple are one object, which then stays so: ``[None] * n``, say."""
    if not isinstance(values, (list, tuple)) or len(values) < MANY_ITEMS or not _may_take(b):
        return False
    if any(one is not values[0] for one in values):
        return False
    if isinstance(values, list):
        b.has_rolled = True
        _take(b, values)
    return True


def _may_take(b: Builder) -> bool:
    """Whether the statement that is parsed may rely on a list that stays as it is."""
    return b.rolling is not Rolling.NONE and b.where not in b.untaken


def tuple_at(b: Builder, values: Any) -> Callable[[Lin], Any] | None:
    """What gives the items of a list of tuples of rows, which then stay its items; None for others."""
    found = columns_of(b, values, MANY_ITEMS) if _may_take(b) else None
    if found is not None:
        _take(b, values)
    return found


def _take(b: Builder, values: Any) -> None:
    """Note that a list, and the lists in its items, but for those that all items have, must stay as they are."""
    first, last = ({id(one) for one in trees.sequences(values[k])} for k in (0, -1))
    for one in trees.sequences(values):
        if isinstance(one, list) and id(one) not in first & last:
            b.taken[id(one)] = one, b.where


def number_at(b: Builder, values: Any, index: Lin, is_known: bool) -> Any:
    """``values[index]`` of a list of numbers or alike arrays, or tuples of these, at a place that is known only at run
    time; None for other lists.

    Args:
        is_known: whether the numbers must be known while parsing.
    """
    if b.rolling is Rolling.NONE or not is_tabular(values, fewest(b)):
        return None
    if any(var in index.symbols and depth >= b.table_depth for depth, var, _ in b.loops):
        return None
    if is_known and has_arrays(values):
        return None
    return looked_up(b, values, resolve(b, index, Lin(len(values))))


def _row_at(b: Builder, values: Any) -> Callable[[Lin], Any] | None:
    """What gives the items of a sequence of an array's rows, which then stay so: see `containers.require_current`."""
    whole = whole_of(b, values) if _may_take(b) else None
    if whole is None:
        return None
    b.has_rolled = True
    _take(b, values)
    return lambda trip: values[trip.const] if trip.is_const else getitem(b, whole, trip)


def is_lazy(value: Any) -> bool:
    """Whether statements or expressions of the program are evaluated where an item of an iterator is asked for."""
    if isinstance(value, Record):
        # What an object's `__iter__` returns.
        return not value.cls.__module__.startswith("sdfgad.")
    return isinstance(value, Iteration) and (value.is_generator or any(map(is_lazy, value.sources)))


def combined(b: Builder, function: Any, values: list[Any], keywords: dict[str, Any]) -> Items | None:
    """``enumerate``, ``zip``, ``reversed`` or ``pairwise`` of items; None if not all of the values are items."""
    parts = [items_of(b, value) for value in values[: 1 if function is enumerate else None]]
    if not parts or any(part is None for part in parts):
        return None
    items = [part for part in parts if part is not None]
    first = items[0]
    if function is reversed:
        return Items(first.length, lambda trip: first.at(first.length - 1 - trip))
    if function is enumerate:
        start = values[1] if len(values) > 1 else keywords.get("start", 0)
        return Items(first.length, lambda trip: ((Lin.of(trip) + start).plain, first.at(trip)))
    if function is pairwise:
        return Items(first.length - 1, lambda trip: (first.at(trip), first.at(Lin.of(trip) + 1)))
    length = first.length
    for other in items[1:]:
        length = Lin.of(integer_extremum(b, length, other.length, "minimum"))
    if keywords.get("strict") and not all(b.is_zero(length - item.length) for item in items):
        raise b.unsupported(
            "zip of sequences of different lengths; Python raises here, too",
            "Make them equally long, or leave out `strict`.",
        )
    return Items(length, lambda trip: tuple(item.at(trip) for item in items))


def _bound(b: Builder, value: Any) -> Lin:
    if is_integer(value):
        return Lin.of(value if isinstance(value, Lin) else int(value))
    if isinstance(value, Tensor) and value.ndim == 0 and value.dtype.kind in "iu":
        return affine(b, cast(value.at(), INT))
    raise b.unsupported(f"a range bound that is not an integer: {described(value)}", "Convert it: range(int(n)).")
