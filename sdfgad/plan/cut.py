"""Strip-mined statements: which statements of a gradient program run in pieces, where only that lowers the peak."""

from __future__ import annotations

from dataclasses import dataclass

from sdfgad.errors import Location


@dataclass(frozen=True)
class Cut:
    """A group of statements of a program's body that is strip-mined.

    Attributes:
        span: the first and the last position between which the statements were.
        length, width: of the axis that is cut, and of a piece.
        axes: buffer -> the axis that is cut.
        held: the buffers of which one piece at a time is held.
        where: the user's line that the first of the statements belongs to.
    """

    span: tuple[int, int]
    length: int
    width: int
    axes: tuple[tuple[str, int], ...]
    held: tuple[str, ...]
    where: Location | None
