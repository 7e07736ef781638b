"""Sequential loops on a device: in each thread, in one block of threads, or around launches; in the emulation."""

from copy import deepcopy

import numpy as np
import pytest

import sdfgad
from sdfgad.emulated import VARIABLE
from sdfgad.errors import DeviceError
from sdfgad.ir.program import Loop, walk
from sdfgad.optimise.device import side
from sdfgad.optimise.passes import optimise
from sdfgad.schedule.kernels import Form, form_of, private_of
from tests.helpers_emulation import Variants, replaced


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(side, "SECONDS", side.BLOCKS_ONLY)


def gradients(g, args):
    """The gradients as a list of arrays."""
    found = g(*deepcopy(args))
    found = list(found.values()) if isinstance(found, dict) else found
    return list(found) if isinstance(found, tuple | list) else [found]


def placed(function, *args, **options):
    """The optimised gradient program for a device, after a check that it computes what the CPU's does."""
    g = sdfgad.differentiate(function, device="gpu", **options)
    expected = gradients(sdfgad.differentiate(function, device="cpu", **options), args)
    for found, right in zip(gradients(g, args), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-13)
    return optimise(g.programs(*args)[1])


def forms(program):
    """The forms of the outermost loops."""
    loops = [s for s in program.body if isinstance(s, Loop)]
    return [form_of(s, program.buffers, private_of(s, program.buffers)) for s in loops]


def on_host(program):
    """The copies of arrays on the host, where it would work with them."""
    return [b.name for b in program.buffers.values() if b.name.endswith("_host") and b.shape]


def triangular(L, b):
    """Dot products of all lengths, single elements, and numbers that a trip computes anew."""
    x = np.zeros(b.shape[0])
    for i in range(b.shape[0]):
        pivot = L[i, i] * L[i, i] + 2.0
        x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / pivot
    return np.sum(x * x)


def diffusion(u, k, weights):
    """Stencils that wait for their neighbours, sums of rows, a branch on data, and a loop in the loop."""
    for _ in range(6):
        u[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        rows = np.sum(weights * u, axis=1)
        if np.sum(rows) > 0.0:
            u = u * 0.9
        else:
            u = u - 0.05 * np.max(rows)
        for j in range(3):
            u[j + 1] = u[j] * u[j + 1]
    return np.sum(u * u)


def halving(x, tolerance):
    """A number of trips that data decides."""
    trips = 0
    while np.sum(x * x) > tolerance:
        x = 0.5 * x + 0.01 * np.sin(x[::-1])
        trips += 1
    return np.sum(x) * trips


def scattered(x, k):
    """Contributions that data places, in each trip."""
    for _ in range(4):
        h = np.zeros(5)
        np.add.at(h, k, x)
        x = np.sin(h[k] / 60.0) + x
    return np.sum(x * x)


BLOCKS = {
    "triangular": (triangular, lambda rng: (rng.normal(size=(40, 40)), rng.normal(size=40)), ("L", "b")),
    "diffusion": (diffusion, lambda rng: (rng.normal(size=70), 0.1, rng.normal(size=(50, 70))), ("u", "k", "weights")),
    "scattered": (scattered, lambda rng: (rng.normal(size=300), rng.integers(0, 5, 300)), ("x",)),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_one_block_runs_a_loop(rng, name):
    function, arguments, wrt = BLOCKS[name]
    program = placed(function, *arguments(rng), wrt=wrt)
    assert Form.SEQUENCE in forms(program)
    assert Form.HOST not in forms(program)
    assert on_host(program) == []


def test_a_block_runs_loops_whose_end_is_data(rng):
    program = placed(halving, rng.normal(size=50), 1e-3, wrt=("x",))
    assert Form.SEQUENCE in forms(program)


def columns(s, drift, noise):
    """Each point by itself: paths, with a sum over all of them in each step."""
    total = 0.0
    for t in range(noise.shape[0]):
        s = s * (1.0 + drift * 0.01 + 0.1 * noise[t])
        total += np.sum(s)
    return total / s.size


def test_each_thread_runs_a_loop_of_its_own(rng):
    noise = rng.normal(size=(12, 50))
    program = placed(columns, np.ones(50), 0.3, noise, wrt=("s", "drift", "noise"))
    assert set(forms(program)) == {Form.POINTS}
    assert any(name.startswith("sums") for name in program.buffers)


def rows(values, columns, starts, x):
    """A sparse matrix by rows, whose lengths are data."""
    y = np.zeros(starts.shape[0] - 1)
    for i in range(y.shape[0]):
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]
    return np.sum(y * y)


def segments(values, columns, starts, x):
    """The same by sums of slices."""
    y = np.zeros(starts.shape[0] - 1)
    for i in range(y.shape[0]):
        y[i] = np.sum(values[starts[i] : starts[i + 1]] * x[columns[starts[i] : starts[i + 1]]])
    return np.sum(y * y)


@pytest.mark.parametrize("function", [rows, segments])
def test_a_thread_for_each_row_of_a_sparse_matrix(rng, function):
    starts = np.array([0, 3, 3, 10, 11, 30, 64])
    args = rng.normal(size=64), rng.integers(0, 9, 64), starts, rng.normal(size=9)
    program = placed(function, *args, wrt=("values", "x"))
    assert on_host(program) == []


def test_loops_of_long_trips_stay_launches(rng, monkeypatch):
    monkeypatch.setattr(side, "SECONDS", side.Seconds())
    u, weights = rng.normal(size=200_000), rng.normal(size=(2, 200_000))
    g = sdfgad.differentiate(diffusion, device="gpu", wrt=("u", "k", "weights"))
    program = optimise(g.programs(u, 0.1, weights)[1])
    assert not any(isinstance(s, Loop) and s.is_in_block for s in walk(program.body) if s.size > 8)


# --- planted faults

FAULTS = {
    "barrier": ("sdfgad::barrier();", ""),
    "single_thread": ("if (sdfgad::lane() == 0)", "if (true)"),
}


def shifted(x):
    y = np.sin(x)
    for _ in range(5):
        y[1:] = y[:-1] + 0.1 * y[1:] * np.sum(x * y)
        y[0] = y[3] * y[5]
    return y


@pytest.fixture(scope="module")
def variants():
    made = Variants()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        patch.setattr(side, "SECONDS", side.BLOCKS_ONLY)
        made.add("right", shifted)
        for name, change in FAULTS.items():
            made.add(name, shifted, replaced(*change))
        made.compile()
    return made


def test_nothing_is_found_where_there_is_no_fault(variants, monkeypatch):
    assert variants.run("right", monkeypatch)


@pytest.mark.parametrize("name", FAULTS)
def test_races_in_a_block_are_found(variants, monkeypatch, name):
    with pytest.raises(DeviceError, match="a race"):
        variants.run(name, monkeypatch)
