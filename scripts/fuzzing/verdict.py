"""What came of checking a program."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from sdfgad import errors

# Errors that say what the engine cannot do. All others say that the program does something wrong, which it does not.
REFUSALS = (errors.UnsupportedProgram, errors.MissingRule)


@dataclass
class Verdict:
    """The result of one program.

    Attributes:
        status: "right", "refused", "unjudged" (right values, but differences are unclear), "rejected" (NumPy's values
            are large or not finite), or "failed".
        kind: of a refusal or failure; equal for what is alike.
        detail: all there is to say.
        notes: what is counted besides: name -> number.
        culprits: of a batch of expressions, those that failed: name -> kind and detail.
    """

    seed: int
    status: str = "right"
    kind: str = ""
    detail: str = ""
    notes: dict[str, float] = field(default_factory=dict)
    culprits: dict[str, tuple[str, str]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @property
    def is_failure(self) -> bool:
        return self.status == "failed"

    def is_like(self, other: Verdict) -> bool:
        """Whether this fails in the same way."""
        return self.is_failure and other.is_failure and self.kind == other.kind

    def note(self, name: str, number: float = 1) -> None:
        """Count something."""
        self.notes[name] = self.notes.get(name, 0) + number


def of_error(seed: int, error: errors.SdfgadError) -> Verdict:
    """A refusal, if the error is one and names a line; else a failure."""
    name = type(error).__name__
    kind = f"{name}: {_general(error.what.partition(chr(10))[0])}"
    if not isinstance(error, REFUSALS):
        return Verdict(seed, "failed", kind, f"NumPy runs the program, but:\n{error}")
    places = [error.where] if error.where else [w for _, w in getattr(error, "operations", ()) if w]
    if not places:
        return Verdict(seed, "failed", f"no line: {kind}", f"a refusal that names no line:\n{error}")
    return Verdict(seed, "refused", kind, str(error))


def _general(text: str) -> str:
    """A message without names and numbers."""
    return re.sub(r"-?\d+", "#", re.sub(r"`[^`]*`", "`...`", text))[:120]
