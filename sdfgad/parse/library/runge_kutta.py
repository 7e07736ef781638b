"""Explicit pairs of Runge and Kutta with step control and dense output, with the steps that scipy.integrate makes.

The pairs are those of Bogacki and Shampine, Dormand and Prince, and Hairer's DOP853 (Hairer, Nørsett and Wanner,
Solving Ordinary Differential Equations I, II.4 to II.6). A derivative is that of the steps that were made, their
lengths held (internal numerical differentiation, Bock 1981): its error falls with the tolerance, as the solution's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.functions.integrators import tableau
from sdfgad.parse.functions.special import held

EPS = 2.0**-52
# A norm of the error that is zero lets the step grow by the largest factor.
LEAST = 1e-300


class Flow:
    """The right side of a system, the method, and the tolerances of its steps."""

    def __init__(self, right: Any, method: Any, rtol: Any, atol: Any) -> None:
        self.right, self.rtol, self.atol = right, np.maximum(rtol, 100.0 * EPS), atol
        self.nodes, self.matrix, self.errors, self.dense, self.stages, self.size, self.order = tableau(method)

    def slope(self, t: Any, y: Any) -> Any:
        return array_like(self.right(t, y))

    def add_stages(self, slopes: Any, t: Any, y: Any, h: Any, first: Any, stop: Any) -> None:
        for i in range(first, stop):
            slopes[i] = self.slope(t + self.nodes[i] * h, y + h * (self.matrix[i, :i] @ slopes[:i]))

    def step(self, slopes: Any, t: Any, y: Any, f: Any, h: Any) -> Any:
        """The new state; the stages, and the slope at the new state, are left in `slopes`."""
        n = self.stages
        slopes[0] = f
        self.add_stages(slopes, t, y, h, 1, n + 1)
        return y + h * (self.matrix[n, :n] @ slopes[:n])

    def error(self, slopes: Any, y: Any, new: Any, h: Any) -> Any:
        """The norm of the estimated error of a step, in units of the tolerance."""
        scale = self.atol + np.maximum(np.abs(y), np.abs(new)) * self.rtol
        squares = np.sum(np.abs(self.errors @ slopes[: self.stages + 1] / scale) ** 2, axis=1)
        if self.errors.shape[0] == 1:
            return np.abs(h) * np.sqrt(squares[0] / y.shape[0])
        # DOP853 has estimates of the orders 5 and 3.
        whole = squares[0] + 0.01 * squares[1]
        return np.abs(h) * squares[0] / np.sqrt(np.where(whole == 0.0, 1.0, whole) * y.shape[0])

    def at(self, slopes: Any, t: Any, y: Any, new: Any, h: Any, time: Any) -> Any:
        """The dense output of the step from `t` on at one time; before any step (h is 0) that time is `t` itself."""
        is_new = h == 0.0
        x = np.where(is_new, 0.0, (time - t) / np.where(is_new, 1.0, h))
        start = y + np.where(is_new, time - t, 0.0) * slopes[0]
        if self.size > self.stages + 1:
            return start + self._hermite(slopes, new - y, h, x)
        weights = 0.0 * self.dense[:, 0]
        for j in range(self.dense.shape[1]):
            weights = (weights + self.dense[:, self.dense.shape[1] - 1 - j]) * x
        return start + h * (weights @ slopes)

    def _hermite(self, slopes: Any, delta: Any, h: Any, x: Any) -> Any:
        """The change by the dense output of order 7, in powers of x and 1 - x by turns."""
        first, last = slopes[0], slopes[self.stages]
        rest = h * (self.dense @ slopes)
        parts = (delta, h * first - delta, 2.0 * delta - h * (last + first), rest[0], rest[1], rest[2], rest[3])
        total = 0.0 * delta
        for j in range(7):
            total = (total + parts[6 - j]) * (x if j % 2 == 0 else 1.0 - x)
        return total


def _norm(x: Any) -> Any:
    return np.sqrt(np.sum(np.abs(x) ** 2) / x.shape[0])


def _first_length(flow: Flow, t0: Any, y0: Any, f0: Any, span: Any, max_step: Any) -> Any:
    """The length of the first step, from the sizes of the first two derivatives (in Solving ODEs I, II.4)."""
    length, direction = np.abs(span), np.where(span < 0.0, -1.0, 1.0)
    scale = flow.atol + np.abs(y0) * flow.rtol
    d0, d1 = _norm(y0 / scale), _norm(f0 / scale)
    is_small = np.logical_or(d0 < 1e-5, d1 < 1e-5)
    h0 = np.minimum(np.where(is_small, 1e-6, 0.01 * d0 / np.where(is_small, 1.0, d1)), length)
    change = flow.slope(t0 + h0 * direction, y0 + h0 * direction * f0) - f0
    d = np.maximum(d1, _norm(change / scale) / np.where(h0 == 0.0, 1.0, h0))
    is_flat = d <= 1e-15
    by_slope = (0.01 / np.where(is_flat, 1.0, d)) ** (1.0 / flow.order)
    h1 = np.where(is_flat, np.maximum(1e-6, h0 * 1e-3), by_slope)
    return np.minimum(np.minimum(100.0 * h0, h1), np.minimum(length, max_step))


def _factor(error: Any, is_again: Any, order: Any) -> Any:
    """By what the next step is longer than the last one; NaN makes it shorter."""
    grown = np.minimum(0.9 * np.maximum(error, LEAST) ** (-1.0 / order), np.where(is_again, 1.0, 10.0))
    return np.where(error < 1.0, grown, np.fmax(0.9 * np.where(error < 1.0, 1.0, error) ** (-1.0 / order), 0.2))


def _spacing(t: Any, direction: Any) -> Any:
    return 10.0 * np.abs(np.nextafter(t, direction * np.inf) - t)


def _start(flow: Flow, t0: Any, t1: Any, y0: Any, first_step: Any, max_step: Any) -> Any:
    """The slope at the start, room for the stages of a step, and the length of the first step."""
    slopes = np.zeros((flow.size, y0.shape[0]), y0.dtype)
    slopes[0] = flow.slope(t0, y0)
    f = np.copy(slopes[0])
    if first_step is not None:
        return f, slopes, 1.0 * held(first_step)
    return f, slopes, held(_first_length(flow, held(t0), held(y0), held(f), held(t1) - held(t0), max_step))


def solution(flow: Flow, t0: Any, t1: Any, y0: Any, times: Any, first_step: Any, max_step: Any, most: Any) -> Any:
    """The solution at times, one a row, and at the last of them.

    Args:
        times: from `t0` to `t1`, in this order.
        first_step: the length of the first step, or None.
        most: how many steps may be tried between two times.
    """
    direction = np.where(t1 < t0, -1.0, 1.0)
    result = np.zeros((times.shape[0], y0.shape[0]), y0.dtype)
    t, y, h, before, old = t0, np.copy(y0), 0.0 * t0, t0, np.copy(y0)
    f, slopes, length = _start(flow, t0, t1, y0, first_step, max_step)
    # What is raised in a loop does not end it: these do.
    is_again, is_complete, is_stuck, is_late = False, False, False, False
    for k in range(times.shape[0]):
        tried = 0
        while direction * (times[k] - t) > 0.0 and t != t1 and not is_stuck and not is_late:
            least = _spacing(t, direction)
            length = np.where(is_again, length, np.minimum(np.maximum(length, least), max_step))
            before, old = t, y
            end = t + held(length) * direction
            end = t1 if direction * (end - t1) > 0.0 else end
            h = end - t
            new = flow.step(slopes, t, y, f, h)
            error = held(flow.error(slopes, y, new, h))
            if error < 1.0:
                t, y, f = end, new, np.copy(slopes[flow.stages])
            tried += 1
            is_stuck, is_late = length < least, tried > most
            length = held(np.abs(h)) * _factor(error, is_again, flow.order)
            is_again, is_complete = np.logical_not(error < 1.0), False
        if not is_complete:
            flow.add_stages(slopes, before, old, h, flow.stages + 1, flow.size)
            is_complete = True
        result[k] = flow.at(slopes, before, old, y, h, times[k])
    _require_end(is_stuck, is_late)
    return result, y


def _require_end(is_stuck: Any, is_late: Any) -> None:
    if is_stuck:
        raise RuntimeError("an integrator needs steps that are shorter than the distance between numbers")
    if is_late:
        raise RuntimeError("an integrator has tried more steps between two times than mxstep (50000 if it is 0)")
