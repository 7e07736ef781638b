"""Multiresolution analysis in JAX."""

import jax.numpy as jnp


def reference(NR, NQ, NP, A, C4):
    return {"A": jnp.einsum("rqp,ps->rqs", A, C4)}
