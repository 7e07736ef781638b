"""Library functions on the device: gradients in the emulation are the CPU's, and nothing goes through the host."""

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import sdfgad
from sdfgad.emulated import VARIABLE
from sdfgad.errors import SingularMatrix
from sdfgad.ir.program import Call, walk
from sdfgad.optimise.device import side
from sdfgad.optimise.passes import optimise
from sdfgad.runtime.batch import Batch
from sdfgad.schedule.device_library import has_device_form
from sdfgad.schedule.launches import is_transfer
from tests.helpers_tiers import packed, packs


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    """The host is never worth it."""
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(side, "SECONDS", side.KERNELS_ONLY)


def matrices(rng, dtype, *shape):
    a = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def size(x):
    return np.sum(np.real(x * np.conj(x)) * np.cos(np.arange(x.shape[-1])))


@dataclass(frozen=True)
class Case:
    """A function with its arguments. `wrt`: by which it is differentiated; `rtol`: how near the CPU's results are."""

    name: str
    function: Callable[..., Any]
    draw: Callable[[np.random.Generator], tuple[np.ndarray, ...]]
    wrt: tuple[str, ...]
    rtol: float = 1e-10


def of_one(function, shape, dtype, wrt, rtol):
    """A case of a function of one array."""
    name = f"{function.__name__}-{shape}-{dtype}"
    return Case(name, function, lambda rng: (matrices(rng, dtype, *shape),), wrt, rtol)


def of_a_system(function, shape, right, dtype, rtol):
    """A case of a function of a well-conditioned matrix and right sides."""

    def draw(rng):
        a = matrices(rng, dtype, *shape) + np.asarray(3 * np.eye(shape[-1]), dtype)
        return a, matrices(rng, dtype, *right)

    return Case(f"{function.__name__}-{shape}-{right}-{dtype}", function, draw, ("a", "b"), rtol)


# --- transforms


def transformed(x):
    return size(np.fft.fft(x, axis=0)) + size(np.fft.ifft(x * x, axis=-1))


def of_reals(x):
    return size(np.fft.rfft(x, axis=0)) + size(np.fft.rfft(np.sin(x), axis=-1))


def to_reals(x):
    return size(np.fft.irfft(x, axis=0)) + size(np.fft.irfft(x * x, 7, axis=-1))


def planes(x):
    y = np.fft.fft2(x, axes=(0, 1))
    return size(np.fft.ifft2(y * y)) + size(np.fft.irfftn(np.fft.rfftn(np.abs(y), axes=(1, 0)), axes=(1, 0)))


# --- matrices


def solved(a, b):
    return size(np.linalg.solve(a, b))


def factored(a, b):
    import scipy.linalg

    made = scipy.linalg.lu_factor(a)
    return size(scipy.linalg.lu_solve(made, b)) + size(scipy.linalg.lu_solve(made, b[:, 0], trans=2))


def by_shared_factors(a, b):
    sign, log = np.linalg.slogdet(a)
    x = np.linalg.solve(a, b) + np.linalg.inv(a) @ b
    for k in range(3):
        x = np.linalg.solve(a, x + b)
    return size(x) + np.real(sign) * log + np.real(np.linalg.det(a))


def inverse(a):
    return size(np.linalg.inv(a))


def determinant(a):
    return size(np.atleast_1d(np.linalg.det(a)))


def log_determinant(a):
    sign, log = np.linalg.slogdet(a)
    return np.sum(np.real(sign) * log * log)


def positive(a):
    return a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(a.shape[-1])


def cholesky(a):
    return size(np.linalg.cholesky(positive(a)))


def eigenvalues(a):
    w, v = np.linalg.eigh(positive(a))
    return size(w) + size(np.abs(v) ** 2 * w[..., None, :])


def eigenvectors_of_the_upper(a):
    w, v = np.linalg.eigh(a, UPLO="U")
    return size(np.abs(v) ** 2 * w[..., None, :])


def orthogonal(a):
    q, r = np.linalg.qr(a)
    return size(q) + size(r)


