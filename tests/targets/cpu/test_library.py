"""The functions that generated code calls, compiled on their own, agree with NumPy."""

import ctypes
import itertools
import subprocess
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sdfgad.parse.functions.linalg import cholesky_pullback, solve_pullback
from sdfgad.runtime.compiler import INCLUDE, Level, compiler
from sdfgad.targets.cpu.environment import OpenBLAS

FIELDS = {"f4": "float", "f8": "double", "c8": "sdfgad::complex<float>", "c16": "sdfgad::complex<double>"}
INTEGERS = {"?": "bool", "i1": "int8_t", "i4": "int32_t", "i8": "int64_t", "u2": "uint16_t"}
SORTED = {**INTEGERS, "f4": "float", "f8": "double"}
LINALG = {
    "solve": "const T* a, const T* b, T* x, int64_t batch, int64_t n, int64_t m",
    "solve_pullback": "const T* a, const T* b, const T* bar, T* a_bar, T* b_bar, int64_t batch, int64_t n, int64_t m",
    "inverse": "const T* a, T* out, int64_t batch, int64_t n",
    "regular": "const T* a, int64_t batch, int64_t n",
    "determinant": "const T* a, T* out, int64_t batch, int64_t n",
    "sign_log_determinant": "const T* a, T* sign, R* log, int64_t batch, int64_t n",
    "cholesky": "const T* a, T* out, int64_t batch, int64_t n",
    "cholesky_pullback": "const T* l, const T* bar, T* out, int64_t batch, int64_t n",
    "qr": "const T* a, T* q, T* r, int64_t batch, int64_t m, int64_t n",
    "singular_values": "const T* a, T* u, R* s, T* vh, int64_t batch, int64_t m, int64_t n",
    "all_singular_vectors": "const T* a, T* u, R* s, T* vh, int64_t batch, int64_t m, int64_t n",
    "only_singular_values": "const T* a, R* s, int64_t batch, int64_t m, int64_t n",
    "only_symmetric_eigenvalues": "const T* a, R* w, int64_t batch, int64_t n, int64_t is_upper",
    "only_eigenvalues": "const T* a, C* w, int64_t batch, int64_t n",
    "eigen": "const T* a, C* w, C* v, int64_t batch, int64_t n",
    "symmetric_eigen": "const T* a, R* w, T* v, int64_t batch, int64_t n, int64_t is_upper",
}
BANDED = {
    "solve_banded": "const T* ab, const T* b, T* x, int64_t n, int64_t low, int64_t high, int64_t m, int64_t other",
}
SORTING = {
    "argsort": "const T* in, int64_t* out, int64_t batch, int64_t n",
    "searchsorted": "const T* sorted, const T* values, int64_t* out, int64_t n, int64_t m, int64_t right",
}
FOURIER = {
    "fourier": "const T* in, T* out, int64_t outer, int64_t n, int64_t inner, int sign",
    "real_fourier": "const R* in, T* out, int64_t outer, int64_t n, int64_t inner",
    "half_fourier": "const T* in, R* out, int64_t outer, int64_t n, int64_t inner",
}
NONZERO = {"nonzero": "const bool* mask, int64_t* positions, int64_t* count, int64_t n"}
TABLE = [
    (LINALG, FIELDS),
    (BANDED, {k: FIELDS[k] for k in ("f8", "c16")}),
    (SORTING, SORTED),
    (FOURIER, {k: FIELDS[k] for k in ("c8", "c16")}),
    (NONZERO, {"?": "bool"}),
]

FLAGS = (*Level.OPTIMISED.flags, "-USDFGAD_SEPARATE")
SIZES = (0, 1, 2, 3, 5, 8, 17, 64)
NARROW = ((0, 0), (0, 3), (1, 1), (1, 5), (3, 3), (5, 8), (17, 17), (17, 64), (64, 64))
SHAPES = sorted({*NARROW, *((n, m) for m, n in NARROW)})
LENGTHS = (*range(1, 18), 27, 35, 64, 97, 101, 121, 128, 210, 211, 343, 1000, 1009, 1024, 2310, 4096, 5003)


