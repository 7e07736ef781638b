"""sdfgad: exact gradients of NumPy programs as they are written, at compiled speed.

>>> import numpy as np, sdfgad
>>> def energy(x):
...     return np.sum(x * x)
>>> sdfgad.differentiate(energy, wrt="x")(np.arange(3.0))  # doctest: +SKIP
array([0., 2., 4.])
"""

import importlib
from types import ModuleType

from sdfgad import errors
from sdfgad.api import (
    CheckResult,
    DifferentiatedProgram,
    check_grads,
    checkpoint,
    custom_jvp,
    custom_vjp,
    differentiate,
    fixed_point,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    linearize,
    pure_callback,
    root,
    solve_ivp,
    sparsity,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)
from sdfgad.api.compare import Comparison, ComparisonRow, compare
from sdfgad.cache import clear_cache
from sdfgad.errors import (
    AmbiguousArray,
    ArgumentError,
    BisectionWarning,
    CacheError,
    CacheWarning,
    CompilerError,
    DecidedByRounding,
    DeviceError,
    DivisionByZero,
    GradientMismatch,
    IgnoredPrint,
    InfeasibleBudget,
    InvalidIndex,
    InvalidProgram,
    MiscompiledWarning,
    MissingPackage,
    MissingRule,
    NoneUsed,
    NotHolomorphic,
    NotImportable,
    OutOfMemory,
    OutputError,
    ProgramRaises,
    PythonRaises,
    Rebound,
    SdfgadError,
    ShapeMismatch,
    SingularMatrix,
    TooFewSlots,
    UnboundVariable,
    UnsupportedGraph,
    UnsupportedProgram,
    UnusedArgument,
    UpdateOfCopy,
    WrtError,
)
from sdfgad.explain.explain import Explanation, explain
from sdfgad.runtime.pool import release_memory

__version__ = "0.2.0"
__all__ = [
    "AmbiguousArray",
    "ArgumentError",
    "BisectionWarning",
    "CacheError",
    "CacheWarning",
    "CheckResult",
    "Comparison",
    "ComparisonRow",
    "CompilerError",
    "DecidedByRounding",
    "DeviceError",
    "DifferentiatedProgram",
    "DivisionByZero",
    "Explanation",
    "GradientMismatch",
    "IgnoredPrint",
    "InfeasibleBudget",
    "InvalidIndex",
    "InvalidProgram",
    "MiscompiledWarning",
    "MissingPackage",
    "MissingRule",
    "NoneUsed",
    "NotHolomorphic",
    "NotImportable",
    "OutOfMemory",
    "OutputError",
    "ProgramRaises",
    "PythonRaises",
    "Rebound",
    "SdfgadError",
    "ShapeMismatch",
    "SingularMatrix",
    "TooFewSlots",
    "UnboundVariable",
    "UnsupportedGraph",
    "UnsupportedProgram",
    "UnusedArgument",
    "UpdateOfCopy",
    "WrtError",
    "check_grads",
    "checkpoint",
    "clear_cache",
    "compare",
    "custom_jvp",
    "custom_vjp",
    "differentiate",
    "errors",
    "explain",
    "fixed_point",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "linearize",
    "pure_callback",
    "release_memory",
    "root",
    "solve_ivp",
    "sparsity",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]

# Modules that need packages of their own, imported where they are first used.
_BRIDGES = frozenset({"distributed", "fortran", "jax", "onnx", "scipy", "torch"})


def __getattr__(name: str) -> ModuleType:
    if name in _BRIDGES:
        return importlib.import_module(f"sdfgad.{name}")
    raise AttributeError(f"module 'sdfgad' has no attribute {name!r}")
