"""The planning problem of a program: as computed by hand, and as much memory as the program that is built takes."""

import random

import numpy as np
import pytest

import npbench_suite
import sdfgad
from sdfgad.memory.accounting import Accountant
from sdfgad.memory.checkpoint_modes import tape_bytes
from sdfgad.memory.lifetimes import peak_bytes
from sdfgad.memory.loop_choices import inner_choices
from sdfgad.optimise.passes import optimise
from sdfgad.plan.greedy import keep_all, recompute_all
from sdfgad.plan.problem import NOBODY, Solution
from sdfgad.plan.segments import Segments
from sdfgad.plan.simulate import InvalidPlan, simulate
from tests.helpers_memory import MACHINE, Choice, accountant_of, case_of, check_memory
from tests.helpers_tiers import some

# A vector of the programs below, in bytes.
VECTOR = 128
X = np.linspace(0.1, 1.0, VECTOR // 8)


def accounts_of(program, *args):
    """The accounts of a program that stores everything, and its real peak."""
    case = case_of(program, args)
    made = case.program(Choice((), {}))
    return accountant_of(case, made).accounts(), peak_bytes(optimise(made.program), case.sizes(made).of(made))


def named(rows):
    return {row.name: row for row in rows}


# --- by hand


def straight(x, y):
    a = np.sin(x)
    b = a * y
    c = np.exp(b)
    return np.sum(c * b)


def test_values_of_a_straight_line():
    problem = accounts_of(straight, X, X)[0].problem
    a, b, c = problem.values
    assert (a.name, b.name, c.name) == ("a", "b", "c")
    assert {v.bytes for v in problem.values} == {VECTOR}
    # Statement 3 clears the sum, and statement 4 adds to it.
    assert (a.computed, a.used, a.needs, a.inputs, a.latest) == (0, 1, (1,), (), 4)
    assert (b.computed, b.used, b.needs, b.inputs, b.latest) == (1, 4, (4,), (0,), 4)
    # The adjoint of the exponential reads its result, which is there.
    assert (c.computed, c.used, c.needs, c.inputs, c.latest) == (2, 4, (4, 2), (1,), 4)
    assert a.work == c.work > 3 * b.work > 0
    assert problem.inner == problem.tapes == problem.conflicts == ()
    assert [len(step.modes) for step in problem.steps] == [1] * 5


def test_what_is_held_anyway_in_a_straight_line():
    steps = accounts_of(straight, X, X)[0].problem.steps
    always = steps[0].forward
    assert always >= 4 * VECTOR
    assert {step.forward for step in steps} == {always}
    # The adjoint of b lives from the sum to b's product, that of c from the sum to the exponential.
    assert [step.reverse - always for step in steps] == [VECTOR, 2 * VECTOR, 2 * VECTOR, 2 * VECTOR, 2 * VECTOR]


def temporaries(x, c, n):
    for _ in range(n):
        d = np.sin(x)
        e = d * c
        x = x + e * d
    return np.sum(x)


TRIPS = 6


@pytest.fixture(scope="module")
def looped():
    return accounts_of(temporaries, X, X, TRIPS)[0]


def test_values_in_a_loop(looped):
    problem = looped.problem
    assert problem.values == ()
    assert [(i.name, i.step) for i in problem.inner] == [("d", 1), ("e", 1)]
    assert named(problem.inner)["d"].work > 3 * named(problem.inner)["e"].work
    assert problem.conflicts == ()


def test_tapes_of_a_loop(looped):
    tapes = looped.problem.tapes
    assert [t.name for t in tapes] == ["d", "e", "x", "d", "e"]
    for tape in tapes[:3]:
        assert (tape.step, tape.kept[0], tape.transient[0]) == (1, TRIPS * VECTOR, 0)
        assert tape.work[0] > 0
    d, e = 0, 1
    # The adjoints of the update and of e's product read d; making e again does, too.
    assert set(tapes[0].asked) == {(NOBODY, d), (e, d)}
    assert set(tapes[1].asked) == {(NOBODY, e)}
    assert set(tapes[2].asked) == {(NOBODY, NOBODY), (d, NOBODY)}


def test_what_is_made_again_beside_what_a_segment_makes(looped):
    """The last tapes stand for the second copies of d and e, while a segment's first ones are made."""
    for position, tape in enumerate(looped.problem.tapes[3:]):
        assert tape.asked == ((position, NOBODY),)
        assert set(tape.kept) == {0}
        assert tape.transient == (0, *[VECTOR] * (len(tape.transient) - 1))


def test_modes_of_a_loop(looped):
    (modes,) = [modes for modes in looped.modes if len(modes) > 1]
    problem = looped.problem
    assert modes[0] == {}
    assert looped.loops[1].state == VECTOR
    for k, choice in enumerate(modes[1:], 1):
        ((number, segments),) = choice.items()
        assert (number, segments.trips) == (1, TRIPS)
        mode = problem.steps[1].modes[k]
        assert mode.kept == segments.slots * VECTOR + segments.table_bytes
        assert mode.transient == 0
        # Each trip once more, and what is replayed.
        assert mode.work >= (TRIPS + segments.replays * segments.length) * looped.loops[1].body
        for tape in problem.tapes[:3]:
            assert (tape.kept[k], tape.transient[k]) == (0, segments.length * VECTOR)


def test_modes_are_those_that_no_other_beats(looped):
    steps, tapes = looped.problem.steps, looped.problem.tapes
    (step,) = [k for k, one in enumerate(steps) if len(one.modes) > 1]
    sizes = [m.kept + m.transient + sum(t.kept[k] + t.transient[k] for t in tapes[:3]) for k, m in modes_of(looped)]
    work = [m.work for _, m in modes_of(looped)]
    assert sizes == sorted(sizes)
    assert work == sorted(work, reverse=True)
    assert looped.modes[step][1] == {1: Segments(TRIPS, 1, 1)}


def modes_of(accounts):
    step = next(one for one in accounts.problem.steps if len(one.modes) > 1)
    return list(enumerate(step.modes))[1:]


def nested(x, n, m):
    for _ in range(n):
        x = np.sin(x)
        for _ in range(m):
            x = x * x
    return np.sum(x * x)


def test_nested_loops():
    n, m = 30, 50
    accounts, _ = accounts_of(nested, X, n, m)
    outer, inner = accounts.problem.tapes
    assert (outer.kept[0], inner.kept[0]) == (n * VECTOR, n * m * VECTOR)
    assert {number: (one.trips, one.runs, one.around) for number, one in accounts.loops.items()} == {
        1: (n, 1, ()),
        3: (m, n, (1,)),
    }
    choices = accounts.modes[1]
    assert {tuple(sorted(choice)) for choice in choices} >= {(), (1,), (1, 3)}
    for k, choice in enumerate(choices):
        if set(choice) == {1, 3}:
            long, short = choice[1], choice[3]
            # The inner states of one outer segment, besides the outer states.
            mode = accounts.problem.steps[1].modes[k]
            assert mode.transient == long.length * short.slots * VECTOR
            assert mode.kept == long.slots * VECTOR + long.table_bytes + short.table_bytes
            assert (outer.transient[k], inner.transient[k]) == (long.length * VECTOR, short.length * VECTOR)


def test_bytes_of_tapes_of_triangular_loops():
    accounts, real = accounts_of(triangle, X, 10)
    assert accounts.problem.tapes[0].kept[0] == 45 * VECTOR
    assert tape_bytes(accounts.tapes[0], {}) == (45 * VECTOR, 0)
    assert real >= 45 * VECTOR


def triangle(x, n):
    for i in range(n):
        for _ in range(i):
            x = np.sin(x)
    return np.sum(x)


def until(x, least):
    while np.sum(x) > least:
        x = np.sin(x) * (1.0 - 1.0 / 512)
    return np.sum(x)


def until_in_loop(x, n):
    for _ in range(n):
        s = 1.0
        while s > 0.1:
            x = np.sin(x) * 1.01
            s = s * 0.4
    return np.sum(x)


STEPS = [
    (triangle, (X, 40)),
    (nested, (X, 30, 50)),
    (temporaries, (X, X, 60)),
    (until, (X, 2.0)),
    (until_in_loop, (X, 30)),
]


@pytest.mark.parametrize(("program", "args"), STEPS)
def test_modes_take_as_much_as_they_really_do(program, args):
    case = case_of(program, args)
    made = case.program(Choice((), {}))
    accounts = accountant_of(case, made).accounts()
    for k, choice in enumerate(accounts.modes[1]):
        solution = Solution(tuple(k if step == 1 else 0 for step in range(len(accounts.modes))))
        segments = Choice((), {number: (one.length, one.slots) for number, one in choice.items()})
        built = case.program(segments)
        real = peak_bytes(optimise(built.program), case.passed(built, segments, case.sizes(built))[1])
        simulated = simulate(accounts.problem, solution).peak
        # Tables, the larger part of so small states, are bounded by twice their size.
        assert 0.65 * simulated <= real <= 1.1 * simulated, choice


def linear(x, n):
    for _ in range(n):
        x = 0.5 * x
    return np.sum(x)


def test_a_linear_program_has_nothing_to_decide():
    problem = accounts_of(linear, X, 5)[0].problem
    assert problem.values == problem.inner == problem.tapes == ()
    assert {len(step.modes) for step in problem.steps} == {1}


def test_what_can_be_made_again_too_early_only_is_in_conflict_with_what_reads_it():
    def conflicting(u, v, n):
        w = v * 1.0
        for _ in range(n):
            d = np.sin(u)
            w = w + d * d
            u = u * 0.5  # From here on d cannot be made again,
            e = d * 2.0
            v = v * e  # where e is needed.
        return np.sum(v * w)

    problem = accounts_of(conflicting, X, X, TRIPS)[0].problem
    assert [i.name for i in problem.inner] == ["d", "e"]
    assert problem.conflicts == ((1, 0),)


def halved_where_even(x, idx):
    n, s = 0, 0.0
    for i in range(len(x)):
        n += idx[i]
        s += n * x[i] ** 2
        if n % 2 == 0:
            n //= 2
    return s


def counted_down(x, idx):
    n, s = 1, 0.0
    for i in range(len(x)):
        m = n * 2 % 5
        k = m + idx[i]
        s += np.sin(k * x[i])
        if k > 3:
            n = k % 3 if m > 1 else m + 1
        elif k == 1:
            n = 4
    return s


@pytest.mark.parametrize("program", [halved_where_even, counted_down])
def test_what_a_branch_asks_for_to_restore_an_operand_is_not_made_of_that_operand(program):
    """The condition was made again of a number that was, which needs an operand that the branch restores."""
    x, idx = np.linspace(0.3, 1.2, 6), np.array([0, 1, 1, 3, 0, 2])
    check_memory(program, (x, idx), trials=8)
    expected = sdfgad.differentiate(program, wrt="x")(x, idx)
    found = sdfgad.differentiate(program, wrt="x", strategy="recompute_all")(x, idx)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def trips_until(least):
    x, trips = X, 0
    while np.sum(x) > least:
        x, trips = np.sin(x) * (1.0 - 1.0 / 512), trips + 1
    return trips


def test_a_loop_that_a_test_ends_is_stored_or_checkpointed():
    accounts, _ = accounts_of(until, X, 2.0)
    tape = next(tape for tape in accounts.problem.tapes if tape.kept[0] >= VECTOR)
    assert tape.kept[0] == trips_until(2.0) * VECTOR
    (loop,) = accounts.loops.values()
    assert (loop.trips, loop.runs) == (trips_until(2.0), 1)


def test_a_loop_whose_trips_have_not_been_counted_is_stored():
    case = case_of(until, (X, 2.0))
    made = case.program(Choice((), {}))
    sizes = case.sizes(made)
    accounts = Accountant(case.adjoint, made, inner_choices(case.adjoint), sizes.of(made), MACHINE).accounts()
    assert accounts.loops == {}
    assert all(modes == ({},) for modes in accounts.modes)


def test_trips_in_a_segment_are_at_most_those_of_the_longest_trip():
    def program(x, n):
        for t in range(n):
            k = 0
            while k < 3 and x[t] > 0.3:
                x = np.sin(x)
                k += 1
        return np.sum(x)

    accounts, _ = accounts_of(program, X, 12)
    tape = max(accounts.tapes, key=lambda tape: tape.box)
    (most,) = set(tape.counted.values())
    made = sum(trips for _, trips in tape.loops[1:])
    assert 0 < made <= most == 3


def test_lines_are_the_user_s():
    accounts, _ = accounts_of(straight, X, X)
    assert [accounts.line(k).rpartition(": ")[2] for k in range(3)] == ["a = np.sin(x)", "b = a * y", "c = np.exp(b)"]


# --- against the programs that are built

# name and preset -> bounds of real / simulated peak. The simulator does not see what fused loops hold for longer, nor
# which adjoints are made in the place of a gradient.
SUITE = {
    "cavity_flow-test": (0.3, 1.06),
    "vadv-test": (0.3, 1.06),
    "mlp-test": (0.3, 1.06),
    "resnet-test": (0.3, 1.2),
    "deriche-S": (0.9, 1.001),
    "nbody-test": (0.3, 1.06),
    "adi-S": (0.5, 1.001),
}


def random_solution(problem, rng):
    share = rng.choice([0.2, 0.5, 0.9])
    values = frozenset(k for k, v in enumerate(problem.values) if v.latest >= 0 and rng.random() < share)
    inner = {k for k in range(len(problem.inner)) if rng.random() < share}
    for pair in problem.conflicts:
        if set(pair) <= inner:
            inner.discard(rng.choice(pair))
    return Solution(tuple(rng.randrange(len(s.modes)) for s in problem.steps), values, frozenset(inner))


@pytest.fixture(scope="module", params=some(SUITE, 2))
def planned(request):
    """The planner of a benchmark, the sizes of a call, and the bounds."""
    name, preset = request.param.split("-")
    entry = npbench_suite.load(name)
    args = entry.arguments_for(preset)
    g = sdfgad.differentiate(
        entry.program, wrt=entry.arrays, output=entry.output, reduce="sum", allow_unused=True, memory_limit="9 GB"
    )
    call, made = g._bind_and_specialise(args, {})
    return made.pipeline.planner, made.sizes(call), SUITE[request.param]


def test_the_simulated_peak_is_near_the_real_one(planned):
    planner, sizes, (least, most) = planned
    accounts = planner.accounts(sizes)
    problem, rng = accounts.problem, random.Random(0)
    solutions = [keep_all(problem), recompute_all(problem), *(random_solution(problem, rng) for _ in range(8))]
    found = 0
    for solution in solutions:
        try:
            simulated = simulate(problem, solution).peak
        except InvalidPlan:
            continue  # Data for one of the values is overwritten before.
        found += 1
        real = planner._built(solution, accounts).peak_bytes(sizes)
        assert least * simulated <= real <= most * simulated, solution
    assert found >= 5


def test_the_peak_of_keeping_everything_is_overestimated(planned):
    # At these sizes many temporaries are local variables, or shrink to what one trip needs.
    planner, sizes, (_, most) = planned
    problem = planner.accounts(sizes).problem
    simulated, real = simulate(problem, keep_all(problem)).peak, planner.store_all.peak_bytes(sizes)
    assert simulated <= 3 * real
    assert real <= most * simulated
