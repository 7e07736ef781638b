"""Horizontal diffusion in JAX, to time gradients of.

The expert form takes every difference once, of as little of the field as is needed, and no slice that is not used.
"""

import jax.numpy as jnp
from jax import lax


def port(in_field, out_field, coeff):
    """The program, statement by statement."""
    I, J = out_field.shape[0], out_field.shape[1]

    laplacian = 4.0 * in_field[1 : I + 3, 1 : J + 3, :] - (
        in_field[0 : I + 2, 1 : J + 3, :]
        + in_field[2 : I + 4, 1 : J + 3, :]
        + in_field[1 : I + 3, 0 : J + 2, :]
        + in_field[1 : I + 3, 2 : J + 4, :]
    )

    flux = laplacian[1:, 1 : J + 1, :] - laplacian[:-1, 1 : J + 1, :]
    uphill = flux * (in_field[2 : I + 3, 2 : J + 2, :] - in_field[1 : I + 2, 2 : J + 2, :]) > 0
    flux_x = jnp.where(uphill, 0, flux)

    flux = laplacian[1 : I + 1, 1:, :] - laplacian[1 : I + 1, :-1, :]
    uphill = flux * (in_field[2 : I + 2, 2 : J + 3, :] - in_field[2 : I + 2, 1 : J + 2, :]) > 0
    flux_y = jnp.where(uphill, 0, flux)

    return out_field.at[:, :, :].set(
        in_field[2 : I + 2, 2 : J + 2, :]
        - coeff[:, :, :] * (flux_x[1:, :, :] - flux_x[:-1, :, :] + flux_y[:, 1:, :] - flux_y[:, :-1, :])
    )


def difference(x, axis):
    """The differences of neighbours, in slices along one axis only."""
    n = x.shape[axis]
    return lax.slice_in_dim(x, 1, n, axis=axis) - lax.slice_in_dim(x, 0, n - 1, axis=axis)


def limited(laplacian, field, axis):
    """The differences of the limited fluxes along an axis."""
    flux = difference(laplacian, axis)
    return difference(jnp.where(flux * difference(field, axis) > 0, 0.0, flux), axis)


def expert(in_field, out_field, coeff):
    """The same, of the inner parts of the field only."""
    f = in_field
    inner = f[1:-1, 1:-1]
    laplacian = 4.0 * inner - f[:-2, 1:-1] - f[2:, 1:-1] - f[1:-1, :-2] - f[1:-1, 2:]
    x = limited(laplacian[:, 1:-1], inner[:, 1:-1], 0)
    y = limited(laplacian[1:-1], inner[1:-1], 1)
    return inner[1:-1, 1:-1] - coeff * (x + y)
