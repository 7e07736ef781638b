"""Which values of a trip may be recomputed: none that needs a residual of unknown size instead."""

import math

import numpy as np
import pytest

import sdfgad


def fixed_points(y, v):
    """Iterations of unknown length inside of another one: `s` is read in them, where it might be recomputed, and behind
    them, where it must have been kept."""
    x = 0.0
    for _ in range(6):
        r = 0.0
        for i in range(4):
            u = v[i]
            for _ in range(50):
                s = math.sin(u) + y * x
                old = u
                u = v[i] + 0.3 * math.cos(s) * s
                if abs(u - old) < 1e-12:
                    break
            r = r + s * s + u
        d = 0.1 * r
        x = x + d
        if abs(d) < 1e-3:
            break
    return x


@pytest.mark.parametrize("limit", [None, 20_000])
def test_a_value_that_is_read_behind_its_loop_is_kept(limit):
    # The search for such choices did not end.
    y, v = 0.4, np.array([0.3, 0.6, 0.9, 1.2])
    value, gradients = sdfgad.differentiate(fixed_points, wrt=("y", "v"), memory_limit=limit).value_and_grad(y, v)
    assert value == pytest.approx(fixed_points(y, v), rel=1e-12)
    slope = (fixed_points(y + 1e-6, v) - fixed_points(y - 1e-6, v)) / 2e-6
    assert gradients[0] == pytest.approx(slope, rel=1e-6)
