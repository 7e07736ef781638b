"""Transforms and linear algebra by the runtime, on a cuFFT and a cuSOLVER without a device."""

import ctypes
import re

import numpy as np
import pytest

from sdfgad.errors import DeviceError, OutOfMemory
from sdfgad.runtime.gpu import binding
from sdfgad.runtime.gpu.libraries import CUFFT, CUSOLVER

FUNCTIONS = (
    "fourier",
    "real_fourier",
    "half_fourier",
    "lu_columns",
    "lu_solve_columns",
    "cholesky_columns",
    "upper_solve_columns",
    "hermitian_columns",
    "singular_columns",
    "qr_columns",
)
DTYPES = ["float64", "float32", "complex128", "complex64"]
WIDE = ["float64", "complex128"]


def code_of(name, arrays, sizes):
    places = (ctypes.c_void_p * len(arrays))(*(array.pointer for array in arrays))
    kind = DTYPES.index(arrays[0].dtype.name)
    return binding.functions().call(FUNCTIONS.index(name), kind, places, (ctypes.c_int64 * len(sizes))(*sizes))


def call(device, name, inputs, outputs, *sizes):
    """What a function computes, for outputs of these shapes and types."""
    held = [device.array(np.ascontiguousarray(array)) for array in inputs]
    made = [device.array(np.full(shape, 7, dtype)) for shape, dtype in outputs]
    binding.check(code_of(name, held + made, sizes), "calling a library")
    for array, before in zip(held, inputs, strict=True):
        np.testing.assert_array_equal(array.to_numpy(), before)
    return [array.to_numpy() for array in made]


def values(rng, shape, dtype):
    real = rng.normal(size=shape)
    return (real + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else real).astype(dtype)


def complex_of(dtype):
    return np.result_type(dtype, np.complex64)


