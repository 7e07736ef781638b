"""Lists of which loops replace items by index: the rows of an array where the places are known at all trips."""

import random
from collections import Counter

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError
from sdfgad.ir.program import Loop, walk
from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope, parsed
from tests.helpers_tiers import some

IDS = np.array([3, 0, 2, 1, 1, 3, 0, 2])


def size_of(program, *args):
    return len(list(walk(parsed(program, *args).program.body)))


def smoother(y, x0):
    """Rauch, Tung and Striebel's."""
    n, A, Q = len(y), np.array([[1.0, 0.1], [0.0, 1.0]]), 0.01 * np.eye(2)
    xs = [np.zeros_like(x0) for _ in range(n)]
    m, P, mp, Pp = [], [], [], []
    x, V = x0, np.eye(2)
    for k in range(n):
        xp, Vp = A @ x, A @ V @ A.T + Q
        K = Vp[:, 0] / (Vp[0, 0] + 0.1)
        x, V = xp + K * (y[k] - xp[0]), Vp - np.outer(K, Vp[0])
        m.append(x)
        P.append(V)
        mp.append(xp)
        Pp.append(Vp)
    xs[-1] = m[-1]
    for k in range(n - 2, -1, -1):
        G = P[k] @ A.T @ np.linalg.inv(Pp[k + 1])
        xs[k] = m[k] + G @ (xs[k + 1] - mp[k + 1])
    return np.sum(np.array(xs) ** 2)


def backwards(y, x0):
    v = [None] * (len(y) + 1)
    v[len(y)] = x0 * x0
    for k in reversed(range(len(y))):
        v[k] = np.tanh(v[k + 1] * y[k]) + 0.1
    return np.sum(v[0]) + np.sum(v[3] ** 2)


def sweeps(y, x0):
    """Gauss-Seidel: each item is replaced in each sweep, of items that the sweep has replaced, and others."""
    u = [0.0] * len(y)
    u[0] = x0[0]
    for _ in range(20):
        for k in range(1, len(y) - 1):
            u[k] = 0.5 * (u[k - 1] + u[k + 1] + 0.1 * y[k] * u[k])
        u[-1] += x0[1]
    return np.sum(np.array(u) ** 2)


def by_table(y, x0):
    u = [x0 * k for k in range(4)]
    for i in range(8):
        for j in range(5):
            if (i + j) % 2:
                u[IDS[i]] = np.sin(u[IDS[i]] + y[i])
            old = u[j % 4]
            u[j % 4] = u[-1] * 0.5
            u[-1] = old + 0.1
    return np.sum(np.stack(u) ** 2)


@pytest.mark.parametrize("program", [smoother, backwards, sweeps])
def test_the_loop_stays(program):
    few, many = (size_of(program, np.sin(np.arange(n)), np.array([0.3, 0.2])) for n in (40, 80))
    assert few == many < 80


@pytest.mark.parametrize("program", [smoother, backwards, sweeps, by_table])
def test_values_and_slopes(program):
    args = np.sin(np.arange(40)), np.array([0.3, 0.2])
    assert_value_and_slope(program, *args)


@pytest.mark.slow
def test_compiled_gradients():
    def program(y, x0):
        return smoother(y, x0) + sweeps(y, x0)

    args = np.sin(np.arange(40)), np.array([0.3, 0.2])
    assert sdfgad.differentiate(program, wrt="y").value(*args) == pytest.approx(program(*args), rel=1e-12)
    sdfgad.check_grads(program, *args)


# --- what a row cannot stand for


def items_updated_in_the_loop(y, x0):
    u = [x0 * k for k in range(40)]
    for k in range(1, 40):
        a = u[k - 1]
        a += y[k]
        u[k] = a * 0.5
    return np.sum(np.stack(u))


def items_updated_after_it(y, x0):
    u = [x0 * k for k in range(40)]
    z = x0
    for k in range(1, 40):
        z = np.sin(z + y[k])
        u[k] = z
    z += 1.0
    u[3] *= 2.0
    return np.sum(np.stack(u)) + np.sum(z)


def one_object_twice(y, x0):
    u = [None] * 41
    for k in range(40):
        u[k] = x0 * y[k]
        u[k + 1] = u[k]
    u[40] += 1.0
    return np.sum(u[39]) + np.sum(u[40])


