"""`check_grads`: gradient checking by finite differences of the NumPy program (dot-product and Taylor test)."""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from sdfgad.api.check_complex import Point, complex_step_error, require_real
from sdfgad.api.check_second import SecondOrder, difference_error, duality_error, symmetry_error
from sdfgad.api.chosen import Wrt
from sdfgad.api.differentiate import differentiate
from sdfgad.errors import ArgumentError, GradientMismatch
from sdfgad.parse.draws import restore
from sdfgad.parse.program_source import ProgramSource
from sdfgad.parse.structure import path_of
from sdfgad.specialise.outgrown import repeated
from sdfgad.specialise.signature import Call
from sdfgad.specialise.specialise import Specialisation

Array = np.ndarray[Any, Any]
Mode = Literal["fwd", "rev", "complex"]
MODES = get_args(Mode)


@dataclass(frozen=True)
class CheckResult:
    """The result of `check_grads`.

    Attributes:
        error: the largest relative difference between the gradient and central differences along a direction.
        rate: the smallest convergence rate of the first-order Taylor remainder: 2 for a right gradient, 1 for a
            wrong one; infinity where the remainder vanishes to rounding, as for a linear program.
        directions: how many random directions were tried.
        complex_error: the largest difference between the gradient and complex steps along a direction, relative to
            the norms of both; None if mode "complex" was not asked for.
    """

    error: float
    rate: float
    directions: int
    complex_error: float | None = None


@repeated
def check_grads(
    program: Callable[..., Any],
    *args: Any,
    wrt: Wrt = None,
    output: str | None = None,
    allow_unused: bool = False,
    directions: int = 2,
    tolerance: float | None = None,
    seed: int = 0,
    order: int = 1,
    modes: Sequence[Mode] = ("rev",),
    **kwargs: Any,
) -> CheckResult:
    """Check the gradient of a program at a point, and its second derivatives.

    The output, weighted by random numbers, is differentiated. Along random directions the gradient is compared with
    central differences of the program run by NumPy (dot-product test), and the remainder of the first-order Taylor
    expansion must shrink with the square of the step (Taylor test). Second derivatives are compared in the same way
    with differences of gradients, and must be symmetric.

    Args:
        program: as in `differentiate`.
        args: the arguments at which to check; the program should be smooth around them.
        wrt, output, allow_unused: as in `differentiate`.
        directions: how many random directions to try.
        tolerance: the largest relative error that passes; None: 1e-6 for float64, 1e-2 with float32 arguments.
        seed: of the random weights and directions.
        order: 1, or 2 for second derivatives, too.
        modes: "rev" for the gradient; with "fwd" the product of the Jacobian with a vector is compared with it, too;
            with "complex" the gradient is compared with complex steps ``x + 1e-30j * t`` of the program run by NumPy,
            which show all digits, where the program is holomorphic.
        kwargs: more arguments of the program, by name. An SDFG takes all of them so; it is not run by NumPy, but by its
            compiled forward program.

    Returns:
        The measured error and rate.

    Raises:
        GradientMismatch: the gradient, or what else is asked for, fails one of the tests; it says which.
        NotHolomorphic: in mode "complex", complex steps do not give the derivative of this program, which has an
            `np.abs` or a comparison of Python numbers, say; it says which number is in doubt, and the likely line.
        ArgumentError: the order or a mode is not known, or, in mode "complex", an argument or the output is complex.

    Example:
        >>> check_grads(lambda x: np.sum(np.sin(x)), np.linspace(0.0, 1.0, 5))  # doctest: +SKIP
        CheckResult(error=..., rate=2.0, directions=2, complex_error=None)
    """
    if order not in (1, 2) or not set(modes) <= {*MODES}:
        what = f"order={order!r} and modes={modes!r} are not known"
        raise ArgumentError(what, todo='The order is 1 or 2, modes are "rev", "fwd" and "complex".')
    g = differentiate(program, wrt=wrt, output=output, allow_unused=allow_unused, device="cpu")
    check = FiniteDifferences(*g._bind_and_specialise(args, kwargs), np.random.default_rng(seed))
    result = check.run(directions, tolerance)
    if "fwd" in modes:
        check.run_forward(directions)
    if "complex" in modes:
        result = replace(result, complex_error=check.run_complex(directions, seed))
    return check.run_second(result, tolerance) if order == 2 else result


