"""Predicted nanoseconds: what is more takes longer, libm more than addition, memory more than cache."""

from dataclasses import replace

import numpy as np
import pytest

from sdfgad.analysis.model import numbered
from sdfgad.ir.expr import INT, Const, Int, Lin, Op, rewrite
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Branch, Call, Compute, Loop
from sdfgad.memory.cost import RETURNED, Cost
from sdfgad.plan.machine import Machine
from sdfgad.schedule.work import UNKNOWN_TRIPS
from tests.helpers import module_from
from tests.helpers_ir import inputs_of, parsed

# 10 GB/s of memory, 100 GB/s of a cache of 1 MiB; 10 ns a statement.
MACHINE = Machine(1e10, 1e11, 1 << 20, 1e-10, 1e10, 1e8, 1e11, 1e-8)


def cost_of(function, *args, machine=MACHINE):
    """Nanoseconds of the program's whole body."""
    primal = parsed(function, *args)
    cost = Cost(primal.program.buffers, inputs_of(primal, *args)[1], machine)
    return cost.block(primal.program.body)


def first(function, kind, *args):
    """The first statement of a kind, and the cost."""
    primal = parsed(function, *args)
    statement = next(s for s in numbered(primal.program.body) if isinstance(s, kind))
    return statement, Cost(primal.program.buffers, inputs_of(primal, *args)[1], MACHINE)


def vector(n):
    return np.linspace(0.0, 1.0, n)


def added(x, y):
    return x + y


def sine(x, y):
    return np.sin(x)


def test_a_sum_by_hand():
    # Three vectors of 8 bytes an element, none in the cache: 2.4 ns for each element, and 10 for the statement.
    statement, cost = first(added, Compute, vector(1000), vector(1000))
    assert cost.statement(statement) == pytest.approx(2400 + 10)


def test_a_sine_by_hand():
    # A call of libm takes 10 ns, longer than its traffic; beside it is the assignment.
    statement, cost = first(sine, Compute, vector(1000), vector(1000))
    assert cost.statement(statement) == pytest.approx(1000 * 10.1 + 10)


@pytest.mark.parametrize("function", [added, sine])
def test_larger_arrays_cost_more(function):
    costs = [cost_of(function, vector(n), vector(n)) for n in (1, 10, 1000, 10**5)]
    assert costs == sorted(set(costs))
    assert costs[0] >= 10


@pytest.mark.parametrize("name", ["sin", "exp", "log1p", "tanh", "arctan", "cbrt"])
def test_calls_of_libm_cost_more_than_additions(name, tmp_path):
    made = module_from(f"import numpy as np\ndef program(x, y):\n    return np.{name}(x)\n", tmp_path)
    x = vector(1000)
    assert not OPERATIONS[name].is_instruction
    assert cost_of(made.program, x, x) > 3 * cost_of(added, x, x)


@pytest.mark.parametrize("name", ["sqrt", "floor", "abs", "negative", "square"])
def test_a_vector_instruction_costs_its_traffic(name, tmp_path):
    made = module_from(f"import numpy as np\ndef program(x, y):\n    return np.{name}(x)\n", tmp_path)
    assert cost_of(made.program, vector(1000), vector(1000)) == pytest.approx(1600 + 10)


def test_two_calls_of_libm_cost_twice_as_much_as_one():
    def twice(x, y):
        return np.sin(np.exp(x))

    x = vector(1000)
    assert cost_of(twice, x, x) == pytest.approx(2 * cost_of(sine, x, x), rel=0.02)


def test_single_precision_is_half_the_traffic():
    x = vector(1000)
    single = cost_of(added, x.astype(np.float32), x.astype(np.float32)) - 10
    assert single == pytest.approx((cost_of(added, x, x) - 10) / 2)


def test_an_element_that_is_read_everywhere_is_moved_once():
    def scaled(x, y):
        return x * y[0]

    def added_to_itself(x, y):
        return x + x

    x = vector(1000)
    assert cost_of(added_to_itself, x, x) == pytest.approx(1600 + 10)
    assert cost_of(scaled, x, vector(1)) == pytest.approx(1600.8 + 10)


# --- loops


def looped(x, n):
    for _ in range(n):
        x = np.sin(x) * 0.5
    return x


def test_indices_that_wrap_around_cost_nothing_more():
    statement, cost = first(added, Compute, vector(1000), vector(1000))
    ((name, _),) = statement.params
    around = Lin.symbol(Op("remainder", (Int(Lin.symbol(name) + 3), Const(1000, INT)), INT))
    wrapped = replace(statement, value=rewrite(statement.value, {name: around}))
    assert wrapped != statement
    assert cost.statement(wrapped) == cost.statement(statement)


def test_trips_multiply():
    x = vector(1000)
    body = cost_of(looped, x, 2) - cost_of(looped, x, 1)
    assert cost_of(looped, x, 12) - cost_of(looped, x, 2) == pytest.approx(10 * body)
    assert body >= 10_000


