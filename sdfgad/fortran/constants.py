"""Constants: the values of parameters, and the first values of variables, which are known without running."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.scope import Dim, Scope, Variable
from sdfgad.fortran.values import Value, as_kind, folded
from sdfgad.fortran.written import evaluated


def constant_of(scope: Scope, variable: Variable, node: Any) -> Value:
    """The value of a named constant.

    Raises:
        UnsupportedProgram: it is not known without running.
    """
    e = Expressions(scope)
    value = e.value(node)
    if variable.rank:
        return _array_of(e, variable, value)
    value = value if value.kind.base == "logical" else as_kind(value, variable.kind)
    if value.number is None:
        text = value.text
        value = folded(text, Value(text, variable.kind)) if not _has_names(e, text) else value
    if value.number is None:
        scope.refuse(node, f"`{variable.name}` is a constant whose value is not known here", "Write it as a number.")
    return value


def _has_names(e: Evaluator, text: str) -> bool:
    """Whether a text has names of arrays that are constants, which only the routine makes."""
    return any(one in text for one in getattr(e, "constant_arrays", {}))


def _array_of(e: Evaluator, variable: Variable, value: Value) -> Value:
    """An array that is constant: its text makes it anew."""
    dtype = variable.kind.numpy
    if not value.rank and value.number is not None:
        extents = [extent_of(e, dim) for dim in reversed(variable.dims)]
        return Value(f"np.full(({', '.join(map(str, extents))},), {value.text}, {dtype})", variable.kind, variable.rank)
    names: dict[str, Any] = {}
    for name, text in getattr(e, "constant_arrays", {}).items():
        names[name] = evaluated(text)
    array = np.asarray(evaluated(value.text, names), variable.kind.dtype)
    return Value(f"np.array({array.tolist()!r}, {dtype})", variable.kind, variable.rank)


def extent_of(e: Evaluator, dim: Dim) -> int:
    return e.known(dim.upper) - (1 if dim.lower is None else e.known(dim.lower)) + 1


def count_of(scope: Scope, variable: Variable) -> int:
    count = 1
    for dim in variable.dims:
        count *= extent_of(Expressions(scope), dim)
    return count


def listed_constant(scope: Scope, variable: Variable, given: list[Any]) -> Value:
    """A constant whose elements are listed as they are in memory."""
    alone = replace(variable, dims=())
    values = [constant_of(scope, alone, one) for one in given]
    if not variable.rank:
        return values[0]
    shape = [extent_of(Expressions(scope), dim) for dim in reversed(variable.dims)]
    array = np.reshape(np.array([one.number for one in values], variable.kind.dtype), shape)
    return Value(f"np.array({array.tolist()!r}, {variable.kind.numpy})", variable.kind, variable.rank)
