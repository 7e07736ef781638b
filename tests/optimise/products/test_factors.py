"""Two products with a common factor become one of the sum of the others; all else stays."""

from importlib import import_module

import numpy as np
import pytest

from sdfgad.ir.text import program_text
from sdfgad.optimise.products.factors import add_factors
from tests.helpers import with_target
from tests.helpers_passes import check_function, check_passes
from tests.helpers_text import program_of, tidy

adding = import_module("sdfgad.optimise.products.factors")
SHAPES = dict.fromkeys("ABCXYZ", (20, 20)) | {"D": (3, 20, 20), "s": (), "k": (20,)}
INPUTS, OUTPUTS = ("A", "B", "X", "D", "s", "k"), ("Y", "Z", "C")
CLEAR = """
for i < 20, j < 20: Y[i, j] = 0.5
for i < 20, j < 20: Z[i, j] = 1.5
for i < 20, j < 20: C[i, j] = A[j, i]
"""


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    with_target(monkeypatch, matrix_work=1)


def check(text):
    rng = np.random.default_rng(5)
    arrays = {name: np.asarray(rng.normal(size=SHAPES[name])) for name in INPUTS}
    program = program_of(CLEAR + tidy(text), SHAPES, INPUTS, OUTPUTS, dtypes={"k": "int64"} if "k[" in text else {})
    arrays["k"] = np.arange(20)[::-1].copy() if "k[" in text else arrays["k"]
    changed = check_passes(program, arrays, passes=[add_factors])
    return program_text(changed).split("A[j, i]\n")[1], program_text(program).split("A[j, i]\n")[1]


def test_a_matrix_and_its_transpose():
    found, _ = check("""
        for i < 20, j < 20, p < 20: Y[j, p] = sum of A[i, j] * 0.5 * X[i, p]
        for i < 20, j < 20: Z[i, j] = B[i, j]
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * 0.5 * X[j, p]
        """)
    assert found == tidy("""
        for i < 20, j < 20: A_sum[i, j] = (A[i, j] + A[j, i])
        for i < 20, j < 20, p < 20: Y[j, p] = sum of ((A_sum[i, j] * 0.5) * X[i, p])
        for i < 20, j < 20: Z[i, j] = B[i, j]
        """)


def test_three_products_with_other_names_and_parts_of_arrays():
    found, _ = check(
        """
        for i < 10, j < 20, p < 20: Z[i, p] += -(D[0, i, j] * X[j, p])
        for a < 10, c < 20, b < 20: Z[a, b] += -(D[s2, c, a + 4] * X[c, b])
        for i < 10, j < 20, p < 20: Z[i, p] += -(B[i + 10, j] * X[j, p])
        """.replace("s2", "2")
    )
    assert found == tidy("""
        for i < 10, j < 20: D_sum[i, j] = (D[0, i, j] + D[2, j, i + 4])
        for i < 10, j < 20: D_sum_sum[i, j] = (D_sum[i, j] + B[i + 10, j])
        for i < 10, j < 20, p < 20: Z[i, p] += -(D_sum_sum[i, j] * X[j, p])
        """)


STAYS = {
    "other factors": """
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * X[j, p]
        for i < 20, j < 20, p < 20: Y[i, p] += B[i, j] * C[j, p]
        """,
    "both factors in other places": """
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * X[j, p]
        for i < 20, j < 20, p < 20: Y[i, p] += A[j, i] * X[p, j]
        """,
    "other scales": """
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * X[j, p] * 2.0
        for i < 20, j < 20, p < 20: Y[i, p] += B[i, j] * X[j, p] * 3.0
        """,
    "other points": """
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * X[j, p]
        for i < 20, j < 19, p < 20: Y[i, p] += B[i, j] * X[j, p]
        """,
    "the sum is read in between": """
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * X[j, p]
        for i < 20, j < 20: Z[i, j] = Y[i, j]
        for i < 20, j < 20, p < 20: Y[i, p] += B[i, j] * X[j, p]
        """,
    "the common factor changes in between": """
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * C[j, p]
        for i < 20, j < 20: C[i, j] = 2.0 * B[i, j]
        for i < 20, j < 20, p < 20: Y[i, p] += B[i, j] * C[j, p]
        """,
    "the second factor changes in between": """
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * X[j, p]
        for i < 20, j < 20: C[i, j] = 2.0 * B[i, j]
        for i < 20, j < 20, p < 20: Y[i, p] += C[i, j] * X[j, p]
        """,
    "the second one assigns": """
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * X[j, p]
        for i < 20, j < 20, p < 20: Y[i, p] = sum of B[i, j] * X[j, p]
        """,
    "elements that data choose": """
        for i < 20, j < 20, p < 20: Y[i, p] += A[i, j] * X[j, p]
        for i < 20, j < 20, p < 20: Y[i, p] += A[k[i], j] * X[j, p]
        """,
    "few products for each element": """
        for i < 20, j < 20, p < 15: Y[i, p] += A[i, j] * X[j, p]
        for i < 20, j < 20, p < 15: Y[i, p] += B[i, j] * X[j, p]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    found, before = check(STAYS[name])
    assert found == before


def test_little_work_stays(monkeypatch):
    with_target(monkeypatch, matrix_work=20 * 20 * 20 + 1)
    found, before = check(STAYS["other scales"].replace("3.0", "2.0"))
    assert found == before


def gram(x):
    return x @ x.T


def test_of_a_function():
    *_, changed = check_function(gram, (np.random.default_rng(6).normal(size=(20, 24)),), None, ["x"])
    assert program_text(changed).count("_sum[") > 1