def wrappers():
    """C functions, named after function and dtype, that call the templates."""
    for functions, types in TABLE:
        for (name, parameters), (dtype, scalar) in itertools.product(functions.items(), types.items()):
            real = "float" if dtype in ("f4", "c8") else "double"
            arguments = ", ".join(p.split()[-1] for p in parameters.split(","))
            typed = parameters.replace("T*", f"{scalar}*").replace("R*", f"{real}*")
            typed = typed.replace("C*", f"sdfgad::complex<{real}>*")
            yield f"int {name}_{dtype.replace('?', 'b1')}({typed}) {{ return sdfgad::{name}({arguments}); }}"


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """Calls a function of the library on arrays and integers, and returns its status."""
    folder = tmp_path_factory.mktemp("library")
    source, target = folder / "library.cpp", folder / "library.so"
    headers = "".join(
        f'#include "{name}.h"\n'
        for name in ("eigen", "factored", "cholesky_pullback", "solve_pullback", "fourier", "sorting")
    )
    source.write_text(headers + 'extern "C" {\n' + "\n".join(wrappers()) + "\n}\n")
    libraries = [
        option for path in OpenBLAS.cmake_libraries for option in (path, f"-Wl,-rpath,{path.rpartition('/')[0]}")
    ]
    folders = [f"-I{path}" for path in (INCLUDE, *OpenBLAS.cmake_includes)]
    subprocess.run(
        [
            *compiler(),
            *Level.OPTIMISED.flags,
            "-USDFGAD_SEPARATE",
            "-shared",
            *folders,
            str(source),
            "-o",
            str(target),
            *libraries,
        ],
        check=True,
    )
    library = ctypes.CDLL(str(target))

    def function(name, dtype, *arguments):
        before = [a.copy() if isinstance(a, np.ndarray) and not a.flags.writeable else None for a in arguments]
        status = getattr(library, f"{name}_{np.dtype(dtype).str[1:]}")(*map(as_c, arguments))
        for argument, copy in zip(arguments, before, strict=True):
            if copy is not None:
                assert_array_equal(argument, copy)
        return status

    return function


def as_c(argument):
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_int64(argument)


@pytest.fixture(params=FIELDS)
def field(request):
    """A type of matrices, with ways to make and compare them."""
    dtype = np.dtype(request.param)
    real = np.zeros(0, dtype).real.dtype
    # Single precision is a rounding of what is computed in double.
    roundings = 1000 if real == np.float64 else 8
    return SimpleNamespace(dtype=dtype, real=real, tolerance=roundings * np.finfo(real).eps)


