"""Iterators: what goes over a value item by item, and the functions that make iterators.

``zip``, ``map`` and those of `itertools` are evaluated when they are gone over, as in Python. What they go over must be
known while parsing, except that items of ranges and arrays may stay those of a loop of the program.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import Location, PythonRaises
from sdfgad.ir.expr import Lin
from sdfgad.parse import operators, outside
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.builder import Builder
from sdfgad.parse.builtin_bases import ITEMS, member
from sdfgad.parse.conditions import known_truth
from sdfgad.parse.contents import State
from sdfgad.parse.delay_lines import with_items
from sdfgad.parse.frame import Frame
from sdfgad.parse.indexing import getitem
from sdfgad.parse.integers import integer_extremum
from sdfgad.parse.library.iteration import items_by_next, items_by_place, next_or
from sdfgad.parse.loop_nests import axes_of
from sdfgad.parse.object_iteration import defines, require_all
from sdfgad.parse.operands import method
from sdfgad.parse.ranges import Items, Range, combined, gone_over, items_of, next_of
from sdfgad.parse.tuple_methods import own_method
from sdfgad.parse.values import Iteration, Record, Tensor, as_tensor, is_real, kind_of

Keywords = dict[str, Any]
# An iterator that has given so many items may not end.
MOST_ITEMS = 100_000


@dataclass(frozen=True)
class Site:
    """Call site: where a function is called, and what calls other functions there."""

    frame: Frame
    node: ast.Call
    dispatch: Callable[[Any, list[Any], Keywords], Any]

    @property
    def b(self) -> Builder:
        return self.frame.b

    @property
    def where(self) -> Location | None:
        return self.frame.where(self.node)

    def call(self, function: Any, *arguments: Any, **keywords: Any) -> Any:
        return self.dispatch(function, list(arguments), keywords)

    def define(self, definition: Any, *arguments: Any, **keywords: Any) -> Any:
        """The value of a call of a function of ours: errors in it name this place."""
        return self.frame.call(self.node, definition, list(arguments), keywords, is_definition=True)

    def sequence(self, value: Any) -> Iterator[Any]:
        return as_sequence(self.frame, self.node, value)


def sequence(frame: Frame, value: Any) -> Any:
    """A range or an array as a sequence of known length."""
    if isinstance(value, Range) and value.trips.is_const:
        # As `range(k, k + 4)`, whose items need not be known.
        return [value.index(Lin(trip)) for trip in range(value.trips.const)]
    if isinstance(value, Range):
        return range(frame.b.constant(value.start), frame.b.constant(value.stop), value.step)
    items = None if isinstance(value, range) else items_of(frame.b, value)
    if items is not None:
        return (frame.b.settle(items.at(k)) for k in range(frame.b.constant(items.length)))
    if isinstance(value, (list, tuple)) and outside.is_outside(frame.b, value):
        return (outside.part_from_outside(frame.b, value, k, operator.getitem) for k in range(len(value)))
    return value


def iterated(frame: Frame, node: ast.AST, value: Any) -> Any:
    """What a loop over a value goes over: for an object, what its ``__iter__`` returns, or its items, where only its
    ``__next__`` or ``__getitem__`` gives them."""
    if (own := own_method(value, "__iter__")) is not None:
        return frame.call(node, own, [value], {})
    if not isinstance(value, Record):
        return value
    if defines(value.cls, "__iter__"):
        value = method(frame, node, value, "__iter__")
    if not isinstance(value, Record) or value.cls.__module__.startswith("sdfgad."):
        return value
    if defines(value.cls, "__next__"):
        require_all(frame, node, value)
        return frame.call(node, items_by_next, [value], {}, is_definition=True)
    if defines(value.cls, "__getitem__") and member(value.cls, "__iter__", None) is None:
        return frame.call(node, items_by_place, [value], {}, is_definition=True)
    return value


def mapping(frame: Frame, node: ast.AST, value: Any) -> Any:
    """The items of an object that is a mapping, as a dict; any other value itself."""
    if not isinstance(value, Record) or not hasattr(value.cls, "keys"):
        return value
    if inspect.getattr_static(value.cls, "__iter__", None) is dict.__iter__:
        return dict(value.fields[ITEMS])
    keys = as_sequence(frame, node, method(frame, node, value, "keys"))
    return {key: method(frame, node, value, "__getitem__", key) for key in keys}


def as_sequence(frame: Frame, node: ast.AST, value: Any) -> Iterator[Any]:
    """The items of a loop that is unrolled while parsing; each is read when its trip begins, as in Python."""
    value = iterated(frame, node, value)
    try:
        items = iter(sequence(frame, gone_over(frame.b, value)))
        if frame.b.logs.is_read(value):
            return _of_log(frame, items, value)
        return limited(frame, node, items, MOST_ITEMS, "this iterator") if isinstance(value, Iteration) else items
    except TypeError as error:
        what = f"a loop over {kind_of(value)} is not supported"
        todo = "Go over a range, an array, a list, a tuple or a dict: `for i in range(n):`."
        if is_real(value):
            raise PythonRaises(what, frame.where(node), todo, error) from None
        raise frame.unsupported(node, what, todo) from None


def _of_log(frame: Frame, items: Iterator[Any], values: Any) -> Iterator[Any]:
    """The items that a log had, which must not have grown while the program went over them."""
    yield from items
    frame.b.logs.require_same_length(values)


def limited(frame: Frame, node: ast.AST, items: Iterable[Any], most: int, what: str) -> Iterator[Any]:
    """The items of what may not end.

    Raises:
        UnsupportedProgram: there are more than `most`.
    """
    for count, item in enumerate(items):
        if count == most:
            todo = "Take a number of them: zip(range(n), items), itertools.islice(items, n) or `for k in range(n):`."
            raise frame.unsupported(node, f"{what} has more than {most} items, or does not end", todo)
        yield item


_END = object()


def until_decided(frame: Frame, node: ast.AST, value: Any, stop: bool) -> Iterator[Any]:
    """The items up to the first one that is known to decide ``any`` or ``all``: Python asks for no more.

    Raises:
        UnsupportedProgram: data may decide before an item, and what computes that binds or changes something.
    """
    items, is_open = iter(as_sequence(frame, node, value)), False
    while True:
        before = _Effects.of(frame)
        item = next(items, _END)
        if item is _END:
            return
        if is_open and before.are_more():
            what = "data decides how many items this asks for, and each binds a name or changes something"
            raise frame.unsupported(node, what, "Write a loop over them that ends with `break`.")
        yield item
        if known_truth(item) is stop:
            return
        is_open = is_open or known_truth(item) is None


@dataclass(frozen=True)
class _Effects:
    """What a function's names, its lists and dicts, and the arrays of the program were at a point in time."""

    frame: Frame
    names: dict[str, Any]
    contents: State
    writes: int
    buffers: frozenset[str]

    @staticmethod
    def of(frame: Frame) -> _Effects:
        b = frame.b
        names = dict(frame.scope.env)
        return _Effects(frame, names, b.contents.snapshot(), b.versions.writes, frozenset(b.buffers))

    def are_more(self) -> bool:
        """Whether anything has been bound or changed since."""
        b, now = self.frame.b, self.frame.scope.env
        are_bound = any(value is not self.names.get(name) for name, value in now.items())
        are_written = not self.buffers.isdisjoint(b.versions.written_since(self.writes))
        return are_bound or are_written or not b.contents.is_unchanged_since(self.contents)


