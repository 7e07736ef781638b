"""Programs that update an array at many known places, whose analysis took exponential time."""

import time

import numpy as np
import pytest

import sdfgad
from sdfgad.analysis import dataflow

PAIRS = [(i, j) for i in range(9) for j in range(i + 1, 9)]


def forces(pos, pairs, steps):
    for _ in range(steps):
        F = np.zeros_like(pos)
        for i, j in pairs:
            d = pos[i] - pos[j]
            F[i] += d * d[0]
            F[j] -= d * d[0]
        pos = pos + 0.01 * F
    return np.sum(pos * pos)


def laplacian(z, edges):
    Y = np.zeros((9, 9))
    for k, (a, b) in enumerate(edges):
        Y[a, a] += z[k]
        Y[b, b] += z[k]
        Y[a, b] -= z[k]
        Y[b, a] -= z[k]
    return np.sum((Y @ Y) ** 2)


def jacobian(z, edges):
    V = z
    for _ in range(4):
        J = np.zeros((9, 9))
        for a, b in edges:
            J[a, a] += V[a] * V[b]
        V = V + 0.1 * J @ V
    return np.sum(V * V)


def in_turn(x, places):
    for k in places:
        x[k] = np.sin(x[k]) * x[k - 1]
    return np.sum(x)


@pytest.mark.parametrize(
    ("program", "args"),
    [
        # Many run-time integers: none is known to differ from any other.
        (in_turn, (np.linspace(0.5, 1.0, 30), list(range(1, 29)))),
        (forces, (np.random.default_rng(0).random((9, 2)), PAIRS[:20], 3)),
        (laplacian, (np.random.default_rng(1).random(16), PAIRS[:16])),
        (jacobian, (np.random.default_rng(2).random(9), PAIRS[:16])),
    ],
)
def test_it_takes_seconds(program, args):
    start = time.process_time()
    name = program.__code__.co_varnames[0]
    sdfgad.check_grads(program, *args, wrt=name)
    # Minutes to hours before.
    assert time.process_time() - start < 60.0


def few(pos, a, b, c, d, steps):
    for _ in range(steps):
        F = np.zeros_like(pos)
        for i in (a, b, c, d):
            F[i] += pos[i] * pos[0]
            F[d] -= pos[b] * F[c]
        pos = pos + 0.01 * F
    return np.sum(pos * pos)


def test_run_time_indices_and_an_analysis_that_gives_up(monkeypatch):
    """Where isl gives up, every write counts as destroying: more is stored, and the gradient is right."""
    for most in (dataflow.MOST_OPERATIONS, 1):
        monkeypatch.setattr(dataflow, "MOST_OPERATIONS", most)
        for places in ((0, 1, 2, 3), (2, 2, 0, 1)):
            sdfgad.check_grads(few, np.linspace(0.5, 1.5, 5), *places, 3, wrt="pos")