def constant(array):
    """The array, which `call` then checks to be left alone."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def normal(dtype, *shape, seed=0):
    generator = np.random.default_rng((seed, *shape))
    values = generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
    return constant((values if np.dtype(dtype).kind == "c" else values.real).astype(dtype))


def regular(dtype, batch, n):
    """Matrices far from singular."""
    return constant(normal(dtype, batch, n, n) + 2 * n * np.eye(n, dtype=dtype))


def unitary(dtype, batch, m, n, seed):
    return np.linalg.qr(normal("c16" if np.dtype(dtype).kind == "c" else "f8", batch, m, n, seed=seed)).Q


def with_values(dtype, batch, m, n):
    """Matrices with the singular values k, ..., 2, 1: their singular vectors are well determined."""
    k = min(m, n)
    u, v = unitary(dtype, batch, m, k, 1), unitary(dtype, batch, n, k, 2)
    return constant((u * np.arange(k, 0, -1) @ v.conj().swapaxes(1, 2)).astype(dtype))


def hermitian(dtype, batch, n, is_upper=False):
    """Matrices with the eigenvalues 1, ..., n; one triangle of them is wrong, since it must not be used."""
    u = unitary(dtype, batch, n, n, 1)
    whole = u * np.arange(1, n + 1) @ u.conj().swapaxes(1, 2)
    wrong = np.ones((n, n))
    read = np.triu(whole) + np.tril(wrong, -1) if is_upper else np.tril(whole) + np.triu(wrong, 1)
    return constant(read.astype(dtype))


def assert_near(found, expected, field):
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    scale = np.max(np.abs(expected), initial=1)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=field.tolerance)


# --- linear algebra


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("n", SIZES)
def test_solve(call, field, batch, n):
    a = regular(field.dtype, batch, n)
    for m in (0, 1, 2, 9):
        b, x = normal(field.dtype, batch, n, m), np.full((batch, n, m), np.nan, field.dtype)
        assert call("solve", field.dtype, a, b, x, batch, n, m) == 0
        assert_near(x, np.linalg.solve(a, b), field)


@pytest.mark.parametrize("part", [np.tril, np.triu, lambda a: np.tril(np.triu(a))], ids=["lower", "upper", "diagonal"])
@pytest.mark.parametrize("n", SIZES)
def test_solve_with_triangular_matrices(call, field, n, part):
    # The matrix in the middle is a general one.
    a = regular(field.dtype, 3, n)
    a = constant(np.stack([part(a[0]), a[1], part(a[2])]))
    for m in (1, 2, 70):
        b, x = normal(field.dtype, 3, n, m), np.full((3, n, m), np.nan, field.dtype)
        assert call("solve", field.dtype, a, b, x, 3, n, m) == 0
        assert_near(x, np.linalg.solve(a, b), field)
        a_bar, b_bar = np.full((3, n, n), np.nan, field.dtype), np.full((3, n, m), np.nan, field.dtype)
        assert call("solve_pullback", field.dtype, a, b, x, a_bar, b_bar, 3, n, m) == 0
        for found, expected in zip((a_bar, b_bar), solve_pullback(a, b, x), strict=True):
            assert_near(found, expected, field)


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("n", SIZES)
def test_solve_pullback(call, field, batch, n):
    # Rows in another order have to be swapped.
    a = constant(np.ascontiguousarray(regular(field.dtype, batch, n)[:, ::-1]))
    for m in (0, 1, 2, 9, 70):
        b, bar = normal(field.dtype, batch, n, m), normal(field.dtype, batch, n, m, seed=2)
        a_bar, b_bar = np.full((batch, n, n), np.nan, field.dtype), np.full((batch, n, m), np.nan, field.dtype)
        assert call("solve_pullback", field.dtype, a, b, bar, a_bar, b_bar, batch, n, m) == 0
        for found, expected in zip((a_bar, b_bar), solve_pullback(a, b, bar), strict=True):
            assert_near(found, expected, field)


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("n", SIZES)
def test_inverse(call, field, batch, n):
    a = regular(field.dtype, batch, n)
    out = np.full_like(a, np.nan)
    assert call("inverse", field.dtype, a, out, batch, n) == 0
    assert_near(out, np.linalg.inv(a), field)


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("n", SIZES)
def test_determinant(call, field, batch, n):
    a = normal(field.dtype, batch, n, n)
    out, sign, log = np.zeros(batch, field.dtype), np.zeros(batch, field.dtype), np.zeros(batch, field.real)
    assert call("sign_log_determinant", field.dtype, a, sign, log, batch, n) == 0
    expected = np.linalg.slogdet(a)
    assert_near(sign, expected.sign, field)
    assert_near(log, expected.logabsdet, field)
    if n < 64 or field.real == np.float64:
        assert call("determinant", field.dtype, a, out, batch, n) == 0
        assert_near(out, np.linalg.det(a), field)


def test_determinant_of_singular_and_huge_matrices(call, field):
    a = constant(np.array([[[1, 2], [2, 4]], [[0, 0], [0, 0]], [[0, 2], [3, 0]], [[0, 1e30], [1e-30, 0]]], field.dtype))
    out, sign, log = np.zeros(4, field.dtype), np.zeros(4, field.dtype), np.zeros(4, field.real)
    assert call("determinant", field.dtype, a, out, 4, 2) == 0
    assert_near(out, np.array([0, 0, -6, -1], field.dtype), field)
    assert call("sign_log_determinant", field.dtype, a, sign, log, 4, 2) == 0
    assert_array_equal(sign, [0, 0, -1, -1])
    assert_array_equal(log[:2], -np.inf)
    assert_near(log[2:], np.log([6, 1]).astype(field.real), field)


def test_determinant_of_infinity(call):
    a, sign, log = constant([[-np.inf, 1.0], [1.0, 1.0]]), np.zeros(1), np.zeros(1)
    assert call("sign_log_determinant", "f8", a, sign, log, 1, 2) == 0
    assert (sign[0], log[0]) == (-1, np.inf)


def test_single_precision_is_computed_in_double(call):
    """As in NumPy: a matrix is singular only if it is so in double precision."""
    a = constant(np.array([[1, 1 / 3], [3, 1]], np.float32))
    out = np.zeros_like(a)
    assert call("inverse", "f4", a, out, 1, 2) == 0
    np.testing.assert_allclose(out, np.linalg.inv(a), rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 17])
def test_singular_matrices_fail(call, field, n):
    a = np.stack([np.eye(n), np.eye(n), np.eye(n)]).astype(field.dtype)
    a[1, n // 2] = a[1, n // 2 - 1] if n > 1 else 0
    a, x = constant(a), np.zeros_like(a)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(a)
    assert call("inverse", field.dtype, a, x, 3, n) == 1
    assert call("solve", field.dtype, a, normal(field.dtype, 3, n, n), x, 3, n, n) == 1
    assert call("inverse", field.dtype, a, x, 1, n) == 0
    assert [call("regular", field.dtype, a, count, n) for count in (3, 1)] == [1, 0]
    triangular = np.tril(np.ones((3, n, n), field.dtype))
    triangular[1, n // 2, n // 2] = 0
    triangular = constant(triangular)
    assert call("solve", field.dtype, triangular, normal(field.dtype, 3, n, n), x, 3, n, n) == 1


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize(("low", "high"), [(0, 0), (1, 1), (0, 3), (2, 0), (2, 5), (40, 40)])
def test_solve_banded(call, dtype, low, high):
    """Also where rows must be exchanged, by LAPACK's blocks for wide bands, and of matrices narrower than the band."""
    for n, m, is_adjoint in itertools.product((0, 1, 2, 3, 50, 200), (1, 3), (0, 1)):
        dense = np.triu(np.tril(normal(dtype, n, n), high), -low)
        dense[range(n), range(n)] = 3.0 if min(low, high) == 0 else 1e-3
        ab = np.full((low + high + 1, n), np.nan, dtype)
        for i, j in np.ndindex(n, n):
            if -low <= j - i <= high:
                ab[high + i - j, j] = dense[i, j]
        b, x = normal(dtype, n, m), np.full((n, m), np.nan, dtype)
        assert call("solve_banded", dtype, constant(ab), b, x, n, low, high, m, is_adjoint) == 0
        matrix = dense.conj().T if is_adjoint else dense
        scale = 1.0 + np.abs(matrix).sum() * np.abs(x).max(initial=0.0)
        np.testing.assert_allclose(matrix @ x, b, rtol=0, atol=1e-13 * scale)
    zero, one = np.zeros((low + high + 1, 3), dtype), np.ones((3, 1), dtype)
    assert call("solve_banded", dtype, zero, one, one.copy(), 3, low, high, 1, 0) == 1


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(call, field, batch, n):
    a = hermitian(field.dtype, batch, n)
    out = np.full_like(a, np.nan)
    assert call("cholesky", field.dtype, a, out, batch, n) == 0
    assert_near(out, np.linalg.cholesky(a), field)
    assert_array_equal(np.triu(out, 1), 0)


