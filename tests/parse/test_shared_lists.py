"""Lists and dicts that several names refer to, where paths of a program meet: one object, or refused."""

import numpy as np
import pytest

from sdfgad.errors import AmbiguousArray, UnboundVariable, UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope, parsed

X = np.random.default_rng(21).uniform(0.5, 1.5, (3, 4))

TWO = "L, M = [x[0], x[1] * 2.0], [x[2], x[0] * 3.0]\n"
RIGHT = {
    "after a loop": "for k in range(3):\n    L = [x[k]]\n    M = L\nL.append(x[0])\nreturn sum(M)",
    "after many trips": "for k in range(300):\n    L = [x[k % 3]]\n    M = L\nL.append(x[0])\nreturn sum(M)",
    "a dict after a loop": "for k in range(3):\n    d = {'a': x[k]}\n    e = d\nd['a'] = x[0]\nreturn e['a'] * 2.0",
    "in a list, after a loop": (
        "for k in range(3):\n    L = [x[k], x[0]]\n    M = [L, L]\nL[0] = x[1] * 5.0\nreturn M[0][0] * M[1][0]"
    ),
    "a function after a loop": "for k in range(3):\n    f = lambda u: u * x[k]\nreturn f(x[1])",
    "in both sides of a branch": (
        "if x[0, 0] > c:\n    L = [x[0]]\n    M = L\nelse:\n    L = [x[1]]\n    M = L\nL.append(x[2])\nreturn sum(M)"
    ),
    "in one side of a branch": TWO + "if x[0, 0] > c:\n    L = [x[0]]\n    M = L\nreturn sum(L) * M[0]",
    "the same list in other tuples": TWO + "t = (L, 1.0)\nif x[0, 0] > c:\n    t = (L, 2.0)\n"
    "L[0] = x[2]\nreturn t[0][0] * t[1]",
    "the same list in tuples of a loop": TWO + "t = (L, x[0])\nfor k in range(4):\n"
    "    t = (L, t[1] * 0.5)\nL[0] = x[2]\nreturn t[0][0] * t[1]",
    "alone": "L = [x[0]]\nif x[0, 0] > c:\n    L = [x[1]]\nL.append(x[2])\nL[0] = L[0] * 2.0\nreturn sum(L)",
    "alone in a loop": (
        "L = [x[0], x[1]]\nfor k in range(40):\n    L = [L[1] * 0.5, L[0] + x[2]]\nL.append(x[0])\nreturn sum(L)"
    ),
    "read before": TWO + "N = L\nif x[0, 0] > c:\n    L = M\ns = sum(L)\nN[0] = x[2]\nreturn s * N[0]",
    "by another way": TWO + "N = L\nL = M if False else L\nN[0] = x[2]\nreturn sum(L)",
    "of one item": TWO + "N = [L, M]\nfor k in range(2):\n    N[k][0] = x[k] * 5.0\nreturn sum(L) * sum(M)",
    "a list that a branch re-binds": TWO + "N = L\nif x[0, 0] > c:\n    L = M\nN[0] = x[2]\nreturn L[0] * 2.0",
    "an item by another name, in a loop": TWO
    + "N = L\nfor k in range(300):\n    N[0] = L[0] * 0.9 + x[1]\n    L[1] = N[0] * c\nreturn L[0] * N[1]",
    "an item by another name, in a branch": TWO
    + "N = L\nif x[0, 0] > c:\n    N[0] = L[1]\nelse:\n    L[1] = N[0] * 2.0\nreturn L[0] * N[1]",
    "an item by one of two names": TWO
    + "if x[0, 0] > c:\n    N = L\nelse:\n    N = M\nif c > 1.0:\n    L[0] = x[1] * c\nreturn L[0] * 2.0",
    "appended to by the name that a branch re-binds": TWO
    + "N = L\nif x[0, 0] > c:\n    L = M\nL.append(x[2])\nreturn N[-1] * 2.0 + M[-1] * len(M) + L[0]",
    "a list in two lists": TWO
    + "P, Q = [L, M], [M, L]\nfor k in range(300):\n    P[0][1] = Q[1][1] * 0.9 + x[0]\nreturn Q[1][1] * L[1]",
}
# Bodies, the line that is quoted, and what the error says.
ONE_OF_SEVERAL, CHANGED, OUTSIDE = "may be one of several", "that may be one of several", "changed in a loop or branch"
REFUSED = {
    "a list that a loop re-binds": (
        TWO + "N = L\nk = 0\nwhile k < c:\n    L = [L[0] * 0.5, L[1]]\n    k += 1\nN[0] = x[2]\nreturn sum(L)",
        "return sum(L)",
        ONE_OF_SEVERAL,
    ),
    "changed by the name that a loop re-binds": (
        TWO + "N = L\nk = 0\nwhile k < c:\n    L = [L[0] * 0.5, L[1]]\n    k += 1\nL.append(x[2])\nreturn sum(N)",
        "L.append",
        CHANGED,
    ),
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"import numpy as np\n\ndef program(x, c, n):\n{lines}\n", folder).program


