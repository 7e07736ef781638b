"""Schedule: loop order, threads, vectors and BLAS calls of statements, as optimiser and code generators need them."""
