"""Iterators that are kept: evaluated by what goes over them first, and refused the second time."""

import numpy as np
import pytest

from sdfgad.errors import OutputError, UnsupportedProgram
from sdfgad.ir.program import Loop
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.random.default_rng(8).uniform(0.5, 1.5, (3, 4))

THREE = "L, s = [x[0] * 1.0, x[1] * 1.0, x[2] * 1.0], 0.0\n"
NINE = "L, s = [x[k % 3] * (k + 1) for k in range(9)], 0.0\n"
SUM = "for k, v in enumerate(r):\n    s = s + (k + 1) * v\nreturn s"
PRODUCTS = "for v, w in r:\n    s = 2.0 * s + v * w\nreturn s"

RIGHT = {
    "an item is replaced": THREE + "r = reversed(L)\nL[0] = x[1] * 5.0\n" + SUM,
    "a list gets longer": THREE + "r = reversed(L)\nL.append(x[0] * 5.0)\n" + SUM,
    "a list gets longer behind zip": THREE + "r = zip(L, [x[0]] * 4)\nL.append(x[1])\n" + PRODUCTS,
    "a list gets shorter": THREE + "r = enumerate(L)\nL.pop()\nfor k, v in r:\n    s = s + k * v\nreturn s",
    "reversed from its end": THREE + "r = reversed(L)\nL.pop()\nfor v in r:\n    s = s + 1.0\nreturn x * (1.0 + s)",
    "an array is updated": THREE + "r = zip(L, x)\nL[2] = x[0] * 5.0\nx *= 2.0\n" + PRODUCTS,
    "arrays alone": "s, r = 0.0, zip(x, x[::-1])\nx[0] *= 2.0\n" + PRODUCTS,
    "a long list": NINE + "r = reversed(L)\nL[0] = x[1]\nL[8] *= 2.0\n" + SUM,
    "a long list of pairs": NINE + "r = zip(L, L)\nL[8] = x[1]\n" + PRODUCTS,
    "an iterator of one": THREE + "r = enumerate(zip(L, x))\nL[0] = x[1]\nfor k, (v, w) in r:\n"
    "    s = s + k * v * w\nreturn s",
    "in a list": THREE + "r = [zip(L, x), 1]\nL[0] = x[1]\nfor v, w in r[0]:\n    s = s + v * w\nreturn s",
    "items of a dict": THREE + "d = {'a': L[0], 'b': L[1]}\nr = d.items()\nd['a'] = L[2]\n"
    "for _, v in r:\n    s = 2.0 * s + v\nreturn s",
    "values, twice": THREE + "d = {'a': L[0]}\nr = d.values()\nd['c'] = L[2]\nfor v in r:\n"
    "    s = s + v\nfor v in r:\n    s = s + v\nreturn s",
    "in an argument": THREE + "def f(vs):\n    L[0] = x[0] * 9.0\n    return sum([v for v in vs])\n"
    "return f(v * 2.0 for v in L)",
    "new in each trip": THREE + "for t in range(40):\n    for v, w in zip(L, x):\n"
    "        s = s * 0.5 + v * w\nreturn s",
    "a list of it": THREE + "r = list(zip(L, L))\nL[0] = x[1] * 9.0\nfor t in range(4):\n"
    "    for v, w in r:\n        s = s + v * w\nreturn s",
    "unpacked": THREE + "(a, b), *c = zip(x, L)\nx *= 2.0\nreturn a * b + c[1][0]",
    "as arguments": THREE + "def f(*v):\n    return v[0] - v[1] * v[2]\nreturn f(*reversed(L))",
    "joined to a list": THREE + "L += reversed(x)\nx *= 2.0\nL[:1] = zip(x, x)\nreturn L[0][0] * L[-1]",
    "as a dict": THREE + "d = dict(enumerate(x))\nx[0] = 7.0\nreturn d[0] * d[1]",
    "chosen": THREE + "if x[0, 0] > 0.9:\n    r = zip(x, L)\nelse:\n    r = zip(L, L)\n" + PRODUCTS,
}
REFUSED = {
    "twice": (
        THREE + "r = enumerate(L)\nfor k, v in r:\n    s = s + k * v\nfor k, w in r:\n    s = s + w\nreturn s",
        "for k, w",
    ),
    "of arrays": (
        "s, r = 0.0, zip(x, x)\nfor v, w in r:\n    s = s + v\nfor v, u in r:\n    s = s + u\nreturn s",
        "for v, u",
    ),
    "after a break": (
        THREE + "r = zip(L, x)\nfor v, w in r:\n    break\nfor v, u in r:\n    s = s + u\nreturn s",
        "for v, u",
    ),
    "in each trip": (
        THREE + "r = zip(L, L)\nfor t in range(3):\n    for v, w in r:\n        s = s + v * w\nreturn s",
        "for v, w",
    ),
    "in a branch": (
        THREE
        + "r = zip(L, L)\nif x[0, 0] > 0.9:\n    for v, w in r:\n        s = s + v * w\n"
        + "for v, u in r:\n    s = s + u\nreturn s",
        "for v, u",
    ),
    "by an iterator of it": (
        THREE + "r = zip(L, x)\nq = enumerate(r)\nfor v, w in r:\n    s = s + v\nt = list(q)\nreturn s",
        "t = list",
    ),
    "in an argument": (
        "def f(vs):\n    a = sum(vs)\n    return a + sum(vs)\nreturn f(v * 2.0 for v in x)",
        "return a + sum",
    ),
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"import numpy as np\n\ndef program(x):\n{lines}\n", folder).program


@pytest.mark.parametrize("name", RIGHT)
def test_iterators_are_evaluated_late(name, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    assert_value_and_slope(program, X)


@pytest.mark.parametrize("name", REFUSED)
def test_iterators_have_their_items_once(name, tmp_path):
    body, line = REFUSED[name]
    with pytest.raises(UnsupportedProgram, match="this iterator is used up") as caught:
        parsed(program_of(body, tmp_path), X)
    assert caught.value.where.text.startswith(line)
    assert caught.value.todo == "Make a list of it where you make it: items = list(...)."


def test_iterator_of_a_loop_that_has_ended(tmp_path):
    body = "s = 0.0\nfor t in range(40):\n    r = zip(x, x)\nfor v, w in r:\n    s = s + v * w\nreturn s"
    with pytest.raises(UnsupportedProgram, match="outside of the loop or `if` in which it is made"):
        parsed(program_of(body, tmp_path), X)


def test_iterators_are_no_values(tmp_path):
    with pytest.raises(OutputError, match="not an array or number"):
        parsed(program_of("return zip(x, x)", tmp_path), X)
    with pytest.raises(UnsupportedProgram, match="is not subscriptable"):
        parsed(program_of("r = zip(x, x)\nreturn r[0]", tmp_path), X)
    with pytest.raises(UnsupportedProgram, match="`in` is only supported for tuples"):
        parsed(program_of("r = zip(x, x)\nreturn x if 1.0 in r else x * 2.0", tmp_path), X)


def test_kept_iterators_of_arrays_are_loops_of_the_program(tmp_path):
    program = parsed(
        program_of("s, r = x[0], zip(x, x)\nfor v, w in r:\n    s = s + v * w\nreturn s", tmp_path), X
    ).program
    assert any(isinstance(statement, Loop) for statement in program.body)
