"""Value numbering: equal values are computed once."""

import numpy as np
import pytest

import sdfgad
from sdfgad.parse.value_numbering import merge_equal
from tests.helpers_ir import parsed
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import sample

MERGED = {
    "values of values": (
        """
        for p < 20: a[p] = x[p] * 2.0
        for p < 20: b[p] = sin(a[p])
        for j < 20: t[j] = x[j] * 2.0
        for j < 20: z[j] = sin(t[j]) + b[j]
        """,
        {"t"},
    ),
    "sums": (
        """
        s = 0.0
        for p < 20: s += x[p]
        r = 0.0
        for p < 20: r += x[p]
        q = s * r
        """,
        {"r"},
    ),
    "chains": (
        """
        for p < 20: a[p] = x[p] * 2.0
        for p < 20: b[p] = sin(a[p])
        for p < 20: t[p] = x[p] * 2.0
        for p < 20: w[p] = sin(t[p])
        for p < 20: z[p] = b[p]
        """,
        {"t"},
    ),
    "used in a loop": (
        """
        for p < 20: a[p] = x[p] * 2.0
        for p < 20: b[p] = x[p] * 2.0
        loop j < 20:
            z[j] = a[j] * b[j]
        """,
        {"b"},
    ),
}
KEPT = {
    "other sizes": """
        for p < 19: a[p] = x[p] * 2.0
        for p < 20: b[p] = x[p] * 2.0
        for p < 19: z[p] = a[p] + b[p]
        """,
    "of what changes": """
        s = x[0]
        r = s * 2.0
        s = x[1]
        k = s * 2.0
        q = r + k
        """,
    "of what changes later": """
        for p < 20: t[p] = x[p]
        for p < 20: a[p] = t[p] * 2.0
        for p < 20: b[p] = t[p] * 2.0
        t[3] = 1.0
        for p < 20: z[p] = a[p] + b[p] + t[p]
        """,
    "changed afterwards": """
        for p < 20: a[p] = x[p] * 2.0
        for p < 20: b[p] = x[p] * 2.0
        b[3] = 1.0
        for p < 20: z[p] = a[p] + b[p]
        """,
    "used between": """
        for p < 20: a[p] = x[p] * 2.0
        a[3] = 1.0
        for p < 20: b[p] = x[p] * 2.0
        for p < 20: w[p] = b[p]
        b[3] = 1.0
        for p < 20: z[p] = a[p] + b[p]
        """,
    "made in a loop": """
        loop j < 20:
            a[j] = x[j] * 2.0
            b[j] = x[j] * 2.0
            z[j] = a[j] + b[j]
        """,
}


@pytest.mark.parametrize("name", MERGED)
def test_equal_values_are_made_once(name):
    text, gone = MERGED[name]
    program, arrays, integers = sample(text)
    made = merge_equal(program)
    assert set(program.buffers) - set(made.buffers) == gone
    assert_same(outputs(made, arrays, integers), outputs(program, arrays, integers), name)


@pytest.mark.parametrize("name", KEPT)
def test_what_may_differ_is_kept(name):
    program, _, _ = sample(KEPT[name])
    assert merge_equal(program) == program


def weighted_means(data, radius):
    counts = np.histogram(radius, 5)[0]
    return np.histogram(radius, 5, weights=data)[0] / counts


def test_histograms_share_their_bins():
    rng = np.random.default_rng(0)
    data, radius, c = rng.uniform(size=50), rng.uniform(size=50), rng.normal(size=5)
    once = parsed(lambda data, radius: np.histogram(radius, 5, weights=data)[0], data, radius)
    both = parsed(weighted_means, data, radius)
    assert len(both.program.body) < 1.5 * len(once.program.body)
    bins = np.digitize(radius, np.histogram(radius, 5)[1][1:-1])
    found = sdfgad.differentiate(weighted_means, wrt="data").vjp(data, radius, cotangent=c)
    np.testing.assert_allclose(found, (c / np.bincount(bins))[bins], rtol=1e-13)