def test_no_trips_cost_nothing():
    statement, cost = first(looped, Loop, vector(10), 0)
    assert cost.trips(statement) == 0
    assert cost.statement(statement) == 0.0


def test_negative_trips_cost_nothing():
    statement, cost = first(looped, Loop, vector(10), -4)
    assert cost.statement(statement) == 0.0


def test_nested_loops_multiply():
    def nested(x, n, m):
        for _ in range(n):
            for _ in range(m):
                x = np.sin(x)
        return x

    statement, cost = first(nested, Loop, vector(1000), 5, 7)
    assert cost.statement(statement) == pytest.approx(35 * (1000 * 10.1 + 10), rel=0.1)


def test_a_triangular_loop_has_half_the_trips():
    def triangle(x, n):
        for i in range(n):
            for _ in range(i):
                x = np.sin(x)
        return x

    def square(x, n):
        for _ in range(n):
            for _ in range(n):
                x = np.sin(x)
        return x

    x = vector(1000)
    half, cost = first(triangle, Loop, x, 100)
    full, _ = first(square, Loop, x, 100)
    assert cost.statement(half) == pytest.approx(0.5 * cost.statement(full), rel=0.05)
    assert half.var not in cost.values


def test_trips_that_are_data_are_guessed():
    def until(x, n):
        while np.sum(x) > 0.5:
            x = np.sin(x) * 0.5
        return x

    def fixed(x, n):
        for _ in range(UNKNOWN_TRIPS):
            x = np.sin(x) * 0.5
        return x

    statement, cost = first(until, Loop, vector(1000), 1)
    assert cost.trips(statement) == UNKNOWN_TRIPS
    assert cost.statement(statement) >= UNKNOWN_TRIPS * 10_000
    assert cost.statement(statement) <= 2 * cost_of(fixed, vector(1000), 1)


def test_trips_from_an_array_are_guessed():
    def counted(x, counts):
        for _ in range(counts[0]):
            x = np.sin(x)
        return x

    statement, cost = first(counted, Loop, vector(1000), np.array([3]))
    assert cost.trips(statement) == UNKNOWN_TRIPS


def swept(x, y, n):
    for _ in range(n):
        x = x + y
    return x


def test_loops_over_what_fits_into_the_cache_are_cheaper():
    small, large = 1000, 10**6
    statement, cost = first(swept, Loop, vector(small), vector(small), 50)
    each_small = (cost.statement(statement) / 50 - 10) / small
    statement, cost = first(swept, Loop, vector(large), vector(large), 50)
    each_large = (cost.statement(statement) / 50 - 10) / large
    assert each_small < 0.5 * each_large


def test_the_cache_is_forgotten_after_the_loop():
    statement, cost = first(swept, Loop, vector(1000), vector(1000), 50)
    cost.statement(statement)
    assert not cost.in_cache


def test_a_branch_costs_as_its_dearer_side():
    def branching(x, y):
        if x[0] > 0.5:
            z = np.sin(np.exp(x))
        else:
            z = x + y
        return z

    statement, cost = first(branching, Branch, vector(1000), vector(1000))
    assert cost.statement(statement) == pytest.approx(cost.block(statement.then))
    assert cost.statement(statement) > cost.block(statement.orelse)


# --- products and library functions


def test_products_cost_as_blas_does():
    def product(a, b):
        return a @ b

    a = np.ones((400, 400))
    # 2·400³ operations at 10¹¹ a second.
    assert cost_of(product, a, a) == pytest.approx(1_280_000, rel=0.2)


def test_solving_is_cubic():
    def solved(a, b):
        return np.linalg.solve(a, b)

    def call(n):
        statement, cost = first(solved, Call, np.eye(n), np.ones((n, 1)))
        return cost.statement(statement)

    assert call(200) == pytest.approx(8 * call(100), rel=0.1)


# --- copies and tapes


def test_copies_within_the_cache_are_cheaper():
    cost = Cost({}, {}, MACHINE)
    assert cost.copying(1000, 1000) == pytest.approx(20)
    assert cost.copying(1000, 1 << 20) == pytest.approx(200)
    assert cost.copying(0, 1 << 20) == 0.0


def test_a_tape_is_written_and_read_and_its_memory_is_new():
    cost = Cost({}, {}, MACHINE)
    size = 2 * RETURNED
    assert cost.tape(size, size, size) == pytest.approx(2 * cost.copying(size, size) + 0.1 * size)
    # All of it passes through the tape of one segment, which is used again.
    assert cost.tape(size, size // 8, size // 8) == pytest.approx(2 * cost.copying(size, size // 8))
    assert cost.tape(1000, 1000, 1000) == pytest.approx(2 * cost.copying(1000, 1000))
    # One of many tapes is in main memory before it is read again.
    assert cost.tape(1000, 1000, size) == pytest.approx(2 * cost.copying(1000, size))


def test_a_faster_machine_takes_less():
    x = vector(10**6)
    faster = replace(MACHINE, bytes_per_second=2e10)
    assert cost_of(added, x, x, machine=faster) == pytest.approx(cost_of(added, x, x) / 2, rel=0.01)
