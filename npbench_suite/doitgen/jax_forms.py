"""JAX forms of doitgen. The expert form multiplies once, with all fibres as the rows of one matrix."""

import jax.numpy as jnp


def port(NR, NQ, NP, A, C4):
    """The program's broadcast product."""
    rows = jnp.reshape(A, (NR, NQ, 1, NP))
    return A.at[:].set(jnp.reshape(rows @ C4, (NR, NQ, NP)))


def expert(NR, NQ, NP, A, C4):
    """One product of two matrices."""
    return (A.reshape(NR * NQ, NP) @ C4).reshape(NR, NQ, NP)
