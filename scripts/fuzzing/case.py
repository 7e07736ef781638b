"""A test case: the text of a program, and from what its arguments are drawn."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

_numbers = itertools.count()
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.0, np.inf, -np.inf, np.nan, 1e200, -1e200, 1e-200, 5e-324, 710.0, 2.0**53)
# Of special numbers among others.
SHARE = 0.4


@dataclass(frozen=True)
class Argument:
    """What a parameter is.

    Attributes:
        kind: "float" (an array or, with an empty shape, a number), "index" (an array of integers from -high to
            high - 1), "permutation" (of 0 ... high - 1), "mask" (an array of bool), "trips" (an integer, 0 ... high),
            "special" (as "float", but in every other draw with numbers among them at which functions are special),
            "integer" (an array, in every other draw with the largest and smallest integers of its dtype).
        shape: of an array.
        dtype: of floating numbers, and of "integer".
        high: bounds integers.
    """

    kind: str
    shape: tuple[int, ...] = ()
    dtype: str = "float64"
    high: int = 0

    def drawn(self, rng: np.random.Generator, draw: int = 0) -> Any:
        """A value; those of odd draws have no special numbers."""
        if self.kind == "trips":
            return int(rng.integers(0, self.high + 1))
        if self.kind == "index":
            return rng.integers(-self.high, self.high, self.shape)
        if self.kind == "permutation":
            return rng.permutation(self.high)
        if self.kind == "mask":
            return rng.random(self.shape) < 0.5
        if self.kind == "integer":
            return self._integers(rng, draw)
        value = rng.uniform(-1.2, 1.2, self.shape)
        if np.dtype(self.dtype).kind == "c":
            value = value + 1j * rng.uniform(-1.2, 1.2, self.shape)
        if self.kind == "special" and draw % 2 == 0:
            value = np.where(rng.random(self.shape) < SHARE, rng.choice(SPECIAL, self.shape), value)
        with np.errstate(over="ignore"):
            return np.asarray(value, self.dtype) if self.shape else float(value)

    def _integers(self, rng: np.random.Generator, draw: int) -> Any:
        limits = np.iinfo(self.dtype)
        small = rng.integers(max(limits.min, -9), 10, self.shape)
        extreme = rng.choice([limits.min, limits.min + 1, limits.max // 2, limits.max], self.shape)
        return np.where((rng.random(self.shape) < SHARE) & (draw % 2 == 0), extreme, small).astype(self.dtype)

    @property
    def is_floating(self) -> bool:
        return self.kind in ("float", "special")


@dataclass(frozen=True)
class Case:
    """A program, named by its seed.

    Attributes:
        text: a module with a function `program`.
        output: what is differentiated: "return", or the name of an argument that the program updates.
        theme: of the expressions, if the program is a batch of these (`scripts/fuzzing/batches.py`), or its subject, if
            it is of Python's constructs (`scripts/fuzzing/language`).
    """

    seed: int
    text: str
    arguments: dict[str, Argument]
    output: str = "return"
    theme: str = ""

    def drawn(self, draw: int) -> tuple[Any, ...]:
        """The arguments with a number: equal numbers give equal arguments."""
        return tuple(
            argument.drawn(np.random.default_rng([self.seed, draw, place]), draw)
            for place, argument in enumerate(self.arguments.values())
        )

    @property
    def is_single(self) -> bool:
        """Whether something is in single precision."""
        return any(np.dtype(a.dtype) in (np.float32, np.complex64) for a in self.arguments.values())

    def with_text(self, text: str) -> Case:
        return replace(self, text=text)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


def case_of(found: dict[str, Any]) -> Case:
    """What `Case.as_dict` gave."""
    arguments = {n: Argument(**{**a, "shape": tuple(a["shape"])}) for n, a in found["arguments"].items()}
    return Case(**{**found, "arguments": arguments})


def function_of(case: Case, folder: Path) -> Callable[..., Any]:
    """The program, from a new file in a folder."""
    name = f"fuzzed_{case.seed}_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(case.text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.program