class FiniteDifferences:
    """Gradient check at a point, by finite differences of the NumPy program's output, weighted by random numbers."""

    def __init__(self, call: Call, specialisation: Specialisation, rng: np.random.Generator) -> None:
        self.call, self.specialisation, self.rng = call, specialisation, rng
        self.is_single = bool(_narrow(self.call.values[n] for n in self.call.floating))
        self.weights = self._random(self.specialisation.output_shape, self.specialisation.output_dtype)
        # NumPy's program is to draw what this call does.
        self.states = specialisation.primal.draws.states()

    @property
    def tolerance(self) -> float:
        """The default limit of the relative error: 1e-2 in single, 1e-6 in double precision."""
        return 1e-2 if self.is_single else 1e-6

    def run(self, directions: int, tolerance: float | None) -> CheckResult:
        gradients = self.specialisation.value_and_gradients(self.call, self.cotangent())[1]
        limit = self.tolerance if tolerance is None else tolerance
        results = [self.along(gradients) for _ in range(directions)]
        result = CheckResult(max(r[0] for r in results), min(r[1] for r in results), directions)
        if not result.error <= limit:
            self._fail(f"differs from central differences by {result.error:.2e} (limit {limit:.0e})")
        # Single precision leaves too few digits for a rate.
        if not self.is_single and not result.rate >= 1.7:
            self._fail(f"has a Taylor remainder of order {result.rate:.2f}, not 2")
        return result

    def run_forward(self, directions: int) -> None:
        """Checks <J t, c> = <t, J^T c>."""
        second = SecondOrder(self.call, self.specialisation, self.cotangent())
        error = max(duality_error(second, self._direction()) for _ in range(directions))
        if not error <= (1e-4 if self.is_single else 1e-11):
            self._fail(f"is not dual to its Jacobian-vector product: they differ by {error:.2e}")

    def run_second(self, first: CheckResult, tolerance: float | None) -> CheckResult:
        """Checks second derivatives along a direction; the worst of both orders."""
        second = SecondOrder(self.call, self.specialisation, self.cotangent())
        tangents, limit = [self._direction(), self._direction()], self.tolerance if tolerance is None else tolerance
        error, rate = difference_error(second, tangents[0], self._steps, _moved)
        rate = np.inf if self.is_single else rate
        asymmetry = symmetry_error(second, tangents)
        if not error <= limit:
            self._fail(f"has a derivative that differs from central differences by {error:.2e} (limit {limit:.0e})")
        if not rate >= 1.7:
            self._fail(f"has a Taylor remainder of order {rate:.2f}, not 2, with its second derivatives")
        if not asymmetry <= (1e-3 if self.is_single else 1e-10):
            self._fail(f"has second derivatives that are not symmetric: {asymmetry:.2e}")
        return replace(first, error=max(first.error, error), rate=min(first.rate, rate))

    def run_complex(self, directions: int, seed: int) -> float:
        """Compares the gradient with complex steps, one argument at a time; the largest error."""
        point = Point(self.specialisation, self.call.values, self._weighted, self._nearest_central, self.is_single)
        require_real(point)
        gradients = self.specialisation.value_and_gradients(self.call, self.cotangent())[1]
        labels = [f"random direction {k + 1} of {directions} (seed {seed})" for k in range(directions)]
        return max(complex_step_error(point, gradients, self._direction(), label) for label in labels)

    def cotangent(self) -> Array:
        """The random weights as the output's cotangent."""
        return np.ascontiguousarray(self.weights, dtype=self.specialisation.output_dtype).reshape(
            self.specialisation.output_shape
        )

    def _fail(self, what: str) -> None:
        names = ", ".join(self.specialisation.wrt)
        raise GradientMismatch(
            f"the gradient of `{self.specialisation.output}` by {names} {what}",
            self.specialisation.primal.source.where(self.specialisation.primal.source.node),
            "Check that the program is smooth at this point; if it is, report a bug in sdfgad.",
        )

    def along(self, gradients: Mapping[str, Array]) -> tuple[float, float]:
        """The error of the directional derivative, and the Taylor rate, along one random direction."""
        direction = self._direction()
        exact = sum(float(np.sum((np.conj(gradients[n]) * d).real)) for n, d in direction.items())
        scale = max(1.0, abs(exact))
        error = min(abs(self._central(direction, h) - exact) / scale for h in self._steps)
        return error, np.inf if self.is_single else self._rate(direction, exact)

    @property
    def _steps(self) -> tuple[float, ...]:
        return (1e-2, 3e-3, 1e-3) if self.is_single else (1e-4, 1e-5, 1e-6)

    def _direction(self) -> dict[str, Array]:
        values = {n: np.asarray(self.call.values[n]) for n in self.specialisation.wrt}
        return {n: self._random(value.shape, value.dtype).astype(value.dtype) for n, value in values.items()}

    def _nearest_central(self, direction: Mapping[str, Array], number: float) -> float:
        return min((self._central(direction, h) for h in self._steps), key=lambda found: abs(found - number))

    def _central(self, direction: Mapping[str, Array], h: float) -> float:
        return (self._objective(direction, h) - self._objective(direction, -h)) / (2 * h)

    def _rate(self, direction: Mapping[str, Array], exact: float) -> float:
        """The convergence rate of the Taylor remainder, between the two smallest steps well above rounding errors."""
        start = self._objective(direction, 0.0)
        steps = [1e-2 / 4**k for k in range(8)]
        remainders = [abs(self._objective(direction, h) - start - h * exact) for h in steps]
        noise = 1e-12 * max(1.0, abs(start), abs(exact))
        rates = [np.log(coarse / fine) / np.log(4.0) for coarse, fine in itertools.pairwise(remainders) if fine > noise]
        return float(rates[-1]) if rates else np.inf

    def _objective(self, direction: Mapping[str, Array], h: float) -> float:
        """The weighted output at ``x + h * direction``, computed by NumPy."""
        restore(self.states)
        values = {name: _moved(value, direction.get(name), h) for name, value in self.call.values.items()}
        return float(self._weighted(values).real)

    def _weighted(self, values: Mapping[str, Any]) -> Any:
        """The weighted output for arguments by leaf, computed by NumPy; complex, if a real argument is complex."""
        restore(self.states)
        if isinstance(self.specialisation.primal.source.function, ProgramSource):
            result = self.specialisation.value(replace(self.call, values=values))
            return np.sum(np.conj(self.weights) * np.asarray(result))
        arguments = self.call.arguments({name: _copied(value) for name, value in values.items()})
        returned = called(self.specialisation.primal.source.function, arguments)
        result = part_of({"return": returned} | arguments, self.specialisation.output)
        return np.sum(np.conj(self.weights) * np.asarray(result))

    def _random(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        values = np.asarray(self.rng.standard_normal(shape))
        return values + 1j * self.rng.standard_normal(shape) if dtype.kind == "c" else values


def part_of(values: Mapping[str, Any], name: str) -> Any:
    """The part of some values that an output such as ``return[0]``, ``return['x']`` or ``state.u`` names."""
    root, path = path_of(name) or (name, ())
    part = values[root]
    for key in path:
        part = getattr(part, str(key)) if _has_attributes(part) else part[key]
    return part


def _has_attributes(value: Any) -> bool:
    return hasattr(value, "_fields") or not isinstance(value, (dict, list, tuple))


def called(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """The result of a function for arguments by parameter, also where it collects some as ``*args`` or ``**kwargs``."""
    signature = inspect.signature(function)
    bound = signature.bind_partial()
    bound.arguments.update(arguments)
    return function(*bound.args, **bound.kwargs)


def _narrow(values: Any) -> bool:
    return any(np.asarray(value).dtype in (np.float32, np.complex64) for value in values)


def _moved(value: Any, direction: Array | None, h: float) -> Any:
    """A copy of an argument, moved along a direction."""
    if direction is None or (h == 0.0 and not isinstance(value, np.ndarray)):
        return _copied(value)
    moved = value + h * direction
    if isinstance(value, np.ndarray):
        return np.asarray(moved, dtype=value.dtype)
    return value.dtype.type(moved) if isinstance(value, np.generic) else type(value)(moved)


def _copied(value: Any) -> Any:
    """A copy of what the program may update; what has none, such as a module or a file, is passed as it is."""
    try:
        return copy.deepcopy(value)
    except TypeError:
        return value
