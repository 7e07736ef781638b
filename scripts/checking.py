"""Values and gradients against the NumPy program: its value, and its central differences along random directions.

The gradient of a real L by a complex x + iy is dL/dx + i dL/dy. A program's output w is weighted by random c: L is the
sum of all Re(conj(c) w).
"""

import copy
import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

# Relative to an argument's typical size: the first as long as needed, the others where those do not agree. Where a
# gradient is exactly zero, nothing but equality is right, and the smallest step is so small that of some hundred
# thousand numbers none falls into another bin of a histogram.
STEPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
SHORT_STEPS = (1e-9, 1e-10, 1e-11, 1e-12)
STEPS_OF_ZERO = (1e-3, 1e-6, 1e-10)
# Differences that agree with one another no better than this say nothing. Else a gradient may be off by some spreads.
UNSETTLED, SPREADS = 1e-2, 4.0
ROUNDINGS = 8 * np.finfo(np.float64).eps
ASIDE = 1e-2


@dataclass(frozen=True)
class Limits:
    """The largest errors of a value and of a gradient."""

    value: float
    gradient: float


DOUBLE, SINGLE = Limits(1e-9, 1e-6), Limits(1e-4, 1e-4)


class Program(Protocol):
    """What is checked: an entry of npbench_suite, or a benchmark of a checkout of NPBench."""

    name: str
    program: Callable
    arguments: tuple[str, ...]
    arrays: tuple[str, ...]
    output: str

    def outputs_from(self, arguments: tuple, returned: Any) -> dict[str, Any]: ...


def run_numpy(entry: Program, arguments: tuple) -> tuple[float, np.ndarray]:
    """The seconds and the main output of one call of the NumPy program, which works on copies."""
    copies = copy.deepcopy(arguments)
    start = time.perf_counter()
    returned = entry.program(*copies)
    seconds = time.perf_counter() - start
    return seconds, np.asarray(entry.outputs_from(copies, returned)[entry.output])


def value_error(found: Any, expected: np.ndarray) -> float:
    """The largest difference from NumPy's value, relative where that is large; infinity where it is no number."""
    found = np.asarray(found)
    if found.shape != expected.shape or not (np.isfinite(found).all() and np.isfinite(expected).all()):
        return float("inf")
    difference = np.abs(found - expected) / np.maximum(1.0, np.abs(found) + np.abs(expected))
    return float(np.max(difference, initial=0.0))


def error_of_rounding(entry: Program, arguments: tuple, expected: np.ndarray, seed: int = 3) -> float:
    """By how much NumPy's own value changes if the floating arguments are off by a rounding or two."""
    return value_error(run_numpy(entry, rounded(entry, arguments, seed))[1], expected)


def rounded(entry: Program, arguments: tuple, seed: int = 3) -> tuple:
    """The arguments, with the floating ones off by a rounding or two."""
    rng = np.random.default_rng(seed)
    for name in entry.arrays:
        position = entry.arguments.index(name)
        value = arguments[position]
        noise = 2 * np.finfo(np.float64).eps * random_like(value, rng)
        arguments = moved(arguments, position, value * (1 + noise))
    return arguments


@dataclass(frozen=True)
class Difference:
    """How far a gradient is from differences, and how far those are from one another at the best step: the spread."""

    error: float
    spread: float = 0.0

    def is_within(self, limit: float) -> bool:
        """An ill-conditioned program has no better differences than their spread; a small one changes nothing."""
        return self.error <= max(limit, SPREADS * self.spread if self.is_settled else 0.0)

    @property
    def is_settled(self) -> bool:
        return self.spread <= UNSETTLED


def gradient_error(*args: Any, **kwargs: Any) -> float:
    """The error of `compare_gradient`."""
    return compare_gradient(*args, **kwargs).error


