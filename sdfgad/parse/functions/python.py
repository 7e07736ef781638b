"""Python's builtin functions of numbers and arrays."""

from __future__ import annotations

import builtins
from collections.abc import ItemsView, KeysView, ValuesView
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import PythonRaises
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, as_linear
from sdfgad.parse import selecting, truth_values
from sdfgad.parse.builder import Builder
from sdfgad.parse.dtypes import SUPPORTED, require_supported
from sdfgad.parse.elementwise import elementwise, power, to_bool, where
from sdfgad.parse.functions.keyed import NOTHING, max_by_key, min_by_key
from sdfgad.parse.functions.reduction import extremum_of_filled, reduce_over
from sdfgad.parse.functions.reduction import max_ as array_max
from sdfgad.parse.functions.reduction import min_ as array_min
from sdfgad.parse.functions.shape import ravel
from sdfgad.parse.integers import as_int, integer_extremum, python_number, single, whole
from sdfgad.parse.layout import converted
from sdfgad.parse.registry import FUNCTIONS, function
from sdfgad.parse.rows import whole_of
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import (
    Index,
    Selection,
    Tensor,
    as_tensor,
    astype,
    cast,
    is_integer,
    kind_of,
    scalar,
)

COMPLEX = np.dtype(np.complex128)
# An expression has at most so many terms: longer ones would be nested too deeply.
MANY_TERMS = 64


@function(builtins.len)
def len_(b: Builder, x: Any) -> Any:
    if isinstance(x, Selection):
        return selecting.count(b, x)
    if isinstance(x, Lin) or (isinstance(x, Tensor) and not x.ndim):
        what = "a number has no len()"
        raise PythonRaises(what, b.where, "Write np.size(x), which is 1 for a number.", TypeError(what))
    if not isinstance(x, Tensor):
        return b.python(len, x)
    return x.shape[0].const if x.shape[0].is_const else x.shape[0]


@function(builtins.abs, static=True)
def abs_(b: Builder, x: Any) -> Any:
    (x,) = truth_values.counted(b, "absolute", x)
    if is_integer(x) and (b.domain.implies(Lin.of(x)) or b.domain.implies(-Lin.of(x))):
        return x if b.domain.implies(Lin.of(x)) else -x
    return truth_values.operator(b, "absolute", [x], partial(elementwise, b, "absolute"))


@function(builtins.sum, static=True)
def sum_(b: Builder, values: Any, start: Any = 0) -> Any:
    """Python's ``sum`` of a sequence, from left to right."""
    if _is_vector(values):
        # The elements that are not selected count as zero.
        values = ravel(b, selecting.filled(b, values, 0))
    if isinstance(values, Tensor) and values.ndim and b.is_zero(values.shape[0]):
        return start
    if isinstance(values, Tensor) and values.ndim:
        wide = INT if values.dtype.kind == "b" else values.dtype
        whole_sum = reduce_over(b, astype(values, wide), (0,), False, "add", 0)
        return whole_sum if _is_none(start) else elementwise(b, "add", start, whole_sum)
    whole_list = whole_of(b, values)
    if whole_list is not None:
        return sum_(b, whole_list, start)
    if isinstance(start, (list, tuple)):
        # Lists of lists are joined.
        return b.python(sum, values, start)
    total: Any = start
    for number, value in enumerate(rows_of(b, values)):
        if number % MANY_TERMS == MANY_TERMS - 1:
            total = b.settle(total)
        # The sum of one array is another one, and truth values are added to the integer 0.
        total = new_value(b, _counted(value)) if _is_none(total) else _added(b, total, value)
    return total


def _added(b: Builder, total: Any, value: Any) -> Any:
    return truth_values.operator(b, "add", [total, value], partial(elementwise, b, "add"))


def _is_none(total: Any) -> bool:
    """Whether a sum is the integer 0, which leaves what is added to it as it is, but for truth values."""
    return type(total) is int and total == 0


def _counted(value: Any) -> Any:
    if isinstance(value, Tensor) and value.dtype.kind == "b":
        return astype(value, INT)
    return int(value) if isinstance(value, (bool, np.bool_)) else value


def new_value(b: Builder, value: Any) -> Any:
    """A value that shares no memory with an array of the program."""
    return b.stored(value) if isinstance(value, Tensor) and value.is_shared else value


