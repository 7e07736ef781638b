"""Loops that only check go into later ones over the same trips; what is wrong is still reported."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex
from sdfgad.ir.expr import INT
from sdfgad.ir.text import program_text
from sdfgad.optimise.fuse import fuse
from sdfgad.optimise.late_checks import check_late
from tests.helpers_passes import check_function, check_passes
from tests.helpers_text import program_of, tidy

SHAPES = {"x": (20,), "z": (20,), "w": (20,), "i": (20,), "status": (), "q": ()}
CHECK = "loop c < 4:\n    for p < i[c]: status max= select(i[p] < 9, 0, 7)\n"


def made(text):
    program = program_of(text, SHAPES, ["x", "i"], ["z", "status"], dtypes={"i": INT, "status": INT})
    rng = np.random.default_rng(3)
    arrays = {"x": rng.normal(size=20), "i": rng.integers(0, 9, 20)}
    return program, arrays


def test_a_check_goes_into_the_loop_over_the_same():
    program, arrays = made(
        f"""
        status = 0
        for p < 20: z[p] = x[p]
        {CHECK.replace(chr(10), chr(10) + " " * 8).rstrip()}
        for p < 20: w[p] = x[p]
        loop backwards d < 4:
            for p < i[d]: z[i[p]] += w[p]
        """
    )
    expected = """
        status = 0
        for p < 20: z[p] = x[p]
        for p < 20: w[p] = x[p]
        loop backwards d < 4:
            for p < i[d]: status max= select((i[p] < 9), 0, 7)
            for p < i[d]: z[i[p]] += w[p]
        """
    assert program_text(check_late(program)) == tidy(expected)
    check_passes(program, arrays, passes=[check_late, fuse])


STAYS = {
    "what is checked changes": "i[3] = 2\nloop d < 4:\n    for p < i[d]: z[i[p]] += x[p]\n",
    "the loop changes what is checked": "loop d < 4:\n    i[d] = 2\n    for p < i[d]: z[i[p]] += x[p]\n",
    "another number of trips": "loop d < 5:\n    for p < i[d]: z[i[p]] += x[p]\n",
    "other trips": "loop 9 <= d < 13:\n    for p < i[d]: z[i[p]] += x[p]\n",
    "nothing in common": "loop d < 4:\n    z[d] += x[d]\n",
    "what was found is read": "z[0] = 1.0 * status\nloop d < 4:\n    for p < i[d]: z[i[p]] += x[p]\n",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    text = f"status = 0\nfor p < 20: z[p] = 1.0\n{CHECK}{STAYS[name]}"
    program, arrays = made(text)
    assert program_text(check_late(program)) == program_text(program)
    check_passes(program, arrays, passes=[check_late, fuse])


def test_checks_and_scatters_of_rows_of_unknown_length_share_a_loop():
    program, arrays = made(
        """
        status = 0
        for p < 20: z[p] = x[p]
        loop d < 4:
            for p < i[d]: status max= select(i[p] < 9, 0, 7)
            for p < i[d]: z[i[p]] += x[p]
        """
    )
    found = program_text(fuse(program))
    assert found.count("max=") == found.count("z[i[f]] +=") == found.count("loop f < i[d]:") == 1
    check_passes(program, arrays, passes=[fuse])


def test_sums_stay_alone():
    program, arrays = made(
        """
        status = 0
        q = 0.0
        for p < 20: z[p] = x[p]
        loop d < 4:
            for p < i[d]: q += x[p] * x[p]
            for p < i[d]: z[i[p]] += x[p]
            for p < i[d]: status max= select(i[p] < 9, 0, 7)
        z[0] = q
        """
    )
    assert "for p < i[d]: q +=" in program_text(fuse(program))
    check_passes(program, arrays, passes=[fuse])


def rows(starts, columns, values, x):
    y = np.zeros(starts.size - 1)
    for k in range(starts.size - 1):
        cols = columns[starts[k] : starts[k + 1]]
        y[k] = values[starts[k] : starts[k + 1]] @ x[cols]
    return np.sum(y * y)


CSR = (np.array([0, 2, 2, 5, 6]), np.array([3, 0, 1, 2, 3, 1]), np.linspace(0.1, 0.7, 6), np.linspace(1.0, 2.0, 4))


def test_rows_of_a_sparse_matrix():
    check_function(rows, CSR, wrt=["values", "x"])


@pytest.mark.parametrize("wrong", [4, -5])
def test_a_wrong_column_is_reported(wrong):
    gradient = sdfgad.differentiate(rows, wrt=("values", "x"))
    starts, columns, values, x = CSR
    value, (of_values, _) = gradient.value_and_grad(*CSR)
    assert value == pytest.approx(rows(*CSR))
    np.testing.assert_array_equal(gradient(*CSR)[0], of_values)
    columns = columns.copy()
    columns[4] = wrong
    for call in (gradient, gradient.value_and_grad):
        with pytest.raises(InvalidIndex):
            call(starts, columns, values, x)
