"""Sums of products: contraction order, common factors, and which of them become matrix products (GEMM)."""
