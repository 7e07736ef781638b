"""Plans as calls ask for them: limits, strategies, overrides, solvers, and one compiled program for many plans."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, InfeasibleBudget
from sdfgad.memory.checkpoint_modes import CAUTION
from sdfgad.options import STRATEGIES, parse_bytes

KIB = 1 << 10
POINTS = 256


@pytest.mark.parametrize(
    ("limit", "size"),
    [
        (None, None),
        (1, 1),
        (np.int64(4096), 4096),
        ("17", 17),
        ("17 B", 17),
        ("3kB", 3000),
        ("3 KiB", 3072),
        ("3 kib", 3072),
        ("3 Ki", 3072),
        ("512 MiB", 512 << 20),
        ("512MB", 512 * 10**6),
        ("1.5 GB", 1_500_000_000),
        ("1.5 GiB", 3 << 29),
        ("  2 g ", 2 * 10**9),
        ("0.5 KiB", 512),
    ],
)
def test_sizes(limit, size):
    assert parse_bytes(limit) == size


@pytest.mark.parametrize(
    "limit", ["", "MiB", "1 TB", "-1 MB", "1,5 GB", "1e9", "512 MiB!", "1 2", 0, -5, True, 1.5, [1], "1 BB", ".5 MB"]
)
def test_what_is_no_size_is_refused(limit):
    with pytest.raises(ArgumentError, match=r"memory_limit=.* is no size"):
        sdfgad.differentiate(stencil, memory_limit=limit)


def stencil(steps, u, a):
    for _ in range(steps):
        d = np.sin(u) * a
        u = u + 0.1 * d * d
    return np.sum(u * u)


def arguments(steps=60):
    return steps, np.linspace(0.1, 1.0, POINTS), np.linspace(0.5, 1.0, POINTS)


def differentiated(function=stencil, **options):
    return sdfgad.differentiate(function, wrt=("u", "a"), **options)


def builds(g):
    """How many programs have been made for the specialisations of a gradient."""
    return [len(made.layouts._compiled) for found in g._specialisations.found.values() for made in found]


def choices(plan):
    return {row.name: row.choice for row in plan.decisions}


def least(function=stencil, args=None, **options):
    with pytest.raises(InfeasibleBudget) as caught:
        differentiated(function, memory_limit=1, **options)(*(args or arguments()))
    return caught.value.minimum_bytes


@pytest.fixture(scope="module")
def expected():
    return {steps: differentiated(strategy="store_all")(*arguments(steps)) for steps in (0, 1, 7, 60)}


def assert_gradients(found, expected):
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12 * np.max(np.abs(other), initial=0))


# --- strategies


def test_store_all_stores_all(expected):
    g = differentiated(strategy="store_all")
    plan = g.plan(*arguments())
    assert choices(plan) == {"d": "store", "u": "store"}
    assert (plan.status, plan.solver, plan.gap) == ("fixed", "none", 0.0)
    assert plan.peak_bytes == plan.store_all_bytes >= 2 * 60 * 8 * POINTS


def test_recompute_all_runs_nothing_more_than_twice(expected):
    g = differentiated(strategy="recompute_all")
    plan = g.plan(*arguments())
    assert choices(plan)["d"] == "recompute"
    assert choices(plan)["loop"].startswith("a state every")
    assert "60 trips; 60 are recomputed" in [row.reason for row in plan.decisions]
    assert plan.peak_bytes < 0.4 * plan.store_all_bytes
    assert_gradients(g(*arguments()), expected[60])


def test_revolve_keeps_as_many_states_as_the_limit_allows(expected):
    state = 8 * POINTS
    unlimited = differentiated(strategy="revolve").plan(*arguments())
    assert choices(unlimited)["loop"] == "the state of every trip"
    plans = [
        differentiated(strategy="revolve", memory_limit=unlimited.peak_bytes - k * state).plan(*arguments())
        for k in (0, 5, 20, 40, 55)
    ]
    kept = [next(row.bytes for row in plan.decisions if row.name == "loop") // state for plan in plans]
    assert kept[0] == 60
    for k, slots in zip((5, 20, 40, 55), kept[1:], strict=True):
        # A state less saves a row of a table, too, but what a second run needs may come on top.
        assert 60 - k - 2 <= slots <= 60 - k + 2
    assert [plan.peak_bytes <= plan.budget_bytes for plan in plans] == [True] * 5
    costs = [sum(row.seconds for row in plan.decisions) for plan in plans]
    assert costs == sorted(costs)
    small = differentiated(strategy="revolve", memory_limit=plans[-1].budget_bytes)
    assert_gradients(small(*arguments()), expected[60])


def test_revolve_below_its_least_is_refused_by_name():
    minimum = least(strategy="revolve")
    differentiated(strategy="revolve", memory_limit=minimum).plan(*arguments())
    with pytest.raises(InfeasibleBudget, match="'revolve' does not keep") as caught:
        differentiated(strategy="revolve", memory_limit=minimum - 64).plan(*arguments())
    assert 'strategy="ilp"' in caught.value.todo


def test_store_all_above_the_limit_is_refused_by_name():
    with pytest.raises(InfeasibleBudget, match="'store_all' does not keep"):
        differentiated(strategy="store_all", memory_limit="64 KiB")(*arguments())


def test_an_unknown_strategy():
    with pytest.raises(ArgumentError, match="strategy='best' is not known") as caught:
        differentiated(strategy="best")
    assert all(strategy in caught.value.todo for strategy in STRATEGIES)


# --- overrides


@pytest.mark.parametrize("limit", [None, "1 MiB", "150 KiB"])
@pytest.mark.parametrize(("name", "choice"), [("d", "store"), ("d", "recompute")])
def test_pins_are_obeyed(name, choice, limit):
    g = differentiated(overrides={name: choice}, memory_limit=limit)
    assert choices(g.plan(*arguments()))[name] == choice


def test_a_pin_to_store_holds_for_recompute_all():
    g = differentiated(overrides={"d": "store"}, strategy="recompute_all")
    assert choices(g.plan(*arguments()))["d"] == "store"


def straight(u, a):
    y = np.sin(u)
    z = y * a
    w = np.exp(z)
    return np.sum(w * z * y)


def test_pins_of_values_outside_of_loops():
    args = arguments()[1:]
    plan = differentiated(straight, overrides={"y": "recompute", "z": "store"}, memory_limit="1 MiB").plan(*args)
    assert choices(plan)["y"] == "recompute"
    assert choices(plan)["z"] == "store"
    assert choices(plan)["w"] == "store"
    g = differentiated(straight, overrides={"y": "recompute", "z": "recompute", "w": "recompute"})
    assert_gradients(g(*args), differentiated(straight, strategy="store_all")(*args))


def test_pins_to_store_raise_the_least_limit():
    assert least(overrides={"d": "store"}) >= least()


@pytest.mark.parametrize("choice", ["store", "recompute"])
def test_pins_are_obeyed_at_the_least_limit(choice):
    args, overrides = arguments()[1:], {"y": choice, "w": choice}
    minimum = least(straight, args, overrides=overrides)
    plan = differentiated(straight, overrides=overrides, memory_limit=minimum).plan(*args)
    assert plan.peak_bytes <= minimum
    assert overrides.items() <= choices(plan).items()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("choice", ["store", "recompute"])
def test_pins_are_obeyed_by_every_strategy(strategy, choice):
    g = differentiated(straight, overrides={"y": choice}, strategy=strategy)
    assert choices(g.plan(*arguments()[1:]))["y"] == choice
    assert choices(differentiated(overrides={"d": choice}, strategy=strategy).plan(*arguments()))["d"] == choice


def test_pins_that_contradict_each_other():
    def conflicting(steps, u, a):
        w = a * 1.0
        for _ in range(steps):
            d = np.sin(u)
            w = w + d * d
            u = u * 0.5
            e = d * 2.0
            a = a * e
        return np.sum(a * w)

    for name in ("d", "e"):
        assert choices(differentiated(conflicting, overrides={name: "recompute"}).plan(*arguments()))[name]
    with pytest.raises(ArgumentError, match="conflict: e and d"):
        differentiated(conflicting, overrides={"d": "recompute", "e": "recompute"}).plan(*arguments())


def test_an_override_of_what_does_not_exist():
    with pytest.raises(ArgumentError, match="no value `q`") as caught:
        differentiated(overrides={"q": "recompute"})(*arguments())
    assert "d" in caught.value.todo


def test_an_override_of_what_can_only_be_stored():
    with pytest.raises(ArgumentError, match="no value `u` that could be recomputed"):
        differentiated(overrides={"u": "recompute"})(*arguments())
    assert choices(differentiated(overrides={"u": "store"}).plan(*arguments()))["u"] == "store"


def test_an_override_that_is_neither():
    with pytest.raises(ArgumentError, match="the override of `d` is 'keep'") as caught:
        differentiated(overrides={"d": "keep"})(*arguments())
    assert '"store" or "recompute"' in caught.value.todo


# --- solvers


def test_an_unknown_solver():
    with pytest.raises(ArgumentError, match="Gurobi"):
        differentiated(solver="Gurobi")


def test_highs_finds_plans_as_good():
    pytest.importorskip("highspy")
    limit = 2 * least()
    plans = [differentiated(memory_limit=limit, solver=name).plan(*arguments()) for name in ("CBC", "HiGHS")]
    assert [plan.solver for plan in plans] == ["CBC", "HiGHS"]
    costs = [sum(row.seconds for row in plan.decisions) for plan in plans]
    assert costs[1] == pytest.approx(costs[0], rel=0.02)
    assert all(plan.peak_bytes <= limit for plan in plans)


def test_where_nothing_is_to_be_decided_nothing_is_solved():
    def linear(steps, u, a):
        for _ in range(steps):
            u = 0.5 * u + a
        return np.sum(u)

    plan = differentiated(linear, memory_limit="1 MiB").plan(*arguments())
    assert plan.decisions == ()
    assert plan.peak_bytes == plan.store_all_bytes


# --- limits


def test_a_larger_limit_never_costs_more():
    low, high = least(), differentiated(strategy="store_all").plan(*arguments()).peak_bytes
    limits = [low + (high - low) * k // 12 for k in range(15)]
    plans = [differentiated(memory_limit=limit).plan(*arguments()) for limit in limits]
    assert all(plan.peak_bytes <= limit for plan, limit in zip(plans, limits, strict=True))
    costs = [sum(row.seconds for row in plan.decisions) for plan in plans]
    for less, more in zip(costs[1:], costs, strict=False):
        # The solver's problem, of which this is true exactly, has bounds of the program's bytes, and counts what is run
        # again with some caution, which the rows do not.
        assert less <= 1.15 * CAUTION * more
    assert costs[-1] < costs[0]


def test_without_a_limit_a_loop_may_be_cheaper_to_run_again():
    """The plan without a limit is the best of all, and may well hold less than storing everything does."""
    free = differentiated().plan(*arguments())
    limited = differentiated(memory_limit="64 MiB").plan(*arguments())
    assert choices(free) == choices(limited)
    assert free.peak_bytes == limited.peak_bytes <= free.store_all_bytes


# --- one compiled program for many plans


def test_one_program_serves_all_numbers_of_trips(expected):
    g = differentiated(strategy="recompute_all", memory_limit="1 MiB", overrides={"d": "recompute"})
    sizes = []
    for steps in (60, 7, 41, 60):
        g(*arguments(steps))
        measured = g.measure(*arguments(steps), repeats=1)
        sizes.append(measured.peak_bytes)
        assert measured.peak_bytes <= measured.predicted_bytes
    assert builds(g) == [1]
    assert sizes[0] == sizes[3] > sizes[2] > sizes[1]
    for steps in (7, 60):
        assert_gradients(g(*arguments(steps)), expected[steps])


@pytest.mark.parametrize("strategy", ["store_all", "recompute_all", "revolve", "ilp"])
def test_one_plan_without_a_limit_serves_all_numbers_of_trips(strategy, expected):
    g = differentiated(strategy=strategy)
    for steps in (60, 7, 1, 0, 60):
        assert_gradients(g(*arguments(steps)), expected[steps])
        measured = g.measure(*arguments(steps), repeats=1)
        plan = g.plan(*arguments(steps))
        assert measured.peak_bytes <= measured.predicted_bytes == plan.peak_bytes
    # Much smaller numbers of trips may be worth another plan.
    assert builds(g)[0] <= 2


def test_a_limit_is_kept_for_each_number_of_trips(expected):
    limit = "100 KiB"
    g = differentiated(memory_limit=limit)
    found = {}
    for steps in (7, 60, 1, 0):
        assert_gradients(g(*arguments(steps)), expected[steps])
        found[steps] = g.plan(*arguments(steps))
        assert g.measure(*arguments(steps), repeats=1).peak_bytes <= found[steps].peak_bytes <= parse_bytes(limit)
    # Few trips are stored, many are not.
    assert "loop" not in choices(found[7])
    assert "loop" in choices(found[60])


def test_layouts_are_remembered():
    g = differentiated(memory_limit="100 KiB")
    _call, made = g._bind_and_specialise(arguments(), {})
    layout = made.layout(_call)
    assert made.layout(_call) is layout
    g.plan(*arguments())
    assert len(made.layouts._layouts) == 1
    g.plan(*arguments(steps=61))
    assert len(made.layouts._layouts) == 2
    other, _ = g._bind_and_specialise(arguments(), {})
    assert made.layout(other) is layout


# --- what is counted


def test_plans_and_measurements_agree():
    g = differentiated(memory_limit="100 KiB")
    plan, measured = g.plan(*arguments()), g.measure(*arguments())
    assert measured.predicted_bytes == plan.peak_bytes
    assert measured.budget_bytes == plan.budget_bytes == 100 * KIB
    assert 0.95 * plan.peak_bytes <= measured.peak_bytes <= plan.peak_bytes
    assert 0 < measured.seconds < 1.0


def test_copies_of_arguments_are_counted():
    steps, u, a = arguments()
    wide = np.zeros(2 * POINTS)
    wide[::2] = u
    g = differentiated(memory_limit="1 MiB")
    plain, copied = g.plan(steps, u, a), g.plan(steps, wide[::2], a)
    assert copied.peak_bytes == plain.peak_bytes + u.nbytes
    one, two = g.measure(steps, u, a, repeats=1), g.measure(steps, wide[::2], a, repeats=1)
    assert two.peak_bytes == one.peak_bytes + u.nbytes
    limited = differentiated(memory_limit=least())
    limited.plan(steps, u, a)
    with pytest.raises(InfeasibleBudget) as caught:
        limited.plan(steps, wide[::2], a)
    assert caught.value.minimum_bytes == least() + u.nbytes


def until(u, a, bound):
    while np.sum(u) > bound:
        d = np.sin(u) * a
        u = u - 0.01 * d * d
    return np.sum(u * u)


def test_trips_that_are_data_are_counted_first():
    u, a = arguments()[1:]
    g = differentiated(until, memory_limit="1 MiB")
    few, many = (g.plan(u, a, bound * np.sum(u)) for bound in (0.99, 0.9))
    assert many.peak_bytes > few.peak_bytes
    for bound in (0.99, 0.9):
        args = u, a, bound * np.sum(u)
        measured = g.measure(*args, repeats=1)
        assert 0.9 * measured.predicted_bytes <= measured.peak_bytes <= measured.predicted_bytes
        assert_gradients(g(*args), differentiated(until, strategy="store_all")(*args))
    limit = few.peak_bytes
    limited = differentiated(until, memory_limit=limit)
    assert limited.measure(u, a, 0.99 * np.sum(u), repeats=1).peak_bytes <= limit
    # More trips are kept within the same bytes, by states to restart from.
    args = u, a, 0.5 * np.sum(u)
    stored = differentiated(until, strategy="store_all")
    assert stored.plan(*args).peak_bytes > 1.5 * limit
    assert limited.measure(*args, repeats=1).peak_bytes <= limit
    assert_gradients(limited(*args), stored(*args))
    with pytest.raises(InfeasibleBudget):
        differentiated(until, memory_limit=2 * u.nbytes)(*args)
