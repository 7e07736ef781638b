"""Each call rule against central differences: real and complex, single and in stacks, wide and tall."""

import ast

import numpy as np
import pytest

from sdfgad.ir.library import LIBRARY
from sdfgad.parse.functions.factored import (
    banded_factors,
    banded_solution,
    factors,
    inverse_by_factors,
    solution_by_band,
    solution_by_factors,
)
from sdfgad.parse.source import read_source
from sdfgad.reverse.calls import missing_call_rules
from sdfgad.rules.library import CALL_RULES, OPERAND_RULES
from tests.helpers import line_of
from tests.helpers_ir import (
    assert_like_python,
    assert_slope,
    assert_value_and_slope,
    evaluated_gradients,
    gradient_of,
    parsed,
)


def matrices(shape, dtype, seed=3):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    return a + 1j * rng.standard_normal(shape) if dtype == "complex" else a


def regular(n, batch, dtype):
    return matrices((*batch, n, n), dtype) + 3.0 * np.eye(n)


def solve(a, b):
    return np.linalg.solve(a, b)


def inverse(a):
    return np.linalg.inv(a)


def determinant(a):
    return np.linalg.det(a)


def log_determinant(a):
    return np.linalg.slogdet(a)[1]


def sign_of_determinant(a):
    sign, log = np.linalg.slogdet(a)
    return sign * np.exp(0.1 * log)


def cholesky(a):
    return np.linalg.cholesky(a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(a.shape[-1]))


def cholesky_of_the_upper(a):
    return np.linalg.cholesky(a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(a.shape[-1]), upper=True)


def eigenvalues(a):
    return np.linalg.eigvalsh(a)


def eigenvectors_up_to_phase(a):
    w, v = np.linalg.eigh(a)
    return np.abs(v) ** 2 * w[..., None, :]


def eigenvectors_of_the_upper(a):
    w, v = np.linalg.eigh(a, UPLO="U")
    return np.abs(v) ** 2 * w[..., None, :]


def eigenvalues_of_the_upper(a):
    return np.linalg.eigvalsh(a, "u")


def orthogonal(a):
    return np.linalg.qr(a)[0]


def triangular(a):
    return np.linalg.qr(a, mode="r")


def both_of_qr(a):
    q, r = np.linalg.qr(a)
    return q[..., 0] * r[..., 0, :1] + q[..., -1]


def singular_values(a):
    return np.linalg.svdvals(a)