def rows_of(b: Builder, values: Any) -> list[Any]:
    """The items of a sequence or array; their number must be known while parsing."""
    if isinstance(values, (tuple, list, KeysView, ValuesView, ItemsView)):
        return list(values)
    if isinstance(values, Tensor) and values.ndim:
        return _rows(b, values)
    raise b.unsupported(f"{kind_of(values)} has no items here", "Pass a list, a tuple or an array.")


@function(method="tolist")
def tolist(b: Builder, a: Tensor) -> Any:
    """The elements as Python numbers in nested lists, or one number; integers as constants where they are known."""
    known = b.constants.array(a, b.here)
    if known is not None:
        return known.tolist()
    return [tolist(b, row) for row in _rows(b, a)] if a.ndim else python_number(b, a)


def _rows(b: Builder, x: Tensor) -> list[Any]:
    return [x.reindexed(x.shape[1:], partial(_at, k)) for k in range(b.constant(x.shape[0]))]


def _at(position: int, index: Index) -> Index:
    return (Lin(position), *index)


@function(builtins.divmod, static=True)
def divmod_(b: Builder, x: Any, y: Any) -> Any:
    if is_integer(x) and is_integer(y):
        return tuple(as_linear(Op(name, (Int(x), Int(y)), INT)) for name in ("floor_divide", "remainder"))
    return elementwise(b, "floor_divide", x, y), elementwise(b, "remainder", x, y)


@function(builtins.pow, static=True)
def pow_(b: Builder, base: Any, exponent: Any) -> Any:
    return power(b, base, exponent)


def _is_vector(values: Any) -> bool:
    """Whether these are ``x[mask]`` of a vector, or of as many axes as the mask has."""
    return isinstance(values, Selection) and values.dense.ndim == values.mask.ndim


def _of_selected(b: Builder, x: Selection, default: Any, name: str) -> Tensor:
    """The extremum of ``x[mask]``, or the default where nothing is selected."""
    none = Op("equal", (Int(selecting.count(b, x)), Const(0, INT)), BOOL)
    return where(b, scalar(none), default, extremum_of_filled(b, x, name))


# The argument `key` is None here: extrema by a key are definitions of their own.


@function(builtins.max, static=True, keyed=max_by_key)
def max_(b: Builder, *values: Any, default: Any = NOTHING, key: None = None) -> Any:
    assert key is None
    return _extremum(b, values, default, "maximum")


@function(builtins.min, static=True, keyed=min_by_key)
def min_(b: Builder, *values: Any, default: Any = NOTHING, key: None = None) -> Any:
    assert key is None
    return _extremum(b, values, default, "minimum")


def _compared(b: Builder, items: Any) -> Any:
    """A vector whose extremum is Python's: no number is above or below NaN, so that only a first NaN stays."""
    if isinstance(items, Selection) or items.dtype.kind != "f":
        return items
    first = items.reindexed((), lambda _: (Lin(0),))
    return where(b, elementwise(b, "equal", items, items), items, first)


def _extremum(b: Builder, values: tuple[Any, ...], default: Any, name: str) -> Any:
    """Python's ``max`` or ``min`` of several scalars, or of those in a sequence: the first of equal ones."""
    if len(values) == 1:
        items, whole = values[0], whole_of(b, values[0])
        if whole is not None and whole.ndim == 1:
            items, default = whole, NOTHING
        if _is_vector(items) and default is not NOTHING:
            return _of_selected(b, items, default, name)
        if _is_vector(items) or (isinstance(items, Tensor) and items.ndim == 1 and b.holds(items.shape[0] - 1)):
            return (array_max if name == "maximum" else array_min)(b, _compared(b, items))
        values = tuple(rows_of(b, items))
    if not values:
        if default is NOTHING:
            raise b.unsupported(
                "min or max of an empty sequence; Python raises here, too", "Pass at least one value, or `default=0.0`."
            )
        return default
    result = values[0]
    for number, value in enumerate(values[1:]):
        if is_integer(result) and is_integer(value):
            result = integer_extremum(b, result, value, name)
        else:
            _require_scalars(b, result, value)
            types = truth_values.joined([as_tensor(result), as_tensor(value)])
            result = elementwise(b, "later_if_greater" if name == "maximum" else "later_if_less", result, value)
            result = replace(result, types=types)
            result = b.settle(result) if number % MANY_TERMS == MANY_TERMS - 1 else result
    return result


def _require_scalars(b: Builder, *values: Any) -> None:
    if any(isinstance(value, Tensor) and value.ndim for value in values):
        raise b.unsupported(
            "the truth value of an array is ambiguous",
            "Write np.maximum(x, y) for each element, or np.max(x) for one number.",
        )


