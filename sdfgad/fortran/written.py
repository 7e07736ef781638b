"""Text that the translation has written, as values and functions: the one place where such text becomes code.

It consists of Fortran's names, numbers, operators and functions of NumPy; nothing of a file is taken as Python.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

# What written text may refer to.
MODULES = {"np": np, "math": math}
# Names of functions of Python in it; others are those of Fortran, and of functions that it is read as.
FUNCTIONS = {one.__name__: one for one in (abs, bool, float, int, max, min, range, zip, RuntimeError, ValueError)}
# Attributes of arrays in it; all others are those of the modules.
ATTRIBUTES = frozenset({"shape", "T", "astype"})


def evaluated(text: str, names: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression.

    Args:
        names: values of names in it.
    """
    with np.errstate(all="ignore"):
        return eval(_code(text), scope(), names or {})


@lru_cache(maxsize=4096)
def _code(text: str) -> CodeType:
    tree = ast.parse(text, mode="eval")
    _require_written(tree)
    return compile(tree, "<written>", "eval")


def defined(module: ast.Module, name: str, file: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function that a tree defines; `file` is where its lines are, and `names` what it may refer to.

    It is run only where gradients are checked by differences: compiled programs are made of the tree.
    """
    _require_written(module)
    exec(compile(module, file, "exec"), names)
    function: Callable[..., Any] = names[name]
    return function


def scope() -> dict[str, Any]:
    """The names that written text may use: no function of Python but a few."""
    return {"__builtins__": FUNCTIONS, **MODULES}


def _require_written(tree: ast.AST) -> None:
    """What has another form than what is written here is a mistake of the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            is_of_module = isinstance(node.value, ast.Name) and node.value.id in MODULES
            assert node.attr in ATTRIBUTES or (is_of_module and not node.attr.startswith("_")), node.attr
        assert not isinstance(node, (ast.Import, ast.ImportFrom, ast.Lambda, ast.ClassDef, ast.Global)), node