def a_name_of_what_is_replaced(y, x0):
    u, kept = [x0 * k for k in range(40)], x0
    for k in range(39):
        kept = u[k + 1]
        u[k + 1] = u[k] * y[k] + kept
        u[k] = kept * 0.5
    return np.sum(np.stack(u)) + np.sum(kept)


def other_shapes(y, x0):
    u = [None] * 40
    for k in range(40):
        u[k] = y[: 1 + k % 3] * x0[0]
    return np.sum(np.concatenate(u))


def the_whole_list_is_read(y, x0):
    u = [x0[0]] * 40
    for k in range(40):
        u[k] = sum(u[:3]) * 0.1 + y[k] * len(u)
    return sum(u)


def data_decides(y, x0):
    u = [x0[0]] * 40
    for k in range(40):
        if y[k] > 0.0:
            u[k] = u[k - 1] * y[k]
    return sum(u)


OTHERS = [
    *(items_updated_in_the_loop, items_updated_after_it, one_object_twice, a_name_of_what_is_replaced, other_shapes),
    *(the_whole_list_is_read, data_decides),
]


@pytest.mark.parametrize("program", OTHERS)
def test_others_are_right(program):
    args = np.sin(np.arange(40) + 0.5), np.array([0.3, 0.2])
    assert_value_and_slope(program, *args)


def in_single_precision(x):
    u = [0.5] * 40
    for k in range(1, 40):
        u[k] = x[k % 3] * u[k - 1]
    return u[0] * x, u[7] * x


def test_python_numbers_stay_weak():
    assert_like_python(in_single_precision, np.array([0.9, 0.8, 1.1], np.float32))


def not_there(x):
    u = [None] * 40
    for k in range(39):
        u[k] = u[k + 1] * x
    return u[0]


def test_an_item_that_is_none():
    with pytest.raises(SdfgadError, match=r"None[\s\S]*u\[k \+ 1\]"):
        parsed(not_there, np.ones(2))


# --- random programs

HEAD = """
import numpy as np

IDS = np.array([3, 0, 2, 1, 1, 3, 0, 2])

def program(x, y, s):
    acc, z = x[0] * s, x[:3] * 2.0
"""
INDICES = (
    *("{c}", "{c}", "{c}", "{c} - 1", "{c} + 1", "{n} - 1 - {c}", "({c} * 2) % {n}", "IDS[{c} % 8]", "-1 - {c}", "0"),
    *("-1", "({c} + 3) % {n}", "{n} - 1"),
)
STARTS = {
    "v": (
        *("[np.zeros(3) for _ in range({n})]", "[x[:3] * k for k in range({n})]", "[None] * {n}", "[x[:3]] * {n}"),
        "[np.sin(x[:3] + k) * np.tanh(y) + s * k for k in range({n})]",
    ),
    "f": ("[0.0] * {n}", "[x[0]] * {n}", "[None] * {n}", "[x[k % 4] * s for k in range({n})]", "[0] * {n}"),
}
HEADS = (
    *("for {v} in range({n}):", "for {v} in range(1, {n}):", "for {v} in range({n} - 2, -1, -1):"),
    *("for {v} in range(1, {n} - 1):", "for {v} in reversed(range({n})):"),
)
READS = (
    *("t = t + np.sum(np.array({a}) ** 2)", "for q in {a}:\n        t = np.tanh(t * 0.5 + np.sum(q) * 0.1)"),
    *("for k in range({n}):\n        t = t + np.sum({a}[k]) * k", "t = t + np.sum({a}[0]) * np.sum({a}[-1])"),
)


