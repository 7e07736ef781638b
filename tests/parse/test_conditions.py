"""Conditions: constant folding, affine guards, and short-circuit evaluation."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read
from sdfgad.ir.program import Branch, walk
from sdfgad.parse.conditions import affine_forms
from tests.helpers import line_of, module_from, numpy_output
from tests.helpers_ir import assert_like_python, assert_value_and_slope, outputs_of, parsed

I, J = Lin.symbol("i"), Lin.symbol("j")
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def compare(name, x, y):
    return Op(name, (x, y), BOOL)


def holds(forms, i, j):
    return all(form.substitute({"i": i, "j": j}).const >= 0 for form in forms)


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("name", COMPARISONS)
def test_forms_hold_exactly_where_the_condition_does(name, negate):
    forms = affine_forms(compare(name, Int(I.scaled(2) - 1), Int(J + 2)), negate)
    if (name, negate) in (("not_equal", False), ("equal", True)):
        assert forms is None
        return
    for i in range(-4, 5):
        for j in range(-4, 5):
            assert holds(forms, i, j) == (bool(getattr(np, name)(2 * i - 1, j + 2)) != negate)


def test_conjunctions_and_negated_disjunctions():
    less, more = compare("less", Int(I), Int(J)), compare("greater", Int(I), Const(0, INT))
    both, either = Op("logical_and", (less, more), BOOL), Op("logical_or", (less, more), BOOL)
    assert affine_forms(both) == (J - I - 1, I - 1)
    assert affine_forms(either, negate=True) == (I - J, -I)
    assert affine_forms(both, negate=True) is None
    assert affine_forms(either) is None


def test_conditions_on_data_have_no_forms():
    x = Read("x", (), np.dtype(np.float64))
    assert affine_forms(compare("less", x, Const(0.0, x.dtype))) is None
    assert affine_forms(x) is None
    mixed = Op("logical_and", (compare("less", Int(I), Int(J)), compare("less", x, x)), BOOL)
    assert affine_forms(mixed) is None


def branches(function, *args):
    return [s for s in walk(parsed(function, *args).program.body) if isinstance(s, Branch)]


def decided_by_the_loop(x, s):
    for i in range(2, 5):
        if i >= 2 and i < 5 and not i > 4:
            x[i] *= 2.0
        if i > 7 or i < 0:
            x[i] = 0.0
    return x


def open_in_the_loop(x, s):
    for i in range(5):
        if i > 2:
            x[i] *= 2.0
        elif i != 1:
            x[i] *= 3.0
    return x


def on_data(x, s):
    if s > 0.5 and x[0] < x[1]:
        x[0] = 3.0
    return x


def test_what_the_loop_decides_is_no_branch():
    assert branches(decided_by_the_loop, np.ones(6), 0.5) == []


def test_branches_on_counters_have_guards():
    outer, inner = branches(open_in_the_loop, np.ones(6), 0.5)
    assert len(outer.guards) == 1
    assert inner.guards == ()


def test_branches_on_data_have_none():
    (branch,) = branches(on_data, np.ones(6), 0.5)
    assert branch.guards == ()


# --- values, and what is not evaluated


def index_only_valid_where_it_holds(x, s):
    for i in range(6):
        if i > 0 and x[i - 1] > 0.5:
            x[i] += x[i - 1]
        x[i] = x[i + 1] if i < 5 else x[0]
    return x


def valid_where_the_first_operand_fails(x, s):
    t = 0.0
    for i in range(6):
        if i == 5 or x[i + 1] > x[i]:
            t += x[i]
    return t


def value_of_and(x, s):
    return (s and x[0]) + (0.0 or s) + (2 and s)


def comparison_as_a_value(x, s):
    return x * (s > 0.5) + (s > 0.5 and x[1])


def value_of_or(x, s):
    y = (x[0] - x[0]) or x[1]
    return y * (s or x[2])


def nested_choice(x, s):
    return (x if s > 0.5 else x * 2.0) * (1.0 if x[0] > 1.0 else 2.0 if x[1] > 1.0 else 3.0)


def condition_changes_in_the_branch(x, s):
    if x[0] < 1.0:
        x[0] = 5.0
        x[1] = 6.0
    else:
        x[0] = 7.0
    return x


def negated(x, s):
    if not (s > 0.5 or x[0] > 1.0):
        x[:] = 0.0
    return x * (not s > 0.5)


def not_a_number(x, s):
    t = (s - s) / (s - s) if s < 0.0 else np.inf - np.inf
    if not t < 1.0:
        x[0] = 4.0
    if t != t:
        x[1] = 5.0
    return x


def chained(x, s):
    for i in range(6):
        if 1 < i <= 4:
            x[i] = 0.1 < s < 0.5
    return x


PROGRAMS = [
    decided_by_the_loop,
    open_in_the_loop,
    on_data,
    index_only_valid_where_it_holds,
    valid_where_the_first_operand_fails,
    value_of_and,
    comparison_as_a_value,
    value_of_or,
    nested_choice,
    condition_changes_in_the_branch,
    negated,
    not_a_number,
    chained,
]


@pytest.mark.parametrize("s", [0.7, 0.2])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_value_is_numpys(rng, program, s):
    args = (rng.uniform(0.2, 1.7, 6), s)
    expected = numpy_output(program, args)
    np.testing.assert_array_equal(outputs_of(parsed(program, *args), *args)["return"], expected)


def truth_of_an_array(x, s):
    return x > 0.5 and s


def test_truth_of_an_array_is_refused():
    with pytest.raises(UnsupportedProgram, match="truth value of an array is ambiguous") as caught:
        parsed(truth_of_an_array, np.ones(3), 0.5)
    assert str(caught.value.where) == line_of(truth_of_an_array, "return x")


# Values of different shapes, of which one is chosen at run time.
SHAPES = [
    "w = x if s > 0.5 else 1.0\nreturn np.sum(w) * x",
    "w = x[0] if s > 0.5 else x\nreturn np.sum(w) * s",
    "return np.sum(x + (x[0] if s > 0.5 else 0.0))",
    "return np.sum(x if s > 0.5 else s)",
    "y = x * 1.0\ny[0] += x[1] if s > 0.5 else 5.0\nreturn np.sum(y * y)",
    "y = x * 1.0\nfor k in range(40):\n    y = 0.9 * y + (x[0] if y[0, 0] > 2.0 else 0.25)\nreturn np.sum(y)",
    "y = x * 1.0\nfor k in range(3):\n"
    "    y += (x if y[0, 0] < 2.0 else s) * (x[0] if y[1, 0] > 2.0 else 0.5)\nreturn np.sum(y)",
    "y = [x if s > 0.5 else x[0], 1.0]\nreturn np.sum(y[0])",
    "def f(u):\n    u += 1.0\n    return s\nreturn np.sum(f(x) + (x[0] if x[0, 0] > 1.0 else s))",
    "t = [np.sum(x[k] if x[k, 0] > 1.0 else s) for k in range(3)]\nreturn sum(t)",
    "return np.sum(x[0, 0] > 0.2 and x)",
]
# In a loop that data ends.
REFUSED_SHAPES = {
    "y = 1.0\nwhile y < 20.0:\n    y += 0.3 + np.sum(x[0, 0] > np.sin(y) and x)\nreturn y": "y += ",
    "y = 1.0\nwhile y < 20.0:\n    w = (y, x[0, 0] > np.sin(y) and x)\n    y += 0.3 + np.sum(w[1])\nreturn y": "w = ",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"import numpy as np\n\ndef program(x, s):\n{lines}\n", folder).program


@pytest.mark.parametrize("s", [0.7, 0.3])
@pytest.mark.parametrize("body", SHAPES, ids=[body.replace("\n", "; ") for body in SHAPES])
def test_chosen_values_of_different_shapes(rng, body, s, tmp_path):
    program = program_of(body, tmp_path)
    x = rng.uniform(0.5, 1.5, (3, 4))
    assert_value_and_slope(program, x, s)


@pytest.mark.parametrize("body", REFUSED_SHAPES, ids=[body.replace("\n", "; ") for body in REFUSED_SHAPES])
def test_chosen_values_of_different_shapes_that_are_refused(rng, body, tmp_path):
    with pytest.raises(
        UnsupportedProgram, match="of which one is chosen at run time, differ in their shapes"
    ) as caught:
        parsed(program_of(body, tmp_path), rng.uniform(0.5, 1.5, (3, 4)), 0.5)
    assert caught.value.where.text.startswith(REFUSED_SHAPES[body])


# --- lists of which a condition chooses one


def two_arrays(x):
    b = [np.cumsum(x), np.sort(x)] if x[0] > 1.0 else [x * 2.0, np.cumsum(x[::-1])]
    return np.sum(b[0] * b[1] ** 2)


def two_numbers(x):
    b = [np.cumsum(x)[1], np.sort(x)[2]] if x[0] > 1.0 else [np.prod(x), np.cumsum(x[::-1])[0]]
    b[0] += 1.0
    return b[0] * b[1] ** 2 + len(b)


def one_behind_or_before(x):
    b = []
    for k in range(5):
        b = [*b, x[k]] if k % 2 else [x[k], *b]
        b[0] = b[0] * b[-1]
    return sum(v * (i + 1) for i, v in enumerate(b))


def made_by_a_function(x):
    def lists(v):
        v[0] += 1.0
        return [v * 2.0, v * 3.0]

    b = lists(x) if x[0] > 1.0 else [np.sort(x), x * 5.0]
    b[1][0] = 7.0
    return np.sum(b[0] * b[1]) + np.sum(x)


@pytest.mark.parametrize("program", [two_arrays, two_numbers, one_behind_or_before, made_by_a_function])
def test_lists_chosen_by_a_condition_stay_lists(program):
    """Where an arm computed something, the first two items of the list were taken for the two values to choose from."""
    low = np.array([0.5, 1.1, 0.7, 1.3, 0.9])
    for x in (low, low[::-1] * 1.3):
        assert_value_and_slope(program, x)
        value, gradient = sdfgad.value_and_grad(program)(x)
        np.testing.assert_allclose(value, program(x.copy()), rtol=1e-13)
        assert gradient.shape == x.shape


# --- what operands of which data decides whether they are evaluated bind and change

OPERANDS = {
    "a number": "u = 3.0\nf = x[0] > 1.0 and (u := 5.0) > 2.0\nreturn u * x[1] + f",
    "a sum": "u = 3.0\nif x[0] > 1.0 and (u := x[1] * 2.0) > 0.5:\n    pass\nreturn u * x[2]",
    "or": "u = 3.0\nok = x[0] > 1.0 or (u := x[1] ** 2) > 1.0\nreturn u * x[0] + ok",
    "a conditional expression": "u = 3.0\ny = (u := np.sum(x)) if x[0] > 1.0 else x[1]\nreturn u * y",
    "an index": "i = 0\nz = x[(i := 2)] if x[0] > 1.0 else x[i]\nreturn z * (i + 1)",
    "an array": "y = x.copy()\nif x[0] > 1.0 and (y := np.sort(x))[0] > 0.2:\n    y[0] = 5.0\nz = y\nz[1] *= 2.0\n"
    "return np.sum(y * x)",
    "in a loop": "s, u = 0.0, 1.0\nfor k in range(5):\n    if x[k] > 0.8 and (u := u * x[k] + 0.1) > 0.9:\n"
    "        s += u\nreturn s + u",
    "in a comprehension": "u = 2.0\nv = [x[k] if x[k] > 0.8 else (u := x[k] * u) for k in range(5)]\nreturn sum(v) * u",
    "nonlocal": "n = 0\ndef f(v):\n    nonlocal n\n    n += 1\n    return v * n\n"
    "r = f(x[0]) > 0.6 and f(x[1]) > 1.0 or f(x[2]) > 0.1\nreturn x[3] * n + r",
    "an item": "d = {'c': 0.0}\ndef f(v):\n    d['c'] = d['c'] + v\n    return d['c']\n"
    "a = f(x[0]) if x[0] > 0.6 else f(x[1]) * 2.0\nif f(x[2]) > 1.0 or f(x[3]) > 2.0:\n    a = a * 2.0\n"
    "return a + d['c']",
    "an attribute": "class Count:\n    pass\no = Count()\no.n = 0.0\ndef f(v):\n    o.n = o.n + v\n"
    "    return o.n > 1.0\nwhile o.n < 5.0 and (f(x[0]) and f(x[1]) or o.n < 2.0):\n    o.n += 0.1\nreturn o.n * x[2]",
    "items of a list": "l = [x[0], x[1]]\ndef f(i, v):\n    l[i] = l[i] * v\n    return l[i]\n"
    "r = [f(0, x[2]) if v > 0.8 else f(1, v) for v in x]\nreturn sum(r) + l[0] * l[1]",
}


@pytest.mark.parametrize("name", OPERANDS)
def test_operands_that_are_not_evaluated_bind_and_change_nothing(name, tmp_path):
    """What ``:=`` binds was bound whether its operand was evaluated or not; the others were refused."""
    lines = [f"    {line}\n" for line in OPERANDS[name].split("\n")]
    program = module_from("import numpy as np\ndef program(x):\n" + "".join(lines), tmp_path).program
    low = np.array([0.5, 1.1, 0.7, 1.3, 0.9])
    for x in (low, low[::-1] * 1.3, low + 0.6):
        assert_value_and_slope(program, x)
        np.testing.assert_allclose(sdfgad.value_and_grad(program)(x)[0], program(x.copy()), rtol=1e-13)


COUNTED = "n = 0\n    def f(v):\n        nonlocal n\n        n += 1\n        return v < 1.0\n    "
WRITTEN = "def f(v):\n        x[0] += v\n        return v > 1.0\n    "


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("", "x[0] * any((t := v) > 1.0 for v in x) + t"),
        (COUNTED, "all(f(v) for v in x) * x[1] + n * x[2]"),
        (WRITTEN, "any(f(v) for v in x) * x[1] + x[0]"),
        (WRITTEN, "any(map(f, x)) * x[1] + x[0]"),
    ],
)
def test_any_that_asks_for_as_many_items_as_data_decides_is_refused_where_these_do_something(before, text, tmp_path):
    """All items were computed, so that a name was that of the last one."""
    program = module_from(f"def program(x):\n    {before}return {text}\n", tmp_path).program
    with pytest.raises(UnsupportedProgram, match="data decides how many items this asks for") as caught:
        sdfgad.grad(program)(np.array([0.5, 1.1, 0.7, 1.3]))
    assert f"return {text}" in str(caught.value)


def test_any_of_items_that_do_nothing_else():
    def program(x):
        return x[0] * any(v > 1.0 for v in x) + x[1] * all(np.sum(x * v) > 0.1 for v in x) + any([False, x[2] > 0.5])

    x = np.array([0.5, 1.1, 0.7, 1.3])
    assert_like_python(program, x)
    assert_like_python(program, -x)


def beside_the_ends(x):
    n, total = len(x), 0.0
    for i in range(n - 1):
        left = x[1] - x[0] if i == 0 else x[i] - x[i - 1]
        if i == 0:
            left = left * 2.0
        else:
            left = left * x[i - 1]
        if i == n - 2 or i == 1:
            right = x[i]
        else:
            right = x[i + 2]
        total += left * right
    return total


def test_an_index_that_is_not_that_of_an_end_is_inside():
    x = np.linspace(0.5, 2.0, 7)
    primal = assert_value_and_slope(beside_the_ends, x)
    assert not primal.program.checks
