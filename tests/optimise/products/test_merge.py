"""An outer product is computed where something is added to it."""

import numpy as np
import pytest

from sdfgad.optimise.products.merge import merge_products
from tests.helpers_passes import assert_becomes, assert_stays, check_function


def test_where_something_is_added():
    assert_becomes(
        merge_products,
        """
        for p < 20, c < 6: Z[p, c] = (x[p] * w[c]) * 3.0
        for p < 20: z[p] = y[p]
        for g < 20, h < 6: Z[g, h] += (y[g] * w[h])
        """,
        """
        for p < 20: z[p] = y[p]
        for g < 20, h < 6: Z[g, h] = (((x[g] * w[h]) * 3.0) + (y[g] * w[h]))
        """,
    )


def test_in_a_loop_and_in_another_order():
    assert_becomes(
        merge_products,
        """
        loop j < 3:
            for c < 6, p < 20: Z[p, c] = x[p] * w[c]
            for p < 20, c < 6: Z[p, c] += X[p, c]
            for p < 20: z[p] += Z[p, j]
        """,
        """
        loop j < 3:
            for p < 20, c < 6: Z[p, c] = ((x[p] * w[c]) + X[p, c])
            for p < 20: z[p] += Z[p, j]
        """,
    )


KEPT = {
    "read in between": """
        for p < 20, c < 6: Z[p, c] = x[p] * w[c]
        for p < 20: z[p] = Z[p, 0]
        for p < 20, c < 6: Z[p, c] += y[p] * w[c]
        """,
    "a factor changes": """
        for p < 20: z[p] = x[p]
        for p < 20, c < 6: Z[p, c] = z[p] * w[c]
        for p < 20: z[p] = y[p]
        for p < 20, c < 6: Z[p, c] += y[p] * w[c]
        """,
    "added to itself": """
        for p < 20, c < 6: Z[p, c] = x[p] * w[c]
        for p < 20, c < 6: Z[p, c] += Z[p, c] * w[c]
        """,
    "a part only": """
        for p < 20, c < 6: Z[p, c] = x[p] * w[c]
        for p < 19, c < 6: Z[p + 1, c] += y[p] * w[c]
        """,
    "more than once": """
        for p < 20, c < 6: Z[p, c] = x[p] * w[c]
        for p < 20, c < 6, k < 6: Z[p, c] += X[p, k] * w[c]
        """,
    "as large as the matrix, or dear": """
        for p < 20, c < 6: Z[p, c] = X[p, c] * w[c]
        for p < 20, c < 6: Z[p, c] += y[p] * w[c]
        for p < 20, c < 6: Z[p, c] = exp(y[p]) * w[c]
        for p < 20, c < 6: Z[p, c] += y[p] * w[c]
        """,
    "added to another one": """
        for p < 20, c < 6: B[p, c] = X[p, c]
        for p < 20, c < 6: Z[p, c] = x[p] * w[c]
        for p < 20, c < 6: B[p, c] += Z[p, c] * 0.5
        """,
    "assigned next": """
        for p < 20, c < 6: Z[p, c] = x[p] * w[c]
        for p < 20, c < 6: Z[p, c] = y[p] * w[c]
        """,
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_stays(text):
    assert_stays(merge_products, text)


def test_in_gradients():
    def twice_used(A, u, v, x):
        B = A + np.outer(u, v)
        y = x @ B
        return np.sum(np.sin(B @ y))

    rng = np.random.default_rng(0)
    check_function(twice_used, (rng.random((7, 5)), rng.random(7), rng.random(5), rng.random(7)))


def test_an_adjoint_that_another_one_has_a_share_of():
    def scaled(A, v):
        s = 0.0
        for z in range(A.shape[0]):
            W = np.sin(A[z])
            y = (0.1 * W) @ v
            s += np.sum(y * y) + np.sum(W * W)
        return s

    rng = np.random.default_rng(0)
    check_function(scaled, (rng.random((3, 5, 6)), rng.random(6)))
