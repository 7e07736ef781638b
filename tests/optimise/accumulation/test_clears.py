"""A clear at the end of a loop's trips goes to their start, where nothing can tell the difference."""

import pytest

from sdfgad.optimise.accumulation.clears import clear_early
from tests.helpers_passes import assert_becomes, assert_stays, check_passes
from tests.helpers_text import sample


def test_a_clear_goes_to_the_start():
    assert_becomes(
        clear_early,
        """
        for p < 20: a[p] = 0.0
        for p < 20: z[p] = 0.0
        loop j < 3:
            z[0] += 1.0
            for p < 20: a[p] += X[p, j]
            for p < 20: z[p] += a[p]
            for p < 20: a[p] = 0.0
        """,
        """
        for p < 20: z[p] = 0.0
        loop j < 3:
            z[0] += 1.0
            for p < 20: a[p] = 0.0
            for p < 20: a[p] += X[p, j]
            for p < 20: z[p] += a[p]
        """,
    )


def test_in_nested_loops_and_of_the_only_part_in_use():
    assert_becomes(
        clear_early,
        """
        for p < 20, c < 6: A[p, c] = 0.0
        loop backwards j < 3:
            loop h < 2:
                for p < 20: A[p, j] += X[p, j]
                for p < 20: Z[p, j] = A[p, j]
                for p < 20: A[p, j] = 0.0
        """,
        """
        loop backwards j < 3:
            loop h < 2:
                for p < 20: A[p, j] = 0.0
                for p < 20: A[p, j] += X[p, j]
                for p < 20: Z[p, j] = A[p, j]
        """,
    )


def test_in_a_branch():
    assert_becomes(
        clear_early,
        """
        for p < 20: a[p] = 0.0
        loop j < 3:
            if x[j] > 0.0:
                z[0] = 1.0
            else:
                for p < 20: a[p] += X[p, j]
                for p < 20: Z[p, j] = a[p]
                for p < 20: a[p] = 0.0
        """,
        """
        loop j < 3:
            if (x[j] > 0.0):
                z[0] = 1.0
            else:
                for p < 20: a[p] = 0.0
                for p < 20: a[p] += X[p, j]
                for p < 20: Z[p, j] = a[p]
        """,
    )


