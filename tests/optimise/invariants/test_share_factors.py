"""Systems with the same matrix share its factors, also in the reverse sweep; values, gradients and errors stay."""

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SingularMatrix
from sdfgad.ir.program import Call, Loop, walk
from sdfgad.optimise.invariants.share_factors import share_factors
from tests.helpers import assert_gradient
from tests.helpers_passes import check_early, normal

N = 5


def regular(seed=0, n=N):
    return normal(n, n, seed=seed) + 4 * np.eye(n)


def names_of_calls(block):
    return [one.name for one in walk(block) if isinstance(one, Call)]


def in_loops(block):
    return [name for one in walk(block) if isinstance(one, Loop) for name in names_of_calls(one.body)]


def shared(a, b, y):
    x = np.linalg.solve(a, b[:, 0])
    y[:] = np.linalg.solve(a, b) * x[:, None]


def written_between(a, b, y):
    x = np.linalg.solve(a, b)
    a[0, 0] += 1.0
    y[:] = np.linalg.solve(a, b) * x


def written_in_one_branch(a, b, y):
    x = np.linalg.solve(a, b)
    if a[0, 0] > 0.0:
        a[0, 0] += 1.0
        y += np.linalg.solve(a, x)
    y += np.linalg.solve(a, b)


def in_a_loop(a, b, y):
    x = np.linalg.solve(a, b)
    for k in range(3):
        x = np.linalg.solve(a, x * x) + b
    y[:] = x


def updated_in_a_loop(a, b, y):
    x = np.linalg.solve(a, b)
    for k in range(3):
        x = np.linalg.solve(a, x * x) + b
        a[k, k] += 0.5
    y[:] = x


def wide(a, b, y):
    y[:] = np.linalg.solve(a, np.concatenate((b, b * b, np.sin(b)), axis=1))[:, :N]


def of_complex_numbers(a, b, y):
    z = a + 1j * b
    x = np.linalg.solve(z, b) * np.linalg.solve(z, a)
    y[:] = np.real(x) - np.imag(x)


def of_a_normal_distribution(a, b, y):
    s = a @ a.T
    y[:] = np.linalg.slogdet(s)[1] + b @ np.linalg.solve(s, b) * np.linalg.inv(s)[0] / np.linalg.det(s)


def inverse_alone(a, b, y):
    y[:] = np.linalg.inv(a) @ b + np.linalg.det(a @ a)


@pytest.mark.parametrize(
    ("function", "columns", "factors", "solved"),
    [
        (shared, N, 1, 2),
        (written_between, N, 2, 2),
        (written_in_one_branch, N, 3, 3),
        (in_a_loop, N, 1, 2),
        (updated_in_a_loop, N, 2, 2),
        (wide, N, 1, 1),
        (of_complex_numbers, N, 1, 2),
    ],
)
def test_factors(function, columns, factors, solved):
    arguments = (regular(), normal(N, columns, seed=1), normal(N, columns, seed=2))
    changed, _ = check_early(share_factors, function, arguments, ["a", "b"])
    calls = names_of_calls(changed.body)
    assert (calls.count("factor"), calls.count("solve_factored"), len(calls)) == (factors, solved, factors + solved)


def test_inverses_and_determinants():
    arguments = (regular(), normal(N, seed=1), normal(N, seed=2))
    changed, _ = check_early(share_factors, of_a_normal_distribution, arguments, ["a", "b"])
    expected = ["factor", "sign_log_factored", "solve_factored", "inverse_factored", "determinant_factored"]
    assert names_of_calls(changed.body) == expected
    changed, before = check_early(share_factors, inverse_alone, arguments, ["a", "b"])
    assert changed == before


def test_singular_matrix_has_a_determinant():
    def volumes(a):
        return np.array([np.linalg.det(a), np.linalg.slogdet(a)[0], np.linalg.slogdet(a)[1]])

    g = sdfgad.differentiate(volumes, wrt="a", reduce="sum")
    for a in (np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 0.0, 2.0])):
        np.testing.assert_array_equal(g.value(a), volumes(a))
    a = regular(n=3)
    a[0] *= -1.0
    np.testing.assert_allclose(g.value(a), volumes(a), rtol=1e-13)


def test_matrix_that_a_loop_updates_is_factored_in_it():
    arguments = (regular(), normal(N, seed=1), normal(N, seed=2))
    changed, _ = check_early(share_factors, updated_in_a_loop, arguments, ["a", "b"])
    assert "factor" in in_loops(changed.body)
    changed, _ = check_early(share_factors, in_a_loop, arguments, ["a", "b"])
    assert "factor" not in in_loops(changed.body)


def test_stacks_and_single_precision_stay():
    def stacks(a, b, y):
        y[:] = np.linalg.solve(a, b)

    check_early(share_factors, stacks, (regular()[None], normal(1, N, 2), normal(1, N, 2)), ["a", "b"])
    single = tuple(one.astype(np.float32) for one in (regular(), normal(N, 2), normal(N, 2)))
    changed, before = check_early(share_factors, stacks, single, ["a", "b"])
    assert changed == before


# --- compiled


