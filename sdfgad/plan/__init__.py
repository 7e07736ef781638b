"""Plan: which values are stored and which are recomputed. Plain data: no dace here, and pulp in one file."""

from sdfgad.plan.plan import Decision, Moment, Plan

__all__ = ["Decision", "Moment", "Plan"]
