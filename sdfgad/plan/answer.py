"""Answers of an integer-programming solver, and the effort that it may make for them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sdfgad.plan.problem import Solution


@dataclass(frozen=True)
class Answer:
    """What the solver found.

    Attributes:
        solution: the best one, replayed by the simulator; None if there is none.
        status: "optimal"; "infeasible": provably without solution; "feasible": the best of those that were looked at,
            but choices were left out; "unknown": nothing among those; "time limit", with a solution or without one;
            "too large": there is too much to decide for the solver to be asked; "failed": the solver broke down.
        gap: how far the objective may be from the best, as a fraction of it; None if that is unknown.
        seconds: how long it took.
    """

    solution: Solution | None
    status: str
    gap: float | None
    seconds: float


FAILED = Answer(None, "failed", None, 0.0)


@dataclass(frozen=True)
class Effort:
    """What the solver may do.

    Attributes:
        deadline: until when it may go on, by `time.perf_counter`.
        tolerance: how far from the best, as a fraction, is good enough.
        most: it is not asked about models with more whole variables.
    """

    solver: str
    deadline: float
    tolerance: float
    most: float = math.inf


def left_out(answer: Answer) -> Answer:
    """The answer where choices were left out: no proof."""
    status = {"optimal": "feasible", "infeasible": "unknown"}.get(answer.status, answer.status)
    return Answer(answer.solution, status, None, answer.seconds)
