"""`sdfgad.jax` against JAX's own derivatives and its checks."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import sdfgad.jax
from sdfgad.errors import ArgumentError, InfeasibleBudget, SingularMatrix, UnsupportedProgram
from tests.bridges.programs import energy, heat, waves

jax.config.update("jax_enable_x64", True)

X, K = jnp.linspace(0.1, 1.0, 5), jnp.linspace(1.0, 2.0, 5)
BOTH = ("fwd", "rev")


def energy_of_jax(x, k):
    return 0.5 * jnp.sum(k * x * x) + jnp.sum(jnp.sin(x))


def waves_of_jax(z, p):
    return {"w": jnp.exp(1j * z) * p["s"], "n": jnp.abs(z) ** 2}


def gathered(x, places):
    return np.sum(x[places] ** 2)


of_energy, of_heat = sdfgad.jax.function(energy), sdfgad.jax.function(heat)
of_waves, of_gathered = sdfgad.jax.function(waves), sdfgad.jax.function(gathered)


def test_values_and_gradients_with_and_without_jit():
    expected = jax.value_and_grad(energy_of_jax, argnums=(0, 1))(X, K)
    for transformed in (jax.value_and_grad(of_energy, (0, 1)), jax.jit(jax.value_and_grad(of_energy, (0, 1)))):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13), transformed(X, K), expected)


def test_derivatives_of_all_orders_and_modes_pass_jaxs_checks():
    check_grads(of_energy, (X, K), order=3, modes=BOTH)
    check_grads(jax.jit(of_energy), (X, K), order=2, modes=BOTH)


def test_a_loop_with_updates_returns_several_arrays():
    u, a = jnp.linspace(0.0, 1.0, 7) ** 2, jnp.full(5, 0.1)
    check_grads(lambda u, a: of_heat(3, u, a)[:2], (u, a), order=2, modes=BOTH)
    assert of_heat(3, u, a)[2] == 3
    steps = jax.jit(of_heat, static_argnums=0)
    np.testing.assert_array_equal(steps(2, u, a)[0], of_heat(2, u, a)[0])


def test_the_hessian_by_each_pair_of_modes():
    expected = jax.hessian(energy_of_jax)(X, K)
    for outer in (jax.jacfwd, jax.jacrev):
        for inner in (jax.jacfwd, jax.jacrev):
            np.testing.assert_allclose(outer(inner(of_energy))(X, K), expected, atol=1e-12)


def test_vmap_has_derivatives_on_both_sides():
    rows = jnp.stack([X, 2.0 * X, -X])
    each = jax.jit(jax.vmap(jax.grad(of_energy), in_axes=(0, None)))
    np.testing.assert_allclose(each(rows, K), K * rows + jnp.cos(rows), rtol=1e-13)

    def total(function):
        return lambda rows, k: jnp.sum(jax.vmap(function, in_axes=(1, None))(rows.T, k) ** 2)

    found = jax.grad(total(of_energy), (0, 1))(rows, K)
    expected = jax.grad(total(energy_of_jax), (0, 1))(rows, K)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), found, expected)


def test_complex_numbers_in_jaxs_convention():
    z, p = jnp.array([0.3 + 0.2j, 1.0 - 0.4j]), {"s": jnp.array(1.3)}

    def loss(function):
        def of(z, p):
            found = function(z, p)
            return jnp.sum(jnp.abs(found["w"] * (1 + 2j) - 0.3j) ** 2) + jnp.sum(found["n"] ** 3)

        return of

    found, expected = [jax.grad(loss(one), (0, 1))(z, p) for one in (of_waves, waves_of_jax)]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), found, expected)
    arrays = lambda z, p: {k: v for k, v in of_waves(z, p).items() if k != "name"}  # noqa: E731
    check_grads(arrays, (z, p), order=2, modes=BOTH)
    assert of_waves(z, p)["name"] == "waves"


def test_integer_arrays_are_no_variables():
    places = jnp.array([0, 2, 2])
    found = jax.jit(jax.grad(of_gathered))(X, places)
    np.testing.assert_allclose(found, jax.grad(lambda x: jnp.sum(x[places] ** 2))(X), rtol=1e-14)


def test_a_dataclass_that_jax_knows():
    @jax.tree_util.register_dataclass
    @dataclass
    class Layer:
        w: object
        b: object

    def norm(layer):
        return np.sum(layer.w**2) + np.sum(layer.b * 3.0)

    found = jax.jit(jax.grad(sdfgad.jax.function(norm)))(Layer(jnp.ones((2, 2)), jnp.ones(2)))
    np.testing.assert_array_equal(found.w, 2.0 * np.ones((2, 2)))
    np.testing.assert_array_equal(found.b, [3.0, 3.0])


def test_single_precision_stays():
    x, k = X.astype(jnp.float32), K.astype(jnp.float32)
    value, gradient = jax.value_and_grad(of_energy)(x, k)
    assert value.dtype == gradient.dtype == jnp.float32


def test_it_works_within_loops_and_checkpoints_of_jax():
    def descend(function):
        def loss(x):
            step = jax.checkpoint(lambda x: x - 0.1 * jax.grad(function)(x, K))
            return jnp.sum(jax.lax.scan(lambda x, _: (step(x), None), x, None, length=4)[0] ** 2)

        return loss

    found, expected = [jax.jit(jax.grad(descend(one)))(X) for one in (of_energy, energy_of_jax)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_large_arrays_do_not_wait_for_each_other():
    """With callbacks of Python's and few threads, copies may wait for the thread that waits for them."""
    x = jnp.ones(2_000_000)
    double = sdfgad.jax.function(lambda x: 2.0 * x)
    step = jax.jit(lambda x: double(x * 0.5) + double(x) * 0.0)
    for _ in range(5):
        x = step(x)
    assert float(x.sum()) == x.size


