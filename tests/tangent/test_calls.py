"""Tangents of all library calls, the transposes of their pullbacks: <J t, c> = <t, J^T c>; one program for all."""

import numpy as np
import pytest
import scipy.linalg

import sdfgad
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Call, walk
from sdfgad.rules.library import CALL_RULES
from sdfgad.tangent.program import tangent_program
from tests.helpers_compiled import run_packed
from tests.helpers_ir import evaluated_gradients, gradient_of, parsed


def solved(a, b):
    return np.linalg.solve(a, b)


def wide_solved(a, b):
    return np.linalg.solve(a, np.concatenate([b, 2.0 * b, np.conj(b)], axis=-1))


def solved_by_itself(a):
    return np.linalg.solve(a, a * a)


def inverted(a):
    return np.linalg.inv(a)


def pseudo_inverted(b):
    return np.linalg.pinv(b)


def determinants(a):
    sign, log = np.linalg.slogdet(a)
    return np.linalg.det(a) + sign * log


def factored(a):
    return np.linalg.cholesky(a @ np.conj(np.swapaxes(a, -1, -2)))


def orthogonal(b):
    q, r = np.linalg.qr(b)
    return q @ np.conj(r) + q


def singular_values(b):
    return np.linalg.svd(b, compute_uv=False)


def singular_vectors(b):
    u, s, vh = np.linalg.svd(b)
    return np.abs(u[..., : s.shape[-1]]) ** 2 @ (s[..., None] * np.abs(vh) ** 2)


def hermitian(a):
    w, v = np.linalg.eigh(a)
    return np.abs(v) ** 2 * w[..., None, :]


def eigen(a):
    w, v = np.linalg.eig(a)
    return v * w[..., None, :]


def transformed(a):
    return np.fft.fft(a, axis=-2) + np.fft.ifft(a)


def real_transformed(a):
    return np.fft.rfft(np.real(a), axis=-1)


def back_transformed(a):
    return np.fft.irfft(a + 0j, axis=-1)


def by_factors(a, b):
    return scipy.linalg.lu_solve(scipy.linalg.lu_factor(a[0]), b[0])


def banded(a, b):
    return scipy.linalg.solve_banded((1, 1), a[0, :3], b[0])


def by_banded_factors(a, b):
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(a[0] @ np.conj(a[0]).T), b[0])


BOTH = (solved, wide_solved, solved_by_itself, inverted, pseudo_inverted, determinants, factored, orthogonal)
BOTH += (singular_values, singular_vectors, hermitian, transformed, by_factors, banded, by_banded_factors)
REAL, COMPLEX = (real_transformed, back_transformed), (eigen, back_transformed)


def arguments(function, dtype, rng):
    def random(shape):
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype is complex else 0.0)

    values = {"a": random((2, 4, 4)) + 4.0 * np.eye(4), "b": random((2, 4, 3))}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {name: values[name] for name in names}, {name: random(values[name].shape) for name in names}


def case_of(function, dtype, rng):
    """The tangent program with what it is run on; a cotangent c, and what <t, J^T c> is by the interpreter."""
    values, tangents = arguments(function, dtype, rng)
    primal = parsed(function, *values.values())
    given = {primal.inputs[name]: value for name, value in values.items()} | dict(primal.captured)
    made = tangent_program(primal.program, [primal.inputs[name] for name in values])
    dots = {made.tangents[primal.inputs[name]]: tangent for name, tangent in tangents.items()}
    output = primal.program.buffers[primal.program.outputs["return"]]
    shape = [extent.const for extent in output.shape]
    c = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if output.dtype.kind == "c" else 0.0)
    _, pulled = evaluated_gradients(primal, gradient_of(primal, list(values)), c, *values.values())
    return (made.program, given | dots, {}), c, sum(np.vdot(pulled[name], t).real for name, t in tangents.items())


@pytest.mark.parametrize(("dtype", "functions"), [(float, BOTH + REAL), (complex, BOTH + COMPLEX)])
def test_tangents_are_dual_to_gradients(dtype, functions):
    rng = np.random.default_rng(2)
    cases = [case_of(function, dtype, rng) for function in functions]
    found = run_packed([forward for forward, _, _ in cases])
    for function, pushed, (_, c, expected) in zip(functions, found, cases, strict=True):
        tangent = pushed["derivative of return"]
        left, scale = np.vdot(c, tangent).real, np.linalg.norm(c) * np.linalg.norm(tangent)
        assert np.isfinite(left), function.__name__
        assert abs(left - expected) < 1e-12 * scale, function.__name__


def test_the_functions_are_all_that_have_rules():
    rng = np.random.default_rng(3)
    called = set()
    for function in (*BOTH, *REAL, eigen):
        values, _ = arguments(function, float, rng)
        body = parsed(function, *values.values()).program.body
        called |= {statement.name for statement in walk(body) if isinstance(statement, Call)}
    # Only graphs call `lu`: tests/sdfg/foreign/test_lapack.py. Those of messages are in tests/messages, and those of
    # factors in tests/optimise/invariants.
    apart = {"solve_pullback", "cholesky_pullback", "solve_factored_band", "pure_callback", "lu"}
    apart |= {"inverse_factored", "determinant_factored", "sign_log_factored"}
    differentiable = {n for n, one in LIBRARY.items() if one.header and one.is_differentiable and not one.is_ordered}
    assert differentiable - apart <= called
    assert differentiable - {"pure_callback"} <= CALL_RULES.keys()


def of_a_gradient(a, b):
    return np.linalg.cholesky(np.linalg.solve(a, b) @ np.conj(np.linalg.solve(a, b).T) + np.eye(4))


def test_tangents_of_the_pullbacks_of_calls():
    """`solve_pullback` and `cholesky_pullback` are in gradients only."""
    rng = np.random.default_rng(4)
    a, b, t = rng.standard_normal((4, 4)) + 4 * np.eye(4), rng.standard_normal((4, 7)), rng.standard_normal((4, 4))

    gradient = sdfgad.differentiate(sum_of_cubes, wrt="a")
    _, found = sdfgad.jvp(gradient, (a, b), (t, None))
    np.testing.assert_allclose(found, sdfgad.hvp(sum_of_cubes, (a, b), (t, None)), rtol=1e-9, atol=1e-9)
    h = 1e-5
    expected = (gradient(a + h * t, b) - gradient(a - h * t, b)) / (2 * h)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.max(np.abs(expected)))


def sum_of_cubes(a, b):
    return np.sum(of_a_gradient(a, b) ** 3)
