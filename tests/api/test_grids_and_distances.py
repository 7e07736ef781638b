"""Interpolation on regular grids, and distances between points: by values, points and coordinates."""

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator, interpn
from scipy.ndimage import map_coordinates
from scipy.sparse.linalg import spsolve
from scipy.spatial.distance import cdist, pdist, squareform

import sdfgad
from sdfgad.errors import ProgramRaises, SdfgadError
from tests.helpers import line_of

RNG = np.random.default_rng(2)
P, Q = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3))
GX, GY = np.array([0.0, 0.7, 1.5, 3.0]), np.array([-1.0, 0.0, 2.0])
VALUES, LAYERS = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3, 2))
AT = np.stack([RNG.uniform(0.1, 2.9, 6), RNG.uniform(-0.9, 1.9, 6)], axis=1)
IMAGE = RNG.normal(size=(6, 5))
PLACES = np.stack([RNG.uniform(-1.0, 6.0, 9), RNG.uniform(-1.0, 5.0, 9)])


def check(program, *args):
    np.testing.assert_allclose(sdfgad.differentiate(program).value(*args), program(*args), rtol=1e-12)
    sdfgad.check_grads(program, *args)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine"])
def test_metrics(metric):
    check(lambda p, q: np.sum(cdist(p, q, metric) ** 2) + np.sum(pdist(p, metric) ** 3), P, Q)


def test_distances_of_points_to_themselves():
    """Whose derivative is 0 where points are equal."""

    def program(p, q):
        D = squareform(pdist(p))
        return np.sum(cdist(p, q, "minkowski", p=3) ** 2) + np.sum(cdist(p, p)) + np.sum(np.exp(-D) + squareform(D)[0])

    check(program, P, Q)


@pytest.mark.parametrize("values", [VALUES, LAYERS], ids=["numbers", "layers"])
def test_grids(values):
    def program(v, at):
        linear, nearest = RegularGridInterpolator((GX, GY), v), RegularGridInterpolator((GX, GY), v, method="nearest")
        return np.sum(linear(at) ** 2) + np.sum(nearest(at) ** 2 * at[0, 0]) + np.sum(interpn((GX, GY), v, at))

    check(program, values, AT)


def test_points_outside():
    def program(v, at):
        beyond = RegularGridInterpolator((GX, GY), v, bounds_error=False, fill_value=None)(1.7 * at)
        filled = RegularGridInterpolator((GX, GY), v, bounds_error=False, fill_value=0.3)((1.3 * at[:, 0], at[:, 1]))
        return np.sum(beyond**2) + np.sum(filled**2)

    check(program, VALUES, AT)
    strict = sdfgad.differentiate(lambda v, at: np.sum(RegularGridInterpolator((GX, GY), v)(at)))
    assert np.isfinite(strict.value(VALUES, AT))
    with pytest.raises(ProgramRaises, match="outside of the grid"):
        strict.value(VALUES, 9.0 * AT)


def test_grids_of_one_axis_and_from_outside():
    made = RegularGridInterpolator((GX, GY), VALUES)
    check(lambda at: np.sum(made(at) ** 2), AT)
    check(lambda x, v: np.sum(RegularGridInterpolator((GX,), v)(x) ** 2), AT[:, 0], VALUES[:, 0])


LONG, WIDE = np.cumsum(RNG.uniform(0.3, 1.0, 9)), np.cumsum(RNG.uniform(0.3, 1.0, 8))
HEIGHTS = RNG.normal(size=(9, 8))
INNER = np.stack([RNG.uniform(LONG[0], LONG[-1], 9), RNG.uniform(WIDE[0], WIDE[-1], 9)], axis=1)
MADE = RegularGridInterpolator((LONG, WIDE), HEIGHTS, method="cubic")


@pytest.mark.slow
def test_splines_on_grids():
    """SciPy solves the equations of the spline directly, too, if it is asked to; by default to 1e-5 alone."""

    def program(v, at, x):
        cubic = RegularGridInterpolator((x, WIDE), v, method="cubic", solver=spsolve)
        pairs = np.stack([v, v * v], -1)
        quintic = RegularGridInterpolator((x, WIDE), pairs, "quintic", False, None, solver=spsolve)
        return np.sum(cubic(at) ** 2) + np.sum(quintic(at + 0.1) ** 2) * 1e-3 + np.sum(cubic(at, "slinear") ** 2)

    check(program, HEIGHTS, INNER, LONG)


@pytest.mark.slow
def test_derivatives_of_splines_on_grids():
    def program(at):
        return np.sum(MADE(at) ** 2 + MADE(at, nu=(1, 0)) * MADE(at, nu=(0, 2))) + np.sum(MADE(at, nu=(4, 0)))

    check(program, INNER)


@pytest.mark.parametrize("mode", ["constant", "nearest"])
def test_places_in_images(mode):
    def program(image, places):
        lines = map_coordinates(image, places, order=1, mode=mode, cval=0.5)
        return np.sum(lines**2) + np.sum(map_coordinates(image, places, order=0, mode=mode) ** 2) * places[0, 0]

    check(program, IMAGE, PLACES)


def pchip(v, at):
    return np.sum(RegularGridInterpolator((GX, GY), v, method="pchip")(at))


def of_few_points(v, at):
    return np.sum(RegularGridInterpolator((GX, GY), v, method="cubic")(at))


def slope_of_lines(v, at):
    return np.sum(RegularGridInterpolator((GX, GY), v)(at, nu=(1, 0)))


def test_points_that_descend():
    strict = sdfgad.differentiate(lambda x, v, at: np.sum(RegularGridInterpolator((x, GY), v, "linear", False)(at)))
    assert np.isfinite(strict.value(GX, VALUES, AT))
    with pytest.raises(ProgramRaises, match="do not ascend"):
        strict.value(GX[::-1].copy(), VALUES, AT)


def by_hamming(v, at):
    return np.sum(cdist(v, v, "hamming")) + np.sum(at)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (pchip, "Use 'linear', 'nearest', 'slinear', 'cubic' or 'quintic'"),
        (of_few_points, "Use 'linear'"),
        (slope_of_lines, "those of 'slinear', 'cubic' or 'quintic'"),
        (by_hamming, "Use 'euclidean'"),
    ],
)
def test_refusals(program, text):
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(program)(VALUES, AT)
    assert text in str(caught.value)
    assert str(caught.value.where) == line_of(program, "return")
