"""Loops of launches that are replayed as CUDA graphs, in the emulation: the third call of a loop does not run it."""

import re

import numpy as np
import pytest

import sdfgad
from sdfgad.optimise.device import side
from sdfgad.runtime.compile import source_of
from sdfgad.targets.gpu.host import _HostNest

WORD = "sdfgad::device::replayed"


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("SDFGAD_EMULATE", "1")
    monkeypatch.setattr(side, "SECONDS", side.KERNELS_ONLY)


def stepped(x, a, b, steps):
    for t in range(steps):
        x[1:-1] = x[1:-1] + a * t * (x[2:] - 2.0 * x[1:-1] + x[:-2])
        x = np.sin(x @ b)
    return np.sum(x * x)


def drifting(x, a, b, steps):
    for _ in range(steps):
        x = np.cos(a * x) @ b
    return np.sum(x * x)


def transformed(x, a):
    for _ in range(10):
        x = np.real(np.fft.ifft(a * np.fft.fft(x)))
    return np.sum(x**4)


def tabled(x, table):
    for k in table:
        for t in range(3):
            x = np.sin(x) + 0.1 * k * t * x[::-1]
    return np.sum(x * x)


def until(x, a):
    while np.sum(x * x) > 1.0:
        x = a * np.sin(x)
    return np.sum(x)


def solved(x, a):
    for _ in range(5):
        x = np.linalg.solve(a * np.eye(8) + 0.1 * np.outer(x, x), np.sin(x))
    return np.sum(x)


def branching(x, a):
    for _ in range(9):
        x = 0.5 * np.sin(x) if np.sum(x * x) > a else x * np.roll(x, 1)
    return np.sum(x)


def code_of(function, *args):
    gradient = sdfgad.differentiate(function, device="gpu")
    _, made = gradient._bind_and_specialise(args, {})
    return source_of(made.pipeline.forward).code


def test_loops_that_are_replayed(rng):
    x = rng.normal(size=8)
    assert code_of(stepped, x, 0.1, np.eye(8), 5).count(WORD) == 1
    assert code_of(transformed, x, 0.9).count(WORD) == 1


@pytest.mark.parametrize("function", [until, solved, branching])
def test_loops_that_need_the_host(rng, function):
    assert WORD not in code_of(function, rng.normal(size=8), 0.9)


@pytest.fixture
def calls(rng):
    """Gradients of one compiled program whose arrays are where they were before."""
    from sdfgad.runtime.gpu.emulation import EmulatedArray

    x, b = (EmulatedArray.from_numpy(rng.normal(size=shape)) for shape in (8, (8, 8)))
    start = x.to_numpy()

    def call(gradient, a, steps):
        found = gradient(x, a, b, steps)
        wanted = sdfgad.differentiate(gradient._function, wrt=("x", "b"), device="cpu")(
            start.copy(), a, b.to_numpy(), steps
        )
        x.set(start)
        return all(np.allclose(f.to_numpy(), w, rtol=1e-9, atol=1e-12) for f, w in zip(found, wanted, strict=True))

    return call


def test_numbers_and_integers_that_change(calls):
    gradient = sdfgad.differentiate(stepped, wrt=("x", "b"), device="gpu")
    # Each of them is launched, recorded and replayed, in turns.
    for _ in range(5):
        for a, steps in ((0.1, 4), (0.3, 4), (0.1, 3)):
            assert calls(gradient, a, steps)


def test_a_number_that_the_key_does_not_have_is_found(calls, monkeypatch, tmp_path):
    complete = _HostNest.replayed

    def without_numbers(lines, key):
        return complete(lines, [name for name in key if not re.fullmatch(r"b_a_\w*", name)])

    monkeypatch.setattr(_HostNest, "replayed", staticmethod(without_numbers))
    # What is compiled here is for nobody else.
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path))
    gradient = sdfgad.differentiate(drifting, wrt=("x", "b"), device="gpu")
    assert all(calls(gradient, 0.1, 6) for _ in range(8))
    assert not all(calls(gradient, a, 6) for a in (0.3, 0.4, 0.5, 0.6))


def test_tables_of_the_host_are_compared_by_their_elements(rng):
    x, tables = rng.normal(size=8), [np.array([1, 2, 3]), np.array([1, 2, 4])]
    assert code_of(tabled, x, tables[0]).count("sdfgad::device::elements(") == 1
    gradient = sdfgad.differentiate(tabled, wrt="x", device="gpu")
    on_host = sdfgad.differentiate(tabled, wrt="x", device="cpu")
    for _ in range(4):
        for table in tables:
            np.testing.assert_allclose(gradient(x, table), on_host(x, table), rtol=1e-12)
