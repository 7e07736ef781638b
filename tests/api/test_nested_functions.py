"""Functions that a program defines, given to `grad`, `jvp` and `vmap` within it: they read its values as they are."""

import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from

HEADS = {
    "numpy": "import numpy as np\nimport sdfgad as T\nfrom functools import partial\n\nw, x, s = 3.0, 5.0, 7.0\n",
    "jax": "import jax.numpy as np\nimport jax as T\nfrom functools import partial\n\nw, x, s = 3.0, 5.0, 7.0\n",
}
PROGRAMS = {
    "lambda": "return np.sum(T.grad(lambda v: np.sum(np.tanh(v * x) * s))(w) ** 2)",
    "later value": (
        "b = x * 2.0\nslope = T.grad(lambda v: np.sum(np.sin(v) * b))\nfirst = slope(w)\nb = x + 1.0\n"
        "return np.sum(first * slope(w))"
    ),
    "containers": (
        "p = {'a': x, 'rest': [w, (s, 2.0 * x)]}\n"
        "def loss(v):\n    a, q = p['a'], p['rest'][1]\n"
        "    return np.sum(v * a + q[1] * v ** 2) * q[0] + np.sum(p['rest'][0])\n"
        "value, slope = T.value_and_grad(loss)(w)\nreturn value * np.sum(slope * x)"
    ),
    "inner steps": (
        "def loss(v, data):\n    return np.sum((np.tanh(v * data) - s) ** 2)\n"
        "for _ in range(3):\n    w = w - 0.1 * T.grad(lambda v: loss(v, x))(w)\n"
        "return loss(w, x + 1.0)"
    ),
    "counters": (
        "for k in range(4):\n    w = w - 0.1 * T.grad(lambda v: np.sum((v - x[k]) ** 3 * w) * (k + 1.0))(w)\n"
        "return np.sum(w)"
    ),
    "vmap": "y = T.vmap(lambda v: np.tanh(v * w) * np.sum(x))(np.stack((x, 2.0 * x)))\nreturn np.sum(y ** 2) * s",
    "jvp": "y, t = T.jvp(lambda v, u: np.exp(v * w) * u * s, (x, w), (w, x))\nreturn np.sum(y * t)",
    "second order": (
        "def energy(v):\n    return np.sum(np.cos(v * w) * x) * s\n"
        "return np.sum(T.jvp(T.grad(energy), (x,), (w,))[1] * x)"
    ),
    "three deep": (
        "def middle(v):\n    return np.sum(T.grad(lambda u: np.sum(u ** 3 * v * w) * s)(x) * v)\n"
        "return np.sum(T.grad(middle)(w) * x)"
    ),
    "functions of functions": (
        "def inner(v):\n    return np.sin(v) * x\n"
        "def loss(v):\n    def more(u):\n        return inner(u) * w\n    return np.sum(more(v) + inner(v))\n"
        "return np.sum(T.grad(loss)(w) * w)"
    ),
    "recursion": (
        "def power(v, n):\n    return v * s if n == 0 else power(v, n - 1) * x\n"
        "return np.sum(T.grad(lambda v: np.sum(power(v * v, 3)))(w))"
    ),
    "a gradient within": (
        "slope = T.grad(lambda v: np.sum(np.sin(v) * x))\n"
        "return np.sum(T.vmap(lambda a: a * np.sum(slope(w * a)))(x)) * s"
    ),
    "a default": "return np.sum(T.grad(lambda v, a=x * s: np.sum(v ** 2 * a))(w) * w)",
    "auxiliary data": (
        "def loss(v):\n    y = np.sin(v * x)\n    return np.sum(y) * s, y\n"
        "slope, y = T.grad(loss, has_aux=True)(w)\nreturn np.sum(slope * y)"
    ),
    "partial": (
        "def loss(a, b, v):\n    return np.sum(np.cos(a * v) * b) * s\n"
        "return np.sum(T.grad(partial(loss, x, w + 1.0))(w) ** 2)"
    ),
    "held by partial": "f = partial(np.multiply, x)\nreturn np.sum(T.grad(lambda v: np.sum(f(v) * f(w * v)))(w))",
    "handed on": (
        "def newton(f, y):\n    for _ in range(3):\n        y = y - f(y) / T.grad(f)(y)\n    return y\n"
        "return newton(lambda y: y ** 3 - s * np.sum(x), 1.5) * np.sum(w)"
    ),
    "an object": (
        "class Model:\n    def __init__(self, a):\n        self.a = a\n"
        "    def __call__(self, v):\n        return np.tanh(self.a * v)\n"
        "model = Model(x * s)\nreturn np.sum(T.grad(lambda v: np.sum(model(v) ** 2))(w) * w)"
    ),
    "own names": (
        "u = [x, w]\nv = 3.0\n"
        "def loss(v):\n    u = v * x\n    total = sum(np.sum(t) for t in [u, w * u])\n    return total * s\n"
        "return np.sum(T.grad(loss)(w) * u[1]) * v"
    ),
    "comprehension": "return sum(np.sum(T.grad(lambda v: np.sum(v ** k) * a)(w)) for k, a in ((2, s), (3, x[0])))",
    "both ways": "slope = T.grad(lambda v: np.sum(v * v * x) * s)\nreturn np.sum(slope(w) * slope(slope(x)))",
    "linearize": (
        "y, push = T.linearize(lambda v, u: np.sin(v) * x * np.sum(u), w, x)\nw = w * 2.0\n"
        "return np.sum(y * push(x, w)) + np.sum(T.vmap(push, in_axes=(0, None))(np.eye(4) * s, x))"
    ),
    "trees of axes": (
        "p = {'a': np.stack((x, w)), 'b': (x, w)}\n"
        "y = T.vmap(lambda p, v: {'c': p['a'] * p['b'][0], 'd': v * p['b'][1] * s}, ({'a': 0, 'b': (None, 0)}, None), "
        "{'c': 1, 'd': 0})(\n    {'a': p['a'], 'b': (x, w[:2])}, w)\nreturn np.sum(y['c'].T * y['d'])"
    ),
    "names of others": (
        "def f(z):\n    return np.sin(z * x)\n"
        "def loss(v):\n    x = v * 1.0\n    for _ in range(3):\n        x = f(x)\n    return np.sum(x)\n"
        "return np.sum(T.grad(loss)(w)) * s"
    ),
    "names that inner scopes bind": (
        "def loss(v):\n"
        "    def inner(z):\n        x = z * 2.0\n        return x * s\n"
        "    w = sum([w * 2.0 for w in v])\n    return np.sum(inner(v) * x) * w\n"
        "return np.sum(T.grad(loss)(w)) + np.sum(T.vmap(lambda v: sum([x * v for x in (v, s)]) * x[0])(w))"
    ),
    "parameters of others": (
        "def g(z):\n    return z * y\ny = x * s\n"
        "def f(z, y):\n    for k in range(3):\n        y = y * z + g(z)\n    return y\n"
        "return np.sum(T.grad(lambda v: np.sum(f(v, w)))(w))"
    ),
    "descent on a dict": (
        "q = {'w': w}\n"
        "def loss(p, b):\n    return np.sum((p['w'] - b) ** 2 * x)\n"
        "for _ in range(2):\n    g = T.grad(loss)(q, w)\n    q = {k: q[k] - 0.1 * g[k] for k in q}\n"
        "return np.sum(q['w'] ** 2) * s"
    ),
    "functions as arguments": (
        "def f(v, g):\n    return np.sum(g(v) ** 2)\n"
        "def held(g, v):\n    return np.sum(g['q'](v) ** 3)\n"
        "a = T.grad(f)(w, lambda v: v * x)\nb = T.grad(lambda v, h=lambda v: v * x: np.sum(h(v) ** 2))(w)\n"
        "c = T.grad(partial(held, {'q': lambda v: v * x * s}))(w)\nreturn np.sum(a * b * c)"
    ),
    "a gradient as an argument": (
        "def f(v, g):\n    return np.sum(g(v) ** 2)\n"
        "return np.sum(T.grad(f)(w, T.grad(lambda v: np.sum(v ** 3 * x)))) * s"
    ),
    "functions of functions of themselves": (
        "f = lambda v: np.sum(v ** 3 * x)\nfor _ in range(2):\n    g = f\n"
        "    f = lambda v, g=g: np.sum(T.grad(g)(v) * w)\nreturn f(x) * s"
    ),
    "methods": (
        "class Model:\n    def __init__(self, a):\n        self.a = a\n"
        "    def loss(self, v):\n        return np.sum(np.tanh(self.a * v))\n"
        "    def fit(self, v):\n        return np.sum(T.grad(self.loss)(v) ** 2)\n"
        "    @staticmethod\n    def square(v):\n        return np.sum(v * v)\n"
        "    def __call__(self, v):\n        return np.sum(np.sin(self.a * v))\n"
        "m = Model(x * s)\n"
        "first = np.sum(T.grad(m.loss)(w) ** 2) + m.fit(w) + np.sum(T.grad(Model.square)(w * x))\n"
        "return first + T.jvp(m, (w,), (x,))[1] + np.sum(T.vmap(m.loss)(np.stack((w, x))))"
    ),
    "functions of NumPy's": (
        "return np.sum(T.grad(np.sum)(w) * x) + np.sum(T.vmap(np.sin)(w) * x) * s + np.sum(T.grad(np.linalg.norm)(w))"
    ),
    "any number of arguments": (
        "a, b = T.grad(lambda *a: np.sum(a[0] ** 2 * a[1] ** 3), (0, 1))(w, x)\n"
        "c = T.grad(lambda *a: np.sum(a[0] ** 2 * a[1] ** 3))(w, x)\nreturn np.sum(a * b * c) * s"
    ),
    "sizes": "return sum(np.sum(T.grad(lambda v: np.sum(v ** 2 * a))(a)) for a in (x, w[1:], x[:2] * s))",
}
# What JAX has no words for.
OURS = {
    "a method of an array": "dot = x.dot\nreturn np.sum(T.grad(lambda v: dot(v) ** 2 * s)(w)) + dot(w)",
    "an update in place": (
        "y = x * s\n"
        "def loss(v):\n    u = v * v\n    u[1:] += y[:-1] * v[1:]\n    return np.sum(u * w)\n"
        "for k in range(3):\n    y[k] = np.sum(T.grad(loss)(w) * w)\n"
        "return np.sum(y)"
    ),
    "a branch": (
        "if np.sum(x) > 0.0:\n    c = x * 2.0\nelse:\n    c = x * 3.0\n"
        "d = T.grad(lambda v: np.sum(v ** 3 * c))(w)\nreturn np.sum(d) * s"
    ),
    "a loop that ends by data": (
        "k = 0\nwhile np.sum(w * w) > 0.4 and k < 50:\n"
        "    w = w - 0.2 * T.grad(lambda v: np.sum(v ** 2 * (1.0 + x * x)) * s)(w)\n    k += 1\nreturn np.sum(w * x)"
    ),
    "slices that grow": (
        "total = 0.0\nfor k in range(1, 4):\n    a = x[:k]\n"
        "    total += np.sum(T.grad(lambda v: np.sum(v[:k] ** 2 * a))(w))\nreturn total * s"
    ),
    "integers that change": (
        "i, t = 0, 0.0\nwhile i < 3 and t < 10.0:\n"
        "    t += np.sum(T.grad(lambda v: np.sum(v ** 2 * x) * (i + 1.0) + v[i])(w)) * s\n    i += 1\nreturn t"
    ),
    "integers that are not read": (
        "st = {'v': w, 'm': np.zeros(4), 'k': 0}\nfor i in range(3):\n"
        "    g = T.grad(lambda v: np.sum(v ** 2 * x) + np.sum(st['m'] * v))(st['v'])\n"
        "    st['m'] = 0.9 * st['m'] + g\n    st['v'] = st['v'] - 0.1 * st['m']\n    st['k'] += 1\n"
        "return np.sum(st['v']) * st['k'] * s"
    ),
    "integers that were counted": (
        "n = 0\nfor i in range(3):\n    n += 1\n"
        "def f(v):\n    t = 0.0\n    for j in range(n):\n        t += np.sum(v ** 2 * x) * (j + 1)\n    return t * s\n"
        "return np.sum(T.grad(f)(w)) + np.sum(T.grad(lambda v: np.sum(v[: n - 1] ** 2 * x[: n - 1]))(w))"
    ),
    "hvp": "return np.sum(T.hvp(lambda v: np.sum(np.sin(v * x)) * s, (w,), (x,)) * w)",
    "a pullback": (
        "z = x * 1.0\n"
        "y, pull = T.vjp(lambda v, u: {'a': np.sin(v) * x, 'b': (np.sum(u * v),)}, z, w, argnums=(0, 1))\nz[0] = 5.0\n"
        "a, b = pull({'a': x, 'b': (s,)})\nc, d = pull({'a': None, 'b': (y['b'][0],)})\n"
        "return np.sum(a * b) + np.sum(c * d) * z[1]"
    ),
    "a mapped pullback": (
        "y, pull = T.vjp(lambda v: np.sin(v) * w + np.sum(v ** 2), x, argnums=0)\n"
        "return np.linalg.det(T.vmap(pull)(np.eye(4))) * s"
    ),
    "a pullback by name": (
        "def update(v, a):\n    v[1:] *= a\n    return np.sum(v)\n"
        "y, pull = T.vjp(update, x, s, output='v')\nd = pull(w)\nreturn np.sum(d['v'] * y) * d['a']"
    ),
    "checkpoint": "@T.checkpoint\ndef layer(v):\n    return np.sin(v) * x\nreturn np.sum(layer(layer(w))) * s",
    "vjp": "g = T.differentiate(lambda v: np.exp(v * x) * s)\nreturn np.sum(g.vjp(w, cotangent=x)['v'] * w)",
}
ARGUMENTS = np.array([0.3, -0.4, 0.7, 0.5]), np.array([0.5, 0.8, -0.2, 1.1]), 0.9


