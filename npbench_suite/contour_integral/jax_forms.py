"""JAX forms of contour_integral."""

import jax.numpy as jnp
from jax import lax


def port(NR, NM, slab_per_bc, Ham, int_pts, Y):
    """The program's loop over the points."""

    def point(k, moments):
        zeroth, first = moments
        z = int_pts[k]
        matrix = jnp.zeros((NR, NR), dtype=jnp.complex128)
        for n in range(slab_per_bc + 1):
            matrix += jnp.power(z, slab_per_bc / 2 - n) * Ham[n]
        X = jnp.linalg.inv(matrix) if NR == NM else jnp.linalg.solve(matrix, Y)
        X = jnp.where(jnp.abs(z) < 1.0, -X, X)
        return zeroth + X, first + z * X

    zero = jnp.zeros((NR, NM), dtype=jnp.complex128)
    return lax.fori_loop(0, int_pts.shape[0], point, (zero, zero))[0]
