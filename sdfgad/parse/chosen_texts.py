"""Strings and members of enumerations that data decides, such as the state of a machine (``mode = "charge"``): numbers
at run time, which comparisons compare.

Equal strings have equal numbers. All other uses are refused, so that what reads such a string is parsed for each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import Enum, Flag
from typing import Any

from sdfgad.errors import Rebound
from sdfgad.ir.expr import BOOL, Expr, Op
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.source import source_text
from sdfgad.parse.values import UNDEFINED, ChosenText, Tensor, Text, as_tensor, scalar

TODO = "Compare it by ==, !=, `in` or `match`, and do what differs in these branches; or use numbers: 0 and 1."


def is_text(value: Any) -> bool:
    """Whether a value is a string, or a member of an enumeration that is compared as one; None is one beside others."""
    if isinstance(value, Enum):
        # Members of others are numbers or tuples, too, and equal to them.
        is_plain = getattr(type(value), "_member_type_", None) in (object, str) and not isinstance(value, Flag)
        return is_plain and {"__eq__", "__bool__", "__len__"}.isdisjoint(vars(type(value)))
    return type(value) is str


def is_same(x: Any, y: Any) -> bool:
    """Whether two strings or members are one: those of a `StrEnum` equal strings, and are others."""
    return type(x) is type(y) and x == y


def are_texts(values: list[Any]) -> bool:
    is_any = any(isinstance(value, ChosenText) or is_text(value) for value in values)
    return is_any and all(value is None or isinstance(value, ChosenText) or is_text(value) for value in values)


def unified(values: list[Any]) -> list[Any]:
    """Several strings, also in tuples, as `ChosenText`; other values as they are."""
    return trees.by_parts(values, _unified)


def _unified(values: list[Any]) -> list[Any]:
    known = [value for value in values if value is not UNDEFINED]
    if not are_texts(known):
        return values
    if len(known) == len(values) and all(is_text(value) and is_same(value, known[0]) for value in known):
        return values
    return [value if isinstance(value, ChosenText) else ChosenText(_as_code(value)) for value in values]


def _as_code(value: Any) -> Any:
    return value if value is UNDEFINED else Text(value)


def number(b: Builder, value: Any) -> int:
    """The number of a string or member of an enumeration."""
    return b.texts.setdefault(value, len(b.texts))


def compared(b: Builder, op: type[ast.cmpop], left: Any, right: Any) -> bool | Expr:
    """``left == right`` and the like, of which one is a string that data decides."""
    is_identity = op in (ast.Is, ast.IsNot)
    if op not in (ast.Eq, ast.NotEq, ast.Is, ast.IsNot) or (
        is_identity and any(isinstance(x, str) for x in (left, right))
    ):
        raise refused(b, "a string that data decides is compared by its order, or by `is`")
    if not are_texts([left, right]):
        return op in (ast.NotEq, ast.IsNot)
    name = "equal" if op in (ast.Eq, ast.Is) else "not_equal"
    return _compared_codes(b, name, left, right)


def truth(b: Builder, chosen: ChosenText) -> Tensor:
    """Whether a string that data decides is neither empty nor None."""
    tests = [_compared_codes(b, "not_equal", chosen, known) for known in ("", None)]
    return scalar(Op("logical_and", tuple(tests), BOOL), weak=True)


def is_one(b: Builder, chosen: ChosenText, known: Any) -> Expr:
    """Whether a string that data decides is a known one."""
    return _compared_codes(b, "equal", chosen, known)


def _compared_codes(b: Builder, name: str, left: Any, right: Any) -> Expr:
    return Op(name, (code_of(b, left).at(), code_of(b, right).at()), BOOL)


def code_of(b: Builder, value: Any) -> Tensor:
    """The number of a string."""
    code = value.code if isinstance(value, ChosenText) else Text(value)
    return as_tensor(number(b, code.value) if isinstance(code, Text) else code)


def require_handed_on(b: Builder, node: ast.expr, parent: ast.AST | None) -> None:
    """Refuse what neither compares nor hands on a string that data decides.

    Raises:
        Rebound: of text.
    """
    tests = (ast.Compare, ast.If, ast.While, ast.Assert)
    is_fine = isinstance(parent, (*tests, ast.Return, ast.Tuple, ast.IfExp, ast.FormattedValue, ast.keyword))
    is_fine = is_fine or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))
    is_fine = is_fine or (isinstance(parent, ast.Call) and parent.func is not node)
    if isinstance(parent, ast.Subscript):
        is_fine = parent.slice is node and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Assign):
        is_fine = all(isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)) for target in parent.targets)
    if not is_fine:
        error = refused(
            b, f"`{source_text(node)}` is a string that data decides, and is used otherwise than in comparisons"
        )
        error.choice = node if isinstance(node, ast.IfExp) else None
        raise error


def require_none(b: Builder, function: ast.expr, arguments: Iterable[Any]) -> None:
    """Refuse such strings as arguments of functions that are not the user's.

    Raises:
        Rebound: of text.
    """
    if any(isinstance(value, ChosenText) for value in arguments):
        raise refused(b, f"an argument of `{source_text(function)}` is a string that data decides")


def refused(b: Builder, what: str) -> Rebound:
    error = Rebound(what, b.where, TODO)
    error.is_of_text = True
    return error
