"""Random programs that append in loops of loops, and read the lists afterwards: Python's values and slopes."""

import random
from collections import Counter

import numpy as np
import pytest

from sdfgad.errors import SdfgadError
from sdfgad.ir.program import Loop, walk
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed
from tests.helpers_tiers import some

HEAD = """
import numpy as np

PAIRS = [(0, 1), (1, 2), (3, 0), (2, 2), (1, 3), (0, 3), (2, 1)]
IDS = np.array([3, 0, 2, 1, 1, 3, 0, 2])
MESH = np.array([[0, 1, 2], [2, 1, 3], [3, 0, 1], [1, 2, 3], [0, 2, 3], [2, 3, 1]])

def program(x, y, s):
    acc, z = x[0] * s, x[:3] * 2.0
"""
VALUES = (
    *("np.sin(x[{c} % 4] * ({d} + 1))", "x[{c} % 4] * y[{d} % 3] + 2.0", "s * {c} + x[{d} % 4]", "acc"),
    *("float({c}) * s", "0.5", "x[({c} + {d}) % 4] ** 2"),
)
INTEGERS = (
    *("{c}", "({c} + 2 * {d}) % 4", "IDS[{c} % 8]", "MESH[{c} % 6, {d} % 3]", "2", "int(IDS[{d} % 8])", "3 - {c} % 4"),
    "MESH[{c} % 6][{d} % 3]",
)
CONDITIONS = (
    *("{c} % 2 == 0", "({c} + {d}) % 3 != 1", "{c} > {d}", "{c} in (0, 2, 3)", "{c} != {d}", "{c} < 3"),
    "{c} == {d} or {c} == 1",
)
OUTER = (
    *("for {v} in range(7):", "for {v} in range(5):", "for {v} in range(2, 11):", "for {v} in range(8, 0, -1):"),
    *("for {v}, ({v}a, {v}b) in enumerate(PAIRS):", "for {v}, {v}a in enumerate(IDS):", "for {v}a, {v}b, {v} in MESH:"),
)
INNER = (
    *("for {v} in range({c} % 4 + 1):", "for {v} in range({c}, {c} + 2):", "for {v} in range({c} + 1, 6):"),
    *("for {v} in range({c} % 3):", "for {v} in MESH[{c} % 6]:", "for {v} in (0, {c}, 1):"),
    *("for {v} in range(1):", "for {v} in range(3):", "for {v} in range(6):"),
)
IN_LOOPS = (
    *("acc = np.tanh(acc + x[{c} % 4] * s)", "acc = acc + len({name}) * 0.01"),
    *("acc = acc * 0.9 + (0.1 * {name}[-1] if len({name}) > 2 else 0.0)",),
)
READS = {
    "f": (
        *("t = t + np.sum(np.array({n}) ** 2)", "t = t + len({n}) * s", "t = t + sum({n})", "t = t + sum({n}[1:])"),
        *("for q in {n}:\n        t = np.tanh(t + q * 0.1)", "if len({n}) > 3:\n        t = t + {n}[3] * {n}[-1]"),
        "for k in range(len({n})):\n        t = t + {n}[k] * (k + 1) * 0.1",
        "for k, q in enumerate(reversed({n})):\n        t = t + q * k",
    ),
    "i": (
        *("t = t + np.sum(x[np.array({n}, dtype=int) % 4])", "for q in {n}:\n        t = t + x[q % 4] * 0.5"),
        *("t = t + len({n}) * s + sum({n})", "for k in range(len({n})):\n        t = t + {n}[k] * s"),
        "K = np.zeros(40)\n    np.add.at(K, np.array({n}, dtype=int), s)\n    t = t + np.sum(K ** 2)",
    ),
    "v": (
        *(
            "if len({n}) > 0:\n        t = t + np.sum(np.stack({n}) ** 2)",
            "for q in {n}:\n        t = np.tanh(t + q[1])",
        ),
        "if len({n}) > 1:\n        t = t + np.sum({n}[-1] * {n}[0])",
        "if {n}:\n        {n}[0] += 1.0\n        t = t + np.sum({n}[0])",
        "for k in range(len({n})):\n        t = t + np.sum({n}[k]) * k",
    ),
    "t": (
        "for a, b, c in {n}:\n        t = t + a * b + np.sum(c)",
        "for a, b, c in reversed({n}):\n        t = np.tanh(t * 0.5 + a * b + c[0])",
        "if {n}:\n        t = t + {n}[-1][1] * {n}[0][2][1]",
        "for k in range(len({n})):\n        a, b, c = {n}[k]\n        t = t * 0.9 + b + c[1] * k + x[a % 4]",
    ),
}
FIRST = {"f": "x[1]", "i": "2", "v": "x[:3] * s", "t": "(1, s, x[1:3] * 1.0)"}