def test_arguments_are_not_written_and_results_are_new():
    def zeroed(x):
        x[:] = 0.0
        return x

    x = jnp.ones(4)
    assert not np.any(jax.jit(sdfgad.jax.function(zeroed))(x))
    assert np.all(x == 1.0)


def test_what_fails_at_run_time_is_named():
    def solved(a, b):
        return np.linalg.solve(a, b)

    of_solved = sdfgad.jax.function(solved)
    with pytest.raises(SingularMatrix):
        of_solved(jnp.zeros((2, 2)), jnp.ones(2))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"SingularMatrix: .*\n.*test_jax\.py"):
        jax.block_until_ready(jax.jit(of_solved)(jnp.zeros((2, 2)), jnp.ones(2)))


def test_empty_arrays():
    found = jax.jit(jax.grad(of_energy))(jnp.ones(0), jnp.ones(0))
    assert found.shape == (0,)


def test_refusals_reach_the_caller_also_under_jit():
    def reads_a_file(x):
        return np.sum(x) + len(open("data").read())

    with pytest.raises(UnsupportedProgram, match=r"test_jax\.py:\d+: return np\.sum\(x\)"):
        jax.jit(sdfgad.jax.function(reads_a_file))(X)
    with pytest.raises(ArgumentError, match="the call does not fit `energy`"):
        of_energy(X, j=K)
    with pytest.raises(InfeasibleBudget):
        jax.grad(sdfgad.jax.function(energy, memory_limit="1 KiB"))(jnp.ones(500), jnp.ones(500))


def repeated(x, n):
    return np.ones(n) * x[0]


def picked(x, places):
    return x[np.unique(places)]


def test_integers_that_are_not_traced_may_decide_shapes():
    x, n = jnp.arange(1.0, 6.0), jnp.asarray(3)
    of_repeated = sdfgad.jax.function(repeated)
    np.testing.assert_allclose(jax.jit(lambda x: of_repeated(x, n))(x), np.ones(3))
    np.testing.assert_allclose(jax.grad(lambda x, n: of_repeated(x, n).sum())(x, n), [3.0, 0.0, 0.0, 0.0, 0.0])


def test_integers_that_are_traced_may_not():
    x = jnp.arange(1.0, 6.0)
    with pytest.raises(ArgumentError, match="decide the shape of what `repeated` returns"):
        jax.jit(sdfgad.jax.function(repeated))(x, 3)
    with pytest.raises(Exception, match="decide the shape of what `picked` returns"):
        jax.block_until_ready(jax.jit(sdfgad.jax.function(picked))(x, jnp.asarray([1, 3, 1])))
