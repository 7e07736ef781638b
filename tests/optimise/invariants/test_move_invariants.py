"""What is the same in each trip leaves loops, with the same values and gradients; all else stays."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.program import Call, Loop, walk
from sdfgad.optimise.invariants.move_invariants import move_invariants
from tests.helpers import module_from
from tests.helpers_ir import parsed
from tests.helpers_passes import check_early, normal

N = 6


def sizes_of_loops(program):
    """The number of statements in each loop."""
    return [one.size for one in walk(program.body) if isinstance(one, Loop)]


def check(function, *args, wrt=("x",)):
    """How many statements have left each loop."""
    after, before = check_early(move_invariants, function, args, list(wrt))
    return [a - b for a, b in zip(sizes_of_loops(before), sizes_of_loops(after), strict=True)]


# --- what moves


def of_a_function(x, y):
    for t in range(4):
        e = np.exp(-x * x)
        y[:] = y * e + 0.1


def with_what_it_is_made_of(x, y):
    for t in range(4):
        twice = 2.0 * x
        total = np.sum(twice * x)
        y[:] = y / (1.0 + total)


def by_parts(x, y):
    m = np.zeros((N, N))
    for t in range(4):
        m[0, :] = x
        m[1, 1:] = np.sin(x[1:])
        y[:] = m @ y + np.sum(m @ x)


def of_two_loops(x, y):
    for t in range(3):
        for k in range(N):
            w = np.sum(np.exp(x))
            y[k] = y[k] * w + 0.1 * t


def of_the_inner_loop(x, y):
    for t in range(3):
        for k in range(N):
            w = np.sum(np.exp(x + t))
            y[k] = y[k] * w


def of_unknown_trips(trips, x, y):
    for t in range(trips):
        e = np.exp(-x * x)
        y[:] = y * e + 0.1


@pytest.mark.parametrize(
    "function", [of_a_function, with_what_it_is_made_of, by_parts, of_two_loops, of_the_inner_loop]
)
def test_moves(function):
    assert max(check(function, normal(N), normal(N, seed=2))) > 0


def test_moves_where_trips_are_unknown():
    for trips in (0, 1, 4):
        assert check(of_unknown_trips, trips, normal(N), normal(N, seed=2)) == [1]


def test_moves_out_of_all_loops():
    outer, inner = check(of_two_loops, normal(N), normal(N, seed=2))
    assert outer == inner > 0
    outer, inner = check(of_the_inner_loop, normal(N), normal(N, seed=2))
    assert outer == 0 < inner


# --- what stays


def counted(x, y):
    for t in range(4):
        y += np.exp(x * t)


def accumulated(x, y):
    m = np.ones(N)
    for t in range(4):
        m += np.exp(x)
        y[:] = y * m


def read_before_it_is_written(x, y):
    m = np.zeros(N)
    for t in range(4):
        y += m * y
        m[:] = np.exp(x)


def changed_later(x, y):
    for t in range(4):
        e = np.exp(x)
        y += e * y
        e += y
        y += e


def of_what_changes(x, y):
    for t in range(4):
        y[:] = np.exp(-y) + np.exp(x)[0]


def written_in_a_branch(x, y):
    m = np.zeros(N)
    for t in range(4):
        if y[0] > 0.2:
            m[:] = np.exp(x)
        y += 0.3 * m - 0.1


def used_after_unknown_trips(trips, x, y):
    m = np.ones(N)
    for t in range(trips):
        m = np.exp(x)
        y += m * y
    y *= m


def out_of_bounds_without_trips(trips, x, y):
    for t in range(trips):
        y += np.exp(x[trips - 1]) * y


def of_one_trip(x, y):
    for t in range(1):
        e = np.exp(x)
        y += e * y


@pytest.mark.parametrize(
    "function", [counted, accumulated, read_before_it_is_written, changed_later, written_in_a_branch, of_one_trip]
)
def test_stays(function):
    assert check(function, normal(N), normal(N, seed=2)) == [0]


@pytest.mark.parametrize("function", [used_after_unknown_trips, out_of_bounds_without_trips])
@pytest.mark.parametrize("trips", [1, 3])
def test_stays_where_trips_are_unknown(function, trips):
    assert check(function, trips, normal(N), normal(N, seed=2)) == [0]


def test_checkpoints_stay():
    @sdfgad.checkpoint
    def heavy(x):
        w = np.exp(x)
        return w * w

    def pinned(x, y):
        for t in range(4):
            e = heavy(x)
            y += e * y

    program = parsed(pinned, normal(N), normal(N)).program
    assert any(buffer.is_pinned for buffer in program.buffers.values())
    assert move_invariants(program) == program


# --- random programs


def random_program(seed):
    """Nested loops over statements that write all or a part of arrays, add, multiply, sum, or choose a branch."""
    rng = np.random.default_rng(seed)
    names = ["x", "y", "p", "q", "r", "s"]
    parts = ["[:]", "[0]", "[1:]", "[:-1]", "[k]", "[2:4]"]
    functions = ["np.exp(-{0} * {0})", "np.sin({0})", "{0}", "0.5 * {0}", "np.sum({0})", "np.cos({0} + 0.1 * t)"]

    def statement(indent, depth):
        if depth < 2 and rng.random() < 0.15:
            head = rng.choice(["for k in range(3):", "for k in range(m):", f"if {rng.choice(names)}[1] > 0.3:"])
            body = [line for _ in range(rng.integers(1, 4)) for line in statement(indent + "    ", depth + 1)]
            return [indent + head, *body]
        target, source, other = rng.choice(names[1:]), rng.choice(names), rng.choice(names)
        value = str(rng.choice(functions)).format(source)
        if rng.random() < 0.3:
            return [f"{indent}{rng.choice(names[2:])} = {value} + 0.1 * {other}"]
        part, operator = rng.choice(parts), rng.choice(["=", "=", "+=", "*="])
        right = value if "sum" in value or part == "[:]" else f"({value}){part}"
        return [f"{indent}{target}{part} {operator} {right}"]

    lines = ["import numpy as np", "", "", "def program(m, x, y):", "    k, t = 1, 0"]
    lines += ["    p, q = np.ones(6), x * y", "    r, s = np.zeros(6), 0.3 * x", "    for t in range(m):"]
    lines += [line for _ in range(rng.integers(3, 8)) for line in statement("        ", 0)]
    lines += ["        y[:] = np.tanh(y + 0.1 * p * q) + 0.01 * r", f"    y += {rng.choice(names[2:])}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_programs(first, tmp_path):
    for seed in range(first, first + 10):
        program = module_from(random_program(seed), tmp_path).program
        for trips in (0, 1, 3):
            check_early(move_invariants, program, (trips, normal(N, seed=seed), normal(N, seed=seed + 1)), ["x", "y"])


# --- compiled


def implicit(trips, dt, k, u):
    n = u.shape[0]
    for t in range(trips):
        scale = np.exp(-dt) * np.sum(k * k)
        m = np.eye(n) + dt * k
        u = np.linalg.solve(m, u + np.sin(u) / scale)
    return np.sum(u**3)


def test_compiled():
    g = sdfgad.differentiate(implicit, wrt=("dt", "k", "u"))
    k, u = normal(N, N, seed=3) + 3 * np.eye(N), normal(N, seed=4)
    loops = [one for one in walk(g.programs(4, 0.1, k, u)[0].body) if isinstance(one, Loop)]
    calls = [one.name for loop in loops for one in walk(loop.body) if isinstance(one, Call)]
    assert calls == ["solve_factored"] * 2
    for trips in (0, 1, 4):
        found = g(trips, 0.1, k, u)
        tangents = (0.3, normal(N, N, seed=5), normal(N, seed=6))
        h = 1e-5
        moved = [(0.1 + s * h * tangents[0], k + s * h * tangents[1], u + s * h * tangents[2]) for s in (2, 1, -1, -2)]
        v = [implicit(trips, *one) for one in moved]
        expected = (8 * (v[1] - v[2]) - (v[0] - v[3])) / (12 * h)
        np.testing.assert_allclose(
            sum(np.sum(a * b) for a, b in zip(found, tangents, strict=True)), expected, rtol=1e-8
        )


def logarithms(x, n):
    s = np.sum(x)
    for _ in range(n):
        s += np.sum(np.log(x) * x)
    return s


def inverses(x, n):
    s = np.sum(x)
    for _ in range(n):
        s += np.sum(np.linalg.inv(np.diag(x)) @ x)
    return s


@pytest.mark.parametrize("program", [logarithms, inverses])
def test_what_leaves_a_loop_that_does_not_run_has_no_part_in_the_gradient(program):
    """It was computed all the same, and 0 times its infinite derivative was NaN."""
    g = sdfgad.differentiate(program, wrt="x")
    np.testing.assert_array_equal(g(np.array([0.0, 1.0, 2.0]), 0), np.ones(3))
    x = np.array([0.5, 1.0, 2.0])
    steps = [(program(x + 1e-6 * e, 2) - program(x - 1e-6 * e, 2)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(g(x, 2), steps, rtol=1e-7)
