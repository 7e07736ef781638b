"""A memory plan: one decision per residual."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

STORE = "store"


@dataclass(frozen=True)
class Decision:
    """What happens to one residual.

    Attributes:
        name: the value, as the user named it.
        source: the user's line that overwrites it, as ``file.py:12: text``.
        bytes: the size of its tape, or None while it depends on run-time integers.
        choice: "store".
        seconds: predicted cost of the choice.
        reason: why.
    """

    name: str
    source: str
    bytes: int | None
    choice: str
    seconds: float
    reason: str


@dataclass(frozen=True)
class Plan:
    """Decisions by residual key, in program order."""

    decisions: Mapping[Hashable, Decision]

    def choice(self, key: Hashable) -> str:
        return self.decisions[key].choice


def store_all(residuals: Iterable[tuple[Hashable, str, str]]) -> Plan:
    """Keep every residual in a tape.

    Args:
        residuals: key, name and source line of each.
    """
    reason = "every residual is stored"
    return Plan({key: Decision(name, source, None, STORE, 0.0, reason) for key, name, source in residuals})
