"""Arrays on a device as arguments, on the emulated device."""

import os
import subprocess
import sys
import types
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, DeviceError, InvalidIndex
from sdfgad.runtime.gpu.executable import DeviceExecutable
from tests.helpers_device import Foreign, OnOther, numpy_of, transposed


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("SDFGAD_EMULATE", "1")


def heat(T, u, a):
    for t in range(T):
        u[1:-1] += a[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def scaled(x, y, c):
    return c * x[0] * y


def looked_up(x, at):
    return np.sum(x[at] ** 2)


def halved(x, tolerance):
    while np.sum(x * x) > tolerance:
        x *= 0.5
    return np.sum(x)


@pytest.fixture
def arrays(rng):
    return rng.normal(size=20), 0.1 * rng.uniform(size=20)


# --- results


def test_gradients_are_the_cpus(arrays):
    g = sdfgad.differentiate(heat, wrt=("u", "a"))
    expected = g(4, *arrays)
    passed = [Foreign(one) for one in arrays]
    for one, right in zip(g(4, *passed), expected, strict=True):
        np.testing.assert_array_equal(numpy_of(one), right)
    for one, before in zip(passed, arrays, strict=True):
        np.testing.assert_array_equal(one.get(), before)
    # And back to the CPU.
    assert all(type(one) is np.ndarray for one in g(4, *arrays))


def test_values(arrays):
    g = sdfgad.differentiate(heat, wrt="u")
    u, a = arrays
    value, gradient = g.value_and_grad(3, Foreign(u), Foreign(a))
    assert value.shape == ()
    np.testing.assert_allclose(numpy_of(value), g.value(3, u, a), rtol=1e-14)
    np.testing.assert_array_equal(numpy_of(gradient), g(3, u, a))
    np.testing.assert_array_equal(numpy_of(g.value(3, Foreign(u), a)), numpy_of(value))


def test_mixed_with_numpy(arrays):
    u, a = arrays
    g = sdfgad.differentiate(heat)
    expected = g(3, u, a)
    found = g(3, u, Foreign(a))
    assert list(found) == ["u", "a"]
    assert type(found["u"]) is np.ndarray
    np.testing.assert_array_equal(found["u"], expected["u"])
    np.testing.assert_array_equal(numpy_of(found["a"]), expected["a"])


def test_numbers(rng):
    x, y = rng.normal(size=(2, 5))
    g = sdfgad.differentiate(scaled, wrt=("x", "c"), reduce="sum")
    expected = g(x, y, 2.5)
    value, (dx, dc) = g.value_and_grad(Foreign(x), y, 2.5)
    np.testing.assert_allclose(numpy_of(value), g.value(x, y, 2.5).sum(), rtol=1e-14)
    np.testing.assert_allclose(numpy_of(dx), expected[0], rtol=1e-14)
    assert type(dc) is float
    assert dc == pytest.approx(expected[1], rel=1e-14)


def test_arrays_without_axes_and_without_elements(rng):
    def f(x, s, e):
        return np.sum(s * x * x) + np.sum(e)

    x, s, e = rng.normal(size=6), np.array(1.5), np.empty(0)
    g = sdfgad.differentiate(f)
    expected, found = g(x, s, e), g(Foreign(x), Foreign(s), Foreign(e))
    for name, right in expected.items():
        np.testing.assert_allclose(numpy_of(found[name]), right, rtol=1e-14)


def test_programs_of_numbers_alone():
    def f(x, n):
        for _ in range(n):
            x = np.sin(x) + 0.5 * x
        return x

    x = np.array(0.7)
    g = sdfgad.differentiate(f, wrt="x")
    value, gradient = g.value_and_grad(Foreign(x), 3)
    expected = g.value_and_grad(x, 3)
    np.testing.assert_allclose((numpy_of(value), numpy_of(gradient)), expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "c16", "c8"])
