"""Eigenvalues of real matrices, which NumPy returns as real arrays where all of them are real.

It makes no difference where a program takes no more than absolute values, or real and imaginary parts, of them.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError, UnsupportedProgram
from sdfgad.ir.expr import INT, as_linear
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.frame import Frame
from sdfgad.parse.functions import parts
from sdfgad.parse.functions.truth import any_
from sdfgad.parse.values import as_tensor, cast

FUNCTIONS = (np.linalg.eig, np.linalg.eigvals)
# Of a number with no imaginary part they give the same, whether it is a complex number or not.
PARTS = (abs, np.abs, np.real, np.imag)
ATTRIBUTES = ("real", "imag")
ALL_REAL = "all eigenvalues of a real matrix are real, of which NumPy makes real arrays"
TODO = "Pass the matrix as complex numbers, a.astype(complex), or take np.abs or .real of the eigenvalues."


class DtypeByValue(UnsupportedProgram):
    """Raised where a dtype is that of the call at hand, as the next attempt to parse the program has it."""


def as_numpy_has_them(frame: Frame, node: ast.Call, function: Any, positional: list[Any], found: Any) -> Any:
    """What `eig` or `eigvals` returns: of a real matrix, real arrays where the call at hand has real eigenvalues alone.

    Where that is not known, as in a loop, they are complex, and a check at run time says so; nothing of that is needed
    where the program could not tell the difference. What other functions return is handed on.

    Raises:
        DtypeByValue: another attempt may ask for values of the call at hand.
    """
    if function not in FUNCTIONS or not positional or as_tensor(positional[0]).dtype.kind == "c":
        return found
    b, values = frame.b, found[0] if function is np.linalg.eig else found
    if values.dtype.kind != "c" or _takes_parts(frame, node):
        return found
    some = any_(b, elementwise(b, "not_equal", parts.imag(b, values), 0.0))
    if b.may_have_values and len(b.blocks) == 1:
        raise DtypeByValue(ALL_REAL, b.where, TODO)
    are_complex = b.by_value(as_linear(cast(some.at(), INT)))
    if are_complex is None:
        b.check(some.at(), (), ALL_REAL, ArgumentError, TODO)
    if are_complex != 0:
        return found
    return type(found)(*(parts.real(b, one) for one in found)) if function is np.linalg.eig else parts.real(b, found)


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
