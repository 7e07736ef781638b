"""A plan says what is kept, where, and why."""

import numpy as np

import sdfgad
from sdfgad.plan import store_all
from tests.helpers import line_of


def linear(u, n):
    for _ in range(n):
        u[1:-1] += 0.25 * (u[2:] - u[:-2])


def quadratic(u, n):
    for _ in range(n):
        u[1:-1] = u[1:-1] * u[2:]


def test_a_linear_program_keeps_nothing():
    assert not sdfgad.differentiate(linear).plan(np.ones(6), 3).decisions


def test_a_residual_is_named_by_the_line_that_overwrites_it():
    (decision,) = sdfgad.differentiate(quadratic).plan(np.ones(6), 3).decisions.values()
    assert decision.name == "u"
    assert decision.source == line_of(quadratic, "u[1:-1] =")
    assert decision.choice == "store"
    assert decision.reason


def test_store_all():
    plan = store_all([(4, "x", "a.py:1"), (2, "y", "a.py:2")])
    assert list(plan.decisions) == [4, 2]
    assert plan.choice(2) == "store"
