"""How far a run has come, in a file: a run that is cut off goes on from there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scripts.fuzzing.verdict import Verdict


@dataclass
class State:
    """The totals of a run.

    Attributes:
        first, following: the first seed, and the one after the last that was checked.
        seconds: of the clock, of all parts of the run together; `phases` are the processor's.
        statuses, refusals, notes: how many there were of each kind; `examples` has a seed for each kind of refusal.
        failures: seed -> what failed, and where its test is.
    """

    first: int
    following: int
    seconds: float = 0.0
    statuses: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)
    examples: dict[str, int] = field(default_factory=dict)
    notes: dict[str, float] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def programs(self) -> int:
        """How many were checked; those that NumPy itself cannot compute do not count."""
        return sum(number for status, number in self.statuses.items() if status != "rejected")

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Count verdicts."""
        for verdict in verdicts:
            self.statuses[verdict.status] = self.statuses.get(verdict.status, 0) + 1
            if verdict.status == "refused":
                self.refusals[verdict.kind] = self.refusals.get(verdict.kind, 0) + 1
                self.examples.setdefault(verdict.kind, verdict.seed)
            for name, number in verdict.notes.items():
                old = self.notes.get(name, 0)
                self.notes[name] = max(old, number) if name == "largest" else old + number

    def add_seconds(self, phases: Mapping[str, float]) -> None:
        """Count the processor's seconds."""
        for phase, used in phases.items():
            self.phases[phase] = self.phases.get(phase, 0) + used

    def save(self, path: Path) -> None:
        """Write the file; a process that is killed meanwhile leaves the old one."""
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(self), indent=1))
        os.replace(partial, path)


def state_in(path: Path, first: int) -> State:
    """The state that a file holds, or that of a run that begins.

    Raises:
        ValueError: the file is of a run from another seed.
    """
    if not path.exists():
        return State(first, first)
    found = State(**json.loads(path.read_text()))
    if found.first != first:
        raise ValueError(f"{path} is of a run from seed {found.first}; pass --seed {found.first}, or another --folder")
    return found