KEPT = {
    "on both sides of a branch": """
        for p < 20: a[p] = 0.0
        loop j < 3:
            if x[j] > 0.0:
                for p < 20: a[p] += X[p, j]
            else:
                for p < 20: Z[p, j] = a[p]
                for p < 20: a[p] = 0.0
        """,
    "what a branch asks for": """
        for p < 20: a[p] = 0.0
        loop j < 3:
            if a[j] < 1.0:
                for p < 20: a[p] += X[p, j]
                for p < 20: Z[p, j] = a[p]
                for p < 20: a[p] = 0.0
        """,
    "of elements that differ from trip to trip": """
        for p < 20: a[p] = 0.0
        loop j < 3:
            for p < 20: a[p] += X[p, j]
            for p < j + 5: Z[p, j] = a[p]
            for p < j + 5: a[p] = 0.0
        """,
    "read after the loop, and not cleared at the end": """
        for p < 20: a[p] = 0.0
        loop j < 3:
            for p < 20: a[p] += X[p, j]
            for p < 20: a[p] = 0.0
            a[0] = x[j]
        for p < 20: Z[p, 0] = a[p]
        """,
    "not zero at first": """
        for p < 20: a[p] = 1.0
        loop j < 3:
            for p < 20: a[p] += X[p, j]
            for p < 20: Z[p, j] = a[p]
            for p < 20: a[p] = 0.0
        """,
    "not cleared at the end": """
        for p < 20: a[p] = 0.0
        loop j < 3:
            for p < 20: a[p] += X[p, j]
            for p < 20: a[p] = 0.0
            for p < 20: a[p] += Y[p, j]
            for p < 20: Z[p, j] = a[p]
        """,
    "cleared in a branch only": """
        for p < 20: a[p] = 0.0
        loop j < 3:
            for p < 20: a[p] += X[p, j]
            for p < 20: Z[p, j] = a[p]
            if X[0, j] > 0.0:
                for p < 20: a[p] = 0.0
        """,
    "of a part that data choose": """
        for p < 20: a[p] = 0.0
        loop j < 3:
            a[i[j]] += x[j]
            z[j] = a[i[j]]
            a[i[j]] = 0.0
        """,
    "an output": """
        for p < 20: z[p] = 0.0
        loop j < 3:
            for p < 20: z[p] += X[p, j]
            for p < 20: W[p, j] = z[p]
            for p < 20: z[p] = 0.0
        """,
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    assert_stays(clear_early, KEPT[name])


def test_where_both_sides_of_a_branch_clear():
    assert_becomes(
        clear_early,
        """
        for p < 20: a[p] = 0.0
        loop j < 3:
            for p < 20: a[p] += X[p, j]
            if x[j] > 0.0:
                for p < 20: Z[p, j] = a[p]
                for p < 20: a[p] = 0.0
            else:
                for p < 20: Z[p, j] = -a[p]
                for p < 20: a[p] = 0.0
        """,
        """
        loop j < 3:
            for p < 20: a[p] = 0.0
            for p < 20: a[p] += X[p, j]
            if (x[j] > 0.0):
                for p < 20: Z[p, j] = a[p]
            else:
                for p < 20: Z[p, j] = -a[p]
        """,
    )


@pytest.mark.parametrize("last", ["for p < 19: a[p] = 0.0", "for p < 20: a[p] = 1.0", "for p < 20: Z[p, j] = a[p]"])
def test_not_where_one_side_of_a_branch_leaves_something(last):
    assert_stays(
        clear_early,
        f"""
        for p < 20: a[p] = 0.0
        loop j < 3:
            for p < 20: a[p] += X[p, j]
            if x[j] > 0.0:
                for p < 20: Z[p, j] = a[p]
                for p < 20: a[p] = 0.0
            else:
                for p < 20: Z[p, j] = -a[p]
                {last}
        """,
    )


def test_what_is_read_after_the_loop_is_cleared_after_it():
    assert_becomes(
        clear_early,
        """
        for p < 20: a[p] = 0.0
        loop backwards j < 3:
            loop parallel f < 2:
                a[f] += x[f]
            for p < 18: Z[p, j] = a[p + 1]
            for p < 19: a[p] += X[p, j]
            for p < 18: a[p + 1] = 0.0
            z[j] = 1.0
        for p < 20: z[p] += a[p]
        """,
        """
        for p < 20: a[p] = 0.0
        loop backwards j < 3:
            for p < 18: a[p + 1] = 0.0
            loop parallel f < 2:
                a[f] += x[f]
            for p < 18: Z[p, j] = a[p + 1]
            for p < 19: a[p] += X[p, j]
            z[j] = 1.0
        for p < 18: a[p + 1] = 0.0
        for p < 20: z[p] += a[p]
        """,
    )


def test_a_part_that_nobody_reads_after_the_loop():
    assert_becomes(
        clear_early,
        """
        for p < 20: a[p] = 0.0
        loop j < 3:
            for p < 19: a[p] += X[p, j]
            for p < 19: Z[p, j] = a[p + 1]
            for p < 19: a[p] = 0.0
        """,
        """
        for p < 20: a[p] = 0.0
        loop j < 3:
            for p < 19: a[p] = 0.0
            for p < 19: a[p] += X[p, j]
            for p < 19: Z[p, j] = a[p + 1]
        """,
    )


@pytest.mark.parametrize("integers", [{"n": 3, "o": 2}, {"n": 0, "o": 77}])
def test_not_after_a_loop_without_trips_where_there_may_be_no_such_element(integers):
    text = """
        for p < 20: a[p] = 0.0
        loop j < n:
            a[o] += x[j]
            z[j] = a[o]
            a[o] = 0.0
        for p < 20: w[p] = a[p]
        """
    program, arrays, known = sample(text.replace("z[j]", "b[j]"), **integers)
    assert clear_early(program) == program
    check_passes(program, arrays, known, passes=[clear_early])
    inside, *_ = sample(text.replace("a[o]", "a[19]"), **integers)
    assert clear_early(inside) != inside
