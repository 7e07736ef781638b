"""Random expressions of a wanted shape."""

from __future__ import annotations

from scripts.fuzzing.idioms import Idioms
from scripts.fuzzing.scope import Scope, Shape

# {0} is a real operand of the wanted shape. All are smooth on every real number.
SMOOTH = (
    "np.sin({0})",
    "np.cos({0})",
    "np.tanh({0})",
    "np.exp(0.3 * {0})",
    "np.sqrt(1.2 + {0} ** 2)",
    "np.log(1.5 + {0} * {0})",
    "1.0 / (1.5 + {0} ** 2)",
    "np.arctan({0})",
    "({0}) ** 2",
    "({0}) ** 3",
    "-({0})",
    "0.5 * ({0})",
)
KINKED = ("np.abs({0})", "np.maximum({0}, {1})", "np.minimum({0}, 0.4)", "np.clip({0}, -0.7, 0.8)")
BINARY = (
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "({0}) * ({1})",
    "0.4 * ({0}) - 0.3 * ({1})",
    "({0}) / (1.5 + ({1}) ** 2)",
    "np.where({1} > 0.1, {0}, 0.5 * ({1}))",
    "np.hypot({0}, 1.0 + {1} ** 2)",
)
COMPLEX = (
    "({0}) * ({1})",
    "{0} + {1}",
    "0.5 * ({0}) - {1}",
    "np.conj({0})",
    "np.sin({0})",
    "np.exp(0.3 * ({0}))",
    "({0}) * 0.5j",
    "({0}) / (1.5 + np.abs({1}) ** 2)",
)
CONSTANTS = ("0.3", "0.5", "1.1", "-0.7", "2.0", "1")


