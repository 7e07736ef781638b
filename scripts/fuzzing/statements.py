"""Random statements: assignments, updates in place, views, loops, branches."""

from __future__ import annotations

import math
from collections.abc import Callable

from scripts.fuzzing.expressions import Expressions
from scripts.fuzzing.scope import Counter, Scope, Shape

Lines = list[str]
PAD = "    "
# A loop in a loop over a long array takes NumPy minutes.
LONGEST_INNER = 40


class Statements:
    """Makes statements over the names of a scope, as long as the fuel lasts.

    Args:
        stencils, runs: how much more often there are updates by neighbours, and parts as long as a counter.
    """

    def __init__(self, scope: Scope, expressions: Expressions, fuel: int, stencils: int = 0, runs: int = 0) -> None:
        self.scope, self.rng, self.make, self.fuel = scope, scope.rng, expressions, fuel
        self.stencils, self.runs = stencils, runs
        self.depth = 0

    def statement(self) -> Lines:
        """One statement, which may hold others."""
        self.fuel -= 1
        r = self.rng.random()
        if self.fuel > 0 and self.depth < 3:
            if r < 0.3:
                return self.loop()
            if r < 0.36:
                return self.branch()
            if r < 0.39 and self.depth < 2:
                return self.while_loop()
        return self.simple()

    def block(self, most: int) -> Lines:
        """Some statements, indented, that bind nothing for what follows."""
        self.depth += 1
        with self.scope.inner():
            lines = [line for _ in range(self.rng.randint(1, most)) for line in self.statement()]
        self.depth -= 1
        return [PAD + line for line in lines]

    # --- control

    def loop(self) -> Lines:
        """A `for` loop."""
        r = self.rng.random()
        if r < 0.08:
            return self._over_array()
        name = self.scope.fresh(self.rng.choice("ijkt"))
        text, low, high = self._triangle() if self.scope.counters and r < 0.4 else self._range()
        head = f"for {name} in range({text}):"
        self.scope.counters.append(Counter(name, low, high))
        body = self.block(3)
        if self.rng.random() < 0.08:
            jump = self.rng.choice(["break", "continue", "break"])
            lines = [f"{PAD}if {self.make.test()}:", f"{PAD * 2}{jump}"]
            body = lines + body if self.rng.random() < 0.5 else body + lines
        self.scope.counters = [c for c in self.scope.counters if c.name != name]
        return [head, *body]

    def _range(self) -> tuple[str, int, int]:
        """The arguments of `range`, and bounds of what it yields."""
        extents = sorted({extent for shape in self.scope.arrays.values() for extent in shape})
        e = min(self.rng.choice(extents), 18)
        a, b = sorted((self.rng.randint(0, e), self.rng.randint(0, e)))
        step = self.rng.choice([2, 2, 3])
        return self.rng.choice(
            [
                ("n", 0, 4),
                ("n", 0, 4),
                ("1, n + 1", 1, 5),
                ("n, 0, -1", 1, 4),
                ("n - 1, -1, -1", 0, 3),
                (f"0, n, {step}", 0, 3),
                (f"{e}", 0, e - 1),
                (f"{e}", 0, e - 1),
                (f"1, {e}", 1, max(1, e - 1)),
                (f"{e - 1}", 0, max(0, e - 2)),
                (f"{e - 1}, -1, -1", 0, e - 1),
                (f"{e - 2}, 0, -1", 1, max(1, e - 2)),
                (f"{e - 1}, -1, -{step}", 0, e - 1),
                (f"0, {e}, {step}", 0, e - 1),
                (f"{a}, {b}", a, max(a, b - 1)),
                (f"{b}, {a}", b, b),
                (f"{b}, {a}, -1", a + 1, max(b, a + 1)),
                (f"-{e}, 0", -e, -1),
                (f"-1, -{e + 1}, -{step}", -e, -1),
            ]
        )

    def _triangle(self) -> tuple[str, int, int]:
        """A range that depends on the counter of a loop around it."""
        c = self.rng.choice(self.scope.counters)
        if c.low < 0:
            return "n", 0, 4
        high = max(c.high, 1)
        return self.rng.choice(
            [
                (c.name, 0, max(0, high - 1)),
                (f"{c.name} + 1", 0, high),
                (f"{c.name}, {high + 1}", c.low, high),
                (f"{c.name} + 1, {high + 1}", c.low, high),
                (f"{c.name}, -1, -1", 0, high),
                (f"{high}, {c.name}, -1", c.low, high),
                (f"{c.name} % 3", 0, 1),
                (f"{c.name}, {high + 1}, 2", c.low, high),
                (f"0, {c.name}, 2", 0, max(0, high - 1)),
            ]
        )

    def _over_array(self) -> Lines:
        most = LONGEST_INNER if self.depth else math.inf
        real = {n: shape for n, shape in self.scope.arrays.items() if n not in self.scope.complexes}
        vectors = [n for n, shape in real.items() if len(shape) == 1 and shape[0] <= most]
        if not vectors:
            return self.simple()
        source, name = self.rng.choice(vectors), self.scope.fresh("q")
        length = self.scope.arrays[source][0]
        if self.rng.random() < 0.5:
            head, counter = f"for {name} in {source}:", None
        else:
            counter = Counter(self.scope.fresh("e"), 0, length - 1)
            head = f"for {counter.name}, {name} in enumerate({source}):"
            self.scope.counters.append(counter)
        self.scope.scalars.append(name)
        # What is looped over is not changed meanwhile.
        shape = self.scope.arrays.pop(source)
        body = self.block(2) if self.scope.arrays else [f"{PAD}s = 0.5 * s + {name}"]
        self.scope.arrays[source] = shape
        self.scope.scalars.remove(name)
        self.scope.counters = [c for c in self.scope.counters if c is not counter]
        return [head, *body]

    def branch(self) -> Lines:
        """An `if`, perhaps with `elif` and `else`."""
        lines = [f"if {self.make.test()}:", *self.block(2)]
        if self.rng.random() < 0.2:
            lines += [f"elif {self.make.test()}:", *self.block(2)]
        if self.rng.random() < 0.5:
            lines += ["else:", *self.block(2)]
        return lines

    def while_loop(self) -> Lines:
        """A `while` that ends."""
        name = self.scope.fresh("w")
        trips = self.rng.choice(["3", "n", "4"])
        # What is counted is no counter of the others: it is changed in the block.
        self.scope.counters.append(Counter(name, 1, 4))
        test = f" and ({self.make.test()})" if self.rng.random() < 0.6 else ""
        body = self.block(2)
        self.scope.counters = [c for c in self.scope.counters if c.name != name]
        return [f"{name} = 0", f"while {name} < {trips}{test}:", f"{PAD}{name} += 1", *body]

    # --- statements without a block

    def simple(self) -> Lines:
        """One statement without a block."""
        kinds: dict[Callable[[], Lines | None], int] = {
            self.new_array: 5,
            self.rebound: 4,
            self.part_update: 10,
            self.element_update: 5,
            self.stencil: 4 + self.stencils,
            self.scalar: 4,
            self.view: 4,
            self.masked: 2,
            self.scattered: 3,
            self.swapped: 1,
            self.integer: 1,
            self.running: 2 + self.runs,
            self.make.idioms.update: 5,
        }
        while True:
            (found,) = self.rng.choices([*kinds], [*kinds.values()])
            if lines := found():
                return lines

    def _target(self) -> str:
        return self.rng.choice(list(self.scope.arrays))

    def value(self, name: str, shape: Shape, *, small: bool = True) -> str:
        """A value for an array."""
        if name in self.scope.complexes:
            return f"0.5 * ({self.make.complex(shape)})"
        return self.make.small(shape) if small else self.make.real(shape)

    def new_array(self) -> Lines:
        like = self._target()
        shape, name = self.scope.arrays[like], self.scope.fresh("a")
        r = self.rng.random()
        if r < 0.3:
            lines = [f"{name} = {self.rng.choice(['np.zeros_like', 'np.ones_like', 'np.empty_like'])}({like})"]
            lines += [f"{name}[:] = {self.value(like, shape)}"] if "empty" in lines[0] else []
        elif r < 0.5 and like not in self.scope.complexes:
            shape = tuple(max(1, extent + self.rng.randint(-1, 2)) for extent in shape)
            lines = [f"{name} = np.zeros({shape}, {like}.dtype)"]
        else:
            lines = [f"{name} = {like} * {self.make.leaf(shape)}"]
        self.scope.arrays[name] = shape
        self.scope.complexes |= {name} if like in self.scope.complexes else set()
        return lines

    def rebound(self) -> Lines:
        name = self._target()
        shape = self.scope.arrays[name]
        whole = self.value(name, shape)
        return [f"{name} = {whole} + 0.0 * {name}" if self.rng.random() < 0.8 else f"{name} = 0.5 * {name} + {whole}"]

    def part_update(self) -> Lines:
        name = self._target()
        part, shape = self.scope.some_part(name)
        if not shape and "[" not in part:
            return self.scalar()
        place = part if "[" in part else f"{part}[:]"
        sign = self.rng.choice(["=", "=", "+=", "+=", "-=", "*=", "/="])
        if sign == "/=":
            return [f"{place} /= 1.5 + ({self.make.real(shape, 1)}) ** 2"]
        if sign == "*=" and name not in self.scope.complexes:
            return [f"{place} *= {self.rng.choice(['0.5', self.make.small(shape, 1)])}"]
        return [f"{place if self.rng.random() < 0.9 or sign == '=' else part} {sign} {self.value(name, shape)}"]

    def element_update(self) -> Lines:
        name = self._target()
        indices = ", ".join(self.scope.index(extent) for extent in self.scope.arrays[name])
        sign = self.rng.choice(["=", "=", "+=", "-=", "*="])
        return [f"{name}[{indices}] {sign} {self.value(name, ())}"]

    def stencil(self) -> Lines | None:
        """An update of the inside of an array by neighbours."""
        name = self._target()
        shape = self.scope.arrays[name]
        others = [n for n, s in self.scope.arrays.items() if s == shape and n not in self.scope.complexes]
        if name in self.scope.complexes or min(shape) < 3:
            return None
        inside = [f"1:{self.rng.choice(['-1', str(extent - 1)])}" for extent in shape]
        terms = []
        for _ in range(self.rng.randint(1, 4)):
            places = [*inside]
            axis = self.rng.randrange(len(shape))
            places[axis] = self.rng.choice(["2:", ":-2", "1:-1"])
            terms.append(f"{self.rng.choice(['0.2', '0.3', '-0.1'])} * {self.rng.choice(others)}[{', '.join(places)}]")
        inner = " + ".join(terms)
        factor = f"{self.rng.choice(others)}[{', '.join(inside)}]"
        body = self.rng.choice(
            [inner, f"{factor} * ({inner})", f"np.sin({inner})", f"({inner}) * {self.make.number()}"]
        )
        return [f"{name}[{', '.join(inside)}] {self.rng.choice(['=', '+='])} {body}"]

    def scalar(self) -> Lines:
        name = self.rng.choice([s for s in self.scope.scalars if s in "sr"] or ["s"])
        old = self.rng.choice(["", f"0.5 * {name} + ", f"{name} * "])
        return [f"{name} = {old}{self.make.small((), 2)}"]

    def view(self) -> Lines | None:
        """An alias of a part, which is updated: the array that it is a part of changes."""
        source = self._target()
        part, shape = self.scope.some_part(source)
        if not shape or "[" not in part:
            whole = self.scope.arrays[source]
            turned, flat = (f"{source}.T", whole[::-1]), (f"{source}.reshape(-1)", (math.prod(whole),))
            part, shape = self.rng.choice([turned, flat, (source, whole)])
        name = self.scope.fresh("v")
        is_complex = source in self.scope.complexes
        self.scope.arrays[name] = shape
        self.scope.complexes |= {name} if is_complex else set()
        update, wanted = self.scope.some_part(name)
        place = update if "[" in update else f"{update}[:]"
        lines = [f"{name} = {part}", f"{place} {self.rng.choice(['=', '+=', '*='])} {self.value(name, wanted)}"]
        if self.rng.random() < 0.5:
            del self.scope.arrays[name]
            self.scope.complexes.discard(name)
        return lines

    def masked(self) -> Lines | None:
        """An update where a mask holds."""
        name = self._target()
        if name in self.scope.complexes:
            return None
        shape = self.scope.arrays[name]
        fitting = [mask for mask, s in self.scope.masks.items() if s == shape]
        mask = self.rng.choice([*fitting, f"{name} > {self.rng.choice(['0.2', '-0.3'])}"])
        others = [n for n, s in self.scope.arrays.items() if s == shape and n not in self.scope.complexes]
        return [
            self.rng.choice(
                [
                    f"{name}[{mask}] = {self.make.number()}",
                    f"{name}[{mask}] *= 0.5",
                    f"{name}[{mask}] += {self.make.number()}",
                    f"{name}[{mask}] = 0.5 * {self.rng.choice(others)}[{mask}]",
                ]
            )
        ]

    def scattered(self) -> Lines | None:
        """A write through an integer array."""
        found = [
            (index, length, name)
            for index, (length, reach) in self.scope.indices.items()
            for name, shape in self.scope.arrays.items()
            if shape[0] >= reach and name not in self.scope.complexes
        ]
        if not found:
            return None
        index, length, name = self.rng.choice(found)
        value = self.make.small((length, *self.scope.arrays[name][1:]), 1)
        if self.rng.random() < 0.35:
            return [f"np.add.at({name}, {index}, {value})"]
        return [f"{name}[{index}] {self.rng.choice(['=', '+=', '*='])} {value}"]

    def swapped(self) -> Lines | None:
        name = self._target()
        others = [n for n, s in self.scope.arrays.items() if s == self.scope.arrays[name] and n != name]
        others = [n for n in others if (n in self.scope.complexes) == (name in self.scope.complexes)]
        if not others:
            return None
        other = self.rng.choice(others)
        return [f"{name}, {other} = {other}, {name}"]

    def integer(self) -> Lines:
        """An integer that a loop carries."""
        known = [c for c in self.scope.counters if c.name == "m"]
        return [f"m = (m + {self.rng.randint(1, 3)}) % {known[0].high + 1}"] if known else self.scalar()

    def running(self) -> Lines | None:
        """A part whose length is a counter: leading, trailing or in between."""
        counters = [c for c in self.scope.counters if c.low >= 0 and c.name != "m"]
        real = {n: shape for n, shape in self.scope.arrays.items() if n not in self.scope.complexes}
        if not counters or not real:
            return None
        c, name = self.rng.choice(counters), self.rng.choice(list(real))
        extent = real[name][-1]
        if extent <= c.high:
            return None
        part = self.rng.choice([f":{c.name}", f"{c.name}:", f"{c.name}::2", f":{c.name} + 1", f"-{c.name} - 1:"])
        fitting = [n for n, shape in real.items() if shape[-1] == extent]
        target, a, b = (self._last_axis(n, part) for n in (name, self.rng.choice(fitting), self.rng.choice(fitting)))
        return [
            self.rng.choice(
                [
                    f"{target} += 0.3 * {a} * {b}",
                    f"s = 0.5 * s + np.sum({a} * {b})",
                    f"{self._last_axis(name, c.name)} = 0.3 * np.dot({a}, {b})",
                    f"{self._last_axis(name, c.name)} -= 0.2 * ({a} @ {b})",
                    f"{target} *= 0.7",
                ]
            )
        ]

    def _last_axis(self, name: str, part: str) -> str:
        """A part of the last axis of an array, at some place of the others."""
        places = [self.scope.index(extent) for extent in self.scope.arrays[name][:-1]]
        return f"{name}[{', '.join([*places, part])}]"
