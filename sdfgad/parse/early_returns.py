"""Returns out of loops and branches: what they return is fixed, though the statements after them are parsed, too.

In ``if error < tol: return x`` of a loop that updates `x`, the name of the result would stand for an array that later
trips update, in the program's text. But none of them runs. So, where the parser cannot tell, a copy is returned.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from sdfgad.parse import trees
from sdfgad.parse.escape import outlives, refers_to
from sdfgad.parse.frame import Frame
from sdfgad.parse.jumps import RESULT
from sdfgad.parse.values import Tensor


def fixed_result(frame: Frame, node: ast.Assign, value: Any) -> Any:
    """The value of an assignment; a result with copies of arrays to which nothing refers that outlives the call."""
    is_inner = len(frame.b.blocks) != frame.entered
    if not (is_inner and all(map(_is_result, node.targets))):
        return value
    frame.b.returns_arrays |= any(isinstance(leaf, Tensor) and leaf.ndim for leaf in trees.leaves(value))
    if not frame.b.copies_returned:
        return value
    kept = [one for name, one in frame.env.items() if not isinstance(one, Tensor) or name in frame.source.captured]
    counts = Counter(str(leaf.buffer) for leaf in trees.leaves(value) if isinstance(leaf, Tensor))

    def fixed(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or not leaf.ndim or leaf.place is None:
            return leaf
        buffer = str(leaf.buffer)
        is_used = buffer in frame.caller_buffers or counts[buffer] > 1 or any(refers_to(one, buffer) for one in kept)
        return leaf if is_used or outlives(frame, buffer) else frame.b.stored(leaf)

    return trees.mapped(value, fixed, {})


def _is_result(target: ast.expr) -> bool:
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(name, ast.Name) and name.id.startswith(RESULT) for name in names)
