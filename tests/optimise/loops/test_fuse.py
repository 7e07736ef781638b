"""Statements over the same box share loops where no trip of one meets another trip of the other."""

import pytest

from sdfgad.ir.program import Loop, walk
from sdfgad.optimise.loops.fuse import fuse
from tests.helpers import with_target
from tests.helpers_passes import assert_becomes, assert_stays, check_passes
from tests.helpers_text import sample


def test_element_by_element():
    assert_becomes(
        fuse,
        """
        for p < 20: a[p] = sin(x[p])
        for h < 20: b[h] = (a[h] * 2.0)
        for g < 20: z[g] = (b[g] + y[g])
        """,
        """
        loop parallel f < 20:
            a[f] = sin(x[f])
            b[f] = (a[f] * 2.0)
            z[f] = (b[f] + y[f])
        """,
    )


def test_functions_of_whole_vectors_share_no_loop_with_other_loops(monkeypatch):
    with_target(monkeypatch, short_trips=6)
    assert_becomes(
        fuse,
        """
        for p < 20: a[p] = (x[p] * 2.0)
        for p < 20, c < 6: Z[p, c] = (X[p, c] * a[p])
        for p < 20: b[p] = exp(a[p])
        for p < 20: z[p] = (b[p] + a[p])
        """,
        """
        loop parallel f < 20:
            a[f] = (x[f] * 2.0)
            b[f] = exp(a[f])
            z[f] = (b[f] + a[f])
        for p < 20, c < 6: Z[p, c] = (X[p, c] * a[p])
        """,
    )


def test_vectors_share_no_loop_with_short_loops():
    assert_stays(
        fuse,
        """
        for p < 20: a[p] = (x[p] * y[p])
        for p < 20, c < 6: Z[p, c] = (X[p, c] * a[p])
        """,
    )


def test_what_shares_all_loops_comes_first():
    # The third statement could share the outer loop with the second, and then no loop with the fourth.
    assert_becomes(
        fuse,
        """
        for p < 20, c < 6: T[p, c] = X[p, c]
        for p < 20, c < 5: A[p, c] = (T[-p + 19, c] * 2.0)
        for p < 20, c < 4: Z[p, c] = (A[p, c] * y[c])
        for p < 20, c < 4: T[p, c] = (Z[p, c] * 2.0)
        for p < 20, c < 4: W[p, c] = T[p, c]
        """,
        """
        for p < 20, c < 6: T[p, c] = X[p, c]
        for p < 20, c < 5: A[p, c] = (T[-p + 19, c] * 2.0)
        loop parallel f < 20:
            loop parallel f_1 < 4:
                Z[f, f_1] = (A[f, f_1] * y[f_1])
                T[f, f_1] = (Z[f, f_1] * 2.0)
                W[f, f_1] = T[f, f_1]
        """,
    )


def test_rows_and_then_columns():
    assert_becomes(
        fuse,
        """
        for p < 20, c < 6: A[p, c] = sin(X[p, c])
        for p < 20, c < 6: Z[p, c] = (A[p, c] * y[p])
        for p < 20, c < 6: z[p] = sum of Z[p, c]
        """,
        """
        loop parallel f < 20:
            z[f] = 0.0
            loop parallel f_1 < 6:
                A[f, f_1] = sin(X[f, f_1])
                Z[f, f_1] = (A[f, f_1] * y[f])
                z[f] += Z[f, f_1]
        """,
    )


def test_a_sum_shares_the_loop_that_makes_what_it_adds():
    assert_becomes(
        fuse,
        """
        for p < 20: a[p] = (x[p] * y[p])
        for p < 20: s = sum of a[p]
        for p < 20: r = sum of (a[p] * x[p])
        q = (s + r)
        """,
        """
        r = 0.0
        s = 0.0
        loop parallel f < 20:
            a[f] = (x[f] * y[f])
            s += a[f]
            r += (a[f] * x[f])
        q = (s + r)
        """,
    )


def test_past_what_does_not_matter():
    program, arrays, _ = sample("""
        for p < 20: a[p] = x[p] * 2.0
        q = x[3]
        for p < 20: z[p] = a[p] + 1.0
        """)
    assert len(check_passes(program, arrays, passes=[fuse]).body) == 2


APART = {
    "a neighbour is read": """
        for p < 19: a[p] = x[p]
        for p < 19: z[p] = a[-p + 18]
        """,
    "the next one is read": """
        for p < 20: a[p] = x[p]
        for p < 19: z[p] = a[p + 1]
        """,
    "a neighbour is changed after it was read": """
        for p < 20: z[p] = x[p]
        for p < 19: w[p] = z[p + 1]
        for p < 19: z[p] = y[p]
        """,
    "a sum is read": """
        s = 0.0
        for p < 20: s += x[p]
        for p < 20: z[p] = x[p] * s
        """,
    "a scalar changes in between": """
        s = 2.0
        for p < 20: z[p] = x[p] * s
        s = 3.0
        for p < 20: w[p] = z[p] * s
        """,
    "what decides where changes": """
        k = 1
        for p < 5: Z[p, k] = x[p]
        k = 2
        for p < 5: Z[p, k] += x[p]
        """,
    "through data": """
        for p < 20: a[i[p]] = x[p]
        for p < 20: z[p] = a[p]
        """,
    "through data, other places": """
        for p < 20: z[p] = x[p]
        for p < 20: z[i[p]] += x[p]
        """,
    "rows and columns": """
        for p < 6, c < 6: A[p, c] = X[p, c]
        for p < 6, c < 6: Z[p, c] = A[c, p]
        """,
    "a maximum": """
        q = x[0]
        for p < 20: q max= x[p]
        for p < 20: z[p] = x[p] - q
        """,
}


