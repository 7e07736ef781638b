"""Expensive values are computed before loops in which they stay the same."""

import numpy as np
import pytest

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


# --- indices


def test_indices_before_loops_of_independent_trips():
    assert_becomes(
        hoist,
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


def test_indices_before_a_box():
    assert_becomes(
        hoist,
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
    assert_stays(hoist, STAYS[name])


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
