"""The continuous adjoint of an initial value problem: the gradient is the solution of another one, backwards in time.

With y' = f(t, y, p) and a loss that has the cotangents c_i of the states y(t_i), the adjoint a obeys a' = -a df/dy
between these times, and grows by c_i at t_i; the gradient by p is the integral of a df/dp (Pontryagin; Chen et al.,
Neural Ordinary Differential Equations, 2018, appendix B). Nothing is stored but the y(t_i), where y begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from sdfgad.api.custom_vjp import custom_vjp
from sdfgad.api.higher import vjp
from sdfgad.errors import ArgumentError, UnsupportedProgram
from sdfgad.parse import trees
from sdfgad.parse.closure_conversion import outer_number
from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.library.initial_values import Solution, SolutionWithoutTEval, state_of
from sdfgad.parse.library.initial_values import solve_ivp as discrete
from sdfgad.parse.library.trees import floats_in, with_floats
from sdfgad.parse.transformed import CallSite, within
from sdfgad.parse.values import Record

ADJOINTS = ("continuous", "discrete")
Array = np.ndarray[Any, Any]


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Sequence[float],
    y0: Array,
    method: str = "RK45",
    t_eval: Array | None = None,
    *,
    args: tuple[Any, ...] = (),
    rtol: float = 1e-3,
    atol: float | Array = 1e-6,
    adjoint: Literal["continuous", "discrete"] = "continuous",
) -> Any:
    """``scipy.integrate.solve_ivp``, with the choice of how a program that calls it is differentiated.

    Args:
        fun: the right side, ``fun(t, y, *args)``, which returns an array or list of the length of `y`.
        t_span, y0, method, t_eval, rtol, atol: as in SciPy; the method is "RK23", "RK45" or "DOP853".
        args: arrays, numbers, or dicts, lists and tuples of them; besides `y0` and the times the continuous adjoint has
            derivatives only by these.
        adjoint: "continuous" solves the adjoint equation, by the same method and tolerances, and stores no steps: the
            gradient is as near to that of the exact solution as the tolerances ask for. "discrete" is the gradient of
            the steps that were made, which are stored or recomputed as the plan says, as for SciPy's function.

    Returns:
        What SciPy returns; in programs an object with `t`, `y`, `success`, `status` and `message`.

    Raises:
        ArgumentError: `adjoint` is not known.
        UnsupportedProgram: with the continuous adjoint `fun` reads numbers of the program that defines it.

    Example:
        >>> def loss(k):
        ...     found = sdfgad.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), np.ones(1), args=(k,), rtol=1e-9)
        ...     return found.y[0, -1]
        >>> sdfgad.grad(loss)(2.0)  # doctest: +SKIP
        -0.1353352832366127
    """
    from scipy import integrate

    _require_known(adjoint)
    return integrate.solve_ivp(fun, t_span, y0, method, t_eval, args=args, rtol=rtol, atol=atol)


def _require_known(adjoint: Any) -> None:
    if adjoint not in ADJOINTS:
        raise ArgumentError(f"adjoint={adjoint!r} is not known", todo='It is "continuous" or "discrete".')


@within(solve_ivp)
def solve_ivp_within(
    site: CallSite,
    fun: Any,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    *,
    args: Any = (),
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    adjoint: Any = "continuous",
) -> Any:
    """A call in a program."""
    _require_known(adjoint)
    options = {"rtol": rtol, "atol": atol}
    if adjoint == "discrete":
        return site.define(discrete, fun, t_span, y0, method, t_eval, args=args, **options)
    outer = outer_number(fun)
    if outer is not None:
        what = f"the right side of solve_ivp reads {outer}, by which a continuous adjoint has no derivative"
        raise UnsupportedProgram(what, site.b.where, 'Pass it by `args`, or write adjoint="discrete".')
    if any(isinstance(one, Record) for one in trees.sequences(args)):
        what = "`args` of solve_ivp hold an object, and its continuous adjoint takes arrays, numbers and containers"
        raise UnsupportedProgram(what, site.b.where, 'Pass its numbers, or write adjoint="discrete".')
    return site.define(_continuous, fun, t_span, y0, method, t_eval, args, **options)


# --- definitions


def _continuous(fun: Any, t_span: Any, y0: Any, method: Any, t_eval: Any, args: Any, rtol: Any, atol: Any) -> Any:
    """What a program computes for the call."""
    t0, t1 = 1.0 * t_span[0], 1.0 * t_span[1]
    state = state_of(y0)
    times = np.reshape(array_like(t1), (1,)) if t_eval is None else array_like(t_eval).astype(np.float64)

    def solve_ivp_with_continuous_adjoint(state: Any, start: Any, times: Any, args: Any, rest: Any) -> Any:
        end, rtol, atol = rest
        return discrete(fun, (start, end), state, method, times, args=args, rtol=rtol, atol=atol).y

    solved = custom_vjp(solve_ivp_with_continuous_adjoint)

    def forward(state: Any, start: Any, times: Any, args: Any, rest: Any) -> Any:
        # Not `solved`: derivatives of the gradient are those of the steps, also in forward mode.
        states = solve_ivp_with_continuous_adjoint(state, start, times, args, rest)
        return states, (state, start, times, args, states, rest)

    def backward(kept: Any, cotangent: Any) -> Any:
        _, rtol, atol = kept[5]
        return (*_adjoint(_Augmented(fun, kept[0].shape[0], method, rtol, atol), kept[:5], cotangent), None)

    solved.defvjp(forward, backward)
    found = solved(state, t0, times, args, (t1, rtol, atol))
    if t_eval is None:
        return Solution(SolutionWithoutTEval(t0, t1), SolutionWithoutTEval(state, found[:, 0]))
    return Solution(times, found)


class _Augmented:
    """The system of the state, its adjoint, and the integral of the arguments' cotangents, as one vector."""

    def __init__(self, fun: Any, size: Any, method: Any, rtol: Any, atol: Any) -> None:
        self.size = size
        self.fun, self.method, self.rtol, self.atol = fun, method, rtol, atol

    def slope(self, t: Any, y: Any, args: Any) -> Any:
        return array_like(self.fun(t, y, *args)).astype(np.float64)

    def right(self, t: Any, z: Any, args: Any) -> Any:
        n = self.size
        y, a = z[:n], z[n : 2 * n]
        if z.shape[0] == 2 * n:
            value, pull = vjp(lambda y: self.slope(t, y, args), y, argnums=0)
            return np.concatenate([value, -pull(a)])
        value, pull = vjp(lambda y, args: self.slope(t, y, args), y, args, argnums=(0, 1))
        by_state, by_args = pull(a)
        return np.concatenate([value, -by_state, *[-one for one in floats_in(by_args, args)]])

    def back(self, t: Any, before: Any, z: Any, args: Any) -> Any:
        """The vector at an earlier time."""
        atol = array_like(self.atol)
        if atol.ndim:
            # One for each element of the state, and the least for the integrals.
            atol = np.concatenate((atol, atol, np.full(z.shape[0] - 2 * self.size, np.min(atol))))
        found = discrete(self.right, (t, before), z, self.method, args=(args,), rtol=self.rtol, atol=atol)
        return found.y[:, -1]


def _adjoint(system: Any, kept: Any, cotangent: Any) -> Any:
    """The cotangents of the initial state, the initial time, the times, and the arguments."""
    state, start, times, args, states = kept
    n = system.size
    counts = [one.shape[0] for one in floats_in(args, args)]
    a, integral, of_times = np.zeros(n), np.zeros(sum(counts)), np.zeros(times.shape[0])
    for k in range(times.shape[0]):
        i = times.shape[0] - 1 - k
        before = np.where(i == 0, start, times[i - 1])
        of_times[i] = cotangent[:, i] @ system.slope(times[i], states[:, i], args)
        a = a + cotangent[:, i]
        if before != times[i]:
            z = system.back(times[i], before, np.concatenate((states[:, i], a, integral)), args)
            a, integral = z[n : 2 * n], z[2 * n :]
    return a, -a @ system.slope(start, state, args), of_times, with_floats(args, integral)
