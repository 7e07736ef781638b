"""To-be-recorded analysis: tapes have only the values that derivatives need; without compiling anything."""

import math

import numpy as np
import pytest

import sdfgad
from sdfgad.analysis.flow import OverwriteAnalysis
from tests.helpers_ir import adjoint_of, parsed


def tape_sizes(program, *args, **options):
    """The number of elements of each tape of the gradient program."""
    g = sdfgad.differentiate(program, reduce="sum", strategy="store_all", **options)
    call, _ = g._bind_and_specialise(args, {})
    integers = {name: value for name, value in call.kinds.items() if isinstance(value, int)}
    sizes = []
    for sdfg in g.sdfg(*args).all_sdfgs_recursive():
        for name, array in sdfg.arrays.items():
            if "_tape" in name and array.transient:
                sizes.append(math.prod(_evaluated(extent, integers) for extent in array.shape))
    kept_apart = [row for row in g.plan(*args).decisions if "own array" not in row.reason]
    assert len(sizes) == len(kept_apart)
    return sorted(sizes)


def _evaluated(extent, integers):
    symbols = getattr(extent, "free_symbols", ())
    return int(extent.subs({s: integers[str(s)] for s in symbols})) if symbols else int(extent)


X = np.linspace(0.5, 1.0, 8)


# --- nothing is kept


def linear_updates(u, v, n):
    for _ in range(n):
        u[1:-1] += 0.25 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        v[:] = v - u
        u *= 0.5
        u[0] = 3.0
        u[-1] = v[1]


def nothing_overwritten(x, y, n):
    z = x * y
    return np.sin(z) * np.exp(x) / y


def overwritten_but_not_needed(x, y, n):
    y[:] = x + y
    z = x * x
    y[:] = 0.0
    y += z
    return y


def last_write_is_read(x, y, n):
    t = x + y
    y[:] = np.sin(x)
    t[:] = y * x
    return t


def results_are_enough(x, y, n):
    """The derivatives of these are functions of the result, which is not overwritten."""
    x[:] = np.exp(x)
    y[:] = np.sqrt(y)
    return x + y


def branch_on_the_counter(x, y, n):
    for i in range(n):
        if i > 3:
            x[i] = 2.0 * y[i]
        else:
            x[i] += y[i - 1]
    return x


@pytest.mark.parametrize(
    "program",
    [
        linear_updates,
        nothing_overwritten,
        overwritten_but_not_needed,
        last_write_is_read,
        results_are_enough,
        branch_on_the_counter,
    ],
)
def test_nothing_is_kept(program):
    options = {"output": "u"} if program is linear_updates else {}
    assert tape_sizes(program, X, X + 1.0, 5, **options) == []


# --- exactly what is needed is kept


def one_statement(x, y, n):
    for _ in range(n):
        x[:] = np.sin(x) * 0.5


def two_uses_of_one_value(x, y, n):
    for _ in range(n):
        x[:] = np.sin(x) * np.cos(x) * x


def scalar_state(x, y, n):
    s = y[0]
    for i in range(n):
        s = s * s * x[i]
    return s


def interior(x, y, n):
    for _ in range(n):
        x[2:5] = x[2:5] * x[2:5] * y[2:5]


def step_of_three(x, y, n):
    for i in range(0, 8, 3):
        x[0] = x[0] * x[i] * y[i]


def nested(x, y, n):
    for _ in range(n):
        for j in range(3):
            x[0] = x[0] * x[0] + y[j]


def triangle(x, y, n):
    for i in range(6):
        for j in range(i):
            x[0] = x[0] * x[0] + y[j]


def no_trips(x, y, n):
    for _ in range(5, 2):
        x[:] = x * x
    x += y


def data_branch(x, y, n):
    for i in range(n):
        if x[0] > 0.7:
            x[0] = x[0] * 0.5
        else:
            x[0] = x[0] + y[i]


@pytest.mark.parametrize(
    ("program", "wrt", "sizes"),
    [
        (one_statement, "x", [5 * 8]),
        (two_uses_of_one_value, "x", [5 * 8]),
        (scalar_state, ("x", "y"), [5]),
        (interior, ("x", "y"), [5 * 3]),
        (step_of_three, ("x", "y"), [3]),
        (nested, ("x", "y"), [5 * 3]),
        (triangle, ("x", "y"), [15]),
        (no_trips, ("x", "y"), []),
        (data_branch, ("x", "y"), [5]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_tapes_are_as_long_as_the_trips(program, wrt, sizes):
    output = None if program is scalar_state else "x"
    assert tape_sizes(program, X, X + 1.0, 5, wrt=wrt, output=output) == sizes


def test_tape_follows_the_run_time_bound():
    for n in (1, 4, 8):
        assert tape_sizes(scalar_state, X, X, n) == [n]


def test_what_is_kept_depends_on_wrt():
    def product(x, y):
        y *= x
        x[:] = 0.0
        return y * 1.0

    assert tape_sizes(product, X, X, wrt="y") == []
    assert tape_sizes(product, X, X, wrt=("x", "y")) == []


def test_where_isl_gives_up_everything_that_may_be_needed_is_saved(monkeypatch):
    """Where isl gives up, more values are saved, and the gradient stays right."""
    from sdfgad.analysis import flow, forward

    def program(x):
        y = x * 1.0
        for i in range(4):
            y[i] = y[i] * y[i - 1]
        return np.sum(y)

    x = np.linspace(0.5, 1.5, 4)
    expected = sdfgad.grad(program)(x)
    monkeypatch.setattr(flow, "flow", lambda *_: None)
    monkeypatch.setattr(forward, "flow", lambda *_: None)
    np.testing.assert_array_equal(sdfgad.grad(program)(x), expected)


def test_what_one_statement_overwrites_in_each_trip_needs_no_isl(monkeypatch):
    # Temporaries of a time loop; isl gives the same answers, and is asked about all other arrays.
    def program(x, n):
        u = x * 1.0
        for _ in range(n):
            t = np.sin(u)
            s = t * t
            u[1:] = u[1:] * s[1:] + t[:-1]
        return np.sum(u)

    primal = parsed(program, np.linspace(0.1, 1.0, 6), 3)
    expected = adjoint_of(primal).residuals.keys()
    monkeypatch.setattr(OverwriteAnalysis, "_by_next_trip", lambda self, buffer, wanted: ())
    assert adjoint_of(primal).residuals.keys() == expected
    asked = []
    monkeypatch.undo()
    found = OverwriteAnalysis._found
    monkeypatch.setattr(
        OverwriteAnalysis, "_found", lambda self, buffer, wanted: (asked.append(buffer), found(self, buffer, wanted))[1]
    )
    adjoint_of(primal)
    sources = {primal.program.buffers[name].source for name in asked}
    assert "u" in sources
    assert not sources & {"t", "s"}