def program_of(body, path, head="numpy"):
    lines = "\n".join("    " + line for line in body.split("\n"))
    return module_from(f"{HEADS[head]}\ndef program(w, x, s):\n{lines}\n", path).program


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_jax(name, tmp_path):
    import jax

    program = program_of(PROGRAMS[name], tmp_path)
    reference = program_of(PROGRAMS[name], tmp_path, "jax")
    value, gradients = sdfgad.value_and_grad(program, (0, 1, 2), allow_unused=True)(*ARGUMENTS)
    expected, slopes = jax.value_and_grad(reference, (0, 1, 2))(*ARGUMENTS)
    np.testing.assert_allclose(value, expected, rtol=1e-11)
    for one, slope in zip(gradients, slopes, strict=True):
        np.testing.assert_allclose(one, slope, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", OURS)
def test_by_differences(name, tmp_path):
    program = program_of(OURS[name], tmp_path)
    assert sdfgad.check_grads(program, *ARGUMENTS).error < 1e-7


def test_many_trips(tmp_path):
    """More than are unrolled. By differences it would be specialised thousands of times, so another program is."""
    head, end = "for k in range(500):\n", "return np.sum(w) * s"
    nested = "    w = w - 0.01 * T.grad(lambda v: np.sum(v ** 2) * x[k % 4] + v[k // 125])(w)\n"
    plain = "    d = 2.0 * w * x[k % 4]\n    d[k // 125] += 1.0\n    w = w - 0.01 * d\n"
    one, other = (program_of(head + step + end, tmp_path) for step in (nested, plain))
    assert sdfgad.check_grads(other, *ARGUMENTS).error < 1e-7
    value, gradients = sdfgad.differentiate(one).value_and_grad(*ARGUMENTS)
    expected, slopes = sdfgad.differentiate(other).value_and_grad(*ARGUMENTS)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(value, one(*ARGUMENTS), rtol=1e-12)
    assert list(gradients) == list(slopes) == ["w", "x", "s"]
    for name, slope in slopes.items():
        np.testing.assert_allclose(gradients[name], slope, rtol=1e-10, atol=1e-12)


REFUSED = {
    "a name that it binds": (
        "c = 0.0\ndef loss(v):\n    nonlocal c\n    c = np.sum(v)\n    return c\nreturn np.sum(T.grad(loss)(w)) * c",
        "def loss",
        "`c` of the program around it is bound by a function",
        "Return the value",
    ),
    "a list that it changes": (
        "found = []\ndef loss(v):\n    found.append(v)\n    return np.sum(v * x)\nreturn np.sum(T.grad(loss)(w))",
        "found.append",
        "a list from outside the function is changed",
        "",
    ),
    "an array that it updates": (
        "y = x * 2.0\ndef loss(v):\n    y[0] = v[0]\n    return np.sum(v * y)\nreturn np.sum(T.grad(loss)(w) * y)",
        "y[0] =",
        "an array from outside the function",
        "",
    ),
    "an iterator": (
        "rows = zip(x, w)\ndef loss(v):\n    return sum(a * b * v[0] for a, b in rows)\nreturn np.sum(T.grad(loss)(w))",
        "return np.sum(T.grad",
        "`rows` holds an iterator",
        "make a list of its items",
    ),
    "a cotangent of another shape": (
        "y, pull = T.vjp(lambda v: v * x, w)\nreturn np.sum(pull(x[:2])['v'])",
        "pull(x[:2])",
        r"the cotangent has shape \(2,\), the value \(4,\)",
        "shaped like the value",
    ),
    "a rule by what it does not take": (
        "@T.custom_vjp\ndef f(v):\n    return v * x\n"
        "f.defvjp(lambda v: (v * x, None), lambda _, c: (c,))\nreturn np.sum(f(w))",
        "np.sum(f(w))",
        "the custom_vjp `f` reads `x` of the program around it",
        "Pass it as an argument",
    ),
    "an array as a function": (
        "return np.sum(T.grad(w)(x)) * s",
        "T.grad(w)",
        r"`T.grad\(w\)` takes a function, and is given an array",
        "Pass a function",
    ),
    "a tool": (
        "return np.sum(T.sparsity(np.sin, x)) * s",
        "T.sparsity",
        r"`T.sparsity\(np.sin, x\)` is called in a program, and is a tool",
        "outside of the function",
    ),
    "no value": (
        "if np.sum(x) > 100.0:\n    c = x\nreturn np.sum(T.grad(lambda v: np.sum(v * c))(w))",
        "return np.sum(T.grad",
        "`c` has no value here",
        "Assign it on all paths",
    ),
    "what it does not take": (
        "return np.sum(T.grad(lambda v: np.sum(v * x))(w, x))",
        "return np.sum(T.grad",
        "the call does not fit `lambda`",
        "Its arguments are v.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    body, line, what, todo = REFUSED[name]
    with pytest.raises(sdfgad.SdfgadError, match=what) as caught:
        sdfgad.grad(program_of(body, tmp_path), allow_unused=True)(*ARGUMENTS)
    assert line in caught.value.where.text
    assert todo in caught.value.todo


def with_rules(x, w):
    @sdfgad.custom_vjp
    def product(v, u):
        return 2.0 * v * u

    product.defvjp(lambda v, u: (2.0 * v * u, (v, u)), lambda res, c: (3.0 * c * res[1], 5.0 * c * res[0] * np.sum(w)))

    @sdfgad.custom_jvp
    def thrice(v):
        return 2.0 * v

    @thrice.defjvp
    def rule(primals, tangents):
        return thrice(primals[0]), 3.0 * tangents[0]

    return np.sum(product(x, thrice(w)))


def test_rules_of_functions_that_a_program_defines():
    x, w, _ = ARGUMENTS
    dx, dw = sdfgad.grad(with_rules, (0, 1))(x, w)
    np.testing.assert_allclose(dx, 3.0 * 2.0 * w, rtol=1e-14)
    np.testing.assert_allclose(dw, 3.0 * 5.0 * x * np.sum(w), rtol=1e-14)


@sdfgad.custom_vjp
def outside(x):
    return x


def sets_a_rule(x):
    outside.defvjp(lambda x: (x, None), lambda _, c: (c,))
    return np.sum(outside(x))


def test_the_rule_of_a_function_from_outside():
    with pytest.raises(
        sdfgad.UnsupportedProgram, match="sets the rule of `outside`, which is defined outside"
    ) as caught:
        sdfgad.grad(sets_a_rule)(ARGUMENTS[0])
    assert "outside.defvjp" in caught.value.where.text


GLOBAL = ARGUMENTS[1]


def other(z):
    return np.sin(z * GLOBAL)


def same_name(v):
    # A loop carries a name that a function which it calls has from outside.
    GLOBAL = v * 1.0
    for _ in range(3):
        GLOBAL = other(GLOBAL)
    return np.sum(GLOBAL)


def residual(z, a):
    return z**3 + z - a * x


x = ARGUMENTS[1]


def by_root(v):
    # The solver has a name `x`, too.
    return np.sum(sdfgad.root(residual, np.zeros(4), v) ** 2)


@pytest.mark.parametrize("program", [same_name, by_root])
def test_names_of_arrays_from_outside(program):
    w = ARGUMENTS[0]
    assert sdfgad.check_grads(program, w, order=2, modes=("fwd", "rev")).error < 1e-7
    assert sdfgad.check_grads(lambda w: np.sum(sdfgad.grad(program)(w) ** 2), w).error < 1e-7
