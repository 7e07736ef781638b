"""Values between and beyond the elements of images, of all orders and modes, against SciPy; nothing is compiled."""

import numpy as np
import pytest
from scipy import ndimage

from sdfgad.parse.library.image_splines import CONTINUED
from tests.helpers import module_from
from tests.helpers_ir import outputs_of, parsed

RNG = np.random.default_rng(3)
IMAGE = RNG.normal(size=(30, 27))
HALVES = RNG.integers(-40, 100, (2, 40)) / 2
PLACES = np.concatenate([RNG.uniform(-20, 50, (2, 40)), RNG.uniform(0, 26, (2, 20)), HALVES], axis=1)
HEAD = "import numpy as np\nfrom scipy import ndimage\n\n\n"


def assert_like_scipy(text, folder, tolerance=1e-12, **arguments):
    program = module_from(f"{HEAD}def program({', '.join(arguments)}):\n    return {text}\n", folder).program
    found = outputs_of(parsed(program, *arguments.values()), *arguments.values())["return"]
    expected = program(**arguments)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, tolerance, tolerance)


@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("mode", sorted(CONTINUED))
def test_places(mode, order, tmp_path):
    """Coordinates that are whole and half numbers, too, where the order 0 has a choice."""
    text = f"ndimage.map_coordinates(x, y, order={order}, mode='{mode}', cval=0.7)"
    assert_like_scipy(text, tmp_path, x=IMAGE, y=PLACES)


@pytest.mark.parametrize("mode", ["grid-mirror", "grid-constant", "grid-wrap", "nearest"])
def test_zoom_of_a_grid(mode, tmp_path):
    for order in (0, 1, 3):
        text = f"ndimage.zoom(x, (1.7, 0.6), order={order}, mode='{mode}', cval=0.7, grid_mode=True)"
        assert_like_scipy(text, tmp_path, x=IMAGE)


TEXTS = [
    "ndimage.map_coordinates(x[:, :1], [[0.2, 1.7, 8.0], [0.0, 0.0, 0.0]], mode='mirror')",
    "ndimage.map_coordinates(x[:, :1], [[0.2, 1.7, 8.0], [-0.2, 0.0, 0.4]], mode='wrap', order=1)",
    "ndimage.map_coordinates(x[:, :2], [[0.2, 1.7, 8.0], [-0.2, 0.0, 1.4]], mode='mirror', order=5)",
    "ndimage.map_coordinates(x * (1 + 2j), [[0.2, 1.7, 8.0], [-0.2, 0.0, 1.4]], mode='grid-constant', cval=0.3 + 1j)",
    "ndimage.map_coordinates(x.astype(np.float32), [[0.2, 1.7, 8.0], [-0.2, 0.0, 1.4]], mode='grid-wrap')",
    "ndimage.map_coordinates(x, np.zeros((2, 3, 2)) + 0.4, prefilter=False)",
    "ndimage.shift(x, 0.0, order=1)",
    "ndimage.shift(x, [1, -3], order=0, cval=np.nan)",
    "ndimage.zoom(x, 1)",
    "ndimage.zoom(x, [0.04, 1.0], mode='nearest')",
    "ndimage.rotate(x, 90)",
    "ndimage.rotate(x, 40, axes=(0, -1), order=0, mode='reflect')",
    "ndimage.rotate(x.reshape(5, 6, 27), -20.0, axes=(2, 0), order=1, reshape=False)",
    "ndimage.affine_transform(x, np.array([[0.9, 0.1, 1.0], [-0.2, 1.1, 0.5]]), mode='constant', cval=2.0)",
    "ndimage.affine_transform(x, np.array([[0.9, 0.1, 1.0], [-0.2, 1.1, 0.5], [0.0, 0.0, 1.0]]), order=1)",
    "ndimage.affine_transform(x, np.array([1.1, 0.9]), [0.5, 1.0], (4, 5), order=1, mode='grid-wrap')",
    "ndimage.spline_filter(x.astype(np.float32), 5)",
    "ndimage.spline_filter1d(x, 4, 0, mode='grid-wrap') + ndimage.spline_filter1d(x, 1)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_transformations(text, tmp_path):
    assert_like_scipy(text, tmp_path, x=IMAGE)


def test_few_elements_that_are_reflected(tmp_path):
    """The spline goes through the elements: SciPy's does not (by 1e-3), nor, with axes of 30, does it differ."""
    program = module_from(
        f"{HEAD}def program(x):\n    return ndimage.shift(x, 0.0, order=3, mode='reflect')\n", tmp_path
    ).program
    few = IMAGE[:3, :2]
    np.testing.assert_allclose(outputs_of(parsed(program, few), few)["return"], few, 1e-14, 1e-14)
    assert np.max(np.abs(ndimage.shift(few, 0.0, order=3, mode="reflect") - few)) > 1e-4
