"""Inquiry functions: sizes and bounds of arrays, and properties of kinds of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fparser.two import Fortran2003 as f03

from sdfgad.fortran.arguments import Arguments
from sdfgad.fortran.arrays import lower_bound, plus
from sdfgad.fortran.designators import Designator, designated
from sdfgad.fortran.evaluator import Evaluator, integer_text
from sdfgad.fortran.kinds import INTEGER, LOGICAL, selected_int_kind, selected_real_kind
from sdfgad.fortran.values import Value, constant


def _asked(e: Evaluator, given: Arguments, name: str) -> Value:
    """What is asked about; of a derived type a component, whose last axes are those of what it is in."""
    node = given.given(0, name)
    found = designated(e, node) if isinstance(node, (f03.Name, f03.Data_Ref)) else None
    if found is None or found.variable.type_of is None or found.subscripts is not None:
        return given.value(0, name)
    variable = found.variable
    leaf = e.of(node, Designator(variable.leaves[0])).root
    return Value(leaf.text, variable.kind, variable.rank, root=variable, dims=variable.dims)


def _axis(e: Evaluator, node: Any, given: Arguments, rank: int) -> int | None:
    """The axis that `dim` names, counted from 0 on; None if it names none."""
    dim = given.known(1, "dim")
    if dim is not None and not 1 <= dim <= rank:
        e.refuse(node, f"`{node}` names axis {dim} of an array of {rank}", f"Axes are counted from 1 to {rank}.")
    return None if dim is None else dim - 1


def _size(e: Evaluator, node: Any, given: Arguments) -> Value:
    given.refuse_others("array", "dim", "kind")
    x = _asked(e, given, "array")
    axis = _axis(e, node, given, x.rank)
    if axis is not None:
        return integer_text(f"{x.text}.shape[{x.rank - 1 - axis}]", low=0)
    if x.rank == 1:
        return integer_text(f"{x.text}.shape[0]", low=0)
    return integer_text(f"({' * '.join(f'{x.text}.shape[{k}]' for k in range(x.rank))})", low=0)


def _bound(is_upper: bool) -> Callable[[Evaluator, Any, Arguments], Value]:
    def rule(e: Evaluator, node: Any, given: Arguments) -> Value:
        x = _asked(e, given, "array")
        axis = _axis(e, node, given, x.rank)
        if axis is None:
            e.refuse(node, f"`{node}` without an axis is not supported", "Name the axis: ubound(a, 1).")
        lower = lower_bound(e, x.root, axis) if x.dims else constant(1, INTEGER)
        size = integer_text(f"{x.text}.shape[{x.rank - 1 - axis}]", low=0)
        return plus(size, lower).shifted(-1) if is_upper else lower

    return rule


def _property(name: str) -> Callable[[Evaluator, Any, Arguments], Value]:
    def rule(e: Evaluator, node: Any, given: Arguments) -> Value:
        x = given.value(0, "x")
        if x.kind.base == "integer" and name == "max":
            return constant(2 ** (8 * x.kind.bytes - 1) - 1, INTEGER)
        if x.kind.base != "real":
            e.refuse(node, f"`{node}` is supported for real numbers", "Write the number.")
        return constant(getattr(np.finfo(x.kind.dtype), name), x.kind)

    return rule


def _kind(e: Evaluator, node: Any, given: Arguments) -> Value:
    return constant(given.value(0, "x").kind.bytes, INTEGER)


def _selected_real_kind(e: Evaluator, node: Any, given: Arguments) -> Value:
    return constant(selected_real_kind(given.known(0, "p") or 0, given.known(1, "r") or 0), INTEGER)


def _selected_int_kind(e: Evaluator, node: Any, given: Arguments) -> Value:
    return constant(selected_int_kind(given.known(0, "r") or 0), INTEGER)


def _present(e: Evaluator, node: Any, given: Arguments) -> Value:
    return Value(f"({_asked(e, given, 'a').text} is not None)", LOGICAL)


def _allocated(e: Evaluator, node: Any, given: Arguments) -> Value:
    return Value(f"({_asked(e, given, 'array').text} is not None)", LOGICAL)


def _associated(e: Evaluator, node: Any, given: Arguments) -> Value:
    if len(given.nodes) + len(given.named) > 1:
        e.refuse(node, f"`{node}` with a target is not supported", "Ask for the pointer alone.")
    return Value(f"({_asked(e, given, 'pointer').text} is not None)", LOGICAL)


RULES: dict[str, Callable[[Evaluator, Any, Arguments], Value]] = {
    "size": _size,
    "lbound": _bound(False),
    "ubound": _bound(True),
    "kind": _kind,
    "huge": _property("max"),
    "tiny": _property("tiny"),
    "epsilon": _property("eps"),
    "selected_real_kind": _selected_real_kind,
    "selected_int_kind": _selected_int_kind,
    "present": _present,
    "allocated": _allocated,
    "associated": _associated,
}
