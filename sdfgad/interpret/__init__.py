"""Interpretation of programs in Python and NumPy, without compiling them."""
