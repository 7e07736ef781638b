"""Functions of scipy.special by elementary ones, and those over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.special import held
from sdfgad.parse.registry import optional


@optional("scipy.special", "softmax", is_definition=True)
def softmax(x: Any, axis: Any = None) -> Any:
    powers = np.exp(x - held(np.max(x, axis=axis, keepdims=True)))
    return powers / np.sum(powers, axis=axis, keepdims=True)


@optional("scipy.special", "log_softmax", is_definition=True)
def log_softmax(x: Any, axis: Any = None) -> Any:
    top = held(np.max(x, axis=axis, keepdims=True))
    shifted = x - np.where(np.isfinite(top), top, 0)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@optional("scipy.special", "logsumexp", is_definition=True)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False) -> Any:
    a = a if b is None else np.where(b == 0, -np.inf, a)
    top = held(np.max(a, axis=axis, keepdims=True))
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(a - top) if b is None else b * np.exp(a - top)
    total = np.log(np.sum(powers, axis=axis, keepdims=True)) + top
    return total if keepdims else np.sum(total, axis=axis)
