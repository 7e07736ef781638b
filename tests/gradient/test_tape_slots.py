"""What each trip makes anew lives on its tape, where nothing else needs it."""

import numpy as np
import pytest

import sdfgad
from sdfgad.gradient.assemble import assemble
from sdfgad.ir.program import Compute, walk, written
from sdfgad.optimise.passes import optimise
from sdfgad.runtime.compile import source_of
from tests.helpers import with_target
from tests.helpers_ir import adjoint_of, assert_slope, evaluated_gradients, floating, parsed
from tests.helpers_memory import Choice, case_of, check_memory, keepable
from tests.helpers_passes import check_function

X, Y, N = np.linspace(0.3, 1.1, 6), np.linspace(0.5, 1.3, 6), 3


def made(program, *args, use_slots=True):
    primal = parsed(program, *args)
    adjoint = adjoint_of(primal)
    wrt = tuple(primal.inputs[name] for name in floating(primal))
    return primal, assemble(adjoint, wrt, primal.program.outputs["return"], use_slots=use_slots)


def on_tapes(program, *args):
    """The arrays that the forward sweep writes without what lives on tapes, and does not with it."""
    with_copies, without = (
        {program.buffers[n].source for n in written(program.body) if n in primal.program.buffers}
        for primal, program in ((p, m.program) for p, m in (made(program, *args, use_slots=s) for s in (False, True)))
    )
    return with_copies - without


