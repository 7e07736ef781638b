"""Lists of alike items, of data, over which loops stay loops: rows where they are, and copies of others."""

from itertools import pairwise

import numpy as np
import pytest

import sdfgad

N = 300


def lines(program, *args):
    return len(str(sdfgad.explain(program, *args, stage="parsed")).splitlines())


def smoothed(a):
    """A list with an item before the loop that fills it, read backwards by index, as smoothers do."""
    x, P = a[0], np.eye(3)
    xs, Ps = [x], [P]
    for t in range(1, len(a)):
        x = 0.9 * np.sin(x) + a[t]
        P = 0.5 * P + np.outer(x, x)
        xs.append(x)
        Ps.append(P)
    s = np.zeros(3)
    for t in range(len(a) - 2, -1, -1):
        s = xs[t] + 0.1 * Ps[t + 1] @ (s - xs[t + 1]) / (1.0 + xs[t] @ xs[t])
        s = s / np.sqrt(1.0 + s @ s)
    return s @ s


def joined(a):
    """Lists that are joined, sections, reversed ones, and neighbours."""
    half = len(a) // 2
    rows = [np.sin(a[i]) for i in range(half)] + [np.cos(a[i]) for i in range(half, len(a))]
    total = 0.0
    for row in rows:
        total = np.tanh(0.3 * total) + row @ row
    for p, q in pairwise(rows):
        total = 0.5 * np.sin(total) + np.sqrt((q - p) @ (q - p) + 1e-3)
    for row in rows[::-1]:
        total = 0.5 * np.cos(total) + row[0] * row[1]
    return total


def labelled(a):
    """Dicts and lists of lists as items."""
    parts = []
    for k in range(len(a)):
        p = a[k]
        parts.append({"p": p, "d": np.sin(p), "length": np.sqrt(p @ p), "kind": "beam", "load": None})
    table = [[np.sin(a[k, 0]) * j + a[k, 1] for j in range(6)] for k in range(len(a))]
    total = 0.0
    for one in parts:
        if one["load"] is None and one["kind"] == "beam":
            total = 0.5 * np.sin(total) + 0.1 * one["length"] * one["p"] @ one["d"]
    for k in range(1, len(a)):
        for j in range(1, 6):
            total = 0.5 * np.sin(total) + 0.1 * table[k][j] * table[k - 1][j - 1]
    return total


def backward(a):
    """Gains that a backward sweep puts at the front of a list."""
    gains, v = [], np.ones(3)
    for t in reversed(range(len(a))):
        v = 0.9 * v + np.sin(a[t])
        gains.insert(0, (-v / (1 + v @ v), np.outer(v, a[t]) / (1 + v @ v)))
    x = np.zeros(3)
    for t in range(len(a)):
        k, K = gains[t]
        x = np.tanh(x + k + 0.1 * K @ x)
    return x @ x


def in_time(a):
    """A list that each step makes anew, and that loops within it go over."""
    xs, total = [np.sin(row) for row in a[:40]] + [np.ones(3)], 0.0
    for _ in range(3):
        for k in range(len(xs)):
            total = 0.3 * np.sin(total) + 0.1 * xs[k][0] * xs[k - 1][2]
            total = 0.3 * total + 0.1 * np.cos(xs[k][1] * total)
        xs = [0.5 * x + 0.1 * y for x, y in zip(xs, xs[1:] + xs[:1], strict=True)]
    return total + sum(np.sum(x) for x in xs)


ROLLED = {smoothed: 60, joined: 60, labelled: 60, backward: 60}


def all_of_them(a):
    return smoothed(a) + 3 * joined(a) ** 2 + labelled(a) - backward(a) + in_time(a)


@pytest.mark.parametrize("program", ROLLED, ids=lambda one: one.__name__)
def test_loops_stay(program, rng):
    assert lines(program, rng.uniform(0.1, 0.6, (N, 3))) < ROLLED[program] + 30


def test_gradients(rng):
    a = rng.uniform(0.1, 0.6, (N, 3))
    assert sdfgad.differentiate(all_of_them).value(a) == pytest.approx(all_of_them(a), rel=1e-11)
    sdfgad.check_grads(all_of_them, a)


