"""Order statistics and running sums of selections, through compiled code."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises, SdfgadError
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope

X = np.random.default_rng(4).permutation(np.linspace(-1.0, 2.0, 11)) + 0.03


def ordered(x, low):
    s = np.sort(x[x > low])
    return np.sum(s**3) + s[0] * s[-1] * s[1]


def medians(x, low):
    return np.median(x[x > low]) + np.median(x[x < 0.9]) ** 2


def shares(x, low):
    return np.percentile(x[x > low], 30.0) * np.sum(np.quantile(x[x < low + 0.9], [0.1, 0.5, 0.77]))


def running(x, low):
    c = np.cumsum(x[x > low])
    return c[-1] ** 2 + np.sum(c**2)


def of_a_matrix(x, low):
    A = np.outer(x, x[:3])
    return np.median(A[A > low]) + np.sort(A[A > low])[1]  # noqa: SIM300


def compressed(x, low):
    rows = np.compress(x[:3] < 9.0, np.outer(x[:3], x), axis=0)
    return np.sum(np.compress(x > low, x) ** 3) * np.mean(np.compress(np.arange(7) % 3, x)) + np.sum(rows**2)


def nearest(x, low):
    s = x[x > low]
    i = np.argmin(np.abs(s - 1.7))
    return s[i] ** 2 + s.item(np.argmax(np.cos(s))) * s.cumsum()[-1]


def places(x, low):
    s = np.extract(x > low, x)
    return s[s.argmax()] * s[s.argmin()] + x[0] * s.argmin() + x[1] * np.argmax(-s)


@pytest.mark.parametrize("program", [ordered, medians, shares, running, of_a_matrix, compressed, nearest, places])
def test_of_selections(program):
    g = sdfgad.differentiate(program, wrt="x")
    for low in (-0.5, 0.2, 1.5):
        np.testing.assert_allclose(g.value(X, low), program(X, low), rtol=1e-12)
        sdfgad.check_grads(program, X, low, wrt="x")


def test_nothing_selected_and_nan():
    g = sdfgad.differentiate(lambda x, low: np.median(x[x > low]), wrt="x")
    assert np.isnan(g.value(X, 9.0))
    with_nan = np.where(X > 1.5, np.nan, X)
    h = sdfgad.differentiate(lambda x, low: np.median(x[~(x < low)]), wrt="x")
    assert np.isnan(h.value(with_nan, 0.0))
    np.testing.assert_allclose(g.value(with_nan, 0.0), np.median(with_nan[with_nan > 0.0]))


def test_integers():
    k = np.array([3, 1, 2, 5, 4])
    g = sdfgad.differentiate(lambda x, n: x[np.sort(k[k > n])[0]] * np.median(k[k > n]) + x[0], wrt="x")
    for n in (0, 2):
        chosen = k[k > n]
        expected = np.zeros(5)
        expected[np.sort(chosen)[0]] += np.median(chosen)
        expected[0] += 1.0
        np.testing.assert_allclose(g(X[:5], n), expected)


def along_an_axis(x):
    return np.sum(np.sort(np.outer(x, x)[x > 0.0], axis=1))


def by_another_method(x):
    return np.quantile(x[x > 0.0], 0.3, method="lower")


@pytest.mark.parametrize("program", [along_an_axis, by_another_method])
def test_others_take_as_many_elements_as_there_are(program):
    assert_value_and_slope(program, X)
    mapped = sdfgad.vmap(program)
    with pytest.raises(SdfgadError) as caught:
        mapped(np.stack([X, X]))
    assert str(caught.value.where) == line_of(program, "return")


def first_below(x, low):
    return x[0] + np.argmin(x[x < low])


def test_places_where_elements_are_infinite_or_nan():
    g = sdfgad.differentiate(first_below, wrt="x")
    for x in ([1.0, np.inf, 0.2, -np.inf], [2.0, 3.0, np.inf, np.inf], [3.0, 0.1, 0.05, 0.05]):
        assert g.value(np.array(x), np.inf) == first_below(np.array(x), np.inf)
    h = sdfgad.differentiate(lambda x, low: x[0] + np.argmax(x[~(x < low)]), wrt="x")
    assert h.value(np.array([0.5, -9.0, 0.7, np.nan, 0.9]), 0.0) == 0.5 + 2.0


def test_no_place_of_nothing():
    g = sdfgad.differentiate(nearest, wrt="x")
    np.testing.assert_allclose(g.value(X, 0.2), nearest(X, 0.2), rtol=1e-12)
    with pytest.raises(ProgramRaises, match="an extremum of an empty sequence") as error:
        g(X, 9.0)
    assert line_of(nearest, "np.argmin") in str(error.value)


def extracted(x, low):
    A = np.outer(x, x[:3])
    column = np.extract(x > low, A[:, :1])
    return np.sum(np.extract(x > low, A) ** 2) + np.sum(np.extract(A[:2] > low, x) ** 3) + column[0] * np.sum(column)


def test_extract_takes_flat_places():
    g = sdfgad.differentiate(extracted, wrt="x")
    assert np.ndim(sdfgad.vjp(lambda x: (np.extract(x[0] > 0.0, x),), X[:, None])[0][0]) == 1
    for low in (-0.5, 0.2):
        np.testing.assert_allclose(g.value(X, low), extracted(X, low), rtol=1e-12)
        sdfgad.check_grads(extracted, X, low, wrt="x")
