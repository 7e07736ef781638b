"""The NumPy and Python functions that the parser knows; importing this package registers them all."""

from sdfgad.frontend.functions import contraction, creation, elementwise, python, reduction, shape

__all__ = ["contraction", "creation", "elementwise", "python", "reduction", "shape"]