# --- items that are changed


def total(xs, s):
    for k, x in enumerate(xs):
        s = 0.3 * np.sin(s) + 0.1 * x[0] * x[1] + 0.01 * k * x[2]
        s = 0.3 * s + 0.2 * np.cos(x[1] * s)
    return s


def mixed(a):
    return [np.sin(a[0])] + [np.cos(a[i]) * i for i in range(9)] + [np.exp(-a[i]) for i in range(9, 20)]


def updated_after(a):
    xs = mixed(a)
    first = xs[0]
    s = total(xs, 0.0)
    first += a[1]
    xs[2][0] = 5.0
    return total(xs, s)


def updated_within(a):
    xs = mixed(a)
    first, s = xs[7], 0.0
    for x in xs:
        first *= 1.01
        s = 0.3 * np.sin(s) + 0.1 * x[0] * x[1]
        s = 0.3 * s + 0.2 * np.cos(x[1] * s)
    return total(xs, s)


def updated_by_the_loop(a):
    xs, s = mixed(a), 0.0
    for x in xs:
        x += a[3]
        s = 0.3 * np.sin(s) + 0.1 * x[0] * x[1]
        s = 0.3 * s + 0.2 * np.cos(x[1] * s)
    return total(xs, s)


def updated_views(a):
    b = a * 2.0
    rows, s = [b[i] for i in range(0, 20, 2)] + [b[i] for i in range(1, 20, 2)], 0.0
    for x in rows:
        b[3] = b[3] + 0.1 * x[0]
        b[4, 1] += 0.1 * x[1]
        s = 0.3 * np.sin(s) + 0.1 * x[0] * x[1] + x[2]
        s = 0.3 * s + 0.2 * np.cos(x[1] * s)
    return s


def replaced(a):
    xs, s = mixed(a), 0.0
    for step in range(6):
        s = total(xs, s)
        xs[3] = xs[3] * 0.5 + s
        xs[step] = a[step] * s
    return total(xs, s)


def changed_items(a):
    """Dicts and lists that a loop appends, and other names and loops change."""
    parts = []
    for k in range(20):
        p = {"x": a[k], "w": a[k] @ a[k]}
        parts.append(p)
    p["w"] = 5.0
    pairs = []
    for k in range(20):
        q = [a[k, 0], a[k, 1]]
        pairs.append(q)
        q[1] = q[1] * 2
    parts[3]["w"] = a[0, 0]
    for part in parts:
        part["y"] = np.cos(part["x"]) * part["w"]
    s = 0.0
    for part, (u, v) in zip(parts, pairs, strict=True):
        s = 0.3 * np.sin(s) + 0.1 * part["w"] * part["y"].sum() + u * v
    return s


def aliased_items(a):
    """Lists that are items, and have other names after the loop, or are items of another list, too."""
    first, second, third, s, last, kept = [], [], [], 0.0, [0.0, 0.0], None
    for k in range(20):
        s = 0.5 * np.sin(s) + last[1] * a[k, 2]
        pair = [a[k, 0], a[k] @ a[k]]
        first.append(pair)
        second.append(pair)
        last = pair
        row = {"u": a[k, 0], "w": a[k, 1]}
        third.append(row)
        if k == 7:
            kept = row
    last[1] = 5.0
    second[3][1] = a[0, 0]
    kept["w"] = 3.0
    for (u, v), own in zip(first, third, strict=True):
        s = 0.5 * np.sin(s) + u * v * own["u"] * own["w"]
    return s


CHANGED = aliased_items, updated_after, updated_within, updated_by_the_loop, updated_views, replaced, changed_items


@pytest.mark.parametrize("program", CHANGED, ids=lambda one: one.__name__)
def test_each_change_is_seen(program, rng):
    # By themselves, as one that is written out has all others written out, too.
    a = rng.uniform(0.1, 0.6, (20, 3))
    assert sdfgad.differentiate(program).value(a) == pytest.approx(program(a), rel=1e-11)
    sdfgad.check_grads(program, a)
