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


# --- many kinds in one program, as each takes long to compile


def growing(x, a):
    """The number of points depends on the trip."""
    for i in range(1, a.shape[0]):
        x[:i] = x[:i] * a[i] + 0.1 * np.sin(x[:i])
    return np.sum(x * x)


def counted(x):
    """A sum in each trip decides whether there is another one."""
    n, s = 0.0, 0.0
    while n < 40.0:
        n += np.sum(np.abs(x))
        x = x * 1.1
        s += np.sum(x)
    return s


def totals(u, k):
    """Sums of each trip into elements, also in branches."""
    e = np.zeros(3)
    for t in range(5):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (u[2:, 1:-1] - u[1:-1, 1:-1])
        e[1] += np.sum(u * u)
        if t % 2 == 0:
            e[2] += np.sum(u[3]) * k
    return np.sum(e)


def elimination(a, b, c, d):
    """A recurrence forward, and one backward."""
    n = d.shape[0]
    cp, dp, x = np.zeros(n), np.zeros(n), np.zeros(n)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x * x)


def particles(x, v, q):
    """Charges on a grid, and forces from there."""
    for _ in range(3):
        i = np.floor(x).astype(int) % 16
        w = x - np.floor(x)
        rho = np.zeros(16)
        np.add.at(rho, i, q * (1 - w))
        np.add.at(rho, (i + 1) % 16, q * w)
        field = np.roll(rho, 1) - np.roll(rho, -1)
        v = v + 0.01 * (field[i] * (1 - w) + field[(i + 1) % 16] * w)
        x = x + 0.1 * v
    return np.sum(v * v) + np.sum(np.sin(x))


def largest(A, columns):
    """A maximum of each row by a loop with a branch."""
    out = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        m = 0.0
        for j in range(A.shape[1]):
            if A[i, j] > m:
                m = A[i, j]
        out[i] = m * A[i, columns[i]]
    return np.sum(out * out)


def all_kinds(x, a, u, k, c, v, q, A, columns):
    first = growing(x.copy(), a) + counted(q[:30]) + totals(u.copy(), k)
    return first + elimination(a, 5.0 + a * a, c, x) + particles(16.0 * q, v, q) + largest(A, columns)


@pytest.mark.parametrize("seconds", ["BLOCKS_ONLY", "KERNELS_ONLY"])
def test_many_kinds_of_loops(rng, monkeypatch, seconds):
    monkeypatch.setattr(side, "SECONDS", getattr(side, seconds))
    a, c, x = rng.random(40), rng.random(40), rng.normal(size=40)
    args = x, a, rng.normal(size=(12, 13)), 0.1, c, rng.normal(size=300), rng.random(300)
    wrt = ("x", "a", "u", "k", "c", "v", "q", "A")
    placed(all_kinds, *args, rng.normal(size=(9, 8)), rng.integers(0, 8, 9), wrt=wrt)


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
