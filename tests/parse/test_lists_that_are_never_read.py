"""Appends to lists that nothing reads, in loops and branches that run at run time."""

import numpy as np
import pytest

import sdfgad

X = np.linspace(0.2, 1.0, 4)


def early_stop(w):
    history, best = [], 1e9
    for _ in range(10):
        loss = np.sum(w**2)
        history.append(loss)
        w = w * 0.9
        if loss < best - 0.1:
            best = loss
        else:
            break
    return np.sum(w**2)


def logged(w, steps):
    log = {"loss": [], "norm": [np.sum(w)]}
    while np.sum(w) > 0.5 and steps > 0:
        w = w * 0.8
        log["loss"].append(float(np.sum(w**2)))
        if w[0] > 0.1:
            log["norm"].append(w.copy())
        steps -= 1
    return np.sum(w**3)


def changes(v):
    v *= 2.0
    return v


def with_effects(w):
    log = []
    for _ in range(3):
        if w[0] < 5.0:
            log.append(changes(w))
    return np.sum(w**2)


@pytest.mark.parametrize("program", [early_stop, logged, with_effects])
def test_they_are_left_out(program):
    args = (X, 4)[: program.__code__.co_argcount]
    np.testing.assert_allclose(
        sdfgad.differentiate(program, wrt="w").value(*args), program(X.copy(), *args[1:]), rtol=1e-13
    )
    sdfgad.check_grads(program, *args, wrt="w")
