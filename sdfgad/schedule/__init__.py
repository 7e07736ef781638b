"""Schedule: loop order, threads, vectors and BLAS calls of statements, for optimiser, cost model and code
generators.
"""
