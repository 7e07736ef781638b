"""Searching and sorting on a device: NumPy's places, also of what is equal, infinite or not a number."""

import numpy as np
import pytest

import sdfgad
from sdfgad.emulated import VARIABLE
from sdfgad.ir.program import Call, walk
from sdfgad.optimise.device import lower_calls, side
from sdfgad.optimise.passes import optimise

LENGTHS = (1, 2, 5, 8, 31)


def places(x, table, one, rows):
    found = [np.searchsorted(table, one), np.searchsorted(np.array([1, 3, 3, 9]), np.array([0, 3, 4, 10]))[2]]
    total = one * (found[0] + found[1])
    for n in LENGTHS:
        left, right = np.searchsorted(table[:n], x), np.searchsorted(table[:n], x.reshape(4, -1), side="right")
        order, columns = np.argsort(x[:n], kind="stable"), np.argsort(rows[:n], axis=0, kind="stable")
        total = total + np.sum(left * one) + np.sum(right * one * 7.0)
        total = total + np.sum(order * np.arange(n) * one) + np.sum(columns * rows[:n] * 3.0)
    return total + np.sum(np.sort(rows, axis=1) * np.arange(3))


@pytest.fixture(scope="module")
def both():
    """The gradient on the emulated device and on the CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        patch.setattr(side, "SECONDS", side.KERNELS_ONLY)
        patch.setattr(lower_calls, "MANY", 0)
        yield [sdfgad.differentiate(places, wrt=("one", "rows"), device=device) for device in ("gpu", "cpu")]


def data(seed=0):
    rng = np.random.default_rng(seed)
    x, rows = (np.round(rng.normal(size=shape) * 3.0) for shape in (40, (33, 3)))
    x[:4] = np.nan, -np.inf, np.inf, np.nan
    return x, np.append(np.sort(np.round(rng.normal(size=38) * 2.0)), [np.inf, np.nan]), 0.7, rows


@pytest.mark.parametrize("seed", range(4))
def test_places_are_those_of_the_cpu(both, seed):
    on_device, on_cpu = (one(*data(seed)) for one in both)
    for found, expected in zip(on_device, on_cpu, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_nothing_is_left_to_the_host(both):
    for program in both[0].programs(*data()):
        assert [s for s in walk(optimise(program).body) if isinstance(s, Call)] == []
