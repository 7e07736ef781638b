"""Rows that share vectors run together, and what is left over as before."""

import sys

import pytest

from sdfgad.optimise.loops.unroll_and_jam import unroll_and_jam
from tests.helpers import with_target
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes
from tests.helpers_text import sample

module = sys.modules[unroll_and_jam.__module__]


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(module, "LEAST_LENGTH", 6)
    monkeypatch.setattr(module, "LEAST_GROUPS", 2)


ROWS = """
    for c < 6: b[c] = x[c]
    for c < 6: w[c] = 0.0
    loop parallel f < 20:
        z[f] = 0.0
        loop parallel g < 6:
            s = (X[f, g] * y[f])
            w[g] += s
            z[f] += (s * b[g])
    """


def test_rows_share_vectors(monkeypatch):
    with_target(monkeypatch, jammed_rows=2)
    assert_becomes(
        unroll_and_jam,
        ROWS,
        """
        for c < 6: b[c] = x[c]
        for c < 6: w[c] = 0.0
        loop parallel f_rows < 10:
            z[2*f_rows] = 0.0
            z[2*f_rows + 1] = 0.0
            loop parallel g < 6:
                s_1 = (X[2*f_rows, g] * y[2*f_rows])
                w[g] += s_1
                z[2*f_rows] += (s_1 * b[g])
                s_2 = (X[2*f_rows + 1, g] * y[2*f_rows + 1])
                w[g] += s_2
                z[2*f_rows + 1] += (s_2 * b[g])
        """,
    )


def test_the_rest_has_scalars_of_its_own(monkeypatch):
    with_target(monkeypatch, jammed_rows=3)
    program, arrays, _ = sample(ROWS)
    *_, together, rest = check_passes(program, arrays, passes=[unroll_and_jam]).body
    assert (together.trips.const, rest.trips.const) == (6, 2)
    assert not {name for name in together.mentioned if name.startswith("s")} & rest.mentioned


@pytest.mark.parametrize("rows", [2, 3, 4, 7, 10])
def test_a_scalar_around_the_loop_along_a_row(rows, monkeypatch):
    with_target(monkeypatch, jammed_rows=rows)
    program, arrays, _ = sample(
        """
        for c < 20: w[c] = 0.0
        q = 0.0
        loop parallel f < 20:
            s = (x[f] * 2.0)
            r = s
            loop parallel g < 6:
                Z[f, g] = (s * y[g])
                w[g] += (Z[f, g] * x[g + 3])
                r += Z[f, g]
            q += r
            z[f] = (r * s)
        """
    )
    assert unroll_and_jam(program) != program
    check_passes(program, arrays, passes=[unroll_and_jam])


STAYS = {
    "not parallel": """
        loop f < 20:
            loop parallel g < 6:
                w[g] += X[f, g] * x[g]
        """,
    "too few rows": """
        loop parallel f < 7:
            loop parallel g < 6:
                w[g] += X[f, g] * x[g]
        """,
    "too short rows": """
        loop parallel f < 20:
            loop parallel g < 5:
                w[g] += X[f, g] * x[g]
        """,
    "rows of different lengths": """
        loop parallel f < 20:
            loop parallel g < f:
                w[g] += x[f] * x[g]
        """,
    "nothing shared but what is added to": """
        loop parallel f < 20:
            loop parallel g < 6:
                w[g] += X[f, g]
        """,
    "no sums": """
        loop parallel f < 20:
            loop parallel g < 6:
                Z[f, g] = x[g] * y[g]
        """,
    "two loops along a row": """
        loop parallel f < 20:
            loop parallel g < 6:
                w[g] += X[f, g] * x[g]
            loop parallel h < 6:
                Z[f, h] = w[h]
        """,
    "an array of one row": """
        loop parallel f < 20:
            loop parallel g < 6:
                t[g] = X[f, g] * x[g]
                w[g] += t[g] * y[g]
        """,
    "a scalar that is read later": """
        loop parallel f < 20:
            loop parallel g < 6:
                s = x[g] * 2.0
                w[g] += s * y[g]
        q = s
        """,
    "an output": """
        loop parallel f < 20:
            q = x[f]
            loop parallel g < 6:
                w[g] += y[g] * q
        """,
    "an extremum": """
        loop parallel f < 20:
            loop parallel g < 6:
                w[g] += X[f, g] * x[g]
                q max= y[g]
        """,
    "a scatter": """
        loop parallel f < 20:
            loop parallel g < 6:
                w[i[g]] += x[g] * y[g] * X[f, g]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(unroll_and_jam, STAYS[name])


def test_a_rank_two_update(rng, monkeypatch):
    monkeypatch.setattr(module, "LEAST_LENGTH", 8)

    def update(A, u, v, x, y):
        A += u[:, None] * v + y[:, None] * x
        return A @ (y @ A)

    check_function(update, (rng.random((9, 8)), rng.random(9), rng.random(8), rng.random(8), rng.random(9)))
