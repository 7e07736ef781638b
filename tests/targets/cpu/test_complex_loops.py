"""Loops over complex numbers and masks: sizes of numbers of all magnitudes, choices, and that GCC vectorises them."""

import ctypes
import platform
import subprocess

import numpy as np
import pytest

from sdfgad.runtime.compiler import INCLUDE, Level, compiler, is_clang, libraries

SOURCE = """
#include <algorithm>
#include "sdfgad.h"
using namespace sdfgad;
template <typename R> static void sizes(const complex<R>* __restrict__ z, R* __restrict__ out, int64_t n) {
    #pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = absolute(z[i]);
}
extern "C" void sizes_of_doubles(const complex<double>* z, double* out, int64_t n) { sizes(z, out, n); }
extern "C" void sizes_of_floats(const complex<float>* z, float* out, int64_t n) { sizes(z, out, n); }
extern "C" void escape(
    const complex<double>* __restrict__ c, complex<double>* __restrict__ z, bool* __restrict__ mask,
    bool* __restrict__ tape, double horizon, int64_t n
) {
    #pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
        tape[i] = is_set(mask[i]);
        z[i] = select<complex<double>>(is_set(mask[i]), z[i] * z[i] + c[i], z[i]);
        mask[i] = select<bool>(is_set(mask[i]), absolute(z[i]) < horizon, false);
    }
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masked")
    source, target = folder / "loops.cpp", folder / "loops.so"
    source.write_text(SOURCE)
    options = ["-shared", f"-I{INCLUDE}", str(source), "-o", str(target), "-fopt-info-vec", *libraries()]
    done = subprocess.run([*compiler(), *Level.OPTIMISED.flags, *options], check=True, capture_output=True, text=True)
    return ctypes.CDLL(str(target)), done.stderr


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def drawn(rng, dtype, count=20_000):
    """Complex numbers whose parts have all exponents, and infinities and NaN with all others."""
    part = np.empty(0, dtype).real.dtype
    limits = np.finfo(part)
    exponents = rng.uniform(limits.minexp - limits.nmant, limits.maxexp, (2, count))
    with np.errstate(all="ignore"):
        parts = (rng.choice([-1.0, 1.0], (2, count)) * 2.0**exponents).astype(part)
        # Parts of similar size, too.
        parts[1, ::2] = parts[0, ::2] * rng.uniform(0.1, 1.9, count // 2).astype(part)
    special = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, limits.max, limits.tiny, limits.smallest_subnormal]
    pairs = [(x, y) for x in special for y in special]
    parts = np.concatenate([parts, np.array(pairs, part).T], axis=1)
    made = np.empty(parts.shape[1], dtype)
    made.real, made.imag = parts
    return made


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_sizes_of_all_magnitudes(built, rng, dtype):
    z = drawn(rng, dtype)
    part = np.empty(0, dtype).real.dtype
    found = np.empty(z.size, part)
    run = built[0].sizes_of_doubles if dtype is np.complex128 else built[0].sizes_of_floats
    run(pointer(z), pointer(found), ctypes.c_int64(z.size))
    with np.errstate(all="ignore"):
        expected = np.hypot(z.real, z.imag)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    with np.errstate(all="ignore"):
        # To the last digit but one; sums right below the largest number may round to infinity.
        assert np.all(np.abs(found[finite] - expected[finite]) <= np.spacing(expected[finite]))


def test_masks_stay_masks(built, rng):
    c, z = (rng.normal(size=1001) + 1j * rng.normal(size=1001) for _ in range(2))
    mask = rng.uniform(size=1001) < 0.7
    tape = np.zeros(1001, bool)
    expected = np.where(mask, z * z + c, z)
    inside = mask & (np.abs(expected) < 2.0)
    old = mask.copy()
    built[0].escape(pointer(c), pointer(z), pointer(mask), pointer(tape), ctypes.c_double(2.0), ctypes.c_int64(1001))
    np.testing.assert_allclose(z, expected, rtol=1e-15)
    np.testing.assert_array_equal(mask, inside)
    np.testing.assert_array_equal(tape, old)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="what a compiler vectorises depends on the machine")
def test_they_are_vectorised(built):
    if is_clang():
        pytest.skip("only GCC says so in these words")
    lines = {line.split(":")[1] for line in built[1].splitlines() if "loops.cpp" in line and "loop vectorized" in line}
    assert len(lines) >= 2


SEARCH = """
#include "sdfgad.h"
extern "C" int64_t next_set(const bool* mask, int64_t at, int64_t end) { return sdfgad::next_set(mask, at, end); }
extern "C" int64_t previous_set(const bool* mask, int64_t at, int64_t start) {
    return sdfgad::previous_set(mask, at, start);
}
"""


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    source, target = folder / "search.cpp", folder / "search.so"
    source.write_text(SEARCH)
    options = ["-shared", f"-I{INCLUDE}", str(source), "-o", str(target), *libraries()]
    subprocess.run([*compiler(), *Level.OPTIMISED.flags, *options], check=True, capture_output=True)
    library = ctypes.CDLL(str(target))
    for name in ("next_set", "previous_set"):
        getattr(library, name).restype = ctypes.c_int64
        getattr(library, name).argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    return library


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
def test_set_elements_are_found_in_both_directions(search, rng, share):
    for _ in range(60):
        size = int(rng.integers(0, 70))
        mask = rng.uniform(size=size) < share
        start = int(rng.integers(0, size + 1))
        end = int(rng.integers(start, size + 1))
        for at in range(start, end + 1):
            later = [k for k in range(at, end) if mask[k]]
            assert search.next_set(mask.ctypes.data, at, end) == (later[0] if later else end)
        for at in range(start - 1, end):
            earlier = [k for k in range(start, at + 1) if mask[k]]
            assert search.previous_set(mask.ctypes.data, at, start) == (earlier[-1] if earlier else start - 1)
