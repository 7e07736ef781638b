"""Sparsity pattern propagation: which elements of an input each element of a buffer depends on. It needs SciPy."""