def singular_vectors(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u[..., :, 0] * s[..., :1] * vh[..., 0, :1] + np.sum(u * u * s[..., None, :] ** 2, axis=-1)


def right_vectors(a):
    return np.linalg.svd(a, full_matrices=False)[2] ** 2


def all_left_vectors(a):
    u, s, _ = np.linalg.svd(a)
    k = s.shape[-1]
    rest = u[..., k:]
    return u[..., :k] @ np.conj(u[..., :1, :k]).swapaxes(-1, -2) * s[..., :1, None] + rest @ np.conj(
        rest[..., :1, :]
    ).swapaxes(-1, -2)


def all_right_vectors(a):
    _, s, vh = np.linalg.svd(a)
    k = s.shape[-1]
    rest = vh[..., k:, :]
    return (
        np.conj(vh[..., :k, :1]).swapaxes(-1, -2) @ (s[..., None] * vh[..., :k, :])
        + np.conj(rest[..., :1]).swapaxes(-1, -2) @ rest
    )


def a_pair_of_vectors(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    sizes = np.abs(u[..., :1, :]) ** 2 * s[..., None, :] + np.abs(vh[..., :, :1].swapaxes(-1, -2)) ** 2
    return u[..., :, :1] * vh[..., :1, :] + np.sum(sizes, axis=-1, keepdims=True)


def one_left_vector(a):
    return np.linalg.svd(a, full_matrices=False)[0]


def the_complement(a):
    return np.linalg.svd(a)[0][..., a.shape[-1] :]


def eigenvalues_of_any(a):
    return np.linalg.eigvals(a)


def eigenvectors_of_any(a):
    return np.linalg.eig(a)[1]


def both_of_eigen(a):
    w, v = np.linalg.eig(a)
    return v @ np.exp(w)[..., None]


def pseudo_inverse(a):
    return np.linalg.pinv(a)


SQUARE = [inverse, determinant, log_determinant, sign_of_determinant, cholesky, cholesky_of_the_upper, eigenvalues]
EIGEN = [eigenvectors_up_to_phase, eigenvectors_of_the_upper, eigenvalues_of_the_upper]
DTYPES = pytest.mark.parametrize("dtype", ["real", "complex"])
BATCHES = pytest.mark.parametrize("batch", [(), (2,), (2, 1)], ids=str)


@DTYPES
@BATCHES
@pytest.mark.parametrize("program", [*SQUARE, *EIGEN], ids=lambda program: program.__name__)
def test_of_square_matrices(program, batch, dtype):
    for n in (1, 3):
        a = regular(n, batch, dtype)
        assert_value_and_slope(program, a, tolerance=1e-9)


@DTYPES
@pytest.mark.parametrize(
    ("left", "right"),
    [((), (3,)), ((), (3, 2)), ((2,), (3, 2)), ((2,), (2, 3, 1)), ((), (2, 3, 2)), ((2, 1), (4, 3, 2))],
)
def test_of_systems(left, right, dtype):
    a, b = regular(3, left, dtype), matrices(right, dtype, 4)
    assert_value_and_slope(solve, a, b, tolerance=1e-9)


def test_of_a_real_system_with_a_complex_side():
    assert_slope(solve, regular(3, (), "real"), matrices((3,), "complex"))
    assert_slope(solve, regular(3, (), "complex"), matrices((3,), "real"))


KINDS = pytest.mark.parametrize("kinds", ["real real", "complex complex", "real complex", "complex real"])


@pytest.mark.parametrize("kinds", ["real real", "complex complex", "complex real"])
def test_of_systems_by_factors(kinds):
    def program(a, b):
        kept = factors(a)
        return solution_by_factors(*kept, b) + 2.0 * solution_by_factors(*kept, b, 1) + inverse_by_factors(*kept) @ b

    matrix, side = kinds.split()
    for shape in ((4,), (4, 2)):
        assert_slope(program, regular(4, (), matrix), matrices(shape, side, 4))


@KINDS
@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0, 2), (1, 0), (0, 0), (3, 3)])
def test_of_banded_systems(low, high, kinds):
    def once(ab, b):
        return banded_solution(ab, b, low, high) + 2.0 * banded_solution(ab, b, low, high, 1)

    def factored(ab, b):
        kept = banded_factors(ab, low, high)
        return solution_by_band(ab, *kept, b, low, high) + 2.0 * solution_by_band(ab, *kept, b, low, high, 1)

    matrix, side = kinds.split()
    for shape in ((5,), (5, 2)):
        ab, b = matrices((low + high + 1, 5), matrix), matrices(shape, side, 4)
        ab[high] += 4.0
        for program in (once, factored):
            assert_slope(program, ab, b)


SHAPES = pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (1, 3), (2, 3, 2), (2, 2, 3)], ids=str)


@DTYPES
@SHAPES
@pytest.mark.parametrize(
    "program",
    [orthogonal, triangular, both_of_qr, singular_values, pseudo_inverse],
    ids=lambda program: program.__name__,
)
def test_of_matrices_of_any_shape(program, shape, dtype):
    a = matrices(shape, dtype)
    assert_value_and_slope(program, a, tolerance=1e-9)


@SHAPES
@pytest.mark.parametrize("program", [singular_vectors, right_vectors], ids=lambda program: program.__name__)
def test_of_singular_vectors(program, shape):
    a = matrices(shape, "real")
    assert_value_and_slope(program, a, tolerance=1e-9)


@DTYPES
@SHAPES
@pytest.mark.parametrize("program", [all_left_vectors, all_right_vectors], ids=lambda program: program.__name__)
def test_of_all_singular_vectors(program, shape, dtype):
    a = matrices(shape, dtype)
    assert_value_and_slope(program, a, tolerance=1e-9)


@SHAPES
def test_of_complex_singular_vectors(shape):
    a = matrices(shape, "complex")
    assert_value_and_slope(a_pair_of_vectors, a, tolerance=1e-9)


@pytest.mark.parametrize(
    ("program", "a"), [(one_left_vector, matrices((2, 3), "complex")), (the_complement, matrices((4, 2), "real"))]
)
def test_what_depends_on_a_free_choice_of_vectors_has_no_derivative(program, a):
    primal = parsed(program, a)
    rng = np.random.default_rng(2)
    made = gradient_of(primal)
    cotangent = rng.standard_normal(program(a).shape)
    _, gradients = evaluated_gradients(primal, made, cotangent, a.copy())
    assert np.isnan(gradients["a"]).all()


@BATCHES
@pytest.mark.parametrize("program", [eigenvalues_of_any, eigenvectors_of_any, both_of_eigen], ids=lambda p: p.__name__)
def test_of_eigenvectors_as_lapack_scales_them(program, batch):
    for n in (1, 2, 4):
        a = regular(n, batch, "complex")
        assert_value_and_slope(program, a, tolerance=1e-9)
    a = regular(4, batch, "real")
    a[..., 0, 1], a[..., 1, 0] = 5.0, -4.0
    assert_value_and_slope(program, a, tolerance=1e-9)


