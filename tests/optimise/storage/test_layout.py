"""Temporaries lie in memory as most of what runs innermost goes through them."""

import pytest

from sdfgad.ir.expr import Lin
from sdfgad.optimise.storage.layout import arrange
from tests.helpers_passes import assert_becomes, assert_stays, check_passes
from tests.helpers_text import program_of, sample

COLUMNS = """
    for p < 20, c < 6: A[p, c] = 0.0
    loop j < 6:
        for p < 20: A[p, j] = (X[p, j] * 2.0)
        for p < 20: A[p, j] += (Y[p, j] * A[p, j])
    loop j < 6:
        for p < 20: Z[p, j] = (A[p, j] + A[p, 5])
    """


def test_columns_become_rows():
    assert_becomes(
        arrange,
        COLUMNS,
        COLUMNS.replace("A[p, c]", "A[c, p]").replace("A[p, j]", "A[j, p]").replace("A[p, 5]", "A[5, p]"),
    )
    program, arrays, integers = sample(COLUMNS)
    assert arrange(program).buffers["A"].shape == (Lin(6), Lin(20))
    check_passes(program, arrays, integers)


def test_other_axes_keep_their_order():
    text = """
    loop j < 5:
        for p < 4: t[1, p, j, 2] = x[p]
    for p < 4: z[p] = t[1, p, 3, 2]
    """
    program = program_of(text, {"t": (2, 4, 5, 3), "x": (4,), "z": (4,)}, ["x"], ["z"])
    assert arrange(program).buffers["t"].shape == (Lin(2), Lin(5), Lin(3), Lin(4))


KEPT = {
    "rows": """
        loop j < 6:
            for c < 6: A[j, c] = X[j, c]
        for p < 6, c < 6: Z[p, c] = A[p, c]
        """,
    "arguments and results": """
        loop j < 6:
            for p < 20: Z[p, j] = X[p, j]
        """,
    "as many columns as rows": """
        loop j < 6:
            for c < 6: A[c, j] = X[c, j]
        loop j < 6:
            for c < 6: Z[j, c] = A[j, c]
        """,
    "diagonals": """
        for c < 6: A[c, c] = X[c, c]
        for c < 6: Z[c, c] = A[c, c]
        """,
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    assert_stays(arrange, KEPT[name])