def test_dtypes(rng, dtype):
    def f(x):
        return np.sum(np.abs(x * x[::-1]) ** 2)

    x = (rng.normal(size=7) + 1j * rng.normal(size=7)).astype(dtype) if dtype[0] == "c" else rng.normal(size=7)
    x = x.astype(dtype)
    g = sdfgad.differentiate(f, wrt="x")
    found = g(Foreign(x))
    assert found.dtype == x.dtype
    np.testing.assert_allclose(numpy_of(found), g(x), rtol=1e-5 if dtype in ("f4", "c8") else 1e-13)


def test_cotangents(rng):
    x, y, c = rng.normal(size=(3, 6))
    g = sdfgad.differentiate(scaled, wrt="y")
    expected = g.vjp(x, y, 2.0, cotangent=c)
    for cotangent in (c, Foreign(c)):
        np.testing.assert_array_equal(numpy_of(g.vjp(x, Foreign(y), 2.0, cotangent=cotangent)), expected)
    on_gpu = sdfgad.differentiate(scaled, wrt="y", device="gpu")
    np.testing.assert_array_equal(on_gpu.vjp(x, y, 2.0, cotangent=Foreign(c)), expected)
    np.testing.assert_array_equal(numpy_of(on_gpu.vjp(x, Foreign(y), 2.0, cotangent=Foreign(c))), expected)


def test_results_are_of_the_library_of_the_argument(monkeypatch, arrays):
    def library(name):
        kind = type("Array", (Foreign,), {"__module__": name})
        module = types.ModuleType(name)
        module.from_dlpack = lambda array: (name, numpy_of(array))
        monkeypatch.setitem(sys.modules, name, module)
        return kind

    cupy, torch = library("cupy"), library("torch")
    g = sdfgad.differentiate(heat, wrt=("a", "u"))
    value, (da, du) = g.value_and_grad(2, torch(arrays[0]), cupy(arrays[1]))
    assert (value[0], da[0], du[0]) == ("torch", "cupy", "torch")
    expected = g(2, *arrays)
    np.testing.assert_array_equal(da[1], expected[0])
    np.testing.assert_array_equal(du[1], expected[1])


def of_cupy(u):
    v = cp.zeros_like(u)  # noqa: F821  # The test defines it.
    v[1:] = cp.exp(-u[1:]) * cp.linalg.norm(u)  # noqa: F821
    return cp.sum(v * v)  # noqa: F821


def of_numpy(u):
    v = np.zeros_like(u)
    v[1:] = np.exp(-u[1:]) * np.linalg.norm(u)
    return np.sum(v * v)


def test_programs_of_cupy(monkeypatch, rng):
    cupy = types.ModuleType("cupy")
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(globals(), "cp", cupy)
    u = rng.normal(size=6)
    g = sdfgad.differentiate(of_cupy)
    np.testing.assert_allclose(numpy_of(g(Foreign(u))["u"]), sdfgad.differentiate(of_numpy)(u)["u"], rtol=1e-13)
    g(Foreign(u))
    assert len(g._specialisations.found) == 1


def test_unused_arguments(rng):
    def f(x, y):
        return np.sum(x)

    g = sdfgad.differentiate(f, allow_unused=True)
    found = g(Foreign(rng.normal(size=3)), Foreign(rng.normal(size=4)))
    np.testing.assert_array_equal(numpy_of(found["y"]), np.zeros(4))


def test_repeated_names_share_no_memory(rng):
    x = rng.normal(size=4)
    g = sdfgad.differentiate(lambda x: np.sum(x * x), wrt=("x", "x"))
    first, second = g(Foreign(x))
    assert first.pointer != second.pointer
    np.testing.assert_array_equal(numpy_of(first), numpy_of(second))


