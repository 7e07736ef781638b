"""What NumPy computes, and directional derivatives of that by differences."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from scripts.checking import inner, random_like
from scripts.fuzzing.case import Case

# Steps of central differences; each is extrapolated with the one that is half as long.
STEPS = tuple(1e-3 / 2**k for k in range(8))
FIRST = 3
LARGEST = 1e6
# How exact a clear derivative is, relative to its size.
CLEAR = 1e-7
# A step like rounding. Where the output changes by more than this part of itself, and not in proportion to the step,
# nothing can be compared.
TINY = 1e-12
CHAOS = 1e-3
EPSILON = np.finfo(np.float64).eps


class Rejected(Exception):
    """NumPy does not compute a moderate finite number; nothing can be compared."""


def value_of(
    function: Callable[..., Any], case: Case, args: tuple[Any, ...], infinite: Literal["ignore", "raise"] = "ignore"
) -> Any:
    """The output that NumPy computes; the arguments are left alone."""
    values = copy.deepcopy(args)
    with np.errstate(all="ignore", over=infinite, invalid=infinite), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        returned = function(*values)
    output = returned if case.output == "return" else values[list(case.arguments).index(case.output)]
    return np.array(output)


def moderate_value(function: Callable[..., Any], case: Case, args: tuple[Any, ...]) -> Any:
    """The output.

    Raises:
        Rejected: it is not finite, or large, or something on the way to it overflows or is not a number: of what is
            infinite and the output does not depend on, the derivative is NaN (ADR 19).
    """
    try:
        value = value_of(function, case, args, infinite="raise")
    except FloatingPointError:
        raise Rejected from None
    if not np.isfinite(value).all() or np.max(np.abs(value), initial=0) > LARGEST:
        raise Rejected
    return value


def is_chaotic(function: Callable[..., Any], case: Case, args: tuple[Any, ...]) -> bool:
    """Whether a change like rounding has grown to the size of the output, which may have shrunk since."""
    line = Line(function, case, args, 1.0, 0)
    here, half, whole = (line.output(t) for t in (0.0, TINY / 2, TINY))
    change, bend = (np.max(np.abs(x), initial=0) for x in (whole - here, whole - 2 * half + here))
    return bool(change > CHAOS * np.max(np.abs(here), initial=0) and bend > CHAOS * change)


@dataclass
class Judged:
    """How a gradient compares with differences: `state` is "right", "wrong" or "unclear"."""

    state: str
    slope: float
    measured: float


class Line:
    """The output along a random line through the arguments: phi(t) = Re<cotangent, output(args + t direction)>."""

    def __init__(self, function: Callable[..., Any], case: Case, args: tuple[Any, ...], cotangent: Any, seed: int):
        rng = np.random.default_rng([case.seed, seed])
        self.function, self.case, self.cotangent = function, case, cotangent
        self.args = tuple(map(_widened, args))
        self.directions = {
            name: random_like(value, rng)
            for (name, argument), value in zip(case.arguments.items(), self.args, strict=True)
            if argument.is_floating
        }
        self._found: dict[float, float] = {}

    def at(self, t: float) -> float:
        """phi at a place of the line."""
        if t not in self._found:
            self._found[t] = inner(self.cotangent, self.output(t))
        return self._found[t]

    def output(self, t: float) -> Any:
        """The output at a place of the line."""
        moved = [
            value + t * self.directions[name] if name in self.directions else value
            for name, value in zip(self.case.arguments, self.args, strict=True)
        ]
        moved = [float(m) if isinstance(a, float) else m for m, a in zip(moved, self.args, strict=True)]
        return value_of(self.function, self.case, tuple(moved))

    def difference(self, step: float) -> float:
        """The central difference."""
        return (self.at(step) - self.at(-step)) / (2 * step)

    def extrapolated(self, step: float) -> float:
        """The central difference without its error of second order."""
        return (4 * self.difference(step / 2) - self.difference(step)) / 3

    def judged(self, gradients: dict[str, Any], tolerance: float) -> Judged:
        """Compare gradients with the slope of the line."""
        terms = [np.ravel((np.conj(gradients[n]) * d).real) for n, d in self.directions.items()]
        products = np.concatenate(terms).astype(np.float64)
        slope, size = float(np.sum(products)), float(np.sqrt(np.sum(products**2)))
        if not np.isfinite(slope):
            rough = self.extrapolated(STEPS[FIRST])
            # Differences that rounding may have caused do not show that the slope is finite.
            is_lost = 0 < abs(rough) <= self._noise(STEPS[FIRST])
            return Judged("wrong" if self._is_clear() and not is_lost else "unclear", slope, rough)
        measured = [self.extrapolated(STEPS[FIRST])]
        if self._agree(slope, measured[0], size, tolerance):
            return Judged("right", slope, measured[0])
        measured += [self.extrapolated(step) for step in STEPS]
        right = next((m for m in measured if self._agree(slope, m, size, tolerance)), None)
        if right is not None:
            return Judged("right", slope, right)
        return Judged("wrong" if self._is_clear() else "unclear", slope, measured[0])

    def _agree(self, x: float, y: float, size: float, tolerance: float) -> bool:
        return abs(x - y) <= tolerance * max(size, abs(y)) + 10 * self._noise(STEPS[-1])

    def _noise(self, step: float) -> float:
        """The rounding errors of a difference, roughly."""
        total = float(np.sum(np.abs(self.cotangent) * np.abs(value_of(self.function, self.case, self.args))))
        return 20 * EPSILON * max(total, 1.0) / step

    def _is_clear(self) -> bool:
        """Whether the output is smooth here: differences have the Taylor rate, and both sides agree."""
        found = [self.difference(step) for step in STEPS]
        if not np.isfinite(found).all():
            return False
        best = [self.extrapolated(step) for step in STEPS[:-1]]
        scale = max(map(abs, best))
        changes = [abs(x - y) for x, y in itertools.pairwise(best)]
        settled = [x <= CLEAR * scale + self._noise(step) for x, step in zip(changes, STEPS[1:], strict=False)]
        if not all(settled):
            return False
        # The two sides differ by the step times the second derivative; where they meet at a kink, by more.
        sides = [abs(self.at(h) - 2 * self.at(0.0) + self.at(-h)) / h for h in (STEPS[0], STEPS[-1])]
        return sides[1] <= 0.1 * sides[0] + CLEAR * scale + self._noise(STEPS[-1])


def _widened(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype in (np.float32, np.complex64):
        return value.astype(np.result_type(value.dtype, np.float64))
    return value
