"""Lists of tuples of arrays that loops fill and go over: arrays for their parts."""

from typing import NamedTuple

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.program import walk
from tests.helpers_ir import assert_value_and_slope, parsed


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def gated(x, W, U):
    """A recurrent network with gates, and its gradients written by hand from what each step has kept."""
    h, kept = np.zeros(U.shape[1]), []
    for t in range(len(x)):
        z, r = sigmoid(W[0] @ x[t] + U[0] @ h), sigmoid(W[1] @ x[t] + U[1] @ h)
        c = np.tanh(W[2] @ x[t] + U[2] @ (r * h))
        kept.append((x[t], h, z, r, c))
        h = (1 - z) * h + z * c
    dh, dU = h.copy(), np.zeros_like(U[2])
    for _, before, z, r, c in reversed(kept):
        dc = dh * z * (1 - c**2)
        dU += np.outer(dc, r * before)
        dh = dh * (1 - z) + (U[2].T @ dc) * r
    return np.sum(dU**2) + np.sum(dh)


def by_index(x, W, U):
    kept, h = [], x[0]
    for t in range(len(x)):
        h = np.tanh(W[0, :3] @ h + x[t])
        kept.append((t, h, (x[t] * 2.0, np.sum(h))))
    total = 0.0
    for t in range(len(x) - 2, -1, -1):
        k, h, (y, s) = kept[t]
        total = total * 0.9 + np.sum(h * kept[t + 1][1]) + s * y[k % 3]
    return total + kept[-1][2][1]


class Step(NamedTuple):
    h: np.ndarray
    s: float


def named(x, W, U):
    steps, h, total = [], x[0], 0.0
    for t in range(len(x)):
        h = np.sin(h + x[t])
        steps.append(Step(h, np.sum(h)))
    for weight, step in zip(W[0, 0], steps[:3], strict=True):
        total += weight * step.s
    for k, (step, y) in enumerate(zip(steps, x, strict=True)):
        total = total + np.sum(step.h * y) * k * step.s
    return total


def only_counted(x, W, U):
    kept, h = [], x[0]
    for t in range(len(x)):
        h = np.tanh(W[0, :3] @ h + x[t])
        kept.append((t, h))
    return np.sum(h) + len(kept)


ROLLED = [gated, by_index, named, only_counted]


def arguments(n):
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, 3)), rng.normal(size=(3, 4, 3)), 0.5 * rng.normal(size=(3, 4, 4))


@pytest.mark.parametrize("program", ROLLED)
def test_statements_do_not_grow_with_the_trips(program):
    few, many = (len(list(walk(parsed(program, *arguments(n)).program.body))) for n in (30, 60))
    assert few == many < 60


@pytest.mark.parametrize("program", ROLLED)
def test_values_and_slopes(program):
    assert_value_and_slope(program, *arguments(12))


@pytest.mark.slow
def test_compiled_gradients():
    args = arguments(12)
    assert sdfgad.differentiate(gated, wrt="U").value(*args) == pytest.approx(gated(*args), rel=1e-12)
    sdfgad.check_grads(gated, *args)


# --- what arrays cannot stand for


def a_part_is_updated(x, W, U):
    kept, h = [], x[0] * 1.0
    for t in range(len(x)):
        h = np.sin(h + x[t])
        kept.append((h, x[t] * 2.0))
    for a, b in kept:
        a += b
    return np.sum(h) + np.sum(kept[3][0])


def a_part_is_updated_after_it_was_appended(x, W, U):
    kept, total = [], 0.0
    for t in range(len(x)):
        h = np.sin(x[t])
        kept.append((t, h))
        h *= 2.0
    for _, h in kept:
        total = total + np.sum(h)
    return total


def a_length(x, W, U):
    kept, total = [], 0.0
    for t in range(len(x)):
        kept.append((1 + t % 3, x[t] * 2.0))
    for n, h in kept:
        total = total + np.sum(h[:n]) * np.sum(np.ones(n))
    return total


def other_kinds(x, W, U):
    kept, total = [], 0.0
    for t in range(len(x)):
        kept.append((x[t], "even" if t % 2 == 0 else "odd") if t != 3 else (x[t] * 2.0, "three"))
    for h, name in kept:
        total = total * 0.9 + np.sum(h) * len(name)
    return total


def changed_while_gone_over(x, W, U):
    kept, total = [], 0.0
    for t in range(len(x)):
        kept.append((x[t] * 1.0, np.sum(x[t])))
    for k, (h, s) in enumerate(kept):
        total = total * 0.5 + np.sum(h) * s
        if k == 2:
            kept[5] = (h * 3.0, s)
    return total


OTHERS = [
    *(a_part_is_updated, a_part_is_updated_after_it_was_appended, a_length, other_kinds, changed_while_gone_over),
]


@pytest.mark.parametrize("program", OTHERS)
def test_others_are_right(program):
    assert_value_and_slope(program, *arguments(12))
