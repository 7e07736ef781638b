"""What lives within a trip of a parallel loop needs no axis for the trips; what does not keeps it."""

import pytest

from sdfgad.optimise.loops.fuse import fuse
from sdfgad.optimise.storage.contract import contract
from tests.helpers_passes import assert_becomes, assert_stays, check_passes
from tests.helpers_text import sample


def test_to_a_scalar_and_to_a_row():
    assert_becomes(
        contract,
        """
        loop parallel f < 20:
            a[f] = sin(x[f])
            for c < 6: A[f, c] = (X[f, c] * a[f])
            for c < 6: Z[f, c] = (A[f, -c + 5] + a[f])
            z[f] = a[f]
        """.replace("A[f, -c + 5]", "A[f, c]"),
        """
        loop parallel f < 20:
            a = sin(x[f])
            for c < 6: A[c] = (X[f, c] * a)
            for c < 6: Z[f, c] = (A[c] + a)
            z[f] = a
        """,
    )


def test_in_nested_loops_and_of_a_sum():
    assert_becomes(
        contract,
        """
        loop j < 6:
            loop parallel f < 20:
                for c < 6: a[f] = sum of X[f, c]
                loop parallel g < 6:
                    A[f, g] = (X[f, g] * a[f])
                    Z[f, g] = A[f, g]
        """,
        """
        loop j < 6:
            loop parallel f < 20:
                for c < 6: a = sum of X[f, c]
                loop parallel g < 6:
                    A = (X[f, g] * a)
                    Z[f, g] = A
        """,
    )


def test_of_a_choice():
    text = """
        loop j < 3:
            loop parallel f < 20:
                if (x[f] > 0.0):
                    a{0} = x[f]
                else:
                    a{0} = 1.0
                z[f] = a{0}
        """
    assert_becomes(contract, text.format("[f]"), text.format(""))


KEPT = {
    "an output": """
        loop parallel f < 20:
            z[f] = x[f]
            w[f] = z[f]
        """,
    "in use outside": """
        loop parallel f < 20:
            a[f] = x[f]
            w[f] = a[f]
        z[0] = a[3]
        """,
    "the loop is sequential": """
        a[0] = 0.0
        loop f < 19:
            a[f + 1] = a[f] + x[f]
            z[f] = a[f + 1]
        """,
    "carried": """
        loop j < 3:
            loop parallel f < 20:
                if x[f] > 0.0:
                    a[f] = x[f]
                z[f] = a[f]
        """,
    "two places": """
        loop parallel f < 10:
            a[2 * f] = x[f]
            a[2 * f + 1] = y[f]
            z[f] = a[2 * f] * a[2 * f + 1]
        """,
    "a place that a counter inside chooses": """
        loop parallel g < 2:
            loop parallel f < 8:
                a[f + 8*g] = x[f + 8*g]
            loop j < 3:
                loop parallel f < 8:
                    a[f + 8*g] = a[f + 8*g] * X[f, j]
            loop parallel f < 8:
                z[f + 8*g] = a[f + 8*g]
        """,
    "chosen by data": """
        loop parallel f < 20:
            a[i[f]] = x[f]
            z[f] = a[i[f]]
        """,
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    program, arrays, _ = sample(KEPT[name])
    check_passes(program, arrays, passes=[contract])
    assert_stays(contract, KEPT[name])


PARTIAL = {
    "a part is read before it is assigned": """
        for p < 20, c < 6: A[p, c] = 1.0
        for p < 20, c < 5: A[p, c] = X[p, c]
        for p < 20, c < 6: Z[p, c] = A[p, c]
        """,
    "one column of a temporary": """
        for p < 20: T[p, 1] = x[p]
        for p < 20: T[p, 1] += y[p]
        for p < 20: z[p] = T[p, 1]
        """,
    "two columns of a temporary": """
        for p < 20: T[p, 0] = x[p]
        for p < 20: T[p, 1] = x[p] * 2.0
        for p < 20: T[p, 1] += y[p]
        for p < 20: z[p] = T[p, 1] * T[p, 0]
        """,
    "left from the trip before": """
        for p < 20: a[p] = x[p]
        loop j < 6:
            for p < 20: b[p] = a[p] + X[p, j]
            for p < 20: a[p] = b[p] * 0.5
            for p < 20: Z[p, j] = a[p]
        """,
}


@pytest.mark.parametrize("name", PARTIAL)
def test_the_same(name):
    program, arrays, _ = sample(PARTIAL[name])
    check_passes(program, arrays, passes=[fuse, contract])
