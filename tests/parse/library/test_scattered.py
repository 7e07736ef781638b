"""Radial basis functions from outside of the program, and what of interpolation is refused."""

import numpy as np
import pytest
from scipy import interpolate

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import line_of, module_from

RNG = np.random.default_rng(5)
PLACES, VALUES, AT = RNG.normal(size=(9, 2)), RNG.normal(size=(9, 3)), RNG.normal(size=(4, 2))
MADE = interpolate.RBFInterpolator(PLACES, VALUES)
SMOOTH = interpolate.RBFInterpolator(PLACES, VALUES[:, 0], kernel="gaussian", epsilon=1.3, smoothing=0.1, degree=2)


def from_outside(at):
    return np.sum(MADE(at) ** 2) + np.sum(SMOOTH(at) * at[:, 0])


def test_radial_functions_from_outside():
    np.testing.assert_allclose(sdfgad.differentiate(from_outside).value(AT), from_outside(AT), rtol=1e-12)
    sdfgad.check_grads(from_outside, AT)


def at_the_centres(y, d):
    return np.sum(interpolate.RBFInterpolator(y, d, kernel="linear")(y) ** 2)


def test_values_at_the_centres():
    """Where the interpolant has the values, and a distance of 0 has the derivative 0."""
    value, (dy, dd) = sdfgad.differentiate(at_the_centres, wrt=("y", "d")).value_and_grad(PLACES, VALUES)
    np.testing.assert_allclose(value, np.sum(VALUES**2), rtol=1e-10)
    np.testing.assert_allclose(dy, 0.0, atol=1e-9)
    np.testing.assert_allclose(dd, 2 * VALUES, atol=1e-9)


HEAD = "import numpy as np\nfrom scipy import interpolate\n\n\n"
REFUSED = {
    "interpolate.RBFInterpolator(x[:, None], x, neighbors=3)(x[:, None])": "Leave it out",
    "interpolate.RBFInterpolator(x[:, None], x, kernel='gaussian')(x[:, None])": "epsilon for those that have a scale",
    "interpolate.RBFInterpolator(x[:, None], x, kernel='no')(x[:, None])": "needs the name of a kernel",
    "interpolate.RBFInterpolator(x[:, None], x, degree=-2)(x[:, None])": "a degree of at least -1",
    "interpolate.pchip_interpolate(x, x, x, der=[0, 1])[0]": "Loop over orders",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals(expression, tmp_path):
    module = module_from(f"{HEAD}def program(x):\n    return np.sum({expression})\n", tmp_path)
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(module.program)(np.linspace(0.2, 1.1, 8))
    assert REFUSED[expression] in str(caught.value)
    assert str(caught.value.where) == line_of(module.program, "return")