def test_auxiliary_data(rng):
    def f(x):
        return np.sum(x * x), {"x": 2.0 * x, "n": 3}

    x = rng.normal(size=4)
    gradient, aux = sdfgad.grad(f, has_aux=True)(Foreign(x))
    np.testing.assert_array_equal(numpy_of(gradient), 2.0 * x)
    np.testing.assert_array_equal(numpy_of(aux["x"]), 2.0 * x)
    assert aux["n"] == 3


# --- containers


@dataclass
class Weights:
    w: Any
    b: Any


Pair = namedtuple("Pair", "x y")


def layer(params, x):
    return np.sum(np.tanh(params["layer"].w @ x + params["layer"].b))


def test_containers(rng):
    w, b, x = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=4)
    g = sdfgad.differentiate(layer, wrt="params")
    expected = g({"layer": Weights(w, b)}, x)["layer"]
    found = g({"layer": Weights(Foreign(w), b)}, Foreign(x))["layer"]
    assert type(found) is Weights
    np.testing.assert_allclose(numpy_of(found.w), expected.w, rtol=1e-14)
    np.testing.assert_allclose(found.b, expected.b, rtol=1e-14)


def test_tuples_of_hashable_arrays(rng):
    def f(pair):
        return np.sum(pair.x * pair.y)

    x, y = rng.normal(size=(2, 4))
    found = sdfgad.differentiate(f)(Pair(Foreign(x), Foreign(y)))["pair"]
    np.testing.assert_array_equal(numpy_of(found.x), y)


# --- control flow and checks


def test_integers_on_the_device(rng):
    x, at = rng.normal(size=6), np.array([0, 3, 3, 5])
    g = sdfgad.differentiate(looked_up, wrt="x")
    np.testing.assert_array_equal(numpy_of(g(Foreign(x), Foreign(at))), g(x, at))
    with pytest.raises(InvalidIndex):
        g(Foreign(x), Foreign(at + 3))


def test_integers_that_decide_what_the_program_is(rng):
    def f(x, ends):
        return np.sum(x[: ends[0]] * x[ends[0] :])

    x = rng.normal(size=6)
    g = sdfgad.differentiate(f, wrt="x")
    for _ in range(2):
        np.testing.assert_array_equal(numpy_of(g(Foreign(x), Foreign(np.array([3])))), np.roll(x, 3))


def test_trips_that_are_data(rng):
    x = rng.normal(size=5)
    g = sdfgad.differentiate(halved, wrt="x")
    for tolerance in (1e-1, 1e-3):
        np.testing.assert_array_equal(numpy_of(g(Foreign(x), tolerance)), g(x, tolerance))


def test_random_numbers(rng):
    def f(x, rng):
        return np.sum(x * rng.normal(size=x.shape))

    g = sdfgad.differentiate(f, wrt="x")
    x = rng.normal(size=5)
    found = g(Foreign(x), np.random.default_rng(1))
    np.testing.assert_array_equal(numpy_of(found), np.random.default_rng(1).normal(size=5))


def test_limits_and_measurements(arrays):
    g = sdfgad.differentiate(heat, wrt=("u", "a"), memory_limit=20_000)
    passed = [Foreign(one) for one in arrays]
    for one, right in zip(g(20, *passed), g(20, *arrays), strict=True):
        np.testing.assert_allclose(numpy_of(one), right, rtol=1e-12)
    assert g.measure(20, *passed).seconds > 0
    assert g.plan(20, *passed).peak_bytes <= 20_000


# --- what is copied, and what is shared


def test_nothing_is_copied_through_the_host(monkeypatch, arrays):
    copied = []
    for name in ("_send", "_fetch"):
        original = getattr(DeviceExecutable, name)

        def counting(self, first, second, original=original):
            copied.append(max(getattr(one, "nbytes", 0) for one in (first, second)))
            return original(self, first, second)

        monkeypatch.setattr(DeviceExecutable, name, counting)
    u, a = arrays
    g = sdfgad.differentiate(heat, wrt=("u", "a"))
    g(4, Foreign(u), Foreign(a))
    assert sum(copied) == 0
    g.value_and_grad(4, Foreign(u), Foreign(a))
    assert sum(copied) == 0
    g(4, Foreign(u), a)
    assert copied == [a.nbytes] * 2
    copied.clear()
    h = sdfgad.differentiate(scaled, wrt="y", reduce="sum")
    h(Foreign(u), Foreign(a), 1.0)
    h(Foreign(u), Foreign(a), 1.0)
    assert sum(copied) == 0


