"""How many threads run a sequence, and how many of them a sum."""

import numpy as np
import pytest

from sdfgad.ir.expr import Const, Lin
from sdfgad.ir.program import Access, Compute, Loop
from sdfgad.schedule.device_sums import Sum
from sdfgad.schedule.sequences import group_of, threads_of_sequence

ZERO = Const(0.0, np.dtype(float))
I, P = Lin.symbol("i"), Lin.symbol("p")


def around(*body, trips=700):
    return Loop.over("i", Lin(trips), body)


def points(extent):
    return Compute((("p", extent),), Access("x", (P,)), ZERO)


def terms(extent):
    return Compute((("p", extent),), Access("s", ()), ZERO, "add")


@pytest.mark.parametrize(
    ("body", "threads"),
    [
        (points(Lin(5)), 32),
        (points(Lin(100)), 128),
        (terms(Lin(300)), 512),
        (points(Lin(5000)), 1024),
        (points(I), 1024),
        (points(Lin.symbol("n")), 256),
        # The points of a nest, not those of a statement in it.
        (Loop.over("p", I, (Compute((), Access("x", (P,)), ZERO),), is_parallel=True), 1024),
        (Loop.over("p", Lin(60), (points(Lin(4)),), is_parallel=True), 256),
        (Loop.over("p", Lin(60), (Compute((), Access("x", (P,)), ZERO),)), 32),
    ],
)
def test_as_many_threads_as_the_largest_step_has_points(body, threads):
    assert threads_of_sequence(around(body)) == threads


@pytest.mark.parametrize(("elements", "group"), [(None, 512), (2, 256), (16, 32), (500, 32)])
def test_threads_of_a_sum(elements, group):
    own = () if elements is None else (("q", Lin(elements)),)
    index = () if elements is None else (Lin.symbol("q"),)
    statement = Compute((*own, ("p", Lin(300))), Access("s", index), ZERO, "add")
    assert group_of(Sum(statement), 512) == group