class Maker:
    """Makes a program from a seed; its lists have floats, integers, vectors or tuples."""

    def __init__(self, seed):
        self.rng, self.loops, self.lines = random.Random(seed), 0, []
        kinds = ["f", *(self.rng.choice("fivt") for _ in range(self.rng.randint(0, 2)))]
        self.lists = dict(zip("ABC", kinds, strict=False))

    def text(self):
        rng = self.rng
        for name, kind in self.lists.items():
            self.add(1, f"{name} = [{FIRST[kind] if rng.random() < 0.15 else ''}]")
        for _ in range(rng.choice([1, 1, 2])):
            self.loop(1, [], OUTER)
        if rng.random() < 0.15:
            self.add(1, rng.choice(["z += 1.0", "z[0] = s", "A.append(acc)"]))
        self.add(1, "t = acc * 1.0")
        for name, kind in self.lists.items():
            for _ in range(rng.randint(1, 2)):
                self.add(1, rng.choice(READS[kind]).format(n=name))
        if self.lists.get("B", "t") in "fi" and rng.random() < 0.4:
            self.add(1, "for a, b in zip(A, B):\n        t = t * 0.9 + a * b")
        self.add(1, "return t")
        return HEAD + "\n".join(self.lines) + "\n"

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def of(self, forms, counters):
        return self.rng.choice(forms).format(c=self.rng.choice(counters), d=self.rng.choice(counters))

    def loop(self, depth, counters, heads):
        name, self.loops = f"i{self.loops}", self.loops + 1
        head = self.rng.choice(heads).format(v=name, c=self.rng.choice(counters or ["0"]))
        self.add(depth, head)
        self.add(depth + 1, "pass")
        more = [name, *(one for one in (f"{name}a", f"{name}b") if one in head)]
        self.block(depth + 1, [*counters, *more])

    def block(self, depth, counters):
        for _ in range(self.rng.randint(1, 3)):
            r = self.rng.random()
            if r < 0.45 or self.loops > 6 or depth > 5:
                self.append(depth, counters)
            elif r < 0.62:
                self.add(depth, f"if {self.of(CONDITIONS, counters)}:")
                self.append(depth + 1, counters)
                if self.rng.random() < 0.4:
                    self.add(depth, "else:")
                    self.append(depth + 1, counters)
            elif r < 0.7:
                line = self.rng.choice(IN_LOOPS[: 3 if self.rng.random() < 0.3 else 1])
                self.add(depth, line.format(c=self.rng.choice(counters), name="A"))
            else:
                self.loop(depth, counters, INNER)

    def append(self, depth, counters):
        names = list(self.lists) if self.rng.random() < 0.35 else [self.rng.choice(list(self.lists))]
        for name in names:
            value = self.item(self.lists[name], counters)
            more = [value, self.item(self.lists[name], counters)]
            forms = [f"append({value})"] * 6 + [f"extend([{', '.join(more)}])"]
            self.add(depth, f"{name}.{self.rng.choice(forms)}")

    def item(self, kind, counters):
        value, integer = self.of(VALUES, counters), self.of(INTEGERS, counters)
        vector = "z" if self.rng.random() < 0.2 else f"x[:3] * {value}"
        return {"f": value, "i": integer, "v": vector, "t": f"({integer}, {value}, x[:2] * {value})"}[kind]


def arguments(seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.2, 1.0, 4), rng.uniform(0.2, 1.0, 3), 0.7


def outcome(seed, folder):
    """'refused', 'rolled' or 'unrolled'; raises where values or slopes differ from Python's."""
    program, args = module_from(Maker(seed).text(), folder).program, arguments(seed)
    try:
        primal = parsed(program, *args)
    except SdfgadError:
        return "refused"
    assert_value_and_slope(program, *args)
    return "rolled" if any(isinstance(one, Loop) for one in walk(primal.program.body)) else "unrolled"


@pytest.mark.slow
@pytest.mark.parametrize("count", some([5, 10], 2))
def test_random_programs(tmp_path, count):
    found = Counter(outcome(seed, tmp_path) for seed in range(count))
    assert found["rolled"] >= 0.4 * count
    assert found["refused"] <= 0.2 * count


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 250))
def test_more_random_programs(seed, tmp_path):
    outcome(seed, tmp_path)
