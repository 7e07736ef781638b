"""Booleans in arithmetic: those of Python are the integers 0 and 1 there, those of NumPy are not.

The sum of two booleans of Python is an integer, that of two of NumPy a boolean, and NumPy refuses a difference of them.
What a number is in Python may be known only at run time, as in ``k = 0`` and, in a branch, ``k = x[i] > 0``. Such
numbers say so (`Tensor.types`), and what does not compute the same of either is refused.
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
from sdfgad.parse.values import Selection, Tensor, as_tensor, cast

NUMPY, PYTHON, NUMBER = "a boolean of NumPy", "a boolean of Python", "a number"
ANY = frozenset((NUMPY, PYTHON))
BOOL = np.dtype(np.bool_)
TODO = "Write int(...) or bool(...) where it is assigned, so that it is of one kind on all ways."
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
    own = NUMBER if tensor.dtype.kind != "b" else PYTHON if tensor.weak and not tensor.ndim else NUMPY
    return tensor.types or frozenset((own,))


def joined(tensors: list[Tensor]) -> frozenset[str]:
    """What one of several numbers may be in Python; nothing where its dtype says it."""
    if any(tensor.ndim for tensor in tensors):
        return frozenset()
    found = frozenset[str]().union(*map(types_of, tensors))
    return found if len(found) > 1 else frozenset()


def require_known(b: Builder, values: list[Any], what: str) -> None:
    """Require of numbers that not all of them may be booleans, where they may be others.

    Raises:
        Rebound: they may.
    """
    types = [types_of(value) if isinstance(value, Tensor) else frozenset((NUMBER,)) for value in values]
    if any(NUMBER in one and len(one) > 1 for one in types) and all(one != {NUMBER} for one in types):
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
    numbers: set[Any] = {int} if cls in (bool, np.bool_) else {cls, *_python_class(cls)}
    classes: dict[str, set[Any]] = {NUMPY: {np.bool_}, PYTHON: {bool}, NUMBER: numbers}
    found = {fact(one) for kind in types for one in classes[kind]} or {fact(cls)}
    if len(found) > 1:
        raise _undecided(b, "the program asks which", types)
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
    are_pythons = all(kind == PYTHON or (kind == NUMBER and one.weak and not one.ndim) for one, kind in pairs)
    dtypes = [_operand_type(one, kind, are_pythons) for one, kind in pairs]
    if is_operator and are_pythons and not (name in BITWISE and set(choice) == {PYTHON}):
        dtypes = [INT if dtype == BOOL else dtype for dtype in dtypes]
    ufunc = getattr(np, OPERATIONS[name].like or name)
    try:
        resolved = ufunc.resolve_dtypes((*dtypes, *(None,) * ufunc.nout))
    except TypeError:
        return None, NUMBER
    kind = NUMBER if resolved[-1] != BOOL else PYTHON if are_pythons else NUMPY
    return tuple(dtype for dtype in resolved if dtype in NARROW), kind


def _operand_type(tensor: Tensor, kind: str, are_pythons: bool) -> Any:
    if kind != NUMBER:
        return BOOL
    dtype = INT if tensor.dtype == BOOL else tensor.dtype
    return {"i": int, "f": float, "c": complex}.get(dtype.kind) if tensor.weak and not are_pythons else dtype


def _called(name: str) -> str:
    return f"np.{name} of it differs"


def _all_types(tensors: list[Tensor]) -> frozenset[str]:
    return max(map(types_of, tensors), key=len)


def _undecided(b: Builder, what: str, types: frozenset[str]) -> Rebound:
    names = " or ".join(sorted(types))
    return Rebound(f"a number is {names}, which is decided only at run time, and {what}", b.where, TODO)
