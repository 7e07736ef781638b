"""Loops over places whose trips meet in sums only are taken apart, where their products become much larger."""

import copy

import numpy as np
import pytest

from sdfgad.ir.text import program_text
from sdfgad.optimize.spread import spread
from tests.helpers_passes import check_function, check_passes
from tests.helpers_text import program_of, tidy

SHAPES = {"X": (6, 9, 10, 3), "W": (2, 3, 3, 8), "T": (6, 8, 8, 8), "V": (6, 8, 8, 3), "U": (3, 8), "s": ()}
INPUTS, OUTPUTS = ("W", "U", "V"), ("T", "X")
STARTS = """
for n < 6, i < 9, j < 10, d < 3: X[n, i, j, d] = 0.5
for n < 6, i < 8, j < 8, c < 8: T[n, i, j, c] = 0.25
s = 2.0
"""
FORWARD = """
loop i < 8:
    loop j < 8:
        for n < 6, p < 2, q < 3, d < 3, c < 8: T[n, i, j, c] = sum of (X[n, i + p, j + q, d] * W[p, q, d, c])
"""
REVERSE = """
loop backwards i < 8:
    loop backwards j < 8:
        for n < 6, p < 2, q < 3, d < 3, c < 8: X[n, i + p, j + q, d] += (T[n, i, j, c] * W[p, q, d, c])
        for n < 6, c < 8: T[n, i, j, c] = 0.0
"""
# Each place is a row of one matrix.
ROWS = """
loop i < 8:
    loop j < 8:
        for n < 6, d < 3, c < 8: T[n, i, j, c] += (V[n, i, j, d] * U[d, c])
"""


def case(text):
    rng = np.random.default_rng(5)
    arrays = {name: np.asarray(rng.normal(size=SHAPES[name])) for name in INPUTS}
    return program_of(STARTS + text, SHAPES, INPUTS, OUTPUTS), arrays


def spread_text(text):
    """The text of a program without the first lines; it computes the same."""
    program, arrays = case(text)
    return program_text(check_passes(program, arrays, passes=[spread])).split("\n", 3)[3]


def test_sums_over_windows():
    assert spread_text(FORWARD) == tidy(
        """
        for i_1 < 8, j_1 < 8, n < 6, p < 2, q < 3, d < 3, c < 8: T[n, i_1, j_1, c] = \
sum of (X[n, i_1 + p, j_1 + q, d] * W[p, q, d, c])
        """
    )


def test_what_else_the_loops_do_is_a_statement_of_its_own():
    assert spread_text(REVERSE) == tidy(
        """
        for i_1 < 8, j_1 < 8, n < 6, p < 2, q < 3, d < 3, c < 8: X[n, i_1 + p, j_1 + q, d] += \
(T[n, i_1, j_1, c] * W[p, q, d, c])
        for i_2 < 8, j_2 < 8, n < 6, c < 8: T[n, i_2, j_2, c] = 0.0
        """
    )


def test_places_that_are_rows_of_a_matrix():
    (line,) = spread_text(ROWS.replace("d < 3, c < 8", "c < 8, d < 3")).splitlines()
    assert line.startswith("for i_1 < 8, j_1 < 8, n < 6")


def test_loops_in_a_loop():
    text = "loop k < 3:" + FORWARD.replace("\n", "\n    ")
    assert spread_text(text).startswith("loop k < 3:\n    for i_1 < 8")


@pytest.mark.parametrize(
    "text",
    [
        # A trip reads what another one has added to.
        REVERSE.replace("T[n, i, j, c] = 0.0", "T[n, i, j, c] = X[n, i + 1, j, 0]"),
        # A trip begins anew what others have added to.
        FORWARD.replace("T[n, i, j, c]", "T[n, 0, j, c]"),
        # Something goes from trip to trip.
        REVERSE.replace("for n < 6, c < 8: T[n, i, j, c] = 0.0", "s = (s * 0.5)"),
        # A trip writes what a later one multiplies.
        REVERSE.replace("T[n, i, j, c] = 0.0", "T[n, 7 - i, j, c] = 0.0"),
        # No product.
        "loop i < 8:\n    for n < 6, j < 8, c < 8: T[n, i, j, c] = (T[n, i, j, c] * 2.0)",
        # One that is hardly larger.
        "loop i < 2:\n    for n < 6, j < 8, d < 3, c < 8: T[n, i, j, c] += (V[n, i, j, d] * U[d, c])",
    ],
)
def test_all_else_stays(text):
    program, _ = case(text)
    assert spread(program) == program


def convolved(images, kernels):
    height, width = images.shape[1] - kernels.shape[0] + 1, images.shape[2] - kernels.shape[1] + 1
    found = np.empty((images.shape[0], height, width, kernels.shape[3]))
    for i in range(height):
        for j in range(width):
            window = images[:, i : i + kernels.shape[0], j : j + kernels.shape[1], :, np.newaxis]
            found[:, i, j, :] = np.sum(window * kernels[np.newaxis], axis=(1, 2, 3))
    return found


@pytest.mark.parametrize("size", [1, 2])
def test_a_convolution_and_its_gradient(size):
    rng = np.random.default_rng(2)
    args = (rng.normal(size=(2, 7, 6, 3)), rng.normal(size=(size, size, 3, 8)))
    for program in check_function(convolved, copy.deepcopy(args)):
        assert "loop i" not in program_text(program)
        assert "loop backwards" not in program_text(program)
