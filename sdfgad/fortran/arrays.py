"""Subscripts: elements and sections of arrays whose axes NumPy has in reverse order, from 0 on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.evaluator import Evaluator, integer_text
from sdfgad.fortran.kinds import INTEGER
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import names_in
from sdfgad.fortran.values import Value, constant, plain


def lower_bound(e: Evaluator, variable: Variable, dim: int) -> Value:
    """The lower bound of an axis, counted from 0 on as Fortran orders them."""
    declared = variable.dims[dim]
    if declared.lower is None:
        return constant(1, INTEGER)
    inner = e.within(declared.home)
    value = inner.integer(declared.lower)
    changed = names_in(declared.lower) & inner.scope.assigned if value.number is None else set()
    e.bounded_by(value)
    if changed:
        name = min(changed)
        what = f"`{variable.name}` has a lower bound of `{name}`, which is assigned later"
        e.refuse(
            variable.node, what, f"Keep the bound in a variable of its own, which nothing else assigns, not {name}."
        )
    return value


def extent(variable: Variable, dim: int) -> Value:
    return integer_text(f"{variable.text}.shape[{variable.rank - 1 - dim}]", low=0)


def plus(x: Value, y: Value) -> Value:
    if y.number is not None:
        return x.shifted(y.number)
    if x.number is not None:
        return y.shifted(x.number)
    low = None if x.low is None or y.low is None else x.low + y.low
    return Value(f"({x.text} + {y.text})", INTEGER, low=low)


def minus(x: Value, y: Value) -> Value:
    """The difference of two integers."""
    if y.number is not None:
        return x.shifted(-y.number)
    if (x.base or x.text) == (y.base or y.text):
        return constant(x.offset - y.offset, INTEGER)
    return Value(f"({x.text} - {y.text})", INTEGER)


def subscripted(e: Evaluator, node: Any, variable: Variable, subscripts: Sequence[Any]) -> Value:
    """``a(i, j)`` or a section of an array, as ``a[j - 1, i - 1]``.

    Raises:
        UnsupportedProgram: the subscripts are not as many as the axes, or of a kind that is not supported.
    """
    if len(subscripts) != variable.rank:
        what = f"`{node}` has {len(subscripts)} subscripts, and `{variable.name}` {variable.rank} axes"
        e.refuse(node, what, "Write one subscript for each axis.")
    parts = [_entry(e, variable, dim, one) for dim, one in enumerate(subscripts)]
    vectors = sum(kind == "vector" for _, kind, _ in parts)
    rank = sum(kind != "element" for _, kind, _ in parts)
    if vectors and rank > 1:
        e.refuse(node, f"`{node}` has a vector of subscripts beside sections", "Write a loop over the vector.")
    text = ", ".join(text for text, _, _ in reversed(parts))
    flips = [flip for _, kind, flip in reversed(parts) if kind != "element"]
    turned = ", ".join("::-1" if flip else ":" for flip in flips)
    suffix = f"[{turned}]" if any(flips) else ""
    return Value(f"{variable.text}[{text}]{suffix}", variable.kind, rank, is_place=not vectors)


def _entry(e: Evaluator, variable: Variable, dim: int, node: Any) -> tuple[str, str, bool]:
    """The text of one subscript, what it is, and whether its axis has to be turned round."""
    lower = lower_bound(e, variable, dim)
    if node is None:
        return ":", "section", False
    if isinstance(node, f03.Subscript_Triplet):
        return _section(e, variable, dim, node, lower)
    index = e.value(node)
    if index.kind.base != "integer" or index.rank > 1:
        e.refuse(node, f"the subscript `{node}` is no integer", "Write an integer, such as int(x).")
    if index.rank:
        less = f"({index.text} - {lower.text})" if lower.number != 0 else index.text
        return plain(Value(less, INTEGER)), "vector", False
    return plain(minus(index, lower)), "element", False


def _section(e: Evaluator, variable: Variable, dim: int, node: Any, lower: Value) -> tuple[str, str, bool]:
    first, last, step_node = node.children
    step = 1 if step_node is None else e.known(step_node)
    if step == 0:
        e.refuse(node, "the stride of a section is 0", "Write another one, such as 1.")
    if first is None and last is None and abs(step) == 1:
        return ":", "section", step < 0
    ends = [None if one is None else minus(e.integer(one), lower) for one in (first, last)]
    if step > 0:
        return _upwards(ends, step), "section", False
    return _downwards(variable, dim, ends, -step), "section", True


def _upwards(ends: list[Value | None], step: int) -> str:
    start = "" if ends[0] is None or ends[0].number == 0 else plain(ends[0])
    stop = "" if ends[1] is None else at_least_zero(ends[1].shifted(1))
    return f"{start}:{stop}" + (f":{step}" if step > 1 else "")


def _downwards(variable: Variable, dim: int, ends: list[Value | None], step: int) -> str:
    """The elements in the order of memory, to be turned round: the last one first."""
    top = extent(variable, dim).shifted(-1) if ends[0] is None else ends[0]
    bottom = constant(0, INTEGER) if ends[1] is None else ends[1]
    start = plain(bottom)
    if step > 1:
        distance = minus(top, bottom)
        known = distance.number is not None
        rest = constant(distance.number % step, INTEGER) if known else Value(f"({distance.text} % {step})", INTEGER)
        start = plain(plus(bottom, rest))
    return f"{start}:{at_least_zero(top.shifted(1))}" + (f":{step}" if step > 1 else "")


def at_least_zero(stop: Value) -> str:
    """The end of a section; of one without elements it may be negative, which NumPy counts from the other end."""
    if stop.low is not None and stop.low >= 0:
        return plain(stop)
    return f"max({plain(stop)}, 0)"
