"""How near an expression's value is to NumPy's, and how near it has to be."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from scripts.checking import random_like
from scripts.fuzzing.batches import alone, expressions_of, quiet
from scripts.fuzzing.case import Case
from scripts.fuzzing.themes import THEMES

# How often rounding is varied, and how many times as much as that a value may change.
MOVES, SPREADS = 4, 64
SINGLE = re.compile(r"\b[fF]\b|float32|complex64")


class Closeness:
    """Compares values of the expressions of a batch with NumPy's."""

    def __init__(self, case: Case) -> None:
        self.case, self.theme, self.expressions = case, THEMES[case.theme], expressions_of(case)

    def is_single(self, name: str) -> bool:
        """Whether something in an expression is in single precision."""
        return bool(SINGLE.search(self.expressions[name][0]))

    def problem(self, name: str, found: Any, expected: Any, args: tuple[Any, ...]) -> tuple[str, str] | None:
        """What is wrong with a value, as kind and detail."""
        found, told = np.asarray(found), f"{found!r}\nNumPy: {expected!r}"
        for what in ("shape", "dtype"):
            if getattr(found, what) != getattr(expected, what):
                return f"another {what}", told
        with quiet():
            is_right = (found == expected) | _both_nan(found, expected)
            if not is_right.all() and not self.expressions[name][1]:
                x, y = _parts(found), _parts(expected)
                bound = self._bound(name, y, args)
                is_right = (x == y) | (np.abs(x - y) <= bound) | (bound == np.inf) | (np.isnan(x) & np.isnan(y))
        return None if np.all(is_right) else ("wrong value", told)

    def _bound(self, name: str, expected: Any, args: tuple[Any, ...]) -> Any:
        """The largest error of each element that rounding explains."""
        rounding = np.finfo(np.float32 if self.is_single(name) else np.float64).eps
        size = np.where(np.isfinite(expected), np.abs(expected), 0.0)
        if self.theme.is_normwise:
            size = np.max(size, initial=0.0)
        bound = self.theme.roundings * rounding * size
        for seed in range(MOVES):
            moved = self._moved(name, args, 2 * rounding, seed)
            if moved.shape != expected.shape:
                return np.inf
            change = np.where((moved == expected) | _both_nan(moved, expected), 0.0, np.abs(moved - expected))
            bound = np.maximum(bound, SPREADS * np.where(np.isnan(change), np.inf, change))
        return bound

    def _moved(self, name: str, args: tuple[Any, ...], rounding: float, seed: int) -> Any:
        """What NumPy computes of arguments that are other ones by a rounding."""
        rng = np.random.default_rng(seed)
        moved = [_times(a, 1 + rounding * random_like(a, rng)) if np.asarray(a).dtype.kind in "fc" else a for a in args]
        module: dict[str, Any] = {}
        exec(alone(self.case, name).text, module)
        return _parts(module["program"](*moved)[0])


def _times(a: Any, factor: Any) -> Any:
    product = np.asarray(a * factor, np.asarray(a).dtype)
    return product if np.ndim(a) else float(product)


def _parts(value: Any) -> Any:
    """Real and imaginary parts, side by side."""
    wide = np.asarray(value, np.result_type(np.asarray(value).dtype, np.float64))
    return np.stack([wide.real, wide.imag])


def _both_nan(x: Any, y: Any) -> Any:
    return np.isnan(x) & np.isnan(y)
