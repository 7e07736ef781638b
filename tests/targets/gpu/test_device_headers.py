"""Functions that CUDA does not have, as C++ for the CPU: against SciPy, NumPy and Python's texts of numbers."""

import ctypes
import subprocess

import numpy as np
import pytest

from sdfgad.runtime.compiler import compiler
from sdfgad.runtime.gpu.nvrtc import INCLUDES

special = pytest.importorskip("scipy.special")
# Many of the functions have numbers where they are infinite, or where they underflow.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
COMPLEX = ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
INVERSE = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
REAL = {
    "j": "oscillating(x[k], order[k]).first",
    "y": "oscillating(x[k], order[k]).second",
    "i": "modified_first(x[k], order[k])",
    "k": "modified_second(x[k], order[k])",
    "jn": "integer_first_kind(int(order[k]), x[k])",
    "yn": "integer_second_kind(int(order[k]), x[k])",
}
ORDERS = (0.0, 1e-9, 0.1, 1 / 3, 0.5, 2 / 3, 0.9, 1.0, 1.5, 2.0, 2.3, 5.0, 7.7, 20.25, 100.5)


def source():
    lines = [f'#include "{name}.h"' for name in ("complex_functions", "decimals", "integer_bessel")]
    for name, text in REAL.items():
        lines.append(f'extern "C" void real_{name}(long n, const double* order, const double* x, double* to) {{')
        lines.append(f"using namespace sdfgad::cylinder; for (long k = 0; k < n; ++k) to[k] = {text}; }}")
    for name in (*COMPLEX, *INVERSE):
        lines.append(f'extern "C" void complex_{name}(long n, const double* x, double* to) {{')
        lines.append("for (long k = 0; k < 2 * n; k += 2) {")
        lines.append(
            f"auto z = sdfgad::complex_functions::{name}({{x[k], x[k + 1]}}); to[k] = z.re; to[k + 1] = z.im; }} }}"
        )
    lines.append('extern "C" double decimal(double a, int places) { return sdfgad::nearest_decimal(a, places); }')
    return "\n".join(lines)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("headers")
    file, library = folder / "all.cpp", folder / "all.so"
    file.write_text(source())
    flags = ("-std=c++20", "-O1", "-ffp-contract=off", "-shared", "-fPIC", f"-I{INCLUDES[0]}")
    subprocess.run([*compiler(), *flags, str(file), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def real(compiled, name, order, x):
    order, x = (np.ascontiguousarray(one, float) for one in np.broadcast_arrays(order, x))
    result = np.empty(x.shape)
    getattr(compiled, f"real_{name}")(
        ctypes.c_long(x.size), *(ctypes.c_void_p(a.ctypes.data) for a in (order, x, result))
    )
    return result


def complex_function(compiled, name, z):
    z = np.ascontiguousarray(z, complex)
    result = np.empty_like(z)
    getattr(compiled, f"complex_{name}")(ctypes.c_long(z.size), *(ctypes.c_void_p(a.ctypes.data) for a in (z, result)))
    return result


@pytest.mark.parametrize(("name", "other", "reference"), [("j", "y", "jv"), ("y", "j", "yv")])
def test_bessel_functions_of_real_orders(compiled, name, other, reference):
    order, x = np.meshgrid(ORDERS, np.geomspace(1e-4, 900, 300))
    found, wanted = real(compiled, name, order, x), getattr(special, reference)(order, x)
    # Beyond the order both oscillate: what counts is the size of the two together.
    size = np.where(x > order, np.hypot(found, real(compiled, other, order, x)), abs(wanted))
    is_normal = np.isfinite(wanted) & (abs(wanted) > 1e-290)
    assert is_normal.sum() > 4000
    assert (abs(found - wanted) <= 1e-12 * size)[is_normal].all()


@pytest.mark.parametrize(("name", "reference"), [("i", "iv"), ("k", "kv")])
def test_modified_bessel_functions_of_real_orders(compiled, name, reference):
    order, x = np.meshgrid(ORDERS, np.geomspace(1e-4, 700, 300))
    found, wanted = real(compiled, name, order, x), getattr(special, reference)(order, x)
    is_finite = np.isfinite(wanted) & (wanted > 1e-300)
    np.testing.assert_allclose(found[is_finite], wanted[is_finite], rtol=1e-12)


@pytest.mark.parametrize("name", ["j", "y", "i", "k"])
def test_bessel_functions_at_zero_and_outside(compiled, name):
    zero = {"j": [1, 0, 0], "i": [1, 0, 0], "y": [-np.inf] * 3, "k": [np.inf] * 3}[name]
    np.testing.assert_array_equal(real(compiled, name, [0, 0.5, 2], 0), zero)
    assert np.isnan(real(compiled, name, [1, 1, -0.5, np.nan, np.inf], [-1, np.nan, 1, 1, 3])).all()


def test_bessel_functions_of_integer_orders(compiled):
    order, x = np.meshgrid(np.arange(-12, 13), np.linspace(-40, 40, 161))
    np.testing.assert_allclose(real(compiled, "jn", order, x), special.jv(order, x), rtol=1e-11, atol=1e-14)
    x = abs(x[x[:, 0] != 0])
    wanted = special.yn(order[: len(x)], x)
    np.testing.assert_allclose(real(compiled, "yn", order[: len(x)], x), wanted, rtol=1e-10, atol=1e-13)
    ends = real(compiled, "jn", [2, 0, 1, 1, 3], [0, 0, np.inf, np.nan, -np.inf])
    np.testing.assert_array_equal(ends, [0, 1, 0, np.nan, 0])
    ends = real(compiled, "yn", [2, -1, 1, 0, 4], [0, 0, np.inf, np.nan, -1])
    np.testing.assert_array_equal(ends, [-np.inf, np.inf, 0, np.nan, np.nan])


@pytest.mark.parametrize("name", [*COMPLEX, *INVERSE])
def test_complex_functions(compiled, name):
    rng = np.random.default_rng(1)
    parts = np.concatenate(
        [[0.0, -0.0, 1.0, -1.0, 0.5, 1e-8, -1e-300, 1e5, 21.0], rng.normal(size=60), 1 + rng.normal(size=20) * 1e-6]
    )
    re, im = np.meshgrid(parts, parts)
    z = np.empty(re.shape, complex)
    z.real, z.imag = re, im
    wanted = getattr(np, INVERSE.get(name, name))(z)
    found, is_finite = complex_function(compiled, name, z), np.isfinite(wanted)
    assert (abs(found - wanted) <= 4e-15 * abs(wanted))[is_finite].all()
    # The side of a branch cut.
    np.testing.assert_array_equal(np.signbit(found.imag[is_finite]), np.signbit(wanted.imag[is_finite]))


@pytest.mark.parametrize("name", ["exp", "sinh", "cosh", "log", "sqrt", "asin", "acosh"])
def test_complex_functions_of_numbers_out_of_range(compiled, name):
    large = {"exp": 709.9, "sinh": 710.3, "cosh": -710.3}.get(name, 1e308)
    z = np.array(
        [large + 1.5j, large - 0.3j, -large + 0.7j, 1e-310 + 1e-310j, complex(large, large if large > 800 else 3)]
    )
    wanted = getattr(np, INVERSE.get(name, name))(z)
    found = complex_function(compiled, name, z)
    np.testing.assert_allclose(found.view(float), wanted.view(float), rtol=1e-14, atol=1e-320)


def test_decimals_are_those_of_texts(compiled):
    compiled.decimal.restype = ctypes.c_double
    rng, cases = np.random.default_rng(2), [(2.0**-24, 23), (2.675, 2), (0.5, 1), (-0.0, 3), (1e300, 5), (5e-324, 300)]
    for _ in range(20000):
        places = int(rng.integers(1, 13 if rng.random() < 0.8 else 300))
        # Halves in decimals, and in binary numbers, where they are exact.
        half = (int(rng.integers(10**11)) + 0.5) * 10.0**-places
        cases += [
            (half, places),
            (float(np.nextafter(half, 9.0)), places),
            (int(rng.integers(-(10**6), 10**6)) / 1024, places),
        ]
    for a, places in cases:
        found, wanted = compiled.decimal(ctypes.c_double(a), places), float(f"{a:.{places}f}")
        assert found == wanted, (a, places)
        assert np.signbit(found) == np.signbit(wanted), (a, places)
