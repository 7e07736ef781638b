"""Gradients through extrema of computed elements: an element attains the extremum however often it is computed."""

import numpy as np
import pytest

import sdfgad

DRAWS, COLUMNS = 25, 7


def of_an_expression(x, y):
    return np.sum(np.max(np.exp(x) * np.sin(y), axis=1) * np.min(np.hypot(x, 1.0 + y**2) * x, axis=1))


def of_a_name_in_a_loop(x, y):
    s = 0.0
    for _ in range(3):
        t = np.exp(x + s) * np.sin(y)
        s = s + 0.1 * np.sum(np.max(t, axis=1))
    return s


def of_places(x, y):
    k = np.argmax(np.tanh(x) * np.cos(y), axis=1)
    return np.sum(x[np.arange(3), k] * np.max(np.tanh(x) * np.cos(y)))


def of_a_mask_in_a_loop(x, y):
    s = 0.0
    for _ in range(3):
        t = np.exp(0.5 * x + 0.1 * np.tanh(s)) * np.sin(y)
        m = np.max(t, axis=1)
        w = np.where(t >= m[:, None], t * t, 0.0)
        s = s + 0.1 * np.sum(w)
    return s


def test_what_is_compared_with_an_array_is_not_made_again():
    x = np.ones((3, COLUMNS))
    with pytest.raises(sdfgad.ArgumentError, match="there is no value `t` that could be recomputed"):
        sdfgad.differentiate(of_a_mask_in_a_loop, overrides={"t": "recompute"}).plan(x, x)


PLANS = [
    (of_an_expression, {}),
    (of_an_expression, {"strategy": "recompute_all"}),
    (of_a_name_in_a_loop, {}),
    (of_a_name_in_a_loop, {"strategy": "recompute_all"}),
    (of_a_name_in_a_loop, {"overrides": {"t": "recompute"}}),
    (of_places, {}),
    (of_a_mask_in_a_loop, {"strategy": "recompute_all"}),
]


@pytest.mark.parametrize(("program", "options"), PLANS)
def test_each_draw_has_its_slope(program, options):
    # Of rows of 7 columns some elements are lanes of a vector and others are not: their functions round differently.
    g, rng, step = sdfgad.differentiate(program, **options), np.random.default_rng(11), 1e-6
    for _ in range(DRAWS):
        x, y, along = rng.uniform(0.5, 1.5, (3, 3, COLUMNS))
        slope = (program(x + step * along, y) - program(x - step * along, y)) / (2 * step)
        assert np.sum(g(x, y)["x"] * along) == pytest.approx(slope, rel=1e-5)


def of_an_array_called_count(count, top):
    return np.sum(np.max(count * top, axis=1))


def test_names_of_the_users_are_not_those_of_the_rule():
    count, top = np.random.default_rng(2).uniform(0.5, 1.5, (2, 3, 4))
    is_largest = count * top == np.max(count * top, axis=1, keepdims=True)
    found = sdfgad.differentiate(of_an_array_called_count)(count, top)
    np.testing.assert_array_equal(found["count"], np.where(is_largest, top, 0.0))
    np.testing.assert_array_equal(found["top"], np.where(is_largest, count, 0.0))
