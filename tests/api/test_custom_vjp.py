"""Rules of the user's own for the reverse sweep."""

from functools import partial

import numpy as np
import pytest

import sdfgad
from tests.helpers import line_of

X = np.array([0.1, 1.0, -2.0])


@sdfgad.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, c: (np.clip(c, -1.0, 1.0),))


def of_clipped(x):
    return np.sum(clipped(x) ** 3)


def test_a_rule_that_is_not_linear_in_the_cotangent():
    value, gradient = sdfgad.value_and_grad(of_clipped)(X)
    assert value == of_clipped(X)
    np.testing.assert_allclose(gradient, np.clip(3.0 * X**2, -1.0, 1.0), rtol=1e-14)


@sdfgad.custom_vjp
def length(params, y):
    return np.sqrt(np.sum(params["w"] ** 2) + np.sum(y * y))


def length_forward(params, y):
    n = np.sqrt(np.sum(params["w"] ** 2) + np.sum(y * y))
    return n, {"n": n, "w": params["w"], "y": y}


def length_backward(residuals, c):
    n = residuals["n"]
    s = np.where(n == 0.0, 0.0, c / np.where(n == 0.0, 1.0, n))
    for _ in range(2):  # Rules may have loops.
        s = 1.0 * s
    return {"w": s * residuals["w"]}, s * residuals["y"]


length.defvjp(length_forward, length_backward)


def by_rule(params, y):
    for _ in range(3):
        y = y * 1.1 + length(params, y)
    return np.sum(y**2)


def by_sdfgad(params, y):
    for _ in range(3):
        y = y * 1.1 + np.sqrt(np.sum(params["w"] ** 2) + np.sum(y * y))
    return np.sum(y**2)


def test_trees_in_a_loop_to_second_order():
    arguments = {"w": np.array([0.3, 0.4])}, np.array([1.0, 2.0, 3.0])
    gradients = [sdfgad.differentiate(f, wrt=("params", "y"))(*arguments) for f in (by_rule, by_sdfgad)]
    np.testing.assert_allclose(gradients[0][0]["w"], gradients[1][0]["w"], rtol=1e-13)
    np.testing.assert_allclose(gradients[0][1], gradients[1][1], rtol=1e-13)
    directions = {"w": np.array([1.0, -1.0])}, np.array([0.5, 0.0, 2.0])
    found, expected = (sdfgad.hvp(f, arguments, directions) for f in (by_rule, by_sdfgad))
    np.testing.assert_allclose(found[0]["w"], expected[0]["w"], rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


@sdfgad.custom_vjp
def solved(a, b):
    return np.linalg.solve(a, b)


def solved_forward(a, b):
    x = np.linalg.solve(a, b)
    return x, (a, x)


def solved_backward(residuals, c):
    a, x = residuals
    b_bar = np.linalg.solve(a.T, c)
    return -np.outer(b_bar, x), b_bar


solved.defvjp(solved_forward, solved_backward)


def test_library_calls_in_a_rule():
    a, b = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, 2.0])
    found = sdfgad.differentiate(lambda a, b: np.sum(solved(a, b) ** 2))(a, b)
    expected = sdfgad.differentiate(lambda a, b: np.sum(np.linalg.solve(a, b) ** 2))(a, b)
    for name in ("a", "b"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-13)
    mapped = sdfgad.vmap(sdfgad.grad(lambda b, a: np.sum(solved(a, b) ** 2)), (0, None))(np.array([b, 2.0 * b]), a)
    np.testing.assert_allclose(mapped, [found["b"], 2.0 * found["b"]], rtol=1e-13)


@sdfgad.custom_vjp
def picked(x, i):
    return x[i]


def picked_forward(x, i):
    return x[i], (x, i)


def picked_backward(residuals, c):
    x, i = residuals
    return np.where(np.arange(3) == i, c, 0.0) + 0.0 * x[i + 1], None


picked.defvjp(picked_forward, picked_backward)


def of_picked(x, i):
    y = x[i[0]] + np.sum(np.linalg.solve(np.eye(3), x))  # Checks before those of the rule.
    return y * picked(x, i[0]) ** 2


