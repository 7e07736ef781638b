"""Integers in lists: those of pairs are constants, those of plain lists may be others in each call."""

import numpy as np

import sdfgad
from sdfgad.parse.parse import parse

X = np.linspace(0.5, 1.5, 6)


def of_pairs(x, pairs):
    total = 0.0
    for i, j in pairs:
        total += x[i] * x[j] ** 2
    return total


def of_batch(x, batch):
    return np.sum(x[batch] ** 2)


def test_pairs_and_batches(monkeypatch):
    parsed = []
    monkeypatch.setattr("sdfgad.specialise.specialise.parse", lambda *args: parsed.append(args[2]) or parse(*args))
    pairs = [[(0, 1), (1, 2), (5, 5)], [(0, 3), (4, 2), (1, 1)]]
    batches = [[0, 2, 4, 5, 5, 1], [1, 1, 3, 0, 2, 4]]
    for program, lists, count in ((of_pairs, pairs, 2), (of_batch, batches, 1)):
        parsed.clear()
        g = sdfgad.differentiate(program, wrt="x")
        for one in lists:
            np.testing.assert_allclose(g.value(X, one), program(X, one), rtol=1e-13)
            sdfgad.check_grads(program, X, one, wrt="x")
        assert len(parsed) >= count
        assert all(len(constant) == (6 if program is of_pairs else 0) for constant in parsed)