class Expressions:
    """Makes expressions over the names of a scope."""

    def __init__(self, scope: Scope, helpers: list[str]) -> None:
        self.scope, self.rng, self.helpers = scope, scope.rng, helpers
        self.idioms = Idioms(scope, self)

    def real(self, shape: Shape, depth: int = 2) -> str:
        """A real expression that broadcasts to a shape."""
        r = self.rng.random()
        if depth <= 0 or r < 0.12:
            return self.leaf(shape)
        if r < 0.35:
            return self._filled(self.rng.choice(SMOOTH), shape, depth)
        if r < 0.41:
            return self._filled(self.rng.choice(KINKED), shape, depth)
        if r < 0.55 and (found := self.contracted(shape, depth)):
            return found
        if r < 0.63 and (found := self.gathered(shape)):
            return found
        if r < 0.68 and self.helpers:
            return f"{self.rng.choice(self.helpers)}({self.real(shape, depth - 1)}, {self.leaf(shape)})"
        if r < 0.82 and (found := self.idioms.expression(shape, depth - 1)):
            return found
        return self._filled(self.rng.choice(BINARY), shape, depth)

    def small(self, shape: Shape, depth: int = 2) -> str:
        """A real expression that is not large, whatever its operands are: for values that feed themselves."""
        inner = self.real(shape, depth)
        return self.rng.choice([f"np.tanh({inner})", f"0.3 * ({inner})", f"np.sin({inner})", f"0.5 * ({inner})"])

    def complex(self, shape: Shape, depth: int = 2) -> str:
        """A complex expression."""
        if depth <= 0:
            return self._of_some(self._complex_names(), shape) or "(0.3 + 0.2j)"
        r = self.rng.random()
        if r < 0.15:
            return f"({self.real(shape, depth - 1)}) * (0.5 + 0.3j)"
        if r < 0.3 and len(shape) < 2 and (found := self._complex_sum(shape)):
            return found
        template = self.rng.choice(COMPLEX)
        return template.format(self.complex(shape, depth - 1), self.complex(shape, depth - 1))

    def _complex_sum(self, shape: Shape) -> str | None:
        """A sum or a product of complex numbers with real or complex ones."""
        extent = self.rng.choice(sorted({extent for s in self.scope.arrays.values() for extent in s}))
        others = self._complex_names() if self.rng.random() < 0.5 else self._real_names()
        left, right = self._of_some(others, (*shape, extent)), self._of_some(self._complex_names(), (extent,))
        if left is None or right is None:
            return None
        sums = [
            f"0.4 * ({left} @ {right})",
            f"0.4 * np.sum({left} * {right}, axis=-1)",
            f"0.4 * np.dot({left}, {right})",
        ]
        return self.rng.choice(sums)

    def _filled(self, template: str, shape: Shape, depth: int) -> str:
        first, second = self.real(shape, depth - 1), self.real(shape, depth - 2)
        return template.format(f"({first})" if " " in first and template.startswith("{0}") else first, f"({second})")

    # --- leaves

    def leaf(self, shape: Shape) -> str:
        """A part of a variable that broadcasts to a shape, or a number."""
        r = self.rng.random()
        if not shape:
            return self.number()
        if r < 0.15:
            return self.number()
        if r < 0.3 and len(shape) > 1:
            return self._broadcast(shape)
        return self._of_some(self._real_names(), shape) or self._imaginary(shape) or self.number()

    def number(self) -> str:
        """A real scalar."""
        r = self.rng.random()
        if r < 0.2:
            return self.rng.choice(CONSTANTS)
        if r < 0.45 and self.scope.scalars:
            return self.rng.choice(self.scope.scalars)
        if r < 0.5 and self.scope.counters:
            return f"0.1 * {self.rng.choice(self.scope.counters).name}"
        return self._of_some(self._real_names(), ()) or self.rng.choice(CONSTANTS)

    def whole(self, shape: Shape) -> str | None:
        """A part of a real array that has a shape."""
        return self._of_some(self._real_names(), shape)

    def _real_names(self) -> list[str]:
        return [name for name in self.scope.arrays if name not in self.scope.complexes]

    def _complex_names(self) -> list[str]:
        return [name for name in self.scope.arrays if name in self.scope.complexes]

    def _imaginary(self, shape: Shape) -> str | None:
        found = self._of_some(self._complex_names(), shape)
        return found and self.rng.choice([f"{found}.real", f"np.abs({found}) ** 2", f"{found}.imag"])

    def _of_some(self, names: list[str], shape: Shape) -> str | None:
        parts = [part for name in names if (part := self.scope.part(name, shape)) is not None]
        return self.rng.choice(parts) if parts else None

    def _broadcast(self, shape: Shape) -> str:
        if self.rng.random() < 0.5:
            return self.leaf(shape[1:])
        column = self._of_some(self._real_names(), shape[:1])
        return self.number() if column is None else f"{column}[:, {', '.join(['None'] * (len(shape) - 1))}]"

    # --- sums, products, selections

    def contracted(self, shape: Shape, depth: int) -> str | None:
        """A reduction or a product that has a shape."""
        if len(shape) > 2:
            return None
        extents = sorted({extent for s in self.scope.arrays.values() for extent in s})
        extent = self.rng.choice(extents) if extents else 3
        reduction = self.rng.choice(["sum", "sum", "mean", "max", "min", "prod"])
        if not shape:
            return self._number_of(extent, reduction, depth)
        whole, axis = self.rng.choice([((extent, *shape), 0), ((*shape, extent), len(shape)), ((*shape, extent), -1)])
        if self.rng.random() < 0.5:
            operand = self._of_some(self._real_names(), whole)
            return operand and f"np.{reduction}({operand}, axis={axis})"
        return self._product(shape, extent)

    def _number_of(self, extent: int, reduction: str, depth: int) -> str | None:
        operands = [self._of_some(self._real_names(), (extent,)) for _ in range(2)]
        if None in operands:
            return None
        a, b = operands
        return self.rng.choice(
            [
                f"np.sum({a} * {b})",
                f"np.dot({a}, {b})",
                f"{a} @ {b}",
                f"np.{reduction}({a})",
                f"np.{reduction}({self.real((extent,), depth - 1)} * {b})",
                f"({a}).sum()",
            ]
        )

    def _product(self, shape: Shape, extent: int) -> str | None:
        names = self._real_names()
        if len(shape) == 2:
            left, right = self._of_some(names, (shape[0], extent)), self._of_some(names, (extent, shape[1]))
        elif self.rng.random() < 0.5:
            left, right = self._of_some(names, (*shape, extent)), self._of_some(names, (extent,))
        else:
            left, right = self._of_some(names, (extent,)), self._of_some(names, (extent, *shape))
        return None if left is None or right is None else f"0.4 * ({left} @ {right})"

    def gathered(self, shape: Shape) -> str | None:
        """An array whose elements another order, or a choice, brings to a shape."""
        if not shape:
            return None
        found = [f"{name}[{k}]" for k, name in self._indexed(shape)]
        same = [n for n in self._real_names() if self.scope.arrays[n] == shape]
        found += [f"np.where({mask}, {self.leaf(shape)}, {n})" for mask, s in self.scope.masks.items()
                  if s == shape for n in same]  # fmt: skip
        turned = [n for n in self._real_names() if len(shape) == 2 and self.scope.arrays[n] == shape[::-1]]
        found += [f"{name}.T" for name in turned]
        found += [f"np.{f}({n})" for n in same for f in ("flip", "cumsum") if f == "flip" or len(shape) == 1]
        found += [f"np.roll({n}, {self.rng.randint(-2, 2)}, axis=0)" for n in same]
        return self.rng.choice(found) if found else None

    def _indexed(self, shape: Shape) -> list[tuple[str, str]]:
        return [
            (index, name)
            for index, (length, reach) in self.scope.indices.items()
            for name in self._real_names()
            if (length, *self.scope.arrays[name][1:]) == shape and self.scope.arrays[name][0] >= reach
        ]

    def test(self) -> str:
        """A condition."""
        found = [f"{self.number()} > {self.rng.choice(['0.1', '-0.2', '0.45'])}"]
        found += [f"{self.number()} < {self.number()} + 0.013"]
        for c in self.scope.counters:
            found += [f"{c.name} % 2 == 0", f"{c.name} > {self.rng.randint(c.low, max(c.low, c.high))}"]
            found += [f"{c.name} == {self.rng.randint(c.low, max(c.low, c.high))}"]
        first = self.rng.choice(found)
        r = self.rng.random()
        if r < 0.12:
            return f"{first} and {self.rng.choice(found)}"
        if r < 0.2:
            return f"{first} or not {self.rng.choice(found)}"
        return first