def items_now(frame: Frame, value: Any, is_each_read: bool = False) -> Any:
    """An iterator as its items; any other argument itself.

    Args:
        is_each_read: whether each item is read before the next one is asked for, which may update the array that it is.
    """
    if not isinstance(value, Iteration):
        return value
    point = ChoicePoint.of(frame)
    if (computed := _at_once(frame.b, value)) is not None:
        return computed
    items = gone_over(frame.b, value)
    if not isinstance(items, (Iterator, Items)):
        return items
    if not is_each_read:
        return tuple(sequence(frame, items))
    found = [(item, frame.b.versions.writes) for item in sequence(frame, items)]
    if not any(_is_written_since(frame.b, item, writes) for item, writes in found):
        return tuple(item for item, _ in found)
    point.backtrack(frame)
    return tuple(map(partial(_copied, frame.b), sequence(frame, gone_over(frame.b, value))))


def all_items(frame: Frame, node: ast.AST, value: Any) -> list[Any]:
    """The items of what a starred expression or an assignment to several names takes all of."""
    found = _at_once(frame.b, value) if isinstance(value, Iteration) else None
    return list(as_sequence(frame, node, value if found is None else with_items(frame.b, [found])[0]))


def _at_once(b: Builder, value: Iteration) -> Any:
    """All items of an iterator that is made in this block, of which none has been taken, if a loop computes them."""
    is_here = len(value.blocks) == len(b.blocks) and all(map(operator.is_, value.blocks, b.blocks))
    found = value.at_once() if is_here and id(value) not in b.exhausted else None
    if found is None:
        return None
    b.exhausted[id(value)] = value, None
    return found if isinstance(found, Record) else tuple(found)


