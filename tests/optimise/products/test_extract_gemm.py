"""Products leave sequential loops as products of matrices, whatever the shape of their points; all else stays."""

from importlib import import_module

import numpy as np
import pytest

import npbench_suite
from sdfgad.ir.program import Loop, computes
from sdfgad.ir.text import program_text
from sdfgad.optimise.products.extract_gemm import extract_gemm
from sdfgad.schedule.products import product_of
from sdfgad.schedule.target import CPU
from tests.helpers import with_target
from tests.helpers_passes import check_function, check_passes
from tests.helpers_text import program_of, tidy

# The package has the pass under the name of its module.
lifting = import_module("sdfgad.optimise.products.extract_gemm")
N = 48
SHAPES = {"X": (8, N), "V": (N, 8), "W": (N, N), "Y": (8, N), "Z": (N, N), "t": (N,), "u": (N,), "z": (N,)}
SHAPES |= {"s": (), "a": (), "B": (N, 8)}
INPUTS, OUTPUTS = ("X", "V", "W", "a"), ("Y", "Z", "z")
CLEAR = """
for q < 8, p < 48: Y[q, p] = 0.0
for p < 48, q < 48: Z[p, q] = 0.0
for p < 48: z[p] = 0.0
for p < 48: t[p] = 0.0
for p < 48: u[p] = 0.5
for p < 48, q < 8: B[p, q] = V[p, q]
"""


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    with_target(monkeypatch, lifted_work=1, call_work=1)


def case(text, changes=()):
    rng = np.random.default_rng(3)
    arrays = {name: np.asarray(rng.normal(size=SHAPES[name])) for name in INPUTS}
    for name, index, value in changes:
        arrays[name][index] = value
    return program_of(CLEAR + tidy(text), SHAPES, INPUTS, OUTPUTS), arrays


def inside(program):
    """The sums of products that are still in the loop that a program ends in or began with."""
    loops = [s for s in program.body if isinstance(s, Loop) and s.var == "i"]
    return [s for s in computes(tuple(loops)) if s.accumulate and "*" in program_text(program.with_body((s,)))]


def has_matrix_product(program):
    products = [product_of(s, program.buffers) for s in computes(program.body)]
    return any(product is not None and product.n for product in products)


def check_lifted(text, left=0, changes=()):
    program, arrays = case(text, changes)
    changed = check_passes(program, arrays, passes=[extract_gemm])
    assert len(inside(changed)) == left
    assert has_matrix_product(changed)
    return changed


AHEAD = {
    "a triangle to the right": """
        loop i < M:
            for p < M - i, q < 8: t[p] = sum of X[q, i] * X[q, i + p]
            for p < M - i: Z[i, i + p] = t[p] * 2.0
        """,
    "without its diagonal, backwards": """
        loop backwards i < M:
            for p < M - i - 1, q < 8: t[p] = sum of X[q, i] * X[q, i + p + 1]
            for p < M - i - 1: Z[i, i + p + 1] += t[p]
        """,
    "a triangle to the left": """
        loop i < M:
            for p < i + 1, q < 8: t[p] = sum of a * V[i, q] * V[p, q]
            for p < i + 1: Z[i, p] = t[p]
        """,
    "counted down": """
        loop i < M:
            for p < i, q < 8: t[p] = sum of X[q, M - 1 - i] * X[q, M - i + p]
            for p < i: Z[M - 1 - i, p] = t[p]
        """,
    "a rectangle": """
        loop i < M:
            for p < 20, q < 8: t[p] = sum of X[q, i] * V[p, q]
            for p < 20: Z[i, p] = t[p]
        """,
    "nothing but products": """
        loop i < M:
            for p < 20, q < 8: Z[i, p] = sum of X[q, i] * V[p, q]
            for p < 20: z[i] += W[i, p]
        """,
    "all of the loops": """
        loop i < M:
            loop j < 20:
                for q < 8: Z[i, j] += V[i, q] * V[j, q]
        """,
    "added to what is carried": """
        loop i < M:
            for p < M - i: t[p] = t[p] * 0.5
            for p < M - i, q < 8: t[p] += X[q, i] * X[q, i + p]
            for p < M - i: Z[i, i + p] = t[p]
        """,
    "a triangle of what is summed": """
        loop i < M:
            for q < 8, p < i: z[q] += W[i, p] * V[p, q]
            for q < 8: Z[i, q] = z[q]
        """,
    "in another loop": """
        loop i < M:
            loop j < 5:
                s = 0.0
                for q < 8: s += V[i, q] * V[j, q]
                Z[i, j] = s
        """,
}
SIZES = [40, 33]
INFINITE = [("X", (2, 5), np.inf), ("V", (3, 1), np.nan), ("W", (5, 2), -np.inf)]


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("name", AHEAD)
def test_ahead(name, m):
    text = AHEAD[name].replace("M", str(m))
    check_lifted(text, changes=INFINITE if m == 33 else ())