@pytest.mark.parametrize("n", [*SIZES, 65, 200])
def test_cholesky_pullback(call, field, n):
    """Along any direction, against the derivative of L, which is L phi(L^-1 dA L^-H); only lower triangles are read."""
    wide = "c16" if field.dtype.kind == "c" else "f8"
    low = np.tril(normal(wide, 2, n, n)) / max(n, 1) + np.eye(n)
    low[:, range(n), range(n)] = np.abs(low[:, range(n), range(n)])
    bar = normal(wide, 2, n, n, seed=1)
    out = np.full((2, n, n), np.nan, field.dtype)
    factor = constant((low + np.triu(np.full((n, n), np.nan), 1)).astype(field.dtype))
    assert call("cholesky_pullback", field.dtype, factor, constant(bar.astype(field.dtype)), out, 2, n) == 0
    assert_array_equal(np.triu(out, 1), 0)
    assert_near(out, cholesky_pullback(low, bar).astype(field.dtype), field)
    half = np.tril(normal(wide, 2, n, n, seed=2), -1) + np.eye(n)
    da = half + half.conj().swapaxes(1, 2)
    inner = np.linalg.inv(low) @ da @ np.linalg.inv(low).conj().swapaxes(1, 2)
    dl = low @ (np.tril(inner, -1) + 0.5 * inner * np.eye(n))
    found, expected = np.sum(out.conj() * da).real, np.sum(np.conj(bar) * dl).real
    np.testing.assert_allclose(found, expected, rtol=0, atol=field.tolerance * (1 + n * np.max(np.abs(out), initial=0)))


