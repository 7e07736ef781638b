"""Shifted contributions of a stencil's adjoint are aligned, element by element in the same order."""

import pytest

from sdfgad.optimise.accumulation.gather import gather
from tests.helpers_passes import assert_becomes, assert_stays, check_passes
from tests.helpers_text import sample


def test_a_stencil():
    assert_becomes(
        gather,
        """
        for p < 20: z[p] = 0.0
        for p < 18: z[p] += x[p + 1]
        for p < 18: z[p + 1] += (x[p + 1] * -2.0)
        for p < 18: z[p + 2] += x[p + 1]
        """,
        """
        for p < 20: z[p] = 0.0
        for p < 16: z[p + 2] += x[p + 3]
        for p < 16: z[p + 2] += (x[p + 2] * -2.0)
        for p < 16: z[p + 2] += x[p + 1]
        for p < 2: z[p] += x[p + 1]
        for p < 1: z[p + 1] += (x[p + 1] * -2.0)
        for p < 1: z[p + 18] += (x[p + 18] * -2.0)
        for p < 2: z[p + 18] += x[p + 17]
        """,
    )


def test_in_two_dimensions_and_past_what_does_not_matter():
    program, arrays, _ = sample("""
        for p < 20, c < 6: Z[p, c] = 0.0
        for p < 18, c < 5: Z[p + 1, c] += X[p, c]
        for p < 20: w[p] = y[p]
        for p < 18, c < 5: Z[p + 2, c + 1] += X[p, c] * y[p]
        for p < 18, c < 5: Z[p, c] += X[p, c] * 3.0
        """)
    changed = check_passes(program, arrays, passes=[gather])
    assert [len(s.params) and s.params[0][1].const for s in changed.body[1:4]] == [16, 16, 16]


KEPT = {
    "read in between": """
        for p < 20: z[p] = 0.0
        for p < 18: z[p] += x[p]
        for p < 20: w[p] = z[p]
        for p < 18: z[p + 1] += x[p]
        """,
    "what is added changes": """
        for p < 20: a[p] = x[p]
        for p < 20: z[p] = 0.0
        for p < 18: z[p] += a[p]
        for p < 20: a[p] = y[p]
        for p < 18: z[p + 1] += a[p]
        """,
    "a row that is chosen anew": """
        k = 0
        for p < 20, c < 6: Z[p, c] = 0.0
        for c < 5: Z[k, c] += X[0, c]
        k = 1
        for c < 5: Z[k, c + 1] += X[0, c]
        """,
    "far apart": """
        for p < 20: z[p] = 0.0
        for p < 8: z[p] += x[p]
        for p < 8: z[p + 10] += x[p]
        """,
    "nothing in common, nothing at all": """
        for p < 20: z[p] = 0.0
        for p < 0: z[p] += x[p]
        for p < 0: z[p + 3] += x[p]
        """,
    "the places are data": """
        for p < 20, c < 6: Z[p, c] = 0.0
        for c < 5: Z[i[c], c] += X[0, c]
        for c < 5: Z[i[c], c + 1] += X[0, c]
        """,
    "a sum that reads itself": """
        for p < 20: z[p] = x[p]
        for p < 18: z[p] += z[p] * y[p]
        for p < 18: z[p + 1] += y[p]
        """,
    "sums over another axis": """
        for p < 20: z[p] = 0.0
        for p < 18, c < 6: z[p] += X[p, c]
        for p < 18, c < 6: z[p + 1] += X[p, c]
        """,
    "maxima": """
        for p < 20: z[p] = 0.0
        for p < 18: z[p] max= x[p]
        for p < 18: z[p + 1] max= x[p]
        """,
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    assert_stays(gather, KEPT[name])


@pytest.mark.parametrize(("most", "statements"), [(7, 8), (6, 4)])
def test_kept_where_there_would_be_too_many_borders(most, statements):
    program, arrays, _ = sample("""
        for p < 20: z[p] = 0.0
        for p < 18: z[p] += x[p + 1]
        for p < 18: z[p + 1] += (x[p + 1] * -2.0)
        for p < 18: z[p + 2] += x[p + 1]
        """)

    def few(program):
        return gather(program, most)

    changed = check_passes(program, arrays, passes=[few])
    assert len(changed.body) == statements