@pytest.mark.parametrize("c", [0.0, 9.0])
@pytest.mark.parametrize("name", RIGHT)
def test_lists_with_several_names(name, c, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    assert_value_and_slope(program, X, c, 3)


@pytest.mark.parametrize("name", REFUSED)
def test_lists_of_which_one_is_chosen_at_run_time(name, tmp_path):
    body, line, what = REFUSED[name]
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        parsed(program_of(body, tmp_path), X, 0.5, 3)
    assert caught.value.where.text.startswith(line)


def test_names_of_a_list_of_the_last_trip(tmp_path):
    body = f"{TWO}for k in range(40):\n    L = [L[0] * 0.5, L[1]]\n    N = L\nN.append(x[2])\nreturn sum(L)"
    with pytest.raises(UnsupportedProgram, match=r"`L` may be one of several .* has changed since") as caught:
        parsed(program_of(body, tmp_path), X, 0.5, 3)
    assert caught.value.where.text == "return sum(L)"


def test_list_in_a_list(tmp_path):
    body = (
        TWO
        + "N = L\nk = 0\nwhile k < c:\n    L = [L[0] * 0.5, L[1]]\n    k += 1\n"
        + "P = [L, M]\nN[0] = x[2]\nreturn sum(P[0])"
    )
    with pytest.raises(AmbiguousArray, match="`P` may be one of several lists or dicts, chosen at run time"):
        parsed(program_of(body, tmp_path), X, 0.5, 3)


CERTAIN = "N = L\nfor k in range(40):\n    L = [L[0] * 0.5, L[1]]\n"


@pytest.mark.parametrize("trips", ["40", "n"])
@pytest.mark.parametrize("change", ["N[0] = x[2]", "L.append(x[2])", "L[0] = N[0]\nN.pop()"])
def test_lists_of_loops_that_run(change, trips, tmp_path):
    program = program_of(f"{TWO}{CERTAIN}{change}\nreturn sum(L) * sum(N)".replace("40", trips), tmp_path)
    assert_value_and_slope(program, X, 0.5, 3)


HELD = ["f = partial(np.multiply, x[k])", "f = lambda u, v=x[k]: u * v", "f = x[k].dot", "f = g(x[k])"]


@pytest.mark.parametrize("statement", HELD)
def test_functions_of_a_loop_that_hold_what_changes(statement, tmp_path):
    head = "from functools import partial\ndef g(u):\n    return lambda v: u * v\n"
    body = f"{head}for k in range(40):\n    {statement}\nreturn f(x[0])"
    body = body.replace("x[k]", "x[k % 3]")
    with pytest.raises(UnboundVariable, match="it is made in a loop, and holds what changes from trip to trip"):
        parsed(program_of(body, tmp_path), X, 0.5, 3)


def test_a_list_that_a_branch_in_a_loop_puts_in_a_dict(tmp_path):
    body = (
        "d = {'b': [x[0], x[1]]}\nfor k in range(40):\n    L = list(d['b'])\n    if x[0, 0] > c:\n        d['b'] = L\n"
    )
    assert_like_python(program_of(body + "return d['b'][1] * L[0]", tmp_path), X, 0.5, 3)
    with pytest.raises(AmbiguousArray, match="one of them has changed since") as caught:
        parsed(program_of(body + "L[1] = x[2]\nreturn d['b'][1]", tmp_path), X, 0.5, 3)
    assert caught.value.where.text == "return d['b'][1]"
    with pytest.raises(AmbiguousArray, match="a list that may be one of several, chosen at run time, is changed"):
        parsed(program_of("L = [x[2]] * 2\n" + body + "L[1] = x[2]\nreturn d['b'][1]", tmp_path), X, 0.5, 3)


CHOSEN = {
    "a list": "L = L if x[0, 0] > c else M\nreturn L[0] * L[1]",
    "a dict": "d = {'a': x[0]} if x[0, 0] > c else {'a': x[1] * 2.0}\nreturn d['a'] * c",
    "lists of two lengths": "L = L if x[0, 0] > c else [x[1]]\nreturn L[0] * len(L)",
    "an item that is updated": "N = L if x[0, 0] > c else M\nN[0][1] = 3.0\nreturn L[0] * M[0] * N[0]",
    "one of another kind that is not read": "N = L if x[0, 0] > c else None\nreturn L[0] * M[0]",
    "by each trip": "N = L\nfor k in range(6):\n    N = L if k % 2 == 0 else M\n    N.append(x[k % 3])\n"
    "return sum(L) * sum(M)",
}


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("c", [0.0, 9.0])
def test_conditional_expressions_of_lists(name, c, tmp_path):
    program = program_of(TWO + CHOSEN[name], tmp_path)
    assert_value_and_slope(program, X, c, 3)


@pytest.mark.parametrize("choice", ["N = L if x[0, 0] > c else M", "N = L\nif x[0, 0] > c:\n    L = M"])
@pytest.mark.parametrize("change", ["N.append(x[2])", "L.append(x[2])"])
def test_lists_that_data_chooses_are_changed(choice, change, tmp_path):
    program = program_of(f"{TWO}{choice}\n{change}\nreturn N[-1] * sum(L) * len(N) + sum(M) * len(L)", tmp_path)
    for c in (-9.0, 9.0):
        assert_value_and_slope(program, X, c, 3)
