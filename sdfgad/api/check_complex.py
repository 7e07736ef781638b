"""Complex-step check: the derivative of the NumPy program by a step in imaginary direction, which cancels no digits.

For a program that is holomorphic around real arguments, Im f(x + iht) / h is <f'(x), t> to rounding, at h as small as
1e-30. Where it takes `np.abs`, say, it is not, and the number is wrong. So it counts only as far as central differences
confirm it, which have half its digits.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.api.check_second import norm
from sdfgad.errors import ArgumentError, GradientMismatch, Location, NotHolomorphic
from sdfgad.ir.expr import Op, postorder
from sdfgad.ir.program import computes
from sdfgad.parse.source import Source
from sdfgad.specialise.specialise import Specialisation

Array = np.ndarray[Any, Any]
STEP = 1e-30
# In double and in single precision: the largest error of a gradient that passes, relative to the norms of gradient and
# direction; and how far central differences may be off, relative to themselves and to the output.
LIMITS = 1e-10, 1e-4
DIFFERENCES = (1e-6, 1e-10), (1e-2, 1e-3)
# Operations of the parsed program that NumPy's functions of complex numbers do not continue holomorphically.
SUSPECTS = ("absolute", "fabs", "sign", "hypot", "arctan2", "copysign", "cast")
HOLOMORPHIC = (
    "Write what takes complex numbers: arrays like arguments (np.zeros_like(x) for np.zeros(n)), np.sin for math.sin, "
    'conditions on x.real; or leave "complex" out of modes.'
)
TODO = 'Leave "complex" out of modes: central differences check the gradient of such a program, too.'


@dataclass(frozen=True)
class Point:
    """Where a program is checked.

    Attributes:
        values: the arguments by leaf.
        output: the weighted output, computed by NumPy, for arguments by leaf, which may be complex.
        central: the derivative in a direction by central differences, of several steps that nearest to a number.
        is_single: whether an argument is in single precision.
    """

    specialisation: Specialisation
    values: Mapping[str, Any]
    output: Callable[[Mapping[str, Any]], Any]
    central: Callable[[Mapping[str, Array], float], float]
    is_single: bool

    @property
    def source(self) -> Source:
        return self.specialisation.primal.source


def require_real(point: Point) -> None:
    """Check that arguments and output are real.

    Raises:
        ArgumentError: one is complex.
    """
    specialisation = point.specialisation
    dtypes = {f"the argument `{name}`": np.asarray(point.values[name]).dtype for name in specialisation.wrt}
    for what, dtype in (*dtypes.items(), (f"the output `{specialisation.output}`", specialisation.output_dtype)):
        if dtype.kind == "c":
            where = point.source.where(point.source.node)
            raise ArgumentError(f"{what} is complex, and complex steps are for real programs", where, TODO)


def complex_step_error(
    point: Point, gradients: Mapping[str, Array], direction: Mapping[str, Array], label: str
) -> float:
    """The largest error of a gradient along the parts of a direction, one argument at a time, by complex steps.

    Args:
        label: which direction it is, for reports.

    Raises:
        NotHolomorphic: complex steps do not give the derivative of this program.
        GradientMismatch: the gradient is not what they give.
    """
    return max(_error_by(point, name, gradients[name], t, label) for name, t in direction.items())


def _error_by(point: Point, name: str, gradient: Array, t: Array, label: str) -> float:
    stepped = _complex_step(point, name, t, label)
    exact = float(np.sum(gradient * t))
    central = point.central({name: t}, stepped)
    relative, of_size = DIFFERENCES[point.is_single]
    where, wrong = f"by `{name}` along {label}", abs(stepped - central)
    floor = of_size * abs(point.output(point.values))
    if not wrong <= relative * max(abs(stepped), abs(central)) + floor:
        numbers = f"it gives {stepped:.15g}, central differences {central:.15g}"
        raise _not_possible(point, where, numbers)
    error = abs(stepped - exact) / max(norm({name: gradient}) * norm({name: t}), floor, 1e-300)
    if error <= LIMITS[point.is_single]:
        return error
    numbers = f"the gradient gives {exact:.15g}, the complex step {stepped:.15g}"
    if abs(stepped - exact) <= 10.0 * wrong:
        raise _not_possible(point, where, f"{numbers}, and central differences are too rough to say which is right")
    what = f"the derivative of `{point.specialisation.output}` {where} differs from the complex step by {error:.2e}"
    raise GradientMismatch(
        f"{what} (limit {LIMITS[point.is_single]:.0e}): {numbers}, central differences {central:.15g}",
        point.source.where(point.source.node),
        "Central differences side with the complex step. Report a bug in sdfgad, or check the rule of a custom_jvp.",
    )


def _complex_step(point: Point, name: str, t: Array, label: str) -> float:
    """The derivative in a direction of one argument by a complex step."""
    moved = np.asarray(point.values[name]) + 1j * STEP * t
    moved = moved.astype(np.complex128)
    is_number = isinstance(point.values[name], float) and not isinstance(point.values[name], np.generic)
    values = {**point.values, name: moved.item() if is_number else moved if moved.shape else moved[()]}
    try:
        with warnings.catch_warnings():
            # What NumPy discards silently would be the derivative.
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return float(np.imag(point.output(values))) / STEP
    except Exception as error:
        what = f"NumPy's own run with a complex argument raises {type(error).__name__}: {error}"
        raise NotHolomorphic(
            f"the complex step by `{name}` along {label} is not possible: {what}",
            _line_of(error, point.source),
            HOLOMORPHIC,
        ) from error


def _not_possible(point: Point, where: str, numbers: str) -> NotHolomorphic:
    suspect, line = _suspect(point)
    cause = f"the likely cause is {suspect}" if suspect else "the program is likely to take .real, np.conj or a norm"
    return NotHolomorphic(f"the complex step {where} is not possible: {numbers}; {cause}", line, TODO)


def _suspect(point: Point) -> tuple[str, Location]:
    """The first operation of the program that is not holomorphic, and its line; "" if none is known."""
    program = point.specialisation.pipeline.parsed.program
    for statement in computes(program.body):
        for node in postorder(statement.value):
            is_conversion = isinstance(node, Op) and node.name == "cast"
            if not isinstance(node, Op) or node.name not in SUSPECTS or statement.where is None:
                continue
            if not is_conversion:
                return f"np.{node.name}", statement.where
            if node.args[0].dtype.kind == "f":
                return f"the conversion to {node.dtype}", statement.where
    return "", point.source.where(point.source.node)


def _line_of(error: Exception, source: Source) -> Location:
    """The last line of the user's file that an exception went through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == source.file]
    if not frames or frames[-1].lineno is None:
        return source.where(source.node)
    return Location(frames[-1].filename, frames[-1].lineno, frames[-1].line or "")
