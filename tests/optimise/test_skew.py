"""Sweeps of a time loop row by row, several steps together: everything that meets does so in the same order."""

import sys

import numpy as np
import pytest

from sdfgad.ir.program import Branch, walk
from sdfgad.optimise.skew import skew
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes, outputs
from tests.helpers_text import program_of, sample

module = sys.modules[skew.__module__]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(module, "LEAST_POINTS", 4)
    monkeypatch.setattr(module, "CACHE", 700)
    monkeypatch.setattr(module, "ROWS", 1)


@pytest.fixture
def forced(monkeypatch):
    """Makes all loops that can run so many steps together, and so many rows side by side."""

    def force(steps, rows=1):
        monkeypatch.setattr(module, "ROWS", rows)
        monkeypatch.setattr(module._Skewing, "is_large", lambda *_: True)
        monkeypatch.setattr(
            module._Skewing, "steps", lambda self, loop, sweeps, shifts, slope: steps if slope < 15 else 0
        )

    return force


START = """
    for p < 20, c < 6: Z[p, c] = X[p, c]
    for p < 20, c < 6: W[p, c] = Y[p, c]
    for p < 20: z[p] = 0.0
    loop {kind}h < {trips}:"""
JACOBI = """
        for p < 18, c < 6: Z[p + 1, c] = ((W[p, c] + W[p + 2, c]) * 0.5)
        for p < 18, c < 6: W[p + 1, c] = ((Z[p, c] + Z[p + 2, c]) * 0.5)
"""


def text_of(body, trips, kind=""):
    return START.format(kind=kind, trips=trips) + body


def test_two_steps_together():
    assert_becomes(
        skew,
        text_of(JACOBI, "n - 1"),
        """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        for p < 20, c < 6: W[p, c] = Y[p, c]
        for p < 20: z[p] = 0.0
        loop h_waves < floor_divide(n, 2):
            loop wave < 21:
                loop h_step < minimum(2, -2*h_waves + n - 1):
                    if ((0 <= R) and (R <= 17)):
                        for c < 6: Z[R + 1, c] = ((W[R, c] + W[R + 2, c]) * 0.5)
                    if ((0 <= R - 1) and (R - 1 <= 17)):
                        for c < 6: W[R, c] = ((Z[R - 1, c] + Z[R + 1, c]) * 0.5)
        """.replace("R", "-2*h_step + wave"),
        n=6,
    )


def test_one_step_by_itself(monkeypatch):
    monkeypatch.setattr(module, "STEPS", (1,))
    assert_becomes(
        skew,
        text_of(JACOBI, 3),
        """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        for p < 20, c < 6: W[p, c] = Y[p, c]
        for p < 20: z[p] = 0.0
        loop h < 3:
            loop wave < 19:
                if ((0 <= wave) and (wave <= 17)):
                    for c < 6: Z[wave + 1, c] = ((W[wave, c] + W[wave + 2, c]) * 0.5)
                if ((0 <= wave - 1) and (wave - 1 <= 17)):
                    for c < 6: W[wave, c] = ((Z[wave - 1, c] + Z[wave + 1, c]) * 0.5)
        """,
    )


def test_two_rows_side_by_side(monkeypatch):
    monkeypatch.setattr(module, "STEPS", (1,))
    monkeypatch.setattr(module, "ROWS", 2)
    assert_becomes(
        skew,
        text_of(JACOBI, 3),
        """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        for p < 20, c < 6: W[p, c] = Y[p, c]
        for p < 20: z[p] = 0.0
        loop h < 3:
            loop wave < 10:
                if ((0 <= 2*wave) and (2*wave <= 16)):
                    loop parallel c < 6:
                        Z[2*wave + 1, c] = ((W[2*wave, c] + W[2*wave + 2, c]) * 0.5)
                        Z[2*wave + 2, c] = ((W[2*wave + 1, c] + W[2*wave + 3, c]) * 0.5)
                else:
                    if ((0 <= 2*wave) and (2*wave <= 17)):
                        for c < 6: Z[2*wave + 1, c] = ((W[2*wave, c] + W[2*wave + 2, c]) * 0.5)
                    if ((0 <= 2*wave + 1) and (2*wave + 1 <= 17)):
                        for c < 6: Z[2*wave + 2, c] = ((W[2*wave + 1, c] + W[2*wave + 3, c]) * 0.5)
                if ((0 <= 2*wave - 1) and (2*wave - 1 <= 16)):
                    loop parallel c < 6:
                        W[2*wave, c] = ((Z[2*wave - 1, c] + Z[2*wave + 1, c]) * 0.5)
                        W[2*wave + 1, c] = ((Z[2*wave, c] + Z[2*wave + 2, c]) * 0.5)
                else:
                    if ((0 <= 2*wave - 1) and (2*wave - 1 <= 17)):
                        for c < 6: W[2*wave, c] = ((Z[2*wave - 1, c] + Z[2*wave + 1, c]) * 0.5)
                    if ((0 <= 2*wave) and (2*wave <= 17)):
                        for c < 6: W[2*wave + 1, c] = ((Z[2*wave, c] + Z[2*wave + 2, c]) * 0.5)
        """,
    )


