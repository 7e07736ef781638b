"""Programs on the emulated device that leave it little to do, or take it in an unusual way."""

import sys
from subprocess import run

import numpy as np
import pytest

import sdfgad
from sdfgad.api.compile_together import compile_together
from sdfgad.optimise.device import side
from sdfgad.runtime.compile import index_entry
from tests.helpers_cache import environment


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("SDFGAD_EMULATE", "1")
    # Loops of so little work would run on the host.
    monkeypatch.setattr(side.Side, "is_host", lambda *_: False)


def gradients(function, *args):
    """Those of the device, and those of the CPU."""
    return (sdfgad.differentiate(function, device=device)(*args) for device in ("gpu", "cpu"))


def product(a, b):
    return np.sin(a) * b


def sums(x):
    return np.sum(x) + np.sum(x * x)


def test_numbers_need_no_kernel():
    found, expected = gradients(product, 1.3, 0.4)
    assert found == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_nothing_to_add_up(shape):
    found, expected = gradients(sums, np.zeros(shape))
    assert found["x"].shape == expected["x"].shape == shape


def test_batches():
    calls = [(sdfgad.differentiate(sums, device="gpu"), (np.ones(n),)) for n in (2, 3)]
    calls.append((sdfgad.differentiate(product, device="gpu"), (1.0, 2.0)))
    assert compile_together(calls) == [None, None, None]
    for gradient, args in calls[:2]:
        np.testing.assert_array_equal(gradient(*args)["x"], 3 * np.ones_like(args[0]))


def test_a_library_that_orders_one_element():
    def ordered(x):
        total = 0.0
        for t in range(3):
            a = x[t : t + 1] * x[0]
            total = total * 0.5 + np.sum(x[np.argsort(a)] * a)
        return total

    found, expected = gradients(ordered, np.array([0.3, -1.2, 0.7]))
    np.testing.assert_allclose(found["x"], expected["x"], rtol=1e-13)


def test_the_cache_keeps_emulated_programs_apart(monkeypatch):
    program = sdfgad.differentiate(sums, device="gpu").programs(np.ones(2))[0]
    emulated = index_entry(program)
    monkeypatch.delenv("SDFGAD_EMULATE")
    assert index_entry(program) != emulated


def test_importing_does_not_import_dace(tmp_path):
    command = [sys.executable, "-c", "import sys, sdfgad; sys.exit('dace' in sys.modules)"]
    assert run(command, env=environment(tmp_path), check=False).returncode == 0


def by_masks(x):
    y = np.empty(16)
    mask = x > 0
    y[mask] = np.sqrt(x[mask])
    y[~mask] = x[~mask] ** 2
    return np.sum(y * y * x)


def by_parts(x):
    y = np.empty(16)
    y[:2] = 2 * x[:2]
    y[5:] = x[5:] ** 2
    y[6:13] += x[:7]
    y[2:5] = x[1:4] * x[2:5]
    return np.sum(y * y * x)


@pytest.mark.parametrize("program", [by_masks, by_parts])
def test_an_array_that_is_assigned_by_parts(program, rng):
    found, expected = gradients(program, rng.normal(size=16))
    np.testing.assert_allclose(found["x"], expected["x"], rtol=1e-13)


def test_a_table_that_data_looks_up(rng):
    def program(x, table):
        y = x * table[np.argmax(x)]
        return np.sum(y * y)

    found, expected = gradients(program, rng.normal(size=9), np.arange(9))
    np.testing.assert_allclose(found["x"], expected["x"], rtol=1e-13)


@pytest.mark.parametrize("size", [3, 3000])
def test_whether_any_or_all_are_true(size):
    def program(x, mask):
        rows = np.where(np.any(mask, axis=1), 2.0, 3.0) + np.where(np.all(mask, axis=1), 5.0, 7.0)
        return np.sum(rows * np.sum(x, axis=1)) * np.where(np.any(mask[0]), 2.0, 1.0)

    mask = np.zeros((3, size), bool)
    mask[1, 1], mask[2] = True, True
    found, expected = gradients(program, np.ones((3, size)), mask)
    np.testing.assert_allclose(found["x"], expected["x"], rtol=1e-13)


def test_bounds_and_conditions_that_are_looked_up_twice(rng):
    def program(x, k, ends):
        total = 0.0
        for i in range(9):
            if ends[k[i]] > 4:
                total = total + np.sum(x[: ends[k[i]]] ** 2)
            for j in range(ends[k[k[i] - 1]], ends[k[i]]):
                total = total * 0.9 + x[j]
        return total

    ends = np.array([0, 2, 5, 5, 9, 14, 20, 25, 30])
    found, expected = gradients(program, rng.normal(size=30), rng.integers(0, 8, 9), ends)
    np.testing.assert_allclose(found["x"], expected["x"], rtol=1e-13)
