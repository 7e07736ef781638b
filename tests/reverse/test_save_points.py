"""What a loop overwrites, and nothing in it asks for, is kept once before the loop."""

import warnings

import numpy as np
import pytest

from sdfgad.errors import SdfgadError
from sdfgad.gradient.assemble import assemble
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.reverse.adjoint import differentiate_program
from tests.helpers import module_from
from tests.helpers_ir import assert_slope, evaluated_gradients, floating, parsed
from tests.helpers_memory import Maker, check_memory

X, Y, N = np.linspace(0.3, 1.1, 6), np.linspace(0.5, 1.3, 6), 3


def derived(program, *args, early=True):
    primal = parsed(program, *args)
    wrt = [primal.inputs[name] for name in floating(primal)]
    return primal, differentiate_program(
        primal.program, primal.context, wrt, primal.program.outputs["return"], early=early
    )


def kept(program, *args, early=True):
    """For each residual: its line, the number of loops around it, and how many values it has for each trip of them."""
    _, adjoint = derived(program, *(args or (X, Y, N)), early=early)
    sizes = {key: int(np.prod([extent.const for _, extent in r.params])) for key, r in adjoint.residuals.items()}
    return sorted((r.where.text.strip(), len(r.loops), sizes[key]) for key, r in adjoint.residuals.items())


def sweeps(x, y, n):
    """The sweeps are linear in `p`, which is asked for once in a step only."""
    u, p = x * 1.0, y * 1.0
    for _ in range(n):
        for _ in range(4):
            p[1:-1] = 0.5 * (p[2:] + p[:-2])
            p[0] = p[1]
            p[-1] = p[-2]
        u = np.sin(u) * 0.5 + p * p
    return np.sum(u * u)


def test_an_array_that_sweeps_overwrite_is_kept_once_in_a_step():
    names = {line for line, loops, _ in kept(sweeps, X, Y, N) if loops == 2}
    assert names == set()
    assert ("for _ in range(4):", 1, 6) in kept(sweeps, X, Y, N)
    assert {line for line, loops, _ in kept(sweeps, X, Y, N, early=False) if loops == 2} >= {
        "p[1:-1] = 0.5 * (p[2:] + p[:-2])"
    }


def before(x, y, n):
    """Only what is there before the loop is asked for."""
    u = x * y
    s = np.sum(u * u)
    for _ in range(n):
        u[:] = 0.5 * u
    return s + np.sum(u)


def test_before_an_outermost_loop():
    assert kept(before, X, Y, N) == [("for _ in range(n):", 0, 6)]
    assert kept(before, X, Y, N, early=False) == [("u[:] = 0.5 * u", 1, 6)]


def part(x, y, n):
    u = x * y
    s = np.sum(u * u)
    for _ in range(n):
        u[1:2] = 0.5 * u[1:2]
    return s + np.sum(u)


def test_a_small_part_is_kept_by_itself():
    assert kept(part, X, Y, N) == [("for _ in range(n):", 0, 1)]


def few(x, y, n):
    u = x * y
    s = np.sum(u * u)
    for k in range(n):
        u[k] = 0.5 * u[k]
        u[k + 1] = 0.25 * u[k + 1]
    return s + np.sum(u)


def test_an_array_of_which_a_trip_overwrites_little_is_not_kept_whole():
    assert {(loops, size) for _, loops, size in kept(few, X, Y, N)} == {(1, 1)}


def asked_inside(x, y, n):
    """What a trip overwrites is asked for in the trip: all trips keep it, and nothing more is kept before."""
    u = x * y
    s = np.sum(u * u)
    for _ in range(n):
        u[:] = np.sin(u) * 0.5
    return s + np.sum(u)


def test_nothing_is_kept_twice():
    assert kept(asked_inside, X, Y, N) == kept(asked_inside, X, Y, N, early=False)


def ended_by_a_test(x, y, n):
    u, p = x * 1.0, y * 1.0
    while np.sum(u) > 2.0:
        for _ in range(n):
            p[1:-1] = 0.5 * (p[2:] + p[:-2])
        u = np.sin(u) * 0.5 + 0.01 * p * p
    return np.sum(u * p)


def in_a_branch(x, y, n):
    u, p = x * 1.0, y * 1.0
    for k in range(n):
        for t in range(k):
            if t % 2 == 0:
                p[:] = 0.5 * p
            else:
                p[1:] = p[:-1] * 0.25
        u = u * p
    return np.sum(u * p)


def sums_in_a_nest(x, y, n):
    """Loops over elements: the whole array is kept before all of them."""
    u, p = x * 1.0, y * 1.0
    for _ in range(n):
        for _ in range(2):
            for i in range(1, 5):
                p[i] = 0.5 * (p[i - 1] + p[i + 1])
        u = u * p
    return np.sum(u * p)


def scattered(x, y, idx, n):
    u, p = x * 1.0, y * 1.0
    for _ in range(n):
        for _ in range(2):
            for i in range(6):
                p[idx[i]] = 0.5 * p[i]
        u = u * p
    return np.sum(u * p)


CASES = {
    "sweeps": (sweeps, (X, Y, N)),
    "before": (before, (X, Y, N)),
    "before, no trips": (before, (X, Y, 0)),
    "part": (part, (X, Y, N)),
    "few": (few, (X, Y, N)),
    "asked inside": (asked_inside, (X, Y, N)),
    "ended by a test": (ended_by_a_test, (X, Y, 2)),
    "in a branch": (in_a_branch, (X, Y, 4)),
    "sums in a nest": (sums_in_a_nest, (X, Y, N)),
    "scattered": (scattered, (X, Y, np.array([2, 0, 4, 1, 3, 3]), N)),
}


def gradients(program, args, early, passes=()):
    primal, adjoint = derived(program, *args, early=early)
    made = assemble(adjoint, tuple(primal.inputs[name] for name in floating(primal)), "return")
    return evaluated_gradients(primal, made, 1.5, *args, passes=passes)


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_the_same_to_the_last_bit(case):
    program, args = CASES[case]
    _, expected = gradients(program, args, early=False)
    _, found = gradients(program, args, early=True)
    for name, gradient in expected.items():
        np.testing.assert_array_equal(found[name], gradient)
    assert_slope(program, *args)


@pytest.mark.parametrize("case", CASES)
def test_with_values_made_again_and_states_kept(case):
    program, args = CASES[case]
    check_memory(program, args, trials=10)


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_random_programs_have_the_same_gradients(first, tmp_path):
    moved = 0
    for seed in range(first, first + 10):
        text = Maker(seed).text()
        program, args = module_from(text, tmp_path).program, (X[:5], Y[:5], np.array([2, 0, 4, 1, 3]), seed % 5)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                (_, found), (_, expected) = (_random_gradients(program, args, early) for early in (True, False))
        except (SdfgadError, NeedsConstant):
            continue
        moved += any(line.startswith("for") for line, _, _ in kept(program, *args))
        for name, gradient in expected.items():
            np.testing.assert_allclose(found[name], gradient, rtol=1e-12, atol=1e-12, err_msg=f"seed {seed}\n{text}")
    assert moved > 0


def _random_gradients(program, args, early):
    primal, adjoint = derived(program, *args, early=early)
    made = assemble(adjoint, tuple(primal.inputs[name] for name in floating(primal)), "return")
    cotangent = np.ones([extent.const for extent in made.program.buffers[made.cotangent].shape])
    with np.errstate(all="ignore"):
        return evaluated_gradients(primal, made, cotangent, *args)
