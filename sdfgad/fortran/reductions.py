"""Intrinsic functions of whole arrays: sums and extrema, products of matrices, and arrangements.

NumPy's arrays have Fortran's axes in reverse order: ``dim=1`` is the last axis, and ``matmul(a, b)`` is ``b @ a``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.fortran.arguments import Arguments
from sdfgad.fortran.evaluator import Evaluator, described
from sdfgad.fortran.kinds import INTEGER, LOGICAL, joined
from sdfgad.fortran.syntax import listed
from sdfgad.fortran.values import Value, as_kind, constant, plain, strong

Rule = Callable[[Evaluator, Any, Arguments], Value]


def _dim_and_mask(e: Evaluator, node: Any, given: Arguments, rank: int) -> tuple[int | None, Value | None]:
    """The axis as NumPy counts it, and the mask; either may come second."""
    given.refuse_others("array", "mask", "dim")
    second = given.optional(1, "dim")
    if second is not None and second.kind.base == "logical":
        return None, second
    dim, mask = given.known(1, "dim"), given.optional(2, "mask")
    if dim is not None and not 1 <= dim <= rank:
        e.refuse(node, f"`{node}` names axis {dim} of an array of {rank}", f"Axes are counted from 1 to {rank}.")
    return None if dim is None else rank - dim, mask


def _reduction(function: str, neutral: float, has_limit: bool = False) -> Rule:
    """A sum or product, or an extremum, of which no element gives the largest number there is, or minus that."""

    def rule(e: Evaluator, node: Any, given: Arguments) -> Value:
        x = given.value(0, "array")
        if not x.rank:
            e.refuse(node, f"`{node}` needs an array, not {described(x)}", "Leave the function away.")
        axis, mask = _dim_and_mask(e, node, given, x.rank)
        text = plain(x)
        if mask is not None:
            if has_limit and x.kind.base != "real":
                e.refuse(node, f"the mask of `{node}` is not supported", "Write a loop with an `if`.")
            other = neutral * float(np.finfo(x.kind.dtype).max) if has_limit else neutral
            text = f"np.where({plain(mask)}, {text}, {strong(constant(other, x.kind)).text})"
        if axis is not None and x.rank > 1:
            return Value(f"{function}({text}, axis={axis})", x.kind, x.rank - 1)
        total = Value(f"{function}({text})", x.kind)
        return Value(f"int({total.text})", INTEGER) if x.kind.base == "integer" else total

    return rule


def _logical(function: str) -> Rule:
    def rule(e: Evaluator, node: Any, given: Arguments) -> Value:
        given.refuse_others("mask")
        mask = given.value(0, "mask")
        if len(given.nodes) > 1 or not mask.rank:
            e.refuse(node, f"`{node}` is supported for one array and all its axes", "Write a loop.")
        if function == "count":
            return Value(f"int(np.sum({plain(mask)}))", INTEGER, low=0)
        return Value(f"np.{function}({plain(mask)})", LOGICAL)

    return rule


def _location(function: str) -> Rule:
    def rule(e: Evaluator, node: Any, given: Arguments) -> Value:
        given.refuse_others("array", "dim")
        x = given.value(0, "array")
        if x.rank != 1 or given.known(1, "dim") != 1:
            e.refuse(node, f"`{node}` is supported for one axis alone", "Write it for one axis, with dim=1.")
        return Value(f"(int(np.{function}({plain(x)})) + 1)", INTEGER, low=1)

    return rule


def _matmul(e: Evaluator, node: Any, given: Arguments) -> Value:
    x, y = given.value(0, "matrix_a"), given.value(1, "matrix_b")
    if not (x.rank and y.rank) or x.rank + y.rank < 3 or x.rank > 2 or y.rank > 2:
        e.refuse(node, f"`{node}` multiplies {described(x)} by {described(y)}", "Use dot_product of two vectors.")
    kind = joined(x.kind, y.kind)
    return Value(f"({as_kind(y, kind).text} @ {as_kind(x, kind).text})", kind, x.rank + y.rank - 2)


def _dot_product(e: Evaluator, node: Any, given: Arguments) -> Value:
    x, y = given.value(0, "vector_a"), given.value(1, "vector_b")
    if x.rank != 1 or y.rank != 1 or "logical" in (x.kind.base, y.kind.base):
        e.refuse(node, f"`{node}` multiplies {described(x)} by {described(y)}", "Pass two vectors.")
    kind = joined(x.kind, y.kind)
    a, b = as_kind(x, kind), as_kind(y, kind)
    function = "np.vdot" if x.kind.base == "complex" else "np.dot"
    total = Value(f"{function}({plain(a)}, {plain(b)})", kind)
    return Value(f"int({total.text})", INTEGER) if kind.base == "integer" else total


def _transpose(e: Evaluator, node: Any, given: Arguments) -> Value:
    x = given.value(0, "matrix")
    if x.rank != 2:
        e.refuse(node, f"`{node}` needs a matrix, not {described(x)}", "Pass an array of two axes.")
    return Value(f"{x.text}.T", x.kind, 2)


def _spread(e: Evaluator, node: Any, given: Arguments) -> Value:
    x, dim, copies = given.value(0, "source"), given.known(1, "dim") or 1, given.value(2, "ncopies")
    if not x.rank:
        return Value(f"np.full({plain(copies)}, {plain(strong(x))})", x.kind, 1)
    return Value(f"np.repeat(np.expand_dims({plain(x)}, {x.rank + 1 - dim}), {plain(copies)}, {x.rank + 1 - dim})",
                 x.kind, x.rank + 1)  # fmt: skip


def _reshape(e: Evaluator, node: Any, given: Arguments) -> Value:
    given.refuse_others("source", "shape")
    x, shape = given.value(0, "source"), given.given(1, "shape")
    items: tuple[Any, ...] = getattr(shape, "children", ())
    if len(items) != 3 or items[0] not in ("[", "(/") or len(given.nodes) > 2:
        e.refuse(node, f"`{node}` is supported with a list as the shape", "Write reshape(x, [n, m]).")
    extents = [plain(e.integer(one)) for one in listed(items[1])]
    return Value(f"np.reshape({plain(x)}, ({', '.join(reversed(extents))},))", x.kind, len(extents))


def _cshift(e: Evaluator, node: Any, given: Arguments) -> Value:
    x, shift, dim = given.value(0, "array"), given.value(1, "shift"), given.known(2, "dim") or 1
    if shift.rank:
        e.refuse(node, f"`{node}` by an array is not supported", "Shift by one number.")
    return Value(f"np.roll({plain(x)}, -{shift.text}, {x.rank - dim})", x.kind, x.rank)


def _norm(e: Evaluator, node: Any, given: Arguments) -> Value:
    x = given.value(0, "x")
    if x.rank != 1 or len(given.nodes) > 1 or given.named:
        e.refuse(node, f"`{node}` is supported for one vector", "Write sqrt(sum(x**2)).")
    return Value(f"np.sqrt(np.sum({x.text} ** 2))", x.kind)


RULES: dict[str, Rule] = {
    "sum": _reduction("np.sum", 0),
    "product": _reduction("np.prod", 1),
    "maxval": _reduction("np.max", -1, has_limit=True),
    "minval": _reduction("np.min", 1, has_limit=True),
    "count": _logical("count"),
    "any": _logical("any"),
    "all": _logical("all"),
    "maxloc": _location("argmax"),
    "minloc": _location("argmin"),
    "matmul": _matmul,
    "dot_product": _dot_product,
    "transpose": _transpose,
    "spread": _spread,
    "reshape": _reshape,
    "cshift": _cshift,
    "norm2": _norm,
}