SHAPES = [(3, 5, 1), (1, 6, 4), (1, 1, 3), (2, 2, 1), (1, 7, 1), (4, 1, 1), (1, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_complex_transforms(device, rng, shape, dtype):
    x = values(rng, shape, dtype)
    for sign, expected in ((-1, np.fft.fft(x, axis=1)), (1, np.fft.ifft(x, axis=1, norm="forward"))):
        (found,) = call(device, "fourier", [x], [(shape, dtype)], *shape, sign)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_transforms_of_reals(device, rng, shape, dtype):
    x = values(rng, shape, dtype)
    half = (shape[0], shape[1] // 2 + 1, shape[2])
    (found,) = call(device, "real_fourier", [x], [(half, complex_of(dtype))], *shape)
    np.testing.assert_allclose(found, np.fft.rfft(x, axis=1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_transforms_to_reals(device, rng, shape, dtype):
    # Of any numbers: what is imaginary of the mean, and of the last one for an even length, is ignored.
    half = values(rng, (shape[0], shape[1] // 2 + 1, shape[2]), complex_of(dtype))
    (found,) = call(device, "half_fourier", [half], [(shape, dtype)], *shape)
    expected = np.fft.irfft(half, shape[1], axis=1, norm="forward")
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


class Part:
    """An array of the device without its first elements."""

    def __init__(self, whole, first, dtype):
        self.whole, self.dtype = whole, np.dtype(dtype)
        self.pointer = whole.pointer + first * whole.dtype.itemsize


def test_arrays_that_are_not_aligned(device, rng):
    x = values(rng, 9, float)
    out = device.array(np.zeros((1, 5, 1), complex))
    binding.check(code_of("real_fourier", [Part(device.array(x), 1, float), out], (1, 8, 1)), "calling a library")
    np.testing.assert_allclose(out.to_numpy().ravel(), np.fft.rfft(x[1:]), rtol=1e-10, atol=1e-12)
    out = device.array(np.zeros((1, 4, 1), complex))
    binding.check(code_of("fourier", [Part(device.array(x), 1, complex), out], (1, 4, 1, -1)), "calling a library")
    np.testing.assert_allclose(out.to_numpy().ravel(), np.fft.fft(x[1::2] + 1j * x[2::2]), rtol=1e-10, atol=1e-12)


def test_plans_are_kept_and_dropped(device, fake, rng):
    for _ in range(2):
        for n in range(1, 40):
            x = values(rng, (1, n, 1), complex)
            (found,) = call(device, "fourier", [x], [(x.shape, complex)], 1, n, 1, -1)
            np.testing.assert_allclose(found, np.fft.fft(x, axis=1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(("batch", "n", "m"), [(1, 4, 3), (3, 3, 2), (1, 1, 1), (2, 5, 1)])
def test_solutions(device, rng, dtype, batch, n, m):
    a, b = values(rng, (batch, n, n), dtype), values(rng, (batch, m, n), dtype)
    outputs = [(a.shape, dtype), ((batch, n), np.int32), ((batch,), np.int32)]
    lu, pivots, failed = call(device, "lu_columns", [a], outputs, batch, n)
    np.testing.assert_array_equal(failed, 0)
    matrix = np.swapaxes(a, 1, 2)
    for kind, one in enumerate((matrix, a, np.conj(a))):
        (x,) = call(device, "lu_solve_columns", [lu, pivots, b], [(b.shape, dtype)], batch, n, m, kind)
        np.testing.assert_allclose(one @ np.swapaxes(x, 1, 2), np.swapaxes(b, 1, 2), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(("batch", "n", "m"), [(1, 4, 3), (3, 3, 2)])
def test_cholesky_factors(device, rng, dtype, batch, n, m):
    a = values(rng, (batch, n, n), dtype)
    a = a @ np.conj(np.swapaxes(a, 1, 2)) + np.eye(n)
    outputs = [(a.shape, dtype), ((batch,), np.int32)]
    lower, failed = call(device, "cholesky_columns", [np.tril(a)], outputs, batch, n)
    np.testing.assert_array_equal(failed, 0)
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(a), rtol=1e-10, atol=1e-12)
    b = values(rng, (batch, m, n), dtype)
    upper = np.swapaxes(np.tril(lower), 1, 2)
    for kind, one in enumerate((upper, np.tril(lower), np.conj(np.tril(lower)))):
        (x,) = call(device, "upper_solve_columns", [lower, b], [(b.shape, dtype)], batch, n, m, kind)
        np.testing.assert_allclose(one @ np.swapaxes(x, 1, 2), np.swapaxes(b, 1, 2), rtol=1e-9, atol=1e-9)
    worse = np.tril(a) - 9 * np.max(np.abs(a)) * np.eye(n)
    assert np.all(call(device, "cholesky_columns", [worse], outputs, batch, n)[1] == 1)


@pytest.mark.parametrize("dtype", WIDE)
def test_values_and_vectors(device, rng, dtype):
    w = np.sort(rng.normal(size=(2, 3)))
    a = np.asarray(w[:, None, :] * np.eye(3), dtype)
    outputs = [(w.shape, float), (a.shape, dtype), ((2,), np.int32)]
    found, vectors, failed = call(device, "hermitian_columns", [a], outputs, 2, 3, 0)
    np.testing.assert_array_equal(found, w)
    np.testing.assert_array_equal(vectors, np.broadcast_to(np.eye(3), a.shape))
    np.testing.assert_array_equal(failed, 0)
    for has_all, left in ((0, 3), (1, 3)):
        outputs = [((2, left, 3), dtype), (w.shape, float), (a.shape, dtype), ((2,), np.int32)]
        found = call(device, "singular_columns", [a], outputs, 2, 3, 3, has_all)
        np.testing.assert_array_equal(found[1], w)
        np.testing.assert_array_equal(found[3], 0)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(("batch", "m", "n"), [(1, 4, 3), (2, 3, 5)])
def test_orthogonal_factors(device, rng, dtype, batch, m, n):
    a = values(rng, (batch, m, n), dtype)
    k = min(m, n)
    outputs = [((batch, k, m), dtype), ((batch, n, m), dtype)]
    q, r = call(device, "qr_columns", [np.swapaxes(a, 1, 2)], outputs, batch, m, n)
    np.testing.assert_allclose(np.swapaxes(q, 1, 2) @ np.triu(np.swapaxes(r, 1, 2))[:, :k], a, rtol=1e-9, atol=1e-9)


def test_a_singular_matrix(device):
    a = np.stack([np.eye(2), np.ones((2, 2))])
    outputs = [(a.shape, float), ((2, 2), np.int32), ((2,), np.int32)]
    np.testing.assert_array_equal(call(device, "lu_columns", [a], outputs, 2, 2)[2], [0, 2])


# --- streams and failures


def test_streams_take_turns(device, fake, rng):
    def work():
        a = rng.normal(size=(1, 2, 2))
        call(device, "lu_columns", [a], [(a.shape, float), ((1, 2), np.int32), ((1,), np.int32)], 1, 2)
        call(device, "fourier", [a + 0j], [((1, 4, 1), complex)], 1, 4, 1, 1)

    work()
    with device.stream(9):
        work()
    assert fake.log().count("9 waits for 0") >= 3


@pytest.mark.parametrize(("path", "symbol"), [([], "nowhere"), (["libm.so.6"], "Create")])
@pytest.mark.parametrize(("name", "library"), [("lu_columns", CUSOLVER), ("fourier", CUFFT)])
def test_a_library_is_not_there(device, name, library, path, symbol):
    paths = ["/nowhere/library.so", *path]
    binding.library().sdfgad_device_set_library(library.missing, "\n".join(paths).encode())
    a = device.array(np.ones((1, 1, 1), float if name == "lu_columns" else complex))
    code = code_of(name, [a] * 4, (1, 1, 1, 1))
    found = binding.error(code, "calling a library")
    assert isinstance(found, DeviceError)
    said = f"{library.title} cannot be loaded: .*{symbol}.*pip install .nvidia-{library.plain}"
    assert re.match(said, str(found), re.DOTALL)
    # The others are there.
    call(device, "upper_solve_columns", [np.ones((1, 1, 1)), np.ones((1, 1, 1))], [((1, 1, 1), float)], 1, 1, 1, 0)


@pytest.mark.parametrize("library", [CUSOLVER, CUFFT])
def test_where_libraries_are_looked_for(library, monkeypatch):
    monkeypatch.delenv(library.variable, raising=False)
    names = [f"lib{library.plain}.so.{version}" for version in (12, 11)]
    assert library.paths(13000)[-2:] == names
    assert library.paths(12090)[-1] == names[1]
    monkeypatch.setenv(library.variable, "/here/it.so")
    assert library.paths(13000)[0] == "/here/it.so"


def test_codes(device):
    assert binding.error_text(21005) == "cuFFT status 5"
    assert binding.error_text(22003) == "cuSOLVER status 3"
    for code in (21002, 22002):
        assert isinstance(binding.error(code, "calling"), OutOfMemory)
    x = device.array(np.ones((2, 3, 2), complex))
    assert code_of("fourier", [x, x], (2, 3, 2, 1)) == 1
    assert code_of("lu_columns", [device.array(np.ones((1, 1, 1), np.float32))] * 4, (1, 1)) == 1
