"""Masks of selections: whether selections share one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.parse.values import Selection, Tensor, as_tensor


def is_same_mask(x: Tensor, y: Tensor) -> bool:
    index = tuple(Lin.symbol(f"m{axis}_") for axis in range(x.ndim))
    return x.shape == y.shape and x.element(index) is y.element(index)


def common_mask(operands: Iterable[Any]) -> Tensor | None:
    """The mask that all selections among some operands share, if the others are single numbers."""
    operands = list(operands)
    selections = [operand for operand in operands if isinstance(operand, Selection)]
    first = selections[0]
    if not all(is_same_mask(first.mask, s.mask) and s.dense.ndim == first.dense.ndim for s in selections):
        return None
    others = [as_tensor(operand) for operand in operands if not isinstance(operand, Selection)]
    return first.mask if all(extent == Lin(1) for other in others for extent in other.shape) else None