def test_a_failed_check_in_a_rule_names_its_line():
    g = sdfgad.grad(of_picked)
    np.testing.assert_allclose(
        g(X, np.array([1])), sdfgad.grad(lambda x, i: (x[i[0]] + np.sum(x)) * x[i[0]] ** 2)(X, np.array([1]))
    )
    with pytest.raises(sdfgad.InvalidIndex, match="index 3 is out of range") as caught:
        g(X, np.array([2]))
    assert str(caught.value.where) == line_of(picked_backward, "return np.where")

    def after_a_step(x, i):
        return of_picked(x - 0.1 * g(x, i), i)

    with pytest.raises(sdfgad.InvalidIndex, match="index 3 is out of range") as caught:
        sdfgad.grad(after_a_step)(X, np.array([2]))
    assert str(caught.value.where) == line_of(picked_backward, "return np.where")


@sdfgad.custom_vjp
def square(x):
    return x**2


def of_square(x):
    return np.sum(square(x))


BAD_RULES = [
    (None, "has no rule"),
    ((lambda x: x**2, lambda r, c: (c,)), "returns no pair"),
    ((lambda x: (x**2, x), lambda r, c: (c, c)), "does not return a tuple of 1"),
    ((lambda x: (x**2, x), lambda r, c: (np.sum(c),)), r"cotangent of argument 0 has shape \(\), the argument \(3,\)"),
    ((lambda x: (x**2, x), lambda r, c: ({"x": c},)), "another structure"),
]


@pytest.mark.parametrize(("rule", "text"), BAD_RULES)
def test_rules_that_do_not_fit_are_refused(rule, text):
    square.rule = rule
    with pytest.raises(sdfgad.SdfgadError, match=text) as caught:
        sdfgad.grad(of_square)(X)
    assert caught.value.where is not None
    assert caught.value.todo


def test_the_forward_mode_needs_another_rule():
    with pytest.raises(sdfgad.MissingRule, match="custom_vjp `clipped`") as caught:
        sdfgad.jvp(of_clipped, (X,), (X,))
    assert str(caught.value.operations[0][1]) == line_of(of_clipped, "np.sum")


def test_a_memory_limit_holds():
    arguments = {"w": np.ones(2)}, np.linspace(0.0, 1.0, 1000)
    g = sdfgad.differentiate(by_rule, wrt="y")
    least = g.plan(*arguments).peak_bytes
    limited = sdfgad.differentiate(by_rule, wrt="y", memory_limit=least)
    np.testing.assert_array_equal(limited(*arguments), g(*arguments))
    assert limited.measure(*arguments).peak_bytes <= least


def test_adjoints_in_another_precision():
    def program(x):
        for _ in range(5):
            x = clipped(x) * np.float32(0.5) + x * x
        return np.sum(x)

    x = np.array([0.1, 0.6], np.float32)
    wide = sdfgad.differentiate(program, wrt="x", accumulate="float64")(x)
    assert wide.dtype == np.float32
    np.testing.assert_allclose(wide, sdfgad.grad(program)(x), rtol=1e-5)


@sdfgad.custom_vjp
def clamped(x):
    return squashed(x) * x


@sdfgad.custom_vjp
def squashed(x):
    return np.tanh(x)


squashed.defvjp(lambda x: (np.tanh(x), x), lambda x, c: (c * (1.0 - np.tanh(x) ** 2),))
clamped.defvjp(lambda x: (squashed(x) * x, x), lambda x, c: (c * squashed(x) + c * x * (1.0 - squashed(x) ** 2),))
gradient_of_clamped = sdfgad.grad(lambda x: np.sum(clamped(x)))


