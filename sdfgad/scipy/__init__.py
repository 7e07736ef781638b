"""SciPy's optimisers with exact derivatives of NumPy programs, and vectors of containers for them.

>>> import numpy as np, sdfgad.scipy
>>> def loss(p, t, y):
...     return np.sum((p["a"] * np.exp(-p["k"] * t) - y) ** 2)
>>> sdfgad.scipy.minimize(loss, {"a": 1.0, "k": 1.0}, (t, y)).x  # doctest: +SKIP
{'a': 2.5, 'k': 0.3}
"""

from sdfgad.errors import MissingPackage

try:
    import scipy as _  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingPackage("SciPy", "scipy", "scipy") from error

from sdfgad.scipy.objective import Objective, objective
from sdfgad.scipy.solvers import NonlinearConstraint, curve_fit, least_squares, minimize, root

__all__ = ["NonlinearConstraint", "Objective", "curve_fit", "least_squares", "minimize", "objective", "root"]
