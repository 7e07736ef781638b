"""Adaptive Gauss-Kronrod quadrature, as scipy.integrate.quad: bisection of the interval with the largest error.

The intervals are found first, without derivatives; then the rule over all of them is summed up, with derivatives by the
limits and by what the integrand reads: the same points integrate the integrand's derivative. So it is as near to the
integral's as this derivative is smooth; a jump whose place depends on an argument has none, as any branch on data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, is_known
from sdfgad.parse.functions.special import held
from sdfgad.parse.registry import optional

# The rule of Kronrod with 21 points (Piessens and others, QUADPACK, 1983), from the end of (-1, 1) to the middle.
_NODES = (
    *(0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508),
    *(0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874),
    *(0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866),
    *(0.148874338981631210884826001129720, 0.0),
)
_WEIGHTS = (
    *(0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580),
    *(0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805),
    *(0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717),
    *(0.147739104901338491374841515972068, 0.149445554002916905664936468389821),
)
_GAUSS = np.zeros(21)
_GAUSS[1::2] = np.polynomial.legendre.leggauss(10)[1]
# On (0, 1): the nodes, Kronrod's weights, and those of the rule of Gauss at every other node.
NODES = 0.5 - 0.5 * np.array([*_NODES, *(-x for x in _NODES[-2::-1])])
WEIGHTS = 0.5 * np.array([*_WEIGHTS, *_WEIGHTS[-2::-1]])
GAUSS = 0.5 * _GAUSS
# There are so many times more intervals than QUADPACK's, which extrapolates at singularities.
MORE = 4
EPS = 2.0**-52


class Integrand:
    """A function over a finite or infinite interval as one over (0, 1), times the change of the variable."""

    def __init__(self, function: Any, args: Any, a: Any, b: Any) -> None:
        self.function, self.args, self.a, self.b = function, args, a, b
        self.is_from_infinity, self.is_to_infinity = _is_infinite(a), _is_infinite(b)

    def at(self, u: Any, a: Any, b: Any) -> Any:
        """Its value at `u` for limits which may be held."""
        if not self.is_from_infinity and not self.is_to_infinity:
            return self._value(a + (b - a) * u) * (b - a)
        far = (1.0 - u) / u
        if self.is_from_infinity and self.is_to_infinity:
            # Both halves of the line go together, as in QUADPACK.
            sign = np.where(b > a, 1.0, -1.0)
            return sign * (self._value(far) + self._value(-far)) / (u * u)
        if self.is_to_infinity:
            sign = np.where(b > 0.0, 1.0, -1.0)
            return sign * self._value(a + sign * far) / (u * u)
        sign = np.where(a > 0.0, 1.0, -1.0)
        return -sign * self._value(b + sign * far) / (u * u)

    def _value(self, x: Any) -> Any:
        return np.reshape(array_like(self.function(x, *self.args)), ())

    def rule(self, left: Any, width: Any) -> Any:
        """The integral over a part of (0, 1), and an estimate of its error (QUADPACK's qk21), without derivatives."""
        values = np.zeros(21)
        for j in range(21):
            values[j] = self.at(left + width * NODES[j], held(self.a), held(self.b))
        values = held(values)
        total = np.sum(WEIGHTS * values)
        spread = width * np.sum(WEIGHTS * np.abs(values - total))
        error = np.abs(width * (total - np.sum(GAUSS * values)))
        scaled = spread * np.minimum(1.0, (200.0 * error / np.where(spread == 0.0, 1.0, spread)) ** 1.5)
        error = np.where(spread == 0.0, error, scaled)
        return width * total, np.maximum(error, 50.0 * EPS * width * np.sum(WEIGHTS * np.abs(values)))


def _is_infinite(x: Any) -> Any:
    return bool(np.isinf(x)) if is_known(x) else False


def _intervals(integrand: Integrand, epsabs: Any, epsrel: Any, most: Any) -> Any:
    """The left ends and widths of the parts of (0, 1), how many there are, and the sum of their errors."""
    lefts, widths, sums, errors = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most)
    widths[0] = 1.0
    sums[0], errors[0] = integrand.rule(0.0, 1.0)
    n = 1
    while n < most and np.sum(errors) > np.maximum(epsabs, epsrel * np.abs(np.sum(sums))):
        worst = np.argmax(errors)
        widths[worst] *= 0.5
        lefts[n], widths[n] = lefts[worst] + widths[worst], widths[worst]
        for side in range(2):
            place = worst if side == 0 else n
            sums[place], errors[place] = integrand.rule(lefts[place], widths[place])
        n += 1
    if np.sum(errors) > np.maximum(epsabs, epsrel * np.abs(np.sum(sums))):
        raise RuntimeError("an integral does not converge within the limit of intervals")
    return lefts, widths, n, np.sum(errors)


@optional("scipy.integrate", "quad", is_definition=True, static=False)
def quad(
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
    limit: Any = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: Any = 50,
    limlst: Any = 50,
    complex_func: Any = False,
) -> Any:
    if full_output or points is not None or weight is not None or complex_func:
        raise NotImplementedError(
            "full_output, points, weight and complex_func of quad are not supported: add up integrals of parts"
        )
    if not (_is_infinite(a) or _is_infinite(b)) and not np.isfinite(b - a):
        raise ValueError("a limit of quad is infinite for these arguments, which is to be known before the run")
    integrand = Integrand(func, args if isinstance(args, tuple) else (args,), 1.0 * a, 1.0 * b)
    lefts, widths, n, error = _intervals(integrand, epsabs, epsrel, MORE * limit)
    total = 0.0
    for k in range(n):
        for j in range(21):
            u = held(lefts[k] + widths[k] * NODES[j])
            total = total + held(widths[k]) * WEIGHTS[j] * integrand.at(u, integrand.a, integrand.b)
    return total, error
