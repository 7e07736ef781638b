"""Loops whose first trips give lists and dicts the keys and lengths that they keep then: these are peeled."""

from collections import defaultdict

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

N = 60


def logged(a):
    log, x = {}, np.ones(3)
    for t in range(N):
        x = np.tanh(x + a[t])
        log.setdefault("x", []).append(x)
        log.setdefault("sums", []).append(x.sum() * t)
    return np.sum(np.array(log["x"]) ** 2) + np.mean(log["sums"])


def multistep(a):
    """Adams and Bashforth's method of third order, which begins with those of first and second order."""
    h, x, dt = [], np.ones(3), 0.05
    for t in range(N):
        h.append(np.sin(x) + a[t])
        if len(h) > 3:
            h.pop(0)
        if len(h) == 1:
            x = x + dt * h[0]
        elif len(h) == 2:
            x = x + dt * (1.5 * h[1] - 0.5 * h[0])
        else:
            x = x + dt * (23 * h[2] - 16 * h[1] + 5 * h[0]) / 12
    return x @ x


class Store:
    def __init__(self):
        self.series = {}

    def put(self, key, value):
        self.series.setdefault(key, []).append(value)


WEIGHTS = {1: (1.0,), 2: (1.5, -0.5), 3: (23 / 12, -16 / 12, 5 / 12)}


class Model:
    def __init__(self, u):
        self.u, self.tendencies, self.out = u, [], Store()

    def step(self, n):
        self.tendencies.append((np.roll(self.u, 1) - 2 * self.u + np.roll(self.u, -1), 0.1 * self.u))
        if len(self.tendencies) > 3:
            self.tendencies.pop(0)
        weights = WEIGHTS[len(self.tendencies)]
        for c, (d, f) in zip(weights, reversed(self.tendencies), strict=True):
            self.u = self.u + 0.1 * c * (d - f)
        self.out.put("u", self.u.copy())
        if n % 20 == 0:
            self.out.put("mean", self.u.mean())


def model(a):
    m = Model(a[:, 0])
    for n in range(N):
        m.step(n)
    return np.sum(np.array(m.out.series["u"])[::10] ** 2) + np.sum(m.out.series["mean"])


def counted(a):
    hist, found, s = defaultdict(list), {}, 0.0
    for t in range(40):
        s = 0.5 * np.sin(s) + a[t, 0]
        hist["s"].append(s)
        if "top" not in found or s > 2:
            found["top"] = s
        found["top"] = np.maximum(found["top"], s)
        found[f"part {t % 3}"] = a[t, 1] * 2 + found.get(f"part {t % 3}", 0.0)
    return sum(hist["s"]) + sum(found.values())


def never_steady(a):
    """Lists that are emptied now and then, and keys that come late."""
    block, seen, s = [], [], 0.0
    for t in range(40):
        block.append(a[t])
        if len(block) == 5:
            s = s + sum(np.sin(b) @ b for b in block)
            block = []
        if t % 7 not in seen:
            seen.append(t % 7)
            s = s + a[t, 1]
    return s + len(seen)


def lines(program, a):
    return len(str(sdfgad.explain(program, a, stage="parsed")).splitlines())


@pytest.mark.parametrize(("program", "most"), [(logged, 50), (multistep, 50), (model, 160)])
def test_loops_stay_behind_their_first_trips(program, most, rng):
    assert lines(program, rng.uniform(0.1, 0.6, (N, 3))) < most


def inner_loop_that_breaks(a):
    limits, u, total = {}, 0.0, 0.0
    for step in range(20):
        for _ in range(60):
            v = max(u, limits.get(0, 0.0) - 0.1)
            limits[0] = v
            new = u - (np.exp(v) + (1 + a[0, 0]) * v - 1.5 * np.sin(0.3 * step)) / (np.exp(v) + 1 + a[0, 0])
            is_done = abs(new - u) < 1e-12
            u = new
            if is_done:
                break
        total += u
    return total


def inner_while(a):
    limits, u, total = {}, 0.0, 0.0
    for step in range(20):
        change = 1.0
        while change > 1e-12:
            v = max(u, limits.get(0, 0.0) - 0.1)
            limits[0] = v
            new = u - (np.exp(v) + (1 + a[0, 0]) * v - 1.5 * np.sin(0.3 * step)) / (np.exp(v) + 1 + a[0, 0])
            change, u = abs(new - u), new
        total += u
    return total


def history_until_convergence(a):
    history, u = [], 0.0
    for _ in range(60):
        history.append(np.sin(u))
        if len(history) > 3:
            history.pop(0)
        new = 0.3 * sum(history) + a[0, 0] * 0.1
        if abs(new - u) < 1e-12:
            break
        u = new
    return u + sum(history)


@pytest.mark.parametrize(
    ("program", "most"), [(inner_loop_that_breaks, 50), (inner_while, 40), (history_until_convergence, 60)]
)
def test_loops_whose_end_is_data_have_a_warm_up_too(program, most, rng):
    a = rng.uniform(0.1, 0.6, (N, 3))
    assert lines(program, a) < most
    assert_value_and_slope(program, a)


def all_of_them(a):
    return logged(a) + 3 * multistep(a) ** 2 + model(a) - counted(a) * 0.1 + never_steady(a)


def test_gradients(rng):
    a = rng.uniform(0.1, 0.6, (N, 3))
    assert sdfgad.differentiate(all_of_them).value(a) == pytest.approx(all_of_them(a), rel=1e-12)
    sdfgad.check_grads(all_of_them, a)


def by_a_list(a):
    d = {}
    d.setdefault([1], a[0, 0])
    return d[1]


def without_a_key(a):
    d = {}
    d.setdefault()
    return a[0, 0]


@pytest.mark.parametrize("program", [by_a_list, without_a_key])
def test_what_python_raises_is_said_of_the_line(program):
    with pytest.raises(sdfgad.SdfgadError, match=r"(?s)TypeError.*d\.setdefault\(") as caught:
        sdfgad.differentiate(program)(np.ones((2, 2)))
    assert "bug of sdfgad" not in str(caught.value)


def long_history(a):
    history, u = [], a[0, 0]
    for k in range(40):
        history.append(u)
        if len(history) > 7:
            history.pop(0)
        u = 0.12 * sum(history) + 0.3 * a[k, 1]
        if u > 2.4:
            break
    return u + history[0]


def test_a_warm_up_of_seven_trips(rng):
    a = rng.uniform(0.1, 0.6, (N, 3))
    assert lines(long_history, a) < 120
    assert_value_and_slope(long_history, a)
