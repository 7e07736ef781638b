"""The sides of `select case` as conditions."""

from __future__ import annotations

from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.evaluator import Evaluator, described
from sdfgad.fortran.syntax import listed
from sdfgad.fortran.values import Value


def case_condition(e: Evaluator, head: Any, selector: Value) -> str | None:
    """The condition of a side; None of the default.

    Raises:
        UnsupportedProgram: the selector is neither an integer nor a logical number.
    """
    if selector.kind.base not in ("integer", "logical") or selector.rank:
        e.refuse(head, f"`select case` of {described(selector)} is not supported", "Select by an integer.")
    ranges = head.children[0].children[0]
    if ranges is None:
        return None
    return " or ".join(_of_range(e, one, selector) for one in listed(ranges))


def _of_range(e: Evaluator, node: Any, selector: Value) -> str:
    if not isinstance(node, f03.Case_Value_Range):
        return f"{selector.text} == {e.value(node).text}"
    first, last = (None if one is None else e.integer(one).text for one in node.children)
    if first is not None and last is not None:
        return f"({first} <= {selector.text} and {selector.text} <= {last})"
    return f"{selector.text} <= {last}" if first is None else f"{selector.text} >= {first}"
