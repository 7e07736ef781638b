"""The public API: `differentiate` and the functions built on it."""

from sdfgad.api.check import CheckResult, check_grads
from sdfgad.api.differentiate import DifferentiatedProgram, differentiate
from sdfgad.api.functional import grad, value_and_grad

__all__ = ["CheckResult", "DifferentiatedProgram", "check_grads", "differentiate", "grad", "value_and_grad"]