@pytest.mark.parametrize("a", [[[1, 2], [2, 1]], [[0, 0], [0, 0]], [[1, 1], [1, 1]], [[-1, 0], [0, 1]]])
def test_matrices_that_are_not_positive_definite_fail(call, field, a):
    a = constant(np.stack([np.eye(2), a]).astype(field.dtype))
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(a)
    assert call("cholesky", field.dtype, a, np.zeros_like(a), 2, 2) == 1
    assert call("cholesky", field.dtype, a, np.zeros_like(a), 1, 2) == 0


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_qr(call, field, batch, m, n):
    a, k = normal(field.dtype, batch, m, n), min(m, n)
    q, r = (np.full(shape, np.nan, field.dtype) for shape in ((batch, m, k), (batch, k, n)))
    assert call("qr", field.dtype, a, q, r, batch, m, n) == 0
    expected = np.linalg.qr(a)
    assert_near(q, expected.Q, field)
    assert_near(r, expected.R, field)
    assert_array_equal(np.tril(r, -1), 0)


def test_qr_of_a_rank_deficient_matrix(call, field):
    a = constant(np.ones((1, 4, 3), field.dtype))
    q, r = np.zeros((1, 4, 3), field.dtype), np.zeros((1, 3, 3), field.dtype)
    assert call("qr", field.dtype, a, q, r, 1, 4, 3) == 0
    assert_near(q @ r, a, field)
    assert_near(q.conj().swapaxes(1, 2) @ q, np.eye(3, dtype=field.dtype)[None], field)


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_singular_values(call, field, batch, m, n):
    k = min(m, n)
    a = with_values(field.dtype, batch, m, n)
    u, vh = (np.full(shape, np.nan, field.dtype) for shape in ((batch, m, k), (batch, k, n)))
    s = np.full((batch, k), np.nan, field.real)
    assert call("singular_values", field.dtype, a, u, s, vh, batch, m, n) == 0
    expected = np.linalg.svd(a, full_matrices=False)
    assert_near(s, expected.S, field)
    assert_near(u, expected.U, field)
    assert_near(vh, expected.Vh, field)
    alone = np.full_like(s, np.nan)
    assert call("only_singular_values", field.dtype, a, alone, batch, m, n) == 0
    assert_near(alone, expected.S, field)


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_all_singular_vectors(call, field, batch, m, n):
    a = with_values(field.dtype, batch, m, n)
    u, vh = (np.full((batch, size, size), np.nan, field.dtype) for size in (m, n))
    s = np.full((batch, min(m, n)), np.nan, field.real)
    assert call("all_singular_vectors", field.dtype, a, u, s, vh, batch, m, n) == 0
    for found, expected in zip((u, s, vh), np.linalg.svd(a), strict=True):
        assert_near(found, expected, field)


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("n", SIZES)
def test_eigen(call, field, batch, n):
    a = constant(np.random.default_rng(n).standard_normal((batch, n, n)).astype(field.dtype))
    dtype = np.result_type(field.dtype, np.complex64)
    w, v = np.full((batch, n), np.nan, dtype), np.full((batch, n, n), np.nan, dtype)
    assert call("eigen", field.dtype, a, w, v, batch, n) == 0
    expected = np.linalg.eig(a)
    assert_near(w, expected.eigenvalues.astype(dtype), field)
    # Versions of LAPACK differ in the signs of a real matrix's complex vectors.
    assert_near(v * v, (expected.eigenvectors**2).astype(dtype), field)
    if field.dtype.kind == "c":
        assert_near(v, expected.eigenvectors, field)
    alone = np.full_like(w, np.nan)
    assert call("only_eigenvalues", field.dtype, a, alone, batch, n) == 0
    assert_near(np.sort(alone), np.sort(w), field)


