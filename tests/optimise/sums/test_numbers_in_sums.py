"""Sums take the number into their terms, if one factor of these can be multiplied beforehand."""

from dataclasses import replace

import numpy as np
import pytest

from sdfgad.ir.text import program_text
from sdfgad.optimise.sums.scale_once import scale_once
from tests.helpers_ir import parsed
from tests.helpers_passes import check_early, gradients, normal

N = 20
ARGS = (1.5, normal(N, N), normal(N, N, seed=2), normal(N, N, seed=3))


def one_sum(alpha, a, b, y):
    t = np.zeros(N)
    for i in range(N):
        for j in range(N):
            t[j] = np.dot(a[i, :i], b[:i, j])
        y[i] += alpha * (a[i, i] * b[i] - t)


def with_signs(alpha, a, b, y):
    t = np.zeros(N)
    for i in range(N):
        for j in range(N):
            t[j] = np.dot(a[i, :i], b[:i, j])
        y[i] -= -(t + a[i, i] * b[i]) * alpha
        y[i] += alpha * t


@pytest.mark.parametrize("function", [one_sum, with_signs], ids=lambda f: f.__name__)
def test_moved(function):
    changed, _ = check_early(scale_once, function, ARGS, ["alpha", "a", "b", "y"])
    text = program_text(changed)
    assert "alpha" not in text[text.index("loop ") :]
    assert text.count("= (alpha * b") == 1


def test_no_infinity_where_there_is_no_term():
    alpha, a, b, y = (np.copy(x) for x in ARGS)
    a[np.triu_indices(N, 1)] = np.inf
    changed, before = check_early(scale_once, one_sum, (alpha, a, b, y), ["alpha", "a", "b", "y"])
    assert changed != before
    found = gradients(replace(parsed(one_sum, alpha, a, b, y), program=changed), (alpha, a, b, y), ["alpha", "a", "b"])
    assert all(np.all(np.isfinite(x)) for x in found.values())


def used_alone(alpha, a, b, y):
    t = np.zeros(N)
    for i in range(N):
        for j in range(N):
            t[j] = np.dot(a[i, :i], b[:i, j])
        y[i] += alpha * t
        y[0] += t


def not_linear(alpha, a, b, y):
    t = np.zeros(N)
    for i in range(N):
        for j in range(N):
            t[j] = np.dot(a[i, :i], b[:i, j])
        y[i] += alpha * np.sin(t)


def assigned(alpha, a, b, y):
    t = np.zeros(N)
    for i in range(N):
        t[:] = a[i]
        for j in range(N):
            t[j] += np.dot(a[i, :i], b[:i, j])
        y[i] += alpha * t


def number_changes(alpha, a, b, y):
    s = alpha * 1.0
    t = np.zeros(N)
    for i in range(N):
        for j in range(N):
            t[j] = np.dot(a[i, :i], b[:i, j])
        y[i] += s * t
        s = s * 0.5


def arrays_change(alpha, a, b, y):
    t = np.zeros(N)
    for i in range(N):
        for j in range(N):
            t[j] = np.dot(a[i, :], b[:, j])
        y[i] += alpha * t
        a[i] = 0.5 * a[i]
        b[i] = 0.5 * b[i]


@pytest.mark.parametrize(
    "function", [used_alone, not_linear, assigned, number_changes, arrays_change], ids=lambda f: f.__name__
)
def test_stays(function):
    changed, before = check_early(scale_once, function, ARGS, ["alpha", "a", "b"])
    assert program_text(changed) == program_text(before)
