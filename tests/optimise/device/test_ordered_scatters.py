"""Few contributions to elements that data chooses: one block of threads adds them up, with the bits of a loop."""

import numpy as np
import pytest

import sdfgad
from sdfgad.emulated import VARIABLE
from sdfgad.ir.program import computes
from sdfgad.optimise.device import side
from sdfgad.optimise.passes import optimise
from sdfgad.schedule.kernels import Form, form_of

PLACES = 50


def steps(x, y, z, k, q, n):
    """Receivers of a wave, and sources in it, whose places are data."""
    w, seen = np.zeros(PLACES, dtype=z.dtype), 0.0
    for t in range(4):
        np.add.at(x, k, 0.1 * y * (t + 1))
        np.add.at(x, q[1, ::-1], np.cos(y[:7]))
        np.add.at(w, k, z * y)
        x = np.sin(x) + 0.01 * x[::-1]
        seen = seen + np.sum(x[k] * y) + np.sum(x[q] ** 2)
    np.add.at(n, k, 0.5 * y.astype(np.float32))
    return seen + np.sum(x * w.real * w.imag) + np.sum(n * n)


@pytest.fixture(scope="module")
def both():
    """The gradient in the emulation, and that of the CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        patch.setattr(side, "SECONDS", side.KERNELS_ONLY)
        yield [sdfgad.differentiate(steps, wrt=("x", "y", "z", "n"), device=device) for device in ("gpu", "cpu")]


def data(size=60, seed=0):
    rng = np.random.default_rng(seed)
    k, q = rng.integers(-PLACES, PLACES, size), rng.integers(0, PLACES, (3, 7))
    z = rng.normal(size=size) + 1j * rng.normal(size=size)
    return rng.normal(size=PLACES), rng.normal(size=size), z, k, q, rng.normal(size=PLACES).astype(np.float32)


def forms(gradient, *args):
    return [
        form_of(one, program.buffers)
        for program in map(optimise, gradient.programs(*args))
        for one in computes(program.body)
        if one.params and one.accumulate and program.buffers[one.target.buffer].is_on_device
    ]


def test_they_are_a_kernel_of_one_block(both):
    found = forms(both[0], *data())
    assert found.count(Form.ORDERED) >= 6
    assert not {Form.HOST, Form.SERIAL} & set(found)


@pytest.mark.parametrize("size", [60, 2048])
@pytest.mark.parametrize("places", ["any", "one", "all"])
def test_values_and_gradients_are_the_cpu_s(both, size, places):
    x, y, z, k, q, n = data(size)
    k[:] = {"any": k, "one": 3, "all": np.arange(size) % PLACES}[places]
    for found, wanted in zip(*(one(x.copy(), y, z, k, q, n.copy()) for one in both), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if found.dtype == np.float32 else 1e-12, atol=1e-12)


def test_what_is_out_of_bounds_is_the_user_s_line(both):
    x, y, z, k, q, n = data()
    k[5] = PLACES
    with pytest.raises(IndexError, match=r"test_ordered_scatters\.py:\d+"):
        both[0](x, y, z, k, q, n)