def test_one_specialisation_for_the_cpu_and_one_for_the_gpu(arrays):
    u, a = arrays
    g = sdfgad.differentiate(heat, wrt="u")
    for first, second in ((u, a), (Foreign(u), a), (u, Foreign(a)), (u, a), (Foreign(u), Foreign(a))):
        g(2, first, second)
    assert [len(ones) for ones in g._specialisations.found.values()] == [1, 1]
    on_gpu = sdfgad.differentiate(heat, wrt="u", device="gpu")
    assert type(on_gpu(2, u, a)) is np.ndarray
    np.testing.assert_array_equal(on_gpu(2, u, Foreign(a)), on_gpu(2, u, a))


def test_calls_of_the_cpu_import_nothing_of_the_gpu(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import sys, numpy as np, sdfgad
def f(x, c=None, name="x"):
    return np.sum(x * x)
g = sdfgad.differentiate(f, wrt="x")
g(np.ones(3)), g.vjp(np.ones(3), cotangent=1.0), g.value_and_grad(np.ones(3))
print([name for name in sys.modules if name.startswith("sdfgad.runtime.gpu")])
""")
    here = {**os.environ, "PYTHONPATH": str(Path(sdfgad.__file__).parents[1])}
    # The first one compiles, for which all targets are imported.
    for _ in range(2):
        found = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, env=here)
    assert found.stdout.strip() == "[]"


# --- errors


def test_on_the_cpu_they_are_refused(rng):
    x = rng.normal(size=5)
    g = sdfgad.differentiate(looked_up, wrt="x", device="cpu")
    with pytest.raises(ArgumentError, match=r'`x`, a Foreign, is on a GPU(.|\n)*device="gpu"'):
        g(Foreign(x), np.array([1]))
    cupy = type("ndarray", (Foreign,), {"__module__": "cupy"})
    with pytest.raises(ArgumentError, match=r"at\.get\(\)"):
        g(x, cupy(np.array([1])))
    with pytest.raises(ArgumentError, match="`cotangent`, a Foreign, is on a GPU"):
        g.vjp(x, np.array([1]), cotangent=Foreign(np.array(1.0)))


def test_what_runs_on_the_cpu_only_refuses_them(rng):
    x = Foreign(rng.normal(size=5))

    def f(x):
        return np.sum(x**3)

    for call in (
        lambda: sdfgad.jacobian(f)(x),
        lambda: sdfgad.hessian(f)(x),
        lambda: sdfgad.vjp(f, x),
        lambda: sdfgad.jvp(f, (x,), (np.ones(5),)),
        lambda: sdfgad.vmap(f)(x),
        lambda: sdfgad.check_grads(f, x),
    ):
        with pytest.raises(ArgumentError, match="is on a GPU"):
            call()


def cubes(x, y):
    return x**3 * y, np.sum(y)


def test_directions(rng):
    """Tangents may be on the device or on the host, or zero; results are of the caller's library."""
    x, y, dx, dy = rng.normal(size=(4, 30))
    g = sdfgad.differentiate(cubes, wrt=("x", "y"), output="return[0]")
    expected = g.jvp(x, y, tangents=(dx, dy))
    there = g.jvp(Foreign(x), Foreign(y), tangents=(Foreign(dx), dy))
    for one, right in zip(there, expected, strict=True):
        assert not isinstance(one, np.ndarray)
        np.testing.assert_allclose(numpy_of(one), right, rtol=1e-14)
    value, along = g.linearize(Foreign(x), y)
    np.testing.assert_allclose(numpy_of(value), expected[0], rtol=1e-14)
    np.testing.assert_allclose(numpy_of(along((None, Foreign(dy)))), x**3 * dy, rtol=1e-14)
    np.testing.assert_array_equal(numpy_of(along((None, None))), np.zeros(30))


def test_tangents_that_do_not_fit(rng):
    g = sdfgad.differentiate(cubes, wrt="x", output="return[0]")
    x, y = rng.normal(size=(2, 30))
    with pytest.raises(ArgumentError, match=r"the tangent of `x` is of shape \(29,\) and dtype float64"):
        g.jvp(Foreign(x), y, tangents=Foreign(x[1:].copy()))
    with pytest.raises(ArgumentError, match="is on a GPU, and this runs on the CPU"):
        g.jvp(x, y, tangents=Foreign(x))


def test_faults_of_kernels_name_the_line(rng):
    """An array that is shorter than it says: with SDFGAD_SYNC=1 on a device, and always in the emulation."""
    g = sdfgad.differentiate(heat, wrt="u")
    with pytest.raises(DeviceError, match=r"nothing has written(.|\n)*test_device_arrays.py:\d+: u\[1:-1\] \+= a"):
        g(2, rng.normal(size=50), Foreign(rng.normal(size=5), shape=(50,)))
    np.testing.assert_allclose(g(0, rng.normal(size=5), rng.normal(size=5)).shape, (5,))


def test_two_devices(rng):
    u, a = Foreign(rng.normal(size=5)), OnOther(rng.normal(size=5))
    g = sdfgad.differentiate(heat, wrt="u")
    with pytest.raises(ArgumentError, match="`u` and `a` are on different devices, 0 and 1"):
        g(1, u, a)
    with pytest.raises(ArgumentError, match="`u` and `cotangent` are on different devices"):
        g.vjp(1, u, u, cotangent=OnOther(np.array(1.0)))


def test_other_orders(rng):
    g = sdfgad.differentiate(lambda x: np.sum(x * x), wrt="x")
    x = rng.normal(size=(3, 4))
    with pytest.raises(ArgumentError, match=r"`x` is on a device, and its elements are not(.|\n)*contiguous copy"):
        g(transposed(x))


def test_dtypes_that_are_not_supported():
    g = sdfgad.differentiate(lambda x: np.sum(x * x), wrt="x")
    with pytest.raises(ArgumentError, match="dtype float16"):
        g(Foreign(np.ones(3, np.float16)))
    with pytest.raises(ArgumentError, match="cotangent is of dtype float32"):
        g.vjp(Foreign(np.ones(3)), cotangent=Foreign(np.array(1, np.float32)))
    with pytest.raises(ArgumentError, match=r"cotangent has shape \(2,\)"):
        g.vjp(Foreign(np.ones(3)), cotangent=Foreign(np.ones(2)))


def test_arrays_that_do_not_show_their_memory():
    class Tape(Foreign):
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("requires grad")

        def __dlpack_device__(self):
            return 2, 0

    with pytest.raises(ArgumentError, match="`x`, a Tape, does not show its memory: requires grad"):
        sdfgad.differentiate(lambda x: np.sum(x * x))(Tape(np.ones(3)))


def test_updated_arguments_that_share_memory(rng):
    u = Foreign(rng.normal(size=5))
    with pytest.raises(ArgumentError, match="`u` and `a` share memory"):
        sdfgad.differentiate(heat, wrt="u", output="u", reduce="sum").value(1, u, u)


def test_unknown_devices_are_refused():
    with pytest.raises(sdfgad.ArgumentError, match=r"device='tpu' is not known\s+It is one of auto, cpu, gpu"):
        sdfgad.differentiate(np.sum, device="tpu")
