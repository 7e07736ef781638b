"""Sums that would go down columns go along rows: out of their loop, or into other trips of it."""

import sys

import numpy as np
import pytest

from sdfgad.ir.program import Compute, Loop, walk
from sdfgad.optimise.products.reorient_sums import reorient_sums
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes
from tests.helpers_text import program_of

module = sys.modules[reorient_sums.__module__]


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 4)


def test_before_the_loop():
    assert_becomes(
        reorient_sums,
        """
        loop j < 6:
            s = 0.0
            for p < 20: s += (x[p] * X[p, j])
            z[j] = (y[j] - s)
        """,
        """
        for j_3 < 6: s_each[j_3] = 0.0
        loop parallel p_1 < 20:
            for j_2 < 6: s_each[j_2] += (x[p_1] * X[p_1, j_2])
        for j_4 < 6: z[j_4] = (y[j_4] - s_each[j_4])
        """,
    )


def test_behind_the_loop():
    assert_becomes(
        reorient_sums,
        """
        for p < 20, c < 6: Z[p, c] = 0.0
        loop j < 6:
            s = (x[j] * 2.0)
            for p < 20: Z[p, j] += (s * y[p])
            z[j] = s
        """,
        """
        for p < 20, c < 6: Z[p, c] = 0.0
        for j_3 < 6: s_each[j_3] = (x[j_3] * 2.0)
        for j_4 < 6: z[j_4] = s_each[j_4]
        loop parallel p_1 < 20:
            for j_2 < 6: Z[p_1, j_2] += (s_each[j_2] * y[p_1])
        """,
    )


def test_a_triangle_behind_the_loop():
    assert_becomes(
        reorient_sums,
        """
        for p < 20, c < 6: Z[p, c] = 0.0
        loop backwards j < 6:
            s = (x[j] * 2.0)
            for p < j: Z[p, j] += (s * y[p])
            z[j] = s
        """,
        """
        for p < 20, c < 6: Z[p, c] = 0.0
        for j_3 < 6: s_each[j_3] = (x[j_3] * 2.0)
        for j_4 < 6: z[j_4] = s_each[j_4]
        loop parallel p_1 < 5:
            for j_2 < -p_1 + 5: Z[p_1, j_2 + p_1 + 1] += (s_each[j_2 + p_1 + 1] * y[p_1])
        """,
    )


def test_from_where_it_is_used_to_where_it_is_made():
    assert_becomes(
        reorient_sums,
        """
        loop j < 6:
            s = 0.0
            for p < j: s += (z[p] * X[p, j])
            z[j] = (y[j] - s)
        """,
        """
        for j_5 < 6: s_each[j_5] = 0.0
        loop j < 6:
            z[j] = (y[j] - s_each[j])
            for j_4 < -j + 5: s_each[j + j_4 + 1] += (z[j] * X[j, j + j_4 + 1])
        """,
    )


def test_from_where_it_is_made_to_where_it_is_used():
    assert_becomes(
        reorient_sums,
        """
        for p < 20: a[p] = x[p]
        loop backwards j < 6:
            s = (a[j] * 0.5)
            z[j] = s
            for p < j: a[p] += (s * X[p, j])
        """,
        """
        for p < 20: a[p] = x[p]
        loop backwards j < 6:
            for j_4 < -j + 5: a[j] += (s_each[j + j_4 + 1] * X[j, j + j_4 + 1])
            s_each[j] = (a[j] * 0.5)
            z[j] = s_each[j]
        """,
    )


def test_forwards_into_later_trips():
    assert_becomes(
        reorient_sums,
        """
        for p < 20: a[p] = x[p]
        loop j < 6:
            z[j] = a[j]
            for p < -j + 5: a[j + p + 1] += (z[j] * X[j + p + 1, j])
        """,
        """
        for p < 20: a[p] = x[p]
        loop j < 6:
            for j_4 < j: a[j] += (z[j_4] * X[j, j_4])
            z[j] = a[j]
        """,
    )


