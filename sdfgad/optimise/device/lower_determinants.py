"""Lowering of determinants for a device: their logarithms and signs are sums over the pivots of LU factors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, cast
from sdfgad.ir.program import Statement, Whole
from sdfgad.optimise.device.call_steps import CallSteps, Index, at, choose
from sdfgad.optimise.device.lower_solvers import factors

FLOAT = np.dtype(np.float64)


@dataclass(frozen=True)
class _Parts:
    """What determinants follow from.

    Attributes:
        statements: those that compute the others.
        log: the logarithms of their sizes.
        sign, failed: the sign of a matrix of the stack, and whether it is singular.
    """

    statements: list[Statement]
    log: Whole
    sign: Callable[[Index], Expr]
    failed: Callable[[Index], Expr]


def lower_determinant(steps: CallSteps) -> Iterator[Statement]:
    yield from _determinant(steps, _parts(steps, *factors(steps, steps.call.inputs[0], steps.call.sizes[1])))


def lower_determinant_factored(steps: CallSteps) -> Iterator[Statement]:
    yield from _determinant(steps, _parts(steps, steps.call.inputs, []))


def _determinant(steps: CallSteps, parts: _Parts) -> Iterator[Statement]:
    """By its logarithm, as on the CPU."""
    (out,) = steps.call.outputs
    yield from parts.statements

    def value(i: Index) -> Expr:
        size = cast(Op("exp", (at(parts.log, i),), FLOAT), steps.wide)
        product = Op("multiply", (parts.sign(i), size), steps.wide)
        return choose(parts.failed(i), Const(0, out.dtype), cast(product, out.dtype))

    yield steps.fill(out, value)


def lower_log_determinant(steps: CallSteps) -> Iterator[Statement]:
    yield from _sign_log(steps, _parts(steps, *factors(steps, steps.call.inputs[0], steps.call.sizes[1])))


def lower_sign_log_factored(steps: CallSteps) -> Iterator[Statement]:
    yield from _sign_log(steps, _parts(steps, steps.call.inputs, []))


def _sign_log(steps: CallSteps, parts: _Parts) -> Iterator[Statement]:
    """A singular matrix has the sign 0 and the logarithm -inf."""
    sign, log = steps.call.outputs
    yield from parts.statements
    yield steps.fill(sign, lambda i: choose(parts.failed(i), Const(0, sign.dtype), cast(parts.sign(i), sign.dtype)))
    least = Const(-np.inf, log.dtype)
    yield steps.fill(log, lambda i: choose(parts.failed(i), least, cast(at(parts.log, i), log.dtype)))


def _parts(steps: CallSteps, known: Sequence[Whole], found: list[Statement]) -> _Parts:
    """By the factors, the exchanged rows, and what failed."""
    (lu, pivots, info), n = known, steps.call.sizes[-1]
    log, turns = steps.matrices("log", dtype=FLOAT), steps.matrices("turns", dtype=INT)

    def pivot(i: Index) -> Expr:
        return at(lu, (*i, i[-1]))

    def turn(i: Index) -> Expr:
        """Of the exchange of rows, and of a negative pivot of a real matrix."""
        exchange = _truth("not_equal", cast(at(pivots, i), INT), Int(i[-1] + 1))
        if steps.wide.kind == "c":
            return exchange
        return Op("add", (exchange, _truth("less", pivot(i), Const(0, steps.wide))), INT)

    def size(i: Index) -> Expr:
        return Op("log", (Op("absolute", (pivot(i),), FLOAT),), FLOAT)

    found += [steps.total(log, (Lin(n),), size), steps.total(turns, (Lin(n),), turn)]
    angle = _angles(steps, pivot, n, found) if steps.wide.kind == "c" else None

    def sign(i: Index) -> Expr:
        half = Op("remainder", (at(turns, i), Const(2, INT)), INT)
        real = Op("subtract", (Const(1, FLOAT), Op("multiply", (Const(2, FLOAT), cast(half, FLOAT)), FLOAT)), FLOAT)
        return real if angle is None else _turned(real, at(angle, i), steps.wide)

    return _Parts(found, log, sign, lambda i: Op("not_equal", (at(info, i), Const(0, info.dtype)), BOOL))


def _truth(name: str, a: Expr, b: Expr) -> Expr:
    return cast(Op(name, (a, b), BOOL), INT)


def _angles(steps: CallSteps, pivot: Callable[[Index], Expr], n: int, found: list[Statement]) -> Whole:
    """The sums of the angles of complex pivots, whose statements are appended."""
    angle = steps.matrices("angle", dtype=FLOAT)

    def value(i: Index) -> Expr:
        parts = (Op(part, (pivot(i),), FLOAT) for part in ("imag", "real"))
        return Op("arctan2", tuple(parts), FLOAT)

    found.append(steps.total(angle, (Lin(n),), value))
    return angle


def _turned(sign: Expr, angle: Expr, dtype: np.dtype[np.generic]) -> Expr:
    parts = (Op("multiply", (sign, Op(name, (angle,), FLOAT)), FLOAT) for name in ("cos", "sin"))
    return Op("complex", tuple(parts), dtype)
