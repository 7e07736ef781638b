"""The host part of a program, compiled against `device.h`, with the table of functions of the runtime."""

import ctypes

import numpy as np
import pytest

from sdfgad.errors import DeviceError, OutOfMemory
from sdfgad.runtime.gpu import binding, driver
from sdfgad.runtime.gpu.libraries import CUBLAS

OPERATIONS = (lambda a: a, np.transpose, lambda a: a.conj().T)
DTYPES = (np.float64, np.float32, np.complex128, np.complex64)


def at(array):
    return ctypes.c_void_p(array.pointer)


def test_programs_launch_kernels(device, program, fake):
    x = device.array(np.arange(1000.0))
    assert program.scaled(at(x), ctypes.c_int64(1000), ctypes.c_double(3.0)) == 0
    np.testing.assert_array_equal(x.to_numpy(), 3 * np.arange(1000))
    assert "launch scale 4 of 256 on 0" in fake.log()
    assert program.first(at(x)) == 0.0
    assert fake.library.fake_blocks() == 1


def test_device_memory_is_counted_apart(device, program):
    x = device.array(np.arange(1000.0))
    assert program.scaled(at(x), ctypes.c_int64(1000), ctypes.c_double(3.0)) == 0
    assert program.sdfgad_device_peak_bytes() == 8192
    assert program.sdfgad_peak_bytes() == 0
    program.sdfgad_reset_device_peak()
    assert program.sdfgad_device_peak_bytes() == 0


def test_nothing_is_launched_for_no_points(device, program, fake):
    assert program.scaled(None, ctypes.c_int64(0), ctypes.c_double(3.0)) == 0
    assert not any(line.startswith("launch") for line in fake.log())


@pytest.mark.parametrize("size", [600, 2**62])
def test_memory_runs_out(device, program, fake, size):
    fake.library.fake_limit(2048)
    assert program.filled(ctypes.c_int64(size)) == 1
    assert fake.library.fake_blocks() == 0
    assert isinstance(binding.program_error(1, "running a program"), OutOfMemory)
    assert program.filled(ctypes.c_int64(600 if size == 600 else 10)) == (1 if size == 600 else 0)


def test_failures_have_codes(device, program, fake):
    assert program.failed() == binding.FIRST_FAILURE + 700
    error = binding.program_error(program.failed(), "running a program")
    assert isinstance(error, DeviceError)
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in str(error)
    fake.fail("cuMemAllocFromPoolAsync", 700)
    assert program.filled(ctypes.c_int64(10)) == 1
    assert isinstance(binding.program_error(1, "running a program"), DeviceError)
    assert program.too_small() == 2
    fake.library.fake_reset()


# --- products


def multiply(device, a, b, c, operations, alpha, beta):
    kind = DTYPES.index(a.dtype)
    m, n = c.shape
    k = OPERATIONS[operations[0]](a).shape[1]
    held = [device.array(array) for array in (a, b, c)]
    scales = [np.array(value, a.dtype) for value in (alpha, beta)]
    code = binding.functions().gemm(
        kind, *operations, m, n, k, scales[0].ctypes.data, held[0].pointer, a.shape[1], held[1].pointer, b.shape[1],
        scales[1].ctypes.data, held[2].pointer, n,
    )  # fmt: skip
    binding.check(code, "multiplying matrices")
    return held[2].to_numpy()


def values(rng, shape, dtype):
    real = rng.normal(size=shape)
    return (real + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else real).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operations", [(i, j) for i in range(3) for j in range(3)])
def test_products(device, rng, dtype, operations):
    for m, n, k in ((3, 4, 5), (1, 7, 2), (2, 1, 1), (2, 3, 0)):
        a = values(rng, (k, m) if operations[0] else (m, k), dtype)
        b = values(rng, (n, k) if operations[1] else (k, n), dtype)
        c = values(rng, (m, n), dtype)
        expected = 1.5 * OPERATIONS[operations[0]](a) @ OPERATIONS[operations[1]](b) - 0.5 * c
        np.testing.assert_allclose(multiply(device, a, b, c, operations, 1.5, -0.5), expected, rtol=1e-5, atol=1e-5)


def test_products_of_programs(device, program, rng):
    a, b = values(rng, (5, 3), complex), values(rng, (5, 4), complex)
    held = device.array(a), device.array(b), device.empty((3, 4), complex)
    sizes = [ctypes.c_int64(size) for size in (3, 4, 5)]
    assert program.product(*sizes, *map(at, held)) == 0
    np.testing.assert_allclose(held[2].to_numpy(), a.conj().T @ b)


def test_streams_take_turns_with_the_workspace(device, fake):
    def work():
        a = np.eye(2)
        np.testing.assert_array_equal(multiply(device, a, a, a, (0, 0), 1, 0), a)

    work()
    work()
    assert fake.log().count("cuBLAS on 0") == 1
    with device.stream(9):
        work()
    assert fake.log().count("cuBLAS on 9") == 1
    at = fake.log().index("cuBLAS on 9")
    assert fake.log()[at - 1] == "9 waits for 0"


def test_cublas_is_not_there(fake, monkeypatch):
    monkeypatch.setenv("SDFGAD_CUBLAS", "libm.so.6")
    paths = ["libm.so.6", "/nowhere/libcublas.so.13"]
    device = driver.device()
    binding.library().sdfgad_device_set_library(CUBLAS.missing, "\n".join(reversed(paths)).encode())
    a = np.eye(2)
    with pytest.raises(DeviceError, match=r"(?s)cuBLAS cannot be loaded.*cublasCreate_v2.*pip install"):
        multiply(device, a, a, a, (0, 0), 1, 0)


def test_cublas_brings_a_library(device, fake, tmp_path):
    # What it needs is loaded before it; whether that is there is its own affair.
    for name in ("libcublas.so.13", "libcublasLt.so.13"):
        (tmp_path / name).symlink_to(fake.path)
    binding.library().sdfgad_device_set_library(CUBLAS.missing, str(tmp_path / "libcublas.so.13").encode())
    a = np.eye(2)
    np.testing.assert_array_equal(multiply(device, a, a, a, (0, 0), 1, 0), a)


def test_cublas_fails(device, fake):
    a, b = device.array(np.ones((2, 3))), device.array(np.ones((3, 1)))
    one = np.ones(1).ctypes.data_as(ctypes.c_void_p)
    too_small = 2
    arguments = (one, a.pointer, too_small, b.pointer, 1, one, b.pointer, 1)
    assert binding.functions().gemm(0, 0, 0, 2, 1, 3, *arguments) == 20007
    assert binding.functions().gemm(4, 0, 0, 2, 1, 3, *arguments) == 1
    assert binding.functions().gemm(0, 0, 0, 0, 1, 3, *arguments) == 0
    assert binding.error_text(20007) == "cuBLAS status 7: as cuBLAS says it"
    assert isinstance(binding.error(20003, "multiplying"), OutOfMemory)


def test_where_cublas_is_looked_for(monkeypatch, tmp_path):
    monkeypatch.delenv("SDFGAD_CUBLAS", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64" / "libcublas.so.12").touch()
    assert str(tmp_path / "lib64" / "libcublas.so.12") in CUBLAS.paths(13000)
    assert CUBLAS.paths(13000)[-2:] == ["libcublas.so.13", "libcublas.so.12"]
    assert CUBLAS.paths(12090)[-1] == "libcublas.so.12"
    assert not any(path.endswith("13") for path in CUBLAS.paths(12090))
    monkeypatch.setenv("SDFGAD_CUBLAS", "/here/libcublas.so")
    assert CUBLAS.paths(13000)[0] == "/here/libcublas.so"
