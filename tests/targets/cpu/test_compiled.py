"""Whole programs, optimised, as compiled loop nests."""

import numpy as np
import pytest

import sdfgad
from sdfgad.optimise.passes import optimise
from sdfgad.sdfg.writer import write
from tests import helpers_arrays, helpers_memory
from tests.helpers import module_from, with_target
from tests.helpers_compiled import run_packed, threads
from tests.helpers_passes import assert_same, gradient_case, outputs, without_value
from tests.helpers_text import sample


def random_case(maker, seed, folder):
    program = module_from(maker(seed).text(), folder).program
    if maker is helpers_arrays.ArrayMaker:
        args = helpers_arrays.arguments(seed)
    else:
        rng = np.random.default_rng(seed)
        args = (*rng.uniform(0.2, 1.0, (2, 5)), np.array([0, 2, 1, 4, 1]), seed % 4)
    _, made, arrays, integers = gradient_case(program, args, wrt=["x", "y"])
    return (without_value(made) if seed % 2 else made.program), arrays, integers


@pytest.mark.parametrize("maker", [helpers_arrays.ArrayMaker, helpers_memory.Maker], ids=["matrices", "control flow"])
def test_gradients_of_random_programs(maker, tmp_path, monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    cases = [random_case(maker, seed, tmp_path) for seed in range(4)]
    with threads(4):
        found = run_packed([(optimise(program), arrays, integers) for program, arrays, integers in cases])
    for seed, (case, mine) in enumerate(zip(cases, found, strict=True)):
        assert_same(mine, outputs(*case), f"of seed {seed}")


def test_single_elements_of_one_statement_are_local():
    program, _, _ = sample("""
        loop j < 5:
            s = x[j] * 2.0
            r = s + 1.0
            z[j] = s * r
        r = x[7]
        q = r * r
        """)
    assert set(write(program).arrays) == {"x", "z", "q", "r"}


def thrice(x, n):
    s = x[0]
    for _ in range(n):
        for _ in range(n):
            for b in range(n):
                s = np.sin(s * x[b])
    return s


def test_a_tape_of_three_nested_loops():
    """Its size is a third power, which DaCe writes in a way of its own."""
    g, x, direction = sdfgad.differentiate(thrice), np.linspace(0.8, 1.2, 4), np.array([0.3, -0.2, 0.5, 0.0])
    slope = (thrice(x + 1e-6 * direction, 3) - thrice(x - 1e-6 * direction, 3)) / 2e-6
    np.testing.assert_allclose(g(x, 3)["x"] @ direction, slope, rtol=1e-6, atol=1e-12)


def badly_named(x, i_s, nest_1, parts_s, k):
    s = x[0] * 2.0
    for b_s in range(i_s + nest_1):
        for b_x in range(parts_s + k):
            s = s * x[b_s + b_x]
    x[1] = s
    return s * x[2] + np.max(x)


def test_names_of_the_user_do_not_collide_with_generated_ones(monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    x, direction, counts = np.linspace(0.8, 1.2, 6), np.array([0.3, -0.2, 0.5, 0.1, 0.7, -0.4]), (1, 2, 1, 1)
    gradient = sdfgad.differentiate(badly_named, wrt="x")(x, *counts)
    ends = [badly_named(x + step * direction, *counts) for step in (1e-6, -1e-6)]
    np.testing.assert_allclose(gradient @ direction, (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


SPECIAL = [np.nan, -0.0, 0.0, np.inf, -np.inf, 1.5, -1.5, 2.5, -2.5, 5e-324, -5e-324, 1e30, -1e30]
CHOSEN = (np.sign, np.floor, np.ceil, np.trunc, np.rint, np.deg2rad, np.rad2deg)


def chosen_values(x, y, mask):
    found = np.empty((13, x.size))
    for k, one in enumerate(CHOSEN):
        found[k] = np.where(mask, one(x), 7.0)
    found[7] = np.where(mask, np.copysign(x, y), 7.0)
    found[8] = np.where(mask, np.fmax(x, y), 7.0)
    found[9] = np.where(mask, np.fmin(x, y), 7.0)
    found[10] = np.where(np.isnan(x) | np.isinf(y), 1.0, np.where(np.isfinite(x), 2.0, 3.0))
    found[11] = np.where(mask, np.where(np.signbit(x), 4.0, 5.0), 7.0)
    found[12] = np.sign(x) + np.sign(y)
    return found


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_both_sides_of_choices_are_computed_as_numpy_does(kind):
    values = np.array(SPECIAL, kind)
    x, y = (one.ravel() for one in np.meshgrid(values, values))
    for mask in (np.arange(x.size) % 3 > 0, np.ones(x.size, bool)):
        with np.errstate(invalid="ignore"):
            expected = chosen_values(x, y, mask)
        np.testing.assert_array_equal(sdfgad.differentiate(chosen_values).value(x, y, mask), expected)


def by_integers(x, i, j):
    signs = np.stack([i * i, i + j, i - j, -i, np.square(i), i * 3 + j])
    return np.sum(np.where(signs >= 0, x, x * x) * np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])[:, None], 0), signs


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint16, np.int32, np.int64, np.uint64])
def test_integers_wrap_around(kind, rng):
    limits = np.iinfo(kind)
    ends = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, limits.max // 2 + 1, int(limits.max**0.5) + 1]
    i, j = (one.ravel() for one in np.meshgrid(np.array(ends, kind), np.array(ends, kind)))
    x = rng.uniform(2.0, 3.0, i.size)
    with np.errstate(over="ignore"):
        value, signs = by_integers(x, i, j)
    g = sdfgad.differentiate(by_integers, wrt="x", output="return[0]", reduce="sum")
    np.testing.assert_allclose(g.value(x, i, j), value, rtol=1e-14)
    weights = np.where(signs >= 0, 1.0, 2.0 * x) * np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])[:, None]
    np.testing.assert_allclose(g(x, i, j), weights.sum(0), rtol=1e-14)


def by_a_square(x, i):
    k = i * i
    return np.where(k >= 0, x, x * x)


@pytest.mark.parametrize(("kind", "root"), [(np.int32, 50_000), (np.int64, 1 << 32)])
def test_a_square_may_be_negative(kind, root):
    i, x = np.array([3, root, 60_000, -root - 1], kind), np.array([3.0, 6.0, 9.0, 12.0])
    with np.errstate(over="ignore"):
        expected = by_a_square(x, i), np.where(i * i >= 0, 1.0, 2.0 * x)
    g = sdfgad.differentiate(by_a_square, wrt="x", reduce="sum")
    np.testing.assert_array_equal(g.value(x, i), expected[0])
    np.testing.assert_array_equal(g(x, i), expected[1])
