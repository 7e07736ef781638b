"""Initial value problems of scipy.integrate: solve_ivp by its explicit methods, and odeint by one of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.library.runge_kutta import Flow, solution
from sdfgad.parse.registry import optional

EXPLICIT = ("RK23", "RK45", "DOP853")
# The tolerance of odeint, and how many steps its definition here may try between two times.
TOLERANCE = 1.49012e-8
MOST = 50000


class Right:
    """The right side of a system with the arguments that it takes besides time and state."""

    def __init__(self, function: Any, args: Any, is_time_first: Any) -> None:
        self.function, self.args, self.is_time_first = function, args, is_time_first

    def __call__(self, t: Any, y: Any) -> Any:
        return self.function(t, y, *self.args) if self.is_time_first else self.function(y, t, *self.args)


class Solution:
    """What ``solve_ivp`` returns."""

    def __init__(self, t: Any, y: Any) -> None:
        self.t, self.y = t, y
        self.sol, self.t_events, self.y_events = None, None, None
        self.status, self.success = 0, True
        self.message = "The solver successfully reached the end of the integration interval."

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name)

    @property
    def nfev(self) -> Any:
        raise NotImplementedError("the number of evaluations of solve_ivp is not supported: leave it out")


class SolutionWithoutTEval:
    """The states of a solution without ``t_eval``, or its times: how many there are is data, but the ends are known."""

    def __init__(self, first: Any, last: Any) -> None:
        self.first, self.last = first, last

    def __getitem__(self, key: Any) -> Any:
        place = key[-1] if isinstance(key, tuple) else key
        if isinstance(place, slice) or place not in (0, -1) or isinstance(key, tuple) != (np.ndim(self.first) > 0):
            _refuse_steps()
        end = self.first if place == 0 else self.last
        return end[key[0]] if isinstance(key, tuple) else end

    def __len__(self) -> int:
        return _refuse_steps()

    def __iter__(self) -> Any:
        return _refuse_steps()

    @property
    def T(self) -> Any:
        return _refuse_steps()

    @property
    def shape(self) -> Any:
        return _refuse_steps()

    @property
    def size(self) -> Any:
        return _refuse_steps()


def _refuse_steps() -> Any:
    raise NotImplementedError(
        "how many steps solve_ivp makes is known only at run time: pass t_eval=times, or read sol.y[:, -1]"
    )


@optional("scipy.integrate", "solve_ivp", is_definition=True, static=False)
def solve_ivp(
    fun: Any,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: Any = False,
    events: Any = None,
    vectorized: Any = False,
    args: Any = None,
    *,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    first_step: Any = None,
    max_step: Any = np.inf,
) -> Any:
    """The explicit methods, with SciPy's steps."""
    name = method if isinstance(method, str) else method.__name__
    if name not in EXPLICIT:
        raise NotImplementedError(
            "an implicit method of solve_ivp is not supported: use 'DOP853', or write a loop of implicit steps"
        )
    if events is not None or dense_output or vectorized:
        raise NotImplementedError(
            "events, dense_output and vectorized of solve_ivp are not supported: leave them out, and pass t_eval=times"
        )
    state, atol = state_of(y0), array_like(atol)
    t0, t1 = 1.0 * t_span[0], 1.0 * t_span[1]
    times = np.reshape(array_like(t1), (1,)) if t_eval is None else array_like(t_eval).astype(np.float64)
    if t_eval is not None:
        _require_order(times, t0, t1)
    flow = Flow(Right(fun, () if args is None else args, True), name, rtol, atol)
    rows, last = solution(flow, t0, t1, state, times, first_step, max_step, np.inf)
    return (
        Solution(SolutionWithoutTEval(t0, t1), SolutionWithoutTEval(state, last))
        if t_eval is None
        else Solution(times, rows.T)
    )


def state_of(y0: Any) -> Any:
    state = array_like(y0)
    if state.ndim != 1:
        raise ValueError("the initial state is to be a vector")
    if np.iscomplexobj(state):
        raise NotImplementedError("an initial state of complex numbers is not supported: integrate its two parts")
    return state.astype(np.float64)


def _require_order(times: Any, t0: Any, t1: Any) -> None:
    if times.ndim != 1:
        raise ValueError("t_eval is to be a vector")
    if np.any(times < np.minimum(t0, t1)) or np.any(times > np.maximum(t0, t1)):
        raise ValueError("values in t_eval are outside of t_span")
    if np.any((times[1:] - times[:-1]) * np.where(t1 < t0, -1.0, 1.0) <= 0.0):
        raise ValueError("values in t_eval are not sorted in the order of t_span")


@optional("scipy.integrate", "odeint", is_definition=True, static=False)
def odeint(
    func: Any,
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,
    col_deriv: Any = 0,
    full_output: Any = 0,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    tcrit: Any = None,
    h0: Any = 0.0,
    hmax: Any = 0.0,
    hmin: Any = 0.0,
    ixpr: Any = 0,
    mxstep: Any = 0,
    mxhnil: Any = 0,
    mxordn: Any = 12,
    mxords: Any = 5,
    printmessg: Any = 0,
    tfirst: Any = False,
) -> Any:
    """By DOP853 instead of LSODA, with the same tolerances: both are as near to the solution as these ask for."""
    if full_output or tcrit is not None or hmin != 0.0:
        raise NotImplementedError("full_output, tcrit and hmin of odeint are not supported: leave them out")
    times = array_like(t).astype(np.float64)
    steps = times[1:] - times[:-1]
    if np.any(steps < 0.0) and np.any(steps > 0.0):
        raise ValueError("the times of odeint are neither increasing nor decreasing")
    tolerances = [array_like(TOLERANCE if one is None else one) for one in (rtol, atol)]
    flow = Flow(Right(func, args if isinstance(args, tuple) else (args,), tfirst), "DOP853", *tolerances)
    first_step = None if h0 == 0.0 else h0
    max_step = np.inf if hmax == 0.0 else hmax
    most = MOST if mxstep == 0 else mxstep
    state = state_of(np.atleast_1d(array_like(y0)))
    return solution(flow, times[0], times[-1], state, times, first_step, max_step, most)[0]