def compare_gradient(
    entry: Program,
    arguments: tuple,
    name: str,
    gradient: Any,
    weights: np.ndarray,
    limit: float = DOUBLE.gradient,
    seed: int = 0,
) -> Difference:
    """How far the gradient of the weighted output by the argument `name` is from differences of the NumPy program.

    The error is relative to what gradient·d is, d being random: neither the other arguments nor chance hide it. It does
    not count where the longest step would change the output by no more than its rounding error. What is in single
    precision is differenced in double precision.
    """
    position = entry.arguments.index(name)
    gradient = np.asarray(gradient)
    if gradient.shape != np.shape(arguments[position]) or not np.isfinite(gradient).all():
        return Difference(float("inf"))
    arguments = tuple(map(widened, arguments))
    value = arguments[position]
    direction, slope, size = choose_direction(gradient, np.random.default_rng([seed, position]))

    def difference(step: float) -> float:
        try:
            up, down = (run_numpy(entry, moved(arguments, position, value + h * direction))[1] for h in (step, -step))
        except (ArithmeticError, ValueError):
            return float("nan")
        return inner(weights, up - down)

    typical = typical_size(value)
    measured: list[float] = []
    errors: list[float] = []
    # A step may be too long for a program: what is no number there is not right, and the next step is shorter.
    with double_precision(entry.program), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rounding = ROUNDINGS * float(np.sum(np.abs(weights) * np.abs(run_numpy(entry, arguments)[1])))
        least = rounding / (typical * STEPS[0] * limit)
        for relative in (*STEPS, *SHORT_STEPS) if size else STEPS_OF_ZERO:
            step = typical * relative
            measured.append((8.0 * difference(step) - difference(2.0 * step)) / (12.0 * step))
            errors.append(relative_error(slope, measured[-1], max(size, least)))
            if errors[-1] <= limit and relative not in SHORT_STEPS:
                return Difference(errors[-1])
    if not size:
        return Difference(min(errors))
    # Not the step that fits best is chosen, but the one that fits its neighbour best.
    spreads = [relative_error(x, y, least) for x, y in itertools.pairwise(measured)]
    best = min(range(len(spreads)), key=spreads.__getitem__)
    return Difference(max(errors[best : best + 2]), spreads[best])


def choose_direction(gradient: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
    """A random direction d with gradient·d, and its typical size for a random d; it is not small by cancellation."""
    for _ in range(20):
        direction = random_like(gradient, rng)
        terms = (np.conj(gradient) * direction).real
        slope, size = float(np.sum(terms)), float(np.sqrt(np.sum(np.square(terms))))
        if not abs(slope) < size / 2:
            break
    return direction, slope, size


def relative_error(slope: float, measured: float, size: float) -> float:
    """Infinity where a number is none; zero only where both derivatives are exactly zero."""
    scale = max(size, abs(measured))
    error = abs(slope - measured) / scale if scale else 0.0
    return error if np.isfinite([slope, measured, error]).all() else float("inf")


def moved(arguments: tuple, position: int, value: Any) -> tuple:
    """The arguments with another value at one position, of the type of the one that was there."""
    old = arguments[position]
    value = np.asarray(value, old.dtype) if isinstance(old, np.ndarray) else type(old)(value)
    return (*arguments[:position], value, *arguments[position + 1 :])


def moved_aside(entry: Program, arguments: tuple, factor: float = 1.0, seed: int = 2) -> tuple:
    """The floating arguments moved a little and at random, and scaled: where they were tied, they are no more."""
    rng = np.random.default_rng(seed)
    for name in entry.arrays:
        position = entry.arguments.index(name)
        value = arguments[position]
        noise = ASIDE * typical_size(value) * random_like(value, rng)
        arguments = moved(arguments, position, factor * (value + noise))
    return arguments


# --- numbers


def random_like(value: Any, rng: np.random.Generator) -> np.ndarray:
    """Random numbers in the shape of a value, complex where that is, in double precision."""
    numbers = np.asarray(rng.standard_normal(np.shape(value)))
    return numbers + 1j * rng.standard_normal(np.shape(value)) if np.iscomplexobj(value) else numbers


def inner(x: np.ndarray, y: np.ndarray) -> float:
    """The sum of all Re(conj(x) y)."""
    return float(np.sum((np.conj(x) * y).real))


def typical_size(value: Any) -> float:
    """The root of the mean square; 1 where that is zero."""
    return float(np.sqrt(np.sum(np.square(np.abs(value))) / max(1, np.size(value)))) or 1.0


def is_single(value: Any) -> bool:
    return np.asarray(value).dtype in (np.float32, np.complex64)


def widened(value: Any) -> Any:
    """An argument in double precision, if it is in single precision."""
    if not is_single(value):
        return value
    wide = np.result_type(value.dtype, np.float64)
    return value.astype(wide)


class _DoubleNumPy:
    """NumPy, whose single precision is double precision."""

    float32 = single = np.float64
    complex64 = csingle = np.complex128

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


@contextmanager
def double_precision(program: Callable) -> Iterator[None]:
    """While this lasts, a program that asks for single precision gets double precision."""
    names = [name for name, value in program.__globals__.items() if value is np]
    program.__globals__.update(dict.fromkeys(names, _DoubleNumPy()))
    try:
        yield
    finally:
        program.__globals__.update(dict.fromkeys(names, np))
