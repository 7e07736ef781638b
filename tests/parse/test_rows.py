"""Lists of alike items: comprehensions become loops, and what uses the lists does what Python does."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SingularMatrix
from sdfgad.ir.program import Loop, walk
from sdfgad.parse import comprehensions, ranges
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope, parsed

HEAD = """
import numpy as np

def f(v, w):
    u = v * w
    for j in range(3):
        u = u + np.sin(u) * w
    return u

def norm(v):
    return np.sum(v * v)

def grow(v):
    v += 1.0
    return v * 2.0

def program(x, y, s):
"""
ROLLED = {
    "a condition": "return np.stack([f(x[i], y[i]) for i in range(6) if i != 2])",
    "stack": "return np.stack([f(x[i], y[i]) for i in range(6)])",
    "stack of an axis": "return np.stack([f(x[i], y[i]) for i in range(6)], axis=1)",
    "stack of the last axis": "return np.stack([f(x[i], y[i]) for i in range(6)], axis=-1)",
    "array": "return np.array([f(x[i], y[i]) for i in range(6)])",
    "vstack": "return np.vstack([f(x[i], y[i]) for i in range(6)])",
    "column_stack": "return np.column_stack([f(x[i], y[i]) for i in range(6)])",
    "concatenate": "return np.concatenate([f(x[i], y[i]) for i in range(6)])",
    "systems that may be singular": "A = [np.outer(v, v) + s * np.eye(len(v)) for v in x]\n"
    "return np.stack([np.linalg.solve(A[i], y[i]) for i in range(6)])",
    "sum": "return sum([f(x[i], y[i]) for i in range(6)])",
    "numbers": "return np.array([norm(x[i]) for i in range(6)])",
    "sum of numbers": "return sum([norm(x[i]) for i in range(6)]) * x",
    "over rows": "return np.stack([f(v, s) for v in x])",
    "over pairs": "return np.stack([f(v, w) for v, w in zip(x, y)])",
    "with numbers": "return np.stack([f(v, s) * i for i, v in enumerate(x)])",
    "backwards": "return np.stack([f(x[i], s) for i in range(5, -1, -1)])",
    "a list indexed by the next": "L = [f(v, s) for v in x]\nreturn np.stack([f(L[i], x[i]) for i in range(6)])",
    "a list iterated by the next": "L = [f(v, s) for v in x]\nreturn np.stack([f(a, w) for a, w in zip(L, y)])",
    "a list in a loop": "L = [f(v, s) for v in x]\nt = 0.0 * x[0]\nfor a in L:\n    t = t * s + a\nreturn t",
    "a list with numbers in a loop": "L = [norm(v) for v in x]\nt = 0.0\nfor a in L:\n    t = t * s + a\nreturn t * x",
    "one item": "L = [f(v, s) for v in x]\nreturn L[2] * L[-1]",
    "an item updated": "L = [f(v, s) for v in x]\nL[2] += x[0]\nL[3][1] = s\nreturn np.stack(L) * np.sum(L[2])",
    "an item replaced": "L = [f(v, s) for v in x]\nL[2] = x[0]\nreturn np.stack(L)",
    "an array of it updated": "L = [f(v, s) for v in x]\nA = np.array(L)\nA[0] = 0.0\nreturn A + L[0]",
    "items swapped": "L = [f(v, s) for v in x]\nL[0], L[1] = L[1], L[0]\nreturn np.stack(L)",
    "a part of it": "L = [f(v, s) for v in x]\nreturn np.stack(L[1:4])",
    "appended to": "L = [f(v, s) for v in x]\nL.append(x[0])\nreturn np.stack(L)",
    "numbers as values": "L = [norm(v) for v in x]\na = L[0]\na += 1.0\nreturn a * x + L[0]",
    "in a loop": "t = 0.0 * x\nfor k in range(3):\n    t = t * s + np.stack([f(v, s) for v in x])\nreturn t",
    "nested": "return np.array([[norm(f(v, w)) for v in x] for w in y])",
    "returned": "return [f(v, s) for v in x]",
    "pairs": "L = [(f(v, s), norm(v)) for v in x]\nreturn L[3][0] * L[2][1]",
    "dicts of lists": "L = [{'a': [f(v, s), s], 'n': norm(v)} for v in x]\n"
    "return L[3]['a'][0] * L[2]['n'] * L[1]['a'][1]",
    "names of it": "v = x[1]\nL = [f(v, s) for v in x]\nreturn np.stack(L) * v",
}
# A list of the rows of an argument is that argument.
VIEWS = {"updated": "L = [x[i] for i in range(6)]\nfor v in L:\n    v *= 2.0\nreturn x * 1.0"}
# Items that are views, or that change what was there before, are those of Python.
ONE_BY_ONE = {
    "views": "L = [x[i] for i in range(6)]\nx[2] = 5.0\nreturn np.stack(L)",
    "arguments updated": "L = [grow(v) for v in x]\nreturn np.stack(L) * x",
    "shapes differ": "return np.concatenate([f(x[i, :i], s) for i in range(4)])",
    "numbers known": "return x * sum([i * 2 for i in range(6)])",
    "some are None": "L = [x[i] if i == 2 else None for i in range(6)]\nreturn x * L[2] if L[3] is None else x",
    "the same array": "L = [x for i in range(6)]\nL[0][1] = 3.0\nreturn np.stack(L)",
}


def program_of(body, folder):
    return module_from(HEAD + "\n".join(f"    {line}" for line in body.splitlines()), folder).program


def arguments():
    rng = np.random.default_rng(2)
    return rng.uniform(0.2, 1.0, (6, 4)), rng.uniform(0.2, 1.0, (6, 4)), 0.6


@pytest.mark.parametrize("name", [*ROLLED, *ONE_BY_ONE, *VIEWS])
@pytest.mark.parametrize("size", [1, 32])
def test_lists_are_like_python(name, size, tmp_path, monkeypatch):
    monkeypatch.setattr(comprehensions, "MANY_STATEMENTS", size)
    monkeypatch.setattr(ranges, "MANY_ITEMS", 2 if size == 1 else 5)
    program = program_of((ROLLED | ONE_BY_ONE | VIEWS)[name], tmp_path)
    assert_like_python(program, *arguments())
    output = "return[1]" if name == "returned" else "return"
    assert_slope(program, *arguments(), output=output)


@pytest.mark.parametrize("name", ROLLED)
def test_alike_items_are_a_loop(name, tmp_path, monkeypatch):
    monkeypatch.setattr(comprehensions, "MANY_STATEMENTS", 1)
    program = parsed(program_of(ROLLED[name], tmp_path), *arguments()).program
    assert any(isinstance(s, Loop) for s in program.body)


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_other_items_are_not(name, tmp_path, monkeypatch):
    monkeypatch.setattr(comprehensions, "MANY_STATEMENTS", 1)
    program = parsed(program_of(ONE_BY_ONE[name], tmp_path), *arguments()).program
    loops = [s for s in program.body if isinstance(s, Loop)]
    assert not any(s.trips.is_const and s.trips.const == 6 for s in loops)


def mixture(alphas, means, factors, x):
    k, d = means.shape
    Q = [np.diag(np.exp(factors[i, :d])) + np.tril(np.outer(factors[i, d:], means[i]), -1) for i in range(k)]
    terms = [alphas[i] - 0.5 * np.sum(((x - means[i]) @ Q[i].T) ** 2, axis=1) for i in range(k)]
    main = np.stack(terms, axis=1)
    return np.sum(np.log(np.sum(np.exp(main - np.max(main)), axis=1)))


def of_clusters(k):
    rng = np.random.default_rng(k)
    d = 3
    return tuple(rng.uniform(0.1, 1.0, shape) for shape in ((k,), (k, d), (k, 2 * d), (5, d)))


def test_statements_do_not_grow_with_the_items():
    few, many = (len(list(walk(parsed(mixture, *of_clusters(k)).program.body))) for k in (20, 200))
    assert few == many


def test_gradients_of_compiled_lists():
    args = of_clusters(12)
    sdfgad.check_grads(mixture, *args)
    value, _ = sdfgad.differentiate(mixture).value_and_grad(*args)
    assert value == pytest.approx(mixture(*args), rel=1e-12)


VECTORS = {
    "a loop": "t = 0.0\nfor v in list(np.linspace(0.0, 0.9, n) * x[1]):\n    t = t + x[0] * v * v\nreturn t",
    "of numbers as they were": "u = x[0] * np.linspace(1.0, 4.0, n)\nvalues = list(u)\nu[3] = 7.0\nt = 0.0\n"
    "for k, v in enumerate(values):\n    t = t + v * v * k\nreturn t + np.sum(u)",
    "that changes": "values = list(np.tile(x, n))\nvalues[5] = x[2] * 2.0\nvalues.append(x[0])\nt = 0.0\n"
    "for v, w in zip(values, reversed(values)):\n    t = t + v * w\nvalues[0] += 1.0\n"
    "return t * values[0] + max(values[4:9])",
    "of a tuple": "w, out = tuple(np.repeat(x, n) + 0.5), []\nfor v in w:\n    if v > 0.9:\n        v = v * 2.0\n"
    "    out.append(v)\na, b, *c = out\nreturn np.dot(out, w) + a * b + c[3]",
}


@pytest.mark.parametrize("name", VECTORS)
def test_lists_of_the_numbers_of_a_vector(name, tmp_path):
    body = "".join(f"    {line}\n" for line in VECTORS[name].split("\n"))
    program = module_from("import numpy as np\n\ndef program(x, n):\n" + body, tmp_path).program
    for n in (4, 20):
        assert_value_and_slope(program, np.array([0.7, 0.3, 1.2]), n)


def test_a_loop_over_a_list_of_numbers_is_a_loop():
    def program(x, n):
        t = 0.0
        for v in list(np.linspace(0.0, 0.9, n) * x[1]):
            t = t + x[0] * v * v
        return t

    few, many = (len([*walk(parsed(program, np.ones(3), n).program.body)]) for n in (20, 80))
    assert few == many


def inverses(a):
    return np.array([np.sum(np.linalg.inv(a[k])) for k in range(8)])


def test_a_check_that_one_item_fails():
    a = np.random.default_rng(2).normal(size=(8, 3, 3))
    assert any(isinstance(s, Loop) for s in parsed(inverses, a).program.body)
    gradient = sdfgad.differentiate(inverses, reduce="sum")
    np.testing.assert_allclose(gradient.value(a), inverses(a), rtol=1e-12)
    a[5] = 0.0
    with pytest.raises(SingularMatrix) as caught:
        gradient(a)
    assert str(caught.value.where) == line_of(inverses, "np.linalg.inv")


def test_equal_numbers_are_one_statement():
    def program(x):
        y = np.array([0.5] * 50 + [x[0]] * 50 + [x[1], 1.0])
        return y @ y

    x = np.array([0.3, 0.7])
    assert len(str(sdfgad.explain(program, x, stage="parsed")).splitlines()) < 20
    assert_like_python(program, x)


def appended_in_turn(x, trips):
    """Two branches append tuples to one list."""
    y, found = x[0], [(x[1], 0.5)]
    for k in range(trips):
        if k % 3 == 1:
            y = np.sin(y + x[1])
            found.append((y, 2.0 * y))
        else:
            y = np.cos(y * x[0])
            found.append((y**2, y))
    a = np.array(found)
    return np.sum(a[:, 0] * np.arange(trips + 1.0)) + a[3, 1] ** 2 + a[4, 1]


def test_what_branches_append_in_turn_is_a_few_statements():
    shorter, longer = lambda x: appended_in_turn(x, 24), lambda x: appended_in_turn(x, 48)
    x = np.array([0.3, 0.7])
    assert_value_and_slope(shorter, x)
    assert len({len(str(sdfgad.explain(one, x, stage="parsed")).splitlines()) for one in (shorter, longer)}) == 1


@pytest.mark.parametrize("items", ["[(x[0], k) for k in range(9)]", "[[x, x * x]] * 9", "[(x[0], 2), (x[1], 0.5)] * 5"])
def test_an_array_of_tuples(items, tmp_path):
    text = f"import numpy as np\n\ndef program(x):\n    return np.array({items})\n"
    assert_like_python(module_from(text, tmp_path).program, np.array([0.3, 0.7]))
