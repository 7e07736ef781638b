"""Parts of arrays become arrays."""

import pytest

from sdfgad.optimise.split_arrays import split_arrays
from tests.helpers_passes import assert_becomes, assert_stays


def test_columns():
    assert_becomes(
        split_arrays,
        """
        for p < 20: A[p, 0] = x[p]
        for p < 20: A[p, 3] = A[p, 0] * y[p]
        loop j < 20:
            for p < 20: z[p] = A[j, 3] + A[p, 0]
        """,
        """
        for p < 20: A_0[p] = x[p]
        for p < 20: A_3[p] = (A_0[p] * y[p])
        loop j < 20:
            for p < 20: z[p] = (A_3[j] + A_0[p])
        """,
    )


def test_elements():
    assert_becomes(
        split_arrays,
        """
        a[0] = x[0]
        a[1] = a[0] * x[1]
        q = a[1]
        """,
        """
        a_0 = x[0]
        a_1 = (a_0 * x[1])
        q = a_1
        """,
    )


STAYS = {
    "an output": "for p < 20: Z[p, 0] = x[p]",
    "all of it": "for p < 20, c < 6: A[p, c] = x[p]\nfor p < 20: z[p] = A[p, 0]",
    "where a loop is": "loop j < 6:\n    for p < 20: A[p, j] = x[p]\nfor p < 20: z[p] = A[p, 0]",
    "where something read is": "for p < 20: A[p, 0] = x[p]\nfor p < 20: z[p] = A[p, i[0] // 20]",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(split_arrays, "\n".join(STAYS[name].splitlines()))
