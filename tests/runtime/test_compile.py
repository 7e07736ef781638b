"""Compiled programs are cached by content, on disk, for all processes."""

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import npbench_suite
import sdfgad
from sdfgad.runtime import build as compiling
from sdfgad.runtime import compiler
from tests.helpers_cache import keep_headers

ROOT = Path(sdfgad.__file__).parent.parent
X = np.array([1.0, 2.0, 3.0])


def poly(x):
    return np.sum(x * x * x)


def libraries(folder):
    return sorted(folder.rglob("program.so"))


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache folder, but for the precompiled headers."""
    keep_headers(monkeypatch)
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_second_program_reuses_the_library(monkeypatch, cache):
    first = sdfgad.differentiate(poly)(X)
    assert len(libraries(cache)) == 1

    def no_compiler(*_):
        raise AssertionError("compiled again")

    monkeypatch.setattr(compiling, "_compiled", no_compiler)
    again = sdfgad.differentiate(poly)(X)
    np.testing.assert_array_equal(first["x"], again["x"])
    with pytest.raises(AssertionError, match="compiled again"):
        sdfgad.differentiate(poly)(X[:2])


def test_what_is_asked_for_in_another_way_is_shared(cache):
    sdfgad.differentiate(poly)(X)
    sdfgad.differentiate(poly, wrt="x")(X)
    sdfgad.grad(poly)(X + 1)
    assert len(libraries(cache)) == 1


def test_a_library_that_is_gone_is_built_again(cache):
    expected = sdfgad.differentiate(poly)(X)["x"]
    for path in libraries(cache):
        path.unlink()
    np.testing.assert_array_equal(sdfgad.differentiate(poly)(X)["x"], expected)
    assert len(libraries(cache)) == 1


@pytest.mark.parametrize("flags", ["COMMON", "PLAIN_GCC"])
def test_other_flags_are_another_key(flags, monkeypatch, cache):
    if flags == "PLAIN_GCC" and compiler.is_clang():
        pytest.skip("flags that only GCC has")
    sdfgad.differentiate(poly)(X)
    monkeypatch.setattr(compiler, flags, (*getattr(compiler, flags), "-DOTHER"))
    compiler.toolchain.cache_clear()
    try:
        sdfgad.differentiate(poly)(X)
    finally:
        compiler.toolchain.cache_clear()
    assert len(libraries(cache)) == 2


def test_a_library_that_failed_to_build_is_not_kept(monkeypatch, cache):
    monkeypatch.setattr(compiler, "COMMON", (*compiler.COMMON, "-no-such-flag"))
    with pytest.raises(sdfgad.errors.CompilerError):
        sdfgad.differentiate(poly)(X)
    monkeypatch.undo()
    assert libraries(cache) == []


def test_nothing_is_written_to_the_working_folder(monkeypatch, cache, tmp_path_factory):
    here = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(here)
    sdfgad.differentiate(poly)(X)
    assert list(here.iterdir()) == []


PROGRAM = """
import numpy as np, sdfgad
def poly(x):
    return np.sum(x * x * x)