def same(text, **integers):
    """The program in waves has the same values, bit by bit."""
    program, arrays, integers = sample(text, **integers)
    changed = check_passes(program, arrays, integers, passes=[skew])
    if "+=" not in text:
        before, after = (outputs(one, arrays, integers) for one in (program, changed))
        for name in before:
            np.testing.assert_array_equal(before[name], after[name])
    return changed != program


@pytest.mark.parametrize("kind", ["", "backwards "])
@pytest.mark.parametrize(("steps", "rows"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (4, 1), (4, 3), (2, 20)])
@pytest.mark.parametrize("trips", [-3, 0, 1, 2, 3, 5, 8])
def test_any_number_of_trips(trips, steps, rows, kind, forced):
    forced(steps, rows)
    assert same(text_of(JACOBI, "n", kind), n=trips)


BODIES = {
    "in place": """
        for p < 19, c < 6: Z[p + 1, c] = (Z[p + 1, c] - ((W[p + 1, c] - W[p, c]) * 0.5))
        for p < 19, c < 6: W[p, c] = (W[p, c] - ((Z[p + 1, c] - Z[p, c]) * 0.5))
    """,
    "borders": """
        for c < 6: Z[0, c] = x[h]
        for p < 18, c < 6: Z[p + 1, c] = ((W[p, c] + W[p + 2, c]) * 0.5)
        for c < 6: Z[19, c] = (Z[18, c] * 0.5)
        for p < 20: W[p, 0] = Z[p, 1]
        for p < 18, c < 5: W[p + 1, c + 1] = ((Z[p, c] + Z[p + 2, c + 1]) * 0.5)
        for c < 6: W[19, c] = W[18, c]
    """,
    "what a step adds": """
        for p < 18, c < 6: Z[p + 1, c] = ((W[p, c] + W[p + 2, c]) * 0.5)
        for p < 18, c < 6: W[p + 1, c] += ((Z[p, c] + Z[p + 2, c]) * 0.5)
        for c < 6: z[h] += W[3, c]
        for c < 6: W[0, c] = (W[1, c] + z[h])
    """,
    "further rows": """
        for p < 16, c < 6: Z[p + 2, c] = ((W[p, c] + W[p + 4, c]) * 0.5)
        for p < 20, c < 6: W[p, c] = (Z[p, c] * 0.5)
    """,
    "three": """
        for p < 20, c < 6: T[p, c] = (Z[p, c] * W[p, c])
        for p < 18, c < 6: Z[p + 1, c] = ((T[p, c] + W[p + 2, c]) * 0.5)
        for p < 18, c < 6: W[p, c] = ((Z[p, c] + T[p + 2, c]) * 0.5)
    """,
}


@pytest.mark.parametrize("kind", ["", "backwards "])
@pytest.mark.parametrize(("steps", "rows"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (3, 3)])
@pytest.mark.parametrize("name", BODIES)
def test_keeps_the_order(name, steps, rows, kind, forced):
    forced(steps, rows)
    assert same(text_of(BODIES[name], "n", kind), n=7)


STAY = {
    "rows in the other order": """
        for p < 20, c < 6: Z[p, c] = (W[-p + 19, c] * 0.5)
        for p < 20, c < 6: W[p, c] = (Z[p, c] * 0.5)
    """,
    "around": """
        for p < 18, c < 6: Z[p + 1, c] = ((W[p, c] + W[p + 2, c]) * 0.5)
        for c < 6: Z[0, c] = Z[18, c]
        for p < 18, c < 6: W[p + 1, c] = ((Z[p, c] + Z[p + 2, c]) * 0.5)
    """,
    "a sum over all": """
        s = 0.0
        for p < 20, c < 6: s += Z[p, c]
        for p < 20, c < 6: W[p, c] = (Z[p, c] * s)
        for p < 20, c < 6: Z[p, c] = (W[p, c] * 0.5)
    """,
    "rows that data choose": """
        for p < 20, c < 6: Z[p, c] = (W[i[p], c] * 0.5)
        for p < 20, c < 6: W[p, c] = (Z[p, c] * 0.5)
    """,
    "a value of each point": """
        for p < 20, c < 6: T[p, c] = (W[p, c] * 0.5)
        for p < 20, c < 6: Z[p, c] = (T[p, c] + Z[p, c])
        for p < 20, c < 6: W[p, c] = (T[p, c] - Z[p, c])
    """,
    "a loop": """
        for p < 20, c < 6: Z[p, c] = (W[p, c] * 0.5)
        loop j < 3:
            for p < 20, c < 6: W[p, c] = (Z[p, c] * 0.5)
    """,
    "a fresh sum": """
        for p < 20, c < 6: Z[p, c] = (W[p, c] * 0.5)
        for p < 20, c < 6, d < 3: W[p, c] = sum of Z[p, d]
    """,
}