def _is_written_since(b: Builder, item: Any, writes: int) -> bool:
    """Whether an item is an array that has been updated since there were so many writes."""
    return isinstance(item, Tensor) and bool(item.ndim) and item.buffer in b.versions.written_since(writes)


def _copied(b: Builder, item: Any) -> Any:
    return b.stored(item) if isinstance(item, Tensor) and item.ndim else item


# --- functions that make iterators

Maker = Callable[..., Any]


def iteration(site: Site, function: Any, positional: list[Any], keywords: Keywords) -> Iteration:
    """The iterator that a function makes, evaluated when it is gone over: the program may change a list before."""
    if function is itertools.count and keywords:
        defaults = {"start": 0, "step": 1} | dict(zip(("start", "step"), positional, strict=False))
        positional, keywords = list((defaults | keywords).values()), {}
    b, positional = site.b, _begun(site, function, positional)
    first = positional[0] if positional else None
    count = len(first) if function is reversed and isinstance(first, list) else None

    def items() -> Any:
        if isinstance(first, list) and count is not None and len(first) != count:
            # Python begins where the last item was, and finds nothing there if the list is shorter.
            return (first[k] for k in reversed(range(count if len(first) > count else 0)))
        maker = MAKERS.get(function)
        if maker is not None:
            return maker(site, *positional, **keywords)
        return _combined(site, function, positional, keywords)

    calls_user = function in (map, filter) or function in WITH_FUNCTIONS
    axes = axes_of(b, function, positional, keywords)
    sources, maker = (*positional, *keywords.values()), None if keywords.keys() - {"strict"} else function
    return Iteration(sources, items, tuple(b.blocks), is_generator=calls_user, axes=axes, function=maker)


def _begun(site: Site, function: Any, positional: list[Any]) -> list[Any]:
    """The arguments of a function that makes an iterator, with what ``__iter__`` returns in place of objects that it
    asks for that at once."""
    here = range(len(positional))[BEGUN.get(function, slice(0))]
    return [iterated(site.frame, site.node, value) if k in here else value for k, value in enumerate(positional)]