def test_a_rule_that_calls_a_function_with_a_rule():
    by_sdfgad = sdfgad.grad(lambda x: np.sum(np.tanh(x) * x))
    np.testing.assert_allclose(gradient_of_clamped(X), by_sdfgad(X), rtol=1e-13)
    found = sdfgad.grad(lambda x: np.sum(gradient_of_clamped(x) ** 2))(X)
    expected = sdfgad.hvp(lambda x: np.sum(np.tanh(x) * x), (X,), (2.0 * by_sdfgad(X),))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def of_what_is_returned(x):
    x = 1.0 * x
    y = clipped(x)
    y *= 2.0
    x[0] = 3.0
    return np.sum(x * y)


def test_what_a_call_returns_is_a_new_array():
    value, gradient = sdfgad.value_and_grad(of_what_is_returned)(0.1 * X)
    assert value == pytest.approx(of_what_is_returned(0.1 * X))
    np.testing.assert_allclose(gradient, [1.0, 0.4, -0.8], rtol=1e-13)


def doubled_in_place(x):
    x *= 2.0
    return np.sum(x), x


def stored_in_place(p):
    p["x"] = p["x"] * 2.0
    return np.sum(p["x"]), None


def test_a_forward_rule_that_updates_its_argument_is_refused():
    by_array, by_key = (sdfgad.custom_vjp(lambda x: np.sum(2.0 * x)) for _ in range(2))
    by_array.defvjp(doubled_in_place, lambda x, c: (2.0 * c * np.ones_like(x),))
    by_key.defvjp(stored_in_place, lambda _, c: ({"x": 2.0 * c * np.ones(3)},))

    def of_an_array(x):
        y = 1.0 * x
        return by_array(y) * np.sum(y)

    def of_a_dict(x):
        p = {"x": 1.0 * x}
        return by_key(p) * np.sum(p["x"])

    for program in (of_an_array, of_a_dict):
        with pytest.raises(sdfgad.ArgumentError, match="updates an argument in place") as caught:
            sdfgad.grad(program)(X)
        assert caught.value.where is not None


def test_a_new_rule_is_used():
    tripled = sdfgad.custom_vjp(lambda x: 3.0 * x)
    tripled.defvjp(lambda x: (3.0 * x, None), lambda _, c: (3.0 * c,))
    g = sdfgad.grad(lambda x: np.sum(tripled(x)))
    np.testing.assert_array_equal(g(X), [3.0, 3.0, 3.0])
    tripled.defvjp(lambda x: (3.0 * x, None), lambda _, c: (5.0 * c,))
    np.testing.assert_array_equal(g(X), [5.0, 5.0, 5.0])


def test_any_number_of_arguments():
    total = sdfgad.custom_vjp(lambda *xs: xs[0] + xs[1])
    total.defvjp(lambda a, b: (a + b, None), lambda _, c: (2.0 * c, 3.0 * c))
    np.testing.assert_array_equal(sdfgad.grad(lambda x: np.sum(total(x, x)))(X), [5.0, 5.0, 5.0])


class Scale:
    def __init__(self, w):
        self.w = w

    def forward(self, x):
        return self.w * x, (self.w, x)

    def backward(residuals, c):
        return None, 3.0 * c * residuals[0]

    @sdfgad.custom_vjp
    def scaled(self, x):
        return self.w * x

    scaled.defvjp(forward, backward)

    def loss(self, x):
        return np.sum(self.scaled(x) ** 2)


def test_methods():
    scale = Scale(np.array([2.0, 3.0, 0.5]))
    assert scale.loss(X) == pytest.approx(np.sum((scale.w * X) ** 2))
    np.testing.assert_allclose(sdfgad.differentiate(scale.loss, wrt="x")(X), 6.0 * scale.w**2 * X)


@sdfgad.custom_vjp
def sine(x):
    return np.sin(x)


@sdfgad.custom_vjp
def cosine(x):
    return np.cos(x)


sine.defvjp(lambda x: (sine(x), x), lambda x, c: (c * cosine(x),))
cosine.defvjp(lambda x: (np.cos(x), x), lambda x, c: (-c * sine(x),))


def test_rules_that_call_each_other():
    np.testing.assert_allclose(sdfgad.grad(lambda x: np.sum(sine(x) * cosine(x)))(X), np.cos(2.0 * X), rtol=1e-14)
    slope = sdfgad.grad(lambda x: np.sum(sine(x)))
    np.testing.assert_allclose(sdfgad.grad(lambda x: np.sum(slope(x)))(X), -np.sin(X), rtol=1e-14)


