"""Output: calls that print, warn or log. No number depends on them, and the compiled program leaves them out."""

from __future__ import annotations

import ast
import logging
import sys
import warnings
from typing import Any

from sdfgad.errors import IgnoredPrint
from sdfgad.parse.frame import Frame
from sdfgad.parse.source import source_text

_LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "log")
# What a call of these would show is lost, so that it is said once.
OUTPUT = frozenset({print, warnings.warn, *(getattr(logging, name) for name in _LEVELS)})
# Filters of warnings, without effect where nothing warns.
FILTERS = frozenset({warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings})


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
    return function in (OUTPUT | FILTERS)


def ignore(frame: Frame, node: ast.Call, function: Any) -> None:
    """Warn that the compiled program does not print."""
    if function not in FILTERS:
        what = source_text(node.func)
        warnings.warn(f"{what} is ignored at {frame.where(node)}", IgnoredPrint, stacklevel=2)