def singular_values(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return size(s) + size((u * s[..., None, :]) @ vh) + size(np.abs(u) ** 2)


def all_vectors(a):
    u, s, vh = np.linalg.svd(a)
    k = s.shape[-1]
    return size(s * s) + size(np.abs(u[..., :k]) ** 2) + size(np.abs(vh[..., :k, :]) ** 2)


SQUARE = [inverse, determinant, log_determinant, cholesky, eigenvalues, eigenvectors_of_the_upper]


def cases():
    """In single precision tolerances are those of its rounding."""
    for function, shape, dtype in itertools.product(
        (transformed, to_reals), ((6, 5), (7, 1), (4, 3, 5)), ("complex128", "complex64")
    ):
        yield of_one(function, shape, dtype, ("x",), 1e-10 if dtype == "complex128" else 1e-4)
    for dtype, shape in itertools.product(("float64", "float32"), ((6, 5), (1, 8), (5, 4, 6))):
        yield of_one(of_reals, shape, dtype, ("x",), 1e-10 if dtype == "float64" else 1e-4)
    yield of_one(planes, (3, 4, 5), "complex128", ("x",), 1e-10)
    for (shape, right), dtype in itertools.product(SYSTEMS, ("float64", "complex128", "float32")):
        yield of_a_system(solved, shape, right, dtype, 1e-10 if dtype != "float32" else 1e-4)
    for dtype in ("float64", "complex128", "float32"):
        yield of_a_system(factored, (4, 4), (4, 3), dtype, 1e-10 if dtype != "float32" else 1e-4)
    for dtype in ("float64", "complex128"):
        yield of_a_system(by_shared_factors, (5, 5), (5, 2), dtype, 1e-10)
    for function, shape, dtype in itertools.product(SQUARE, ((4, 4), (2, 3, 3), (1, 1)), ("float64", "complex128")):
        yield of_one(function, shape, dtype, ("a",), 1e-9)
    for function in SQUARE:
        yield of_one(function, (4, 4), "float32", ("a",), 1e-3)
    for function, shape, dtype in itertools.product(OTHERS, ((5, 3), (3, 5), (2, 4, 4)), ("float64", "complex128")):
        yield of_one(function, shape, dtype, ("a",), 1e-8)


SYSTEMS = [((5, 5), (5,)), ((4, 4), (4, 3)), ((3, 3), (3, 9)), ((2, 3, 4, 4), (2, 3, 4, 2)), ((3, 3, 3), (3, 3, 7))]
SQUARE = [inverse, determinant, log_determinant, cholesky, eigenvalues, eigenvectors_of_the_upper]
OTHERS = [orthogonal, singular_values, all_vectors]
# Each function by default with real and with complex numbers.
PACKS = list(packs(cases(), 12, every=8, kind=lambda case: (case.function, "complex" in case.name)))


@functools.cache
def compiled(number):
    """Gradients of some of the cases on both devices, compiled at once for each, and the arguments."""
    batch, found = Batch(), {}
    for case in PACKS[number].values:
        args = case.draw(np.random.default_rng(20240607))
        both = [sdfgad.differentiate(case.function, wrt=case.wrt, device=device) for device in ("cpu", "gpu")]
        for g in both:
            batch.add(g.programs(*args)[0])
        found[case.name] = *both, args
    batch.build()
    return found


@pytest.mark.parametrize(("number", "case"), packed(PACKS, lambda case: case.name))
def test_values_and_gradients(number, case):
    """They are the CPU's, and the gradient's program copies no array."""
    expected, g, args = compiled(number)[case.name]
    (value, gradients), (known_value, known) = g.value_and_grad(*args), expected.value_and_grad(*args)
    for found, other in zip(gradients, known, strict=True):
        limit = case.rtol * np.max(np.abs(other), initial=1e-30)
        np.testing.assert_allclose(found, other, rtol=case.rtol, atol=limit)
    np.testing.assert_allclose(value, known_value, rtol=case.rtol)
    program = optimise(g.programs(*args)[1])
    statements = list(walk(program.body))
    calls = [s for s in statements if isinstance(s, Call)]
    assert calls
    assert all(map(has_device_form, calls)), [call.name for call in calls]
    assert not [s for s in program.body if is_transfer(s, program.buffers)]


def values_alone(a):
    return size(np.linalg.svd(a, compute_uv=False)) + size(np.linalg.eigvalsh(a @ np.conj(a.T)))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_values_without_vectors(shape, rng):
    a = matrices(rng, "complex128", *shape)
    g = sdfgad.differentiate(values_alone, device="gpu")
    assert g.value(a) == pytest.approx(values_alone(a), rel=1e-10)


# --- failures


def inverse_of_one(a):
    return np.sum(np.linalg.inv(a))


def factor(a):
    return np.sum(np.linalg.cholesky(a))


def values(a):
    return np.sum(np.linalg.solve(a, np.ones(3)))


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("function", [inverse_of_one, factor, values])
def test_singular_matrices(function, device):
    a = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, -1.0]])
    with pytest.raises(SingularMatrix):
        sdfgad.differentiate(function, device=device)(a)
    batch = np.stack([np.eye(3), a])
    with pytest.raises(SingularMatrix):
        sdfgad.differentiate(function, device=device)(batch)


def eigenvalue(a):
    return np.sum(np.linalg.eigvalsh(a))


def singular_value(a):
    return np.sum(np.linalg.svd(a, compute_uv=False))


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("function", [singular_value, eigenvalue])
def test_matrices_that_are_not_numbers(function, device):
    a = np.array([[1.0, 0.0, np.nan], [0.0, 4.0, 0.0], [np.nan, 0.0, 2.0]])
    with pytest.raises(SingularMatrix):
        sdfgad.differentiate(function, device=device)(a)


def test_determinant_of_a_singular_matrix():
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    g = sdfgad.differentiate(lambda a: np.linalg.det(a), device="gpu")
    assert g.value(a) == 0.0


# --- in loops


def steps(a, x):
    for _ in range(30):
        x = np.linalg.solve(a, x) * 1.1
    return np.sum(x * x)


@pytest.mark.parametrize("n", [3, 8])
def test_small_systems_in_a_loop(n, rng, monkeypatch):
    monkeypatch.setattr(side, "SECONDS", side.Seconds())
    a, x = matrices(rng, float, n, n) + 3 * np.eye(n), matrices(rng, float, n)
    expected = sdfgad.differentiate(steps, wrt=("a", "x"), device="cpu")(a, x)
    for found, known in zip(sdfgad.differentiate(steps, wrt=("a", "x"), device="gpu")(a, x), expected, strict=True):
        np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-12)
