"""Mixed precision: adjoints in double precision of values in single precision.

A program in single precision loses digits where a gradient is the sum of many contributions. With wide adjoints these
are computed and added in double precision, from values that the program has computed in single precision as before.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from sdfgad.ir.expr import Const, Expr, Op, postorder
from sdfgad.rules.algebra import cast

WIDER = {np.dtype(np.float32): np.dtype(np.float64), np.dtype(np.complex64): np.dtype(np.complex128)}
# Linear in a cotangent among their operands: computed in double precision where that is in double precision.
LINEAR = frozenset({"add", "subtract", "multiply", "divide", "negative", "conjugate", "real", "imag", "complex"})


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in double precision of the same kind."""
    return WIDER.get(dtype, dtype)


def widened(expr: Expr, bars: Collection[str]) -> Expr:
    """An expression linear in adjoints, which are double and converted to single where read, in double precision.

    Args:
        bars: the buffers of adjoints.
    """
    found: dict[Expr, Expr] = {}
    for node in postorder(expr):
        found[node] = _widened(node, found, bars)
    return found[expr]


def _widened(node: Expr, found: dict[Expr, Expr], bars: Collection[str]) -> Expr:
    if node.dtype.kind not in "fc":
        return node
    if not any(read.buffer in bars for read in node.reads):
        return _exact(node)
    if isinstance(node, Op) and node.name == "cast":
        (inner,) = node.args
        return cast(found[inner], wide(node.dtype))
    if isinstance(node, Op) and node.name == "select":
        condition, x, y = node.args
        return Op("select", (condition, found[x], found[y]), wide(node.dtype))
    if isinstance(node, Op) and node.name in LINEAR:
        return Op(node.name, tuple(found[arg] for arg in node.args), wide(node.dtype))
    return cast(node, wide(node.dtype))


def _exact(node: Expr) -> Expr:
    """A value of the program, the same in double precision."""
    if isinstance(node, Const):
        return Const(node.dtype.type(node.value).item(), wide(node.dtype))
    return cast(node, wide(node.dtype))
