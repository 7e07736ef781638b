"""JAX forms of contour_integral. The expert form solves for all points in one batch; where Y has more columns than rows
it sums the inverses, with their signs, and multiplies with Y once."""

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


def _matrices(slab_per_bc, Ham, int_pts):
    """The matrices at all points, with integer powers where they are integers."""
    half, odd = divmod(slab_per_bc, 2)
    if odd:
        powers = int_pts[:, None] ** (slab_per_bc / 2 - jnp.arange(slab_per_bc + 1))
    else:
        inverse = 1.0 / int_pts
        powers = [int_pts ** (half - n) if n <= half else inverse ** (n - half) for n in range(slab_per_bc + 1)]
        powers = jnp.stack(powers, axis=1)
    return jnp.tensordot(powers, Ham, 1)


def expert(NR, NM, slab_per_bc, Ham, int_pts, Y):
    """A batch of inverses or solutions, and their signed sum."""
    matrices = _matrices(slab_per_bc, Ham, int_pts)
    signs = jnp.where(jnp.abs(int_pts) < 1.0, -1.0, 1.0)
    if NM < NR:
        X = jnp.linalg.solve(matrices, jnp.broadcast_to(Y, (int_pts.shape[0], NR, NM)))
        return jnp.tensordot(signs, X, 1)
    inverse = jnp.tensordot(signs, jnp.linalg.inv(matrices), 1)
    return inverse if NR == NM else inverse @ Y
