"""Optional values: None on some paths, a number, array, list or object on others, as of a function that may end without
a ``return``, or of ``best = None`` that a branch replaces.

Such a value is handed on as it is, and ``is None`` asks its condition. Whatever else reads it checks at run time that
it is not None.
"""

from __future__ import annotations

import ast
from typing import Any

from sdfgad.errors import NoneUsed, UnboundVariable
from sdfgad.ir.expr import BOOL, Op
from sdfgad.parse import chosen_texts, conditions
from sdfgad.parse.builder import Builder
from sdfgad.parse.merging import truth_of
from sdfgad.parse.tree_nodes import rebuilt_tuple
from sdfgad.parse.values import ChosenText, MaybeBound, MaybeNone

TODO = "Test it by `is None` before, or return or assign a value on all paths."


def required(b: Builder, value: Any, text: str) -> Any:
    """A value that is read, and must not be None; by a check at run time where it may be.

    Args:
        text: the expression, in the user's words.
    """
    if not isinstance(value, MaybeNone):
        return value
    if value.there is not True:
        b.check(truth_of(value.there), (), f"{text} is None here", NoneUsed, TODO)
    return required(b, value.value, text)


def required_parts(b: Builder, value: Any, text: str) -> Any:
    """The same of all parts of a tuple, list or dict."""
    if isinstance(value, MaybeNone):
        return required_parts(b, required(b, value, text), text)
    if isinstance(value, ChosenText):
        raise chosen_texts.refused(b, f"{text} is a string that data decides")
    if isinstance(value, (tuple, list)):
        parts = [required_parts(b, part, text) for part in value]
        return rebuilt_tuple(value, parts) if isinstance(value, tuple) else parts
    return {key: required_parts(b, part, text) for key, part in value.items()} if type(value) is dict else value


def bound(b: Builder, value: Any, text: str) -> Any:
    """An attribute that is read: where a loop or branch sets it first, a check at run time may be needed."""
    if not isinstance(value, MaybeBound):
        return value
    what, todo = f"{text} has no value here: it is set in a loop or branch that did not run", "Set it in `__init__`."
    if value.bound is False:
        raise UnboundVariable(what, b.where, todo)
    if value.bound is not True:
        b.check(truth_of(value.bound), (), what, UnboundVariable, todo)
    return bound(b, value.value, text)


def is_bound(b: Builder, value: Any) -> Any:
    """Whether an object has an attribute of this value: True, False, or a boolean scalar."""
    if not isinstance(value, MaybeBound):
        return True
    return value.bound if isinstance(value.bound, bool) else conditions.decided(b, truth_of(value.bound))


def is_none(b: Builder, value: MaybeNone) -> Any:
    """``value is None``: True, False, or a boolean scalar."""
    if isinstance(value.there, bool):
        return not value.there
    return conditions.decided(b, Op("logical_not", (truth_of(value.there),), BOOL))


HANDING_ON = (
    *(ast.Return, ast.Expr, ast.NamedExpr, ast.Tuple, ast.List, ast.Dict, ast.keyword, ast.BoolOp, ast.IfExp),
    *(ast.Lambda, ast.ListComp, ast.DictComp, ast.GeneratorExp),
)


def is_handed_on(node: ast.expr, parent: ast.AST | None) -> bool:
    """Whether what is around an expression hands its value on, or asks whether it is None."""
    if getattr(node, "is_handed_on", False):
        return True
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) for op in parent.ops)
    if isinstance(parent, ast.Assign):
        return all(isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)) for target in parent.targets)
    if isinstance(parent, (ast.If, ast.While)):
        return parent.test is node
    if isinstance(parent, ast.comprehension):
        return any(test is node for test in parent.ifs)
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    if isinstance(parent, ast.Call):
        return parent.func is not node
    return isinstance(parent, HANDING_ON)
