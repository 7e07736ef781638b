"""``while`` loops that count are loops over a range; those whose counter or bound changes otherwise are not."""

import textwrap

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnboundVariable
from sdfgad.ir.program import Loop, walk
from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_slope, parsed

X = np.linspace(0.2, 1.3, 10)
COUNTED = {
    "a list is filled": """
        k, out = 0, []
        while k < 20 * len(x):
            out.append(np.sin(x[k % 10]) + 0.1 * x[0])
            k += 1
        return np.array(out) * k
        """,
    "down": """
        k, s = len(x) - 1, 0.0
        while k >= 0:
            s = s * 0.5 + x[k]
            k -= 1
        return s + k
        """,
    "steps of two, bound included": """
        k, y = 1, x * 1.0
        while k <= 9:
            y[k] = y[k - 1] * x[k]
            k = k + 2
        return y * k
        """,
    "the bound on the left, the step on the left": """
        k, s = 3, 0.0
        while len(x) > k:
            s += x[k] * k
            k = 2 + k
        return s * k
        """,
    "the counter is changed first": """
        k, s = 0, 0.0
        while k < 9:
            k += 1
            if k % 3 == 0:
                continue
            s += x[k] * 0.1
        return s * k
        """,
    "no trip": """
        k, s = 20, x[0]
        while k < 10:
            s = s * 2.0
            k += 1
        return s * k
        """,
    "a swap": """
        a, b, k = x * 1.0, x * 2.0, 0
        while k < 21:
            a, b = b, a
            a[0] += b[1] * k
            k += 1
        return a - b * 0.5
        """,
}
NOT_COUNTED = {
    "the bound changes on data": """
        k, n, s = 0, 30, 0.0
        while k < n:
            s += x[k % 5] * k
            if s > 20.0:
                n = 20
            k += 1
        return s * k * n
        """,
    "a list grows": """
        k, q, s = 0, [1, 2], 0.0
        while k < len(q):
            s += x[k]
            if len(q) < 6:
                q.append(3)
            k += 1
        return s * k
        """,
    "a function changes the counter, too": """
        k, s = 0, 0.0
        def step():
            nonlocal k
            k += 1
        while k < 20:
            step()
            s += x[k % 3]
            k += 1
        return s
        """,
    "an object has the bound, and changes it": """
        box, k, s = Box(), 0, 0.0
        while k < box.n:
            s += x[k % 10]
            box.shrink()
            k += 1
        return s * k
        """,
    "a break": """
        k, s = 0, 0.0
        while k < 9:
            s += x[k]
            if s > 2.0:
                break
            k += 1
        return s * k
        """,
}
BOX = "class Box:\n    def __init__(self):\n        self.n = 9\n    def shrink(self):\n        self.n -= 1\n"


def program_of(text, tmp_path):
    return module_from(f"import numpy as np\n{BOX}def program(x):\n{textwrap.indent(text, '    ')}", tmp_path).program


def loops_of(program, *args):
    return [one for one in walk(parsed(program, *args).program.body) if isinstance(one, Loop)]


@pytest.mark.parametrize("name", COUNTED)
def test_a_while_that_counts_is_a_loop_over_a_range(name, tmp_path):
    program = program_of(textwrap.dedent(COUNTED[name]), tmp_path)
    assert_like_python(program, X)
    (loop,) = loops_of(program, X)
    assert not loop.is_open
    assert_slope(program, X)


@pytest.mark.parametrize("name", NOT_COUNTED)
def test_a_while_whose_counter_or_bound_changes_is_none(name, tmp_path):
    program = program_of(textwrap.dedent(NOT_COUNTED[name]), tmp_path)
    assert_like_python(program, X)
    assert all(loop.is_open for loop in loops_of(program, X))
    assert_slope(program, X)


def triangle(x, n):
    i, s = 0, 0.0
    while i < n:
        j = i
        while j < n:
            s = s + x[i] * x[j] * 0.3
            j += 1
        i += 1
    return s * (i + j)


def test_nested_loops_to_an_integer_of_each_call():
    assert [loop.is_open for loop in loops_of(triangle, X, 7)] == [False, False]
    gradient = sdfgad.differentiate(triangle)
    for n in (7, 10):
        before = 0.3 * 2 * n * (np.sum(X[:n]) + X[:n])
        np.testing.assert_allclose(gradient(X, n)["x"], np.concatenate([before, np.zeros(10 - n)]), rtol=1e-12)
    with pytest.raises(UnboundVariable, match="`j`"):
        gradient(X, 0)