STAYS = {
    "along memory": """
        loop j < 20:
            s = 0.0
            for c < 6: s += (X[j, c] * y[c])
            z[j] = s
        """,
    "across memory either way": """
        loop j < 6:
            s = 0.0
            for p < 20: s += (x[p] * X[p, j] * Y[j, p])
            z[j] = s
        """,
    "short": """
        loop j < 3:
            s = 0.0
            for p < 20: s += (x[p] * X[p, j])
            z[j] = s
        """,
    "the loop changes what is added": """
        for p < 20, c < 6: A[p, c] = X[p, c]
        loop j < 5:
            s = 0.0
            for p < 20: s += (x[p] * A[p, j])
            z[j] = s
            for p < 20: A[p, j + 1] = (A[p, j + 1] * s)
        """,
    "each trip uses what all before have added": """
        for p < 20: a[p] = 0.0
        loop j < 6:
            for p < 20: a[p] += (x[p] * X[p, j])
            z[j] = a[3]
        """,
    "others read the scalar": """
        q = 0.0
        loop j < 6:
            q = (x[j] * 2.0)
            for p < 20: Z[p, j] += (q * y[p])
        """,
    "the scalar goes on": """
        s = 0.0
        loop j < 6:
            for p < 20: s += (x[p] * X[p, j])
            z[j] = s
        """,
    "trips that threads share": """
        loop parallel f < 20:
            loop j < 6:
                s = 0.0
                for p < 20: s += (x[p] * X[p, j])
                Z[f, j] = s
        """,
    "elements that data choose": """
        loop j < 6:
            s = 0.0
            for p < 20: s += (x[p] * X[i[p], j])
            z[j] = s
        """,
    "some of its own trip": """
        loop j < 6:
            s = 0.0
            for p < j + 1: s += (z[p] * X[p, j])
            z[j] = (y[j] - s)
        """,
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_stays(text):
    if "z[p] * X[p, j]" in text or "Z[p, j] +=" in text:
        text = "for p < 20: z[p] = y[p]\nfor p < 20, c < 6: Z[p, c] = 0.0\n" + "\n".join(
            line.removeprefix("        ") for line in text.splitlines()
        )
    assert_stays(reorient_sums, text)


def lower(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = (A[i, j] - np.dot(A[i, :j], A[:j, j])) / A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= np.dot(A[i, :i], A[:i, j])


def columns(A, b):
    x = np.zeros_like(b)
    for j in range(A.shape[1]):
        x[j] = b[j] - np.dot(A[:j, j], x[:j])
    return x * b


def solved(A, b):
    x = b.copy()
    for j in range(A.shape[1] - 1, -1, -1):
        x[j] = x[j] / A[j, j]
        for i in range(j):
            x[i] -= A[i, j] * x[j]
    return x


@pytest.mark.parametrize(("function", "has_vector"), [(lower, False), (columns, True), (solved, True)])
def test_functions(function, has_vector):
    rng = np.random.default_rng(3)
    A = rng.uniform(-1, 1, (9, 9)) / 9 + 2 * np.eye(9)
    check_function(function, (A, rng.normal(size=9)) if has_vector else (A,))


@pytest.mark.parametrize("trips", ["k", "-k + 20", "20"])
@pytest.mark.parametrize("extent", ["j", "20", "-j + 19"])
@pytest.mark.parametrize("kind", ["", "backwards "])
def test_random_triangles(trips, extent, kind):
    """Loops of any length, none included, in a loop that they depend on."""
    shift = "j + p + 1" if extent == "-j + 19" else "p"
    text = f"""
        for p < 20, c < 20: Z[p, c] = X[c, p]
        for p < 20: a[p] = x[p]
        loop k < 20:
            loop {kind}j < {trips}:
                s = 0.0
                for p < {extent}: s += (X[{shift}, j] * a[{shift}])
                r = (Z[k, j] * s)
                for p < {extent}: Z[{shift}, j] += (r * x[p])
                a[j] = (a[j] * 0.5 + s)
            z[k] = a[k]
        """
    vectors, matrices = dict.fromkeys("xza", (20,)), dict.fromkeys("XZ", (20, 20))
    program = program_of(text, vectors | matrices | {"s": (), "r": ()}, ("x", "X"), ("z", "Z"))
    rng = np.random.default_rng(5)
    arrays = {"x": rng.normal(size=20), "X": rng.normal(size=(20, 20)) / 20}
    check_passes(program, arrays, passes=[reorient_sums])


def test_no_sum_goes_down_a_column_of_a_factorisation():
    rng = np.random.default_rng(3)
    A = rng.uniform(-1, 1, (9, 9)) / 9 + 2 * np.eye(9)
    for program in check_function(lower, (A,)):
        inside = [part for s in walk(program.body) if isinstance(s, Loop) for part in s.body]
        sums = [s for s in inside if isinstance(s, Compute) and s.accumulate and len(s.params) == 1]
        assert sums
        assert not any(map(module._across, sums))


def test_indices_and_extents_that_read_an_integer_of_the_trip():
    """Where a scalar gets an element for each trip, it does so wherever it is read."""
    text = """
        for p < 9: w[p] = 0.0
        for p < 9: y[p] = 0.0
        loop j < 9:
            k = i[j]
            z[k] = x[j]
            for q < k: y[q] += x[k]
            for p < 9: w[p] += (X[p, j] * k)
        """
    shapes = dict.fromkeys("xyzwi", (9,)) | {"X": (9, 9), "k": ()}
    program = program_of(text, shapes, ("x", "X", "i"), ("y", "z", "w"), dtypes={"i": np.int64, "k": np.int64})
    rng = np.random.default_rng(6)
    arrays = {"x": rng.normal(size=9), "X": rng.normal(size=(9, 9)), "i": rng.permutation(9)}
    assert check_passes(program, arrays, passes=[reorient_sums]) != program


def later_ones(x, A):
    y = x * 1.0
    for j_there in range(x.size - 1):
        for j in range(x.size):
            y[j] += np.sum(np.sin(A[:, j]) * y[j_there + 1])
    return y


def test_counters_of_any_name():
    rng = np.random.default_rng(7)
    check_function(later_ones, (rng.normal(size=6), rng.normal(size=(6, 6)) / 9))
