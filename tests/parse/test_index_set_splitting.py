"""Loops of which conditions on the counter choose what must be known: they are split into loops of alike trips."""

import random

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError
from sdfgad.ir.program import walk
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, outputs_of, parsed

EVENTS = {30: ("fire", 0.3), 55: ("harvest", 0.5), 80: ("stocking", 0.2)}
ORDER = [0] * 2 + [1] * 30 + [2] * 28
FUNCTIONS = [np.sin, np.cos, np.tanh]
X = np.array([0.7, 0.3, 0.45])


def events(x):
    y = x.copy()
    for step in range(120):
        y = y + 0.01 * y * (1 - y)
        if step in EVENTS:
            kind, amount = EVENTS[step]
            if kind == "fire":
                y[0] *= 1 - amount
            elif kind == "harvest":
                y *= 1 - amount
            else:
                y[1] += amount
    return np.sum(y)


def windows(x):
    s, total = np.arange(60.0) * x[0], 0.0
    for i in range(1, 60):
        w = min(i, 5)
        total += np.dot(s[i - w : i], np.ones(w)) ** 2 / w
    return total


def states(x):
    state = {"a": x[0], "b": x[1]}
    for n in range(70):
        name = ["a", "b"][n // 35]
        state[name] = state[name] + 0.01 * np.sin(state[name])
    return state["a"] * state["b"]


def functions(x):
    s = x[0]
    for o in ORDER:
        s = s + 0.1 * FUNCTIONS[o](s)
    return s


def bound_in_one_part(x):
    """A name that a part binds, and that later parts and what is behind the loop read."""
    y, total = x.copy(), 0.0
    for k in range(60):
        y = y * 0.99
        if k in (20, 21):
            kept = y + {20: "a", 21: "b"}[k].count("b")
        if k > 21:
            total = total + np.sum(kept * y)
    return total + k * np.sum(kept)


def filled(x):
    """Lists that all parts fill, and one that some do."""
    y, path, late = x.copy(), [], []
    for k in range(50):
        y = np.sin(y) + 0.1
        path.append(y)
        if k >= 25:
            late.append(np.sum(y) * ["a", "bc"][k // 30].count("c"))
    return np.sum(np.array(path) ** 2) + np.mean(late)


def downwards(x):
    y = x.copy()
    for k in range(118, 0, -3):
        name = "aa" if k > 60 else "a"
        y = y * 0.9 + 0.1 * y[0] * name.count("a")
        before = k
    return np.sum(y) + before


def swapped(x):
    y, z = x.copy(), x * 2.0
    for k in range(48):
        y, z = z, y
        if k in EVENTS:
            y[0] = y[0] * EVENTS[k][1]
        else:
            z[1] += 0.1 * y[2]
    return y @ np.array([1.0, 2.0, 3.0])


def counted(x):
    k, y = 0, x.copy()
    while k < 90:
        if k in EVENTS:
            name, amount = EVENTS[k]
            y = y * amount if name == "fire" else y + amount
        y = y * 0.98
        k += 1
    return np.sum(y) * k


def nested(x):
    y = x.copy()
    for k in range(40):
        for j in range(3):
            if k in EVENTS and j == 1:
                y[j] *= EVENTS[k][1]
            y[j] = y[j] + 0.01 * np.sin(y[j - 1])
    return np.sum(y)


def warmed_up(x):
    log, y = {}, x.copy()
    for k in range(60):
        y = np.tanh(y) + 0.05
        log.setdefault("y", []).append(y)
        if k in EVENTS:
            y = y * EVENTS[k][1]
    return np.sum(np.array(log["y"]))


def ping_pong(x):
    arrays = [x.copy(), np.zeros(3)]
    for k in range(61):
        old, new = arrays[k % 2], arrays[(k + 1) % 2]
        new[:] = old * 0.9 + 0.1 * np.roll(old, 1)
    return np.sum(arrays[0] ** 2) + np.sum(arrays[1])


def by_turns(x):
    state = {"red": x[0], "black": x[1]}
    for k in range(60):
        own, other = ["red", "black"][k % 2], ["red", "black"][(k + 1) % 2]
        state[own] = state[own] * 0.9 + 0.1 * FUNCTIONS[k % 3](state[other])
        if k in EVENTS:
            state["red"] = state["red"] * EVENTS[k][1]
    return state["red"] * state["black"]


def open_loops_in_parts(x):
    """How many trips an inner loop has, data decides."""
    y, count = x.copy(), 0
    for k in range(40):
        y = y * (0.99 if ["a", "b"][k // 20] == "a" else 1.01)
        for j in range(8):
            if j >= 2:
                y[1] += 0.01 * j
            if y[0] * (j + 1) > 3.0:
                break
        count = count + j
    return np.sum(y) * count


PROGRAMS = {
    events: 20,
    windows: 30,
    states: 10,
    functions: 15,
    bound_in_one_part: 30,
    filled: 60,
    downwards: 10,
    swapped: 40,
    counted: 20,
    nested: 30,
    warmed_up: 30,
    ping_pong: 25,
    by_turns: 45,
    open_loops_in_parts: 60,
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_loop_for_each_kind_of_trip(program):
    found = parsed(program, X)
    assert sum(1 for _ in walk(found.program.body)) <= PROGRAMS[program]
    assert_value_and_slope(program, X.copy())


def function_by_data(x):
    y, function = x.copy(), np.sin
    for k in range(40):
        y = y * (0.9 if "ab"[k // 20] == "a" else 0.8)
        if k == 4 and y[0] > 0.3:
            function = np.cos
    return function(y[0])


def shape_by_trip(x):
    y, kept = x.copy(), x * 2.0
    for k in range(40):
        y = y * (0.9 if "ab"[k // 20] == "a" else 0.8)
        if k > 30:
            kept = y[: k % 2 + 1]
    return np.sum(kept)


@pytest.mark.parametrize("program", [function_by_data, shape_by_trip])
def test_a_loop_that_split_leaves_no_value_of_a_name_is_written_out(program):
    assert_value_and_slope(program, X.copy())


def all_of_them(x):
    return sum(
        np.tanh(program(x)) for program in (events, windows, states, filled, swapped, warmed_up, ping_pong, by_turns)
    )


def test_gradients_of_compiled_code():
    gradient = sdfgad.differentiate(all_of_them)
    assert gradient.value(X) == pytest.approx(all_of_them(X), rel=1e-12)
    sdfgad.check_grads(all_of_them, X)


HEAD = """
import numpy as np

EVENTS = {EVENTS}
SOME = {SOME}
NAMES = ["half", "double", "shift"]
FUNCTIONS = [np.sin, np.cos, np.tanh]

def changed(y, name, amount=0.3):
    if name is None:
        return y
    if name == "half":
        return y * 0.5
    return y * 1.1 - amount if name == "double" else np.roll(y, 1)

"""
LOOPS = ("for k in range({n}):", "for k in range(3, {n}, 2):", "for k in range({n}, 0, -1):", "for k in ORDER:")
LOOPS += ("for k, z in enumerate(u):", "k = -1\n    while k < {n} - 1:\n        k += 1")
LOOPS += ("for k in range({n}):\n        if k == {m}:\n            continue", "for k, z in zip(range({n}), u):")
# Statements of a trip; the first ones need to know it, or whether it is one of few.
STATEMENTS = (
    "if k in EVENTS:\n    name, amount = EVENTS[k]\n    y = changed(y, name, amount)",
    "if k in EVENTS:\n    name, amount = EVENTS[k]\n    y[{i}] += amount\nelif k in SOME:\n    y[1] *= 0.9",
    "y = changed(y, None if k not in SOME else NAMES[{i}])",
    "y = changed(y, NAMES[min(k // {m}, 2)])",
    "y = y + 0.1 * FUNCTIONS[min(max(k - {m}, 0), 2)](y)",
    "log[NAMES[k // {m} % 3]].append(y)",
    "w = min(k, 4) if k > 0 else 1\ns = s + np.dot(u[:w], np.ones(w) * y[0])",
    "state[NAMES[int(k > {m})]] = 0.9 * state['half'] + 0.1 * y[{i}]",
    "kind = 'half' if k < {m} else 'double'\nif k % {m} == 0:\n    y = changed(y, kind)",
    "if k == {m}:\n    kept = y\nif k > {m}:\n    y = y + 0.1 * changed(kept, EVENTS.get(k, NAMES)[0])",
    "y = np.tanh(y) + 0.1 * s",
    "y[{i}] = y[{i}] * 0.9 + 0.01 * u[k % 5]",
    "s = 0.9 * s + 0.1 * np.sum(y) * k / {n}",
    "y, x = x, y",
    "x = x + 0.05 * y if k > {m} else x * 0.95",
    "path.append(s)",
    "for j in range(2):\n    if k in EVENTS and j == 1:\n        y = changed(y, EVENTS[k][0])\n    y[j] *= 0.99",
    "late.append(y[{i}] * s) if k >= {m} else None",
    "if s > 0.4:\n    y = y * 0.98",
    "y = y if k != {m} else y.copy()",
    "before = y",
    "old, new = arrays[k % 2], arrays[(k + 1) % 2]\nnew[:] = old * 0.9 + 0.1 * y",
    "y = y * 0.9 + 0.1 * FUNCTIONS[k % 3](x)",
    "state[NAMES[k % 2]] = 0.9 * state[NAMES[(k + 1) % 2]] + 0.1 * y[{i}]",
    "s = s + 0.01 * np.sum(before)\nbefore = x",
)


def program_of(seed):
    pick = random.Random(seed)
    n, m = pick.randint(24, 60), pick.randint(5, 20)
    events = {k: (pick.choice(["half", "double", "shift"]), pick.random()) for k in pick.sample(range(n), 3)}
    some = {*pick.sample(range(n), 2), *range(m, m + 3)}
    lines = ["def program(a):", f"    ORDER = [0] * {m} + [1] * {n - m} + [2] * {m}"]
    lines += ["    u, y, x, s, before = np.sin(np.arange(70.0) * a[0]), a * 0.5, a + 0.1, 0.3, a * 1.0"]
    lines += ["    log, state, path, late = {name: [] for name in NAMES}, dict(half=a[1], double=a[2]), [], []"]
    lines += ["    arrays = [a * 0.3, np.zeros(3)]"]
    for _ in range(pick.choice([1, 1, 2])):
        words = {"n": n, "m": m, "i": pick.randrange(3)}
        lines += ["    " + pick.choice(LOOPS).format(**words)]
        chosen = [pick.choice(STATEMENTS[:10]), *pick.choices(STATEMENTS, k=pick.randint(1, 4))]
        pick.shuffle(chosen)
        lines += ["        " + line for one in chosen for line in one.format(**words).split("\n")]
    lines += ["    ends = sum(np.sum(np.array(one)) for one in log.values()) + np.sum(np.array(path)) + sum(late)"]
    lines += ["    return s + np.sum(y * u[:3]) + np.sum(x) + ends + state['half'] * k + arrays[0] @ arrays[1]"]
    return HEAD.replace("{EVENTS}", repr(events)).replace("{SOME}", repr(some)) + "\n".join(lines) + "\n"


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_as_in_python_or_refused(tmp_path, first):
    followed = 0
    for seed in range(first, first + 10):
        a = np.random.default_rng(seed).uniform(0.2, 0.8, 3)
        program = module_from(program_of(seed), tmp_path).program
        try:
            want = program(a.copy())
        except (LookupError, UnboundLocalError):
            continue
        try:
            primal = parsed(program, a)
        except SdfgadError:
            continue
        followed += 1
        assert outputs_of(primal, a)["return"] == pytest.approx(want, rel=1e-10), seed
    assert followed > 3
