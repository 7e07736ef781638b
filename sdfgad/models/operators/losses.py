"""Losses of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.models.operators.activations import log_softmax

Array = Any


def negative_log_likelihood_loss(
    x: Array, target: Array, weight: Array = None, *, ignore_index: Any = None, reduction: str = "mean"
) -> Array:
    """The negative of what is there for the target classes (batch × classes × …), weighted.

    Its "mean" is over the weights; targets that are `ignore_index` have none.
    """
    kept = target if ignore_index is None else np.where(target == ignore_index, 0, target)
    each = -np.squeeze(np.take_along_axis(x, np.expand_dims(kept, 1), 1), 1)
    factor = np.ones(target.shape, x.dtype) if weight is None else weight[kept]
    if ignore_index is not None:
        factor = np.where(target == ignore_index, 0.0, factor)
    if reduction == "none":
        return each * factor
    return np.sum(each * factor) if reduction == "sum" else np.sum(each * factor) / np.sum(factor)


def softmax_cross_entropy_loss(
    x: Array, target: Array, weight: Array = None, *, ignore_index: Any = None, reduction: str = "mean"
) -> tuple[Array, Array]:
    """The loss of scores, and their `log_softmax`."""
    scores = log_softmax(x, axis=1)
    return (
        negative_log_likelihood_loss(scores, target, weight, ignore_index=ignore_index, reduction=reduction),
        scores,
    )
