"""sdfgad: exact gradients of NumPy programs as they are written, at compiled speed.

>>> import numpy as np, sdfgad
>>> def energy(x):
...     return np.sum(x * x)
>>> sdfgad.differentiate(energy, wrt="x")(np.arange(3.0))  # doctest: +SKIP
array([0., 2., 4.])
"""

from sdfgad import errors
from sdfgad.api import CheckResult, DifferentiatedProgram, check_grads, differentiate, grad, value_and_grad
from sdfgad.api.compare import Comparison, ComparisonRow, compare
from sdfgad.cache import clear_cache
from sdfgad.runtime.pool import release_memory

__version__ = "0.1.0"
__all__ = [
    "CheckResult",
    "Comparison",
    "ComparisonRow",
    "DifferentiatedProgram",
    "check_grads",
    "clear_cache",
    "compare",
    "differentiate",
    "errors",
    "grad",
    "release_memory",
    "value_and_grad",
]
