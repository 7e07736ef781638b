"""Standard deviations, norms and lengths have the derivative 0 where they are 0, and their own everywhere else."""

import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from

# Of a vector x (6) or matrix a (3, 4), real or complex.
OF_ANY = (
    *("np.linalg.norm(x)", "np.linalg.norm(x, 2)", "np.linalg.norm(x, 3)", "np.linalg.norm(x, 1.5)"),
    *(
        "np.linalg.norm(x, 0.5)",
        "np.linalg.norm(x, 1)",
        "np.linalg.norm(x, np.inf)",
        "np.linalg.norm(x, keepdims=True)",
    ),
    *("np.linalg.norm(x, axis=0)", "np.linalg.norm(a)", "np.linalg.norm(a, 'fro')", "np.linalg.norm(a, axis=0)"),
    *("np.linalg.norm(a, axis=1, keepdims=True)", "np.linalg.norm(a, 2, axis=-1)", "np.linalg.norm(a, 3, axis=0)"),
    *("np.linalg.norm(a, axis=(0, 1))", "np.linalg.norm(a, 'fro', axis=(1, 0), keepdims=True)", "np.linalg.norm(a, 1)"),
    *("np.linalg.norm(a, np.inf)", "np.linalg.vector_norm(a)", "np.linalg.vector_norm(a, axis=1)"),
    *("np.linalg.matrix_norm(a)", "np.std(x)", "x.std()", "np.std(x, ddof=1)", "np.std(a)", "np.std(a, axis=0)"),
    *("np.std(a, axis=1, ddof=1, keepdims=True)", "np.std(a, axis=(0, 1), keepdims=True)", "np.nanstd(a, axis=0)"),
    *("np.nanstd(x)", "np.nanstd(a, axis=1, ddof=1)", "np.abs(a)", "np.var(a, axis=0)"),
)
OF_REALS = (
    *("np.hypot(x, x)", "np.hypot(a[0], a[1])", "np.hypot(x, 0.0)", "math.hypot(x[0], x[1])"),
    *("math.hypot(x[0], x[1], x[2])", "math.dist(x[:3], x[3:])", "np.linalg.norm(a, 2)", "np.linalg.norm(a, 'nuc')"),
)


def made(texts, folder):
    """A program of the sums of all of them, at each of several vectors and matrices, with a weight for each."""
    lines = [f"        total = total + weights[k, {row}] * np.sum({text})" for row, text in enumerate(texts)]
    head = ["import math", "import numpy as np", "def program(xs, mats, weights):", "    total = 0.0"]
    loop = ["    for k in range(xs.shape[0]):", "        x, a = xs[k], mats[k]"]
    return module_from("\n".join([*head, *loop, *lines, "    return total"]), folder).program


def checked(texts, dtype, folder, parts):
    """The gradients at zeros, at equal numbers, and at random numbers, with a weight for each text."""
    rng = np.random.default_rng(8)
    xs = np.zeros((3, 6), dtype)
    mats = np.zeros((3, 3, 4), dtype)
    for values in (xs, mats):
        values[2] = rng.standard_normal(values[2].shape) + (1j * rng.standard_normal(values[2].shape) if parts else 0)
    program = made(texts, folder)
    g = sdfgad.differentiate(program, wrt=("xs", "mats", "weights"))
    weights = rng.uniform(0.5, 1.5, (3, len(texts))).astype(xs.real.dtype)
    # Lengths of equal numbers are not 0, their deviations are: the other texts have no weight there.
    xs[1], mats[1] = 2.0, 2.0
    weights[1] = [("std" in text) for text in texts]
    value, (of_x, of_a, of_weights) = g.value_and_grad(xs, mats, weights)
    np.testing.assert_allclose(value, program(xs, mats, weights), rtol=1e-5)
    assert np.all(np.isfinite(of_weights))
    for zeros in (of_x[:2], of_a[:2]):
        np.testing.assert_array_equal(zeros, np.zeros_like(zeros))
    moves = [rng.standard_normal(v.shape) + (1j * rng.standard_normal(v.shape) if parts else 0) for v in (xs, mats)]
    slope = sum(np.vdot(of[2], move[2]).real for of, move in zip((of_x, of_a), moves, strict=True))
    wide, step = np.complex128 if parts else np.float64, 1e-6
    only = np.zeros(weights.shape)
    only[2] = weights[2]
    ends = [
        program(*(v.astype(wide) + s * step * m for v, m in zip((xs, mats), moves, strict=True)), only) for s in (1, -1)
    ]
    np.testing.assert_allclose(
        slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-6 if xs.real.dtype == np.float64 else 1e-4
    )


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.long)])
def test_of_real_numbers(dtype, tmp_path):
    checked((*OF_ANY, *OF_REALS), dtype, tmp_path, parts=False)


def test_of_complex_numbers(tmp_path):
    checked(OF_ANY, np.complex128, tmp_path, parts=True)


def test_one_length_of_zero_beside_others(tmp_path):
    text = """
    import numpy as np
    def program(a, y):
        z = a * 1.0
        return np.sum(np.linalg.norm(z, axis=1) * y + np.hypot(z[:, 0], z[:, 1]) + np.std(z, axis=1))
    """
    a, y = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 1.0]]), np.array([1.0, 5.0, 2.0])
    of_a, of_y = sdfgad.differentiate(module_from(text, tmp_path).program, wrt=("a", "y"))(a, y)
    root = np.sqrt(0.5)
    np.testing.assert_allclose(of_a, [[1.2 - 0.5, 1.6 + 0.5], [0, 0], [3 * root, 3 * root]], rtol=1e-14)
    np.testing.assert_array_equal(of_y, [5.0, 0.0, np.sqrt(2.0)])


def test_square_roots_and_variances_keep_their_derivatives():
    """A square root that the program takes itself has an infinite derivative at 0, and a variance has one of 0."""

    def program(x, y):
        return np.sum(np.sqrt(x)) + np.var(y)

    of_x, of_y = sdfgad.differentiate(program, wrt=("x", "y"))(np.array([0.0, 4.0]), np.array([1.0, 3.0]))
    assert of_x.tolist() == [np.inf, 0.25]
    assert of_y.tolist() == [-1.0, 1.0]
