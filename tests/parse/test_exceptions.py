"""`try`: handlers of what is certainly raised run as in Python; those that only a run may reach are refused."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises, SdfgadError, UnsupportedProgram
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope, checked_outputs, parsed

X = np.random.default_rng(8).uniform(0.5, 1.5, 4)
HEAD = """
import contextlib
import math
import numpy as np

class Problem(Exception):
    def __init__(self, text, code=3):
        super().__init__(text)
        self.code = code

def checked(v, k):
    if k > 3:
        raise ValueError(f"{k} is too large")
    return v * k

def program(x, s, n):
"""

RIGHT = {
    "attributes that are data": "try:\n    raise Problem('too large', x[1])\nexcept Problem as e:\n"
    "    u = e.code * s\nreturn u",
    "arguments that are data": "try:\n    raise ValueError('too large', x[1])\nexcept Exception as e:\n"
    "    u = e.args[1] * s + len(e.args)\nreturn u",
    "an exception that has a name": "e = Problem('too large', x[1])\nu = e.code * s\ntry:\n    raise e\n"
    "except Problem as f:\n    u += f.code\nreturn u",
    "raised again, and from another": "try:\n    try:\n        raise Problem('large', code=x[1])\n"
    "    except Problem as e:\n        if isinstance(e, Problem):\n            raise\nexcept Problem as f:\n"
    "    u = f.code\n"
    "try:\n    try:\n        raise Problem('large', x[2])\n    except Problem as e:\n"
    "        raise ValueError('no') from e\n"
    "except ValueError:\n    u *= s\nreturn u",
    "a class of its own": "class Rejected(Problem):\n    def __init__(self, factor):\n"
    "        super().__init__('again')\n"
    "        self.factor = factor\n    def shrunk(self, h):\n        return self.factor * h\ntry:\n"
    "    raise Rejected(0.5)\n"
    "except Problem as e:\n    u = e.shrunk(x[0]) + e.code\ntry:\n    raise Rejected(s)\nexcept Rejected as e:\n"
    "    u += e.shrunk(x[1])\nreturn u",
    "warnings as errors that nothing catches": (
        "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('error')\n"
        "    warnings.simplefilter('error', DeprecationWarning)\n    u = np.log(x**2 + 1.0)\n"
        "try:\n    return np.sum(u) * {'a': s}['b']\nexcept KeyError:\n    return np.sum(u) * s"
    ),
    "nothing is raised": "try:\n    u = x * s\nexcept ValueError:\n    u = x\nreturn np.sum(u)",
    "else and finally": "r = 1.0\ntry:\n    u = x * s\nexcept ValueError:\n    r = 2.0\nelse:\n    r = 3.0\n"
    "finally:\n"
    "    r = r * 2\nreturn r * np.sum(u)",
    "a key": "try:\n    w = {'a': x}['b']\nexcept KeyError:\n    w = s\nreturn w * np.sum(x)",
    "a key of a dict of arrays": "d = {'a': x}\ntry:\n    w = d.pop('b')\nexcept LookupError:\n    w = s\n"
    "return w * np.sum(d['a'])",
    "an item": "try:\n    w = [x, s][2]\nexcept IndexError:\n    w = s\nreturn w * np.sum(x)",
    "an element": "try:\n    w = x[7]\nexcept IndexError:\n    w = s\nreturn w * np.sum(x)",
    "an attribute of a module": "try:\n    w = np.nothing\nexcept AttributeError:\n    w = s\nreturn w * np.sum(x)",
    "an attribute of an array": "try:\n    w = x.nothing\nexcept AttributeError:\n    w = s\nreturn w * np.sum(x)",
    "an attribute of a number": "try:\n    w = s.shape\nexcept AttributeError:\n    w = s\nreturn w * np.sum(x)",
    "raise": "try:\n    if x.ndim > 3:\n        w = 1.0\n    else:\n        raise ValueError('no')\n"
    "except ValueError:\n"
    "    w = s\nreturn w * np.sum(x)",
    "raise of a run-time integer": "try:\n    w = checked(s, n)\nexcept ValueError:\n    w = 2.0\nreturn w * np.sum(x)",
    "raise in a loop": "t = 0.0\ntry:\n    for i in range(n):\n        t = t + x[0] * s\n        if i == 2:\n"
    "            raise KeyError(i)\nexcept KeyError as e:\n    t = t * (e.args[0] + 1)\nreturn t",
    "a class": "try:\n    raise Problem\nexcept TypeError:\n    w = s\nreturn w * np.sum(x)",
    "its attributes": "try:\n    raise Problem('a', code=5)\nexcept Problem as e:\n    w = e.code\n"
    "return w * np.sum(x) * s",
    "division by zero": "try:\n    w = 1 / 0\nexcept ZeroDivisionError:\n    w = s\nreturn w + np.sum(x)",
    "an arithmetic error": "try:\n    w = 1 // (n - n)\nexcept ArithmeticError:\n    w = s\nreturn w + np.sum(x)",
    "a conversion": "try:\n    w = float('abc')\nexcept (TypeError, ValueError):\n    w = s\nreturn w * np.sum(x)",
    "a length": "try:\n    m = len(s)\nexcept TypeError:\n    m = 1\nreturn m * np.sum(x)",
    "a loop over a number": "try:\n    for v in 3:\n        pass\nexcept TypeError:\n    m = 2\n"
    "return m * np.sum(x) * s",
    "an unpacking": "try:\n    a, b = [x, s, 1.0]\nexcept ValueError:\n    a, b = x, s\nreturn np.sum(a) * b",
    "a module": "try:\n    import no_such_module\nexcept ImportError:\n    no_such_module = None\n"
    "return np.sum(x) if no_such_module is None else s",
    "from a module": "try:\n    from math import nothing\nexcept ImportError:\n    nothing = s\n"
    "return np.sum(x) * nothing",
    "a name": "try:\n    w = nothing_of_this\nexcept NameError:\n    w = s\nreturn np.sum(x) * w",
    "a name that a loop binds": "t = 0.0\nfor i in range(50):\n    try:\n        v = last * s\n    except NameError:\n"
    "        v = 2.0 * s\n    last = v + x[i % 4]\n    t = t + last\nreturn t",
    "arguments": "try:\n    w = checked(x)\nexcept TypeError:\n    w = s\nreturn np.sum(x) * w",
    "shapes": "try:\n    u = x + x[:3]\nexcept ValueError:\n    u = x * s\nreturn np.sum(u)",
    "next": "try:\n    u = next(iter([]))\nexcept StopIteration:\n    u = s\nreturn np.sum(x) * u",
    "an assertion": "try:\n    assert x.ndim == 2\n    w = 2.0\nexcept AssertionError:\n    w = s\n"
    "return np.sum(x) * w",
    "in order": "try:\n    w = {}['a']\nexcept IndexError:\n    w = 2.0\nexcept LookupError:\n    w = s\n"
    "except KeyError:\n    w = 3.0\nreturn w * np.sum(x)",
    "everything": "try:\n    w = {}['a']\nexcept:\n    w = s\nreturn w * np.sum(x)",
    "what was done before": "u = x * 1.0\nL = []\ntry:\n    u[0] = s\n    L.append(1)\n    w = {}['k']\n"
    "    u[1] = 0.0\n"
    "except KeyError:\n    w = len(L)\nreturn np.sum(u) * w",
    "what a function has done": "u = x * 1.0\ndef f(v):\n    v[0] = s\n    for k in range(3):\n        v[k] *= 2.0\n"
    "        if k == 1:\n            {}['k']\ntry:\n    f(u)\nexcept KeyError:\n    u[3] = 5.0\nreturn np.sum(u * x)",
    "return in it": "try:\n    return np.sum(x) * s\nexcept ValueError:\n    return s",
    "return after it": "d = {}\ntry:\n    return d['k'] * s\nexcept KeyError:\n    return np.sum(x) * s",
    "return and finally": "u = x * 1.0\ntry:\n    return np.sum(u) * s\nfinally:\n    u[0] = 0.0",
    "return in a branch": "try:\n    if s > 0.5:\n        return np.sum(x) * s\n    u = x * 2.0\nexcept KeyError:\n"
    "    u = x\nreturn np.sum(u)",
    "in a loop": "t = 0.0\nd = {0: 2.0, 2: 3.0}\nfor i in range(4):\n    try:\n        t = t + d[i] * x[i]\n"
    "    except KeyError:\n        t = t + s\nreturn t",
    "in a long loop": "t = 0.0\nfor i in range(1000):\n    try:\n        w = {}['a']\n    except KeyError:\n"
    "        w = s\n    t = t * 0.5 + w * x[i % 4]\nreturn t",
    "continue": "t = 0.0\nd = {0: 2.0, 2: 3.0}\nfor i in range(4):\n    try:\n        w = d[i]\n"
    "    except KeyError:\n"
    "        continue\n    t = t + w * x[i] * s\nreturn t",
    "break and else": "t = 0.0\nfor i in range(4):\n    try:\n        w = {0: s, 1: 2.0}[i]\n    except KeyError:\n"
    "        break\n    else:\n        t = t + w * x[i]\n    finally:\n        t = t + 1.0\nreturn t",
    "in a branch": "if s > 0.5:\n    try:\n        w = {}['a']\n    except KeyError:\n        w = s\nelse:\n"
    "    w = 2.0\n"
    "return w * np.sum(x)",
    "around a branch": "try:\n    if s > 0.5:\n        u = x * s\n    else:\n        u = x * 2.0\n"
    "except ValueError:\n"
    "    u = x\nreturn np.sum(u)",
    "raised again": "def f():\n    try:\n        return {}['k']\n    except KeyError as e:\n"
    "        raise ValueError('x') from e\n"
    "try:\n    w = f()\nexcept ValueError:\n    w = s\nreturn w * np.sum(x)",
    "raised on": "try:\n    try:\n        w = {}['k']\n    except KeyError:\n        raise\n    finally:\n"
    "        v = 3.0\n"
    "except KeyError:\n    w = s * v\nreturn w * np.sum(x)",
    "of an outer handler": "u = x * 1.0\ntry:\n    try:\n        w = {}['k']\n    except IndexError:\n"
    "        w = 2.0\n"
    "    finally:\n        u[0] = s\nexcept KeyError:\n    w = 4.0\nreturn np.sum(u) * w",
    "in a choice": "d = {}\ntry:\n    w = d['a'] if n > 3 else s\nexcept KeyError:\n    w = 2.0 * s\n"
    "return np.sum(x) * w",
    "another one at run time": "try:\n    u = np.linalg.solve(np.diag(x), x * s)\nexcept KeyError:\n    u = x\n"
    "return np.sum(u * x)",
    "arrays divide": "try:\n    u = x / (x - s)\nexcept ZeroDivisionError:\n    u = x\nreturn np.sum(u)",
    "a divisor that is no zero": "try:\n    u = s / 2 + n / (n + 1)\nexcept ZeroDivisionError:\n    u = s\n"
    "return np.sum(x * u)",
    "in an f-string": "try:\n    w = f\"{ {}['a'] }\"\nexcept KeyError:\n    w = s\nreturn np.sum(x) * w",
}

REFUSED = {
    "a key in a loop": (
        "t = s\ntry:\n    while t < 9.0:\n        t = t * 2.0\n        {}['k']\nexcept KeyError:\n    t = 2.0\n"
        "return np.sum(x) * t",
        "{}['k']",
        "KeyError may be raised here, in a loop or branch",
    ),
    "settings": (
        "np.seterr(all='raise')\nreturn np.sum(x)",
        "np.seterr",
        "`np.seterr` changes a setting, which has no effect",
    ),
    "floating-point errors": (
        "with np.errstate(all='raise'):\n    try:\n        u = 1.0 / x\n    except FloatingPointError:\n"
        "        u = x\n"
        "return np.sum(u)",
        "try:",
        "whatever np.errstate says",
    ),
    "warnings as errors": (
        "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('error')\n    try:\n"
        "        u = 1.0 / (1.0 + np.exp(x * 1000.0))\n    except RuntimeWarning:\n        u = x\n"
        "return np.sum(u)",
        "try:",
        "catches RuntimeWarning, which compiled code does not raise, whatever warnings.simplefilter says",
    ),
    "warnings of a category as errors": (
        "import warnings\nwarnings.filterwarnings('error', category=RuntimeWarning)\ntry:\n    u = np.log(x)\n"
        "except Exception:\n    u = x\nreturn np.sum(u)",
        "try:",
        "whatever warnings.filterwarnings says",
    ),
    "which error": (
        "try:\n    u = x + x[:3]\nexcept np.linalg.LinAlgError:\n    u = x\nexcept ValueError:\n"
        "    u = x * 2.0\nreturn np.sum(u)",
        "except np.linalg",
        "is not known\n.*\n  Write `except ValueError`",
    ),
    "return in finally": (
        "try:\n    u = x\nfinally:\n    return np.sum(x)",
        "try:",
        "a `return`, `break` or `continue` in `finally` is not supported",
    ),
    "no exception": (
        "try:\n    u = {}['a']\nexcept 3:\n    u = x\nreturn np.sum(u)",
        "except 3",
        "`except 3` does not name exceptions",
    ),
    "the text of NumPy's error": (
        "try:\n    u = x + x[:3]\nexcept ValueError as e:\n    u = x if 'operands' in str(e) else x * 2.0\n"
        "return np.sum(u)",
        "u = x if",
        "a string that depends on run-time values is compared",
    ),
    "another refusal": (
        "try:\n    u = open('a')\nexcept Exception:\n    u = x\nreturn np.sum(u)",
        "u = open",
        "the function `open` is not supported",
    ),
    "contextlib": (
        "with contextlib.suppress(KeyError):\n    u = {}['a']\nreturn np.sum(x)",
        "with contextlib",
        "`with` is not supported",
    ),
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", RIGHT)
def test_as_in_python(name, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    for s, n in ((0.7, 5), (0.3, 3)):
        assert_value_and_slope(program, X, s, n)


@pytest.mark.parametrize("name", REFUSED)
def test_handlers_that_only_a_run_may_reach(name, tmp_path):
    body, line, what = REFUSED[name]
    with pytest.raises(SdfgadError, match=f"(?s){what}") as caught:
        parsed(program_of(body, tmp_path), X, 0.7, 5)
    assert caught.value.where.text.startswith(line)
    assert caught.value.todo


def test_uncaught_exceptions_are_errors(tmp_path):
    program = program_of("try:\n    raise ValueError('no')\nexcept KeyError:\n    pass\nreturn s", tmp_path)
    with pytest.raises(ProgramRaises, match="the program raises `ValueError"):
        parsed(program, X, 0.7, 5)
    program = program_of("try:\n    return {}['b'] * s\nexcept IndexError:\n    pass\nreturn s", tmp_path)
    with pytest.raises(UnsupportedProgram, match="Python raises KeyError here: 'b'"):
        parsed(program, X, 0.7, 5)


def fallback(params, x, n):
    try:
        scale = params["scale"]
    except KeyError:
        scale = 2.0
    total = 0.0
    for k in range(n):
        try:
            total = total + scale * np.sum(x * [1.0, 3.0][k])
        except IndexError:
            break
    return total


def test_in_compiled_code():
    x = np.arange(3.0)
    np.testing.assert_allclose(sdfgad.grad(fallback, "x")({"scale": np.float64(1.5)}, x, 4), np.full(3, 6.0))
    np.testing.assert_allclose(sdfgad.grad(fallback, "x")({"other": np.float64(1.5)}, x, 1), np.full(3, 2.0))


def reciprocals(s):
    try:
        return sum([1.0 / (s - k) for k in range(3)])
    except ZeroDivisionError:
        return 0.0


def test_a_handler_that_a_run_would_reach_is_an_error():
    g = sdfgad.value_and_grad(reciprocals)
    assert g(4.0)[0] == reciprocals(4.0)
    with pytest.raises(ProgramRaises, match=r"a division by zero of Python's numbers") as caught:
        g(1.0)
    assert str(caught.value.where) == line_of(reciprocals, "return sum")
    assert caught.value.todo == "In Python `except` goes on; compiled code cannot: test for it by an `if` before."


# With an `s` for which nothing is raised, and one for which the handler runs in Python.
AT_RUN_TIME = {
    "an index": ("try:\n    u = x[int(s * 9.0)]\nexcept IndexError:\n    u = s\nreturn u", 0.1, 0.7),
    "a power": ("try:\n    u = 10.0**s\nexcept OverflowError:\n    u = 2.0\nreturn u * np.sum(x)", 0.7, 400.0),
    "functions in a comprehension": (
        "try:\n    u = sum([math.log(s) for _ in x])\nexcept ValueError:\n    u = 2.0\nreturn u * np.sum(x)",
        0.7,
        -1.0,
    ),
    "a name": (
        "for i in range(int(s)):\n    u = x\ntry:\n    v = u\nexcept NameError:\n    v = x * 2.0\nreturn np.sum(v)",
        1.7,
        0.7,
    ),
}


@pytest.mark.parametrize("name", AT_RUN_TIME)
def test_what_is_known_only_at_run_time(name, tmp_path):
    body, fine, failing = AT_RUN_TIME[name]
    program = program_of(body, tmp_path)
    primal = assert_like_python(program, X, fine, 5)
    with pytest.raises(SdfgadError, match="In Python `except` goes on"):
        checked_outputs(primal, X, failing, 5)


def in_a_branch(x):
    tol = 0
    table = {"a": 2.0}
    y = np.sum(x)
    if x[0] > 1.0:
        y = y * 3.0
        y = y + len(x) / tol
    elif x[0] < -1.0:
        return y * table["b"]
    return y * table["a"]


def in_a_function_in_a_branch(x):
    def mean(values):
        return sum(values) / len(values)

    y = np.sum(x**2)
    if y > 100.0:
        y = y + mean([])
    return y


def in_a_side_of_an_expression(x):
    y = np.sum(x)
    if x[0] > 1.0:
        y = y * (x[1] if x[1] > 0.0 else {}["k"])
    return y


class TestWhatRaisesOnlyWhereDataLeads:
    """A branch that data does not take may do what Python cannot: it is a check at run time."""

    X = np.array([0.5, 2.0, -0.3])

    def test_not_taken(self):
        np.testing.assert_allclose(sdfgad.differentiate(in_a_branch, wrt="x")(self.X), [2.0] * 3)
        np.testing.assert_allclose(sdfgad.differentiate(in_a_function_in_a_branch, wrt="x")(self.X), 2.0 * self.X)

    def test_taken(self):
        g = sdfgad.differentiate(in_a_branch, wrt="x")
        for first, what, line in ((2.0, "ZeroDivisionError", "/ tol"), (-2.0, "KeyError", 'table["b"]')):
            x = np.array([first, *self.X[1:]])
            with pytest.raises(ProgramRaises, match=f"Python raises {what} here") as caught:
                g.value(x)
            assert str(caught.value.where) == line_of(in_a_branch, line)
        np.testing.assert_allclose(g(self.X), [2.0] * 3)

    def test_in_a_side_of_an_expression(self):
        g = sdfgad.differentiate(in_a_side_of_an_expression, wrt="x")
        for x in (self.X, np.array([1.5, 2.0, -0.3]), -self.X):
            assert g.value(x) == pytest.approx(in_a_side_of_an_expression(x))

    def test_what_is_certain_is_said_at_once(self):
        with pytest.raises(sdfgad.errors.PythonRaises, match="ZeroDivisionError"):
            sdfgad.differentiate(lambda x: np.sum(x) + len(x) / 0)(self.X)


DECIDED = {
    "raise": "try:\n    if s > 0.5:\n        raise ValueError('no')\n    u = x\nexcept ValueError:\n"
    "    u = x * 2\nreturn np.sum(u)",
    "a key in a branch": "try:\n    u = x * 1.0\n    if s > 0.5:\n        u = x * {}['k']\nexcept KeyError:\n"
    "    u = x * 2\nreturn np.sum(u)",
    "a key in a choice": "try:\n    u = {}['k'] if s > 0.5 else s\nexcept KeyError:\n    u = 2.0\nreturn np.sum(x) * u",
}


@pytest.mark.parametrize("name", DECIDED)
def test_handlers_of_branches_that_the_call_decides(name, tmp_path):
    program = program_of(DECIDED[name], tmp_path)
    for s in (0.7, 0.3):
        assert_value_and_slope(program, X, s, 5)
