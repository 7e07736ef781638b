"""Horizontal diffusion of a field: the divergence of the fluxes of its Laplacian, where these go downhill."""

import numpy as np


def initialize(I, J, K, rng):
    # In units of 1/18, the values are close to multiples of 3 on the black squares of a chessboard and to those
    # plus 1 on the white ones. So no difference of neighbours, nor of their Laplacians, is close to a multiple
    # of 3: none has a sign that is in doubt.
    shape = (I + 4, J + 4, K)
    white = np.indices(shape)[:2].sum(axis=0) % 2
    return {
        "in_field": (3 * rng.integers(0, 6, shape) + white + rng.uniform(-0.02, 0.02, shape)) / 18,
        "out_field": rng.uniform(0, 1, (I, J, K)),
        "coeff": rng.uniform(0, 1, (I, J, K)),
    }


def hdiff(in_field, out_field, coeff):
    I, J = out_field.shape[0], out_field.shape[1]

    laplacian = 4.0 * in_field[1 : I + 3, 1 : J + 3, :] - (
        in_field[0 : I + 2, 1 : J + 3, :]
        + in_field[2 : I + 4, 1 : J + 3, :]
        + in_field[1 : I + 3, 0 : J + 2, :]
        + in_field[1 : I + 3, 2 : J + 4, :]
    )

    flux = laplacian[1:, 1 : J + 1, :] - laplacian[:-1, 1 : J + 1, :]
    uphill = flux * (in_field[2 : I + 3, 2 : J + 2, :] - in_field[1 : I + 2, 2 : J + 2, :]) > 0
    flux_x = np.where(uphill, 0, flux)

    flux = laplacian[1 : I + 1, 1:, :] - laplacian[1 : I + 1, :-1, :]
    uphill = flux * (in_field[2 : I + 2, 2 : J + 3, :] - in_field[2 : I + 2, 1 : J + 2, :]) > 0
    flux_y = np.where(uphill, 0, flux)

    out_field[:, :, :] = in_field[2 : I + 2, 2 : J + 2, :] - coeff[:, :, :] * (
        flux_x[1:, :, :] - flux_x[:-1, :, :] + flux_y[:, 1:, :] - flux_y[:, :-1, :]
    )
