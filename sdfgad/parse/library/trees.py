"""The numbers in containers, as vectors."""

from __future__ import annotations

from typing import Any

import numpy as np


def floats_in(value: Any, like: Any) -> Any:
    """The floating arrays and numbers in a container, each as a vector; `like` has them where this has cotangents."""
    if isinstance(like, dict):
        return [part for key in like for part in floats_in(value[key], like[key])]
    if isinstance(like, (list, tuple)):
        return [part for one, other in zip(value, like, strict=True) for part in floats_in(one, other)]
    return [np.ravel(value)] if is_floating(like) else []


def is_floating(value: Any) -> Any:
    is_number = isinstance(value, (float, np.generic, np.ndarray))
    return is_number and np.issubdtype(np.asarray(value).dtype, np.floating)


def with_floats(like: Any, numbers: Any) -> Any:
    """A container with the elements of a vector in place of its floating arrays and numbers, and None for the rest."""
    return _filled(like, numbers, 0)[0]


def _filled(like: Any, numbers: Any, first: Any) -> Any:
    if isinstance(like, dict):
        made: Any = {}
        for key in like:
            made[key], first = _filled(like[key], numbers, first)
        return made, first
    if isinstance(like, (list, tuple)):
        parts: list[Any] = []
        for one in like:
            part, first = _filled(one, numbers, first)
            parts.append(part)
        return (tuple(parts) if isinstance(like, tuple) else parts), first
    if not is_floating(like):
        return None, first
    size = np.size(like)
    return np.reshape(numbers[first : first + size], np.shape(like)), first + size
