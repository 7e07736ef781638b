"""Booleans of Python and of NumPy in arithmetic: as in Python, or refused where a run decides which they are."""

import random

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import Rebound, SdfgadError
from tests.helpers import line_of, module_from
from tests.helpers_ir import as_python_runs, assert_like_python, assert_value_and_slope, checked_outputs, parsed

X = np.array([0.7, 0.3, 0.9, 0.1])
I = np.array([1, 2, 3])


# --- booleans whose kind is known

KNOWN = [
    "(s > 0.2) + (s > 0.1)",
    "(x[0] > 0.2) + (x[1] > 0.2)",
    "(s > 0.2) + (x[1] > 0.2)",
    "(s > 0.2) - (s < 0.1)",
    "-(s > 0.2) + ~(s > 0.1)",
    "(not x[0] > 0.2) + (not x[1] > 0.9)",
    "~(not x[0] > 0.9)",
    "bool(np.any(x > 0.2)) + bool(np.any(x > 0.1))",
    "np.any(x > 0.2) + np.any(x > 0.1)",
    "(0.1 < s < 0.9) + (0.2 < s < 0.9)",
    "(0.1 < x[0] < 0.9) + (0.2 < x[0] < 0.9)",
    "(0.1 < x[0] < s) * 2 + (n > 1)",
    "(int(i[0]) > 0) + (int(i[1]) > 0)",
    "(i[0] > 0) + (i[1] > 0)",
    "(len(x[x > 0.2]) > 0) + (n > 1)",
    "(s > 0.2 and s > 0.1) + (s > 0.2)",
    "((s > 0.2) & (s > 0.1)) + (s > 0.2)",
    "((s > 0.2) ^ (s > 0.9)) | 2",
    "any([s > 0.2]) + any([s > 0.1]) + all(x > 0.01)",
    "math.isfinite(s) + math.isfinite(s)",
    "np.isfinite(s) + np.isfinite(s)",
    "abs(s > 0.2) + abs(s > 0.1)",
    "min(s > 0.2, s > 0.1) + (s > 0.1)",
    "sum([s > 0.2, True], True)",
    "sum([x[0] > 0.2, x[1] > 0.1], x[0] > 0.1) + True",
    "np.add(s > 0.2, s > 0.1) * 3.5",
    "np.greater(s, 0.2) + np.greater(s, 0.1)",
    "np.allclose(x, x) + np.array_equal(x, x)",
    "((s > 0.2) ** 2 + (s > 0.1)) / 2",
    "(s > 0.2) * x + (s > 0.1)",
    "(s in (0.1, 0.8)) + (n in (2, 3))",
    "True + (s > 0.2) << (s > 0.1)",
    "np.zeros(3)[(s > 0.9) + (s > 0.1)] + (s > 0.1)",
]


@pytest.mark.parametrize("expression", KNOWN)
def test_known_booleans_compute_as_in_python(expression, tmp_path):
    text = f"import math\nimport numpy as np\n\ndef program(x, n, s, i):\n    return {expression}\n"
    program = module_from(text, tmp_path).program
    for s in (0.8, 0.15):
        assert_like_python(program, X, 3, s, I)


def count_in_branches(x, s):
    n = 0
    for v in x:
        n += (v > s) + (v > 0.5)
    below = (s < x[0]) + (s < 0.5)
    return n * s + np.sum(x) * ((s > 0.1) + (s > 0.2) - (s > 0.9)) + below * s**2


def test_gradients_of_what_booleans_of_python_weigh():
    gradient = sdfgad.differentiate(count_in_branches, wrt=("x", "s"))
    value, (of_x, of_s) = gradient.value_and_grad(X, 0.45)
    assert value == count_in_branches(X, 0.45)
    np.testing.assert_allclose(of_x, np.full(4, 2.0), rtol=1e-12)
    slope = (count_in_branches(X, 0.45 + 1e-6) - count_in_branches(X, 0.45 - 1e-6)) / 2e-6
    np.testing.assert_allclose(of_s, slope, rtol=1e-8)


# --- booleans that a run decides

FORMS = {
    "loop": "k = {first}\n    for j in range(n):\n        k = {then}",
    "branch": "k, j = {first}, 1\n    if x[0] > 0.2:\n        k = {then}",
    "both branches": "j = 0\n    if x[0] > 0.2:\n        k = {then}\n    else:\n        k = {first}",
    "while": "k, j = {first}, 0\n    while x[j] > 0.2:\n        k = {then}\n        j += 1",
    "expression": "j = 2\n    k = {then} if x[0] > 0.2 else {first}",
    "item": "d = [{first}]\n    for j in range(n):\n        d[0] = {then}\n    k = d[0]",
}
FIRST = ("0", "1", "True", "x[1] > 0.1", "0.0")
THEN = ("x[j] > 0.2", "bool(x[j] > 0.2)", "not x[j] > 0.2", "int(x[j] > 0.2)")
USES = [
    *("k + k", "-k", "~k", "k * 2", "k / 2", "k * k", "k - k", "k + True", "k + 1.5", "k | k", "k ^ 1", "sum([k, k])"),
    *(
        "+k",
        "k ** 2",
        "abs(k)",
        "k // 2",
        "k * x[0]",
        "not k",
        "k == 1",
        "np.add(k, k)",
        "np.full(3, k) + np.full(3, k)",
    ),
    *(
        "np.sum(np.array([k, k]) + np.array([k, k]))",
        "isinstance(k, bool) * 2",
        "(k and s) + s",
        "max(k, 0) + max(k, 0)",
    ),
    *("(x > 0.1) * k * 1.5", "((x > 0.1) & k) + ((x > 0.1) & k)", "np.where(k, x, s)", "x[k]", "np.float32(2) * k"),
]


