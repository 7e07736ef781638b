"""Predicated stores: statements that leave some elements of their targets as they are, and may find nothing there."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.ir.expr import Const, Expr, Op
from sdfgad.ir.program import Compute


def nothing(statement: Compute, dtype: np.dtype[Any]) -> Expr:
    """The value that leaves the target, of this type, as it is; it may be one that nothing has assigned yet."""
    return statement.target.read(dtype) if statement.assigns else Const(dtype.type(0).item(), dtype)


def is_sometimes(statement: Compute, dtype: np.dtype[Any]) -> bool:
    """Whether some side of a choice leaves the target as it is: then it is not touched, and need not be there."""
    is_known = statement.accumulate is None or (statement.accumulate == "add" and not statement.assigns)
    return is_known and keeps(statement.value, nothing(statement, dtype))


def keeps(value: Expr, own: Expr) -> bool:
    """Whether a side of a choice, or of one in it, is the old value `own` of what the value is assigned to."""
    if not isinstance(value, Op) or value.name != "select" or value.dtype != own.dtype:
        return False
    return any(side == own or keeps(side, own) for side in value.children[1:])
