"""Array queries: dtypes, axes and sizes of arrays, for programs and for the definitions in `library`.

The functions without a body are only called by those definitions; the parser evaluates them by the handlers here.
"""

from __future__ import annotations

import builtins
import math
import types
from collections import Counter, defaultdict, deque
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.expr import Lin
from sdfgad.parse import broadcasting, selecting, sparse, truth_values
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import operand_types
from sdfgad.parse.functions.reduction import normalise_axes
from sdfgad.parse.indexing import getitem
from sdfgad.parse.known_arrays import known_array
from sdfgad.parse.registry import attribute, function
from sdfgad.parse.sparse_formats import Sparse
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Record, Selection, Tensor, as_tensor, is_static

# The classes of what the parser has objects of its own for.
PYTHON_CLASSES: dict[str, type] = {
    "Closure": types.FunctionType, "Counts": Counter, "Default": defaultdict, "Deque": deque, "Range": range,
    "RunTimeText": str,
}  # fmt: skip


def array_like(a: Any) -> Any:
    """An array, number or nested list as an array; no copy is made of an array."""


def axis_of(axis: Any, ndim: Any) -> Any:
    """An axis as a non-negative integer."""


def axes_of(axis: Any, ndim: Any) -> Any:
    """A tuple of axes, one axis, or None for all, as a sorted tuple of non-negative integers."""


def fixed_int(n: Any) -> Any:
    """An integer as a constant of the program."""


def known_integers(n: Any) -> Any:
    """An array of integers that is known while parsing, as nested lists; anything else as it is."""


def most(n: Any) -> Any:
    """The largest value of an extent, as a constant of the program."""


def part_of(a: Any, axis: Any, start: Any = None, stop: Any = None, step: Any = None) -> Any:
    """``a[..., start:stop:step, ...]`` with the slice at `axis`."""


def sum_dtype(dtype: Any) -> Any:
    """The dtype of NumPy's sums and products of elements."""


def inexact(dtype: Any) -> Any:
    """The dtype of a quotient of elements."""


def dtype_of_call(f: Any, dtype: Any) -> Any:
    """The dtype of what a function of NumPy or SciPy returns for an array of one."""


def positions_of(obj: Any, n: Any) -> Any:
    """The positions on an axis of `n` elements that integers or a slice select, as a tuple of non-negative integers."""


def is_known(x: Any) -> Any:
    """Whether a value is known while parsing."""


def is_fixable(n: Any) -> Any:
    """Whether an integer is no data: it is a constant of the program, or may become one."""


def is_sequence(x: Any) -> Any:
    """Whether a value is a tuple or list."""


def tensor_of(b: Builder, a: Any) -> Tensor:
    """A number, array or nested list as a tensor."""
    return stacked(b, a)


@function(array_like)
def _array_like(b: Builder, a: Any) -> Any:
    return a if isinstance(a, Selection) else tensor_of(b, a)


@function(axis_of)
def _axis_of(b: Builder, axis: Any, ndim: int) -> int:
    return normalise_axes(b, axis, ndim)[0]


@function(axes_of)
def _axes_of(b: Builder, axis: Any, ndim: int) -> tuple[int, ...]:
    return normalise_axes(b, axis, ndim)


@function(fixed_int)
def _fixed_int(b: Builder, n: Any) -> int:
    return b.constant(n)


@function(known_integers)
def _known_integers(b: Builder, n: Any) -> Any:
    found = known_array(b, n) if isinstance(n, Tensor) and n.ndim and n.dtype.kind in "iu" else None
    return n if found is None else found.tolist()


@function(most)
def _most(b: Builder, n: Any) -> int:
    return b.largest(n) if isinstance(n, Lin) else n


@function(part_of)
def _part_of(b: Builder, a: Any, axis: int, start: Any = None, stop: Any = None, step: Any = None) -> Tensor:
    a = tensor_of(b, a)
    axis = axis % a.ndim
    return getitem(b, a, (*(slice(None),) * axis, slice(start, stop, step)))


@function(dtype_of_call)
def _dtype_of_call(b: Builder, f: Any, dtype: Any) -> np.dtype[Any]:
    return np.asarray(b.python(f, np.zeros(1, dtype))).dtype


@function(positions_of)
def _positions_of(b: Builder, obj: Any, n: int) -> tuple[int, ...]:
    if isinstance(obj, slice):
        ends = (None if end is None else b.constant(end) for end in (obj.start, obj.stop, obj.step))
        return tuple(range(n)[slice(*ends)])
    entries = b.known(obj)
    if any(not -n <= k < n for k in entries):
        raise b.unsupported(
            f"an index is out of range for an axis of {n}",
            "Use an index that is less than the length; NumPy raises here, too.",
        )
    return tuple(k % n for k in entries)


@function(is_known)
def _is_known(b: Builder, x: Any) -> bool:
    return is_static(x)


@function(is_fixable)
def _is_fixable(b: Builder, n: Any) -> bool:
    try:
        with b.as_data():
            b.constant(n)
    except UnsupportedProgram:
        # Anything but an integer is none at all.
        if as_tensor(n).dtype.kind not in "iu":
            raise
        return False
    return True


