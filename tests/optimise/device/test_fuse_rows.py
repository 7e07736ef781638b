"""Sums along rows and what is done with them in one launch: the CPU's results, and no races in the emulation."""

import numpy as np
import pytest

import sdfgad
from sdfgad.api.compile_together import compile_together
from sdfgad.emulated import VARIABLE
from sdfgad.ir.program import Compute, Loop, walk
from sdfgad.optimise.device import side
from sdfgad.optimise.passes import optimise

ROWS, LENGTH = 34, 40


def softmax(x, y):
    z = x.reshape(2, 17, LENGTH)
    weights = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True) * np.cos(y)


def normalised(x, y):
    d = x - np.mean(x, axis=1, keepdims=True)
    return d / np.sqrt(np.mean(d * d, axis=1, keepdims=True) + 0.1) * y


def matrix_and_vector(x, y):
    """Both the product and the gradient by the matrix go along its rows."""
    return (x @ y) @ x


def pairs(x, y):
    """All pairs of bodies, with sums for each."""
    p = x[:, :2]
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt(np.sum(d * d, axis=2) + 0.3)
    return np.sum(d[:, :, 0] / r**3, axis=1) + np.sum(1.0 / r, axis=1) * p[:, 1]


def in_time(x, y):
    u = x * 1.0
    for t in range(4):
        norm = np.sqrt(np.sum(u * u, axis=1))
        scale = 1.0 / (1.0 + norm)
        u = u * scale[:, None] + y[t]
        u[:, 1:] += 0.1 * u[:, :-1] * norm[:, None]
    return u


def entropy(x, y):
    top = np.max(x, axis=1)
    log = np.log(np.sum(np.exp(x - top[:, None]), axis=1)) + top
    return np.sum(np.exp(x - log[:, None]) * (x - log[:, None]), axis=1) * top


def along_columns(x, y):
    """Rows need all of another sum: that is another launch."""
    s = np.sum(x * y, axis=1)
    t = np.sum(x * s[:, None], axis=0)
    return x * t * s[:, None] + np.sum(x * t, axis=1)[:, None]


def single(x, y):
    a = (x * 0.5).astype(np.float32)
    return (a / np.sum(a * a, axis=1, keepdims=True)).astype(np.float64)


PROGRAMS = [softmax, normalised, matrix_and_vector, pairs, in_time, entropy, along_columns, single]


def data():
    rng = np.random.default_rng(7)
    return rng.normal(size=(ROWS, LENGTH)), rng.normal(size=LENGTH)


@pytest.fixture(scope="module")
def found():
    """The gradients of all programs on the emulated device and on the CPU, each compiled at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        patch.setattr(side, "SECONDS", side.KERNELS_ONLY)
        options = {"wrt": ("x", "y"), "reduce": "sum", "allow_unused": True}
        both = [[sdfgad.differentiate(p, device=d, **options) for p in PROGRAMS] for d in ("gpu", "cpu")]
        for some in both:
            assert compile_together([(one, data()) for one in some]) == [None] * len(PROGRAMS)
        yield dict(zip(PROGRAMS, zip(*both, strict=True), strict=True))


@pytest.mark.parametrize("program", PROGRAMS)
def test_value_and_gradient(found, program):
    on_device, on_cpu = found[program]
    value, gradients = on_device.value_and_grad(*data())
    other, expected = on_cpu.value_and_grad(*data())
    tolerance = 1e-4 if program is single else 1e-11
    np.testing.assert_allclose(value, other, rtol=tolerance)
    for mine, its in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(mine, its, rtol=tolerance, atol=tolerance * np.max(np.abs(its)))
    again = on_device(*data())
    for one, same in zip(gradients, again, strict=True):
        np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("program", PROGRAMS)
def test_rows_share_a_launch(found, program):
    for one in found[program][0].programs(*data()):
        rows = [s for s in walk(optimise(one).body) if isinstance(s, Loop) and s.is_in_block and s.is_parallel]
        sums = [s for loop in rows for s in walk((loop,)) if isinstance(s, Compute) and s.accumulate]
        if sums:
            return
    raise AssertionError("no sum is in a loop over rows")


def test_a_softmax_and_its_gradient_are_one_launch(found):
    *_, last = found[softmax][0].programs(*data())
    assert len(optimise(last).body) <= 3