def test_of_a_matrix_of_less_than_full_rank():
    assert_like_python(pseudo_inverse, np.outer([1.0, 2.0, 3.0], [0.5, 1.0]), tolerance=1e-9)


def of_a_product(a, b):
    return np.linalg.pinv(np.outer(a, b), rcond=1e-9)


def test_of_a_pseudo_inverse_of_constant_rank():
    assert_slope(of_a_product, np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0]))


def truncated(a):
    return np.linalg.pinv(a, rcond=0.5)


@DTYPES
@SHAPES
def test_of_a_pseudo_inverse_that_drops_what_is_not_zero(shape, dtype):
    """Golub and Pereyra's formula, which takes what is dropped for zero, is wrong here."""
    a = matrices(shape, dtype)
    # Every second singular value is below the cut-off, which none is near.
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    s = np.where(np.arange(s.shape[-1]) % 2 == 0, 2.0 + 0.1 * s, 0.3 + 0.1 * s)
    a = (u * s[..., None, :]) @ vh
    assert_value_and_slope(truncated, a, tolerance=1e-9)


def in_a_loop(a, x):
    for _ in range(3):
        x = np.linalg.solve(a, x) + np.linalg.det(a) * 0.01 * x
    return x


def of_several(a, b):
    total = np.zeros_like(b)
    for k in range(3):
        total += np.linalg.solve(a[k] * a[k], b * a[k, 0, 0])
    return total


@DTYPES
@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("m", [2, 3, 5])
def test_of_one_system_after_another(m, batch, dtype):
    # With more right-hand sides than unknowns without the solutions.
    a, b = np.stack([regular(3, batch, dtype) + k for k in range(3)]), matrices((*batch, 3, m), dtype, 4)
    program = of_stacks if batch else of_several
    assert_value_and_slope(program, a, b, tolerance=1e-9)


def of_stacks(a, b):
    total = np.zeros_like(b)
    for k in range(3):
        total += np.linalg.solve(a[k] * a[k], b)
    return total


@DTYPES
def test_rules_by_operands(dtype):
    a, b, bar = regular(3, (2,), dtype), matrices((2, 3, 5), dtype, 4), matrices((2, 3, 5), dtype, 5)
    rule, is_less = OPERAND_RULES["solve"]
    found, expected = rule(a, b, None, bar), CALL_RULES["solve"](a, b, np.linalg.solve(a, b), bar)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert [is_less(1, 3, m) for m in (1, 3, 4)] == [False, False, True]


def used_twice(a):
    y = np.linalg.inv(a)
    return y @ a * y


def overwritten(a):
    y = np.linalg.inv(a)
    a[0] = y[0] * a[1]
    return np.linalg.inv(a) + y


def where_data_say_so(a):
    return np.linalg.det(a) if a[0, 0] > 0 else np.linalg.inv(a)[0, 0]


def test_among_other_statements():
    a = regular(3, (), "real")
    assert_slope(in_a_loop, a, np.array([1.0, 2.0, 0.5]))
    for program in (used_twice, overwritten, where_data_say_so):
        assert_value_and_slope(program, a, tolerance=1e-9)


def fourier(z):
    return np.fft.fft(z)


def inverse_fourier(z):
    return np.fft.ifft(z)


@DTYPES
@pytest.mark.parametrize("shape", [(1,), (4,), (5,), (2, 3)])
def test_of_transforms(shape, dtype):
    for program in (fourier, inverse_fourier):
        z = matrices(shape, dtype)
        assert_value_and_slope(program, z)


# --- the table


def test_every_differentiable_function_has_a_rule():
    # Those without a header are rules of other tests.
    differentiable = {n for n, one in LIBRARY.items() if one.header and one.is_differentiable}
    wanted = {name for name in differentiable if not LIBRARY[name].is_of_adjoints} - {"pure_callback"}
    assert set(CALL_RULES) == wanted  # Those of messages are in tests/messages.


@pytest.mark.parametrize("name", CALL_RULES)
def test_rules_are_straight_lines_once_the_dtypes_are_known(name):
    node = read_source(CALL_RULES[name]).node
    assert not any(isinstance(n, (ast.For, ast.While, ast.Try)) for n in ast.walk(node))


def test_a_rule_that_is_missing_is_found(monkeypatch):
    primal = parsed(inverse, np.eye(2))
    active = frozenset(primal.program.buffers)
    assert missing_call_rules(primal.program, active) == []
    monkeypatch.delitem(CALL_RULES, "inverse")
    ((name, where),) = missing_call_rules(primal.program, active)
    assert name == "inverse"
    assert str(where) == line_of(inverse, "return")
    assert missing_call_rules(primal.program, frozenset()) == []