def test_a_jacobian_takes_the_mode_that_there_is():
    def program(x):
        return np.concatenate([sine(x), x**2])

    expected = np.concatenate([np.diag(np.cos(X)), np.diag(2.0 * X)])
    np.testing.assert_allclose(sdfgad.jacobian(program)(X), expected)
    np.testing.assert_allclose(sdfgad.jacobian(program, mode="forward")(X), expected)


@sdfgad.custom_vjp
def held_back(x):
    return x * 1.0


held_back.defvjp(lambda x: (held_back(x), None), lambda _, c: (np.clip(c, -1.0, 1.0),))


def test_a_rule_that_is_not_linear_has_no_forward_mode():
    def program(x):
        return np.concatenate([3.0 * held_back(x), x**2])

    expected = np.concatenate([np.diag(np.ones(X.size)), np.diag(2.0 * X)])
    np.testing.assert_allclose(sdfgad.jacobian(program)(X), expected)
    with pytest.raises(sdfgad.MissingRule, match="custom_vjp `held_back`"):
        sdfgad.jacobian(program, mode="forward")(X)


@sdfgad.custom_vjp
def mixed(p, x, n):
    """Of containers and integers, with rules of matrices."""
    return {"y": p["w"] @ x + p["b"] * n, "norm": np.sum(x * x)}


def mixed_backward(kept, c):
    p, x, n = kept
    # Twice the true cotangents of the weights.
    return {"w": 2.0 * np.outer(c["y"], x), "b": c["y"] * n}, p["w"].T @ c["y"] + 2.0 * c["norm"] * x, None


mixed.defvjp(lambda p, x, n: (mixed(p, x, n), (p, x, n)), mixed_backward)


def of_mixed(w, b, x):
    found = mixed({"w": w, "b": b}, x, 3)
    return np.sin(found["y"]) * found["norm"]


def test_forward_and_reverse_mode_of_a_rule_are_dual():
    rng = np.random.default_rng(2)
    args, t = ([rng.standard_normal(s) for s in ((4, 3), 4, 3)] for _ in range(2))
    value, tangent = sdfgad.jvp(of_mixed, args, t)
    c = rng.standard_normal(value.shape)
    pulled = sdfgad.vjp(of_mixed, *args, argnums=(0, 1, 2))[1](c)
    assert np.sum(tangent * c) == pytest.approx(sum(np.sum(a * b) for a, b in zip(pulled, t, strict=True)), rel=1e-12)
    single = [np.asarray(one, np.float32) for one in args]
    found = sdfgad.jvp(of_mixed, single, [np.asarray(one, np.float32) for one in t])[1]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, tangent, rtol=1e-4)


