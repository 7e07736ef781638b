"""Plan: the decision which values are stored and which recomputed. Plain data: no dace here, and pulp in one file."""

from sdfgad.plan.moments import Moment
from sdfgad.plan.plan import Decision, Plan

__all__ = ["Decision", "Moment", "Plan"]