@pytest.mark.parametrize("name", APART)
def test_apart(name):
    program, arrays, _ = sample(APART[name])
    changed = check_passes(program, arrays, passes=[fuse])
    assert not any(isinstance(s, Loop) and len(s.body) > 1 for s in walk(changed.body)), "fused"


TOGETHER_OR_NOT = {
    "each of its own data": """
        for p < 20: a[i[p]] = x[p]
        for p < 20: b[i[p]] = y[p] * a[i[p]]
        for p < 20: z[p] = b[p]
        """,
    "two sums that meet": """
        for p < 6, c < 6: Z[p, c] = 0.0
        for p < 6, c < 6: Z[0, c] += X[p, c]
        for p < 6, c < 6: Z[p, c] += Y[p, c]
        for p < 5, c < 6: Z[p + 1, c] += X[p, c]
        for p < 6, c < 6: Z[c, p] += X[p, c]
        """,
    "halves": """
        for p < 10: z[p] = x[p]
        for p < 10: z[p + 10] = y[p]
        for p < 10: w[p] = z[p] + z[p + 10]
        """,
    "even and odd": """
        for p < 10: z[2 * p] = x[p]
        for p < 10: z[2 * p + 1] = y[p]
        for p < 10: w[p] = z[2 * p] * z[2 * p + 1]
        """,
    "swapped": """
        for p < 20: z[p] = x[p]
        for p < 20: w[p] = y[p]
        for p < 20: a[p] = z[p]
        for p < 20: z[p] = w[p]
        for p < 20: w[p] = a[p]
        """,
    "one element": """
        for p < 1: z[p] = x[p]
        for p < 1: z[p] += x[p + 1]
        for p < 1: w[p] = z[p]
        """,
    "none": """
        for p < n: z[p] = x[p]
        for p < n: z[p] += x[p] * 2.0
        for p < n: s = sum of z[p]
        q = s
        """,
    "inside of loops": """
        for p < 20: z[p] = x[p]
        loop backwards j < 5:
            for p < 20: a[p] = z[p] * X[p, j]
            for p < 20: z[p] = a[p] + y[p]
            for p < 20: A[p, j + 1] = z[p] + a[p]
            for p < 19: z[p] = A[p + 1, j + 1]
        """,
    "carried from trip to trip": """
        s = 1.0
        for p < 20: a[p] = x[p]
        loop j < 6:
            for p < 20: b[p] = a[p] * s
            for p < 20: a[p] = b[p] + X[p, j]
            for p < 20: s = sum of a[p]
        for p < 20: z[p] = a[p]
        """,
}


@pytest.mark.parametrize("name", TOGETHER_OR_NOT)
def test_the_same(name):
    integers = {"n": 0} if " n:" in TOGETHER_OR_NOT[name] else {}
    program, arrays, integers = sample(TOGETHER_OR_NOT[name], **integers)
    for seed in range(3):
        check_passes(program, arrays, integers, seed=seed, passes=[fuse])


def test_a_branch_and_a_loop_in_sequence_stay():
    assert_stays(
        fuse,
        """
        loop j < 19:
            z[j + 1] = z[j] * x[j]
        if x[0] > 0.0:
            z[0] = 1.0
        """,
    )


def test_parameters_of_one_axis():
    assert_becomes(
        fuse,
        """
        for c < 5, d < 4: a[c + 5*d] = x[c + 5*d] * X[0, d]
        for d < 4, c < 5: z[4*c + d] = a[c + 5*d] * y[d]
        """,
        """
        loop parallel f < 4:
            loop parallel f_1 < 5:
                a[5*f + f_1] = (x[5*f + f_1] * X[0, f])
                z[f + 4*f_1] = (a[5*f + f_1] * y[f])
        """,
    )


def test_rows_that_a_loop_chooses_do_not_tell_what_runs_along_memory(monkeypatch):
    with_target(monkeypatch, short_trips=6)
    assert_becomes(
        fuse,
        """
        loop u < 6:
            for p < 6, c < 6: Z[u, p] += (X[p, c] * Y[u, p])
            for p < 6: W[u, p] = (Z[u, p] * 2.0)
        """,
        """
        loop u < 6:
            loop parallel f < 6:
                for c < 6: Z[u, f] += (X[f, c] * Y[u, f])
                W[u, f] = (Z[u, f] * 2.0)
        """,
    )
