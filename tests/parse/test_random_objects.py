"""Random methods that bind attributes anew, alias them, and update them in place: as in Python, or refused."""

import random

import numpy as np
import pytest

from sdfgad.errors import SdfgadError
from tests.helpers import module_from
from tests.helpers_ir import outputs_of, parsed
from tests.helpers_tiers import some

HEAD = """
import numpy as np

def dot(p, q):
    return np.sum(p * q)

class State:
    def __init__(self):
        self.x, self.y = np.array([1.0, 2.0]), np.array([0.5, -0.5])
        self.d = {"k": np.array([0.1, 0.2])}

"""
USES = (
    "for v in a:\n        s.{m}(v)\n        t += dot(s.x, s.y)",
    "t += dot(s.x, s.{m}(a[0]))",
    "p = s.x\n    s.{m}(a[1])\n    t += np.sum(p) * s.y[0]",
    "t += np.sum(s.{m}(a[2]) * s.{n}(a[1]))",
    "q = s.{m}(a[2])\n    s.{n}(a[3])\n    q[0] += 0.5",
    "t += np.sum(sum(s.{m}(v) for v in a)) * 0.01",
)
RESULT = "t + np.sum(s.x) + 2.0 * np.sum(s.y) + 3.0 * np.sum(s.d['k'])"


class Writer:
    """Writes a random program; `methods` are those that others may call, `names` the local ones of a method."""

    def __init__(self, seed):
        self.random, self.methods, self.names = random.Random(seed), [], set()

    @property
    def attribute(self):
        return self.random.choice(["self.x", "self.x", "self.y", "self.d['k']"])

    def simple(self):
        """A statement that is no branch."""
        a, b, call = self.attribute, self.attribute, self.random.choice(self.methods or [None])
        kinds = [
            f"{a} = {a} + v",
            f"{a} = {b} * 0.5",
            f"{a}[{self.random.randrange(2)}] += v",
            f"{a} = {b}",
            f"w = {b}",
        ]
        if "w" in self.names:
            kinds += ["w[0] += 1.0", f"{a} = w"]
        if call:
            kinds += [f"self.{call}(v * 0.8)", f"{a} = {a} + dot({b}, self.{call}(v))", f"w = self.{call}(v + 0.1)"]
        found = self.random.choice(kinds)
        self.names |= {"w"} if found.startswith("w =") else set()
        return found

    def block(self, depth):
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            if self.random.random() < 0.35 and depth < 2:
                names = set(self.names)
                lines += [f"if v {self.random.choice('<>')} 0.5:", *self.side(depth, names)]
                lines += ["else:", *self.side(depth, names)] if self.random.random() < 0.5 else []
                self.names = names
            else:
                lines.append(self.simple())
        return lines

    def side(self, depth, names):
        self.names = set(names)
        ends = [f"return {self.attribute}"] if self.random.random() < 0.3 else []
        return [f"    {line}" for line in self.block(depth + 1) + ends]

    def program(self):
        text = HEAD
        for name in "fgh"[: self.random.randrange(1, 4)]:
            self.names = set()
            body = [*self.block(0), *self.block(0), f"return {self.attribute}"]
            text += f"    def {name}(self, v):\n" + "".join(f"        {line}\n" for line in body)
            self.methods.append(name)
        text += "def program(a):\n    s, t = State(), 0.0\n"
        for _ in range(self.random.randrange(1, 4)):
            m, n = (self.random.choice(self.methods) for _ in "mn")
            text += "    " + self.random.choice(USES).format(m=m, n=n) + "\n"
        return text + f"    return {RESULT}\n"


@pytest.mark.parametrize("first", some(range(0, 30, 10), 3))
def test_as_in_python_or_refused(tmp_path, first):
    points = [np.random.default_rng(seed).random(4) for seed in range(4)]
    followed = 0
    for seed in range(first, first + 10):
        program = module_from(Writer(seed).program(), tmp_path).program
        try:
            primal = parsed(program, points[0])
        except SdfgadError:
            continue
        followed += 1
        for a in points if primal.guard is None else points[:1]:
            assert outputs_of(primal, a)["return"] == pytest.approx(program(a.copy()), rel=1e-10), seed
    assert followed
