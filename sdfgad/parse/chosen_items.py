"""Items of lists, tuples and dicts of numbers at places that data decides, ``coefficients[bisect(knots, x) - 1]``, say.

They are elements of an array that is made of the items.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from sdfgad.errors import ProgramRaises, UnsupportedProgram
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, cast, reads
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import chosen_objects, chosen_texts
from sdfgad.parse.builder import Builder
from sdfgad.parse.data_order import are_like_arrays, array_at
from sdfgad.parse.indexing import getitem
from sdfgad.parse.known_tables import known_tables
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import ChosenText, Record, Tensor, as_tensor, astype, is_integer, scalar


def item_at(b: Builder, values: Any, index: Any, counts_back: bool) -> Tensor | Record | None:
    """``values[index]`` of floating numbers, alike arrays, or objects; None for others, and for places that are known.

    A dict's keys must be integers.

    Raises:
        NeedsConstant, Decides: as `Builder.constant`.
    """
    is_place = isinstance(index, Lin) or (isinstance(index, Tensor) and not index.ndim and index.dtype.kind in "iu")
    if type(values) is dict and is_place:
        return _at_key(b, values, index)
    if not isinstance(values, (list, tuple)) or not is_place:
        return None
    are_objects = chosen_objects.are_alike(b, values) or (
        _is_data(b, index) and chosen_objects.are_own_objects(b, values)
    )
    if not (are_objects or _are_alike(values) or are_like_arrays(values) or _are_integers(values)):
        return None
    if not _varies(b, index) and _is_known(b, index):
        return None
    if are_objects:
        return chosen_objects.item(b, values, index, counts_back)
    return _chosen(b, values, index, counts_back)


def _is_data(b: Builder, index: Any) -> bool:
    """Whether data decides a place, so that it is not known in loops that are written out either."""
    found = {read.buffer for read in reads(Int(index) if isinstance(index, Lin) else index.at())}
    return not found <= known_tables(b).keys()


def _chosen(b: Builder, values: list[Any] | tuple[Any, ...], index: Any, counts_back: bool) -> Any:
    if are_like_arrays(values):
        with b.indexed(counts_back):
            return array_at(b, values, index)
    with b.indexed(counts_back):
        found: Tensor = getitem(b, _array_of(b, values), index)
    are_pythons = all(as_tensor(value).weak for value in values)
    if found.dtype == INTEGER and are_pythons:
        return b.fixed(found.at())
    return replace(found, weak=True) if are_pythons else found


def _at_key(b: Builder, values: dict[Any, Any], key: Lin | Tensor) -> Tensor | None:
    items = list(values.values())
    if not all(isinstance(known, (int, np.integer)) for known in values):
        return None
    if not (_are_alike(items) or are_like_arrays(items)) or (not _varies(b, key) and _is_known(b, key)):
        return None
    code = b.materialise(astype(as_tensor(key), INT), "key").at()
    tests: list[Expr] = [Op("equal", (code, Const(int(known), INT)), BOOL) for known in values]
    return _chosen(b, items, _place(b, tests), counts_back=False)


def _place(b: Builder, tests: list[Expr]) -> Tensor:
    """The position of the one test that holds; a KeyError if none does."""
    what, todo = "a key that data decides is not in this dict", "Python raises KeyError here, too."
    b.check(reduce(partial(_joined, "logical_or", BOOL), tests), (), what, ProgramRaises, todo, (KeyError,))
    places: list[Expr] = [Op("multiply", (Const(k, INT), cast(test, INT)), INT) for k, test in enumerate(tests)]
    return b.materialise(scalar(reduce(partial(_joined, "add", INT), places)), "place")


def _varies(b: Builder, place: Lin | Tensor) -> bool:
    """Whether a place is counted by a loop around, as in ``while t < end: if t >= times[k]: k += 1``."""
    return isinstance(place, Tensor) and not b.carried.isdisjoint(read.buffer for read in reads(place.at()))


def _is_known(b: Builder, place: Lin | Tensor) -> bool:
    """Whether a place is known while parsing.

    Raises:
        NeedsConstant, Decides: it would be in other programs, as `Builder.constant`.
    """
    try:
        with b.as_data():
            b.constant(place)
        return True
    except UnsupportedProgram:
        return False
    except NeedsConstant:
        # Of a place that is an element of an array, or is computed of some, unrolled loops may know no more.
        if isinstance(place, Lin):
            raise
        return False


def of_text(b: Builder, values: Any, key: ChosenText) -> Tensor | Record:
    """``values[key]`` of a dict of such items by strings, of which data decides one.

    Raises:
        Rebound: of text; it is no such dict.
    """
    keys = [known for known in values if known is None or chosen_texts.is_text(known)] if type(values) is dict else []
    tests: list[Expr] = [chosen_texts.is_one(b, key, known) for known in keys]
    if not keys:
        raise chosen_texts.refused(b, "a string that data decides is an index")
    place = _place(b, tests)
    found = item_at(b, [values[known] for known in keys], place, counts_back=False)
    if found is None:
        raise chosen_texts.refused(
            b, "a string that data decides chooses one of several things that are not alike numbers"
        )
    return found


def _joined(name: str, dtype: np.dtype[Any], x: Expr, y: Expr) -> Op:
    return Op(name, (x, y), dtype)


def _array_of(b: Builder, values: list[Any] | tuple[Any, ...]) -> Tensor:
    """The items as an array: the same one, until one of them changes."""
    items = tuple(as_tensor(value).at() for value in values)
    made: Tensor = b.memoised("items", Op("add", items, items[0].dtype), lambda: stacked(b, list(values)))
    return made


def _are_alike(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether items are numbers of one floating or complex type, but for numbers of Python's, which are of double."""
    dtypes = [_dtype_of(value) for value in values]
    if any(dtype is None for dtype in dtypes):
        return False
    found = {dtype for dtype in dtypes if dtype != INTEGER}
    return len(found) == 1 and (INTEGER not in dtypes or found <= {DOUBLE, COMPLEX})


INTEGER, DOUBLE, COMPLEX = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.complex128)


def _are_integers(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether all are integers, and data decides some of them, so that no written-out loop knows more."""
    are_whole = all(is_integer(value) or is_integer_of_data(value) for value in values)
    return are_whole and any(map(is_integer_of_data, values))


def is_integer_of_data(value: Any) -> bool:
    """Whether a value is an integer that is known only at run time, as data decides it."""
    if isinstance(value, Lin):
        return bool(reads(Int(value)))
    return isinstance(value, Tensor) and not value.ndim and value.dtype == INTEGER


def _dtype_of(value: Any) -> np.dtype[Any] | None:
    """The type of a number; None for what is none, or a boolean."""
    if isinstance(value, (bool, np.bool_)):
        return None
    if isinstance(value, (int, np.integer, Lin)):
        return INTEGER
    if isinstance(value, Tensor):
        is_number = not value.ndim and value.dtype.kind in "fc" and (not value.weak or value.dtype in (DOUBLE, COMPLEX))
        return value.dtype if is_number else None
    return np.asarray(value).dtype if isinstance(value, (float, complex, np.inexact)) else None
