"""QR factorisation in JAX, by Householder reflections."""

import jax.numpy as jnp


def reference(A):
    Q, R = jnp.linalg.qr(A)
    # The factorisation that has a positive diagonal in R.
    signs = jnp.sign(jnp.diagonal(R))
    Q, R = Q * signs, R * signs[:, None]
    return {"return[0]": Q, "return[1]": R, "A": Q * jnp.diagonal(R)}
