"""sdfgad: exact gradients of NumPy programs as they are written, at compiled speed.

>>> import numpy as np, sdfgad
>>> def energy(x):
...     return np.sum(x * x)
>>> sdfgad.differentiate(energy, wrt="x")(np.arange(3.0))  # doctest: +SKIP
array([0., 2., 4.])
"""

from sdfgad import errors
from sdfgad.api import (
    CheckResult,
    DifferentiatedProgram,
    check_grads,
    differentiate,
    fixed_point,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    root,
    stop_gradient,
    value_and_grad,
    vjp,
)
from sdfgad.api.compare import Comparison, ComparisonRow, compare
from sdfgad.cache import clear_cache
from sdfgad.errors import (
    AmbiguousArray,
    ArgumentError,
    CacheError,
    CacheWarning,
    CompilerError,
    GradientMismatch,
    IgnoredPrint,
    InfeasibleBudget,
    InvalidIndex,
    InvalidProgram,
    MiscompiledWarning,
    MissingRule,
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

__version__ = "0.1.0"
__all__ = [
    "AmbiguousArray",
    "ArgumentError",
    "CacheError",
    "CacheWarning",
    "CheckResult",
    "Comparison",
    "ComparisonRow",
    "CompilerError",
    "DifferentiatedProgram",
    "Explanation",
    "GradientMismatch",
    "IgnoredPrint",
    "InfeasibleBudget",
    "InvalidIndex",
    "InvalidProgram",
    "MiscompiledWarning",
    "MissingRule",
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
    "clear_cache",
    "compare",
    "differentiate",
    "errors",
    "explain",
    "fixed_point",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "release_memory",
    "root",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
