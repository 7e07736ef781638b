"""Statements run in pieces: which may, what is held then, and that nothing else changes."""

import math

import numpy as np
import pytest

from scripts.fuzzing.case import function_of
from scripts.fuzzing.grammar import case_of_seed
from sdfgad.errors import SdfgadError
from sdfgad.ir.text import program_text
from sdfgad.optimise.loops import pieces
from sdfgad.optimise.loops.pieces import PIECES, SHORTEST_ROW, groups_of, in_pieces
from sdfgad.optimise.passes import BEFORE_LOOPS, optimise
from sdfgad.planning.strip_mining import Estimate
from tests.helpers_passes import TOLERANCE, assert_same, gradient_case, outputs
from tests.helpers_text import program_of, tidy
from tests.helpers_tiers import some

ROWS, COLUMNS = 40, 6
SHAPES = dict.fromkeys("XYZT", (ROWS, COLUMNS)) | dict.fromkeys("xyzt", (ROWS,)) | {"w": (COLUMNS,), "s": ()}
SHAPES |= {"V": (COLUMNS, COLUMNS), "U": (COLUMNS, COLUMNS), "k": (ROWS,)}


def made(text, outs, shapes=SHAPES):
    inputs = [name for name in shapes if name not in outs and name in "XYxyVk"]
    return program_of(text, shapes, inputs, outs, dtypes={"k": np.int64})


def arrays_of(program):
    rng = np.random.default_rng(3)
    shapes = {name: tuple(e.const for e in program.buffers[name].shape) for name in program.inputs}
    return {n: rng.integers(0, ROWS, s) if n == "k" else rng.standard_normal(s) for n, s in shapes.items()}


def check(program, arrays=None, integers=()):
    """All groups that may run in pieces compute the same; returns them."""
    arrays = arrays_of(program) if arrays is None else arrays
    expected, integers = outputs(program, arrays, integers), dict(integers)
    # What was summed in single precision may end in an output of double precision.
    is_single = any(buffer.dtype in (np.float32, np.complex64) for buffer in program.buffers.values())
    tolerance = 1e-4 if is_single else TOLERANCE
    groups = groups_of(program, sorted({name for statement in program.body for name in statement.mentioned}))
    for seed, (cut, group) in enumerate(groups.items()):
        assert_same(outputs(group.program, arrays, integers, seed), expected, f"in pieces: {cut}", tolerance)
    return groups


# --- who may


PRODUCT = """
    for p < 40, q < 6, r < 6: T[p, q] = sum of (X[p, r] * V[r, q])
    for p < 40, q < 6: Z[p, q] = sin(T[p, q])
    for p < 40, q < 6, r < 6: U[r, q] = sum of (Z[p, q] * X[p, r])
"""


