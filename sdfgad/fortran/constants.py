"""Constants: the values of parameters, and the first values of variables, which are known without running."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from fparser.two import Fortran2003 as f03

from sdfgad.fortran.designators import REFERENCES
from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.scope import Dim, Scope, Variable
from sdfgad.fortran.syntax import listed, name_of
from sdfgad.fortran.types import constructed
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


def structure_constants(scope: Scope, variable: Variable, node: Any) -> Iterator[tuple[Variable, Value]]:
    """The numbers and arrays in a constant ``soil(0.4, 0.1)``, or in an array of such.

    Raises:
        UnsupportedProgram: it is written in another way.
    """
    is_array = isinstance(node, f03.Array_Constructor)
    items = listed(node.children[1]) if is_array else [node]
    derived = variable.type_of
    if is_array != bool(variable.rank) or not all(_is_constructor(scope, one, derived) for one in items):
        scope.refuse(node, f"`{node}` is not supported as a constant", f"Write {derived.name}(...) for each element.")
    given = [constructed(derived, one) for one in items]
    for key, part in variable.parts.items():
        nodes = [one.get(key) for one in given]
        if part.parts and len(nodes) == 1 and nodes[0] is not None:
            yield from structure_constants(scope, part, nodes[0])
        elif part.parts or (is_array and part.rank > 1) or None in nodes:
            if any(one is not None for one in nodes) or part.parts or part.initial is None:
                scope.refuse(node, f"the component `{key}` in `{node}` is not supported", "Assign it at the start.")
            yield part, part.initial
        else:
            yield part, listed_constant(scope, part, nodes) if is_array else constant_of(scope, part, nodes[0])


def _is_constructor(scope: Scope, node: Any, derived: Any) -> bool:
    return isinstance(node, REFERENCES) and scope.type_named(name_of(node.children[0])) is derived
