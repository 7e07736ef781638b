"""Uses of eigenvalues: whether a program takes no more than absolute values, or real and imaginary parts, of them.

Then it makes no difference that NumPy returns real arrays where all eigenvalues of a real matrix are real.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from sdfgad.parse.frame import Frame
from sdfgad.parse.functions.linalg import require_complex
from sdfgad.parse.values import as_tensor

FUNCTIONS = (np.linalg.eig, np.linalg.eigvals)
# Of a number with no imaginary part they give the same, whether it is a complex number or not.
PARTS = (abs, np.abs, np.real, np.imag)
ATTRIBUTES = ("real", "imag")


def note(frame: Frame, node: ast.Call, function: Any, positional: list[Any], found: Any) -> None:
    """Require complex eigenvalues of a real matrix, where the program could tell them from real ones."""
    if function not in FUNCTIONS or not positional or as_tensor(positional[0]).dtype.kind == "c":
        return
    values = found[0] if function is np.linalg.eig else found
    if values.dtype.kind == "c" and not _takes_parts(frame, node):
        require_complex(frame.b, values)


def _takes_parts(frame: Frame, node: ast.AST) -> bool:
    """Whether nothing but the parts of a value are taken, by whatever name it gets."""
    parent = frame.source.parents.get(id(node))
    if isinstance(parent, ast.Attribute):
        return parent.attr in ATTRIBUTES or (parent.attr == "eigenvalues" and _takes_parts(frame, parent))
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return _takes_parts(frame, parent)
    if isinstance(parent, ast.Call) and isinstance(parent.func, (ast.Name, ast.Attribute)):
        return parent.args == [node] and not parent.keywords and frame.eval(parent.func) in PARTS
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        target = parent.targets[0]
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        return all(isinstance(name, ast.Name) and _are_parts_taken(frame, name.id) for name in names)
    return False


def _are_parts_taken(frame: Frame, name: str) -> bool:
    """Whether a name is bound once, and wherever it is read only parts of it are taken."""
    uses = [one for one in ast.walk(frame.source.tree) if isinstance(one, ast.Name) and one.id == name]
    loads = [one for one in uses if isinstance(one.ctx, ast.Load)]
    return len(uses) == len(loads) + 1 and all(_takes_parts(frame, one) for one in loads)
