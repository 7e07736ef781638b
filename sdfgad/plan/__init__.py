"""Plan: which residuals are stored and which are recomputed. Pure data: no dace here."""

from sdfgad.plan.plan import Decision, Plan, store_all

__all__ = ["Decision", "Plan", "store_all"]
