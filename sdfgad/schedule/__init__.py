"""Schedule: loop order, threads, vectors and BLAS calls of statements, for the optimiser and the code generators."""
