"""What compiled programs hold: as much as predicted, measured by themselves and by the operating system."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import OutOfMemory
from sdfgad.gradient.counting import counts_in
from sdfgad.ir.program import Call, walk
from sdfgad.memory.lifetimes import peak_bytes
from sdfgad.optimise.cleaning.values_alone import compute_values_alone
from sdfgad.parse.functions.factored import (
    banded_factors,
    banded_solution,
    factors,
    solution_by_band,
    solution_by_factors,
)
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import compile_sdfg
from sdfgad.sdfg.writer import write
from tests.helpers_ir import evaluated_gradients, gradient_of, inputs_of, outputs_of, parsed

ROOT = Path(sdfgad.__file__).parent.parent
MIB = 1 << 20


def outputs(program):
    names = {*program.outputs.values(), *(("status",) if program.checks else ())}
    shapes = {name: tuple(extent.const for extent in program.buffers[name].shape) for name in names}
    return {name: np.empty(shape, program.buffers[name].dtype) for name, shape in shapes.items()}


class Measured:
    """A program, compiled and run once: its arrays, its peak with the arguments, and the predicted peak."""

    def __init__(self, program, inputs, integers):
        self.executable = Executable(compile_sdfg(write(program)))
        self.arrays = inputs | outputs(program)
        self.executable(self.arrays, integers)
        self.transient = self.executable.peak_bytes
        self.peak = self.transient + sum(array.nbytes for array in self.arrays.values())
        self.predicted = peak_bytes(program, integers)
        self.results = {name: self.arrays[buffer] for name, buffer in program.outputs.items()}


def measured(function, *args):
    primal = parsed(function, *args)
    found = Measured(primal.program, *inputs_of(primal, *args))
    assert found.peak <= found.predicted
    return primal, found


def chain(x):
    a = x * 2.0
    b = np.sin(a) + x[0]
    c = b * b
    d = c + 1.0
    e = np.sqrt(d)
    f = e - d
    return np.sum(f)


def test_what_is_no_longer_used_is_released():
    x = np.full(2 * MIB, 0.5)
    primal, found = measured(chain, x)
    arrays = [b for b in primal.program.buffers.values() if b.shape and b.name not in primal.program.inputs]
    assert len(arrays) >= 6
    assert 2 * x.nbytes <= found.transient <= 3 * x.nbytes + 4096
    assert found.predicted <= 1.1 * found.peak
    np.testing.assert_allclose(found.results["return"], chain(x))


def test_a_new_peak():
    x = np.linspace(0.0, 1.0, 50_000)
    _, found = measured(chain, x)
    first = found.transient
    found.executable.reset_peak()
    assert found.executable.peak_bytes == 0
    found.executable(found.arrays, {})
    assert found.executable.peak_bytes == first


def kept(x, n):
    y = x * 1.0
    k = 0
    for i in range(n):
        for j in range(i):
            y = np.sin(y) * x
        if y[0] > 0.5:
            y = y * 0.5
    while np.sum(y) > 1.0:
        y = np.sin(y) * 0.25
        k += 1
    return np.sum(y) + k


def test_tapes_of_run_time_length():
    x, n = np.linspace(0.1, 0.9, 16384), 33
    primal = parsed(kept, x, n)
    made = gradient_of(primal)
    inputs, integers = inputs_of(primal, x, n)
    counted = Measured(made.counting, inputs, integers)
    integers |= made.slots(integers, counts_in(made.counting.outputs, counted.arrays))
    found = Measured(made.program, inputs | {made.cotangent: np.array(1.0)}, integers)
    assert found.transient > 64 * MIB
    assert found.peak <= found.predicted <= 1.1 * found.peak
    small = x[:8]
    primal = parsed(kept, small, 4)
    value, _ = evaluated_gradients(primal, gradient_of(primal), np.array(1.0), small, 4)
    np.testing.assert_allclose(value, kept(small, 4))


def library(a, b, s, z, w):
    x = np.linalg.solve(a, b)
    for i in range(2):
        x = x + np.linalg.inv(a) @ x
    order = np.argsort(s)
    _q, r = np.linalg.qr(b)
    _u, v, _h = np.linalg.svd(b, full_matrices=False)
    lam, _vec = np.linalg.eigh(a)
    low = np.linalg.cholesky(a)
    sign, log = np.linalg.slogdet(a)
    p = np.linalg.pinv(b)
    f = np.fft.fft(z)
    g = np.fft.ifft(w)
    scalar = np.sum(r) * sign + log + np.sum(v) + np.sum(lam) + np.linalg.det(low)
    return x, s[order], np.abs(f), np.abs(g), np.sum(p) + scalar


@pytest.mark.parametrize(("n", "m", "dtype"), [(40, 30, np.float64), (7, 3, np.float32), (200, 20, np.float32)])
def test_workspace_of_library_functions(n, m, dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((n, n)) / n + np.eye(n)
    a, b = (a + a.T).astype(dtype), rng.standard_normal((n, m)).astype(dtype)
    s, z = rng.standard_normal(5000), rng.standard_normal(4096) + 1j
    args = (a, b, s, z, z[:1013])
    _, found = measured(library, *args)
    again = found.executable
    again(found.arrays, {})
    assert again.peak_bytes + sum(array.nbytes for array in found.arrays.values()) <= found.predicted
    for k, expected in enumerate(library(*args)[:4]):
        np.testing.assert_allclose(found.results[f"return[{k}]"], expected, rtol=1e-4, atol=1e-4)


def banded(a, b):
    band = np.concatenate([b.T[:3], 9.0 + b.T[3:4], b.T[4:6]])
    return banded_solution(band, b, 2, 3)


def factored(a, b):
    band = np.concatenate([b.T[:1], 9.0 + b.T[3:4], b.T[4:5]])
    return solution_by_band(band, *banded_factors(band, 1, 1), b, 1, 1)


ALONE = {
    "banded": banded,
    "factored": factored,
    "factored whole": lambda a, b: solution_by_factors(*factors(a), b),
    "solve": lambda a, b: np.linalg.solve(a, b),
    "sort": lambda a, b: np.argsort(b[:, 0]),
    "svd": lambda a, b: np.linalg.svd(b, full_matrices=False)[1],
    "svd with all vectors": lambda a, b: np.linalg.svd(b)[0],
    "eig": lambda a, b: np.abs(np.linalg.eig(a + 1j)[0]),
    "eig of real numbers": lambda a, b: np.abs(np.linalg.eig(a + b @ b.T - b.T[0])[1]),
    "eigh": lambda a, b: np.linalg.eigh(a)[0],
    "fft": lambda a, b: np.abs(np.fft.fft(b[:, 0] + 1j)),
    "fft of rows": lambda a, b: np.abs(np.fft.fft(b + 1j)),
    "fft of columns": lambda a, b: np.abs(np.fft.fft(b + 1j, axis=0)),
    "fft in parts": lambda a, b: np.abs(np.fft.fft(np.concatenate([b] * 8, axis=1) + 1j)),
    "fft of a long line": lambda a, b: np.abs(np.fft.fft(np.ravel(b[:, :64]) + 1j)),
    "rfft": lambda a, b: np.abs(np.fft.rfft(b[:, :96])),
    "rfft of an odd length": lambda a, b: np.abs(np.fft.rfft(b)),
    "irfft": lambda a, b: np.fft.irfft(b, 192, axis=1),
    "irfft of an odd length": lambda a, b: np.fft.irfft(b, 193, axis=1),
}


@pytest.mark.parametrize("name", sorted(ALONE))
def test_workspace_of_one_library_function(name):
    a = np.eye(211) * 2.0
    b = np.random.default_rng(0).standard_normal((211, 97))
    _, found = measured(ALONE[name], a, b)
    assert found.peak <= found.predicted <= 1.5 * found.peak


VALUES = {
    "only_singular_values": lambda a, b: np.linalg.svd(b, compute_uv=False),
    "only_eigenvalues": lambda a, b: np.abs(np.linalg.eigvals(a + b @ b.T - b.T[0])),
    "only_symmetric_eigenvalues": lambda a, b: np.linalg.eigvalsh(a + b @ b.T),
}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_workspace_of_values_alone(name):
    a, b = np.eye(211) * 2.0, np.random.default_rng(0).standard_normal((211, 97))
    args = (a + 1j if name == "only_eigenvalues" else a), b
    primal = parsed(VALUES[name], *args)
    program = compute_values_alone(primal.program)
    assert name in [statement.name for statement in walk(program.body) if isinstance(statement, Call)]
    found = Measured(program, *inputs_of(primal, *args))
    assert found.peak <= found.predicted <= 1.5 * found.peak


def branches(x, n):
    y = np.zeros(x.size)
    for i in range(n):
        t = x * i
        u = np.zeros(4)
        for j in range(4):
            u[j] += t[j]
        if u[1] > 1.0:
            y = y + np.sum(u)
        else:
            y = t - y
    return y


@pytest.mark.parametrize("n", [0, 1, 5])
def test_results_are_those_of_the_interpreter(n):
    x = np.linspace(0.0, 1.0, 11)
    primal, found = measured(branches, x, n)
    np.testing.assert_array_equal(found.results["return"], outputs_of(primal, x, n)["return"])


def enormous(x, n):
    y = np.sin(x)
    for i in range(n):
        y = np.sin(y)
    return np.sum(y)


def test_too_little_memory_is_an_error():
    x = np.linspace(0.1, 1.0, 1 << 16)
    primal = parsed(enormous, x, 2)
    made = gradient_of(primal)
    inputs, integers = inputs_of(primal, x, 2)
    found = Measured(made.program, inputs | {made.cotangent: np.array(1.0)}, integers)
    expected = {name: value.copy() for name, value in found.results.items()}
    (symbol,) = integers
    for trips in (1 << 35, 1 << 60):
        with pytest.raises(OutOfMemory):
            found.executable(found.arrays, {symbol: trips})
    found.executable.reset_peak()
    assert found.executable.peak_bytes == 0
    found.executable(found.arrays, integers)
    for name, value in expected.items():
        np.testing.assert_array_equal(found.results[name], value)


RESIDENT = """
import json, re
import numpy as np
from tests.runtime import test_memory as tests
x = np.ones(8 * tests.MIB)
primal = tests.parsed(tests.chain, x)
executable = tests.Executable(tests.compile_sdfg(tests.write(primal.program)))
arrays = tests.inputs_of(primal, x)[0] | tests.outputs(primal.program)
# Not resource.getrusage, whose mark a child process takes over from its parent.
def status(name):
    return 1024 * int(re.search(name + r":\\s*(\\d+)", open("/proc/self/status").read())[1])
before = status("VmRSS")
executable(arrays, {})
print(json.dumps([status("VmHWM") - before, executable.peak_bytes]))
"""


def test_the_operating_system_counts_the_same():
    done = subprocess.run(
        [sys.executable, "-c", RESIDENT],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    resident, counted = json.loads(done.stdout)
    # Two or three arrays of 64 MiB, not all six.
    assert 128 * MIB <= counted <= 193 * MIB
    assert abs(resident - counted) <= 0.05 * counted + 4 * MIB
