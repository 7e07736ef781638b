"""Reshaped and permuted copies are read through."""

import numpy as np
import pytest

from sdfgad.optimise.cleaning.dead_code import remove_dead_code
from sdfgad.optimise.cleaning.reshapes import forward_reshapes
from sdfgad.optimise.cleaning.unravel import unravel
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes
from tests.helpers_text import program_of, sample


def test_a_reshape_is_read_any_number_of_times():
    assert_becomes(
        lambda program: remove_dead_code(unravel(forward_reshapes(program))),
        """
        for p < 20, c < 6: A[p, c] = X[p, c] * y[p]
        for p < 20: a[p] = A[p // 6, p % 6]
        for p < 3, c < 6: Z[p, c] = a[6*p + c]
        for p < 3: w[p] = a[p]
        """,
        """
        for p < 20, c < 6: A[p, c] = (X[p, c] * y[p])
        for p < 3, c < 6: Z[p, c] = A[p, c]
        for p < 3: w[p] = A[0, p]
        """,
    )


def test_a_permutation_is_read_once():
    assert_becomes(
        lambda program: remove_dead_code(unravel(forward_reshapes(program))),
        """
        for p < 20: a[p] = x[5*(p % 4) + p // 4]
        for p < 20: z[p] = a[p] * y[p]
        """,
        "for p_3 < 5, p_4 < 4: z[4*p_3 + p_4] = (x[p_3 + 5*p_4] * y[4*p_3 + p_4])",
    )


STAYS = {
    "one element": "s = x[0]\nfor p < 20: z[p] = s * y[p]",
    "read twice": """
        for p < 20: a[p] = x[19 - p]
        for p < 20: z[p] = a[p]
        for p < 20: w[p] = a[p]
        """,
    "each element read often": """
        for p < 20: a[p] = x[19 - p]
        for p < 20, c < 6: Z[p, c] = a[p] * X[p, c]
        """,
    "read in a loop": """
        for p < 20: a[p] = x[19 - p]
        loop j < 6:
            for p < 20: Z[p, j] = a[p]
        """,
    "from places that are read": """
        for p < 20: a[p] = x[i[p]]
        for p < 20: z[p] = a[p]
        """,
    "changed in between": """
        for p < 20: b[p] = x[p]
        for p < 20: a[p] = b[19 - p]
        b[3] = y[0]
        for p < 20: z[p] = a[p] + b[0]
        """,
    "more divisions": """
        for p < 20: a[p] = X[p // 6, p % 6]
        for p < 18: z[p] = a[p + 1]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(forward_reshapes, STAYS[name])


def all_of_one_row(x, y):
    v = x.reshape(-1)
    v[:] = 0.5 * (x + y[:, 8])
    return np.sum(x * x)


def test_a_view_of_one_element(rng):
    # Found by the fuzzer, seed 40496: the compiled program named a parameter of another statement.
    check_function(all_of_one_row, (rng.standard_normal(1), rng.standard_normal((1, 12))))


def test_axes_of_one_element_are_no_other_order():
    text = """
        for p < 4, c < 5: A[p, 0, c] = x[5*p + c]
        for p < 4, c < 5: B[p, c] = A[p, 0, c] * 2.0
        for p < 20: z[p] = B[p // 5, p % 5] + A[p // 5, 0, p % 5]
        """
    program = program_of(text, {"A": (4, 1, 5), "B": (4, 5), "x": (20,), "z": (20,)}, "x", "z")
    changed = check_passes(program, {"x": np.arange(20.0)}, passes=[forward_reshapes, remove_dead_code])
    assert not any(statement.target.buffer == "A" for statement in changed.body)


def test_what_is_changed_by_the_reader_itself():
    program, arrays, _ = sample("""
        for p < 20: z[p] = x[p]
        for p < 20: a[p] = z[19 - p]
        for p < 20: z[p] = a[p] * y[p]
        """)
    check_passes(program, arrays, passes=[forward_reshapes])


def views(x, y):
    t = np.reshape(x * y, (6, 4)).copy()
    u = np.reshape(np.transpose(t).copy(), (24,))
    v = np.ravel(t) * u
    t[1:] = np.reshape(v, (6, 4))[:-1]
    return np.sum(t * t) + np.sum(u * v)


def test_gradients(rng):
    check_function(views, tuple(rng.uniform(0.2, 0.9, (2, 24))))
