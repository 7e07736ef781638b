"""Sums that a nest of loops makes again and again are made once, with the same gradients; all else stays."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from sdfgad.ir.program import Branch, Loop, computes, walk
from sdfgad.ir.text import program_text
from sdfgad.optimise.sums.factor_sums import factor_sums
from tests.helpers import module_from
from tests.helpers_ir import parsed
from tests.helpers_passes import check_early, gradients, normal

# The package has the pass under the name of its module.
factoring = import_module("sdfgad.optimise.sums.factor_sums")


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(factoring, "WORK", 1)


def check(function, args, wrt):
    return check_early(factor_sums, function, args, wrt)


# --- what is factored


def scattered(g, d, h, f, y):
    for k in range(g.shape[0]):
        for energy in range(g.shape[1]):
            for q in range(d.shape[0]):
                for w in range(d.shape[1]):
                    for a in range(f.shape[0]):
                        if energy - w >= 0:
                            y[k, energy, a] += g[k, energy - w, f[a]] @ (d[q, w, a] * h[a])


ARGS = (normal(3, 3, 4, 2, 2), normal(4, 5, 3, seed=2), normal(3, 2, 2, seed=3), np.array([2, 0, -1]))
ARGS = (*ARGS, normal(3, 3, 3, 2, 2, seed=4))


def test_what_no_target_index_and_no_guard_depends_on_is_summed_first():
    changed, _ = check(scattered, ARGS, ["g", "d", "h", "y"])
    text = program_text(changed)
    assert "y_part[p" in text
    # Of the five values of w three have a trip.
    assert next(b.shape for name, b in changed.buffers.items() if name.startswith("y_part"))[0].const == 3
    assert [s.var for s in walk(changed.body) if isinstance(s, Loop)] == ["k", "energy", "w", "a"]
    assert sum(isinstance(s, Branch) for s in walk(changed.body)) == 1


def test_what_the_guard_leaves_out_stays_out():
    g, d, h, f, y = (a.copy() for a in ARGS)
    d[:, 3:] = np.inf
    g[:, 0, 1] = np.nan
    changed, _ = check(scattered, (g, d, h, f, y), ["g", "d", "h", "y"])
    found = gradients(replace(parsed(scattered, g, d, h, f, y), program=changed), (g, d, h, f, y), ["d"])
    (bar,) = found.values()
    assert np.all(bar[:, 3:] == 0)
    assert np.all(np.isfinite(bar))


def test_indices_out_of_range_are_found():
    wrong = (*ARGS[:3], np.array([2, 4, 0]), ARGS[4])
    primal = parsed(scattered, *(a.copy() for a in wrong))
    changed = factor_sums(primal.program)
    assert changed != primal.program
    for program in (changed, replace(changed, outputs={"status": "status"})):
        assert "status max=" in program_text(program)


def with_signs(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                y[i] -= a[i, j] * -b[j, k]


def written_out(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                t = b[j, k] * 1.0
                t = t * t
                y[i] = t * a[i, j] + y[i]


def several_times(a, b, y):
    for r in range(4):
        for i in range(6):
            for j in range(7):
                for k in range(8):
                    y[i] += a[i, j] * b[j, k]


def with_bounds(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                if k >= 2 and i + j >= 3 and k < 6:
                    y[i] += a[i, j] * b[j, k] * b[j, k]


def with_starts(a, b, y):
    for i in range(5, 1, -1):
        for j in range(1, 7):
            for k in range(0, 8, 2):
                if j - i >= 1:
                    y[i] += a[i, j] * b[j, k]


def within_loops(a, b, y):
    for t in range(3):
        if t > 0:
            for i in range(6):
                for j in range(7):
                    for k in range(8):
                        y[i] += a[i, j] * b[j, k + 0 * t]
        a[0] = a[1] * y[2]


SMALL = (normal(6, 7), normal(7, 8, seed=2), normal(6, seed=3))
FACTORED = [with_signs, written_out, several_times, with_bounds, with_starts, within_loops]


@pytest.mark.parametrize("function", FACTORED, ids=lambda f: f.__name__)
def test_factored(function):
    changed, before = check(function, SMALL, ["a", "b"])
    assert "y_part" in program_text(changed)
    assert len(list(computes(changed.body))) != len(list(computes(before.body)))


# --- what stays


def read_in_between(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                y[i] += a[i, j] * b[j, k] * y[i]


def factor_changes(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                y[i] += a[i, j] * b[j, k]
                a[i, j] = a[i, j] * 0.5


def used_afterwards(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                t = a[i, j] * b[j, k]
                y[i] += t
    y[0] = y[0] + t


def carried(a, b, y):
    t = 1.0
    for i in range(6):
        for j in range(7):
            for k in range(8):
                t = t * b[j, k]
                y[i] += a[i, j] * t


def not_linear(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                y[i] += np.sin(a[i, j] * b[j, k])


def assigned(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                y[i] = a[i, j] * b[j, k]


def little_gain(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                y[i] += a[i, j] * b[j, k] * a[i, 0] * b[j, 2]
                y[i] += b[j, k]


def by_data(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                if b[j, k] > 0:
                    y[i] += a[i, j] * b[j, k]


def common_guard(a, b, y):
    for i in range(6):
        for j in range(7):
            for k in range(8):
                if i + j + k >= 3:
                    y[i] += a[i, j] * b[j, k]


STAYS = [
    read_in_between,
    factor_changes,
    used_afterwards,
    carried,
    not_linear,
    assigned,
    little_gain,
    by_data,
    common_guard,
]


@pytest.mark.parametrize("function", STAYS, ids=lambda f: f.__name__)
def test_stays(function):
    changed, before = check(function, SMALL, ["a", "b"])
    assert program_text(changed) == program_text(before)


def large(a, b, y):
    for i in range(8):
        for r in range(4):
            for j in range(30):
                for k in range(30):
                    y[i] += a[i, j] * b[k] * a[j, k]


def test_no_array_larger_than_those_of_the_nest():
    args = (normal(30, 30), normal(30, seed=2), normal(8, seed=3))
    changed, _ = check(large, args, ["a", "b"])
    sizes = [np.prod([e.const for e in changed.buffers[n].shape]) for n in changed.buffers if "_part" in n]
    assert sum(sizes) <= 900 + 30 + 8


# --- random nests

SHAPE = {"i": 3, "j": 4, "k": 3, "l": 5}


def random_nest(seed):
    """A nest of loops that adds products of a few arrays, with guards."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(list(SHAPE))
    lines, depth = [], 1
    guards = [f"{c} >= 1" for c in SHAPE if rng.random() < 0.15]
    first, second = rng.choice(list(SHAPE), 2, replace=False)
    guards += [rng.choice([f"{first} - {second} >= 0", f"{first} + {second} < 4", f"2 * {first} > {second}"])]
    for name in order:
        lines.append("    " * depth + f"for {name} in range({SHAPE[name]}):")
        depth += 1
    if rng.random() < 0.8:
        lines.append("    " * depth + f"if {' and '.join(guards)}:")
        depth += 1
    factors = [f"{array}[{', '.join(rng.choice(list(SHAPE), 2))}]" for array in rng.choice(list("abc"), 3)]
    factors = [f"({f} @ m)" if rng.random() < 0.3 else f for f in factors]
    product = (
        rng.choice([" * ", " @ "]).join(factors) if rng.random() < 0.7 else f"0.5 * {factors[0]} @ ({factors[1]} * h)"
    )
    lines.append("    " * depth + f"y[{rng.choice(list(SHAPE))}] {rng.choice(['+=', '-='])} {product}")
    return "import numpy as np\n\n\ndef program(a, b, c, h, m, y):\n" + "\n".join(lines) + "\n"


def random_arguments():
    arrays = [normal(5, 5, 2, 2, seed=seed) for seed in range(3)]
    return (*arrays, normal(5, 2, 2)[0], normal(2, 2, seed=9), normal(5, 2, 2, seed=4))


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_nests(first, tmp_path):
    done = 0
    for seed in range(first, first + 10):
        program = module_from(random_nest(seed), tmp_path).program
        changed, before = check(program, random_arguments(), ["a", "b", "c", "y"])
        done += changed != before
    assert done >= 3
