"""Integers that decide how long a list is: counters and arguments become constants."""

import numpy as np
import pytest

import sdfgad

P = np.linspace(0.2, 1.0, 5)


def others_by_generator(P):
    n, s = len(P), 0.0
    for i in range(n):
        s += P[i] * sum(P[j] for j in range(n) if j != i)
    return s


def others_by_index(P, slack):
    n, s = len(P), 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i and j != slack]
        s += P[i] * np.sum(P[others] ** 2)
    return s


def one_left_out(P, slack):
    n = len(P)
    kept = [i for i in range(n) if i != slack]
    return np.sum(P[kept] * np.arange(n - 1))


def one_left_out_by_append(P, slack):
    n, kept = len(P), []
    for i in range(n):
        if i != slack:
            kept.append(i)
    return np.sum(P[kept] * np.arange(n - 1))


def list_of_a_branch(P, order):
    weights = [1.0]
    if order > 1:
        weights.append(P[1])
        if order > 2:
            weights.append(P[2] ** 2)
    return sum(w * p for w, p in zip(weights, P, strict=False))


@pytest.mark.parametrize(
    "program", [others_by_generator, others_by_index, one_left_out, one_left_out_by_append, list_of_a_branch]
)
def test_that_they_decide(program):
    for number in (0, 3, 2):
        args = (P, number)[: program.__code__.co_argcount]
        np.testing.assert_allclose(sdfgad.differentiate(program, wrt="P").value(*args), program(*args), rtol=1e-13)
        sdfgad.check_grads(program, *args, wrt="P")
