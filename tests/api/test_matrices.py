"""Jacobians and Hessians that programs compute, that are mapped over batches, and that are differentiated."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from tests.helpers import line_of

jax.config.update("jax_enable_x64", True)
X, W = np.array([0.3, -0.5, 0.8]), np.array([0.7, 0.2, -0.4])


def spread(x):
    """From a vector to a matrix, in place."""
    a = np.outer(x, x)
    for k in range(2):
        a[k] += np.sin(x[k] * a[k + 1])
    return a


def jax_spread(x):
    a = jnp.outer(x, x)
    for k in range(2):
        a = a.at[k].add(jnp.sin(x[k] * a[k + 1]))
    return a


def energy(x, w):
    return np.sum(np.sin(x) ** 3 * w) + np.prod(x * w)


def jax_energy(x, w):
    return jnp.sum(jnp.sin(x) ** 3 * w) + jnp.prod(x * w)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_mapped_and_differentiated(mode):
    xs = np.stack((X, W))
    np.testing.assert_allclose(
        sdfgad.vmap(sdfgad.jacobian(spread, mode=mode))(xs), jax.vmap(jax.jacobian(jax_spread))(xs), rtol=1e-12
    )
    found = sdfgad.jacobian(sdfgad.jacobian(spread, mode=mode))(X)
    np.testing.assert_allclose(found, jax.jacobian(jax.jacobian(jax_spread))(X), rtol=1e-11, atol=1e-13)


def test_hessians_mapped_and_differentiated():
    xs = np.stack((X, W, X * W))
    found = sdfgad.vmap(sdfgad.hessian(energy), in_axes=(0, None))(xs, W)
    expected = jax.vmap(jax.hessian(jax_energy), in_axes=(0, None))(xs, W)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    third = sdfgad.jacobian(sdfgad.hessian(energy))(X, W)
    np.testing.assert_allclose(third, jax.jacobian(jax.hessian(jax_energy))(X, W), rtol=1e-11, atol=1e-13)


def blocks(x, w):
    (a, b), (c, d) = sdfgad.hessian(energy, (0, 1))(x, w)
    e, f = sdfgad.jacobian(energy, ("x", "w"))(x, w)
    return np.sum(a @ b - c * d) + e @ d @ f


def jax_blocks(x, w):
    (a, b), (c, d) = jax.hessian(jax_energy, (0, 1))(x, w)
    e, f = jax.jacobian(jax_energy, (0, 1))(x, w)
    return jnp.sum(a @ b - c * d) + e @ d @ f


def test_blocks_of_several_arguments():
    found = sdfgad.value_and_grad(blocks, (0, 1))(X, W)
    expected = jax.value_and_grad(jax_blocks, (0, 1))(X, W)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-10)


def implicit_euler(y, k, dt):
    """Robertson's stiff kinetics, by implicit steps and Newton's method."""
    for _ in range(5):

        def residual(new):
            a, b, c = new
            slow, fast, quick = k[0] * a, k[1] * b * c, k[2] * b * b
            return new - y - dt * np.stack((fast - slow, slow - fast - quick, quick))  # noqa: B023

        new = y.copy()
        for _ in range(6):
            new = new - np.linalg.solve(sdfgad.jacobian(residual)(new), residual(new))
        y = new
    return y[0] + 1e4 * y[1] + 2.0 * y[2]


def jax_implicit_euler(y, k, dt):
    for _ in range(5):

        def residual(new, y=y):
            a, b, c = new
            slow, fast, quick = k[0] * a, k[1] * b * c, k[2] * b * b
            return new - y - dt * jnp.stack((fast - slow, slow - fast - quick, quick))

        new = y
        for _ in range(6):
            new = new - jnp.linalg.solve(jax.jacobian(residual)(new), residual(new))
        y = new
    return y[0] + 1e4 * y[1] + 2.0 * y[2]


def test_newton_in_an_implicit_step():
    arguments = np.array([1.0, 0.0, 0.0]), np.array([0.04, 1e4, 3e7]), 0.1
    value, found = sdfgad.value_and_grad(implicit_euler, (0, 1, 2))(*arguments)
    expected, slopes = jax.value_and_grad(jax_implicit_euler, (0, 1, 2))(*arguments)
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    for one, slope in zip(found, slopes, strict=True):
        np.testing.assert_allclose(one, slope, rtol=1e-7)


@sdfgad.custom_vjp
def doubled(x):
    return 2.0 * x


doubled.defvjp(lambda x: (doubled(x), None), lambda _, c: (3.0 * c,))


def halved(x):
    """The trips depend on data: there is no gradient of it within a program."""
    k = 0
    while np.sum(x * x) > 0.1 and k < 20:
        x = 0.5 * x * x
        k += 1
    return x


def with_modes(x):
    by_rows = sdfgad.jacobian(lambda v: np.outer(doubled(v), v))(x)
    by_columns = sdfgad.jacobian(halved)(x)
    return by_rows, by_columns


def test_the_mode_that_there_is():
    by_rows, by_columns = sdfgad.vmap(with_modes)(X[None])
    rule = 3.0 * np.einsum("ik,j->ijk", np.eye(3), X) + 2.0 * np.einsum("i,jk->ijk", X, np.eye(3))
    np.testing.assert_allclose(by_rows[0], rule, rtol=1e-13)
    np.testing.assert_allclose(by_columns[0], sdfgad.jacobian(halved)(X), rtol=1e-13)


def test_numbers_and_named_outputs():
    def update(x, s):
        x[1:] *= s * x[:-1]

    def program(x, s):
        return sdfgad.jacobian(update, "s", output="x")(x, s) @ sdfgad.jacobian(update, output="x")(x, s)

    found = sdfgad.vmap(program)(X[None], np.array([1.5]))
    expected = np.array([0.0, X[0] * X[1], X[1] * X[2]]) @ sdfgad.jacobian(update, output="x")(X, 1.5)
    np.testing.assert_allclose(found[0], expected, rtol=1e-13)


def by_name(x):
    return np.sum(sdfgad.jacobian(spread)(x=x))


def sparse(x):
    return np.sum(sdfgad.jacobian(spread, sparsity="auto")(x))


def of_list(x):
    return np.sum(sdfgad.jacobian(lambda v: v[0] * v[1])([x, x]))


def of_complex(x):
    return np.sum(np.abs(sdfgad.jacobian(lambda v: v * v)(x + 1j * x)))


REFUSED = {
    by_name: ("the Jacobian of spread is called with the argument `x` by name", "Pass it by position."),
    sparse: ("a Jacobian that is compressed by its sparsity is computed in a program", "Leave `sparsity` out"),
    of_list: ("the argument 0 is a list, not an array", "Pass one array"),
    of_complex: ("the argument 0 is complex", "Pass real and imaginary part"),
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda one: one.__name__)
def test_refused(program):
    what, todo = REFUSED[program]
    with pytest.raises(sdfgad.SdfgadError, match=what) as caught:
        sdfgad.grad(program)(X)
    assert str(caught.value.where) == line_of(program, "return")
    assert todo in caught.value.todo
