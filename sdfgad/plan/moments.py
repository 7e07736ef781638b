"""Memory over time: the bytes held at each statement of the user's program, forward and in reverse."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """The bytes held while one statement of the user's program runs, or is reversed."""

    label: str
    bytes: int


def without_folder(source: str) -> str:
    """A line without its folder: ``/home/me/heat.py:3: y = a / b`` becomes ``heat.py:3: y = a / b``."""
    # A slash in the line itself is no part of the path.
    place = re.search(r":\d+: ", source)
    end = place.start() if place else 0
    return re.sub(r"/.*/|\S*/", "", source[:end]) + source[end:]


def peak_of(moments: Sequence[Moment]) -> Moment:
    """The first moment with the most bytes."""
    return max(moments, key=lambda moment: moment.bytes)