def right_or_refused(program, *args):
    """Whether a program is refused; else it computes what Python does."""
    try:
        expected, _ = as_python_runs(program, *args)
    except TypeError:
        expected = None
    try:
        found = checked_outputs(parsed(program, *args), *args)["return"]
    except SdfgadError:
        return True
    assert expected is not None, "Python raises TypeError"
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=1e-12)
    return False


@pytest.mark.parametrize("form", FORMS)
def test_booleans_that_are_rebound_are_right_or_refused(form, tmp_path):
    rng, refused = random.Random(11), 0
    for first in FIRST:
        for then in THEN:
            for use in rng.sample(USES, 10):
                body = FORMS[form].format(first=first, then=then)
                text = f"import numpy as np\n\ndef program(x, n, s):\n    {body}\n    return {use}\n"
                refused += right_or_refused(module_from(text, tmp_path).program, X, 3, 0.8)
    assert refused < 0.4 * len(FIRST) * len(THEN) * 10


def added(x, n):
    k = 0
    for i in range(n):
        k = x[i] > 0.5
    return np.sum(x) * (k + k)


def two_kinds(x, n):
    k = False
    for i in range(n):
        k = x[i] > 0.5
    return np.sum(x) * (k + k)


def an_index(x, n):
    k = 0
    for i in range(n):
        k = x[i] > 0.5
    return x[k]


def filled(x, n):
    k = 0
    for i in range(n):
        k = x[i] > 0.5
    return np.full(3, k) * x[0]


@pytest.mark.parametrize(
    ("program", "line", "what"),
    [
        (
            added,
            "k + k",
            "a boolean of NumPy or an integer, which is decided only at run time, and np.add of it",
        ),
        (two_kinds, "k + k", "a boolean of NumPy or a boolean of Python"),
        (an_index, "x[k]", "a boolean and a number select otherwise"),
        (filled, "np.full", "this function may look at that"),
    ],
)
def test_what_differs_is_refused_at_its_line(program, line, what):
    with pytest.raises(Rebound, match=what) as caught:
        sdfgad.differentiate(program, wrt="x")(X, 3)
    assert line_of(program, line) in str(caught.value)
    assert "int(...), float(...) or bool(...)" in str(caught.value)


def flags(x, s):
    found, ok, count = False, True, 0
    for v in x:
        found = found or v > s
        ok = ok and v > 0.01
        count = count + (v > s)
    return np.sum(x) * s * found + ok * s + count * s**2 + (s if found and ok else 0.0)


def test_flags_that_loops_set_are_not_refused():
    gradient = sdfgad.differentiate(flags, wrt=("x", "s"))
    value, (of_x, of_s) = gradient.value_and_grad(X, 0.45)
    np.testing.assert_allclose(value, flags(X, 0.45), rtol=1e-14)
    np.testing.assert_allclose(of_x, np.full(4, 0.45), rtol=1e-12)
    np.testing.assert_allclose(of_s, (flags(X, 0.45 + 1e-6) - flags(X, 0.45 - 1e-6)) / 2e-6, rtol=1e-8)


# --- integers that become floats, and the like


class Cell:
    def __init__(self):
        self.n, self.w, self.on = 3, 2.0, True


def halved(x):
    n, total = 3, x[3]
    for _ in range(5):
        total += x[1] if isinstance(n, int) else x[2]
        n = n * 0.5
    return total * n if isinstance(n, float) else total


def of_cells(x):
    cell, total = Cell(), x[3]
    for _ in range(5):
        total += x[1] if isinstance(cell.n, int) else x[2]
        if type(cell.w) is int:
            total += x[0]
        if cell.on is True:
            total *= x[2]
        cell.n, cell.w, cell.on = cell.n * 0.5, int(cell.w * 2), 1
    return total + cell.n


def of_several(x):
    cells, total = [Cell() for _ in range(4)], 0.0
    for k in range(3):
        for cell, v in zip(cells, x, strict=True):
            total += v if isinstance(cell.n, int) else v * v
            cell.n = cell.n * v
    return total


def made_complex(x):
    z, total = x[0], 0.0
    for _ in range(4):
        total += x[1] if isinstance(z, complex) else x[2]
        z = z * z + 0.1j
    return total * abs(z)


def no_flag(x):
    on, total = True, x[3]
    for _ in range(4):
        if on is True:
            total += x[1]
        on = 1
    return total


@pytest.mark.parametrize("program", [halved, of_cells, of_several, made_complex, no_flag])
def test_a_program_may_ask_for_the_type_of_a_number(program):
    """What it is in the first trip was taken for what it is in the others."""
    assert_value_and_slope(program, X.copy())


def decided_type(x):
    n = 3
    for v in x:
        if v > 0.5:
            n = n * 0.5
    return x[0] if isinstance(n, int) else x[1]


def test_a_type_that_data_decides_is_refused():
    with pytest.raises(Rebound, match="a number is a float or an integer, which is decided only at run time") as caught:
        sdfgad.differentiate(decided_type)(X)
    assert line_of(decided_type, "isinstance(n, int)") in str(caught.value)
