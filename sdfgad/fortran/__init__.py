"""Fortran in: gradients of subroutines and functions as they are written.

>>> import numpy as np
>>> from sdfgad import fortran
>>> g = fortran.differentiate("heat.f90", "heat_1d", wrt=("u", "a"), output="cost")  # doctest: +SKIP
>>> gradients = g(steps=10, u=np.ones(50), a=np.full(50, 0.1))  # doctest: +SKIP
>>> gradients["u"].shape  # doctest: +SKIP
(50,)
"""

from sdfgad.errors import UnsupportedProgram
from sdfgad.fortran.subroutine import DifferentiatedSubroutine, check_grads, differentiate

__all__ = ["DifferentiatedSubroutine", "UnsupportedProgram", "check_grads", "differentiate"]
