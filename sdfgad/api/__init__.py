"""The public API: `differentiate` and the functions built on it."""

from sdfgad.api.check import CheckResult, check_grads
from sdfgad.api.differentiate import DifferentiatedProgram, differentiate
from sdfgad.api.functional import grad, value_and_grad
from sdfgad.api.higher import hessian, hvp, jacobian, jvp, vjp

__all__ = [
    "CheckResult",
    "DifferentiatedProgram",
    "check_grads",
    "differentiate",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "value_and_grad",
    "vjp",
]