def temporary(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.sin(u)
        e = d * d
        u = e * y + u * d
    return np.sum(u * u)


def in_parts(x, y, n):
    """What is made in full is then changed in parts."""
    u = x * 1.0
    for k in range(n):
        d = np.zeros(6)
        d[1:] = np.sin(u[:-1])
        d[0] = u[k]
        d[1:3] = d[1:3] * d[2:4]
        u = d * d * y
    return np.sum(u)


def part_by_part(x, y, n):
    """Each part is assigned once, and none is made in full before: ghost cells, as `np.pad` has them."""
    u = x * 1.0
    for _ in range(n):
        d = np.empty(8)
        d[1:-1] = np.sin(u)
        d[0] = u[-1]
        d[7] = u[0] * y[1]
        e = np.pad(u, 1, mode="edge")
        u = d[1:-1] * d[2:] * y + d[:-2] * e[2:] * e[:-2]
    return np.sum(u * u)


def part_by_part_until(x, y, n):
    u = x * 1.0
    while np.sum(u) > 0.7:
        d = np.pad(u, ((1, 1)), mode="wrap")
        u = d[:-2] * d[2:] * y * 0.8
    return np.sum(u * u)


def in_a_nest(x, y, n):
    u = x * 1.0
    for _ in range(n):
        w = u * y
        for _ in range(2):
            d = np.cos(u) * w
            u = d * d
    return np.sum(u)


def ended_by_a_test(x, y, n):
    u = x * 1.0
    while np.sum(u) > 1.0:
        d = np.sin(u)
        for _ in range(n):
            e = d * u
            u = e * e * 0.5 + 0.1 * y
    return np.sum(u)


def triangular(x, y, n):
    u = x * 1.0
    for k in range(n):
        for _ in range(k):
            d = np.sin(u)
            u = d * d * y
    return np.sum(u)


def booleans(x, y, n):
    u = x * 1.0
    for _ in range(n):
        mask = u < y
        u = np.where(mask, u * u + 0.1, u - 0.05 * y)
    return np.sum(u)


def made_in_a_branch(x, y, n):
    u = x * 1.0
    for k in range(n):
        if k % 2 == 0:
            d = np.sin(u)
            u = d * d * y
    return np.sum(u)


def made_on_both_sides(x, y, n):
    u = x * 1.0
    for k in range(n):
        if u[k] < 0.5:
            d = np.sin(u)
            e = d[k] * u[k]
        else:
            d = u * u[k]
            e = np.cos(d[0]) * u[k]
        u = d * d * y * e
    return np.sum(u)


def numbers(x, y, n):
    u = x * 1.0
    for k in range(n):
        d = np.sin(u[k]) * y[k]
        if d > 0.2:
            e = d * u[k + 1]
            for i in range(k):
                f = e * u[i]
                u[i] = f * f + d
            u[k + 1] = e * e + d
    return np.sum(u)


def around_a_loop_that_ends_itself(x, y, n):
    u = x * 1.0
    for k in range(n):
        if u[k] < 1.2:
            d = np.cos(u) * u[k]
            for _ in range(n):
                u = np.sin(u) * y + 0.3 * d
                if u[0] > 0.3:
                    break
    return np.sum(u)


def summed(x, y, n):
    u = x * 1.0
    for k in range(n):
        d = np.sum(np.sin(u) * y)
        e = 0.1 * np.outer(u, y) @ u
        u = np.cos(u * d) + np.sin(e * e)
    return np.sum(u)


def summed_further(x, y, n):
    """Both the first sum and the last one are needed."""
    u = x * 1.0
    for k in range(n):
        d = np.sum(np.sin(u) * y)
        e = d * d
        for i in range(k + 2):
            d += u[i] * y[i] * np.sin(e)
        u = np.cos(u * d) + 0.1 * np.sin(e)
    return np.sum(u)


CASES = {
    "summed": (summed, (X, Y, N)),
    "summed further": (summed_further, (X, Y, N)),
    "temporary": (temporary, (X, Y, N)),
    "in parts": (in_parts, (X, Y, N)),
    "part by part": (part_by_part, (X, Y, N)),
    "part by part, until": (part_by_part_until, (X, Y, N)),
    "in a nest": (in_a_nest, (X, Y, N)),
    "ended by a test": (ended_by_a_test, (X, Y, 2)),
    "triangular": (triangular, (X, Y, 4)),
    "booleans": (booleans, (X, Y, N)),
    "in a branch": (made_in_a_branch, (X, Y, N)),
    "on both sides": (made_on_both_sides, (X, Y, N)),
    "numbers": (numbers, (X, Y, N)),
    "around a loop that ends itself": (around_a_loop_that_ends_itself, (X, Y, N)),
    "no trips": (temporary, (X, Y, 0)),
}


def test_a_temporary_lives_on_its_tape():
    assert {"d", "e"} <= on_tapes(temporary, X, Y, N)
    assert {"d"} <= on_tapes(in_parts, X, Y, N)
    assert {"d"} <= on_tapes(part_by_part, X, Y, N)
    assert {"d", "w"} <= on_tapes(in_a_nest, X, Y, N)
    assert {"d"} <= on_tapes(made_in_a_branch, X, Y, N)
    assert {"d", "e"} <= on_tapes(made_on_both_sides, X, Y, N)
    assert {"d", "e", "f"} <= on_tapes(numbers, X, Y, N)
    assert {"", "e"} <= on_tapes(summed, X, Y, N)
    assert {"d"} <= on_tapes(summed_further, X, Y, N)


def carried(x, y, n):
    """The trip reads what the one before has left."""
    u, d = x * 1.0, y * 1.0
    for _ in range(n):
        u = u * d
        d = np.sin(u) * d
    return np.sum(u * d)


def left_from_the_trip_before(x, y, n):
    """One element is not assigned in each trip."""
    u, d = x * 1.0, np.ones(6)
    for _ in range(n):
        d[1:4] = np.sin(u[1:4])
        d[4:] = u[:2] * u[2:4]
        u = d * u * d
    return np.sum(u)


def assigned_twice(x, y, n):
    """Of one element an earlier value is needed, too."""
    u = x * 1.0
    for _ in range(n):
        d = np.empty(6)
        d[:4] = np.sin(u[:4])
        e = d[3] * d[3] * d[2]
        d[3:] = u[3:] * u[:3]
        u = d * d * e
    return np.sum(u)


def read_later(x, y, n):
    u, d = x * 1.0, y * 1.0
    for _ in range(n):
        d = np.sin(u)
        u = d * d * y
    return np.sum(u * d)


@pytest.mark.parametrize("program", [carried, left_from_the_trip_before, assigned_twice, read_later])
def test_what_something_else_needs_does_not(program):
    assert "d" not in on_tapes(program, X, Y, N)
    assert_slope(program, X, Y, N)


def test_nothing_is_copied_then():
    """The array itself is not there any more, and what makes it fills its tape."""
    primal, gradient = made(temporary, X, Y, N)
    (name,) = (name for name, buffer in primal.program.buffers.items() if buffer.source == "d")
    writers = [s for s in walk(gradient.program.body) if written((s,)) & {name, *gradient.tapes.values()}]
    assert name not in written(gradient.program.body)
    assert [s.where.text.strip() for s in writers if isinstance(s, Compute)].count("d = np.sin(u)") == 1


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_the_same_to_the_last_bit(case):
    program, args = CASES[case]
    for passes in ((), (optimise,)):
        (_, found), (_, expected) = (
            evaluated_gradients(*made(program, *args, use_slots=s), 1.5, *args, passes=passes) for s in (True, False)
        )
        for name, gradient in expected.items():
            # The interpreter adds up what lies in memory in another way in another order.
            is_exact = not passes and program is not summed
            np.testing.assert_allclose(found[name], gradient, rtol=0 if is_exact else 1e-13)
    assert_slope(program, *args)


@pytest.mark.parametrize("case", CASES)
def test_with_values_made_again_and_states_kept(case):
    program, args = CASES[case]
    check_memory(program, args, trials=8)


@pytest.mark.parametrize("case", CASES)
def test_with_passes(case):
    program, args = CASES[case]
    check_function(program, args)


def many(x, w):
    """Sums of a trip, of single numbers and of columns, each to which threads add in parts."""
    total = 0.0
    for k in range(w.shape[0]):
        s = np.sum(np.sin(x[:, 0] * w[k]))
        columns = np.sum(np.cos(x) * w[k], axis=0)
        total += s * s + np.sum(columns**3)
    return total


def test_parts_of_sums_in_slots_are_of_the_slot_alone(rng, monkeypatch):
    """Each thread has a copy of what the trip adds to, not of the whole tape."""
    with_target(monkeypatch, parallel_work=1)
    x, w = rng.uniform(size=(3000, 3)), rng.uniform(size=5)
    found = sdfgad.differentiate(many)(x, w)
    code = source_of(sdfgad.differentiate(many).programs(x, w)[0]).code
    assert "parts_t_tape_(64 * 1)" in code
    assert "parts_t_1_tape_(8 * 3)" in code
    s, columns = np.sin(np.outer(x[:, 0], w)), np.cos(x).sum(axis=0)[:, None] * w
    of_x = -3 * np.sin(x) * (columns**2 @ w)
    of_x[:, 0] += np.cos(np.outer(x[:, 0], w)) @ (2 * s.sum(axis=0) * w)
    of_w = 2 * s.sum(axis=0) * (x[:, 0] @ np.cos(np.outer(x[:, 0], w))) + 3 * np.cos(x).sum(axis=0) @ columns**2
    np.testing.assert_allclose(found["x"], of_x, rtol=1e-11)
    np.testing.assert_allclose(found["w"], of_w, rtol=1e-11)


def until(x, tolerance):
    """The number of trips is data, and so is the slot."""
    total, u = 0.0, 1.0
    while u > tolerance:
        s = np.sum(np.sin(x * u))
        total += s * s
        u = 0.5 * u
    return total


def test_parts_of_sums_in_slots_that_are_data(rng, monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    x, scales = rng.uniform(size=3000), 0.5 ** np.arange(5)
    g = sdfgad.differentiate(until, wrt="x")
    assert "parts_t_tape_(64 * 1)" in source_of(g.programs(x, 0.05)[0]).code
    s = np.sin(np.outer(x, scales)).sum(axis=0)
    np.testing.assert_allclose(g(x, 0.05), np.cos(np.outer(x, scales)) @ (2 * s * scales), rtol=1e-11)


def test_in_segments_too():
    case = case_of(temporary, (X, Y, N))
    (name,) = (name for name, buffer in case.primal.program.buffers.items() if buffer.source == "d")
    (loop,) = keepable(case.adjoint)
    program = case.program(Choice((), {loop: (2, 2)})).program
    writers = [s for s in walk(program.body) if isinstance(s, Compute) and s.target.buffer == name]
    tapes = [s for s in walk(program.body) if isinstance(s, Compute) and s.target.buffer == f"{name}_tape"]
    # Forward, and up to where a segment begins, nothing is taped.
    assert len(writers) == 2
    assert len(tapes) == 1
