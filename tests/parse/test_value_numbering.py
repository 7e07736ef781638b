"""Value numbering: equal values are computed once."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.program import Call, walk
from sdfgad.parse.value_numbering import merge_equal
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope, parsed
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


# --- calls of library functions


def one_svd(a):
    u, _, v = np.linalg.svd(a)
    return np.sum((u @ v).real)


def two_svds(a):
    u = np.linalg.svd(a)[0]
    v = np.linalg.svd(a)[2]
    return np.sum((u @ v).real)


def two_svds_of_equal_arrays(a):
    return np.sum((np.linalg.svd(a * 2.0)[0] @ np.linalg.svd(a * 2.0)[2]).real)


def an_update_between(a):
    u = np.linalg.svd(a)[1]
    a[0] *= 2.0
    return np.sum(u) * np.sum(np.linalg.svd(a)[1])


def a_result_that_is_updated(a):
    u, v = np.linalg.inv(a), np.linalg.inv(a)
    v[0] *= 3.0
    return np.sum((u * v).real)


def other_right_sides(a):
    return np.sum((np.linalg.solve(a, a[0]) * np.linalg.solve(a, a[1])).real)


def a_result_that_is_returned(a):
    return np.linalg.inv(a), np.linalg.inv(a)


CALLS = {
    one_svd: 1,
    two_svds: 1,
    two_svds_of_equal_arrays: 1,
    an_update_between: 2,
    a_result_that_is_updated: 2,
    other_right_sides: 2,
    a_result_that_is_returned: 1,
}


def matrix(dtype):
    rng = np.random.default_rng(4)
    real = rng.normal(size=(3, 3)) + 3.0 * np.diag([1.0, 2.0, 3.0])
    return real + 1j * rng.normal(size=(3, 3)) if dtype is complex else real


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("program", CALLS)
def test_equal_calls_are_merged(program, dtype):
    calls = [s for s in walk(parsed(program, matrix(dtype)).program.body) if isinstance(s, Call)]
    assert len([call for call in calls if call.outputs[0].shape]) == CALLS[program]
    assert_like_python(program, matrix(dtype), tolerance=1e-10)
    if program is not a_result_that_is_returned:
        assert_slope(program, matrix(dtype))


def test_phases_of_one_decomposition_in_two_calls():
    a = matrix(complex)
    slope = sdfgad.differentiate(two_svds)(a)["a"]
    assert np.isfinite(slope).all()
    np.testing.assert_allclose(slope, sdfgad.differentiate(one_svd)(a)["a"], rtol=1e-12)


def with_equal_bounds(x, s):
    """Two loops whose bounds are equal numbers, the second of which is left early: its guards speak of one of them."""
    total = 0.0
    for _ in range(int(np.argmax(x > 0.9)), 6):
        total += s
    for i in range(int(np.argmax(x > 0.9)), -1, -1):
        total += x[i] * s
        if x[i] < 0.5:
            break
    return total


def test_guards_of_loops_are_renamed_too():
    assert_value_and_slope(with_equal_bounds, np.linspace(0.3, 1.9, 6), 0.7)
