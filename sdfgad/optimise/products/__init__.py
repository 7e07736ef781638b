"""Matrix products (GEMM): which sums become calls of BLAS, with what operands, in and out of loops."""
