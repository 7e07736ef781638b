"""Digests of results tell what rounding explains from what it does not."""

import numpy as np
import pytest

from sdfgad.runtime.digest import MOST_VALUES, difference, digest_of, values_of

SIZES = [1, 5, MOST_VALUES, MOST_VALUES + 1, 100_003]


def perturbed(values, size, seed):
    rng = np.random.default_rng(seed)
    return [values_of(values + size * rng.choice((-1.0, 1.0), values.size)) for _ in range(3)]


@pytest.mark.parametrize("size", SIZES)
def test_equal_results_have_no_difference(size):
    x = np.random.default_rng(size).standard_normal(size)
    assert digest_of(x).bits == digest_of(x.copy()).bits
    assert difference("x", digest_of(x), digest_of(x.copy()), []) is None


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
def test_one_wrong_element_is_found(size, dtype):
    x = (100 * np.random.default_rng(size).standard_normal(size)).astype(dtype)
    wrong = x.copy()
    wrong[size // 2] += 1
    assert digest_of(x).bits != digest_of(wrong).bits
    found = difference("x", digest_of(x), digest_of(wrong), [])
    assert found.name == "x"
    assert found.explained <= 1e-3
    assert "`x`" in str(found)


@pytest.mark.parametrize("size", SIZES)
def test_rounding_is_explained_and_more_is_not(size):
    rng = np.random.default_rng(size)
    x = rng.standard_normal(size)
    near = digest_of(x + 1e-13 * rng.uniform(-1, 1, size))
    runs = perturbed(x, 1e-13, size)
    assert difference("x", digest_of(x), near, runs) is None
    wrong = x.copy()
    wrong[size // 3] += 1e-8
    assert difference("x", digest_of(x), digest_of(wrong), runs) is not None


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_the_last_bit_is_rounding(size, dtype):
    """A result that hardly depends on what was perturbed moves in few runs, or in none."""
    x = np.random.default_rng(size).standard_normal(size).astype(dtype)
    near = x.copy()
    near[size // 2] *= 1 + 2 * np.finfo(dtype).eps
    assert difference("x", digest_of(x), digest_of(near), [values_of(x)]) is None


def test_the_last_bit_of_what_cancels_is_rounding():
    """A small difference of numbers as large as its neighbours moves by their last bits, in this run or in that."""
    rng = np.random.default_rng(7)
    x = rng.uniform(0.5, 1.0, 100)
    x[40] = 1e-6
    near, noise = x.copy(), np.zeros(100)
    near[40] += 2.0**-53
    noise[[70, 75, 80]] = 1e-15
    assert difference("x", digest_of(x), digest_of(near), [values_of(x + noise)]) is None
    assert difference("x", digest_of(x), digest_of(near), [values_of(x)]).position == 40
    wrong = x.copy()
    wrong[40] += 1e-14
    assert difference("x", digest_of(x), digest_of(wrong), [values_of(x + noise)]).position == 40


@pytest.mark.parametrize("size", SIZES[1:])
def test_a_nan_hides_nothing(size):
    x = np.random.default_rng(size).standard_normal(size)
    x[1], x[3] = np.nan, np.inf
    runs = perturbed(x, 1e-13, size)
    assert difference("x", digest_of(x), digest_of(x.copy()), runs) is None
    for place, value in ((2, x[2] + 1e-3), (1, 0.0), (0, np.nan), (3, -np.inf), (3, np.nan)):
        wrong = x.copy()
        wrong[place] = value
        assert difference("x", digest_of(x), digest_of(wrong), runs) is not None
        assert difference("x", digest_of(wrong), digest_of(x), perturbed(wrong, 1e-13, size)) is not None


def test_a_run_that_diverges_has_no_certain_digits():
    """There the deviations of few runs say little of that of another."""
    rng = np.random.default_rng(5)
    x, size = 1e76 * rng.standard_normal(100), 3e76 / 16.0
    near = digest_of(x + 20 * size * rng.choice((-1.0, 1.0), 100))
    assert difference("x", digest_of(x), near, perturbed(x, size, 5)) is None
    far = digest_of(x + 2000 * size * rng.choice((-1.0, 1.0), 100))
    assert difference("x", digest_of(x), far, perturbed(x, size, 5)) is not None


def test_integers_have_no_rounding():
    x = np.full(10, 1 << 60)
    assert difference("x", digest_of(x), digest_of(x + (np.arange(10) == 3) * 1024), []) is not None


def test_an_element_that_is_more_sensitive_does_not_hide_one_that_is_not():
    x = np.ones(1000)
    noise = np.full(1000, 1e-15)
    noise[10] = 1e-3
    runs = [values_of(x + sign * noise) for sign in (1, -1)]
    wrong = x.copy()
    wrong[500] += 1e-6
    assert difference("x", digest_of(x), digest_of(wrong), runs).position == 500


def test_nan_and_infinity_must_be_at_the_same_places():
    x = np.array([1.0, np.nan, np.inf, -np.inf])
    assert difference("x", digest_of(x), digest_of(x.copy()), []) is None
    for wrong in ([np.nan, np.nan, np.inf, -np.inf], [1.0, 2.0, np.inf, -np.inf], [1.0, np.nan, -np.inf, -np.inf]):
        assert difference("x", digest_of(x), digest_of(np.array(wrong)), []) is not None


def test_what_perturbations_make_nan_is_explained():
    x, near = np.array([1.0, 2.0]), np.array([1.0, np.nan])
    assert difference("x", digest_of(x), digest_of(near), [values_of(near)]) is None


def test_empty_results_agree():
    empty = digest_of(np.zeros(0))
    assert difference("x", empty, digest_of(np.zeros((3, 0))), []) is None