def test_no_eigenvalues_of_what_is_not_finite(call, field):
    a = constant(np.array([[[1.0, np.inf], [0.0, 1.0]]], field.dtype))
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.eig(a)
    w, v = np.zeros((1, 2), complex), np.zeros((1, 2, 2), complex)
    assert call("eigen", field.dtype, a, w, v, 1, 2) == 1
    assert call("only_eigenvalues", field.dtype, a, w, 1, 2) == 1


@pytest.mark.parametrize(("m", "n"), [(4, 4), (40, 3), (3, 40)])
def test_singular_values_of_a_rank_deficient_matrix(call, field, m, n):
    k, a = min(m, n), constant(np.ones((1, m, n), field.dtype))
    u, s, vh = np.zeros((1, m, k), field.dtype), np.zeros((1, k), field.real), np.zeros((1, k, n), field.dtype)
    assert call("singular_values", field.dtype, a, u, s, vh, 1, m, n) == 0
    assert_near(u * s @ vh, a, field)
    assert_near(vh @ vh.conj().swapaxes(1, 2), np.eye(k, dtype=field.dtype)[None], field)


def test_no_singular_values_of_nan(call, field):
    a = constant(np.full((1, 3, 3), np.nan, field.dtype))
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.svd(a)
    u, s, vh = np.zeros_like(a), np.zeros((1, 3), field.real), np.zeros_like(a)
    assert call("singular_values", field.dtype, a, u, s, vh, 1, 3, 3) == 1
    assert call("only_singular_values", field.dtype, a, s, 1, 3, 3) == 1


@pytest.mark.parametrize("triangle", ["L", "U"])
@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("n", SIZES)
def test_symmetric_eigen(call, field, batch, n, triangle):
    a = hermitian(field.dtype, batch, n, triangle == "U")
    w, v = np.full((batch, n), np.nan, field.real), np.full_like(a, np.nan)
    assert call("symmetric_eigen", field.dtype, a, w, v, batch, n, int(triangle == "U")) == 0
    expected = np.linalg.eigh(a, triangle)
    assert_near(w, expected.eigenvalues, field)
    assert_near(v, expected.eigenvectors, field)
    alone = np.full_like(w, np.nan)
    assert call("only_symmetric_eigenvalues", field.dtype, a, alone, batch, n, int(triangle == "U")) == 0
    assert_near(alone, expected.eigenvalues, field)


# --- Fourier transforms


# (outer, inner): one line, rows, columns; fewer lines than lanes, as many, and more; lanes that span two outer blocks.
AROUND = ((1, 1), (3, 1), (16, 1), (1, 3), (1, 16), (1, 37), (3, 5), (5, 8))


def assert_spectrum(found, exact, n):
    error = np.linalg.norm((found - exact).astype(complex)) / max(np.linalg.norm(exact.astype(complex)), 1e-300)
    assert error < (1 + np.log2(n)) * np.finfo(found.dtype).eps


def around(n):
    """Long lines are transformed one by one, wherever they lie."""
    return AROUND if n < 2048 else AROUND[:4]


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("n", LENGTHS)
def test_fourier(call, dtype, n):
    for outer, inner in around(n):
        values = normal(dtype, outer, n, inner)
        exact = values.astype(np.clongdouble)
        for sign, transform, factor in ((-1, np.fft.fft, 1), (1, np.fft.ifft, n)):
            out = np.full_like(values, np.nan)
            assert call("fourier", dtype, values, out, outer, n, inner, sign) == 0
            assert_spectrum(out, factor * transform(exact, axis=1), n)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("n", LENGTHS)
