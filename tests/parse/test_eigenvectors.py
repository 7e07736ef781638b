"""Eigenvectors of either triangle, compiled: their signs and phases, too, are NumPy's."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import line_of

SIZES = (1, 2, 3, 5, 8)


def program(x1, x2, x3, x5, x8, z1, z2, z3, z5, z8, weights):
    """The vectors of all matrices one after the other, and a value that depends on their signs and phases."""
    parts, value = [], 0.0
    for x in (x1, x2, x3, x5, x8, z1, z2, z3, z5, z8):
        n = x.shape[-1]
        for triangle in ("L", "u"):
            w, v = np.linalg.eigh(x, triangle)
            parts.append(v.ravel() + 0j)
            value = value + np.sum(weights[:n, :n] * np.abs(v) ** 2) + np.sum(weights[0, :n] * w)
            value = value + np.sum(weights[:n, :n] * np.real(v)) + np.sum(weights[:n, :n] * np.imag(v) ** 3)
            value = value + np.sum(weights[1, :n] * np.linalg.eigvalsh(x, UPLO=triangle) ** 2)
    return np.concatenate(parts), value


def arguments():
    """Matrices with two different triangles."""
    rng = np.random.default_rng(12)
    real = [rng.standard_normal((n, n)) for n in SIZES]
    return [*real, *(x + 1j * rng.standard_normal(x.shape) for x in real), rng.uniform(0.5, 1.5, (8, 8))]


def test_vectors_and_gradients_of_both_triangles():
    values = arguments()
    vectors, value = program(*values)
    g = sdfgad.differentiate(program, output="return[1]")
    found = g.value_and_grad(*values)
    np.testing.assert_allclose(found[0], value, rtol=1e-12)
    rng = np.random.default_rng(13)
    step, slope, ends = 1e-6, 0.0, []
    moves = [
        rng.standard_normal(x.shape) + (1j * rng.standard_normal(x.shape) if x.dtype.kind == "c" else 0) for x in values
    ]
    for gradient, move in zip(found[1].values(), moves, strict=True):
        slope += np.vdot(gradient, move).real
    for sign in (step, -step):
        ends.append(program(*(x + sign * move for x, move in zip(values, moves, strict=True)))[1])
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
    read = sdfgad.differentiate(program, output="return[0]", wrt="x2").value(*values)
    np.testing.assert_allclose(read, vectors, rtol=0, atol=1e-12)


def test_a_phase_that_nothing_determines_gives_nan_only_where_it_counts():
    def free(z):
        w, v = np.linalg.eigh(z)
        return np.sum(np.real(v[1:, 1:]) ** 3) + w[0]

    def fixed(z):
        w, v = np.linalg.eigh(z)
        return np.sum(np.abs(v[1:, 1:]) ** 4) + w[0]

    # The vectors of the second block are 0 in the first component, which LAPACK makes real.
    z = np.array([[1.0, 0, 0], [0, 2.0, 0.3 - 0.4j], [0, 0.3 + 0.4j, 3.0]])
    assert np.isnan(sdfgad.grad(free)(z)[np.tril_indices(3)]).all()
    gradient, direction = sdfgad.grad(fixed)(z), np.array([[0.4, 0, 0], [0, -0.3, 0.2 + 0.5j], [0, 0.2 - 0.5j, 0.7]])
    ends = [fixed(z + step * direction) for step in (1e-6, -1e-6)]
    lower = np.tril(direction)
    np.testing.assert_allclose(np.vdot(gradient, lower).real, (ends[0] - ends[1]) / 2e-6, rtol=1e-7)


@pytest.mark.parametrize("triangle", ["X", "", 1])
def test_another_triangle_is_refused(triangle):
    def unknown(x):
        return np.sum(np.linalg.eigvalsh(x, triangle))

    with pytest.raises(UnsupportedProgram, match="UPLO=") as caught:
        sdfgad.differentiate(unknown)(np.eye(2))
    assert line_of(unknown, "eigvalsh") in str(caught.value)
    assert "Use 'L' or 'U'." in str(caught.value)


def subspace(x, y):
    """A function of the span of the vectors of an eigenvalue that is there three times."""
    z = np.outer(x, np.conj(x)) + np.outer(y, np.conj(y)) + 0.3 * np.eye(5)
    w, v = np.linalg.eigh(z)
    noise = v[:, :3]
    probe = np.linalg.norm(np.conj(noise).T @ np.array([1.0, 0.5, -0.3, 0.2, 0.9])) ** 2
    return np.log(probe) + np.sum(np.abs(noise @ np.conj(noise).T) ** 2 * np.arange(5)) + np.sum(w[3:])


@pytest.mark.parametrize("turn", [0.0, 1j])
def test_the_span_of_the_vectors_of_one_eigenvalue_has_a_gradient(turn):
    rng = np.random.default_rng(14)
    x, y = (rng.standard_normal(5) + turn * rng.standard_normal(5) for _ in range(2))
    gradients = sdfgad.differentiate(subspace)(x, y)
    moves = {name: rng.standard_normal(5) + turn * rng.standard_normal(5) for name in gradients}
    slope = sum(np.vdot(gradients[name], move).real for name, move in moves.items())
    ends = [subspace(x + h * moves["x"], y + h * moves["y"]) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-7)


def complement(x, y):
    """The same by singular vectors, of a singular value that is there ten times."""
    z = np.outer(x, x) + np.outer(y, y) + 0.1 * np.eye(12)
    u, s, vh = np.linalg.svd(z)
    return np.log(np.linalg.norm(u[:, 2:].T @ np.cos(np.arange(12.0))) ** 2) + np.sum(vh[2:].T @ u[:, 2:].T) + s[0]


def test_the_span_of_the_vectors_of_one_singular_value_has_a_gradient():
    x, y, dx, dy = np.random.default_rng(15).standard_normal((4, 12))
    gradients = sdfgad.differentiate(complement)(x, y)
    ends = [complement(x + h * dx, y + h * dy) for h in (1e-6, -1e-6)]
    slope = gradients["x"] @ dx + gradients["y"] @ dy
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-6)
