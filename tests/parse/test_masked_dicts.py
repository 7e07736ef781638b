"""Dicts of which data decides which keys are in them."""

import collections
import copy

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises, UnsupportedProgram
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope, parsed, size_of

X = np.array([0.95, 0.6, 1.2, 0.75])


def contacts(x):
    """Springs between particles that touch, which forget their length where they part."""
    springs = {}
    energy = 0.0
    for step in range(12):
        for i in range(3):
            for j in range(i + 1, 4):
                gap = np.sin(x[i] * (step + 1)) - 0.3 * x[j]
                if gap > 0:
                    length = springs.get((i, j), 0.0) + gap * x[0]
                    springs[i, j] = length
                    energy += length**2
                else:
                    springs.pop((i, j), None)
    return energy + len(springs) * x[1]


class Memo:
    def __init__(self):
        self.cache = {}

    def value(self, k, v):
        if k not in self.cache:
            self.cache[k] = np.exp(-v)
        return self.cache[k]


def memoised(x):
    memo, total = Memo(), 0.0
    for k in range(10):
        if np.sin(x[k % 4] * k) > 0.1:
            total += memo.value(k % 4, x[k % 4] * (k + 1))
    return total


def an_option(x):
    found = {"a": x[0]}
    if x[1] > 0.5:
        found["b"] = x[1] * 2
    if "b" in found:
        found["a"] += found["b"]
    return found["a"] + found.get("c", 1.0) + found.pop("b", 0.3)


def counted(x):
    counts, sums = collections.Counter(), collections.defaultdict(float)
    for k in range(4):
        name = "odd" if k % 2 else "even"
        if x[k] > 0.8:
            counts[name] += 1
            sums[name] += x[k]
        else:
            sums["rest"] += x[k] ** 2
    return sums["odd"] / max(counts["odd"], 1) + sums["even"] * counts["even"] + sums["rest"] + len(counts)


def best_of_groups(x):
    best = {}
    for k in range(8):
        group, value = k % 3, np.sin(k * x[k % 3])
        if group not in best or value > best[group][0]:
            best[group] = (value, k)
    return sum(best[g][0] * best[g][1] for g in range(3))


def arrays(x):
    kept = {"mean": x * 0.5}
    for step in range(6):
        if np.sum(x) * 0.1 * step > 1.0 and "late" not in kept:
            kept["late"] = x * step
        if "late" in kept and step > 4:
            kept["mean"] = kept["mean"] + kept.pop("late")
    return np.sum(kept["mean"] ** 2) + len(kept)


def removed(x):
    d = {k: x[k] for k in range(2)}
    for step in range(30):
        for k in range(4):
            if x[k] * np.cos(step * 0.7) > 0.5:
                d[k] = d.get(k, 0.1) * 0.9 + x[k] * 0.2
            elif k in d and step > 3:
                del d[k]
    total = 0.0
    for k in range(4):
        if k in d:
            total += d[k] * (k + 1)
    return total if d else x[0]


def cleared(x):
    d = {}
    for k in range(9):
        d.setdefault(k % 3, x[k % 4])
        if x[k % 4] > 1.0:
            d.clear()
        d.update({"last": x[0] * k})
    return sum(d.get(k, 0.5) * (k + 1) for k in range(3)) + d["last"]


def copies(x):
    d = {}
    for step in range(20):
        for k in range(4):
            if x[k] * np.cos(step) > 0.5:
                d[k] = x[k] * step
    total = 0.0
    for other in (copy.copy(d), d.copy(), copy.deepcopy(d)):
        other["more"] = x[0]
        other[0] = x[1] * 3
        other.pop(1, None)
        total += 2 * other[0] + len(other)
    return total + d.get(0, 0.1) + d.get(1, 0.2) + len(d) + ("more" in d) + float(isinstance(d, dict))


def handled(x):
    d = collections.defaultdict(float)
    for step in range(20):
        for k in range(4):
            if x[k] * np.cos(step) > 0.5:
                d[k] += x[k]
            if step == 10:
                d.pop(2, None)
    try:
        return d.pop(7)
    except KeyError:
        return d[0] + 0.1 * d.get(2, 0.0)


def tuples(x):
    d = {}
    for step in range(30):
        if x[0] * np.cos(step) > 0.5:
            d["p"] = (x[1] * step, x * x[2])
        if "p" in d:
            a, v = d["p"]
            d["p"] = (a * 0.9, v + 0.1)
    a, v = d.get("p", (0.0, x))
    return a + v @ x


PROGRAMS = [copies, handled, tuples, contacts, memoised, an_option, counted, best_of_groups, arrays, removed, cleared]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("x", [X, X[::-1].copy(), 0.6 * X], ids=["a", "b", "c"])
def test_value_and_slope(program, x):
    assert_value_and_slope(program, x)


def test_loops_stay_loops():
    """The pairs are written out, the steps are not."""
    assert size_of(parsed(contacts, X).program.body) < 130


def test_compiled():
    gradient = sdfgad.differentiate(contacts, wrt="x")
    step = np.array([0.3, -0.5, 0.2, 0.4])
    for x in (X, X[::-1].copy(), 0.6 * X):
        value, slope = gradient.value_and_grad(x)
        assert np.isclose(value, contacts(x), rtol=1e-13)
        difference = (contacts(x + 1e-7 * step) - contacts(x - 1e-7 * step)) / 2e-7
        assert np.isclose(slope @ step, difference, rtol=1e-6)


def lacking(x):
    d, total = {}, 0.0
    for k in range(6):
        if x[k % 4] * k > 2.0:
            d["a"] = x[k % 4]
        if k > 3:
            total += d["a"]
    return total


def test_a_key_that_is_not_there_is_an_error_as_in_python():
    assert_value_and_slope(lacking, 2.0 * X)
    with pytest.raises(KeyError):
        lacking(0.1 * X)
    with pytest.raises(ProgramRaises, match=r"the dict has no such key\n.*\n.*KeyError") as caught:
        sdfgad.differentiate(lacking, wrt="x").value(0.1 * X)
    assert str(caught.value.where) == line_of(lacking, 'total += d["a"]')


def in_order(x):
    d, total = {}, 0.0
    for step in range(40):
        for k in range(4):
            if x[k] * np.cos(step * 1.3 + k) > 0.5:
                d[k] = x[k] * step
    for key in d:
        total = 0.5 * total + d[key]
    return total


def test_the_order_of_keys_is_refused():
    """It is that in which a run adds them. So many decisions are no constants either."""
    with pytest.raises(UnsupportedProgram, match=r"loop over the keys of a dict of which data decides.*\n.*for key in"):
        sdfgad.differentiate(in_order)(X)
