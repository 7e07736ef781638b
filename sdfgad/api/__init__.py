"""The public API: `differentiate` and the functions built on it."""

from sdfgad.api import within as _within
from sdfgad.api import within_linear as _within_linear
from sdfgad.api.batching import vmap
from sdfgad.api.check import CheckResult, check_grads
from sdfgad.api.checkpoint import checkpoint
from sdfgad.api.continuous import solve_ivp
from sdfgad.api.custom_jvp import custom_jvp
from sdfgad.api.custom_vjp import custom_vjp
from sdfgad.api.differentiate import DifferentiatedProgram, differentiate
from sdfgad.api.functional import grad, value_and_grad
from sdfgad.api.higher import hvp, jvp, linearize, vjp
from sdfgad.api.matrices import hessian, jacobian
from sdfgad.api.patterns import sparsity
from sdfgad.parse.functions.callbacks import pure_callback
from sdfgad.parse.functions.special import stop_gradient
from sdfgad.parse.library.implicit import fixed_point, root

# Importing them lets programs call jvp, hvp, vjp and linearize.
assert _within
assert _within_linear

__all__ = [
    "CheckResult",
    "DifferentiatedProgram",
    "check_grads",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "differentiate",
    "fixed_point",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "linearize",
    "pure_callback",
    "root",
    "solve_ivp",
    "sparsity",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]
