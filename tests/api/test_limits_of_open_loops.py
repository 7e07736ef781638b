"""Memory limits of loops whose number of trips is data: they hold, and the gradient is that of storing everything."""

import copy

import numpy as np
import pytest

import sdfgad
from sdfgad.api.compile_together import compile_together
from sdfgad.errors import InfeasibleBudget
from sdfgad.specialise.specialise import Specialisation
from tests.helpers_tiers import some

U = np.linspace(0.1, 1.3, 600)


def smoothed(u, dt):
    return u[1:-1] + dt * u[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])


def adaptive(u, end):
    """A time loop whose step depends on the state."""
    t = 0.0
    while t < end:
        dt = min(0.1 / (1.0 + np.max(np.abs(u))), end - t)
        u[1:-1] = smoothed(u, dt)
        u += 0.1 * dt * np.sin(u)
        t += dt
    return np.sum(u * u)


def settling(u, tolerance):
    """An iteration that stops where nothing changes any more."""
    for _ in range(1000):
        before = u.copy()
        u = 0.7 * u + 0.1 * np.cos(u) * np.roll(u, 1)
        if np.max(np.abs(u - before)) < tolerance:
            break
    return np.sum(u**3)


def newton(u, steps):
    """Time steps with an iteration in each."""
    for _ in range(steps):
        old, size = u.copy(), 1.0
        while size > 1e-9:
            d = (u - old + 0.1 * u**3) / (1.0 + 0.3 * u * u)
            u = u - d
            size = np.max(np.abs(d))
    return np.sum(u * u)


def selected(u, steps):
    """Time steps with what a mask selects."""
    total = 0.0
    for k in range(steps):
        m = u > 0.5
        u[m] = u[m] * np.exp(-0.3 * u[m])
        chosen = u[u > 0.2]
        total = total + np.sum(chosen * chosen) / (1 + k)
        u = u * 1.02 + 0.05 * np.sin(u)
    return total + np.sum(u)


def both(u, end):
    """An iteration in stages of steps whose number is data."""
    u, t = u.copy(), 0.0
    while t < end:
        dt = 0.1 / (1.0 + np.max(np.abs(u)))
        for _ in range(3):
            u[1:-1] = smoothed(u, dt / 3.0)
            error = 1.0
            while error > 1e-3:
                w = u - 0.01 * np.tanh(u)
                error = error * np.mean(w) * 0.3
                u = 0.5 * (u + w)
        t += dt
    return np.sum(u * u)


def chosen(u, counts):
    """A number of steps from an array, in a branch."""
    if u[0] > 0.05:
        for _ in range(counts[0]):
            u[1:-1] = smoothed(u, 0.05)
    return np.sum(u * u)


PROGRAMS = {
    adaptive: (U, 4.0),
    settling: (U, 1e-7),
    newton: (U, 20),
    selected: (U, 30),
    both: (U, 1.5),
    chosen: (U, np.array([60])),
}


def called(g, args):
    return g.value_and_grad(*copy.deepcopy(args))


@pytest.fixture(scope="module")
def found():
    """For each program one that stores everything, and one with a limit of two fifths of its peak."""
    pairs = {}
    for f, args in PROGRAMS.items():
        everything = sdfgad.differentiate(f, wrt="u", strategy="store_all")
        limit = everything.plan(*args).peak_bytes * 2 // 5
        pairs[f] = everything, sdfgad.differentiate(f, wrt="u", memory_limit=limit), limit
    some = [(g, copy.deepcopy(PROGRAMS[f])) for f, pair in pairs.items() for g in pair[:2]]
    assert compile_together(some) == [None] * len(some)
    return pairs


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_limit_holds_and_the_gradient_is_the_same(found, program):
    args, (everything, limited, limit) = PROGRAMS[program], found[program]
    assert any("stat" in row.choice for row in limited.plan(*args).decisions)
    measured = limited.measure(*copy.deepcopy(args), repeats=1)
    assert measured.peak_bytes <= measured.predicted_bytes <= limit
    (value, gradient), (expected, wanted) = called(limited, args), called(everything, args)
    np.testing.assert_allclose(value, program(*copy.deepcopy(args)), rtol=1e-12)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-11, atol=1e-12 * np.max(np.abs(wanted)))
    direction, h = np.cos(np.arange(U.size)), 1e-6
    ends = [program(U + sign * h * direction, *copy.deepcopy(args[1:])) for sign in (1, -1)]
    np.testing.assert_allclose(gradient @ direction, (ends[0] - ends[1]) / (2 * h), rtol=1e-5)


def test_other_numbers_of_trips_have_plans_of_their_own(found):
    _, limited, limit = found[adaptive]
    for end in (0.0, 0.05, 1.0, 6.0):
        everything = sdfgad.differentiate(adaptive, wrt="u", strategy="store_all")
        assert limited.measure(U.copy(), end, repeats=1).peak_bytes <= limit
        found_here, wanted = called(limited, (U, end))[1], called(everything, (U, end))[1]
        np.testing.assert_allclose(found_here, wanted, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("program", [adaptive, newton, both, chosen])
@pytest.mark.parametrize("missing", some([1, 7], 2))
def test_trips_that_were_counted_wrongly(found, program, missing, monkeypatch):
    """The forward sweep may make more trips than the counting program: what decides may be rounded otherwise."""
    args, (everything, limited, _) = PROGRAMS[program], found[program]
    wanted = called(everything, args)[1]
    counted = Specialisation.counted

    def fewer(self, call, built):
        return {name: max(trips - missing, 1) for name, trips in counted(self, call, built).items()}

    monkeypatch.setattr(Specialisation, "counted", fewer)
    value, gradient = called(limited, args)
    np.testing.assert_allclose(value, program(*copy.deepcopy(args)), rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-11, atol=1e-12 * np.max(np.abs(wanted)))


def test_a_limit_that_no_plan_keeps_is_refused():
    with pytest.raises(InfeasibleBudget, match="no plan keeps memory_limit=9600 bytes") as caught:
        sdfgad.differentiate(adaptive, wrt="u", memory_limit=2 * U.nbytes)(U.copy(), 4.0)
    least = caught.value.minimum_bytes
    limited = sdfgad.differentiate(adaptive, wrt="u", memory_limit=least)
    assert limited.measure(U.copy(), 4.0, repeats=1).peak_bytes <= least
