"""What a case of the table is, and how one line of it becomes many: every shape, layout and dtype.

A line is written as ``add("np.sum(x, axis=0)", x="2x3 | 4x2 transposed")``. `x` says what the argument is: its shape
(``2x3``; ``()`` has no dimensions, ``0`` is empty), from which numbers it is drawn (a name in `DOMAINS`), and how it
lies in memory (a name in `LAYOUTS`). Alternatives are separated by ``|``; those of several arguments belong together,
one by one. An argument that is no text is passed as it is and not differentiated: an index, a mask, a length.
"""

from __future__ import annotations

import copy
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

DTYPES = {"d": np.dtype(np.float64), "f": np.dtype(np.float32), "c": np.dtype(np.complex128)}


# --- numbers, away from kinks


def _between(low: float, high: float) -> Callable[..., np.ndarray]:
    return lambda rng, shape: rng.uniform(low, high, shape)


def _around(step: float, offset: float, wide: float) -> Callable[..., np.ndarray]:
    """Numbers near ``offset + k * step``, at most `wide` away."""
    return lambda rng, shape: offset + step * rng.integers(-2, 3, shape) + rng.uniform(-wide, wide, shape)


def _distinct(rng: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers at least 0.1 apart from each other."""
    count = int(np.prod(shape))
    return (0.3 * (rng.permutation(count) - count / 2) + rng.uniform(0.05, 0.25, count)).reshape(shape)


def _rising(rng: Any, shape: tuple[int, ...]) -> np.ndarray:
    return np.cumsum(rng.uniform(0.3, 1.0, shape), axis=-1)


def _square(rng: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Well-conditioned square matrices."""
    return rng.uniform(-1, 1, shape) + 2.0 * np.eye(*shape[-2:])


DOMAINS: dict[str, Callable[..., np.ndarray]] = {
    "any": _between(-2.0, 2.0),
    "positive": _between(0.3, 2.5),
    "unit": _between(-0.9, 0.9),
    "inner": _between(0.25, 0.85),
    "narrow": _between(-0.25, 0.25),
    "small": _between(0.05, 0.2),
    "below1": _between(0.4, 0.8),
    "shifted": _between(0.3, 0.9),
    "above1": _between(1.2, 3.0),
    "nonzero": lambda rng, shape: rng.uniform(0.3, 2.0, shape) * rng.choice([-1.0, 1.0], shape),
    "nonint": _around(1.0, 0.5, 0.3),
    "nonhalf": _around(1.0, 0.0, 0.3),
    "even": _around(0.8, 0.0, 0.1),
    "odd": _around(0.8, 0.4, 0.1),
    "distinct": _distinct,
    "rising": _rising,
    "square": _square,
}


# --- layouts: how the argument lies in memory, or what the program does with it before it uses it


def _strided(x: np.ndarray) -> np.ndarray:
    big = np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan, x.dtype)
    big[..., ::2] = x
    return big[..., ::2]


def _twice(x: np.ndarray) -> np.ndarray:
    return np.repeat(x, 2, axis=0)


LAYOUTS: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "plain": (lambda x: x, "{}"),
    "strided": (_strided, "{}"),
    "transposed": (lambda x: np.ascontiguousarray(x.T).T, "{}"),
    "reversed": (lambda x: np.ascontiguousarray(x[::-1])[::-1], "{}"),
    "scalar": (lambda x: x[()], "{}"),
    "float": (lambda x: x.item(), "{}"),
    ".T": (lambda x: np.ascontiguousarray(x.T), "{}.T"),
    "[::2]": (_twice, "{}[::2]"),
    "[::-1]": (lambda x: np.ascontiguousarray(x[::-1]), "{}[::-1]"),
}


@dataclass(frozen=True)
class Spec:
    """An argument that is drawn at random."""

    text: str

    @cached_property
    def words(self) -> list[str]:
        return self.text.split()

    def _of(self, table: Any, default: str) -> str:
        return next((word for word in self.words if word in table), default)

    @property
    def layout(self) -> str:
        return self._of(LAYOUTS, "plain")

    @property
    def shape(self) -> tuple[int, ...]:
        (word,) = (w for w in self.words if w not in LAYOUTS and w not in DOMAINS)
        return () if word == "()" else tuple(map(int, word.split("x")))

    @property
    def form(self) -> str:
        """What a program is told of it: its shape, whether it is a number, and what is done with it first."""
        kind = self.layout if self.layout in ("scalar", "float") else "array"
        return f"{kind} {self.shape} {LAYOUTS[self.layout][1]}"

    def draw(self, rng: Any, dtype: np.dtype, layout: bool = True) -> Any:
        sample = DOMAINS[self._of(DOMAINS, "any")]
        x = sample(rng, self.shape)
        if dtype.kind == "c":
            x = x + 1j * rng.uniform(0.3, 1.2, self.shape) * rng.choice([-1.0, 1.0], self.shape)
        return LAYOUTS[self.layout][0](np.asarray(x, dtype))


