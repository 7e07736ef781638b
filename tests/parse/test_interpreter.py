"""The parser gives Python's meaning to names: what is a value, what is a view, and when each is read."""

import ast

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnboundVariable, UnsupportedProgram
from sdfgad.parse import interpreter
from tests.helpers import assert_gradient, module_from
from tests.helpers_ir import parsed


def element(x, idx):
    old = x[0]
    x[0] = x[1] * x[2]
    return old * old + x[0]


def element_jax(x, idx):
    return x[0] * x[0] + x[1] * x[2]


def two_elements(x, idx):
    (a, b), c = (x[0], x[1]), x[2]
    x[0], x[1] = x[1], x[0]
    x[2] = 0.0
    return a * b * b * c + x[0] * x[0] * x[1]


def two_elements_jax(x, idx):
    return x[0] * x[1] ** 2 * x[2] + x[1] ** 2 * x[0]


def listed(x, idx):
    held = [x[0], x[1] * 1.0]
    pair = (x[0], x[2])
    x[:] = x * x
    return held[0] * held[1] + pair[0] * pair[1] + x[0]


def listed_jax(x, idx):
    return x[0] * x[1] + x[0] * x[2] + x[0] * x[0]


def helper(v, x):
    x[0] = x[1]
    return v * v


def passed(x, idx):
    return helper(x[0], x) * x[0]


def passed_jax(x, idx):
    return x[0] * x[0] * x[1]


def index_element(x, idx):
    i = idx[0]
    idx[0] = 2
    return x[i] * x[idx[0]]


def index_element_jax(x, idx):
    return x[0] * x[2]


def carried_element(x, idx):
    last = x[2]
    for i in range(3):
        x[i] = x[i] * last
        last = x[0]
        x[0] = x[0] * x[1]
    return last * x[2]


def carried_element_jax(x, idx):
    last = x[2]
    for i in range(3):
        x = x.at[i].multiply(last)
        last = x[0]
        x = x.at[0].multiply(x[1])
    return last * x[2]


def swapped(x, idx):
    temporary = x[0]
    x[0] = x[2]
    x[2] = temporary
    return x[0] * x[0] + x[2]


def swapped_jax(x, idx):
    return x[2] * x[2] + x[0]


def row_is_a_view(x, idx):
    row = x[1:]
    x[1] = x[0] * x[0]
    row[1] = row[0]
    return np.sum(x * x)


def row_is_a_view_jax(x, idx):
    return x[0] ** 2 + 2 * x[0] ** 4


def rebound(x, idx):
    y = x
    y = y * x[0]
    y += x
    x *= 2.0
    return np.sum(y * x)


def rebound_jax(x, idx):
    return jnp.sum((x * x[0] + x) * 2.0 * x)


def accumulated(x, idx):
    s = x[0]
    s += x[1]
    s *= s
    return s + x[0]


def accumulated_jax(x, idx):
    return (x[0] + x[1]) ** 2 + x[0]


CASES = [
    (element, element_jax),
    (two_elements, two_elements_jax),
    (listed, listed_jax),
    (passed, passed_jax),
    (index_element, index_element_jax),
    (carried_element, carried_element_jax),
    (swapped, swapped_jax),
    (row_is_a_view, row_is_a_view_jax),
    (rebound, rebound_jax),
    (accumulated, accumulated_jax),
]


@pytest.mark.parametrize(("program", "reference"), CASES, ids=[case[0].__name__ for case in CASES])
def test_values_and_views(rng, program, reference):
    assert_gradient(program, reference, rng.uniform(0.5, 1.5, 3), np.array([0, 1]))


def scalar_argument(x, s):
    t = s
    s *= 2.0
    for i in range(3):
        s += x[i] * t
    return s * t


def test_scalar_arguments_are_values(rng):
    def reference(x, s):
        return (2 * s + jnp.sum(x[:3]) * s) * s

    assert_gradient(scalar_argument, reference, rng.uniform(0.5, 1.5, 3), 0.7)
    assert_gradient(scalar_argument, reference, rng.uniform(0.5, 1.5, 3), np.float64(0.7))


def zero_d(x, s):
    s[...] = s * s * x[0]
    s += x[1]
    return s * x[2]


def test_zero_d_arrays_change_in_place(rng):
    assert_gradient(zero_d, lambda x, s: (s * s * x[0] + x[1]) * x[2], rng.uniform(0.5, 1, 3), np.array(0.7))


def maybe_unbound(x, n):
    for i in range(n):
        y = x[i] * x[i]
    return y


def test_name_bound_in_a_loop_that_does_not_run():
    g = sdfgad.differentiate(maybe_unbound)
    np.testing.assert_array_equal(g(np.arange(1.0, 4.0), 2)["x"], [0, 4, 0])
    with pytest.raises(UnboundVariable, match="`y` is bound only inside a loop"):
        g(np.ones(3), 0)


def one_branch_assigns(x):
    if x[0] > 0:
        y = x[0] * 2
    return y


def test_name_bound_in_one_branch():
    g = sdfgad.differentiate(one_branch_assigns)
    np.testing.assert_array_equal(g(np.ones(2))["x"], [2.0, 0.0])
    with pytest.raises(UnboundVariable, match="`y` has no value here"):
        g(-np.ones(2))


@pytest.mark.parser_fails
def test_a_failure_of_the_parser_is_reported_as_its_own(monkeypatch):
    def fails(frame, node):
        raise AssertionError("it is broken")

    def program(x):
        return x * 2.0

    monkeypatch.setitem(interpreter.EXPRESSIONS, ast.BinOp, fails)
    text = r"sdfgad fails on this line with AssertionError: it is broken\n.*return x \* 2.0\n.*bug of sdfgad.*report it"
    with pytest.raises(UnsupportedProgram, match=text):
        parsed(program, np.ones(2))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "while x[0] < 9.0:\n        x[0] += np.prod(tuple(u for u in np.outer(x, x) if u[0] > np.sin(x[1])))",
            r"condition on data.*\n.*py:4: x\[0\] \+= np.prod.*\n.*mask",
        ),
        (
            "u = x.reshape(2, 2).T\n    u.shape = 4\n    return u",
            r"another shape in place.*\n.*py:4: u.shape.*\n.*reshape",
        ),
        (
            "def f(u):\n        return f(u)\n    return f(x)",
            r"recursion is too deep.*\n.*py:4: return f\(u\)\n.*a loop",
        ),
        ("return np.sum(x.flat)", r"`.flat` of an array is not a number.*\n.*py:3: return.*\n.*np.ravel"),
        ("return x.view()", r"`.view` of arrays.*\n.*py:3: return.*\n.*x\[...\]"),
        ("x.resize(2)\n    return x", r"`.resize` of arrays.*\n.*py:3: x.resize.*\n.*np.append"),
    ],
)
def test_refusals_say_what_to_write(body, text, tmp_path):
    program = module_from(f"import numpy as np\ndef program(x):\n    {body}\n", tmp_path).program
    with pytest.raises(UnsupportedProgram, match=text):
        parsed(program, np.ones(4))
