"""Powell's hybrid method for systems of equations, which is SciPy's default: of several roots it finds SciPy's.

Dogleg steps in a trust region lead from the start to a root; the matrix of slopes is made of forward differences, and
after that updated by Broyden's formula, until two steps in a row fail (Powell 1970; the constants are MINPACK's).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.special import held

# The first trust region, relative to the start; the last, relative to the root; differences; evaluations by unknowns.
FACTOR, CLOSE, SHIFT, MOST = 100.0, 1.49012e-8, 2.0**-26, 200


def near_root(system: Any, start: Any, most: Any = None) -> Any:
    """Where the method ends from a start: near a root, if it finds one.

    Args:
        system: a function of a vector, with as many values.
        start: a vector.
        most: the most steps.
    """
    x, value = held(start), held(system(held(start)))
    n = x.shape[0]
    slopes, scale = np.zeros((n, n)), np.ones(n)
    radius: Any = 0.0
    steps, failures, successes, is_first, is_stale = 0, 0, 0, True, True
    is_done = np.sum(value**2) == 0.0
    limit = MOST * (n + 1) if most is None else most
    while not is_done and steps < limit:
        if is_stale:
            slopes = _forward(system, x, value)
            scale = _scale(slopes, scale, is_first)
            radius = FACTOR * (_size(scale * x) + (_size(scale * x) == 0.0)) if is_first else radius
            failures, is_stale = 0, False
        step = _dogleg(slopes, value, scale, radius)
        reach = _size(scale * step)
        radius = np.minimum(radius, reach) if is_first else radius
        after = held(system(x + step))
        linear = value + slopes @ step
        ratio = _ratio(value, after, linear)
        failures, successes = (0, successes + 1) if ratio >= 0.1 else (failures + 1, 0)
        radius, is_stale = _region(radius, reach, ratio, successes), failures == 2
        if not is_stale:
            slopes = slopes + np.outer((after - linear) / reach, scale * (scale * step) / reach)
        if ratio >= 1e-4:
            x, value, is_first = x + step, after, False
        is_done = (radius <= CLOSE * _size(scale * x)) | (np.sum(value**2) == 0.0)
        steps += 1
    return x


def _size(x: Any) -> Any:
    return np.sqrt(np.sum(x**2))


def _scale(slopes: Any, scale: Any, is_first: Any) -> Any:
    """The scales of the unknowns: how fast the functions change with each, at most so far."""
    columns = np.sqrt(np.sum(slopes**2, axis=0))
    return np.where(columns == 0.0, 1.0, columns) if is_first else np.maximum(scale, columns)


def _ratio(value: Any, after: Any, linear: Any) -> Any:
    """How far the square of a vector falls in a step, by that in the linear model; 0 or less if it rises."""
    before, now, then = np.sum(value**2), np.sum(after**2), np.sum(linear**2)
    fall = np.where(now < before, 1.0 - now / before, -1.0)
    return np.where(then < before, fall / np.maximum(1.0 - then / before, 1e-300), 0.0)


def _region(radius: Any, reach: Any, ratio: Any, successes: Any) -> Any:
    """The radius of the trust region after a step that reached so far."""
    wider = np.where((ratio >= 0.5) | (successes > 1), np.maximum(radius, 2.0 * reach), radius)
    wider = np.where(np.abs(ratio - 1.0) <= 0.1, 2.0 * reach, wider)
    return np.where(ratio >= 0.1, wider, 0.5 * radius)


def _forward(system: Any, x: Any, value: Any) -> Any:
    """The matrix of slopes by forward differences."""
    n = x.shape[0]
    slopes = np.zeros((n, n))
    for k in range(n):
        h = np.where(x[k] == 0.0, SHIFT, SHIFT * np.abs(x[k]))
        slopes[:, k] = (held(system(x + np.where(np.arange(n) == k, h, 0.0))) - value) / h
    return slopes


def _dogleg(slopes: Any, value: Any, scale: Any, radius: Any) -> Any:
    """The step in a trust region: Newton's, or a mixture with the steepest descent of the scaled problem."""
    newton = -np.linalg.solve(slopes, value)
    far = _size(scale * newton)
    gradient = (slopes.T @ value) / scale
    steep = _size(gradient)
    downhill = -gradient / (scale * np.maximum(steep, 1e-300))
    length = steep / np.maximum(np.sum((slopes @ downhill) ** 2), 1e-300)
    inside, part = np.minimum(length / radius, 1.0), radius / np.maximum(far, 1e-300)
    size = _size(value)
    mixed = size / np.maximum(steep, 1e-300) * (size / np.maximum(far, 1e-300)) * inside
    root = (mixed - part) ** 2 + (1.0 - part**2) * (1.0 - inside**2)
    weight = part * (1.0 - inside**2) / np.maximum(mixed - part * inside**2 + np.sqrt(np.maximum(root, 0.0)), 1e-300)
    share = np.where((length < radius) & (steep > 0.0), weight, np.where(steep > 0.0, 0.0, part))
    bent = (1.0 - share) * np.minimum(length, radius) * downhill + share * newton
    return np.where(far <= radius, newton, bent)