def test_fourier_of_real_numbers(call, dtype, n):
    for outer, inner in around(n):
        values = constant(normal(dtype, outer, n, inner).real.copy())
        spectrum = np.full((outer, n // 2 + 1, inner), np.nan, dtype)
        assert call("real_fourier", dtype, values, spectrum, outer, n, inner) == 0
        assert_spectrum(spectrum, np.fft.rfft(values.astype(np.longdouble), axis=1), n)
        half = normal(dtype, outer, n // 2 + 1, inner)
        real = np.full((outer, n, inner), np.nan, values.dtype)
        assert call("half_fourier", dtype, half, real, outer, n, inner) == 0
        assert_spectrum(real, n * np.fft.irfft(half.astype(np.clongdouble), n, axis=1), n)


def test_lines_of_a_transform_do_not_mix(call):
    """Lanes are independent: a line of huge numbers, or of NaN, leaves its neighbours' bits alone."""
    values = normal("c16", 16, 60)
    alone, beside = np.zeros_like(values), np.zeros_like(values)
    call("fourier", "c16", values, alone, 16, 60, 1, -1)
    wild = values.copy()
    wild[3], wild[5] = np.nan, 1e300
    call("fourier", "c16", constant(wild), beside, 16, 60, 1, -1)
    others = [k for k in range(16) if k not in (3, 5)]
    assert_array_equal(beside[others], alone[others])


def test_fourier_of_nothing(call):
    empty = constant(np.zeros((0, 4), complex))
    assert call("fourier", "c16", empty, np.zeros_like(empty), 0, 4, 1, -1) == 0
    assert call("fourier", "c16", empty, np.zeros_like(empty), 4, 0, 1, 1) == 0


def test_more_lengths_than_are_kept(call):
    for n in (*range(1, 100), 7, 8):
        values = normal("c16", 1, n)
        out = np.zeros_like(values)
        assert call("fourier", "c16", values, out, 1, n, 1, -1) == 0
        np.testing.assert_allclose(out, np.fft.fft(values), rtol=0, atol=1e-13 * n)


def test_fourier_in_threads(call):
    """Plans are shared: 8 threads make and drop them at the same time."""

    def transform(n):
        values = normal("c16", 1, n)
        out = np.zeros_like(values)
        assert call("fourier", "c16", values, out, 1, n, 1, -1) == 0
        np.testing.assert_allclose(out, np.fft.fft(values), rtol=0, atol=1e-13 * n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(transform, 10 * list(range(1, 200))))


# --- sorting and searching


def sortable(dtype, *shape):
    """Values with many ties; with NaN, infinities and zeros of both signs among floats."""
    generator = np.random.default_rng((5, *shape))
    if np.dtype(dtype).kind != "f":
        return constant(generator.integers(0, 5 if dtype != "?" else 2, shape).astype(dtype))
    return constant(generator.choice([np.nan, -np.inf, np.inf, 0.0, -0.0, 1.5, -2.5, 1e-30], shape).astype(dtype))


@pytest.mark.parametrize("dtype", SORTED)
@pytest.mark.parametrize("n", SIZES)
def test_argsort(call, dtype, n):
    for batch in (0, 1, 3):
        values, out = sortable(dtype, batch, n), np.full((batch, n), -1)
        assert call("argsort", dtype, values, out, batch, n) == 0
        assert_array_equal(out, np.argsort(values, axis=1, kind="stable"))


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_argsort_of_extreme_values(call, dtype):
    limits = np.finfo(dtype) if dtype[0] == "f" else np.iinfo(dtype)
    values, out = constant(np.array([0, limits.max, limits.min, 1, -1], dtype)), np.zeros(5, np.int64)
    assert call("argsort", dtype, values, out, 1, 5) == 0
    assert_array_equal(out, [2, 4, 0, 3, 1])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_nonzero(call, n, share):
    mask = constant(np.random.default_rng(n).uniform(size=n) < share)
    positions, count = np.full(n, -1), np.full(1, -1)
    assert call("nonzero", "?", mask, positions, count, n) == 0
    expected = np.flatnonzero(mask)
    assert count[0] == len(expected)
    assert_array_equal(positions, np.pad(expected, (0, n - len(expected))))


@pytest.mark.parametrize("dtype", SORTED)
@pytest.mark.parametrize("n", SIZES)
def test_searchsorted(call, dtype, n):
    ordered = constant(np.sort(sortable(dtype, n)))
    for m, side in itertools.product((0, 1, 40), ("left", "right")):
        values, out = sortable(dtype, m), np.full(m, -1)
        assert call("searchsorted", dtype, ordered, values, out, n, m, side == "right") == 0
        assert_array_equal(out, np.searchsorted(ordered, values, side))