BEHIND = {
    "columns to the right": """
        loop i < M:
            for p < M - i: t[p] = W[i, i + p] * 2.0
            for p < M - i, q < 8: Y[q, i + p] += t[p] * X[q, i]
            for p < M - i, q < 8: Y[q, i] += t[p] * X[q, i + p]
        """,
    "backwards, what is carried": """
        loop backwards i < M:
            for p < M - i: t[p] += W[i, i + p]
            for p < M - i - 1, q < 8: Y[q, i] += t[p] * X[q, i + p + 1]
            for p < M - i: t[p] = t[p] * 0.5
        """,
    "columns to the left": """
        loop i < M:
            for p < i: t[p] = W[i, p] * 2.0
            for p < i, q < 8: Y[q, p] += t[p] * V[i, q]
            for p < i, q < 8: Y[q, i] += t[p] * V[p, q]
        """,
    "made by others": """
        loop i < M:
            for p < i: t[p] = W[i, p]
            for p < i, q < 8: Y[q, p] += t[p] * V[i, q]
            for q < 8: Y[q, i] += X[q, i]
        """,
    "nothing kept": """
        loop i < M:
            for p < i, q < 8: Y[q, p] += W[i, p] * V[i, q]
            z[i] = z[i] + 1.0
        """,
    "counted down": """
        loop i < M:
            for p < i + 1: t[p] = W[M - 1 - i, p]
            for p < i + 1, q < 8: Y[q, M - 1 - i + p] += t[p] * V[M - 1 - i, q]
        """,
    "few trips": """
        loop i < 6:
            for p < M - i: t[p] = W[i, i + p]
            for p < M - i, q < 8: Y[q, i + p] += t[p] * V[i, q]
        """,
    "in another loop": """
        loop i < M:
            loop j < 5:
                s = W[i, j] * u[j]
                for p < M - i, q < 8: Y[q, i + p] += s * X[q, i]
                for q < 8: Y[q, j] += s * V[i, q]
        """,
}


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("name", BEHIND)
def test_behind(name, m):
    text = BEHIND[name].replace("M", str(m))
    left = 1 if name == "in another loop" else 0
    check_lifted(text, left, INFINITE if m == 33 else ())


