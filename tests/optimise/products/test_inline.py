"""Large matrices with products added to them are computed where they are read, if that frees them."""

import sys

import pytest

from sdfgad.optimise.cleaning.dead_code import remove_dead_code
from sdfgad.optimise.products.inline import inline
from tests.helpers import with_target
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes
from tests.helpers_text import sample

module = sys.modules[inline.__module__]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    with_target(monkeypatch, updated_elements=120)


def both(program):
    return remove_dead_code(inline(program))


both.__name__ = "inline"


def test_an_update_is_computed_where_it_is_read():
    assert_becomes(
        both,
        """
        for p < 20, c < 6: A[p, c] = (X[p, c] + ((x[p] * y[c]) - (y[p] * x[c])))
        for p < 20, c < 6: z[p] = sum of (A[p, c] * x[c])
        for h < 20, g < 6: Z[h, g] = (A[h, g] * 2.0)
        """,
        """
        for p < 20, c < 6: z[p] = sum of ((X[p, c] + ((x[p] * y[c]) - (y[p] * x[c]))) * x[c])
        for h < 20, g < 6: Z[h, g] = ((X[h, g] + ((x[h] * y[g]) - (y[h] * x[g]))) * 2.0)
        """,
    )


UPDATE = "for p < 20, c < 6: A[p, c] = (X[p, c] + (x[p] * y[c]))\n"
STAYS = {
    "in a product of matrices": UPDATE + "for p < 20, q < 6, c < 6: T[p, q] = sum of (A[p, c] * Y[c, q])\n",
    "in a loop": UPDATE + "loop k < 3:\n    for p < 20, c < 6: Z[p, c] = (A[p, c] * 2.0)\n",
    "neighbours": UPDATE + "for p < 20, c < 5: Z[p, c] = (A[p, c] + A[p, c + 1])\n",
    "more points than elements": UPDATE + "for p < 20, c < 6, h < 20: Z[p, c] = sum of (A[p, c] - x[h])\n",
    "a part that is read": UPDATE + "for p < 20: z[p] = A[p, 2]\n",
    "an operand that changes": """
        for p < 20: b[p] = x[p]
        for p < 20, c < 6: A[p, c] = (X[p, c] + (b[p] * y[c]))
        for p < 20: b[p] = 0.0
        for p < 20, c < 6: Z[p, c] = (A[p, c] * 2.0)
        """,
    "two matrices": """
        for p < 20, c < 6: A[p, c] = (X[p, c] + (x[p] * Y[p, c]))
        for p < 20, c < 6: Z[p, c] = (A[p, c] * 2.0)
        """,
    "across memory": """
        for p < 20, c < 6: A[p, c] = (X[c, p] + (x[p] * y[c]))
        for p < 20, c < 6: Z[p, c] = (A[p, c] * 2.0)
        """,
    "a slow function": """
        for p < 20, c < 6: A[p, c] = (X[p, c] + sin((x[p] * y[c])))
        for p < 20, c < 6: Z[p, c] = (A[p, c] * 2.0)
        """,
    "an output": """
        for p < 20, c < 6: Z[p, c] = (X[p, c] + (x[p] * y[c]))
        for p < 20, c < 6: W[p, c] = (Z[p, c] * 2.0)
        """,
    "many readers": UPDATE + "for p < 20, c < 6: Z[p, c] += A[p, c]\n" * 7,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(inline, STAYS[name])


def test_small_matrices_stay(monkeypatch):
    with_target(monkeypatch, updated_elements=121)
    assert_stays(inline, UPDATE + "for p < 20, c < 6: Z[p, c] = (A[p, c] * 2.0)\n")


def test_nothing_leaks_into_what_does_not_read():
    program, arrays, _ = sample(UPDATE + "for p < 20, c < 6: Z[p, c] = select(X[p, c] > 0.0, A[p, c], 0.0)\n")
    arrays["y"][3] = float("inf")
    arrays["x"][5] = float("nan")
    assert check_passes(program, arrays, passes=[both]) != program


def test_gradients_of_an_update_in_place(rng, monkeypatch):
    with_target(monkeypatch, updated_elements=1)

    def update(A, u, v, x, y):
        A += u[:, None] * v - y[:, None] * x
        x += y @ A
        return A @ x

    check_function(update, (rng.random((9, 8)), rng.random(9), rng.random(8), rng.random(8), rng.random(9)))
