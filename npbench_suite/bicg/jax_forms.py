"""JAX forms of bicg. The expert form splits the rows in two batches: XLA then writes the gradient of A, an outer
product, in A's own layout, where it transposes and copies it for the plain product."""

import jax.numpy as jnp


def port(A, p, r):
    """The program's first product; the second one is not the main output."""
    return r @ A


def expert(A, p, r):
    """The first product as a sum over two halves of the rows."""
    if r.size % 2:
        return r @ A
    return jnp.einsum("kn,knm->km", r.reshape(2, -1), A.reshape(2, -1, A.shape[1])).sum(0)