@function(is_sequence)
def _is_sequence(b: Builder, x: Any) -> bool:
    return isinstance(x, (tuple, list))


@function(builtins.isinstance)
def isinstance_(b: Builder, x: Any, kinds: Any) -> bool:
    """``isinstance`` of the value that Python would have."""
    if isinstance(x, (Tensor, Lin, Record, Selection)):
        if kinds is Sparse:
            return isinstance(x, Record) and issubclass(x.cls, Sparse)
        return truth_values.agreed(b, x, class_of(x), lambda cls: bool(b.python(issubclass, cls, kinds)))
    if type(x).__name__ in PYTHON_CLASSES and class_of(x) is not type(x):
        return bool(b.python(issubclass, class_of(x), kinds))
    return bool(b.python(isinstance, x, kinds))


def class_of(x: Any) -> type[Any]:
    """The class of the value that Python would have."""
    if isinstance(x, Record):
        return sparse.class_of(x)
    if isinstance(x, Lin):
        return int
    if isinstance(x, Selection):
        return np.ndarray
    if not isinstance(x, Tensor):
        return PYTHON_CLASSES.get(type(x).__name__, type(x)) if type(x).__module__.startswith("sdfgad.") else type(x)
    if x.ndim or x.place is not None:
        return np.ndarray
    return {"b": bool, "i": int, "f": float, "c": complex}[x.dtype.kind] if x.weak else x.dtype.type


@attribute("__class__")
def class_attribute(b: Builder, x: Any) -> type[Any]:
    return class_of(x)


@function(builtins.callable, static=False)
def callable_(b: Builder, x: Any) -> bool:
    return not isinstance(x, (Tensor, Lin, Selection)) and bool(b.python(builtins.callable, x))


@function(sum_dtype)
def _sum_dtype(b: Builder, dtype: Any) -> np.dtype[Any]:
    return np.sum(np.zeros(1, dtype)).dtype


@function(inexact)
def _inexact(b: Builder, dtype: Any) -> np.dtype[Any]:
    return np.divide(np.zeros(1, dtype), 1).dtype


@function(np.result_type, static=True)
def result_type(b: Builder, *values: Any) -> np.dtype[Any]:
    """NumPy's promotion of arrays, numbers and dtypes."""
    dtypes = [_type_of(b, value) for value in values]
    return np.result_type(*dtypes)


def _type_of(b: Builder, value: Any) -> Any:
    if isinstance(value, (np.dtype, type, str)):
        return np.dtype(value)
    tensor = tensor_of(b, value)
    kind = operand_types([tensor, Tensor((), np.dtype(bool), tensor.element)])[0]
    return kind if isinstance(kind, np.dtype) else {int: 0, float: 0.0, complex: 0j}[kind]


@function(np.ndim, static=True)
def ndim(b: Builder, a: Any) -> int:
    return tensor_of(b, a).ndim


@function(np.size, static=True)
def size(b: Builder, a: Any, axis: Any = None) -> Any:
    if isinstance(a, Selection) and a.dense.ndim == a.mask.ndim:
        return selecting.count(b, a)
    a = tensor_of(b, a)
    return math.prod(b.constant(a.shape[p]) for p in normalise_axes(b, axis, a.ndim))


@function(np.isscalar, static=True)
def isscalar(b: Builder, element: Any) -> bool:
    return isinstance(element, Lin) or (isinstance(element, Tensor) and not element.ndim and element.place is None)


@function(np.broadcast_shapes, static=True)
def broadcast_shapes(b: Builder, *shapes: Any) -> tuple[int, ...]:
    wide = broadcasting.broadcast_shapes(
        b, *(tuple(map(Lin.of, s if isinstance(s, (tuple, list)) else (s,))) for s in shapes)
    )
    return tuple(b.constant(extent) for extent in wide)


def _of_constants(original: Any) -> Any:
    """A handler that calls a function of constants while parsing; run-time integers become constants."""

    def handler(b: Builder, *positional: Any, **keywords: Any) -> Any:
        named = dict(zip(keywords, _known(b, keywords.values()), strict=True))
        known = b.python(original, *_known(b, positional), **named)
        if isinstance(known, tuple):
            return tuple(tensor_of(b, part) for part in known)
        return tensor_of(b, known) if isinstance(known, np.ndarray) else known

    return handler


def _known(b: Builder, values: Any) -> list[Any]:
    fixed = [b.constant(value) if isinstance(value, Lin) else value for value in values]
    if not is_static(fixed):
        raise b.unsupported(
            "this function of indices or shapes needs arguments that are known before the run",
            "Call it outside of the function, and pass the result as an argument.",
        )
    return fixed


for _name in (
    *("issubdtype", "can_cast", "promote_types", "finfo", "iinfo", "base_repr", "binary_repr"),
    *("tril_indices", "triu_indices", "diag_indices"),
    *("bartlett", "blackman", "hamming", "hanning", "kaiser"),
):
    function(getattr(np, _name))(_of_constants(getattr(np, _name)))
