"""Output: calls that print, warn or log. No number depends on them, and the compiled program leaves them out."""

from __future__ import annotations

import ast
import inspect
import logging
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from sdfgad.errors import IgnoredPrint
from sdfgad.parse.frame import Frame
from sdfgad.parse.source import source_text

_LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "log")
# What a call of these would show is lost, so that it is said once.
OUTPUT = frozenset({print, warnings.warn, *(getattr(logging, name) for name in _LEVELS)})
# Filters of warnings, without effect where nothing warns.
FILTERS = frozenset({warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings})


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
