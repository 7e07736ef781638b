"""Statements over parts of a box share a thread for each point with those over all of it, under a condition."""

import numpy as np
import pytest

import sdfgad
from sdfgad.emulated import VARIABLE
from sdfgad.ir.program import Compute, Loop, walk
from sdfgad.optimise.device import side
from sdfgad.optimise.passes import DEVICE, optimise
from sdfgad.schedule.launches import launches
from tests.helpers_passes import check_passes

SIZE = (40, 36)


def source(u, c, r, k, l):
    """A wave with a source at a place that is known at run time only."""
    v, lap = np.zeros_like(u), np.zeros_like(u)
    for t in range(4):
        lap[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        w = 2.0 * u - v + c * lap
        w[k, l] += r * t
        v = u * 0.99
        u = w * 0.98
    return np.sum(u * u)


def inside(u, c, r, k, l):
    """Parts that are shifted against each other, and an element that is replaced."""
    a, b = np.zeros_like(u), np.ones_like(u)
    for t in range(3):
        a[2:, 1:] = np.sin(u[2:, 1:]) * c[2:, 1:]
        b[:-1, :-1] = b[:-1, :-1] * 0.5 + a[1:, :-1]
        b[l, k] = r * b[l, k] + c[k, l]
        u = u + a * b
    return np.sum(u * np.cos(u))


def rows(u, c, r, k, l):
    """Borders that depend on the inside, row by row."""
    for t in range(3):
        u[1:-1] = u[1:-1] + c[1:-1] * np.sin(u[1:-1])
        u[0] = u[1] * r
        u[-1] = u[-2] - u[0]
        u = u * (1.0 + 0.1 * u)
    return np.sum(u * u * c)


def sums(u, c, r, k, l):
    """The boxes of sums have axes that their targets do not have."""
    d = np.zeros((SIZE[0], SIZE[1], 3))
    for t in range(3):
        d[1:, :, :] = np.sin(u[1:, :, None] * np.array([1.0, r, 2.0]))
        d[k, l, 1] = r
        u = u + c * np.sum(d**2, axis=2)
        c = c + 0.1 * np.max(d[:, :, :2], axis=2)
    return np.sum(u * u * c)


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(side, "SECONDS", side.KERNELS_ONLY)


def data(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=SIZE), 0.1 * rng.normal(size=SIZE), 1.3, 7, 20


@pytest.mark.parametrize("function", [source, inside, rows, sums])
def test_values_and_gradients_are_the_cpu_s(function):
    args = data()
    found, wanted = (
        sdfgad.differentiate(function, wrt=("u", "c", "r"), device=device)(args[0].copy(), *args[1:])
        for device in ("gpu", "cpu")
    )
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * np.max(np.abs(other)))


@pytest.mark.parametrize("place", [(0, 0), (-1, 35), (39, -36)])
def test_the_element_may_be_at_a_corner(place):
    u, c, r, _, _ = data()
    gradient = sdfgad.differentiate(source, wrt="r", device="gpu")
    wanted = sdfgad.differentiate(source, wrt="r", device="cpu")
    np.testing.assert_allclose(gradient(u.copy(), c, r, *place), wanted(u.copy(), c, r, *place), rtol=1e-11)


def test_a_step_is_two_launches():
    gradient = sdfgad.differentiate(source, device="gpu")
    _, made = gradient._bind_and_specialise(data(), {})
    program = optimise(made.pipeline.forward)
    (loop,) = [s for s in walk(program.body) if isinstance(s, Loop) and not s.is_parallel]
    assert len(launches(loop.body, program.buffers)) == 2
    assert not any(isinstance(s, Compute) for s in loop.body[:1])


def elements(u, c, r, k, l):
    """Elements beside boxes of one element, which they read."""
    s = 0.0
    for t in range(3):
        a = u[t, k : k + 1] * u[0, 0]
        b = np.sin(c[t : t + 1, :2] * a)
        s = s * 0.5 + b[0, 0] * a[0] + np.sum(b)
    return s


@pytest.mark.parametrize("function", [source, inside, rows, elements])
def test_each_pass_keeps_the_outputs(function):
    # The interpreter does not touch elements that a choice leaves as they are, either: of a tape they are not there.
    rng = np.random.default_rng(2)
    args = rng.normal(size=(7, 6)), rng.normal(size=(7, 6)), 0.7, 3, 2
    program = sdfgad.differentiate(function, wrt=("u", "c"), device="gpu").programs(*args)[1]
    shapes = {name: tuple(e.const for e in program.buffers[name].shape) for name in program.inputs}
    arrays = {name: np.asarray(rng.normal(size=shape)) for name, shape in shapes.items()}
    check_passes(program, arrays, {"k": 3, "l": 2}, passes=DEVICE)
