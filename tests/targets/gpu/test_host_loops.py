"""Loops that run on the host as a whole, between copies of their arrays, in a program for the emulated device."""

import numpy as np
import pytest

import sdfgad


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("SDFGAD_EMULATE", "1")


def assert_same(function, *args):
    """The device's value and gradients are the CPU's."""
    value, gradients = sdfgad.differentiate(function, device="gpu").value_and_grad(*args)
    expected, wanted = sdfgad.differentiate(function, device="cpu").value_and_grad(*args)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    for name, gradient in wanted.items():
        np.testing.assert_allclose(gradients[name], gradient, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(8, 8), (24,)])
def test_products_by_the_host_s_blas(shape):
    def program(a, x):
        for _ in range(12):
            x = np.tanh(a @ x)
            for i in range(1, 8):
                x[i] += 0.1 * x[i - 1]
        return np.sum(x * x)

    rng = np.random.default_rng(1)
    assert_same(program, rng.normal(size=(shape[0], shape[0])) / 4, rng.normal(size=shape))


def test_a_loop_whose_trips_data_decides():
    def root(a, b):
        x = b
        while abs(x * x - a) > 1e-12:
            x = x - 0.1 * (x * x - a)
        return x

    assert_same(root, 2.3, 1.0)