print(sdfgad.differentiate(poly, wrt="x")(np.arange(3.0)).tolist())
"""
SLOW = """
import sys
print(sorted({"dace", "matplotlib", "rich", "scipy", "sympy"} & sys.modules.keys()))
"""


def test_what_takes_long_to_import_is_not_for_a_compiled_program(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM + SLOW)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.splitlines() == ["[0.0, 3.0, 12.0]", "[]"]


@pytest.mark.slow
def test_two_processes_fill_an_empty_cache(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    folder = tmp_path / "cache"
    results = []
    # The hash seeds differ: neither the results nor the libraries may depend on them.
    processes = [
        subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "SDFGAD_CACHE_DIR": str(folder),
                "PYTHONHASHSEED": seed,
            },
        )
        for seed in ("1", "2")
    ]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        results.append(out)
    assert results == ["[0.0, 3.0, 12.0]\n"] * 2
    assert len(libraries(folder)) == 1
    assert sum(path.is_file() for path in (folder / "programs").rglob("*")) == 1
    # Everything stored, and what is chosen.
    assert sum(path.is_file() for path in (folder / "layouts").rglob("*")) == 2


def joined_and_flattened(x, y):
    return np.concatenate((np.zeros(1), np.ravel(np.concatenate((x, y), axis=1))))


def test_lanes_are_not_mixed_up():
    """GCC 12 with -O3 for AVX-512 gives x_bar[1, 0] the value of x_bar[0, 2] here."""
    x, c = np.arange(6.0).reshape(2, 3), np.arange(13.0)
    dx, dy = sdfgad.differentiate(joined_and_flattened, wrt=("x", "y")).vjp(x, x, cotangent=c)
    np.testing.assert_array_equal(dx, [[1.0, 2.0, 3.0], [7.0, 8.0, 9.0]])
    np.testing.assert_array_equal(dy, [[4.0, 5.0, 6.0], [10.0, 11.0, 12.0]])


DOUBLE_P = ctypes.POINTER(ctypes.c_double)


def library_of(text, flags, folder):
    """C++ text, compiled and loaded."""
    source, target = folder / "text.cpp", folder / "text.so"
    source.write_text(text)
    compiler.run([*compiler.compiler(), *flags, "-shared", str(source), "-o", str(target)])
    return ctypes.CDLL(str(target))


ROWS = """
#include <cstdint>
extern "C" void add(double* __restrict__ b, const double* __restrict__ a) {
    for (int64_t i = 0; i < USED; ++i)
        for (int64_t j = 0; j < USED; ++j) {
            b[(i + 2) * ROW + j + 1] += a[(i + 1) * ROW + j + 1];
            b[i * ROW + j + 1] += a[(i + 1) * ROW + j + 1] * 0.5;
            b[i * ROW + j + 1] *= b[i * ROW + j + 1];
        }
}
"""


@pytest.mark.parametrize(("row", "used"), [(4, 3), (7, 5), (8, 6), (16, 7), (16, 14)])
def test_rows_are_updated_in_order(row, used, tmp_path):
    """GCC 11 to 14 vectorise the outer loop and load a row before the one two trips earlier has stored it (ADR 15)."""
    text = ROWS.replace("USED", str(used)).replace("ROW", str(row))
    add = library_of(text, compiler.Level.OPTIMISED.flags, tmp_path).add
    a, b = np.random.default_rng(7).random((2, used + 2, row))
    expected = b.copy()
    for i in range(used):
        for j in range(1, used + 1):
            expected[i + 2, j] += a[i + 1, j]
            expected[i, j] += a[i + 1, j] * 0.5
            expected[i, j] *= expected[i, j]
    add(b.ctypes.data_as(DOUBLE_P), a.ctypes.data_as(DOUBLE_P))
    np.testing.assert_array_equal(b, expected)


OPPOSITE = """
__attribute__((noinline)) static void f(double* __restrict__ t, const double* __restrict__ x) {
    for (long i = 0; i < 5; ++i)
        for (long j = 0; j < 5; ++j) t[i * 5 + j] = x[(4 - j) * 5 + i] + x[j * 5 + 4 - i];
}
extern "C" void g(double* __restrict__ result, const double* __restrict__ x) {
    double t[25];
    f(t, x);
    for (int k = 0; k < 25; ++k) result[k] = t[k];
}
"""
PLAIN = compiler.Level.PLAIN.flags


@pytest.mark.parametrize("without", [compiler.PLAIN_GCC, "-fno-delete-null-pointer-checks"])
def test_calls_are_not_dropped(without, tmp_path):
    """GCC 12 takes an address for a null pointer, behind which it sees no stores; two remedies, each alone (ADR 20)."""
    g = library_of(OPPOSITE, [flag for flag in PLAIN if flag not in without], tmp_path).g
    x, result = np.random.default_rng(3).random(25), np.zeros(25)
    g(result.ctypes.data_as(DOUBLE_P), x.ctypes.data_as(DOUBLE_P))
    a = x.reshape(5, 5)
    np.testing.assert_array_equal(result.reshape(5, 5), a[::-1].T + a[:, ::-1].T)


WINDOWS = """
#include <cstdint>
extern "C" void add(double* __restrict__ x, const double* __restrict__ c, const double* __restrict__ w) {
    for (int64_t i = 0; i < 5; ++i)
        for (int64_t p = 0; p < 4; ++p)
            for (int64_t j = 0; j < 6; ++j)
                for (int64_t q = 0; q < 4; ++q)
                    for (int64_t k = 0; k < 6; ++k)
                        x[(i + p) * 54 + (j + q) * 6 + k] = 0.5 * x[(i + p) * 54 + (j + q) * 6 + k]
                            + c[i * 24 + j * 4] * w[p * 96 + q * 24 + k * 4]
                            + c[i * 24 + j * 4 + 1] * w[p * 96 + q * 24 + k * 4 + 1]
                            + c[i * 24 + j * 4 + 2] * w[p * 96 + q * 24 + k * 4 + 2]
                            + c[i * 24 + j * 4 + 3] * w[p * 96 + q * 24 + k * 4 + 3];
}
"""


def decayed_windows(x, c, w):
    for i in range(5):
        for p in range(4):
            for j in range(6):
                for q in range(4):
                    for k in range(6):
                        x[i + p, j + q, k] = (
                            0.5 * x[i + p, j + q, k]
                            + c[i, j, 0] * w[p, q, k, 0]
                            + c[i, j, 1] * w[p, q, k, 1]
                            + c[i, j, 2] * w[p, q, k, 2]
                            + c[i, j, 3] * w[p, q, k, 3]
                        )
    return np.sum(x * x)


def windows(seed):
    rng = np.random.default_rng(seed)
    return rng.random((8, 9, 6)), rng.random((5, 6, 4)), rng.random((4, 4, 6, 4))


def test_loops_whose_trips_meet_are_not_interchanged(tmp_path):
    """GCC 11 and 12 interchange the two outer loops (ADR 21)."""
    arrays = windows(5)
    expected = arrays[0].copy()
    decayed_windows(expected, *arrays[1:])
    add = library_of(WINDOWS, compiler.Level.OPTIMISED.flags, tmp_path).add
    add(*(array.ctypes.data_as(DOUBLE_P) for array in arrays))
    np.testing.assert_array_equal(arrays[0], expected)


def test_windows_that_decay_are_right():
    """Value and gradient were off by 5 % (ADR 21)."""
    arrays, directions = windows(6), windows(7)
    value, gradients = sdfgad.differentiate(decayed_windows).value_and_grad(*arrays)
    ahead, behind = (
        decayed_windows(*(a + t * d for a, d in zip(arrays, directions, strict=True))) for t in (1e-5, -1e-5)
    )
    np.testing.assert_allclose(value, decayed_windows(*(a.copy() for a in arrays)), rtol=1e-13)
    slope = sum(np.sum(gradients[n] * d) for n, d in zip("xcw", directions, strict=True))
    np.testing.assert_allclose(slope, (ahead - behind) / 2e-5, rtol=1e-8)


FEW_TRIPS = """
#include <cstdint>
#define OWN __restrict__
static __attribute__((noinline)) void nest(const TYPE* OWN t, const TYPE* OWN x, TYPE* OWN b) {
    for (int64_t i = 0; i < 2; ++i) {
        #pragma omp simd
        for (int64_t j = 0; j < 5; ++j)
            b[i * 24 + j * 3] = b[i * 24 + j * 3] + t[j] * (x[i * 24 + j * 3 + 1] + x[i * 24 + j * 3 + 5]);
    }
}
extern "C" void add(TYPE* result) {
    alignas(64) static TYPE t[5], x[48], b[48];
    for (int k = 0; k < 48; ++k) x[k] = k;
    for (int j = 0; j < 5; ++j) t[j] = j;
    nest(t, x, b);
    for (int k = 0; k < 48; ++k) result[k] = b[k];
}
"""


@pytest.mark.parametrize(("kind", "dtype"), [("double", np.float64), ("float", np.float32)])
def test_no_trip_runs_twice(kind, dtype, tmp_path):
    """GCC 11 and 12 run one trip up to an aligned address, then four at once, and these four again (ADR 22)."""
    result = np.zeros(48, dtype)
    library_of(FEW_TRIPS.replace("TYPE", kind), compiler.Level.OPTIMISED.flags, tmp_path).add(
        ctypes.c_void_p(result.ctypes.data)
    )
    expected = np.zeros(48)
    for i in range(2):
        for j in range(5):
            expected[i * 24 + j * 3] = j * (2 * (i * 24 + j * 3) + 6)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("size", [7, 8])
def test_a_stencil_with_short_rows_is_right(size):
    """heat_3d's gradient was wrong here: at 8 with vectors of 512 bits, at 7 with those of 256 (ADR 15)."""
    entry = npbench_suite.load("heat_3d")
    rng = np.random.default_rng(size)
    a, b, da, db = rng.random((4, size, size, size))
    g = sdfgad.differentiate(entry.program, wrt=("A", "B"), output="A", reduce="sum")
    a_bar, b_bar = g(5, a, b)

    def total(a, b):
        a, b = a.copy(), b.copy()
        entry.program(5, a, b)
        return np.sum(a)

    # The program is linear.
    expected = total(da, db) - total(0 * da, 0 * db)
    np.testing.assert_allclose(np.sum(a_bar * da) + np.sum(b_bar * db), expected, rtol=1e-12)


