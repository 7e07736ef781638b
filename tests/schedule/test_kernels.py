"""How the points of statements are mapped to threads."""

import pytest

from sdfgad.ir.expr import Lin
from sdfgad.schedule.device_sums import RESIDENT, Sum
from sdfgad.schedule.kernels import Form, form_of
from tests.helpers_text import program_of

SHAPES = {"V": (9, 9, 9, 9), "W": (9, 9, 9), "X": (9, 9), "U": (9, 9, 1), "y": (9,), "z": (9,)}


def form(text):
    program = program_of(text, SHAPES, inputs=("X", "U", "y"), outputs=("z",))
    return form_of(program.body[0], program.buffers), Sum(program.body[0])


def test_a_sum_along_memory_is_a_block_of_threads():
    assert form("for c < 60, p < 200: z[c] = sum of X[c, p]")[0] is Form.BLOCK


def test_a_sum_across_memory_is_a_thread():
    assert form("for c < 60, p < 200: z[c] = sum of X[p, c]")[0] is Form.POINTS


def test_the_matrix_decides_not_the_vector():
    """Neighbouring threads read neighbours of the matrix; the vector is read by all of them."""
    assert form("for c < 60, p < 200: z[c] = sum of X[p, c] * y[p]")[0] is Form.POINTS
    assert form("for c < 60, p < 200: z[c] = sum of X[c, p] * y[p]")[0] is Form.BLOCK


def test_a_small_table_does_not_decide():
    """A convolution: threads of many elements read the same window, and the weights from a cache."""
    text = "for c < 60, d < 60, e < 60, f < 8, p < 40, q < 16: V[c, d, e, f] = sum of U[c + p, d, q] * W[p, q, f]"
    assert form(text)[0] is Form.POINTS


def test_the_last_axis_that_is_not_at_one_place_decides():
    assert form("for c < 60, p < 200: z[c] = sum of U[p, c, 0]")[0] is Form.POINTS


@pytest.mark.parametrize(("points", "expected"), [(60, Form.BLOCK), (RESIDENT, Form.POINTS)])
def test_where_both_run_along_memory_the_number_of_elements_decides(points, expected):
    found, box = form(f"for c < {points}, p < 200: z[c] = sum of y[c + p]")
    assert box.elements == points
    assert Lin(200) == box.extents["p"]
    assert found is expected
