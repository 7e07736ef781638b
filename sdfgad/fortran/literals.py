"""Literals, in the precision that Fortran gives them: ``0.1`` is single, ``0.1d0`` and ``0.1_8`` are double."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.kinds import DOUBLE, INTEGER, LOGICAL, REAL, Kind
from sdfgad.fortran.syntax import name_of
from sdfgad.fortran.values import Value, constant

KINDS = "Real kinds are 4 and 8: use real(8), or selected_real_kind(15)."


def real_kind(e: Evaluator, node: Any, size: int, base: str = "real") -> Kind:
    """Raises: UnsupportedProgram, for a kind that NumPy's floats do not have."""
    if size not in (4, 8):
        e.refuse(node, f"{base} numbers of the kind {size} are not supported", KINDS)
    return Kind(base, size)


def named_kind(e: Evaluator, node: Any, text: str) -> int:
    """The value of a kind parameter, a number or the name of a constant."""
    if text.isdigit():
        return int(text)
    found = e.scope.variable(text.lower())
    if found is None or found[1].value is None or not isinstance(found[1].value.number, int):
        e.refuse(node, f"the kind `{text}` is no integer constant that is known here", KINDS)
    return int(found[1].value.number)


def integer_literal(node: Any) -> Value:
    return constant(int(node.children[0]), INTEGER)


def real_literal(e: Evaluator, node: Any) -> Value:
    text, suffix = str(node.children[0]).lower(), node.children[1]
    kind = DOUBLE if "d" in text else REAL
    if suffix is not None:
        kind = real_kind(e, node, named_kind(e, node, str(suffix)))
    # NumPy reads a text in the precision of its type, without another one between.
    return constant(kind.dtype.type(re.sub("d", "e", text)), kind)


def complex_literal(e: Evaluator, node: Any) -> Value:
    parts = [e.value(one) for one in node.children]
    size = max(part.kind.bytes if part.kind.base == "real" else 4 for part in parts)
    return constant(complex(*(np.float64(part.number) for part in parts)), Kind("complex", size))


def logical_literal(node: Any) -> Value:
    return constant(name_of(node.children[0]) == ".true.", LOGICAL)
