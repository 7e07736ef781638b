"""Permutations of lists by data: items at places that are known only at run time, as after a sort by data.

The new items are elements, or rows, of arrays that are made of the old ones. An array in a list is a reference in
Python, so that such a row is a copy, valid until one of the arrays that it may be is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from sdfgad.errors import ProgramRaises
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Lin, Op
from sdfgad.parse import chosen_texts, trees, truth_values
from sdfgad.parse.builder import Builder
from sdfgad.parse.dtypes import has_singles
from sdfgad.parse.elementwise import to_bool
from sdfgad.parse.functions.selection import argsort
from sdfgad.parse.indexing import getitem
from sdfgad.parse.integers import DOUBLE
from sdfgad.parse.stacking import stacked
from sdfgad.parse.updating import aliased_by
from sdfgad.parse.values import ChosenText, Tensor, as_tensor, cast, is_number, scalar


def sorted_by(b: Builder, values: list[Any], keys: list[Any], is_reversed: bool) -> list[Any] | None:
    """Values in the order of keys that are data; None for keys that are no numbers, strings or tuples of these.

    As in Python, the order of equal keys stays, also in a list that `is_reversed`. The call at hand decides the order
    of values that are not alike.
    """
    columns, by = _columns(values, partial(_are_alike, b)), _columns(keys, _are_ordered)
    if by is None:
        return None
    by = [_ranks(column) if _are_texts(column) else column for column in by]
    order, last = _order(b, [column[::-1] for column in by] if is_reversed else by), len(values) - 1
    places = [as_place(b, order, last - k if is_reversed else k) for k in range(len(values))]
    places = [Lin(last) - place for place in places] if is_reversed else places
    if columns is None:
        return [values[b.constant(place)] for place in places]
    rows = [[_item(b, column, place) for column in columns] for place in places]
    return [trees.rebuilt(values[0], row) for row in rows]


def _order(b: Builder, columns: list[list[Any]]) -> Tensor:
    """The stable permutation that sorts by the first column, then by the second one, and so on."""
    order: Tensor | None = None
    for column in reversed(columns):
        keys = stacked(b, column)
        by = argsort(b, keys if order is None else getitem(b, keys, order))
        order = by if order is None else b.stored(getitem(b, order, by))
    assert order is not None
    return order


def place_of(b: Builder, equal: list[Any]) -> Lin:
    """The first place where items are equal to a value; an error at run time if there is none."""
    flags = [_flag(one) for one in equal]
    is_there = _is_set(reduce(lambda x, y: Op("maximum", (x, y), INT), flags))
    b.check(is_there, (), "the value is not in the list", ProgramRaises, "Test for it before: if x in values.")
    place: Expr = Const(len(flags) - 1, INT)
    for k in range(len(flags) - 2, -1, -1):
        place = Op("select", (_is_set(flags[k]), Const(k, INT), place), INT)
    return b.fixed(place)


def count_of(b: Builder, equal: list[Any]) -> Lin:
    """How many items are equal to a value."""
    return b.fixed(reduce(lambda x, y: Op("add", (x, y), INT), map(_flag, equal)))


def _flag(equal: Any) -> Expr:
    return cast(to_bool(as_tensor(equal).at()), INT)


def _is_set(flag: Expr) -> Expr:
    return Op("greater", (flag, Const(0, INT)), BOOL)


def as_place(b: Builder, order: Tensor, k: int) -> Lin:
    return b.fixed(cast(order.at(k), INT))


def is_scalar(value: Any) -> bool:
    return (isinstance(value, Tensor) and not value.ndim) or isinstance(value, Lin) or is_number(value)


def _columns(values: list[Any], are_alike: Callable[[list[Any]], bool]) -> list[list[Any]] | None:
    """The leaves at each place of values that are alike."""
    if any(isinstance(part, (list, dict)) for value in values for part in trees.sequences(value)):
        return None
    found = trees.matched(values)
    columns = [] if found is None else [list(column) for column in zip(*map(trees.leaves, found), strict=True)]
    return columns if columns and all(are_alike(column) for column in columns) else None


def _are_ordered(column: list[Any]) -> bool:
    return _are_numbers(column) or _are_texts(column)


def _are_texts(column: list[Any]) -> bool:
    """Whether all are known strings, which are compared by their order; members of enumerations are not."""
    return all(type(one) is str for one in column)


def _ranks(texts: list[str]) -> list[int]:
    """For each of several strings the number of those that are before it, each counted once."""
    ordered = sorted(set(texts))
    return [ordered.index(text) for text in texts]


def _are_numbers(column: list[Any]) -> bool:
    """Whether numbers can be sorted as the elements of one array."""
    return all(map(is_scalar, column)) and all(as_tensor(one).dtype.kind in "bif" for one in column)


def _are_alike(b: Builder, column: list[Any]) -> bool:
    if all(map(is_scalar, column)):
        kinds, are_weak = ({getattr(as_tensor(one), name) for one in column} for name in ("dtype", "weak"))
        # Floats of Python and of NumPy differ beside arrays of less precision.
        may_mix = kinds == {DOUBLE} and not has_singles(b.buffers.values())
        return len(kinds) == 1 and (len(are_weak) == 1 or may_mix)
    return _are_texts(column) or _are_like_arrays(column)


def _are_like_arrays(column: list[Any]) -> bool:
    alike = {(one.shape, one.dtype) for one in column if isinstance(one, Tensor) and _is_known(one)}
    return len(alike) == 1 and all(isinstance(one, Tensor) and _is_known(one) for one in column)


def _is_known(array: Tensor) -> bool:
    return all(extent.is_const for extent in array.shape)


def _item(b: Builder, column: list[Any], place: Lin) -> Any:
    if all(one is column[0] for one in column):
        return column[0]
    if _are_texts(column):
        codes = stacked(b, [chosen_texts.code_of(b, text) for text in column])
        return column[0] if len(set(column)) == 1 else ChosenText(b.stored(getitem(b, codes, place)))
    if all(map(is_scalar, column)):
        return _number(b, column, getitem(b, stacked(b, column), place))
    return array_at(b, column, place)


def are_like_arrays(values: Any) -> bool:
    return len(values) > 0 and not any(map(is_scalar, values)) and _are_like_arrays(list(values))


def array_at(b: Builder, values: Any, place: Any) -> Tensor:
    """One of several alike arrays, at a place that data decides."""
    found = b.stored(getitem(b, stacked(b, list(values)), place))
    sources = set[str]().union(*(_sources(one) for one in values))
    return b.versions.copy_of(found, sources) if sources else found


def _number(b: Builder, column: list[Any], found: Tensor) -> Any:
    are_weak = {as_tensor(one).weak for one in column}
    weak = are_weak == {True}
    if weak and found.dtype.kind == "i":
        return b.fixed(cast(found.at(), INT))
    # Of a mixture, a program may not ask of which kind one is.
    types = truth_values.types_of(found) if len(are_weak) > 1 else frozenset[str]()
    return b.settle(replace(scalar(found.at()), weak=weak, types=types))


def _sources(array: Tensor) -> set[str]:
    return aliased_by(array) | ({str(array.buffer)} if array.place is not None else set())
