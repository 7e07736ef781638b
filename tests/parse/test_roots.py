"""Square roots of sums of squares are lengths of vectors: at 0 their gradient is 0, and not NaN."""

import math

import numpy as np

import sdfgad

U, V, X, K = np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 0.0]), np.array([[0.0, 1.0, 0.5], [0.0, 0.0, 0.25]]), 0.0


def lengths(u, v, x, k):
    speed = np.sqrt(u**2 + v * v)
    squares = np.zeros(3)
    for i in range(2):
        squares = squares + x[i] ** 2
    distance = np.sqrt(np.sum(x**2, axis=0)) + np.sqrt(squares) + np.sqrt(np.mean(x**2, axis=0))
    weighted = (0.5 * np.square(x[0]) + u**2 / 3.0) ** 0.5
    return np.sum(speed * u + distance * x + weighted * v) + math.sqrt(k * k) * k + math.sqrt(np.dot(x[:, 0], x[:, 0]))


def other_roots(u, k):
    changed = u**2
    changed[0] = u[0]
    return np.sum(np.sqrt(u**2 - k) + np.sqrt(k * u**2) + np.sqrt(u) + np.sqrt(changed) + np.sqrt(u * u + 0.1))


def test_gradients_at_rest_are_those_of_lengths():
    found = sdfgad.differentiate(lengths, wrt=("u", "v", "x", "k"))(U, V, X, K)
    step, rng = 1e-7, np.random.default_rng(3)
    away = [rng.standard_normal(U.shape), rng.standard_normal(V.shape), rng.standard_normal(X.shape), 1.0]
    # At the kinks, central differences find 0, too.
    moved = [[one + side * step * way for one, way in zip((U, V, X, K), away, strict=True)] for side in (1.0, -1.0)]
    expected = (lengths(*moved[0]) - lengths(*moved[1])) / (2 * step)
    assert np.isclose(sum(np.sum(g * way) for g, way in zip(found, away, strict=True)), expected, rtol=1e-6)


def test_what_is_no_sum_of_squares_or_never_zero_stays_a_root():
    text = str(sdfgad.explain(other_roots, U + 1.0, 0.5, stage="parsed"))
    assert "root_of_squares" not in text
    assert text.count("sqrt(") == 5
