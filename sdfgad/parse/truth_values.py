"""Dynamic types of numbers: what a number is in Python may be known only at run time, as in ``k = 0`` and, in a
branch, ``k = x[i] > 0``, or in ``n = 3`` and, in a loop, ``n = n * 0.5``. Such numbers say so (`Tensor.types`), and
what does not compute the same of either, or asks which it is, is refused.

Booleans of Python are the integers 0 and 1 in arithmetic, those of NumPy are not: the sum of two of Python is an
integer, that of two of NumPy a boolean, and NumPy refuses a difference of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from sdfgad.errors import Rebound
from sdfgad.ir.expr import INT, Lin, as_linear, reads
from sdfgad.ir.ops import OPERATIONS
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Selection, Tensor, as_tensor, cast, is_number

NUMPY, PYTHON = "a boolean of NumPy", "a boolean of Python"
INTEGER, FLOAT, COMPLEX = "an integer", "a float", "a complex number"
BOOLEANS = frozenset((NUMPY, PYTHON))
BOOL = np.dtype(np.bool_)
STORED = {INTEGER: INT, FLOAT: np.dtype(np.float64), COMPLEX: np.dtype(np.complex128)}
TODO = "Write int(...), float(...) or bool(...) where it is assigned, so that it is of one kind on all ways."
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
# What these give is equal, whether their operands are booleans or the integers 0 and 1.
EQUAL = frozenset(
    (
        *(*BITWISE, "multiply", "absolute", "maximum", "minimum", "fmax", "fmin"),
        *("later_if_greater", "later_if_less", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
        *("logical_and", "logical_or", "logical_xor", "logical_not"),
    )
)
# Where NumPy computes of booleans, it does so in one of these.
NARROW = frozenset(np.dtype(name) for name in ("bool", "int8", "float16"))


def types_of(tensor: Tensor) -> frozenset[str]:
    """What a number may be in Python."""
    return tensor.types or frozenset((_own(tensor),))


def _own(tensor: Tensor) -> str:
    """What the dtype of a number says that it is."""
    return _number(tensor.dtype) or (PYTHON if tensor.weak and not tensor.ndim else NUMPY)


def _number(dtype: np.dtype[Any]) -> str | None:
    """What a number of some dtype is; None for booleans."""
    return {"i": INTEGER, "u": INTEGER, "f": FLOAT, "c": COMPLEX}.get(dtype.kind)


def joined(tensors: list[Tensor]) -> frozenset[str]:
    """What one of several numbers may be in Python; nothing where its dtype says it."""
    if any(tensor.ndim for tensor in tensors):
        return frozenset()
    found = frozenset[str]().union(*map(types_of, tensors))
    return found if len(found) > 1 else frozenset()


def with_types_of(stored: Tensor, value: Any) -> Tensor:
    """A number in storage that holds others, too, as what the value is that was assigned last.

    Where booleans are among them, the storage computes otherwise than these.
    """
    if stored.ndim or stored.types & BOOLEANS or not (is_number(value) or isinstance(value, (Tensor, Lin))):
        return stored
    types = types_of(as_tensor(value))
    return replace(stored, types=frozenset() if types == {_own(stored)} else types)


def require_known(b: Builder, values: list[Any], what: str) -> None:
    """Require of numbers that not all of them may be booleans, where they may be others.

    Raises:
        Rebound: they may.
    """
    types = [types_of(value) if isinstance(value, Tensor) else frozenset((INTEGER,)) for value in values]
    if any(one & BOOLEANS and one - BOOLEANS for one in types) and all(one & BOOLEANS for one in types):
        raise _undecided(b, what, frozenset[str]().union(*types))


def require_same_function(b: Builder, arguments: list[Any]) -> None:
    """Require of the arguments of a function that looks at dtypes that none is a number which may be a boolean."""
    for value in arguments:
        require_known(b, [value], "this function may look at that")


def agreed(b: Builder, value: Any, cls: type[Any], fact: Callable[[type[Any]], Any]) -> Any:
    """A fact of a value's class, which is `cls` unless it is known only at run time.

    Raises:
        Rebound: the classes that it may have differ in the fact.
    """
    types = value.types if isinstance(value, Tensor) else frozenset[str]()
    classes: dict[str, set[Any]] = {NUMPY: {np.bool_}, PYTHON: {bool}, INTEGER: {int}, FLOAT: {float}}
    if cls not in (bool, np.bool_):
        own = _own(value) if isinstance(value, Tensor) else ""
        classes[own] = {cls, *_python_class(cls)}
    found = {fact(one) for kind in types for one in classes[kind]} or {fact(cls)}
    if len(found) > 1:
        names = {one.__name__ for kind in types for one in classes[kind]}
        raise _undecided(b, "the program asks which", types if len(types) > 1 else frozenset(names))
    return found.pop()


def operator(b: Builder, name: str, operands: list[Any], apply: Callable[..., Tensor]) -> Any:
    """An operator of Python, of numbers and arrays with booleans among them.

    Args:
        apply: the operator by NumPy's rules.
    """
    if not any(isinstance(one, Tensor) and (one.types or types_of(one) == {PYTHON}) for one in operands):
        return apply(*operands)
    if any(isinstance(one, (Selection, list, tuple)) for one in operands):
        return apply(*operands)
    operands = [*counted(b, name, *operands)]
    tensors = [as_tensor(operand) for operand in operands]
    types = result_types(b, name, tensors, is_operator=True)
    bare = [replace(one, types=frozenset()) if isinstance(one, Tensor) else one for one in operands]
    return with_types(b, apply(*bare), types)


def _python_class(cls: type[Any]) -> list[type[Any]]:
    return [type(cls(0).item())] if issubclass(cls, np.generic) else []


def counted(b: Builder, name: str, *operands: Any) -> tuple[Any, ...]:
    """Operands of an operator of Python: its booleans among its numbers as integers."""
    booleans = [isinstance(one, bool) or (isinstance(one, Tensor) and types_of(one) == {PYTHON}) for one in operands]
    if (name in BITWISE and all(booleans)) or not any(booleans) or not all(map(_is_pythons, operands)):
        return operands
    return tuple(_as_integer(b, one) if is_b else one for is_b, one in zip(booleans, operands, strict=True))


def _as_integer(b: Builder, boolean: Any) -> Lin:
    value = cast(as_tensor(boolean).at(), INT)
    return b.fixed(value) if reads(value) else as_linear(value)


def _is_pythons(value: Any) -> bool:
    """Whether a value is certainly a number of Python."""
    if isinstance(value, Tensor):
        return value.weak and not value.ndim and NUMPY not in value.types
    return isinstance(value, (Lin, int, float, complex)) and not isinstance(value, np.generic)


def with_types(b: Builder, result: Any, types: frozenset[str]) -> Any:
    """A result that may be any of these in Python."""
    if not isinstance(result, Tensor) or not types:
        return result
    if result.ndim and not types & BOOLEANS:
        # Arrays of integers, or of floats, are followed by their dtypes (`mixed_dtypes`).
        return result
    if result.ndim and len(types) > 1:
        raise _undecided(b, "so is the dtype of an array", types)
    if len(types) == 1:
        return result
    return replace(result, types=types)


def result_types(b: Builder, name: str, tensors: list[Tensor], is_operator: bool = False) -> frozenset[str]:
    """What the result of an operation on numbers may be.

    Raises:
        Rebound: it differs, or NumPy refuses some operands.
    """
    loops, found = set[Any](), set[str]()
    for choice in product(*map(types_of, tensors)):
        loop, kind = _resolved(name, tensors, choice, is_operator)
        loops.add(loop)
        found.add(kind)
    if None in loops and len(loops) > 1:
        raise _undecided(b, _called(name), _all_types(tensors))
    if len(loops) > 1 and name not in EQUAL:
        raise _undecided(b, _called(name), _all_types(tensors))
    return frozenset(found)


def _resolved(name: str, tensors: list[Tensor], choice: tuple[str, ...], is_operator: bool) -> tuple[Any, str]:
    """The narrow dtypes in which NumPy or Python computes, None where it does not, and what the result is."""
    pairs = list(zip(tensors, choice, strict=True))
    are_pythons = all(kind == PYTHON or (kind not in BOOLEANS and one.weak and not one.ndim) for one, kind in pairs)
    dtypes = [_operand_type(one, kind, are_pythons) for one, kind in pairs]
    if is_operator and are_pythons and not (name in BITWISE and set(choice) == {PYTHON}):
        dtypes = [INT if dtype == BOOL else dtype for dtype in dtypes]
    ufunc = getattr(np, OPERATIONS[name].like or name)
    try:
        resolved = ufunc.resolve_dtypes((*dtypes, *(None,) * ufunc.nout))
    except TypeError:
        return None, FLOAT
    kind = _number(resolved[-1]) or (PYTHON if are_pythons else NUMPY)
    return tuple(dtype for dtype in resolved if dtype in NARROW), kind


def _operand_type(tensor: Tensor, kind: str, are_pythons: bool) -> Any:
    if kind in BOOLEANS:
        return BOOL
    dtype = tensor.dtype if _number(tensor.dtype) == kind else STORED[kind]
    return {"i": int, "f": float, "c": complex}.get(dtype.kind) if tensor.weak and not are_pythons else dtype


def _called(name: str) -> str:
    return f"np.{name} of it differs"


def _all_types(tensors: list[Tensor]) -> frozenset[str]:
    return max(map(types_of, tensors), key=len)


def _undecided(b: Builder, what: str, types: frozenset[str]) -> Rebound:
    names = " or ".join(sorted(types))
    return Rebound(f"a number is {names}, which is decided only at run time, and {what}", b.where, TODO)
