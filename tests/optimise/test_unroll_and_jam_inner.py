"""Independent trips of inner loops that share vectors run together, and what is left over as before."""

import sys

import numpy as np
import pytest

from sdfgad.optimise.unroll_and_jam_inner import unroll_and_jam_inner
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes
from tests.helpers_text import program_of, sample

module = sys.modules[unroll_and_jam_inner.__module__]


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(module, "LEAST_LENGTH", 6)
    monkeypatch.setattr(module, "LEAST_TRIPS", 4)


ROWS = """
    for c < 20: a[c] = x[c]
    for p < 20, c < 6: Z[p, c] = X[p, c]
    for c < 6: w[c] = 0.0
    loop h < 9:
        loop {kind}j < -h + 19:
            a[j + h + 1] = 0.0
            loop parallel f < 6:
                a[j + h + 1] += (y[f] * Z[j + h + 1, f])
                w[f] += (Z[j + h + 1, f] * x[j])
            for c < 6: Z[j + h + 1, c] = (Z[j + h + 1, c] - (a[j + h + 1] * y[c]))
        z[h] = a[h + 1]
    """


def test_trips_share_vectors(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 2)
    assert_becomes(
        unroll_and_jam_inner,
        ROWS.format(kind=""),
        """
        for c < 20: a[c] = x[c]
        for p < 20, c < 6: Z[p, c] = X[p, c]
        for c < 6: w[c] = 0.0
        loop h < 9:
            loop j_rows < floor_divide(-h + 19, 2):
                a[h + 2*j_rows + 1] = 0.0
                a[h + 2*j_rows + 2] = 0.0
                loop parallel f < 6:
                    a[h + 2*j_rows + 1] += (y[f] * Z[h + 2*j_rows + 1, f])
                    w[f] += (Z[h + 2*j_rows + 1, f] * x[2*j_rows])
                    a[h + 2*j_rows + 2] += (y[f] * Z[h + 2*j_rows + 2, f])
                    w[f] += (Z[h + 2*j_rows + 2, f] * x[2*j_rows + 1])
                loop parallel c < 6:
                    Z[h + 2*j_rows + 1, c] = (Z[h + 2*j_rows + 1, c] - (a[h + 2*j_rows + 1] * y[c]))
                    Z[h + 2*j_rows + 2, c] = (Z[h + 2*j_rows + 2, c] - (a[h + 2*j_rows + 2] * y[c]))
            loop 2*floor_divide(-h + 19, 2) <= j < -h + 19:
                a[h + j + 1] = 0.0
                loop parallel f < 6:
                    a[h + j + 1] += (y[f] * Z[h + j + 1, f])
                    w[f] += (Z[h + j + 1, f] * x[j])
                for c < 6: Z[h + j + 1, c] = (Z[h + j + 1, c] - (a[h + j + 1] * y[c]))
            z[h] = a[h + 1]
        """,
    )


@pytest.mark.parametrize("kind", ["", "backwards ", "parallel "])
@pytest.mark.parametrize("rows", [2, 3, 4, 7, 30])
def test_any_number_of_trips(rows, kind, monkeypatch):
    monkeypatch.setattr(module, "ROWS", rows)
    program, arrays, _ = sample(ROWS.format(kind=kind))
    assert check_passes(program, arrays, passes=[unroll_and_jam_inner]) != program


def test_arrays_larger_than_the_cache(monkeypatch):
    monkeypatch.setattr(module, "LARGE", 900)
    assert_stays(unroll_and_jam_inner, ROWS.format(kind=""))


BEFORE = """
    for p < 20, c < 6: Z[p, c] = X[p, c]
    for c < 6: w[c] = 0.0
    """
STAYS = {
    "a trip reads what the one before has made": """
        loop h < 9:
            loop j < 19:
                for c < 6: Z[j + 1, c] = (Z[j, c] * y[c])
        """,
    "all trips add to what they read": """
        loop h < 9:
            loop j < 19:
                for c < 6: w[c] += (Z[j, c] * w[3])
        """,
    "a scalar of each trip": """
        loop h < 9:
            loop j < 19:
                s = (x[j] * x[h])
                for c < 6: w[c] += (Z[j, c] * s)
        """,
    "nothing is shared": """
        loop h < 9:
            loop j < 19:
                for c < 6: Z[j, c] = (Z[j, c] * 0.5)
        """,
    "rows of several lengths": """
        loop h < 9:
            loop j < 6:
                for c < j: Z[j, c] += (y[c] * x[j])
        """,
    "few trips": """
        loop h < 9:
            loop j < 3:
                for c < 6: Z[j, c] += (y[c] * x[j])
        """,
    "short": """
        loop h < 9:
            loop j < 19:
                for c < 5: Z[j, c] += (y[c] * x[j])
        """,
    "trips that threads share": """
        loop parallel f < 9:
            loop j < 19:
                for c < 6: w[c] += (Z[j, c] * y[c])
        """,
    "less than no trips": """
        loop h < 19:
            loop j < h - 5:
                for c < 6: Z[j, c] += (y[c] * x[j])
        """,
    "elements that data choose": """
        loop h < 9:
            loop j < 19:
                for c < 6: Z[i[j], c] = (y[c] * x[j])
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    text = BEFORE + "".join(line.removeprefix("    ") + "\n" for line in STAYS[name].splitlines())
    assert_stays(unroll_and_jam_inner, text)


def test_a_tape_whose_place_no_linear_form_tells():
    """Terms that are the same in all trips do not matter."""
    text = """
        for p < 200: t[p] = 0.0
        loop h < 5:
            loop j < 5:
                for c < 6: t[6*j + c + 7*floor_divide(h, 2)] = (x[c] * X[h, j])
            z[h] = t[h]
        """
    shapes = {"t": (200,), "x": (6,), "X": (5, 5), "z": (5,)}
    program = program_of(text, shapes, ("x", "X"), ("z",))
    rng = np.random.default_rng(2)
    arrays = {"x": rng.normal(size=6), "X": rng.normal(size=(5, 5))}
    assert check_passes(program, arrays, passes=[unroll_and_jam_inner]) != program


def orthogonal(A):
    Q = np.zeros_like(A)
    for k in range(A.shape[1]):
        Q[:, k] = A[:, k] / np.sqrt(np.dot(A[:, k], A[:, k]))
        for j in range(k + 1, A.shape[1]):
            r = np.dot(Q[:, k], A[:, j])
            A[:, j] -= r * Q[:, k]
    return Q


def test_a_function():
    rng = np.random.default_rng(3)
    check_function(orthogonal, (rng.normal(size=(9, 8)),))
