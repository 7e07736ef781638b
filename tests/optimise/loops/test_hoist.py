"""Expensive values are computed before loops in which they stay the same."""

import numpy as np

from sdfgad.ir.program import Loop
from sdfgad.optimise.loops.hoist import hoist
from tests.helpers_passes import assert_becomes, assert_stays, check_function


def test_before_the_points_of_a_statement():
    assert_becomes(
        hoist,
        """
        s = x[3]
        for p < 20: z[p] = exp(s) * x[p] + exp(s * 2.0)
        """,
        """
        s = x[3]
        fixed = exp(s)
        fixed_1 = exp((s * 2.0))
        for p < 20: z[p] = ((fixed * x[p]) + fixed_1)
        """,
    )


def test_before_all_loops_that_do_not_matter():
    assert_becomes(
        hoist,
        """
        s = x[3]
        loop parallel f < 20:
            r = s + x[f]
            loop parallel g < 6:
                Z[f, g] = x[f] * sin(s) + cos(r)
        """,
        """
        s = x[3]
        fixed = sin(s)
        loop parallel f < 20:
            r = (s + x[f])
            fixed_1 = cos(r)
            loop parallel g < 6:
                Z[f, g] = ((x[f] * fixed) + fixed_1)
        """,
    )


def test_what_a_trip_changes_stays():
    assert_stays(
        hoist,
        """
        s = x[3]
        loop i < 20:
            z[i] = exp(s) * x[i]
            s = s * 0.5
        """,
    )


def test_elements_and_what_depends_on_the_point_stay():
    assert_stays(hoist, "for p < 20: z[p] = exp(x[3]) * exp(x[p])")


def test_cheap_values_stay():
    assert_stays(
        hoist,
        """
        s = x[3]
        for p < 20: z[p] = (s * 2.0) * x[p]
        """,
    )


def powers(z, s, h):
    total = np.zeros_like(h)
    for n in range(3):
        total += (z * n) ** s * h
        total += z**s * h
        if s.real > 0.5:
            total += np.power(z, s - n) * h
        s = s * 0.9
    return total


def test_complex_powers(rng):
    h = rng.normal(size=(4, 5)) + 1j * rng.normal(size=(4, 5))
    check_function(powers, (0.7 + 0.4j, 1.3 + 0.2j, h))


def test_what_depends_on_the_counter_stays_in_its_loop(rng):
    h = rng.normal(size=(4, 5)) + 1j * rng.normal(size=(4, 5))
    _, made, _ = check_function(powers, (0.7 + 0.4j, 1.3 + 0.2j, h))
    inside = [s for s in made.body if isinstance(s, Loop)]
    assert any("fixed" in s.mentioned for s in inside)
    assert not any("fixed" in s.mentioned for s in made.body if not isinstance(s, Loop))