class Maker:
    """Makes a program from a seed; its lists have numbers or vectors."""

    def __init__(self, seed):
        self.rng, self.loops, self.lines = random.Random(seed), 0, []
        self.n, kinds = self.rng.randint(7, 10), [self.rng.choice("vf") for _ in range(self.rng.randint(1, 2))]
        self.lists = dict(zip("AB", kinds, strict=False))

    def text(self):
        for name, kind in self.lists.items():
            self.add(1, f"{name} = {self.rng.choice(STARTS[kind]).format(n=self.n)}")
            if self.rng.random() < 0.5:
                first = "y * 1.0" if kind == "v" else "x[1]"
                self.add(1, f"{name}[{self.rng.choice(['0', '-1', '1'])}] = {first}")
        for _ in range(self.rng.choice([1, 1, 2])):
            self.loop(1, [], HEADS)
        self.add(1, self.rng.choice(["z += 1.0", "y[0] = s", "pass", "pass", "pass", "pass"]))
        self.add(1, "t = acc + np.sum(z)")
        for name in self.lists:
            if self.rng.random() < 0.12:
                self.add(1, f"{name}[{self.rng.randint(0, 4)}] += 1.0")
            self.add(1, self.rng.choice(READS).format(a=name, n=self.n))
        self.add(1, "return t")
        return HEAD + "\n".join(self.lines) + "\n"

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def loop(self, depth, counters, heads):
        name, self.loops = f"i{self.loops}", self.loops + 1
        self.add(depth, self.rng.choice(heads).format(v=name, n=self.n, c=self.rng.choice(counters or ["0"])))
        self.block(depth + 1, [*counters, name])

    def item(self, name, counters):
        index = self.rng.choice(INDICES).format(c=self.rng.choice(counters), n=self.n)
        return f"{name}[{index}]"

    def value(self, kind, counters):
        names, counter = [name for name, other in self.lists.items() if other == kind], self.rng.choice(counters)
        old, other = (self.item(self.rng.choice(names), counters) for _ in range(2))
        new = f"x[:3] * (0.1 * {counter} + 1)" if kind == "v" else f"x[{counter} % 4] * s"
        forms = [f"0.5 * {old} + {new}", f"np.tanh({old} + s)", new, old, f"np.sin({old}) * s + 0.3 * {other}"]
        return self.rng.choice([*forms, "z" if kind == "v" else "acc"])

    def block(self, depth, counters):
        for _ in range(self.rng.randint(1, 3)):
            name = self.rng.choice(list(self.lists))
            assignment = f"{self.item(name, counters)} = {self.value(self.lists[name], counters)}"
            r, counter = self.rng.random(), self.rng.choice(counters)
            if r < 0.12:
                self.add(depth, assignment.replace(" = ", " += "))
            elif r < 0.24:
                self.add(depth, f"if {self.rng.choice([f'{counter} % 2 == 0', f'IDS[{counter} % 8] > 1'])}:")
                self.add(depth + 1, assignment)
            elif r < 0.34:
                self.add(depth, f"acc = np.tanh(acc + np.sum({self.item(name, counters)}) * 0.1)")
            elif r < 0.42 and self.lists[name] == "v":
                self.add(depth, f"z = {self.item(name, counters)}{self.rng.choice(['', ' * s'])}")
                self.add(depth, self.rng.choice(["z += s", "pass", "pass"]))
            elif r < 0.55 and self.loops < 4:
                self.loop(depth, counters, ("for {v} in range(3):", "for {v} in range({c} % 3 + 1):"))
            else:
                self.add(depth, assignment)


def reservoir(level, inflow, rate):
    level = (1 - rate) * (level + inflow)
    return level, rate / (1 - rate) * level


def cascade(rain, rate):
    levels, flows, t = [0, 0, 0], [], 0
    while t < len(rain):
        flow = rain[t]
        for k in range(3):
            levels[k], flow = reservoir(levels[k], flow, rate)
        flows.append(flow)
        t += 1
    return np.array(flows) + levels[0] * levels[2]


def test_loops_of_few_trips_inside_are_unrolled_and_the_items_carried():
    rain = np.random.default_rng(1).uniform(0.0, 1.0, 60)
    (loop,) = [one for one in walk(parsed(cascade, rain, 0.3).program.body) if isinstance(one, Loop)]
    assert loop.trips.const == 60
    assert_value_and_slope(cascade, rain, 0.3)


def outcome(seed, folder):
    """What becomes of a program; raises where values or slopes differ from Python's."""
    rng = np.random.default_rng(seed)
    program, args = module_from(Maker(seed).text(), folder).program, (*rng.uniform(0.2, 1.0, (2, 4)), 0.7)
    args = args[0], args[1][:3], args[2]
    try:
        program(args[0].copy(), args[1].copy(), args[2])
    except (IndexError, TypeError):
        return "raises"
    try:
        primal = parsed(program, *args)
    except SdfgadError:
        return "refused"
    assert_value_and_slope(program, *args)
    return "rolled" if any(isinstance(one, Loop) for one in walk(primal.program.body)) else "unrolled"


@pytest.mark.slow
@pytest.mark.parametrize("count", some([20, 60], 2))
def test_random_programs(tmp_path, count):
    found = Counter(outcome(seed, tmp_path) for seed in range(count))
    assert found["rolled"] >= count // 4
    assert found["refused"] <= count // 20


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 400))
def test_more_random_programs(seed, tmp_path):
    outcome(seed, tmp_path)
