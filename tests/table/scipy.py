"""Filters, linear algebra and integrals of SciPy."""

import numpy as np

from tests.table.cases import Group

add = Group("scipy.ndimage, signal, linalg and integrate")

for mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
    for name in ("convolve", "correlate"):
        add(f"ndimage.{name}(x, y, mode='{mode}')", x="4x5", y="3x3", jax=None)
    add(f"ndimage.gaussian_filter(x, 0.7, mode='{mode}')", x="4x5", jax=None)
    add(f"ndimage.uniform_filter(x, 3, mode='{mode}')", x="4x5", jax=None)
    add(f"ndimage.laplace(x, mode='{mode}')", x="4x5", jax=None)
add("ndimage.convolve(x, y)", label="even weights", x="5 | 4x5", y="2 | 2x4", jax=None)
add("ndimage.convolve1d(x, y, axis=0)", x="5x2 | 5x2 transposed", y="3 | 4", jax=None)
add("ndimage.correlate1d(x, y)", x="5 | 2x5", y="3 | 4", jax=None)
add("ndimage.gaussian_filter1d(x, 0.8, order=1)", x="5", jax=None)
add("ndimage.gaussian_filter(x, 1.0, mode='constant', cval=0.5, truncate=2.0)", x="5x6", jax=None)
add("ndimage.uniform_filter1d(x, 2)", x="5", jax=None)
add("ndimage.sobel(x, axis=0)", x="4x5", jax=None)
add("ndimage.prewitt(x)", x="4x5", jax=None)

for mode in ("full", "same", "valid"):
    for name in ("convolve", "fftconvolve", "correlate"):
        known = "" if name != "fftconvolve" else None
        add(f"signal.{name}(x, y, mode='{mode}')", x="6 | 4x5", y="3 | 3x2", jax=known, tolerance=10)
    for name in ("convolve2d", "correlate2d"):
        add(f"signal.{name}(x, y, mode='{mode}')", x="4x5", y="3x2", jax=None)
for boundary in ("symm", "wrap"):
    add(f"signal.convolve2d(x, y, mode='same', boundary='{boundary}')", x="4x5", y="3x3", jax=None)
add("signal.lfilter(x, y, z)", x="3", y="2 positive", z="6 | 2x5", dtypes="d", jax=None)
add("signal.lfilter([0.5, 0.2], 1.0, x, axis=0)", x="5x2", dtypes="d", jax=None)

POSITIVE = "x @ x.T + np.eye(3)"
add("linalg.solve_triangular(x, y, lower=True)", x="3x3 square", y=["3", "3x2"][0], tolerance=10)
add("linalg.solve_triangular(x, y, trans='T')", x="3x3 square", y="3x2", jax=None, tolerance=10)
add("linalg.lu_solve(linalg.lu_factor(x), y)", x="3x3 square", y="3", tolerance=10)
add(f"linalg.cho_solve(linalg.cho_factor({POSITIVE}), y)", x="3x3", y="3", tolerance=100)
add(f"linalg.cho_solve((linalg.cholesky({POSITIVE}, lower=True), True), y)", x="3x3", y="3", tolerance=100)
add(f"linalg.cholesky({POSITIVE})", x="3x3", tolerance=10)
add("linalg.solve(x, y)", x="3x3 square", y="3", tolerance=10)
add("linalg.solve(x + x.T, y, assume_a='sym')", x="3x3 square", y="3", tolerance=10)
add("linalg.inv(x) * linalg.det(x)", x="3x3 square", tolerance=10)
add("linalg.eigh(x + x.T)[0]", x="3x3", tolerance=100)
add(f"linalg.eigh(x + x.T, {POSITIVE})[0]", x="3x3", jax=None, tolerance=100)
add("linalg.svdvals(x)", x="3x2", jax=None, tolerance=100)
add("linalg.expm(x)", x="3x3 | 2x3x3", jax=None, tolerance=100)
add("linalg.toeplitz(x, y)", x="3", y="4", jax=None)
add("linalg.toeplitz(x)", x="3", jax=None)
add("linalg.circulant(x)", x="4", jax=None)
add("linalg.block_diag(x, y)", x="2x2", y="1x3")
BAND = np.array([[0.0, 0.3, -0.2, 0.4], [2.1, 2.4, -2.3, 2.2], [0.5, -0.1, 0.3, 0.0]])
add("linalg.solve_banded((1, 1), b * x, y)", b=BAND, x="3x4 positive", y=["4", "4x2"][0], jax=None, dtypes="d")
add("linalg.solveh_banded(np.stack([0.3 * x, 2.0 + y]), z)", x="4", y="4 positive", z="4", jax=None, dtypes="d")

add("integrate.trapezoid(y, x)", y="5 | 2x5", x="5 rising")
add("integrate.simpson(y, x=x)", y="5 | 2x4", x="5 rising | 4 rising", jax=None)
add("integrate.simpson(x, dx=0.1, axis=0)", x="5x2 | 4x2", jax=None, dtypes="d")
add("integrate.cumulative_trapezoid(y, x, initial=0)", y="5", x="5 rising", jax=None)
