"""Answers of an integer-programming solver, and the effort (time, tolerance, model size) that it is allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sdfgad.plan.problem import Solution


@dataclass(frozen=True)
class Answer:
    """What the solver found.

    Attributes:
        solution: the best one, replayed by the simulator; None if there is none.
        status: "optimal"; "infeasible": proved that there is no solution; "feasible": the best of the choices in the
            model, from which some were left out; "unknown": no solution among these; "time limit", with a solution or
            without one; "too large": the model is too large for the solver; "failed": the solver broke down.
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
    """Limits for the solver.

    Attributes:
        deadline: until when it may run, by `time.perf_counter`.
        tolerance: the relative gap at which it may stop.
        most: the most integer variables of a model that it is given.
    """

    solver: str
    deadline: float
    tolerance: float
    most: float = math.inf


def left_out(answer: Answer) -> Answer:
    """The answer if choices were left out of the model: optimality and infeasibility are not proved."""
    status = {"optimal": "feasible", "infeasible": "unknown"}.get(answer.status, answer.status)
    return Answer(answer.solution, status, None, answer.seconds)