@dataclass(frozen=True, eq=False)
class Case:
    """One expression or body, at one shape, layout and dtype.

    Attributes:
        function: the name shown in the table.
        group: the section of the table.
        text: an expression, or the body of a function if it has several lines.
        label: what the test is called, without the dtype.
        specs: the arguments by name: a `Spec`, or a value.
        dtype: that of the drawn arguments.
        jax: the same in JAX; "" is the same text, None: JAX has no such thing.
        differences: whether central differences apply.
        tolerance: a factor of the tolerances, for what is badly conditioned.
    """

    function: str
    group: str
    text: str
    label: str
    specs: dict[str, Any] = field(hash=False)
    dtype: np.dtype
    jax: str | None = ""
    differences: bool = True
    tolerance: float = 1.0

    @property
    def id(self) -> str:
        return f"{self.label} {self.dtype}"

    @property
    def drawn(self) -> list[str]:
        """The names of the arguments that are differentiated."""
        return [name for name, spec in self.specs.items() if isinstance(spec, Spec)]

    @cached_property
    def form(self) -> tuple[str, ...]:
        """What a compiled program of it depends on: of arrays it is told the shape, not the numbers and the layout."""
        specs = [s.form if isinstance(s, Spec) else _described(s) for s in self.specs.values()]
        return self.text, str(self.dtype), *specs

    def arguments(self) -> dict[str, Any]:
        """New arguments, always the same."""
        rng = np.random.default_rng(zlib.crc32(self.label.encode()))
        return {n: s.draw(rng, self.dtype) if isinstance(s, Spec) else copy.deepcopy(s) for n, s in self.specs.items()}

    def source(self, name: str) -> str:
        """The function's definition, in NumPy."""
        return _definition(name, self.specs, self.text)

    def jax_source(self, name: str) -> str | None:
        return None if self.jax is None else _definition(name, self.specs, self.jax or self.text)


def _definition(name: str, specs: dict[str, Any], text: str) -> str:
    head = [f"def {name}({', '.join(specs)}):"]
    ways = {n: LAYOUTS[s.layout][1].format(n) for n, s in specs.items() if isinstance(s, Spec)}
    if "\n" in text or text.startswith("return "):
        head += [f"    {n} = {way}" for n, way in ways.items() if way != n]
        return "\n".join([*head, *("    " + line for line in text.strip("\n").split("\n"))]) + "\n"
    for n, way in ways.items():
        text = re.sub(rf"(?<![\w.]){n}\b(?!=[^=])", way, text)
    return "\n".join([*head, f"    return {text}"]) + "\n"


# --- tables

# Of the shapes and layouts of a line, one in so many is tested in the second and third dtype.
THINNED = 3
CASES: list[Case] = []
_labels: set[str] = set()


class Group:
    """A section of the table; calling it adds a line."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(
        self,
        text: str,
        *,
        function: str = "",
        dtypes: str = "df",
        label: str = "",
        jax: str | None = "",
        differences: bool = True,
        tolerance: float = 1.0,
        **arguments: Any,
    ) -> None:
        texts = {n: [w.strip() for w in s.split("|")] for n, s in arguments.items() if isinstance(s, str)}
        count = max([len(options) for options in texts.values()], default=1)
        assert all(len(options) in (1, count) for options in texts.values()), text
        for k in range(count):
            chosen = {n: options[k if len(options) > 1 else 0] for n, options in texts.items()}
            specs = {n: Spec(chosen[n]) if n in chosen else s for n, s in arguments.items()}
            where = ", ".join(f"{n}: {_described(s)}" for n, s in specs.items())
            full = f"{label or text} | {where}"
            assert full not in _labels, full
            _labels.add(full)
            for letter in dtypes:
                if letter != "d" and any("float" in s.split() for s in chosen.values()):
                    continue  # A Python float has one precision.
                if letter != dtypes[0] and count > THINNED and (k + len(_labels)) % THINNED:
                    continue  # Every shape and layout is there in one dtype, and each in all dtypes of some functions.
                # JAX compiles for every shape: one is enough where differences tell, too.
                reference = jax if k == 0 or not differences else None
                CASES.append(
                    Case(
                        function or function_of(text),
                        *(self.name, text, full, specs, DTYPES[letter]),
                        *(reference, differences, tolerance),
                    )
                )


def _described(spec: Any) -> str:
    if isinstance(spec, Spec):
        return spec.text
    return str(spec.tolist()) if isinstance(spec, np.ndarray) else repr(spec)


def function_of(text: str) -> str:
    """The function that an expression is about: the first one it calls."""
    found = re.match(r"(np|math|special|stats|ndimage|signal|integrate|interpolate|linalg|fft)\.[\w.]+", text)
    if found:
        return found[0] if found[1] in ("np", "math") else f"scipy.{found[0]}"
    method = re.match(r"x\.(\w+)", text)
    assert method, f"{text} needs function="
    return f"ndarray.{method[1]}"