def _combined(site: Site, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """``enumerate``, ``zip``, ``reversed``, or a function of `itertools` that hands on items without a look at them."""
    values = [gone_over(site.b, iterated(site.frame, site.node, value)) for value in positional]
    if function in (enumerate, zip, reversed, itertools.pairwise):
        alike = combined(site.b, function, values, keywords)
        if alike is not None:
            return alike
    sequences = [sequence(site.frame, value) for value in values]
    first = keywords.get("start", values[1] if len(values) > 1 else 0)
    if function is enumerate and isinstance(first, Lin):
        return (((first + k).plain, item) for k, item in enumerate(sequences[0]))
    if function is reversed:
        sequences = [list(value) if isinstance(value, Iterator) else value for value in sequences]
    return site.b.python(function, *sequences, **keywords)


def _map(site: Site, function: Any, *iterables: Any) -> Any:
    values = [gone_over(site.b, value) for value in iterables]
    alike = combined(site.b, zip, values, {})
    if alike is not None:
        return Items(alike.length, lambda trip: site.call(function, *alike.at(trip)))
    return (site.call(function, *items) for items in zip(*map(site.sequence, values), strict=False))


def _starmap(site: Site, function: Any, iterable: Any) -> Any:
    return (site.call(function, *site.sequence(items)) for items in site.sequence(iterable))


def _filter(site: Site, function: Any, iterable: Any, wanted: bool = True) -> Any:
    return (item for item in site.sequence(iterable) if _test(site, function, item) == wanted)


def _filterfalse(site: Site, function: Any, iterable: Any) -> Any:
    return _filter(site, function, iterable, wanted=False)


def _takewhile(site: Site, function: Any, iterable: Any) -> Any:
    return itertools.takewhile(lambda item: _test(site, function, item), site.sequence(iterable))


def _dropwhile(site: Site, function: Any, iterable: Any) -> Any:
    return itertools.dropwhile(lambda item: _test(site, function, item), site.sequence(iterable))


def _test(site: Site, function: Any, item: Any) -> bool:
    """Whether a predicate holds, which must be known while parsing."""
    known = known_truth(item if function is None else site.call(function, item))
    if known is None:
        what = "which items are chosen depends on data: it is known only at run time"
        raise site.b.unsupported(what, "Choose by np.where(x > 0, x, 0.0), or by a mask: np.sum(x[x > 0]).")
    return known


def _accumulate(site: Site, iterable: Any, func: Any = None, *, initial: Any = None) -> Iterator[Any]:
    values = site.sequence(iterable)
    total = next(values, None) if initial is None else initial
    if total is None:
        return
    yield total
    for value in values:
        added = operators.binary(site.b, ast.Add, total, value) if func is None else site.call(func, total, value)
        total = site.b.settle(added)
        yield total


def _chain_from_iterable(site: Site, iterables: Any) -> Any:
    return itertools.chain.from_iterable(map(site.sequence, site.sequence(iterables)))


def _chain(site: Site, *iterables: Any) -> Any:
    return itertools.chain.from_iterable(map(site.sequence, iterables))


def _islice(site: Site, iterable: Any, *bounds: Any) -> Any:
    ends = [None if bound is None else site.b.constant(bound) for bound in bounds]
    return site.b.python(itertools.islice, site.sequence(iterable), *ends)


def _count(site: Site, start: Any = 0, step: Any = 1) -> Iterator[Any]:
    while True:
        yield start
        start = operators.binary(site.b, ast.Add, start, step)


def _repeat(site: Site, value: Any, times: Any = None) -> Any:
    return itertools.repeat(value) if times is None else itertools.repeat(value, site.b.constant(times))


def _grouped(site: Site, iterable: Any, n: Any) -> Iterable[Any]:
    return itertools.combinations(site.sequence(iterable), site.b.constant(n))


def _groupby(site: Site, iterable: Any, key: Any = None) -> Iterator[Any]:
    """Groups of items that follow each other and have equal keys; a group has its items until the next one begins."""
    items = ((item if key is None else site.call(key, item), item) for item in site.sequence(iterable))
    first = next(items, None)
    while first is not None:
        of, group, follows = first[0], [first[1]], None
        for pair in items:
            if not _are_equal(site, of, pair[0]):
                follows = pair
                break
            group.append(pair[1])
        made = Iteration((), group.__iter__, tuple(site.b.blocks))
        yield of, made
        site.b.exhausted[id(made)] = made, None
        first = follows


def _are_equal(site: Site, key: Any, other: Any) -> bool:
    is_equal = operators.compare(site.b, ast.Eq, other, key)
    if not isinstance(is_equal, (bool, np.bool_)):
        what = "the groups of `groupby` depend on data: they are known only at run time"
        raise site.b.unsupported(what, "Group by numbers that are known before the run, or use masks: x[keys == k].")
    return bool(is_equal)


def _ndenumerate(site: Site, array: Any) -> Any:
    """Pairs of an index and the element that is there when it is asked for."""
    x = array if isinstance(array, Tensor) else as_tensor(site.call(np.asarray, array))
    if x.ndim == 1:
        return Items(x.shape[0], lambda trip: ((_index(trip),), getitem(site.b, x, _index(trip))))
    shape = [site.b.constant(extent) for extent in x.shape]
    return ((index, site.b.settle(getitem(site.b, x, index))) for index in np.ndindex(*shape))


def _index(trip: Any) -> Any:
    form = Lin.of(trip)
    return form.const if form.is_const else form


MAKERS: dict[Any, Maker] = {
    np.ndenumerate: _ndenumerate,
    itertools.groupby: _groupby,
    map: _map,
    filter: _filter,
    itertools.accumulate: _accumulate,
    itertools.chain: _chain,
    itertools.chain.from_iterable: _chain_from_iterable,
    itertools.combinations: _grouped,
    itertools.count: _count,
    itertools.dropwhile: _dropwhile,
    itertools.filterfalse: _filterfalse,
    itertools.islice: _islice,
    itertools.repeat: _repeat,
    itertools.starmap: _starmap,
    itertools.takewhile: _takewhile,
}
WITH_FUNCTIONS = frozenset(
    {itertools.groupby, itertools.accumulate, itertools.starmap, itertools.takewhile, itertools.dropwhile}
)
# Which arguments Python asks for an iterator when the iterator is made.
BEGUN = {
    enumerate: slice(0, 1),
    zip: slice(0, None),
    map: slice(1, None),
    filter: slice(1, 2),
    itertools.cycle: slice(0, 1),
    itertools.islice: slice(0, 1),
    itertools.pairwise: slice(0, 1),
    itertools.zip_longest: slice(0, None),
}
# These hand on their items, in tuples.
HAND_ON: frozenset[Any] = frozenset(
    {enumerate, zip, reversed, itertools.product, itertools.permutations, itertools.combinations_with_replacement}
    | {itertools.zip_longest, itertools.pairwise, itertools.cycle}
)
ITERATOR_FUNCTIONS: frozenset[Any] = frozenset(MAKERS) | HAND_ON


def first_item(site: Site, iterator: Any, *default: Any) -> Any:
    """``next(iterator)``.

    A generator goes on where it was; it must be in the same block of the program.
    """
    if isinstance(iterator, Record) and defines(iterator.cls, "__next__"):
        if default:
            return site.define(next_or, iterator, default[0])
        return method(site.frame, site.node, iterator, "__next__")
    if not isinstance(iterator, Iteration):
        raise site.b.unsupported(
            f"`next` of {kind_of(iterator)} is not supported", "Make an iterator of it: items = iter(values)."
        )
    found = next_of(site.b, iterator)
    for value in found if found is not None else itertools.islice(site.sequence(iterator), 1):
        return site.b.settle(value)
    if default:
        return default[0]
    raise PythonRaises(
        "the iterator has no items left", site.b.where, "Give `next` a default: next(items, None).", StopIteration()
    )


def iterator_of(site: Site, iterable: Any) -> Any:
    """``iter(iterable)``."""
    if isinstance(iterable, Iteration):
        return iterable
    if isinstance(iterable, Record) and defines(iterable.cls, "__iter__"):
        own = method(site.frame, site.node, iterable, "__iter__")
        return own if isinstance(own, Record) else iterator_of(site, own)
    # Here, and not only where it is asked for an item, Python refuses what has none.
    as_sequence(site.frame, site.node, iterable)
    return Iteration((iterable,), lambda: _plain_items(site, iterable), tuple(site.b.blocks), function=iter)


def _plain_items(site: Site, iterable: Any) -> Any:
    items = items_of(site.b, iterable)
    return iter(iterable) if items is None else items


def length(b: Builder, span: Range) -> Any:
    """``len`` of a range whose bounds are known at run time."""
    trips = span.trips
    form = trips if b.holds(trips) else Lin.of(integer_extremum(b, trips, Lin(0), "maximum"))
    return form.const if form.is_const else form