STAYS = {
    "what the loop changes": """
        loop i < 40:
            for p < i, q < 8: Z[i, p] = sum of B[i, q] * B[p, q]
            for q < 8: B[i, q] = B[i, q] * 2.0
        """,
    "a result that the loop reads": """
        loop i < 40:
            for p < i: t[p] = W[i, p] + Y[0, p]
            for p < i, q < 8: Y[q, p] += t[p] * V[i, q]
        """,
    "a result that the loop assigns": """
        loop i < 40:
            for p < i: t[p] = W[i, p]
            for p < i, q < 8: Y[q, p] += t[p] * V[i, q]
            Y[0, i] = 1.0
        """,
    "a narrow band": """
        loop i < 40:
            for p < 4, q < 8: t[p] = sum of X[q, i] * X[q, i + p]
            for p < 4: Z[i, i + p] = t[p]
        """,
    "one trip": """
        loop i < 1:
            for p < 40, q < 8: Z[i, p] += V[i, q] * V[p, q]
        """,
    "against memory": """
        loop i < 40:
            for p < 40 - i, q < 8: t[p] = sum of X[q, i] * X[q, 40 - i - 1 - p]
            for p < 40 - i: Z[i, p] = t[p]
        """,
    "vectors": """
        loop i < 40:
            for p < 48: Z[i, p] += W[i, p] * W[p, i]
        """,
    "under a condition": """
        loop i < 40:
            if a > 0.0:
                for p < i, q < 8: Z[i, p] += V[i, q] * V[p, q]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    program, arrays = case(STAYS[name])
    changed = check_passes(program, arrays, passes=[extract_gemm])
    assert program_text(changed) == program_text(program)


def test_blocks_of_rows(monkeypatch):
    with_target(monkeypatch, call_work=CPU.call_work)
    program, _ = case("""
        loop i < 24:
            for p < 24 - i: t[p] = W[i, i + p]
            for p < 24 - i, q < 8: Y[q, i + p] += t[p] * X[q, i]
        """)
    assert program_text(extract_gemm(program)).split("B[p, q] = V[p, q]\n")[1] == tidy("""
        loop i < 24:
            for p < -i + 24: t[p] = W[i, i + p]
            for p < -i + 24: Y_all[i, i + p] = t[p]
        for row < 24, column < 1, q < 8: Y[q, column + 23] += (Y_all[row, column + 23] * X[q, row])
        for row_1 < 12, column_1 < 12, q < 8: Y[q, column_1 + 11] += (Y_all[row_1, column_1 + 11] * X[q, row_1])
        loop block < 2:
            loop block_1 < 12:
                for column_2 < -block_1 + 11, q < 8: Y[q, 12*block + block_1 + column_2] += (Y_all[12*block + block_1, 12*block + block_1 + column_2] * X[q, 12*block + block_1])
        """)  # noqa: E501


def test_no_loop_is_left_without_statements():
    program, _ = case(AHEAD["all of the loops"].replace("M", "40"))
    assert not any(isinstance(s, Loop) for s in extract_gemm(program).body)


def test_small_ones_and_large_temporaries_stay(monkeypatch):
    text = AHEAD["a triangle to the right"].replace("M", "48")
    program, _ = case(text)
    with_target(monkeypatch, lifted_work=48 * 48 * 8 + 1)
    assert extract_gemm(program) == program
    with_target(monkeypatch, lifted_work=48 * 48 * 8)
    assert extract_gemm(program) != program
    small = {name: shape for name, shape in SHAPES.items() if name not in ("W", "Z")}
    text = "loop i < 48:\n    for p < 48, q < 8: t[p] = sum of X[q, i] * V[p, q]\n    z[i] = t[i]"
    program = program_of(text, small, ("X", "V"), ("z",))
    assert extract_gemm(program) == program


@pytest.mark.parametrize("name", ["covariance", "correlation", "trmm", "syrk", "symm"])
def test_of_the_suite(name):
    entry = npbench_suite.load(name)
    *_, changed = check_function(entry.program, entry.arguments_for("test"), entry.output, list(entry.arrays))
    assert changed is not None


def rows_at_random(seed):
    """A loop over rows of points whose places and lengths move with the trips, and the largest index."""
    rng = np.random.default_rng(seed)
    trips, shift, slope = int(rng.integers(6, 36)), int(rng.integers(-2, 3)), int(rng.integers(-1, 2))
    first = int(rng.integers(0, 24)) + max(0, -slope * (trips - 1))
    offset = max(0, -shift * (trips - 1))
    length, column = f"{first} + {slope}*i", f"p + {shift}*i + {offset}"
    text = """
        loop i < TRIPS:
            for p < LENGTH, q < 8: t[p] = sum of X[q, COLUMN] * V[i, q]
            for p < LENGTH: W[i, p] = t[p] * 2.0
            for p < LENGTH, q < 8: Y[q, COLUMN] += t[p] * V[i, q]
            for p < LENGTH, q < 8: Z[i, q] += X[q, COLUMN] * U[p, i]
        """
    for name, value in (("TRIPS", trips), ("LENGTH", length), ("COLUMN", column)):
        text = text.replace(name, str(value))
    return tidy(text)


@pytest.mark.parametrize("seed", range(16))
def test_rows_at_random(seed):
    shapes = {"X": (8, 160), "Y": (8, 160), "V": (48, 8), "Z": (48, 8), "W": (48, 80), "U": (80, 48), "t": (80,)}
    clear = "for q < 8, p < 160: Y[q, p] = 0.0\nfor p < 48, q < 8: Z[p, q] = 0.0\nfor p < 48, q < 80: W[p, q] = 0.0\n"
    program = program_of(clear + rows_at_random(seed), shapes, ("X", "V", "U"), ("Y", "Z", "W"))
    rng = np.random.default_rng(seed)
    check_passes(program, {name: rng.normal(size=shapes[name]) for name in ("X", "V", "U")}, passes=[extract_gemm])
