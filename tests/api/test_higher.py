"""Products with derivatives, Jacobians, Hessians, and gradients of gradients, against JAX and each other."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import rosen_der, rosen_hess, rosen_hess_prod

import sdfgad
from sdfgad.api import products as products_module
from sdfgad.specialise import batches as batches_module
from tests.helpers import line_of

jax.config.update("jax_enable_x64", True)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def spread(steps, u, k):
    for _ in range(steps):
        u = u + k * np.sin(u) * np.roll(u, 1)
    return u


def jax_spread(u, k):
    for _ in range(3):
        u = u + k * jnp.sin(u) * jnp.roll(u, 1)
    return u


def arrays(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def dot(x, y):
    x, y = (one if isinstance(one, tuple) else (one,) for one in (x, y))
    return sum(np.sum((np.conj(a) * b).real) for a, b in zip(x, y, strict=True))


def test_rosenbrock_against_scipy():
    x, v = arrays(0, 6, 6)
    np.testing.assert_allclose(sdfgad.grad(rosenbrock)(x), rosen_der(x), rtol=1e-12)
    np.testing.assert_allclose(sdfgad.hessian(rosenbrock)(x), rosen_hess(x), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(sdfgad.hvp(rosenbrock, (x,), (v,)), rosen_hess_prod(x, v), rtol=1e-12, atol=1e-9)


def test_products_with_the_jacobian_against_jax():
    u, t, c = arrays(1, 5, 5, 5)
    value, tangent = sdfgad.jvp(spread, (3, u, 0.1), (None, t, 2.0))
    expected = jax.jvp(jax_spread, (u, 0.1), (t, 2.0))
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(tangent, expected[1], rtol=1e-12)
    value, pullback = sdfgad.vjp(spread, 3, u, 0.1, argnums=(1, 2))
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    assert dot(tangent, c) == pytest.approx(dot(pullback(c), (t, np.array(2.0))), rel=1e-12)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_a_jacobian_by_rows_and_columns(mode):
    (u,) = arrays(2, 4)
    found = sdfgad.jacobian(spread, 1, mode=mode)(3, u, 0.1)
    np.testing.assert_allclose(found, jax.jacobian(jax_spread)(u, 0.1), rtol=1e-12)


def stretched(x):
    return np.outer(x, x**2)


def test_a_jacobian_of_more_axes():
    (x,) = arrays(3, 3)
    expected = jax.jacobian(lambda x: jnp.outer(x, x**2))(x)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(sdfgad.jacobian(stretched, mode=mode)(x), expected, rtol=1e-12)


def test_a_jacobian_of_nothing():
    nothing = np.ones(0)
    for sparsity in (None, "auto"):
        for mode in ("forward", "reverse"):
            assert sdfgad.jacobian(lambda x: 2.0 * x, mode=mode, sparsity=sparsity)(nothing).shape == (0, 0)
    assert sdfgad.jacobian(lambda x: 2.0 * x)(nothing).shape == (0, 0)


def diffused(u):
    new = u.copy()
    for _ in range(2):
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] ** 2 - 2.0 * u[1:-1] + u[:-2])
        new[0] = u[0] * u[1]
    return new


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_a_sparse_jacobian_takes_as_many_products_as_colours(mode, monkeypatch):
    (u,) = arrays(10, 12)
    pattern = np.abs(np.arange(12)[:, None] - np.arange(12)) <= 1
    products = []
    for name in ("rows", "columns"):
        plain = getattr(products_module.Products, name)

        def counted(self, args, value, vectors, plain=plain):
            products.append(len(vectors))
            return plain(self, args, value, vectors)

        monkeypatch.setattr(products_module.Products, name, counted)
    found = sdfgad.jacobian(diffused, sparsity=pattern, mode=mode)(u)
    assert scipy.sparse.issparse(found)
    assert products == [3 + 1]  # Three colours, and a product that checks the pattern.
    np.testing.assert_allclose(found.toarray(), sdfgad.jacobian(diffused)(u), rtol=1e-12)
    assert found.nnz == np.count_nonzero(pattern)


def test_a_pattern_must_fit():
    with pytest.raises(sdfgad.ArgumentError, match=r"the pattern has shape \(2, 2\), the Jacobian \(4, 4\)"):
        sdfgad.jacobian(diffused, sparsity=np.eye(2))(np.ones(4))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_pattern_that_misses_entries_is_found(mode):
    (u,) = arrays(11, 12)
    with pytest.raises(sdfgad.ArgumentError, match="has entries outside of the pattern"):
        sdfgad.jacobian(diffused, sparsity=np.eye(12), mode=mode)(u)


def rounded(x):
    y = x + sdfgad.stop_gradient(np.round(x) - x)
    fixed = sdfgad.stop_gradient({"a": x * 2.0, "n": 3})
    return np.sum(y**2) + np.sum(fixed["a"] * x) + fixed["n"]


def test_a_straight_through_estimator():
    x = np.array([0.2, 1.7])
    np.testing.assert_allclose(sdfgad.grad(rounded)(x), 2 * np.round(x) + 2 * x)
    assert sdfgad.differentiate(rounded, wrt="x").value(x) == rounded(x)


def cubes(x, p=3):
    return np.sum(x**p)


def test_gradients_of_gradients():
    x = np.array([1.0, 2.0])
    first = sdfgad.differentiate(cubes, wrt="x")
    second = sdfgad.differentiate(first, wrt="x", reduce="sum")
    third = sdfgad.differentiate(second, wrt=0, reduce="sum")
    np.testing.assert_allclose(second(x), 6 * x)
    np.testing.assert_allclose(third(x), [6.0, 6.0])
    np.testing.assert_allclose(second(x, p=4), 12 * x**2)


def products(x, y):
    return np.sum(x * y * y)


def test_a_gradient_by_name_is_a_dict_of_outputs():
    g = sdfgad.differentiate(sdfgad.differentiate(products), output="return['y']", reduce="sum")
    x, y = arrays(4, 3, 3)
    found = g(x, y)
    np.testing.assert_allclose(found["x"], 2 * y)
    np.testing.assert_allclose(found["y"], 2 * x)


def residual(x, c):
    d = np.log(x) - c
    w = np.where(x > 0.5, np.sqrt(x - 0.5), 0.0)
    return np.sum(d * d) + np.sum(w * w * x) + np.sum(d / x)


def jax_residual(x, c):
    d, chosen = jnp.log(x) - c, x > 0.5
    w = jnp.where(chosen, jnp.sqrt(jnp.where(chosen, x - 0.5, 1.0)), 0.0)
    return jnp.sum(d * d) + jnp.sum(w * w * x) + jnp.sum(d / x)


def test_cotangents_that_are_zero_have_derivatives():
    """At the solution of a least-squares problem the residuals are 0, but the curvature is not."""
    x = np.array([0.2, 0.5, 0.7, 1.0, 2.0])
    c, v = np.log(x), np.arange(1.0, 6.0)
    expected = jax.grad(lambda x: jnp.sum(jax.grad(jax_residual)(x, c) * v))(x)
    np.testing.assert_allclose(sdfgad.hvp(residual, (x, c), (v, None)), expected, rtol=1e-12)


def network(params, x):
    hidden = np.tanh(x @ params["w"] + params["b"])
    return np.sum(hidden**3)


def test_trees_of_tangents():
    w, b, x, v, u = arrays(5, (3, 2), 2, (4, 3), (3, 2), 2)
    params, direction = {"w": w, "b": b}, {"w": v, "b": u}
    found = sdfgad.hvp(network, (params, x), (direction, None))
    gradient = jax.grad(lambda p: jnp.sum(jnp.tanh(x @ p["w"] + p["b"]) ** 3))
    expected = jax.jvp(gradient, (params,), (direction,))[1]
    np.testing.assert_allclose(found["w"], expected["w"], rtol=1e-12)
    np.testing.assert_allclose(found["b"], expected["b"], rtol=1e-12)


# --- library calls


def by_cholesky(a):
    return np.sum(np.cos(np.abs(np.linalg.cholesky(a @ np.conj(a.T) + 3 * np.eye(4))) + 0.3))


def by_solve(a):
    return np.sum(np.abs(np.linalg.solve(a + 4 * np.eye(4), np.conj(a[:, 1:]))) ** 3)


def by_wide_solve(a):
    right = np.concatenate([a, 2.0 * a, np.conj(a)], axis=1)
    return np.sum(np.abs(np.linalg.solve(a + 4 * np.eye(4), right)) ** 3)


def by_inverse_and_determinant(a):
    return np.sum(np.abs(np.linalg.inv(a + 4 * np.eye(4))) ** 3) + np.abs(np.linalg.det(a)) + np.linalg.slogdet(a)[1]


def by_qr(a):
    q, r = np.linalg.qr(a)
    return np.sum(np.abs(q) ** 3) + np.sum(np.abs(r) ** 3)


def by_eigenvectors(a):
    w, v = np.linalg.eigh(a + np.conj(a.T))
    return np.sum(w**3) + np.sum(np.abs(v) ** 4)


def by_singular_values(a):
    return np.sum(np.linalg.svd(a, compute_uv=False) ** 3) + np.sum(np.abs(np.linalg.pinv(a)) ** 3)


def by_transforms(a):
    return np.sum(np.abs(np.fft.fft2(a)) ** 3)


LINEAR = by_cholesky, by_solve, by_wide_solve, by_inverse_and_determinant, by_qr, by_eigenvectors, by_singular_values


@pytest.mark.parametrize("program", [*LINEAR, by_transforms])
@pytest.mark.parametrize("dtype", [float, complex])
def test_second_derivatives_of_library_calls(program, dtype):
    real, imaginary = arrays(6, (3, 4, 4), (3, 4, 4))
    a, t, s = real if dtype is float else real + 1j * imaginary
    product = sdfgad.hvp(program, (a,), (t,))
    other = sdfgad.hvp(program, (a,), (s,))
    scale = np.linalg.norm(product) * np.linalg.norm(s)
    assert abs(dot(product, s) - dot(t, other)) < 1e-11 * scale
    gradient, errors = sdfgad.grad(program), []
    for step in (2e-3, 1e-3):
        difference = (gradient(a + step * t) - gradient(a - step * t)) / (2 * step)
        errors.append(np.linalg.norm(difference - product) / np.linalg.norm(product))
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.25)


# --- inner problems


def loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


descent = sdfgad.differentiate(loss, wrt="w")


def after_adaptation(w, xs, ys, rate):
    total = 0.0
    for task in range(xs.shape[0]):
        fast = w
        for _ in range(3):
            fast = fast - rate * descent(fast, xs[task], ys[task])
        total += loss(fast, xs[task], ys[task])
    return total


def test_descent_within_a_program():
    w, xs, ys = arrays(7, 3, (2, 5, 3), (2, 5))

    def inner_loss(w, x, y):
        return jnp.mean((jnp.tanh(x @ w) - y) ** 2)

    def expected(w, rate):
        total = 0.0
        for x, y in zip(xs, ys, strict=True):
            fast = w
            for _ in range(3):
                fast = fast - rate * jax.grad(inner_loss)(fast, x, y)
            total += inner_loss(fast, x, y)
        return total

    found = sdfgad.differentiate(after_adaptation, wrt=("w", "rate"))(w, xs, ys, 0.1)
    for one, other in zip(found, jax.grad(expected, (0, 1))(w, 0.1), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def penalised(w, x, y):
    value, slope = descent.value_and_grad(w, x, y)
    return value + 0.1 * np.sum(slope**2)


def test_a_gradient_penalty():
    w, x, y = arrays(8, 3, (5, 3), 5)

    def expected(w):
        value, slope = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - y) ** 2))(w)
        return value + 0.1 * jnp.sum(slope**2)

    g = sdfgad.differentiate(penalised, wrt="w")
    value, gradient = g.value_and_grad(w, x, y)
    np.testing.assert_allclose(value, expected(w), rtol=1e-13)
    np.testing.assert_allclose(gradient, jax.grad(expected)(w), rtol=1e-12)


def test_a_memory_limit_holds_for_second_derivatives():
    (u,) = arrays(9, 2000)
    first = sdfgad.differentiate(spread, wrt="u", reduce="sum")

    def curved(u):
        return np.sum(first(40, u, 0.01) ** 2)

    free = sdfgad.differentiate(curved, wrt="u")
    need = free.measure(u).peak_bytes
    limited = sdfgad.differentiate(curved, wrt="u", memory_limit=int(need * 0.75))
    assert limited.measure(u).peak_bytes <= need * 0.75
    np.testing.assert_allclose(limited(u), free(u), rtol=1e-12)


# --- refusals


def test_tangents_must_fit():
    x = np.ones(3)
    with pytest.raises(sdfgad.ArgumentError, match="there are 2 tangents for 1 arguments"):
        sdfgad.jvp(rosenbrock, (x,), (x, x))
    with pytest.raises(sdfgad.ArgumentError, match=r"the tangent of argument 0 has shape \(2,\), the argument \(3,\)"):
        sdfgad.hvp(rosenbrock, (x,), (np.ones(2),))
    with pytest.raises(sdfgad.ArgumentError, match="all tangents are None"):
        sdfgad.jvp(rosenbrock, (x,), (None,))
    with pytest.raises(sdfgad.ArgumentError, match="mode='both' is not known"):
        sdfgad.jacobian(rosenbrock, mode="both")


def halved(x):
    while np.sum(x * x) > 1.0:
        x = np.sin(x) / 2
    return np.sum(x**3)


halving = sdfgad.differentiate(halved, wrt="x")


def of_halving(x):
    return np.sum(halving(x))


def test_loops_that_end_by_data_have_second_derivatives():
    assert sdfgad.check_grads(of_halving, np.array([0.9, -0.4, 0.7])).error < 1e-8


def of_two_methods(x):
    return np.sum(halving.measure(x))


def test_other_methods_of_gradients_are_refused():
    with pytest.raises(
        sdfgad.UnsupportedProgram, match="the method `measure` of a gradient is not supported"
    ) as caught:
        sdfgad.differentiate(of_two_methods, wrt="x")(np.ones(3))
    assert str(caught.value.where) == line_of(of_two_methods, "measure")


spreading = sdfgad.differentiate(spread, wrt="u")


def with_a_short_cotangent(u):
    return np.sum(spreading.vjp(2, u, 0.1, cotangent=u[1:]))


def test_a_cotangent_must_fit():
    with pytest.raises(sdfgad.ShapeMismatch, match=r"the cotangent has shape \(2,\), the output \(3,\)") as caught:
        sdfgad.differentiate(with_a_short_cotangent, wrt="u")(np.ones(3))
    assert str(caught.value.where) == line_of(with_a_short_cotangent, "spreading.vjp")


def scaled_cubes(x, factor):
    return factor * np.sum(x**3)


of_both = sdfgad.differentiate(scaled_cubes)


def by_a_constant(x):
    found = of_both(x, 2.5)
    return np.sum(found["x"]) * found["factor"]


def test_constants_that_are_passed_have_gradients():
    (x,) = arrays(12, 4)

    def expected(x):
        return jnp.sum(2.5 * 3 * x**2) * jnp.sum(x**3)

    g = sdfgad.differentiate(by_a_constant, wrt="x")
    np.testing.assert_allclose(g.value(x), expected(x), rtol=1e-12)
    np.testing.assert_allclose(g(x), jax.grad(expected)(x), rtol=1e-12)


def logarithms(x, c):
    total = 0.0
    for k in range(3):
        x = np.where(x > 0.0, np.log(1.0 + x) + 0.1 * x**2, x)
        d = x - c[k]
        total += np.sum(d * d / (1.0 + x))
    return total


def jax_logarithms(x, c):
    total = 0.0
    for k in range(3):
        x = jnp.where(x > 0.0, jnp.log(1.0 + x) + 0.1 * x**2, x)
        d = x - c[k]
        total += jnp.sum(d * d / (1.0 + x))
    return total


def test_three_orders_where_residuals_are_zero():
    x, c = np.array([0.3, 0.9, 1.7]), []
    y = x
    for _ in range(3):
        y = np.log(1.0 + y) + 0.1 * y**2
        c.append(y)
    c = np.array(c)
    g = sdfgad.differentiate(logarithms, wrt="x")
    h = sdfgad.differentiate(g, wrt="x", reduce="sum")
    first = jax.grad(jax_logarithms)
    second = jax.grad(lambda x: jnp.sum(first(x, c)))
    np.testing.assert_allclose(g(x, c), 0.0, atol=1e-12)
    np.testing.assert_allclose(h(x, c), second(x), rtol=1e-10)
    third = sdfgad.differentiate(h, wrt="x", reduce="sum")
    np.testing.assert_allclose(third(x, c), jax.grad(lambda x: jnp.sum(second(x)))(x), rtol=1e-10)


def sine(x):
    return x * np.sin(x)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("x", [0.3, np.array(0.3)])
def test_derivatives_by_a_number(x, mode):
    found = sdfgad.jacobian(sine, mode=mode)(x)
    assert np.shape(found) == ()
    np.testing.assert_allclose(found, np.sin(0.3) + 0.3 * np.cos(0.3), rtol=1e-14)
    np.testing.assert_allclose(sdfgad.hessian(sine)(x), 2 * np.cos(0.3) - 0.3 * np.sin(0.3), rtol=1e-14)


def first_of_doubled(x):
    return 2.0 * x[: min(len(x), 1)]


@pytest.mark.parametrize("mode", ["forward", "reverse", None])
def test_jacobians_without_entries(mode):
    assert sdfgad.jacobian(first_of_doubled, mode=mode)(np.zeros(0)).shape == (0, 0)
    assert sdfgad.jacobian(sums_of_squares, mode=mode)(np.zeros(0)).shape == (2, 0)


def sums_of_squares(x):
    return np.sum(x**2) * np.ones(2)


def sum_of_squares(x):
    return np.sum(x**2)


def test_a_hessian_without_entries():
    assert sdfgad.hessian(sum_of_squares)(np.zeros(0)).shape == (0, 0)


def waves(x):
    return np.exp(1j * x) * x[::-1]


@pytest.mark.parametrize("mode", ["forward", "reverse", None])
@pytest.mark.parametrize("sparsity", [None, np.ones((2, 2))])
def test_a_jacobian_of_complex_outputs(mode, sparsity):
    x = np.array([0.3, 2.0])
    found = sdfgad.jacobian(waves, mode=mode, sparsity=sparsity)(x)
    found = found if sparsity is None else found.toarray()
    expected = np.diag(1j * waves(x)) + np.diag(np.exp(1j * x))[:, ::-1]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


def test_a_complex_argument_has_no_jacobian():
    for made in (sdfgad.jacobian(waves), sdfgad.jacobian(waves, sparsity=np.ones((2, 2))), sdfgad.hessian(sine)):
        with pytest.raises(sdfgad.ArgumentError, match="the argument 0 is complex"):
            made(np.array([1j, 2.0]))


def doubled_part(d):
    return d["a"] * 2.0


def product_of_two(d):
    return d[0] * d[1]


def test_a_container_has_no_jacobian():
    for made in (sdfgad.jacobian(doubled_part), sdfgad.jacobian(doubled_part, mode="forward")):
        with pytest.raises(sdfgad.ArgumentError, match="the argument 0 is a dict, not an array"):
            made({"a": np.ones(2)})
    with pytest.raises(sdfgad.ArgumentError, match="the argument 0 is a list, not an array"):
        sdfgad.hessian(product_of_two)([1.0, 2.0])


def test_a_real_argument_has_no_complex_tangent():
    with pytest.raises(sdfgad.ArgumentError, match="the tangent of `x` is complex, its dtype is float64"):
        sdfgad.jvp(sine, (np.ones(2),), (1j * np.ones(2),))


@pytest.mark.parametrize("size", [1, 3])
def test_a_jacobian_in_parts_with_a_remainder(size, monkeypatch):
    monkeypatch.setattr(batches_module, "CACHED_BYTES", 0)
    monkeypatch.setattr(batches_module, "FEW", size)
    (u,) = arrays(13, 7)
    expected = jax.jacobian(jax_spread)(u, 0.1)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(sdfgad.jacobian(spread, 1, mode=mode)(3, u, 0.1), expected, rtol=1e-11, atol=1e-14)


def coupled(a, b, k):
    return np.sum(a * np.sin(k * b[:, None]))


def test_matrices_of_derivatives_by_several_arguments():
    rng = np.random.default_rng(5)
    a, b = rng.random((3, 2)), rng.random(3)
    found = sdfgad.hessian(coupled, ("b", 0))(a, b, 2.0)
    expected = jax.hessian(lambda a, b: jnp.sum(a * jnp.sin(2.0 * b[:, None])), (1, 0))(a, b)
    for row, other in zip(found, expected, strict=True):
        for block, wanted in zip(row, other, strict=True):
            np.testing.assert_allclose(block, wanted, rtol=1e-12, atol=1e-14)
    by_b, by_a = sdfgad.jacobian(lambda a, b: a.T @ b, ("b", "a"), mode="auto")(a, b)
    np.testing.assert_allclose(by_b, a.T)
    np.testing.assert_allclose(by_a, jax.jacobian(lambda a: a.T @ b)(a))
    with pytest.raises(sdfgad.WrtError, match="no argument 'q'"):
        sdfgad.hessian(coupled, ("q",))


def several(*a):
    return np.sum(a[0] * np.sin(a[1]) ** 2) * a[2]


def named(x, y, z):
    return np.sum(x * np.sin(y) ** 2) * z


U, V = np.array([0.5, 0.8]), np.array([0.3, -0.4])
STACKED = np.stack((U, V))
OF_ANY = {
    "grad": lambda f: sdfgad.grad(f)(U, V, 2.0),
    "grad by one": lambda f: sdfgad.grad(f, 1)(U, V, 2.0),
    "grad by several": lambda f: sdfgad.grad(f, (2, 0))(U, V, 2.0),
    "jvp": lambda f: sdfgad.jvp(f, (U, V, 2.0), (V, None, 1.0)),
    "vjp": lambda f: sdfgad.vjp(f, U, V, 2.0, argnums=(1, 2))[1](1.5),
    "linearize": lambda f: sdfgad.linearize(f, U, V, 2.0)[1](V, U, 0.5),
    "hvp": lambda f: sdfgad.hvp(f, (U, V, 2.0), (V, U, None)),
    "hessian": lambda f: sdfgad.hessian(f, (0, 1))(U, V, 2.0),
    "jacobian": lambda f: sdfgad.jacobian(f, 1)(U, V, 2.0),
    "vmap": lambda f: sdfgad.vmap(f, (0, None, None))(STACKED, V, 2.0),
    "partial": lambda f: sdfgad.grad(partial(f, U), 0)(V, 2.0),
    "in a program": lambda f: sdfgad.grad(lambda x: np.sum(sdfgad.grad(f, 1)(x, V, 2.0)))(U),
}


@pytest.mark.parametrize("name", OF_ANY)
def test_positions_among_any_number_of_arguments(name):
    found, expected = (jax.tree.leaves(OF_ANY[name](f)) for f in (several, named))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
