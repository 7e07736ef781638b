"""What contributions to several neighbours need, and takes long, is computed once for each point."""

import numpy as np
import pytest

from sdfgad.optimise.accumulation.gather import gather
from sdfgad.optimise.accumulation.share import share
from tests.helpers import with_target
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes
from tests.helpers_text import sample


def test_a_quotient_of_neighbours_and_of_others_at_the_same_points():
    assert_becomes(
        share,
        """
        s = x[3]
        for p < 18: w[p] = y[p] / s
        for p < 18: z[p] += y[p] / s
        for p < 18: z[p + 1] += (y[p] / s) * -2.0
        for p < 18: s += y[p] / s
        for p < 18: z[p + 2] += y[p] / s
        """,
        """
        s = x[3]
        for p < 18: shared[p] = (y[p] / s)
        for p < 18: w[p] = shared[p]
        for p < 18: z[p] += shared[p]
        for p < 18: z[p + 1] += (shared[p] * -2.0)
        for p < 18: s += (y[p] / s)
        for p < 18: z[p + 2] += (y[p] / s)
        """,
    )


def test_the_value_that_saves_most_then_others():
    assert_becomes(
        share,
        """
        for p < 18: z[p] += exp((y[p] / x[p])) * 2.0
        for p < 18: z[p + 1] += exp((y[p] / x[p])) * 2.0
        for p < 18: z[p + 2] += exp((y[p] / x[p])) + sqrt(y[p])
        for p < 18: z[p + 2] += sqrt(y[p]) * 3.0
        """,
        """
        for p < 18: shared[p] = exp((y[p] / x[p]))
        for p < 18: z[p] += (shared[p] * 2.0)
        for p < 18: z[p + 1] += (shared[p] * 2.0)
        for p < 18: z[p + 2] += (shared[p] + sqrt(y[p]))
        for p < 18: z[p + 2] += (sqrt(y[p]) * 3.0)
        """,
    )


def test_only_the_axes_that_a_value_depends_on():
    assert_becomes(
        share,
        """
        for p < 18, c < 6: Z[p, c] += (y[p] / x[p]) * w[c]
        for p < 18, c < 6: Z[p + 1, c] += y[p] / x[p]
        """,
        """
        for p < 18: shared[p] = (y[p] / x[p])
        for p < 18, c < 6: Z[p, c] += (shared[p] * w[c])
        for p < 18, c < 6: Z[p + 1, c] += shared[p]
        """,
    )


KEPT = {
    "quick": """
        for p < 18: z[p] += y[p] * x[p]
        for p < 18: z[p + 1] += y[p] * x[p]
        """,
    "the same for all points": """
        s = x[3]
        for p < 18: z[p] += y[p] * exp(s)
        for p < 18: z[p + 1] += y[p] * exp(s)
        """,
    "the same element": """
        for p < 18: z[p] += y[p] / x[p]
        for p < 18: z[p] += y[p] / x[p]
        """,
    "it changes": """
        for p < 20: a[p] = x[p]
        for p < 18: z[p] += y[p] / a[p]
        for p < 20: a[p] = y[p]
        for p < 18: z[p + 1] += y[p] / a[p]
        """,
    "of what it adds to": """
        for p < 18: z[p] += y[p] / z[p + 1]
        for p < 18: z[p + 1] += y[p] / z[p + 1]
        """,
    "only sometimes asked for": """
        for p < 18: z[p] += select(x[p] > 0.0, y[p] / x[p], 0.0)
        for p < 18: z[p + 1] += select(y[p] > 0.0, y[p] / x[p], 0.0)
        """,
    "other points": """
        for p < 18: z[p] += y[p] / x[p]
        for p < 17: z[p + 1] += y[p] / x[p]
        """,
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_stays(text):
    assert_stays(share, text)


def test_what_the_cache_cannot_hold_must_save_more(monkeypatch):
    text = """
        for p < 18: z[p] += y[p] / x[p]
        for p < 18: z[p + 1] += y[p] / x[p]
        """
    assert len(share(sample(text)[0]).body) == 3
    with_target(monkeypatch, cache_bytes=64)
    assert_stays(share, text)


def test_zero_and_infinite_elements():
    program, arrays, integers = sample("""
        for p < 20: z[p] = 0.0
        for p < 18: z[p] += select(y[p] == 0.0, 0.0, y[p] / x[p])
        for p < 18: z[p + 1] += select(y[p] == 0.0, 0.0, y[p] / x[p])
        """)
    arrays["x"][[2, 7]], arrays["y"][[2, 5]] = 0.0, 0.0
    changed = check_passes(program, arrays, integers, passes=[share, gather])
    assert "shared" in changed.buffers


def test_in_gradients():
    def pressure(nit, p, b, dx, dy):
        for _ in range(nit):
            old = p.copy()
            p[1:-1, 1:-1] = ((old[1:-1, 2:] + old[1:-1, :-2]) * dy**2 + (old[2:, 1:-1] + old[:-2, 1:-1]) * dx**2) / (
                2 * (dx**2 + dy**2)
            ) - b[1:-1, 1:-1]
        return np.sum(p * p)

    rng = np.random.default_rng(0)
    found = check_function(pressure, (2, rng.random((8, 9)), rng.random((8, 9)), 0.5, 0.7))
    assert any(name.startswith("shared") for name in found[1].buffers)
