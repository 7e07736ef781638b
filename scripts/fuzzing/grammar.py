"""From a seed a program: its arguments, its helpers, its statements and what it returns."""

from __future__ import annotations

import math
import random
import re

from scripts.fuzzing.case import Argument, Case
from scripts.fuzzing.expressions import Expressions
from scripts.fuzzing.scope import Counter, Scope, Shape
from scripts.fuzzing.statements import PAD, Statements

# Extents around those of vectors, as parts of rows of 3, 4, 8 and 16 elements do not fill vectors.
EXTENTS = (1, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 8, 9, 12, 16, 17)
TALL = 5000
HELPERS = (
    "def {0}(u, w):\n    return np.tanh(u) * w + 0.1 * u\n",
    "def {0}(u, w):\n    t = u * w\n    return 0.5 * t + np.sin(t)\n",
    "def {0}(u, w=0.3):\n    if np.ndim(u) > 0:\n        return 0.4 * (u + w)\n    return u * w\n",
)


def case_of_seed(seed: int) -> Case:
    """The program of a seed; equal seeds give equal programs."""
    return _Program(seed).case()


class _Program:
    def __init__(self, seed: int) -> None:
        self.seed, self.rng = seed, random.Random(seed)
        self.scope = Scope(self.rng)
        self.arguments: dict[str, Argument] = {}
        flavour = self.rng.random()
        self.is_complex, self.is_tall = flavour < 0.06, 0.06 <= flavour < 0.11
        self.dtype = "float32" if 0.11 <= flavour < 0.18 else "float64"
        self.is_grid, self.is_triangle = 0.18 <= flavour < 0.4, 0.4 <= flavour < 0.5

    def case(self) -> Case:
        self._declare()
        helpers = ["h0"] if self.rng.random() < 0.25 else []
        texts = [self.rng.choice(HELPERS).format(name) for name in helpers]
        make = Expressions(self.scope, helpers)
        fuel, stencils, runs = self.rng.randint(2, 7), 30 * self.is_grid, 20 * self.is_triangle
        statements = Statements(self.scope, make, fuel, stencils, runs)
        lines = self._start(make)
        for _ in range(self.rng.randint(1, 4)):
            lines += statements.statement()
        result, output = self._result(make, lines)
        head = f"def program({', '.join(self.arguments)}):"
        body = "\n".join(PAD + line for line in [*lines, *result])
        text = "\n\n".join(["import numpy as np\n", *texts, f"{head}\n{body}\n"])
        return Case(self.seed, text, self.arguments, output)

    def _declare(self) -> None:
        """The parameters: some arrays whose extents are shared, integers, masks."""
        shapes = self._shapes()
        for name in "xyz"[: self.rng.randint(1, 3)]:
            self._add(name, self.rng.choice(shapes))
        if self.is_complex:
            self.arguments["x"] = Argument("float", self.scope.arrays["x"], "complex128")
            self.scope.complexes.add("x")
        if self.rng.random() < 0.4:
            self.arguments["c"] = Argument("float")
            self.scope.scalars.append("c")
        if self.rng.random() < 0.35:
            kind = self.rng.choice(["index", "permutation"])
            extent = self.rng.choice([s[0] for s in self.scope.arrays.values()])
            length = extent if kind == "permutation" else self.rng.choice([extent, extent, max(1, extent - 1)])
            self.arguments["idx"] = Argument(kind, (length,), high=extent)
            self.scope.indices["idx"] = length, extent
        if self.rng.random() < 0.15:
            shape = self.rng.choice(list(self.scope.arrays.values()))
            self.arguments["mask"] = Argument("mask", shape)
            self.scope.masks["mask"] = shape
        self.arguments["n"] = Argument("trips", high=3)

    def _shapes(self) -> list[Shape]:
        """The shapes that arrays may have."""
        n, m, k = (self.rng.choice(EXTENTS) for _ in range(3))
        if self.is_grid:
            return [self.rng.choice([(n, m), (n, m), (m, m), (min(n, 7), min(m, 9), min(k, 9)), (k, k), (n + m,)])]
        if self.is_triangle:
            return [(m,), (m, m), (m, m)]
        if self.is_tall:
            n = TALL
        shapes: list[Shape] = [(n,), (n,), (n, m), (n, m), (m,), (m, n), (min(n, 5), m, m), (m, m)]
        if n * m * m <= 600 and self.rng.random() < 0.2:
            shapes += [(n, m, m), (n, m, m)]
        return [shape for shape in shapes if math.prod(shape) <= 4 * TALL]

    def _add(self, name: str, shape: Shape) -> None:
        self.arguments[name] = Argument("float", shape, self.dtype)
        self.scope.arrays[name] = shape

    def _start(self, make: Expressions) -> list[str]:
        """Copies of arguments, which the program changes, and the scalars that it carries."""
        lines = []
        for name in list(self.scope.arrays):
            if self.rng.random() < 0.4:
                new = self.scope.fresh("b")
                lines.append(f"{new} = {name} * {self.rng.choice(['1.0', '0.5', name])}")
                self.scope.arrays[new] = self.scope.arrays[name]
                self.scope.complexes |= {new} if name in self.scope.complexes else set()
        lines.append(f"s = {make.number()}")
        self.scope.scalars.append("s")
        if self.rng.random() < 0.3:
            lines.append(f"r = {make.number()}")
            self.scope.scalars.append("r")
        if self.rng.random() < 0.15:
            lines.append("m = 0")
            self.scope.counters.append(Counter("m", 0, 2))
        return lines

    def _result(self, make: Expressions, lines: list[str]) -> tuple[list[str], str]:
        """The last statements, and what is differentiated."""
        real = [n for n in self.scope.arrays if n not in self.scope.complexes]
        bound = {name for line in lines for name in re.findall(r"(\w+)(?=(?:, \w+)* = )", line)}
        updated = [n for n in real if n in self.arguments and n not in bound]
        if updated and self.rng.random() < 0.1:
            # A program that changes its argument and returns nothing.
            name = self.rng.choice(updated)
            return [f"{name}[:] = {name}[:] * 0.5 + s"], name
        name = self.rng.choice(list(self.scope.arrays))
        whole = [f"np.sum({n} * {n})" if n in real else f"np.sum(np.abs({n}) ** 2)" for n in self.scope.arrays]
        found = [f"np.sum({name} * {name})"] if name in real else [f"np.sum(np.abs({name}) ** 2)"]
        found += [f"{name} * s"] if name in real else []
        found += [f"{found[0]} + s", " + ".join([*whole, "s"]), f"np.sum({make.real((), 1)}) + s + {found[0]}"]
        return [f"return {self.rng.choice(found)}"], "return"
