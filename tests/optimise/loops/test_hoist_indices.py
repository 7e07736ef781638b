"""Where data point to is read before loops in which that stays the same; all else stays."""

import numpy as np
import pytest

from sdfgad.optimise.loops.hoist_indices import hoist_indices
from tests.helpers_passes import assert_becomes, assert_stays, check_function


def test_before_loops_of_independent_trips():
    assert_becomes(
        hoist_indices,
        """
        for p < 20, c < 6: Z[p, c] = 0.0
        loop j < 20:
            loop parallel p < 6:
                Z[i[j], p] += X[i[j], p] * Y[j, p]
                Z[j, p] += x[i[p]]
        """,
        """
        for p < 20, c < 6: Z[p, c] = 0.0
        loop j < 20:
            place = i[j]
            loop parallel p < 6:
                Z[place, p] += (X[place, p] * Y[j, p])
                Z[j, p] += x[i[p]]
        """,
    )


def test_before_a_box():
    assert_becomes(
        hoist_indices,
        """
        loop j < 20:
            for p < 6: Z[i[j], p] = X[i[19 - j], p] * Y[i[19 - j], 5 - p]
        """,
        """
        loop j < 20:
            place = i[j]
            place_1 = i[-j + 19]
            for p < 6: Z[place, p] = (X[place_1, p] * Y[place_1, -p + 5])
        """,
    )


STAYS = {
    "between the outermost statements": "for p < 6: Z[i[3], p] = X[i[4], p]",
    "of each point its own": """
        loop j < 3:
            for p < 20, c < 6: Z[i[p], c] = X[i[p], c]
        """,
    "in a loop that may have no trips": """
        for p < 20, c < 6: Z[p, c] = 0.0
        loop j < 20:
            loop parallel p < j:
                Z[i[j], 0] += x[p]
        """,
    "what is read changes": """
        for p < 20: z[p] = 0.0
        loop j < 19:
            k = i[j]
            loop parallel p < 1:
                k = i[j + 1]
                z[k] = x[j]
        """,
    "where it is asked for only": """
        for p < 20, c < 6: Z[p, c] = 0.0
        loop j < 20:
            for p < 6: Z[j, p] = select(x[j] > 0.0, X[i[j], p], 1.0)
        """,
    "in a branch of the loop": """
        for p < 20, c < 6: Z[p, c] = 0.0
        loop j < 20:
            loop parallel p < 6:
                if x[j] > 0.0:
                    Z[i[j], p] = X[j, p]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(hoist_indices, STAYS[name])


def gathered(x, y, i):
    for j in range(i.shape[0]):
        if y[j, 0] > 0:
            y[j] += x[i[j]] * x[j] + np.where(y[j] > 0, x[i[i[j]]], 0.0)
        x[i[j]] = y[j] * 0.5
    return np.sum(x * y)


def test_of_a_function():
    rng = np.random.default_rng(3)
    *_, changed = check_function(gathered, (rng.normal(size=(7, 3)), rng.normal(size=(7, 3)), rng.permutation(7) - 7))
    assert any(name.startswith("place") for name in changed.buffers)