def test_rows_of_a_product_and_a_sum_over_them():
    program = made(PRODUCT, "U")
    found, cut = in_pieces(program, Estimate({}).peak, Estimate({}).largest(program))
    assert program_text(found) == tidy("""
        for r < 6, q < 6: U[r, q] = 0.0
        loop piece < 8:
            for p < 5, q < 6, r < 6: T[p, q] = sum of (X[p + 5*piece, r] * V[r, q])
            for p < 5, q < 6: Z[p, q] = sin(T[p, q])
            for p < 5, q < 6, r < 6: U[r, q] += (Z[p, q] * X[p + 5*piece, r])
        """)
    assert (cut.length, cut.width, set(cut.held)) == (ROWS, ROWS // PIECES, {"T", "Z"})
    check(program)


def test_what_is_left_over_comes_last():
    shapes = SHAPES | dict.fromkeys("XYZT", (37, COLUMNS))
    program = made(PRODUCT.replace("40", "37"), "U", shapes)
    found, _ = in_pieces(program, Estimate({}).peak, Estimate({}).largest(program))
    text = program_text(found)
    assert "loop piece < 7:" in text
    assert "for p < 2, q < 6: Z[p, q] = sin(T[p, q])" in text
    check(program)


def test_a_loop_of_the_users_within():
    check_cut(
        """
        for p < 40, q < 6: T[p, q] = X[p, q] * 2.0
        loop j < 5:
            for p < 40: T[p, j + 1] = sin(T[p, j]) + Y[p, j]
        for p < 40: z[p] = T[p, 5]
        """,
        "z",
        "T",
    )


def test_a_loop_that_is_cut_itself():
    check_cut(
        """
        loop j < 40:
            for q < 6: T[j, q] = X[j, q] * Y[j, q]
        loop backwards j < 40:
            for q < 6: Z[j, q] = T[j, q] + X[j, q]
        """,
        "Z",
        "T",
    )


def check_cut(text, out, name):
    """Its statements run in pieces, and one piece at a time is held of a buffer."""
    groups = check(made(text, out))
    assert any(name in cut.held for cut in groups)


NOT = {
    "neighbours": """
        for p < 40: t[p] = x[p] * x[p]
        for p < 39: z[p] = t[p] + t[p + 1]
        """,
    "the other way round": """
        for p < 40: t[p] = x[p] * x[p]
        for p < 40: z[p] = t[39 - p]
        """,
    "another axis": """
        for p < 6, q < 6: U[p, q] = V[p, q] * 2.0
        for p < 6, q < 6: W[p, q] = U[q, p] + U[p, q]
        """,
    "places that are data": """
        for p < 40: t[p] = x[p] * x[p]
        for p < 40: z[p] = t[k[p]]
        """,
    "a sum that all use": """
        for p < 40: t[p] = x[p] * x[p]
        s = 0.0
        for p < 40: s += t[p]
        for p < 40: z[p] = t[p] / s
        """,
    "a number carried from trip to trip": """
        s = 0.0
        for p < 40: t[p] = x[p] * x[p]
        loop j < 40:
            s = s * 0.5 + t[j]
            z[j] = s
        """,
    "the largest of all": """
        for p < 40: t[p] = x[p] * x[p]
        for p < 40: s max= all t[p]
        for p < 40: z[p] = s + x[p]
        """,
    "solved as a whole": """
        for p < 6, q < 6: U[p, q] = V[p, q] * 2.0
        W, f = solve(U, V)
        for p < 6, q < 6: z[6*p + q] = W[p, q]
        """,
}


@pytest.mark.parametrize("name", NOT)
def test_held_as_a_whole(name):
    shapes = SHAPES | {"W": (COLUMNS, COLUMNS), "f": ()}
    groups = check(made(NOT[name], "z" if name != "another axis" else "W", shapes))
    assert not [cut for cut in groups if {"t", "U"} & set(cut.held)]


def test_a_number_carried_along_the_pieces():
    # In order, each trip after the one before, pieces are as good as the whole; it is not seen, but never wrong.
    check(made(NOT["a number carried from trip to trip"], "z"))


def test_statements_that_do_not_fit_go_before_or_after():
    program = made(
        """
        for p < 40: t[p] = x[p] * x[p]
        for q < 6: w[q] = V[q, 0]
        s = 0.0
        for p < 40: a[p] = sin(t[p])
        for p < 40: s += a[p]
        for q < 6: U[q, 0] = w[q] * s
        for p < 40: z[p] = t[p] * a[p]
        """,
        "zU",
        SHAPES | {"a": (ROWS,)},
    )
    groups = check(program)
    text = program_text(next(group for cut, group in groups.items() if {"t", "a"} <= set(cut.held)).program)
    assert text.index("w[q] = V") < text.index("loop piece") < text.index("U[q, 0] = ")


def test_the_same_statement_outside_holds_the_whole():
    # As of a value that is made again.
    program = made(
        """
        for p < 40: t[p] = x[p] * x[p]
        for p < 40: a[p] = sin(y[p])
        for p < 40: z[p] = t[p] * a[p]
        for p < 40: a[p] = sin(z[p])
        for p < 40: z[p] = t[p] * a[p]
        """,
        "z",
        SHAPES | {"a": (ROWS,)},
    )
    square, first, second, *rest = program.body
    groups = check(program.with_body((square, first, second, square, *rest)))
    assert {(cut.span, cut.held) for cut in groups} >= {((1, 5), ("a",)), ((0, 5), ("a", "t"))}


def test_short_pieces_of_rows_are_not_cut():
    short, long = (
        made(PRODUCT.replace("6", str(n)), "U", {k: tuple(n if e == 6 else e for e in s) for k, s in SHAPES.items()})
        for n in (SHORTEST_ROW, SHORTEST_ROW * PIECES)
    )
    # Columns of T and Z lie along memory; rows do not.
    assert {cut.length for cut in groups_of(short, ["T"])} == {ROWS}
    assert {cut.length for cut in groups_of(long, ["T"])} == {ROWS, SHORTEST_ROW * PIECES}


# --- gradients


def network(x, w, v):
    h = np.tanh(x @ w)
    for k in range(3):
        h = np.sin(h @ v) + 0.1 * h
    return np.sum(h**2)


def normalised(x, g):
    mean = np.mean(x, axis=0)
    spread = np.sqrt(np.mean((x - mean) ** 2, axis=0) + 0.1)
    return np.sum(np.maximum((x - mean) / spread, 0.0) * g)


def pooled(x, w):
    y = np.empty((x.shape[0], x.shape[1] // 2, w.shape[1]))
    for i in range(y.shape[1]):
        y[:, i] = np.maximum(x[:, 2 * i] @ w, x[:, 2 * i + 1] @ w)
    return np.sum(np.exp(-y))


def branching(x, w, n):
    s = 0.0
    for k in range(n):
        t = np.tanh(x * w[k])
        if k > 1:
            t = t * x
        s += np.sum(np.where(t > 0.1, t, np.sin(x)))
    return s


def rolling(x, w):
    t = np.tanh(x)
    t[1:] += t[:-1] * w
    u = t * t
    return np.sum(u[::2] * u[1::2])


def normal(*shape):
    return np.random.default_rng(11).standard_normal(shape)


PROGRAMS = [
    (network, (normal(14, 5), normal(5, 6), normal(6, 6)), True),
    (normalised, (normal(9, 12), normal(9, 12)), True),
    (pooled, (normal(10, 8, 3), normal(3, 4)), True),
    (branching, (normal(16, 3), normal(4), 4), True),
    (rolling, (normal(20), 0.3), False),
]


@pytest.mark.parametrize(("function", "args", "is_cut"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_gradients_in_pieces(function, args, is_cut, monkeypatch):
    monkeypatch.setattr("sdfgad.optimise.loops.pieces.SHORTEST_ROW", 1)
    _, gradient, arrays, integers = gradient_case(function, args)
    program = optimise(gradient.program, BEFORE_LOOPS)
    groups = check(program, arrays, integers)
    assert any(cut.held for cut in groups) == is_cut
    for group in list(groups.values())[:3]:
        # A second cut, of what is in pieces already.
        check(group.program, arrays, integers)
        assert_same(
            outputs(optimise(group.program), arrays, integers), outputs(program, arrays, integers), "all passes"
        )


# Programs of the fuzzer's grammar. Seeds of one number belong together.
BATCH, LARGE = 15, 100


@pytest.mark.parametrize("batch", some(range(20), 20))
def test_random_programs(batch, tmp_path, monkeypatch):
    """Rows may be short, and a second cut follows on each of some first ones."""
    monkeypatch.setattr(pieces, "SHORTEST_ROW", 1)
    found = 0
    for seed in range(BATCH * batch, BATCH * (batch + 1)):
        case = case_of_seed(seed)
        if max(math.prod(argument.shape) for argument in case.arguments.values()) > LARGE:
            continue
        wrt = [name for name, argument in case.arguments.items() if argument.is_floating]
        try:
            _, gradient, arrays, integers = gradient_case(function_of(case, tmp_path), case.drawn(0), case.output, wrt)
        except SdfgadError:
            continue
        groups = check(optimise(gradient.program, BEFORE_LOOPS), arrays, integers)
        found += len(groups)
        for group in list(groups.values())[:2]:
            check(group.program, arrays, integers)
    assert found
