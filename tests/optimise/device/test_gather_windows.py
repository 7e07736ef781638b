"""Contributions of windows that meet are sums for each element: the adjoints of convolutions and of pooling."""

import numpy as np
import pytest

import sdfgad
from sdfgad.emulated import VARIABLE
from sdfgad.ir.names import Names
from sdfgad.ir.program import Loop, walk
from sdfgad.optimise.device import side
from sdfgad.optimise.device.gather_windows import gathered
from sdfgad.optimise.passes import optimise
from sdfgad.schedule.kernels import Form, form_of, private_of
from tests.helpers_passes import outputs
from tests.helpers_text import program_of


def spread(text, shapes, window):
    """The outputs of a statement, and of it as sums over a window."""
    program = program_of(text, {**shapes, "z": (40,)}, inputs=tuple(shapes), outputs=("z",))
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    clear, statement = program.body
    found = gathered(statement, window, Names(set(program.buffers)))
    expected = outputs(program, arrays, (), 0)
    if found is None:
        return None
    assert form_of(found, program.buffers) in (Form.POINTS, Form.BLOCK)
    np.testing.assert_allclose(
        outputs(program.with_body((clear, found)), arrays, (), 0)["z"], expected["z"], rtol=1e-13
    )
    return found


CLEAR = "for p < 40: z[p] = 0.0\n"
WINDOWS = {
    "a window": "for i < 30, k < 5: z[i + k] += x[i] * y[k]",
    "from a place on": "for i < 30, k < 5: z[i + k + 4] += x[i] * y[k]",
    "backwards": "for i < 30, k < 5: z[i - k + 6] += x[i] * y[k]",
    "with a stride": "for i < 15, k < 3: z[2*i + k] += x[i] * y[k]",
    "wider than the stride": "for i < 10, k < 5: z[3*i + k] += x[i] * y[k]",
    "of two": "for i < 30, k < 5, l < 2: z[i + k + 3*l] += x[i] * y[k] * y[l]",
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    assert spread(CLEAR + WINDOWS[name], {"x": (30,), "y": (5,)}, ("k", "l")) is not None


KEPT = {
    "gaps": "for i < 10, k < 2: z[3*i + k] += x[i] * y[k]",
    "the other way round": "for i < 30, k < 5: z[k - i + 29] += x[i] * y[k]",
    "nothing else": "for i < 30, k < 5: z[k] += x[i] * y[k]",
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    assert spread(CLEAR + KEPT[name], {"x": (30,), "y": (5,)}, ("k",)) is None


def layers(image, weights, strided):
    """A convolution, one with a stride, and pooling."""
    n, m, _ = image.shape
    size, count = weights.shape[0], weights.shape[3]
    filtered = np.empty((n - size + 1, m - size + 1, count))
    for i in range(n - size + 1):
        for j in range(m - size + 1):
            window = image[i : i + size, j : j + size, :, np.newaxis]
            filtered[i, j, :] = np.sum(window * weights, axis=(0, 1, 2))
    pooled = np.empty((filtered.shape[0] // 2, filtered.shape[1] // 2, count))
    for i in range(pooled.shape[0]):
        for j in range(pooled.shape[1]):
            pooled[i, j] = np.max(filtered[2 * i : 2 * i + 2, 2 * j : 2 * j + 2], axis=(0, 1))
    total = np.sum(pooled**2)
    for i in range((n - 3) // 2 + 1):
        total += np.sum(image[2 * i : 2 * i + 3, :, 0] * strided) ** 2
    return total


@pytest.fixture
def emulated(monkeypatch):
    """All loops are kernels that can be."""
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(side, "SECONDS", side.KERNELS_ONLY)


def triangle(A, x):
    """The product of a triangular matrix with vectors, column by column."""
    y = np.zeros((A.shape[0], x.shape[1]))
    for k in range(A.shape[0]):
        for i in range(A.shape[0] - k):
            y[k + i] += A[k + i, k] * np.sin(x[k])
    return np.sum(y**3)


@pytest.mark.usefixtures("emulated")
def test_windows_of_triangles(rng):
    args = rng.normal(size=(9, 9)), rng.normal(size=(9, 4))
    expected = sdfgad.differentiate(triangle, device="cpu")(*args)
    g = sdfgad.differentiate(triangle, device="gpu")
    for name, gradient in g(*args).items():
        np.testing.assert_allclose(gradient, expected[name], rtol=1e-11, err_msg=name)


@pytest.mark.usefixtures("emulated")
def test_layers_of_networks_have_no_loops_of_launches(rng):
    args = rng.normal(size=(10, 9, 2)), rng.normal(size=(3, 3, 2, 4)), rng.normal(size=(3, 9))
    expected = sdfgad.differentiate(layers, device="cpu")(*args)
    g = sdfgad.differentiate(layers, device="gpu")
    for name, gradient in g(*args).items():
        np.testing.assert_allclose(gradient, expected[name], rtol=1e-11, err_msg=name)
    program = optimise(g.programs(*args)[1])
    loops = [s for s in walk(program.body) if isinstance(s, Loop) and not s.is_parallel]
    kernels = [s for s in loops if form_of(s, program.buffers, private_of(s, program.buffers)) is Form.POINTS]
    assert loops == kernels
