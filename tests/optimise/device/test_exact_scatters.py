"""Reproducible sums where data says: exact up to the last rounding, the same for each order, infinite as NumPy's."""

import math

import numpy as np
import pytest

import sdfgad
from sdfgad.emulated import VARIABLE
from sdfgad.ir.program import computes
from sdfgad.optimise.device import side
from sdfgad.optimise.passes import optimise
from sdfgad.schedule.kernels import Form, form_of
from tests.helpers import assert_close

# Fewer contributions are one block's.
SIZE, PLACES = 2100, 7


def histograms(x, y, z, k, A):
    h, f, c = np.zeros(PLACES), np.zeros((2, PLACES), dtype=y.dtype), np.zeros(PLACES, dtype=z.dtype)
    np.add.at(h, k, x)
    np.add.at(f[1], k, y)
    np.add.at(c, k, z * z)
    g = np.zeros((3, PLACES))
    for i in range(A.shape[1]):
        g[i % 3, k[i]] += np.sum(A[:, i])
    n = np.zeros(PLACES, dtype=np.int64)
    np.add.at(n, k, 2)
    m = np.zeros(PLACES)
    np.maximum.at(m, k, x)
    return np.concatenate([h, f[0], f[1], c.real, c.imag, g.ravel(), n, m])


@pytest.fixture(scope="module")
def sums():
    """The value of the program, and its gradient, in the emulation, and a check that no sum is on the host."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        patch.setattr(side, "SECONDS", side.KERNELS_ONLY)
        yield sdfgad.differentiate(histograms, wrt=("x", "y", "z", "A"), device="gpu", reduce="sum")


def data(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=SIZE) * 2.0 ** rng.integers(-25, 25, SIZE)
    y = rng.normal(size=SIZE).astype(np.float32)
    z = rng.normal(size=SIZE) + 1j * rng.normal(size=SIZE)
    return x, y, z, rng.integers(0, PLACES, SIZE), rng.normal(size=(4, SIZE))


def exact(x, k):
    return np.array([math.fsum(x[k == place]) for place in range(PLACES)])


def test_contributions_are_added_on_the_device(sums):
    for program in sums.programs(*data()):
        program = optimise(program)
        added = [s for s in computes(program.body) if s.params and s.accumulate]
        assert all(program.buffers[s.target.buffer].is_on_device for s in added)
        assert all(form_of(s, program.buffers) is not Form.HOST for s in added)


def test_sums_are_rounded_once(sums):
    x, y, z, k, A = data()
    values = sums.value(x, y, z, k, A)
    # What is cut off decides where a sum is half way between two numbers.
    np.testing.assert_array_max_ulp(values[:PLACES], exact(x, k), 1)
    np.testing.assert_array_equal(values[2 * PLACES : 3 * PLACES], exact(y.astype(float), k).astype(np.float32))
    assert_close(values, histograms(x, y, z, k, A), 1e-6)
    assert_close(values[3 * PLACES :], histograms(x, y, z, k, A)[3 * PLACES :], 1e-13)


def test_sums_that_cancel_keep_what_is_left(sums):
    _, y, z, k, A = data()
    x = np.tile([1e16, 1.0, -1e16], SIZE // 3)
    k[:] = np.arange(SIZE) // 3 % PLACES
    np.testing.assert_array_equal(sums.value(x, y, z, k, A)[:PLACES], np.bincount(k) // 3)


@pytest.mark.parametrize("scale", [1e303, 1e-290, 5e-324])
def test_the_ends_of_the_range(sums, scale):
    x, y, z, k, A = data()
    x = np.sign(x) * np.arange(SIZE) * scale
    np.testing.assert_array_equal(sums.value(x, y, z, k, A)[:PLACES], exact(x, k))


def test_each_order_has_the_same_bits(sums):
    x, y, z, k, A = data()
    values = sums.value(x, y, z, k, A)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(SIZE)
        again = sums.value(x[order], y[order], z[order], k[order], A)
        np.testing.assert_array_equal(again[: 5 * PLACES], values[: 5 * PLACES])


@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_not_finite_is_as_in_numpy(sums):
    x, y, z, k, A = data()
    k[:6] = [0, 1, 2, 2, 3, 3]
    x[:6] = [np.inf, -np.inf, np.inf, -np.inf, np.nan, np.inf]
    y[:6] = x[:6]
    values, expected = sums.value(x, y, z, k, A), histograms(x, y, z, k, A)
    np.testing.assert_array_equal(np.isfinite(values), np.isfinite(expected))
    special = ~np.isfinite(expected)
    np.testing.assert_array_equal(values[special], expected[special])


def test_their_gradient_is_the_cpus(sums):
    args = data()
    expected = sdfgad.differentiate(histograms, wrt=("x", "y", "z", "A"), device="cpu", reduce="sum")(*args)
    for gradient, right in zip(sums(*args), expected, strict=True):
        np.testing.assert_allclose(gradient, right, rtol=1e-6 if right.dtype == np.float32 else 1e-12)