@pytest.mark.parametrize("name", STAY)
def test_stays(name, forced):
    forced(2)
    assert_stays(skew, text_of(STAY[name], 7))


def test_small_arrays_stay(monkeypatch):
    monkeypatch.setattr(module, "CACHE", 20 * 2 * 48)
    assert_stays(skew, text_of(JACOBI, 4))


def test_short_rows_stay(monkeypatch):
    monkeypatch.setattr(module, "LEAST_POINTS", 7)
    assert_stays(skew, text_of(JACOBI, 4))


def test_a_tape(forced):
    forced(3)
    text = """
for p < 20, c < 6: Z[p, c] = X[p, c]
for p < 20, c < 6: W[p, c] = X[p, c]
loop h < 7:
    for p < 18, c < 6: Z[p + 1, c] = ((W[p, c] + W[p + 2, c]) * 0.5)
    for p < 20, c < 6: V[h, p, c] = W[p, c]
    for p < 18, c < 6: W[p + 1, c] = ((Z[p, c] * Z[p + 2, c]) * V[h, p, c])
"""
    shapes = {"X": (20, 6), "Z": (20, 6), "W": (20, 6), "V": (7, 20, 6)}
    arrays = {"X": np.random.default_rng(0).normal(size=(20, 6))}
    program = program_of(text, shapes, arrays, ["Z", "W", "V"])
    changed = check_passes(program, arrays, passes=[skew])
    assert any(isinstance(s, Branch) for s in walk(changed.body))
    before, after = (outputs(one, arrays) for one in (program, changed))
    assert all(np.array_equal(before[name], after[name]) for name in before)


# --- random programs


def _term(rng, name, rows, at, columns):
    low, high = max(-at, -2), min(20 - rows - at, 2)
    row, column = int(rng.integers(low, high + 1)) + at, int(rng.integers(0, 7 - columns))
    return f"{name}[p + {row}, c + {column}]"


def _line(rng):
    target = str(rng.choice(list("ZWT")))
    others = [name for name in "ZWT" if name != target]
    kind = rng.choice(["sweep", "row", "column"], p=[0.6, 0.25, 0.15])
    rows, columns = (1 if kind == "row" else int(rng.integers(14, 21))), (1 if kind == "column" else 5)
    at = int(rng.choice([0, 20 - rows])) if kind == "row" else int(rng.integers(0, 21 - rows))
    if kind == "row" and rng.random() < 0.3:
        at = int(rng.integers(0, 20))
    terms = [_term(rng, str(rng.choice(others)), rows, at, columns) for _ in range(rng.integers(1, 4))]
    column = int(rng.integers(0, 7 - columns))
    own = f"{target}[p + {at}, c + {column}]"
    sign = str(rng.choice(["=", "+="]))
    if rng.random() < 0.3 and sign == "=":
        terms.append(own)
    value = terms[0]
    for term in terms[1:]:
        value = f"({value} + {term})"
    if kind == "row" and rng.random() < 0.5:
        return f"for c < {columns}: {own} {sign} ({value} * 0.3)".replace("p + ", "")
    return f"for p < {rows}, c < {columns}: {own} {sign} ({value} * 0.3)"


@pytest.mark.parametrize("seed", range(60))
def test_random_sweeps(seed, forced):
    rng = np.random.default_rng(seed)
    forced(int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    lines = ["    " + _line(rng) for _ in range(rng.integers(2, 7))]
    start = [f"for p < 20, c < 6: {name}[p, c] = {value}[p, c]" for name, value in ("ZX", "WY", "TX")]
    loop = f"loop {rng.choice(['', 'backwards '])}h < {rng.integers(1, 7)}:"
    end = "for p < 20, c < 6: Z[p, c] += T[p, c]"
    program, arrays, integers = sample("\n".join([*start, loop, *lines, end]))
    check_passes(program, arrays, integers, passes=[skew])


# --- functions


def jacobi(A, B, n):
    for _t in range(n):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[:-2, 1:-1] + B[2:, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:])
    return A


def waves(ex, ey, hz, source, n):
    for t in range(n):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def burgers(u, v, n):
    for _t in range(n):
        un = u.copy()
        vn = v.copy()
        u[1:-1, 1:-1] = un[1:-1, 1:-1] - 0.1 * un[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[:-2, 1:-1])
        v[1:-1, 1:-1] = vn[1:-1, 1:-1] - 0.1 * un[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
        u[0, :] = 1.0
        u[-1, :] = 0.5 * u[-2, :]
        v[:, 0] = v[:, 1]
    return u * v


@pytest.mark.parametrize("function", [jacobi, waves, burgers])
def test_functions_and_their_gradients(function, forced):
    forced(2, 2)
    rng = np.random.default_rng(3)
    count = function.__code__.co_argcount - 1
    args = [rng.normal(size=(13, 7)) for _ in range(min(count, 3))] + [rng.normal(size=5)] * (count == 4)
    found = check_function(function, (*args, 5))
    if function is not burgers:
        assert all(any(isinstance(s, Branch) for s in walk(program.body)) for program in found)
