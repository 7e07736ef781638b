"""Global names that functions of a program assign to."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError, UnboundVariable, UnsupportedProgram
from tests.helpers import module_from

TEXT = """
import numpy as np
import sdfgad

alpha = 1.5
count = 0
field = np.ones(3)


def use(x):
    return alpha * np.sin(x)


def setup(a):
    global alpha, beta
    alpha, beta = a, 0.2 * a


def parameters_in_a_loop(x, s):
    for t in range(40):
        setup(s + 0.01 * t)
        x = x + 0.01 * use(x) * beta
    return np.sum(x)


def counted(x, s):
    global count
    for t in range(30):
        count += 1
        if x[0] > 0.3:
            count += 1
        x = x * (1 + 0.001 * count * s)
    return np.sum(x) + count


def read_before_and_after(x, s):
    y = use(x)
    setup(s)
    return np.sum(y * use(x))


def make(n):
    global field
    field = np.zeros(n)
    field[0] = 2.0


def updated_under_another_name(x, s):
    global field
    before = field * 1.0
    make(3)
    g = field
    for t in range(20):
        g[1] += s * x[0] * field[0]
    field = field + x
    def inner():
        return field * 2.0
    return np.sum(inner() * g * before)


def program(x, s):
    total = parameters_in_a_loop(x, s) * counted(x, s) + read_before_and_after(x, s)
    return total * updated_under_another_name(x, s)


def shadowed(x, s):
    def outer(alpha):
        def inner(z):
            return alpha * z
        return inner
    setup(5.0)
    return np.sum(outer(s)(x)) + alpha


def alone(z):
    setup(2.0)
    return np.sum(use(z))


def gradient_within(x, s):
    setup(2.0)
    return np.sum(sdfgad.grad(lambda z: np.sum(use(z)))(x))


def assigned_within(x, s):
    return np.sum(sdfgad.grad(alone)(x))


def bound_to_a_function(x, s):
    global helper
    def helper(z):
        return z
    return np.sum(x)


def maybe_unset(x, s):
    global gamma
    if x[0] > 5.0:
        gamma = 1.0
    return np.sum(x) * gamma
"""
X, S = np.array([0.2, 0.5, 0.9]), 0.7


def numpys(module, name, x, s):
    """What NumPy gives, after which the module's names are those from before."""
    before = dict(vars(module))
    try:
        return getattr(module, name)(x.copy(), s)
    finally:
        vars(module).update(before)
        for new in vars(module).keys() - before.keys():
            delattr(module, new)


def test_functions_that_assign_to_global_names(tmp_path):
    module = module_from(TEXT, tmp_path)
    g = sdfgad.differentiate(module.program, wrt=("x", "s"))
    value, (dx, ds) = g.value_and_grad(X, S)
    np.testing.assert_allclose(value, numpys(module, "program", X, S), rtol=1e-13)
    h, t = 1e-6, np.array([0.3, -0.8, 0.5])
    above, below = (numpys(module, "program", X + k * h * t, S + k * h) for k in (1, -1))
    np.testing.assert_allclose((above - below) / (2 * h), dx @ t + ds, rtol=1e-7)
    assert module.alpha == 1.5
    assert module.count == 0
    assert not hasattr(module, "beta")
    # What a name is before the program is read at each call.
    module.alpha, module.count = -0.5, 4
    np.testing.assert_allclose(g.value(X, S), numpys(module, "program", X, S), rtol=1e-13)


def test_a_local_name_hides_a_global_one(tmp_path):
    module = module_from(TEXT, tmp_path)
    g = sdfgad.differentiate(module.shadowed, wrt="x")
    np.testing.assert_allclose(g.value(X, S), numpys(module, "shadowed", X, S))


@pytest.mark.parametrize(
    ("name", "error", "text", "what"),
    [
        (
            "gradient_within",
            UnsupportedProgram,
            "sdfgad.grad",
            "`alpha` from outside is assigned to in a program that differ",
        ),
        (
            "assigned_within",
            UnsupportedProgram,
            "global alpha",
            "`alpha` from outside is assigned to in a program that differ",
        ),
        (
            "bound_to_a_function",
            UnsupportedProgram,
            "global helper",
            "`helper` is bound to a function, class",
        ),
        ("maybe_unset", UnboundVariable, "return np.sum(x) * gamma", "`gamma` has no value here"),
    ],
)
def test_refusals(name, error, text, what, tmp_path):
    with pytest.raises(SdfgadError, match=what) as caught:
        sdfgad.differentiate(getattr(module_from(TEXT, tmp_path), name), wrt="x")(X, S)
    assert isinstance(caught.value, error)
    assert text in caught.value.where.text
