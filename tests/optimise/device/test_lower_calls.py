"""Library calls said by those of a device: the interpreter computes the same values and gradients."""

from dataclasses import replace

import numpy as np
import pytest

from sdfgad.ir.program import Call, walk
from sdfgad.optimise.device import side
from sdfgad.optimise.device.lower_calls import LOWERED, lower_calls
from sdfgad.rules import library
from sdfgad.schedule.device_library import has_device_form
from tests.helpers_ir import assert_same_outputs, checked_outputs, evaluated_gradients, gradient_of, parsed


def matrices(rng, dtype, *shape):
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else a).astype(dtype)


def size(x):
    return np.sum(np.real(x * np.conj(x)) * np.cos(np.arange(x.shape[-1])))


def calls_of(program):
    return [s for s in walk(program.body) if isinstance(s, Call)]


@pytest.fixture
def never_host(monkeypatch):
    monkeypatch.setattr(side, "SECONDS", side.KERNELS_ONLY)


def assert_lowered(function, *args, tolerance=1e-9):
    """All calls of the gradient's program are a device's after the pass, and it computes the same."""
    primal = parsed(function, *args)
    made = gradient_of(primal)
    assert all(map(has_device_form, calls_of(lower_calls(made.program))))
    value, gradients = evaluated_gradients(primal, made, 1.0, *args)
    same, found = evaluated_gradients(primal, made, 1.0, *args, passes=(lower_calls,), seed=3)
    np.testing.assert_allclose(same, value, rtol=tolerance)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(found[name], gradient, rtol=tolerance, atol=tolerance * np.max(np.abs(gradient)))


def between(x):
    return size(np.fft.fft(x, axis=1)) + size(np.fft.irfft(x * x, 7, axis=1)) + size(np.fft.rfft(np.abs(x), axis=1))


def solved(a, b):
    return size(np.linalg.solve(a, b))


def inverse(a):
    return size(np.linalg.inv(a))


def determinants(a):
    sign, log = np.linalg.slogdet(a)
    return np.sum(np.real(np.linalg.det(a)) ** 2) + np.sum(log * np.real(sign * sign))


def cholesky(a):
    return size(np.linalg.cholesky(a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(a.shape[-1])))


def eigen(a):
    w, v = np.linalg.eigh(a)
    w2, v2 = np.linalg.eigh(a, UPLO="U")
    return size(np.abs(v) ** 2 * w[..., None, :]) + size(np.abs(v2) ** 2 * w2[..., None, :])


def singular(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return size(s) + size(np.abs(u) ** 2) + size((u * s[..., None, :]) @ vh)


def all_singular(a):
    u, s, vh = np.linalg.svd(a)
    k = s.shape[-1]
    return size(s) + size(np.abs(u[..., :k]) ** 2) + size(np.abs(vh[..., :k, :]) ** 2)


def orthogonal(a):
    q, r = np.linalg.qr(a)
    return size(q) + size(r)


DTYPES = ["float64", "complex128"]


def test_transforms(rng):
    assert_lowered(between, matrices(rng, complex, 2, 5, 3))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "m", "stack"), [(3, 2, ()), (2, 4, ()), (3, 1, (2,)), (2, 3, (2, 2))])
def test_systems(n, m, stack, dtype, rng):
    assert_lowered(solved, matrices(rng, dtype, *stack, n, n) + 2 * np.eye(n), matrices(rng, dtype, *stack, n, m))


def test_the_pullback_of_wide_systems(rng, monkeypatch):
    rule, _ = library.OPERAND_RULES["solve"]
    monkeypatch.setitem(library.OPERAND_RULES, "solve", (rule, lambda *_: True))
    for dtype in DTYPES:
        assert_lowered(solved, matrices(rng, dtype, 2, 3, 3) + 2 * np.eye(3), matrices(rng, dtype, 2, 3, 5))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (1, 1)])
@pytest.mark.parametrize("function", [inverse, determinants, cholesky, eigen])
def test_square_matrices(function, shape, dtype, rng, never_host):
    assert_lowered(function, matrices(rng, dtype, *shape), tolerance=1e-7)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 3)])
@pytest.mark.parametrize("function", [singular, all_singular, orthogonal])
def test_other_matrices(function, shape, dtype, rng, never_host):
    assert_lowered(function, matrices(rng, dtype, *shape), tolerance=1e-7)


def test_single_precision_is_computed_in_double(rng):
    a = matrices(rng, np.float32, 3, 3)
    program = lower_calls(parsed(inverse, a).program)
    assert {whole.dtype.name for call in calls_of(program) for whole in call.outputs} == {"float64", "int32"}
    primal = parsed(inverse, a)
    assert_same_outputs(primal, lower_calls(primal.program), a, tolerance=1e-6)


def test_a_singular_determinant():
    a = np.stack([np.ones((3, 3)), np.eye(3)])

    def both(a):
        sign, log = np.linalg.slogdet(a)
        return np.linalg.det(a), sign, log

    primal = parsed(both, a)
    lowered = replace(primal, program=lower_calls(primal.program))
    found = checked_outputs(lowered, a)
    np.testing.assert_array_equal(found["return[0]"], [0.0, 1.0])
    np.testing.assert_array_equal(found["return[1]"], [0.0, 1.0])
    np.testing.assert_array_equal(found["return[2]"], [-np.inf, 0.0])


@pytest.mark.parametrize(("shape", "is_lowered"), [((3, 3), False), ((500, 8, 8), False), ((200, 200), True)])
def test_many_small_matrices_stay_on_the_host(shape, is_lowered):
    program = parsed(lambda a: np.linalg.eigvalsh(a), np.ones(shape)).program
    assert ("hermitian_columns" in {call.name for call in calls_of(lower_calls(program))}) == is_lowered


def test_what_stays_a_call():
    primal = parsed(lambda a: np.linalg.inv(a), np.ones((0, 0)))
    assert [call.name for call in calls_of(lower_calls(primal.program))] == ["inverse"]
    assert "eigen" not in LOWERED
