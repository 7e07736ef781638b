"""Random programs of loops, branches, jumps, swaps and updates in place: Python's values, or a refusal."""

import copy
import random

import numpy as np
import pytest

from sdfgad.errors import AmbiguousArray, Rebound, UnboundVariable
from tests.helpers import module_from
from tests.helpers_ir import as_python_runs, checked_outputs, parsed


class Maker:
    """Makes a program of scalars s, t, u and arrays x, y, z from a seed."""

    def __init__(self, seed):
        self.rng, self.fuel, self.loops = random.Random(seed), 14, 0

    def text(self):
        head = [line for line in ("t = 0.25", "u = s", "z = x * 1.0") if self.rng.random() < 0.85]
        body = self.block(1, 5)
        result = self.rng.choice(["s + t", "np.sum(x) + s", "x[0] * s + y[1]", "t"])
        lines = [*(f"    {line}" for line in [*head, "i = 0", "k = 0"]), *body, f"    return {result}"]
        return "\n".join(["import numpy as np", "def program(x, y, s, n):", *lines])

    def scalar(self, depth=0):
        r = self.rng.random()
        if depth > 1 or r < 0.45:
            element = f"{self.rng.choice('xy')}[{self.rng.randint(0, 2)}]"
            return self.rng.choice(
                ["s", "t", "u", element, element, "0.5", "2", *(["i", "1.0 * k"] if self.loops else [])]
            )
        x, y = self.scalar(depth + 1), self.scalar(depth + 1)
        if r < 0.8:
            return f"({x} {self.rng.choice('+-')} 0.5 * {y})"
        return f"({x} if {self.condition(depth + 1)} else {y})" if r < 0.9 else f"np.sin({x})"

    def condition(self, depth=0):
        plain = [f"{self.scalar(depth + 1)} > {self.rng.choice(['0.3', '1.0'])}", f"s < {self.scalar(depth + 1)}"]
        test = self.rng.choice([*plain, *(["i > 1", "k == 1", "i % 2 == 0"] if self.loops else [])])
        r = self.rng.random()
        if r < 0.25 and depth < 2:
            return f"({test} {self.rng.choice(['and', 'or'])} {self.condition(depth + 1)})"
        return f"not ({test})" if r < 0.35 else test

    def block(self, depth, size):
        return [line for _ in range(self.rng.randint(1, size)) for line in self.statement(depth)]

    def statement(self, depth):
        pad, r = "    " * depth, self.rng.random()
        self.fuel -= 1
        if self.fuel < 0 or depth > 4 or r < 0.55:
            return [pad + self.simple()]
        if r < 0.62 and depth > 1:
            jump = self.rng.choice(["break", "continue"]) if self.loops and self.rng.random() < 0.75 else ""
            return [pad + (jump or f"return {self.scalar()}")]
        if r < 0.8:
            lines = [f"{pad}if {self.condition()}:", *self.block(depth + 1, 3)]
            return lines + ([f"{pad}else:", *self.block(depth + 1, 2)] if self.rng.random() < 0.5 else [])
        self.loops += 1
        head = f"for {self.rng.choice('ik')} in range({self.rng.choice(['3', '2', 'n', '4, 0, -1'])}):"
        if r < 0.92:
            lines = [pad + head, *self.block(depth + 1, 3)]
        else:
            test = f"while w{depth} < 3 and {self.condition()}:"
            lines = [f"{pad}w{depth} = 0", pad + test, f"{pad}    w{depth} += 1", *self.block(depth + 1, 3)]
        self.loops -= 1
        return lines

    def simple(self):
        element = f"{self.rng.choice('xy')}[{self.rng.randint(0, 2)}]"
        array = self.rng.choice([f"x * 0.5 + {self.scalar(1)}", "y - x * 0.25", "np.cos(x)", "x", "y", "z", "x + y"])
        scalars = [f"{name} = {self.scalar()}" for name in "stu"] + ["s, t = t, s", f"s += 0.5 * {self.scalar(1)}"]
        arrays = [
            f"{element} = {self.scalar()}",
            f"{self.rng.choice('xyz')} = {array}",
            "x, y = y, x",
            "x[1:] = y[:-1]",
        ]
        return self.rng.choice([*scalars, *arrays, "z[1] = s"])


ARGS = [
    (np.array([0.5, 1.5, 0.25]), np.array([2.0, -1.0, 0.75]), 0.7, 3),
    (np.array([-0.5, 0.15, 1.25]), np.array([0.1, 1.0, -0.75]), 0.2, 0),
]


def outcome(program, args):
    """What Python makes of the program: "unbound", or the returned value and the arrays."""
    try:
        returned, arrays = as_python_runs(program, *args)
    except NameError:
        return "unbound"
    return [returned, *arrays.values()]


@pytest.mark.parametrize("first", range(0, 150, 25))
def test_like_python(first, tmp_path):
    done = 0
    for seed in range(first, first + 25):
        text = Maker(seed).text()
        program = module_from(text, tmp_path).program
        for args in ARGS:
            expected = outcome(program, args)
            try:
                primal = parsed(program, *copy.deepcopy(args))
            except (AmbiguousArray, Rebound, UnboundVariable):
                continue
            try:
                found = checked_outputs(primal, *copy.deepcopy(args))
            except UnboundVariable:
                assert expected == "unbound", f"seed {seed}\n{text}"
                continue
            assert expected != "unbound", f"seed {seed}\n{text}"
            mine = [found["return"], found.get("x", args[0]), found.get("y", args[1])]
            for x, y in zip(mine, expected, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12, err_msg=f"seed {seed}\n{text}")
            done += 1
    assert done > 20
