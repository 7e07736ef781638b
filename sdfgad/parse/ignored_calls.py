"""Output: calls that print, warn or log. No number depends on them, and the compiled program leaves them out."""

from __future__ import annotations

import ast
import builtins
import inspect
import logging
import math
import sys
import types
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from sdfgad.errors import IgnoredPrint
from sdfgad.ir.expr import Lin
from sdfgad.parse.containers import Default
from sdfgad.parse.frame import Frame
from sdfgad.parse.operands import bound_to
from sdfgad.parse.registry import is_hashable
from sdfgad.parse.source import source_text
from sdfgad.parse.values import Record, Selection, Tensor, is_static

_LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "log")
# What a call of these would show is lost, so that it is said once.
OUTPUT = frozenset({print, warnings.warn, *(getattr(logging, name) for name in _LEVELS)})
# Filters of warnings, without effect where nothing warns.
FILTERS = frozenset({warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings})
# What those who print call in between: it changes nothing.
PURE = frozenset(
    {
        *(abs, bool, float, int, len, max, min, repr, round, str, sum),
        *(np.mean, np.sum, np.max, np.min, np.std, np.linalg.norm, np.any, np.all, np.median, np.var, np.round),
        *(math.sqrt, math.log, math.log10, math.exp),
    }
)
PURE_METHODS = frozenset({"mean", "sum", "max", "min", "std", "item", "tolist", "any", "all", "round"})


def _is_of_numpy(category: Any) -> bool:
    """Whether NumPy's warnings of overflow and invalid values may be of a category."""
    return isinstance(category, type) and (issubclass(RuntimeWarning, category) or issubclass(category, RuntimeWarning))


def _is_assertion(function: Any) -> bool:
    """Whether a function is one of NumPy's assertions; `numpy.testing` is not imported to find out."""
    module = getattr(function, "__module__", None) or ""
    return module.startswith("numpy.testing") and getattr(function, "__name__", "").startswith("assert_")


def is_ignored(function: Any) -> bool:
    """Whether the compiled program leaves out calls of a function."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, logging.Logger):
        return function.__name__ in _LEVELS
    if (
        any(owner is stream for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__))
        and owner is not None
    ):
        return function.__name__ in ("write", "flush")
    return function in (OUTPUT | FILTERS) or _is_assertion(function)


def ignore(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Mapping[str, Any]) -> None:
    """Warn that the compiled program does not print; what may raise counts only where a handler may catch it."""
    if _is_assertion(function):
        frame.b.may_raise(f"the assertion `{source_text(node)}` may fail", AssertionError)
    elif function in FILTERS:
        given = frame.b.python(inspect.signature(function).bind, *positional, **keywords).arguments
        if given.get("action") == "error" and _is_of_numpy(given.get("category", Warning)):
            frame.b.unraised[RuntimeWarning] = source_text(node.func)
    else:
        what = source_text(node.func)
        warnings.warn(f"{what} is ignored at {frame.where(node)}", IgnoredPrint, stacklevel=2)


def leaves_out(frame: Frame, node: ast.stmt) -> bool:
    """Leave out an ``if`` that only prints or logs, whatever its condition: ``if step % 100 == 0: log.info(...)``.

    So that its condition makes no difference to how a loop around is parsed. Returns whether it is such a statement.
    """
    if not isinstance(node, ast.If) or not frame.b.loops or frame.b.tries or not _is_only_output(frame, node):
        return False
    conditions = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    if any(_is_static(frame, one) for one in conditions):
        # Of `verbose`, say, it is known whether anything is printed at all.
        return False
    for call in _calls(node):
        warnings.warn(f"{source_text(call.func)} is ignored at {frame.where(call)}", IgnoredPrint, stacklevel=2)
    return True


def _is_static(frame: Frame, node: ast.expr) -> bool:
    """Whether a condition follows from what is known while parsing, and from no counter of a loop."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        found = _found(frame, node)
        return is_static(found) and not isinstance(found, Lin)
    return all(_is_static(frame, one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))


def _calls(node: ast.If) -> list[ast.Call]:
    """The calls that are statements."""
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]


def _is_only_output(frame: Frame, node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        sides = [*node.body, *node.orelse]
        return _has_no_effect(frame, node.test) and all(_is_only_output(frame, one) for one in sides)
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return isinstance(node, ast.Pass)
    function = _found(frame, call.func)
    is_output = (
        is_hashable(function) and is_ignored(function) and not _is_assertion(function) and function not in FILTERS
    )
    return is_output and all(_has_no_effect(frame, one) for one in (*call.args, *(k.value for k in call.keywords)))


def _has_no_effect(frame: Frame, node: ast.expr) -> bool:
    """Whether an expression changes nothing: it calls functions of NumPy's and Python's alone, and no methods."""
    parts = list(ast.walk(node))
    if any(isinstance(one, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for one in parts):
        return False
    if any(_is_computed(frame, one) for one in parts if isinstance(one, (ast.Attribute, ast.Subscript))):
        return False
    calls = [one for one in parts if isinstance(one, ast.Call)]
    return all(_is_pure(frame, one.func) and all(k.arg != "out" for k in one.keywords) for one in calls)


def _is_computed(frame: Frame, node: ast.Attribute | ast.Subscript) -> bool:
    """Whether a method of the user's may give an attribute or item, or a defaultdict, which makes it."""
    owner = _found(frame, node.value)
    if isinstance(node, ast.Subscript):
        return not isinstance(owner, (Tensor, Selection, list, tuple, dict)) or isinstance(owner, Default)
    if isinstance(owner, Record):
        return node.attr not in owner.fields
    return not isinstance(owner, (Tensor, Selection, types.ModuleType, logging.Logger))


def _is_pure(frame: Frame, node: ast.expr) -> bool:
    owner = node.value if isinstance(node, ast.Attribute) and node.attr in PURE_METHODS else None
    if owner is not None and isinstance(_found(frame, owner), (Tensor, Selection)):
        return True
    function = _found(frame, node)
    return isinstance(function, np.ufunc) or (is_hashable(function) and function in PURE)


def _found(frame: Frame, node: ast.expr) -> Any:
    """What a name is bound to, or an attribute of a module, logger or object; None where that is not known.

    To evaluate it could make the program check that it is there, or run a property.
    """
    if isinstance(node, ast.Name):
        found = bound_to(frame, node.id)
        return frame.source.outer.get(node.id, getattr(builtins, node.id, None)) if found is None else found
    owner = _found(frame, node.value) if isinstance(node, ast.Attribute) else None
    if isinstance(owner, Record) and isinstance(node, ast.Attribute):
        return owner.fields.get(node.attr)
    is_stream = any(owner is stream for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__))
    is_known = isinstance(owner, (types.ModuleType, logging.Logger)) or (owner is not None and is_stream)
    return getattr(owner, node.attr, None) if is_known and isinstance(node, ast.Attribute) else None