def quotients(x, y):
    return x / y


def test_complex_quotients_are_right():
    """GCC 12 with -O3 mixes up the imaginary parts of this gradient where numbers are std::complex."""
    x = np.array([-0.309 - 0.364j])
    y = np.array([-0.387 + 0.819j, -0.343 - 1.043j, -1.648 + 0.419j, 1.788 - 0.601j])
    c = np.array([1.0 + 0.5j, -0.3 + 1.0j, 0.7 - 0.2j, -1.1 - 0.4j])
    dx, dy = sdfgad.differentiate(quotients, wrt=("x", "y")).vjp(x, y, cotangent=c)
    np.testing.assert_allclose(dy, c * np.conj(-x / y**2), rtol=1e-13)
    np.testing.assert_allclose(dx, [np.sum(c * np.conj(1 / y))], rtol=1e-13)


needs_vectors = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the library of vector functions is of x86-64"
)


def turned(x):
    return np.sum(np.sin(x) * np.cos(x))


@needs_vectors
def test_a_sine_and_a_cosine_of_the_same_angles_come_for_vectors(cache):
    x = np.linspace(0.0, 3.0, 100)
    np.testing.assert_allclose(sdfgad.differentiate(turned)(x)["x"], np.cos(2 * x), rtol=1e-13, atol=1e-15)
    (library,) = libraries(cache)
    symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
    assert "sincos" not in symbols
    assert vector_functions(symbols) == {"sin", "cos"}


def vector_functions(symbols):
    return {line.rpartition("v_")[2].partition("@")[0] for line in symbols.splitlines() if "_ZGV" in line}


def roots(x):
    return np.sum(np.real(x * np.exp(-2.0j * np.pi * np.arange(200) / 200)))


@needs_vectors
def test_phases_that_are_known_at_the_start_come_for_vectors_without_exponentials(cache):
    x = np.linspace(0.0, 3.0, 200) + 0j
    expected = np.exp(2.0j * np.pi * np.arange(200) / 200)
    np.testing.assert_allclose(sdfgad.differentiate(roots)(x)["x"], expected, rtol=1e-12, atol=1e-14)
    (library,) = libraries(cache)
    symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
    assert vector_functions(symbols) == {"sin", "cos"}