def many(a, b, c):
    z = a + 1j * c
    x = np.linalg.solve(z, b) * np.linalg.solve(z, c[0])
    low = np.linalg.cholesky(a @ a.T + np.eye(a.shape[0]))
    white = np.linalg.solve(low, b) + np.linalg.solve(low.T, c)[:, 0]
    s = np.linalg.solve(a, np.concatenate((c, c * c), axis=1))
    for k in range(4):
        b = np.linalg.solve(a, b) + 0.1 * b
    logs = np.linalg.slogdet(a)[1] + np.sum(np.imag(np.linalg.slogdet(z)[0] * np.linalg.inv(z)))
    a[0, 1] += 2.0
    b = b * np.linalg.solve(a, b) + logs / np.linalg.det(a)
    return np.sum(np.abs(x) ** 2) + np.sum(white**3) + np.sum(s * s) + np.sum(b)


def many_in_jax(a, b, c):
    z = a + 1j * c
    x = jnp.linalg.solve(z, b) * jnp.linalg.solve(z, c[0])
    low = jnp.linalg.cholesky(a @ a.T + jnp.eye(a.shape[0]))
    white = jnp.linalg.solve(low, b) + jnp.linalg.solve(low.T, c)[:, 0]
    s = jnp.linalg.solve(a, jnp.concatenate((c, c * c), axis=1))
    for _ in range(4):
        b = jnp.linalg.solve(a, b) + 0.1 * b
    logs = jnp.linalg.slogdet(a)[1] + jnp.sum(jnp.imag(jnp.linalg.slogdet(z)[0] * jnp.linalg.inv(z)))
    a = a.at[0, 1].add(2.0)
    b = b * jnp.linalg.solve(a, b) + logs / jnp.linalg.det(a)
    return jnp.sum(jnp.abs(x) ** 2) + jnp.sum(white**3) + jnp.sum(s * s) + jnp.sum(b)


@pytest.mark.parametrize("n", [2, 40])
def test_against_jax(n):
    assert_gradient(many, many_in_jax, regular(n=n), normal(n, seed=3), normal(n, n, seed=4))


def test_reverse_sweep_has_no_factorisation():
    g = sdfgad.differentiate(many, wrt=("a", "b", "c"))
    calls = names_of_calls(g.programs(regular(), normal(N, seed=3), normal(N, N, seed=4))[0].body)
    # Of z, of low and of its transpose, and of a as it was and as it is.
    assert calls.count("factor") == 5
    assert calls.count("inverse_factored") == 4  # That of z, and for the determinants' adjoints.
    assert not {"solve", "inverse", "determinant", "sign_log_determinant"} & {*calls}


def test_second_derivatives_jvp_and_jacobian():
    a, b, c = regular(), normal(N, seed=3), normal(N, N, seed=4)
    g = sdfgad.differentiate(many, wrt=("a", "b"))
    tangents = normal(N, N, seed=5), normal(N, seed=6)
    along = sum(np.sum(x * t) for x, t in zip(g(a, b, c), tangents, strict=True))
    np.testing.assert_allclose(g.jvp(a, b, c, tangents=tangents)[1], along, rtol=1e-10)

    def system(a, b):
        return np.linalg.solve(a, np.linalg.solve(a, b) ** 2)

    h, found = 1e-5, sdfgad.jacobian(system, "b")(a, b)
    expected = np.stack([(system(a, b + h * e) - system(a, b - h * e)) / (2 * h) for e in np.eye(N)], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    of_a, by_hand = sdfgad.jacobian(system, "a")(a, b), np.zeros((N, N, N))
    for i, j in np.ndindex(N, N):
        e = h * np.outer(np.eye(N)[i], np.eye(N)[j])
        by_hand[:, i, j] = (system(a + e, b) - system(a - e, b)) / (2 * h)
    np.testing.assert_allclose(of_a, by_hand, rtol=1e-6, atol=1e-8)


def test_batches():
    """Of one matrix and many right sides, whose columns are solved together, and of many matrices."""
    a, b, c = np.stack([regular(seed) for seed in range(3)]), normal(3, N, seed=3), normal(N, N, seed=4)
    np.testing.assert_allclose(
        sdfgad.vmap(many, (0, 0, None))(a, b, c), [many(x, y, c) for x, y in zip(a.copy(), b, strict=True)], rtol=1e-10
    )
    np.testing.assert_allclose(
        sdfgad.vmap(many, (None, 0, None))(a[0], b, c), [many(a[0].copy(), y, c) for y in b], rtol=1e-10
    )


def steps(trips, a, u):
    for t in range(trips):
        u = np.linalg.solve(a, u)
    return np.sum(u * u)


def test_singular_matrix_of_a_loop():
    """It is factored before the loop, and only a trip that solves with it fails."""
    g, u = sdfgad.differentiate(steps, wrt=("a", "u")), np.arange(3.0)
    of_a, of_u = g(0, np.zeros((3, 3)), u)
    np.testing.assert_array_equal(of_a, 0.0)
    np.testing.assert_array_equal(of_u, 2 * u)
    with pytest.raises(SingularMatrix, match=r"a matrix is singular(.|\n)*u = np.linalg.solve\(a, u\)"):
        g(1, np.zeros((3, 3)), u)