def test_products_with_the_hessian_of_a_rule():
    def loss(x):
        return np.sum(np.sin(sine(x)) * x)

    def plain(x):
        return np.sum(np.sin(np.sin(x)) * x)

    np.testing.assert_allclose(sdfgad.hessian(loss)(X), sdfgad.hessian(plain)(X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(sdfgad.hvp(loss, (X,), (X,)), sdfgad.hvp(plain, (X,), (X,)), rtol=1e-12)


def made_with(T, np):
    @T.custom_vjp
    def double(v):
        return v * 2.0

    double.defvjp(lambda v: (double(v), v), lambda r, c: (c * 3.0 * r,))

    @T.custom_vjp
    def outer(v):
        return double(v) ** 2

    outer.defvjp(lambda v: (double(v) ** 2, v), lambda r, c: (c * double(r),))

    @T.custom_jvp
    def thrice(v):
        return v * 3.0

    @thrice.defjvp
    def rule(primals, tangents):
        return thrice(primals[0]), tangents[0] * thrice(primals[0]) * primals[0]

    return {
        "its own function": lambda w, x: np.sum(double(w) * w * x),
        "within itself": lambda w, x: np.sum(double(double(w)) * x),
        "another function": lambda w, x: np.sum(outer(w) * w * x),
        "the other kind": lambda w, x: np.sum(thrice(w) * w * x + thrice(thrice(w)) + double(thrice(w))),
    }


def more_made_with(T, np):
    def with_rule(function, forward, backward):
        made = T.custom_vjp(function)
        made.defvjp(lambda *args: forward(made, *args), lambda kept, c: backward(made, kept, c))
        return made

    plain = with_rule(lambda x: np.sin(x) * x, lambda f, x: (np.sin(x) * x, x), lambda f, r, c: (c * f(r),))
    of_c = with_rule(lambda x: np.sin(x) * x, lambda f, x: (np.sin(x) * x, x), lambda f, r, c: (f(c) * r,))
    nested = with_rule(
        lambda x: np.sin(x) * x,
        lambda f, x: (f(x) + 0.0 * x, (x, f(f(x)))),
        lambda f, r, c: (c * r[1] * f(r[0]) + f(c) * r[0],),
    )
    two = with_rule(
        lambda x, y: x * y * y,
        lambda f, x, y: (f(x, y), (x, y, f(y, x))),
        lambda f, r, c: (c * r[2], c * c * f(r[0], r[1])),
    )
    clipped = with_rule(lambda x: x * 1.0, lambda f, x: (x * 1.0, None), lambda f, r, c: (np.clip(c, -1.0, 1.0),))
    return {
        "in the backward rule alone": lambda w, x: np.sum(plain(w) * w * x),
        "of a cotangent": lambda w, x: np.sum(of_c(w) * w * x),
        "of residuals": lambda w, x: np.sum(nested(w) * w * x),
        "of several arguments": lambda w, x: np.sum(two(w * w, x) + two(2.0 * x, w + 1.0)),
        "called twice with equal arguments": lambda w, x: np.sum(clipped(w) * 3.0 * w + clipped(w) * 5.0 * x),
    }


@pytest.mark.parametrize("name", made_with(sdfgad, np) | more_made_with(sdfgad, np))
def test_rules_that_call_functions_with_rules(name):
    # The rules are none of the true derivatives: where a function is differentiated instead, the numbers differ.
    import jax
    import jax.numpy as jnp

    ours, theirs = ((made_with(T, n) | more_made_with(T, n))[name] for T, n in ((sdfgad, np), (jax, jnp)))
    w, x = np.array([0.3, -0.4, 0.7]), np.array([0.5, 0.8, -0.2])
    for _ in range(3):
        np.testing.assert_allclose(sdfgad.grad(ours, allow_unused=True)(w, x), jax.grad(theirs)(w, x), rtol=1e-12)
        ours, theirs = (
            (lambda w, x, f=f, T=T: (T.grad(f)(w, x) * x).sum()) for f, T in ((ours, sdfgad), (theirs, jax))
        )


def by_partial(k, x):
    scaled = partial(lambda k, x: k * x, k)
    f = sdfgad.custom_vjp(lambda x: scaled(x))
    f.defvjp(lambda x: (scaled(x), None), lambda _, c: (c * 2.0,))
    return f(x) + k


def by_a_gradient(k, x):
    slope = sdfgad.grad(lambda x: 0.5 * k * x * x)
    f = sdfgad.custom_jvp(lambda x: slope(x))
    f.defjvp(lambda primals, tangents: (slope(primals[0]), 2.0 * tangents[0]))
    return f(x) + k


def by_a_default(k, x):
    def scaled(x, k=k):
        return k * x

    f = sdfgad.custom_vjp(lambda x: scaled(x))
    f.defvjp(lambda x: (scaled(x), None), lambda _, c: (c * 2.0,))
    return f(x) + k


@pytest.mark.parametrize("program", [by_partial, by_a_gradient, by_a_default])
def test_numbers_that_are_no_arguments_of_a_rule(program):
    with pytest.raises(sdfgad.ArgumentError, match="of the program around it, and its rule is for its arguments alone"):
        sdfgad.grad(program)(1.5, 2.0)
