"""In which order the points of a statement run."""

import pytest

from sdfgad.dependence.hazards import is_injective
from sdfgad.schedule.loop_order import order_of
from tests.helpers_text import sample


def order(text):
    program, _, _ = sample(text)
    return order_of(program.body[0])


def test_the_last_axis_of_the_target_runs_innermost():
    found = order("for c < 6, p < 20: Z[p, c] = X[p, c]")
    assert found.outer == ("p", "c")
    assert found.is_vector


def test_the_shortest_steps_are_innermost():
    found = order("for c < 5, d < 4: z[c + 5*d] += x[d]")
    assert found.outer == ("d", "c")
    assert found.is_vector


def test_a_sum_along_memory_is_in_a_register():
    found = order("for c < 6, p < 20: z[p] += X[p, c]")
    assert (found.outer, found.inner, found.clears_first) == (("p",), ("c",), False)


def test_a_sum_across_memory_runs_outermost():
    found = order("for c < 6, p < 20: z[c] = sum of X[p, c]")
    assert (found.outer, found.inner, found.clears_first) == (("p", "c"), (), True)


def test_a_total():
    found = order("for c < 6, p < 20: s = sum of X[p, c]")
    assert (found.outer, set(found.inner)) == ((), {"p", "c"})


@pytest.mark.parametrize(
    "text",
    [
        "for p < 20: z[i[p]] += x[p]",
        "for p < 20: z[p // 2] += x[p]",
        "for p < 5, c < 5: z[p + c] += X[p, c]",
    ],
)
def test_points_that_may_share_an_element_are_no_vector(text):
    found = order(text)
    assert not found.is_injective
    assert not found.is_vector


def test_injective():
    def target(text):
        program, _, _ = sample(text)
        statement = program.body[0]
        return is_injective(statement.target.index, [name for name, _ in statement.params])

    assert target("for p < 4, c < 3: Z[p + c, c] += X[p, c]")
    assert target("for p < 4: Z[2*p + 1, i[p]] += x[p]")
    assert not target("for p < 4, c < 3: Z[p + c, p + c] += X[p, c]")
    assert not target("for p < 4, c < 3: Z[p, i[c]] += X[p, c]")