@function(builtins.any, static=True)
def any_(b: Builder, values: Any) -> Any:
    return _truth_of_all(b, values, "logical_or")


@function(builtins.all, static=True)
def all_(b: Builder, values: Any) -> Any:
    return _truth_of_all(b, values, "logical_and")


def _truth_of_all(b: Builder, values: Any, name: str) -> Any:
    """Python's ``any`` or ``all`` of scalars; known ones may decide while parsing."""
    is_and = name == "logical_and"
    if isinstance(values, Tensor) and values.ndim == 1:
        truth = Tensor(values.shape, BOOL, lambda index: to_bool(values.element(index)))
        found = reduce_over(b, truth, (0,), False, "minimum" if is_and else "maximum", is_and)
        return replace(found, weak=True)
    result: Any = is_and
    for value in rows_of(b, values):
        _require_scalars(b, value)
        if not isinstance(value, (Tensor, Lin)):
            if bool(value) != is_and:
                return not is_and
        elif isinstance(result, Tensor):
            result = scalar(Op(name, (result.at(), to_bool(as_tensor(value).at())), BOOL), weak=True)
        else:
            result = scalar(to_bool(as_tensor(value).at()), weak=True)
    return result


@function(builtins.round, static=True)
def round_(b: Builder, number: Any, ndigits: Any = None) -> Any:
    """Python's ``round``; a NumPy scalar is rounded as by ``np.round``."""
    digits = None if ndigits is None else b.constant(ndigits)
    if is_integer(number):
        if digits is not None and digits < 0:
            raise b.unsupported("round of an integer to tens is not supported", "Write 10 * round(n / 10).")
        return number
    if as_tensor(number).dtype.kind == "c":
        raise b.unsupported("round of a complex number: Python raises TypeError, too", "Write np.round(z).")
    if digits is None:
        return whole(b, "rint", number)
    x = single(b, number)
    if x.dtype.kind == "f" and x.weak:
        return scalar(Op("round_decimals", (x.at(), Const(digits, INT)), x.dtype), weak=True)
    return FUNCTIONS[np.round].handler(b, x, digits)


def as_float(b: Builder, x: Any) -> Tensor:
    """A number as a Python float."""
    return scalar(cast(single(b, x).at(), np.dtype(np.float64)), weak=True)


@function(builtins.float, static=True)
def float_(b: Builder, x: Any) -> Any:
    return as_float(b, x)


@function(builtins.complex, static=True)
def complex_(b: Builder, real: Any = 0.0, imag: Any = 0.0) -> Any:
    """A complex number of two real ones, or of ``real + 1j * imag`` if they are complex themselves."""
    parts = [single(b, part) for part in (real, imag)]
    if any(part.dtype.kind == "c" for part in parts):
        whole_number = elementwise(b, "add", parts[0], elementwise(b, "multiply", parts[1], 1j))
        return scalar(cast(whole_number.at(), COMPLEX), weak=True)
    real_part, imaginary = (cast(part.at(), np.dtype(np.float64)) for part in parts)
    return scalar(Op("complex", (real_part, imaginary), COMPLEX), weak=True)


@function(builtins.int, static=True)
def int_(b: Builder, x: Any) -> Any:
    return as_int(b, x)


@function(builtins.bool, static=True)
def bool_(b: Builder, x: Any) -> Any:
    return scalar(to_bool(single(b, x).at()), weak=True)


def _converter(dtype: np.dtype[Any]) -> Any:
    """NumPy's conversion of a number or an array to a dtype."""

    def handler(b: Builder, x: Any) -> Any:
        require_supported(dtype)
        if dtype == INT and (is_integer(x) or (isinstance(x, Tensor) and not x.ndim)):
            b.has_numpy_integers |= not isinstance(x, (int, np.integer))
            return as_int(b, x)
        tensor = stacked(b, x)
        if tensor.ndim and (tensor.dtype == dtype or tensor.copy is not None):
            return converted(b, tensor, dtype)
        is_truth = dtype == BOOL
        convert = to_bool if is_truth else partial(cast, dtype=dtype)
        return Tensor(tensor.shape, dtype, lambda index: convert(tensor.element(index)))

    return handler


for _type in {*(dtype.type for dtype in SUPPORTED), np.float16, np.longdouble, np.clongdouble}:
    function(_type, static=True)(_converter(np.dtype(_type)))
