"""Singular vectors and pseudo-inverses of matrices whose columns have different units, as in camera calibration."""

import numpy as np

import sdfgad

UNITS = np.array([1e6, 1e5, 1e3, 1.0])
A = np.random.default_rng(3).standard_normal((9, 4)) * UNITS
# Nearly singular: what is solved for is the null vector.
A[:, 3] += -A[:, :3] @ np.array([2e-6, -3e-5, 4e-3]) - A[:, 3] * (1.0 - 1e-2)


def null_vectors(a):
    b = np.linalg.svd(a)[2][-1]
    c = np.linalg.svd(a.T, full_matrices=False)[0][:, -1]
    return np.sum(b / b[3] * UNITS) + np.sum(np.cos(c / c[3] * UNITS))


def solved(a):
    return np.sum(np.linalg.pinv(a)[3, :3]) + np.sum(np.linalg.pinv(a.T)[3:6, 3])


def test_badly_scaled_columns():
    direction = np.random.default_rng(4).standard_normal(A.shape) * np.abs(A)
    for function in (null_vectors, solved):
        slope = np.sum(sdfgad.differentiate(function, wrt="a")(A) * direction)
        one, half = ((function(A + h * direction) - function(A - h * direction)) / (2.0 * h) for h in (1e-5, 5e-6))
        np.testing.assert_allclose(slope, (4.0 * half - one) / 3.0, rtol=1e-6)
