"""Programs that are refused: the kind of error, what it says, and the line that it quotes."""

import functools
import re
import warnings

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import (
    AmbiguousArray,
    ArgumentError,
    IgnoredPrint,
    InvalidIndex,
    OutputError,
    ProgramRaises,
    Rebound,
    ShapeMismatch,
    UnboundVariable,
    UnsupportedProgram,
    UpdateOfCopy,
)
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope, outputs_of, parsed

ARGUMENTS = {
    "x": np.array([0.5, 1.5, 0.25, 2.0]),
    "y": np.array([2.0, 0.3, 0.75]),
    "a": np.arange(1.0, 13.0).reshape(3, 4),
    "z": np.array([1.0 + 2.0j, 0.5j]),
    "k": np.array([2, 0, 1]),
    "s": 0.7,
    "n": 2,
}

# Words of the parser for what users know by other names.
INTERNAL = re.compile(r"\b(Tensor|Record|Lin|Selection|Closure|Iteration)\b")

# A program's body, the line that is quoted, the kind of error, and what it says.
REFUSED = [
    # Indices.
    ("return x[1.5]", "return x[1.5]", UnsupportedProgram, r"indexing by 1\.5"),
    ("return x[y]", "return x[y]", UnsupportedProgram, "indexing by an array of float64"),
    ("return x[s]", "return x[s]", UnsupportedProgram, "indexing by a number of type float64"),
    ("return x[True]", "return x[True]", UnsupportedProgram, "indexing by True"),
    ("return x[s:]", "return x[s:]", UnsupportedProgram, "a slice bound that is"),
    ("return x['a':]", "return x['a':]", UnsupportedProgram, "a slice bound that is 'a'"),
    ("return x[::0]", "return x[::0]", UnsupportedProgram, "slice step cannot be zero"),
    ("return x[9]", "return x[9]", InvalidIndex, "index 9 is out of range for an axis of 4"),
    ("return x[0, 1]", "return x[0, 1]", InvalidIndex, "2 indices for an array of 1 dimensions"),
    ("return x[k, k]", "return x[k, k]", InvalidIndex, "2 indices for an array of 1 dimensions"),
    ("return x[x[:2] > 1]", "return x[x", ShapeMismatch, r"a boolean index must fit the array: shapes \(2\) and \(4\)"),
    ("u = x[x > 1]\nreturn u[x > 1]", "return u", ShapeMismatch, r"shapes \(4\) and \(2\)"),
    # Selections.
    ("u = x[x > 1]\nreturn u[x[x > 0] > 1]", "return u", ShapeMismatch, r"shapes \(4\) and \(2\)"),
    ("x[k[k > 0]] = y[y > 2]", "x[k", ShapeMismatch, r"shapes \(0\) and \(2\) do not broadcast"),
    ("x[k[k > 0]] = y", "x[k", ShapeMismatch, r"shapes \(3\) and \(2\) do not broadcast"),
    # Assignments.
    ("(x + 1.0)[0] = 2.0", "(x + 1.0)", UnsupportedProgram, "what is assigned to is a computed value"),
    ("k += x[:3]", "k +=", UnsupportedProgram, "cannot turn float64 into int64"),
    ("x += z[0]", "x +=", UnsupportedProgram, "cannot turn complex128 into float64"),
    ("u, v = x", "u, v", UnsupportedProgram, "4 values for 2 names"),
    ("u, v = s", "u, v", UnsupportedProgram, "cannot unpack a number of type float64"),
    ("u = (1, 2)\nu[0] = 3", "u[0]", UnsupportedProgram, "an item of a tuple is assigned to"),
    ("x.T.shape = 4, 1", "x.T", UnsupportedProgram, "an assignment to `x.T.shape`"),
    ("u = a.T\nu.shape = 12", "u.shape", UnsupportedProgram, "cannot be given another shape in place"),
    ("x.T += 1.0", "x.T", UnsupportedProgram, "an assignment to `x.T` is"),
    ("x[:2] = y", "x[:2]", ShapeMismatch, r"shapes \(3\) and \(2\) do not broadcast"),
    ("return x + y", "return x", ShapeMismatch, r"shapes \(4\) and \(3\) do not broadcast"),
    # Operators and expressions.
    ("return x if 1 // 0 else s", "return x", UnsupportedProgram, "Python raises ZeroDivisionError here"),
    ("for i in range(n):\n    x[i // 0] = 1.0", "x[i", UnsupportedProgram, "integer division by zero"),
    ("for i in range(-2, 2):\n    x[0] = 2 ** i", "x[0]", UnsupportedProgram, "to a power that may be negative"),
    ("return x if x else s", "return x", UnsupportedProgram, "truth value of an array is ambiguous"),
    ("return {1, 2}", "return {", OutputError, "return is a set, not an array or number"),
    ("return (3).nothing", "return (3)", UnsupportedProgram, "Python raises AttributeError"),
    ("return x.nothing", "return x", UnsupportedProgram, r"the attribute `\.nothing` of arrays"),
    ("return [1, 2][n + 7]", "return [1", UnsupportedProgram, "Python raises IndexError"),
    ("return missing", "return missing", UnboundVariable, "name `missing` is not defined"),
    ("return nothing.of.this", "return nothing", UnboundVariable, "name `nothing` is not defined"),
    ("return (yield x)", "return", UnsupportedProgram, "is not supported"),
    ("x.flags = 3", "x.flags", UnsupportedProgram, "an assignment to `x.flags` is not supported"),
    ("u = [1, 2]\nu[k[0]] = s", "u[k", UnsupportedProgram, "Python raises IndexError here"),
    # Loops.
    ("for i in range(s):\n    x[0] = 1.0", "for i", UnsupportedProgram, "not an integer: a number of"),
    ("for i in range(0, n, 0):\n    x[0] = 1.0", "for i", UnsupportedProgram, r"range\(\) step must not be zero"),
    ("for i in 5:\n    x[0] = 1.0", "for i", UnsupportedProgram, "a loop over an int is not supported"),
    ("return [v for v in 5]", "return [", UnsupportedProgram, "a loop over an int is not supported"),
    ("while True:\n    x[0] = 1.0", "while True", UnsupportedProgram, "this loop never ends"),
    (
        "u = s\nfor i in range(999 * n):\n    u = 'text' if u is s else print",
        "for i",
        Rebound,
        "`u` is re-bound to a str",
    ),
    (
        "u = [s]\nwhile s > 0.5:\n    u.append(s)\n    s *= 0.5\nu.sort()\nreturn s * sum(u)",
        "u.append",
        UnsupportedProgram,
        "a list is changed in a loop",
    ),
    (
        "u = set()\nwhile s > 0.5:\n    u.add('a')\n    s *= 0.5\nreturn s",
        "u.add('a')",
        UnsupportedProgram,
        "a set is changed in a loop",
    ),
    ("u = x\nwhile s > 0.5:\n    u = u[1:]\n    s *= 0.5\nreturn u[0]", "", Rebound, "`u` changes its shape"),
    (
        "u = 1\nwhile s > 0.5:\n    u = 'text'\n    s *= 0.5\nreturn s * len(u)",
        "while",
        Rebound,
        "`u` is re-bound to a str",
    ),
    # Arrays that a branch chooses.
    (
        "u = x[:3]\nwhile s > 0.5:\n    u[0] = 3.0\n    u = y if s > 0.6 else u\n    s *= 0.5\nreturn u",
        "u[0]",
        UpdateOfCopy,
        "is updated in place",
    ),
    # Calls.
    ("return open('a')", "return open", UnsupportedProgram, r"the function `open` is not supported"),
    ("return np.sum(x, nothing=1)", "return np", UnsupportedProgram, r"this call of `np.sum` is not supported: "),
    ("return np.sum('text')", "return np", UnsupportedProgram, "`np.sum` does not take these arguments: a string"),
    ("def f(u):\n    return f(u)\nreturn f(x)", "return f(u)", UnsupportedProgram, "the recursion is too deep"),
    ("f = lambda u: u\nreturn f(x, x)", "return f(x, x)", ArgumentError, "the call does not fit `lambda`"),
    ("def f(u):\n    return u\nreturn f()", "return f()", ArgumentError, "the call does not fit `f`: missing"),
    (
        "with open('a'):\n    return x",
        "with open",
        UnsupportedProgram,
        "the function `open` is not supported",
    ),
    ("import no_such_module\nreturn x", "import no", UnsupportedProgram, "Python raises ModuleNotFoundError"),
    ("from math import nothing\nreturn x", "from math", UnsupportedProgram, "Python raises ImportError"),
    ("from . import nothing\nreturn x", "from .", UnsupportedProgram, "Python raises ImportError"),
    ("del x[0]\nreturn x", "del x[0]", UnsupportedProgram, "`del` of an item of an array"),
    ("del x.T\nreturn x", "del x.T", UnsupportedProgram, "`del` of anything but a name or an item"),
    ("return {s, 1.0}", "return {", UnsupportedProgram, "an element of a set, is known only at run time"),
    # Functions.
    ("return np.linalg.inv(a)", "return np", ShapeMismatch, r"np\.linalg\.inv takes square matrices, not .* \(3, 4\)"),
    ("return np.linalg.det(x)", "return np", ShapeMismatch, r"np\.linalg\.det takes square matrices, not .* \(4,\)"),
    ("return np.linalg.qr(x)", "return np", ShapeMismatch, r"np\.linalg\.qr takes matrices, not"),
    ("return np.linalg.solve(a[:, :3], x)", "return np", ShapeMismatch, "the right side has another number of rows"),
    ("return np.linalg.pinv(a, rcond=s)", "return np", UnsupportedProgram, "only a cut-off that is a constant"),
    ("return np.linalg.qr(a, mode='complete')", "return np", UnsupportedProgram, "qr with mode='complete'"),
    ("return np.linalg.eig(a)[0]", "return np", ShapeMismatch, r"np\.linalg\.eig takes square matrices"),
    ("np.putmask(x, x > 1, y)", "np.put", UnsupportedProgram, "np.putmask with fewer values"),
    ("np.fill_diagonal(x, 1.0)", "np.fill", UnsupportedProgram, "np.fill_diagonal with `wrap`"),
    ("return x.item()", "return x", UnsupportedProgram, "only an array of one element is a number"),
    ("return np.searchsorted(x, y, sorter=k)", "return np", UnsupportedProgram, "np.searchsorted with a sorter"),
    ("np.add.at(x + 1.0, k, 1.0)", "np.add", UnsupportedProgram, "not an array that can be updated"),
    ("np.add.at(k, k, x[0])", "np.add", UnsupportedProgram, "adds float64 to an array of int64"),
    ("return k.astype(np.uint8) + 300", "return k", UnsupportedProgram, "the integer 300 is out of bounds for uint8"),
    ("return np.sort(z)", "return np", UnsupportedProgram, "sorting complex numbers"),
    ("return np.searchsorted(z, x)", "return np", UnsupportedProgram, "np.searchsorted of complex numbers"),
    ("return np.max(z)", "return np", UnsupportedProgram, "the maximum of complex numbers"),
    ("return np.matmul(x, s)", "return np", UnsupportedProgram, "do not take numbers"),
    ("return a @ y", "return a", ShapeMismatch, "inner extents 4 and 3 of a matrix product"),
    ("return np.zeros((n, 'a'))", "return np", UnsupportedProgram, "'a' stands where an integer must be known"),
    ("return np.zeros((-1, 2))", "return np", UnsupportedProgram, "negative dimension"),
    ("return np.array([x, a])", "return np", ShapeMismatch, "differ in their numbers of dimensions"),
    ("return np.concatenate([])", "return np", UnsupportedProgram, "need at least one array to concatenate"),
    ("return np.repeat(x, [1, 2])", "return np", ShapeMismatch, "2 numbers of repetitions for 4 elements"),
    ("return np.round(x > 1)", "return np", UnsupportedProgram, "np.round of booleans"),
    ("return np.nan_to_num(z)", "return np", UnsupportedProgram, "np.nan_to_num of complex numbers"),
    ("return np.take(x, k, mode='other')", "return np", UnsupportedProgram, "the mode 'other'"),
    ("return np.take(x, y)", "return np", UnsupportedProgram, "indexing by an array of float64"),
    ("return np.meshgrid(x, y, indexing='zz')[0]", "return np", UnsupportedProgram, "the indexing 'zz'"),
    ("return np.r_['c', x]", "return np", UnsupportedProgram, "strings in np.r_ and np.c_"),
    ("return np.mgrid[3]", "return np", UnsupportedProgram, "np.mgrid and np.ogrid take slices"),
    ("return np.linalg.multi_dot([a])", "return np", UnsupportedProgram, "at least two arrays"),
    ("return np.floor(z)", "return np", UnsupportedProgram, "np.floor"),
    ("return np.bitwise_and(x, 1)", "return np", UnsupportedProgram, "np.bitwise_and does not take float64"),
    ("return max([])", "return max", UnsupportedProgram, "Python raises ValueError"),
    ("return max(x, a[0])", "return max", UnsupportedProgram, "truth value of an array is ambiguous"),
    ("return float(x)", "return float", UnsupportedProgram, "only an array without axes is a Python number"),
    ("return sum(s)", "return sum", UnsupportedProgram, "has no items here"),
    ("return np.sum(a, axis=2)", "return np", UnsupportedProgram, "axis 2 does not fit an array of 2 dimensions"),
    ("return np.max(x[4:])", "return np", UnsupportedProgram, "over an axis that may be empty"),
    ("return np.transpose(a, (0, 0))", "return np", UnsupportedProgram, "are no permutation of 2 dimensions"),
    ("return a.reshape(5)", "return a", ShapeMismatch, r"12 elements do not fit the shape \(5,\)"),
    ("return np.squeeze(a, axis=0)", "return np", ShapeMismatch, "only axes of length 1 can be squeezed"),
    ("return np.tensordot(a, a, axes=([0], [0, 1]))", "return np", ShapeMismatch, "as many axes of the one array"),
    ("return np.moveaxis(a, (0, 1), 0)", "return np", UnsupportedProgram, "2 axes for 1 places"),
    (
        "import math\nreturn math.frexp(s)[0]",
        "return math",
        UnsupportedProgram,
        "math.frexp of a number that is known only",
    ),
    # Arguments that NumPy refuses, or that would be ignored.
    ("return np.concatenate((x, k), casting='no')", "return np", UnsupportedProgram, "int64 is not cast to float64 by"),
    ("return np.stack((x, x), dtype=int)", "return np", UnsupportedProgram, "float64 is not cast to int64 by the rule"),
    ("return np.einsum('i,i', x, x, dtype='f4')", "return np", UnsupportedProgram, "not cast to float32 by .* 'safe'"),
    ("return np.hstack((x, x), casting='any')", "return np", UnsupportedProgram, "the casting rule 'any'"),
    ("return np.concatenate((x, x), out=x, dtype=float)", "return np", UnsupportedProgram, "both `out` and `dtype`"),
    ("np.copyto(k, y)\nreturn x", "np.copyto", UnsupportedProgram, "float64 is not cast to int64 by the rule 'same_ki"),
    (
        "np.add(y, 1, out=k)\nreturn x",
        "np.add",
        UnsupportedProgram,
        "float64 is not cast to int64 by the rule 'same_ki",
    ),
    (
        "return x.astype(int, casting='safe')",
        "return x",
        UnsupportedProgram,
        "float64 is not cast to int64 by the rule",
    ),
    ("return np.linalg.svd(a @ a.T, hermitian=True)[1]", "return np", UnsupportedProgram, "svd of a Hermitian matrix"),
    ("return np.linalg.pinv(a, hermitian=True)", "return np", ShapeMismatch, "pinv takes square matrices"),
    ("return np.sort(x, order='f')", "return np", UnsupportedProgram, "the option `order` of np.sort is not supported"),
    ("x.sort(order='f')\nreturn x", "x.sort", UnsupportedProgram, "the option `order` of np.sort is not supported"),
    ("return np.argsort(x, order='f')", "return np", UnsupportedProgram, "the option `order` of np.argsort"),
    ("return np.searchsorted(x, y, 'middle')", "return np", UnsupportedProgram, "the side 'middle' of np.searchsorted"),
    ("return np.array(x, int, copy=False)", "return np", UnsupportedProgram, "cannot be made here without a copy"),
    ("return np.asarray([s, s], copy=False)", "return np", UnsupportedProgram, "cannot be made here without a copy"),
    (
        "return np.reshape(a.T, (2, 6), copy=False)",
        "return np",
        UnsupportedProgram,
        "cannot be reshaped without a copy",
    ),
    ("return np.linalg.outer(a, x)", "return np", ShapeMismatch, "np.linalg.outer takes vectors"),
    ("return np.quantile(x, -0.5)", "return np", ProgramRaises, "quantiles must be in the range"),
    ("return np.fft.fft(x, norm='other').real", "return np", ProgramRaises, "the norm of a Fourier transform"),
    ("return np.fft.rfft(z).real", "return np", ProgramRaises, "rfft transforms real numbers"),
    ("return np.fft.fft(x, axis=1).real", "return np", ShapeMismatch, "an array of 1 dimensions has no axis 1"),
    ("return np.fft.fft(x, -2).real", "return np", ProgramRaises, "a Fourier transform needs at least one"),
    (
        "return np.fft.fftn(a, (2,), (0, 1)).real",
        "return np",
        ProgramRaises,
        "lengths and the axes .* differ in nu",
    ),
    ("return np.logspace(0, 1, 5, base=y)", "return np", UnsupportedProgram, "np.logspace with an array as its base"),
    ("return np.pad(x, 2, 'edge', constant_values=3)", "return np", ProgramRaises, "this mode of np.pad does not"),
    ("return np.logical_or.reduce(a, dtype=float)", "return np", UnsupportedProgram, "no other dtype than bool"),
    ("return max(x[:0], key=abs)", "return max", InvalidIndex, "index 0 is out of range"),
    # Texts that depend on run-time values.
    ("return x if f'{s}' == '0.7' else y", "return x", UnsupportedProgram, "run-time values is compared"),
    ("return x if 'a' + f'{s}' in ('a',) else y", "return x", UnsupportedProgram, "run-time values is compared"),
    ("return x if '{}'.format(s) == '0.7' else y", "return x", UnsupportedProgram, "run-time values is compared"),
    ("return x * len(f'{s}')", "return x", UnsupportedProgram, "the length of a string that depends on run-time"),
    ("return x * {'a': 1}.get(f'{s}', 5)", "return x", UnsupportedProgram, "run-time values cannot be a key"),
    ("return {f'{s}': x}", "return {", UnsupportedProgram, "run-time values cannot be a key"),
    ("return np.convolve(x, y, 'other')", "return np", UnsupportedProgram, "the mode 'other' of a convolution"),
]


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"import numpy as np\n\ndef program({', '.join(ARGUMENTS)}):\n{lines}\n", folder).program


@pytest.mark.parametrize(("body", "line", "kind", "what"), REFUSED, ids=[c[0].replace("\n", "; ") for c in REFUSED])
def test_refusal_at_its_line(body, line, kind, what, tmp_path):
    with pytest.raises(kind, match=what) as caught:
        parsed(program_of(body, tmp_path), *ARGUMENTS.values())
    assert caught.value.where is not None
    assert caught.value.where.text.startswith(line)
    assert caught.value.todo
    assert not INTERNAL.search(str(caught.value))


@pytest.mark.parametrize(
    "body",
    [
        "return a[k[k > 0], k[k > 1]]",
        "u = x[x > 1]\nu[0] = 3.0\nreturn u * s",
        "return s, np.nonzero(x > 1)[0]",
        "return s * np.prod([v for v in x if v > 1])",
        "u = [s]\nwhile s > 0.5:\n    u.append(s)\n    s *= 0.5\nreturn s * sum(u)",
    ],
)
def test_what_was_refused_before_lengths_could_be_data(body, tmp_path):
    assert_like_python(program_of(body, tmp_path), *ARGUMENTS.values())


def test_refusals_of_definitions_say_what_to_write(tmp_path):
    with pytest.raises(UnsupportedProgram, match=r"this mode of np.pad is not supported\n.*\n  Use 'constant', 'edge'"):
        parsed(program_of("return np.pad(x, 2, 'median')", tmp_path), *ARGUMENTS.values())
    for body, what in [
        ("return np.fft.rfft(z).real", "np.fft.rfft transforms real numbers\n.*\n  NumPy raises here, too."),
        (
            "def f(u):\n    raise ValueError('no: never')\nreturn np.vectorize(f)(x)",
            r"raises `ValueError\('no: never'\)`",
        ),
    ]:
        with pytest.raises(ProgramRaises, match=what):
            parsed(program_of(body, tmp_path), *ARGUMENTS.values())


CRASHES = [
    ("np.add(x, x, out=x * 2.0)", "np.add", "`out` is not an array that can be updated"),
    ("return np.split(x, 0)[0]", "return np", "number of sections must be larger than 0"),
    ("u = (s, s)\nwhile s > 0.5:\n    u = (u, s)\n    s *= 0.5\nreturn u[1]", "while", "`u` changes its structure"),
    ("import functools\nreturn functools.partial(np.add, x)(s).shape[7]", "return", "Python raises IndexError"),
]


@pytest.mark.parametrize(("body", "line", "what"), CRASHES, ids=[c[0].replace("\n", "; ") for c in CRASHES])
def test_refusal_that_is_another_error(body, line, what, tmp_path):
    with pytest.raises((UnsupportedProgram, ShapeMismatch), match=what) as caught:
        parsed(program_of(body, tmp_path), *ARGUMENTS.values())
    assert caught.value.where.text.startswith(line)


def test_update_of_a_copy_is_one_kind_of_ambiguity():
    assert issubclass(UpdateOfCopy, AmbiguousArray)


# --- print


@pytest.mark.parametrize(("body", "lines"), [("print(x)\nprint(x)", 2), ("for i in range(3):\n    print(x[i])", 1)])
def test_print_is_ignored_with_a_warning_for_each_call(body, lines, tmp_path):
    program = program_of(f"{body}\nreturn x", tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parsed(program, *ARGUMENTS.values())
    assert {w.category for w in caught} == {IgnoredPrint}
    assert len({str(w.message) for w in caught}) == lines
    assert len(caught) == lines
    assert all("print is ignored at" in str(w.message) and ": print(" in str(w.message) for w in caught)


# --- functions that are made


def defaults(x, s):
    def helper(u, scale=s * 2.0, *rest, shift=1.0, **others):
        return u * scale + shift + len(rest) + len(others)

    s = 100.0
    return helper(x) + helper(x, 3.0, 4.0, 5.0, shift=s, other=1) + helper(u=x)


def late_names(x, s):
    def helper(u):
        return u * t

    t = s
    y = helper(x)
    t = 3.0
    return y + helper(x)


def recursive(x, s):
    def power(u, m):
        return u if m == 0 else power(u, m - 1) * u

    return power(x, 3) * s


def lambdas(x, s):
    def compose(f, g):
        return lambda u: f(g(u))

    return compose(lambda u: u * s, lambda u, v=x: u + v)(x)


def partials(x, s):
    def helper(u, v, w=1.0):
        return u * v + w

    first = functools.partial(helper, x, w=s)
    return first(2.0) + functools.partial(first, w=x)(s)


def writes_through(x, s):
    def helper(u):
        u[0] = s
        return u[1]

    return helper(x) * x


def closure_in_a_loop(x, s):
    fs = [lambda u, i=i: u * (i + s) for i in range(3)]
    total = 0.0
    for f in fs:
        total = total + f(x)
    return total


def comprehensions(x, s):
    i = 10.0
    rows = [x[i] * j for i in range(4) for j in (1.0, s) if i % 2 == 0]
    table = {i: x[i] for i in range(3)}
    return sum(v * v for v in rows) + table[2] * i + sum(v for v in x)


def walrus(x, s):
    if (t := s * 2.0) > 1.0:
        x = x * t
    return x + t


def formatted(x, s):
    name = f"{s} and {x}"
    return x * s if name else x


MADE = [defaults, late_names, recursive, lambdas, writes_through, closure_in_a_loop]


@pytest.mark.parametrize("program", [*MADE, comprehensions, walrus, formatted], ids=lambda p: p.__name__)
def test_functions_that_are_made_in_the_program(program):
    for s in (0.7, 0.3):
        assert_value_and_slope(program, ARGUMENTS["x"], s)


def test_partials_that_are_made_in_the_program():
    assert_like_python(partials, ARGUMENTS["x"], 0.7)


def number_among_numbers(x, s):
    return x * (s in (0.5, 0.7)) + (s not in (0.7, 0.9))


def test_membership_of_a_number_that_is_data():
    assert_like_python(number_among_numbers, ARGUMENTS["x"], 0.7)


def array_among_numbers(x, s):
    return x * (x in [1.0])


def test_membership_of_an_array():
    with pytest.raises(UnsupportedProgram):
        parsed(array_among_numbers, ARGUMENTS["x"], 0.7)


def tuples(x, s):
    return x * s, s, np.sum(x)


def test_each_entry_of_a_tuple_is_an_output():
    found = outputs_of(parsed(tuples, ARGUMENTS["x"], 0.7), ARGUMENTS["x"], 0.7)
    assert list(found) == ["return[0]", "return[1]", "return[2]"]


def compared_with_a_dict(x):
    if x[0] > [x[1], {}]:
        return x[0]
    return x[1]


def test_what_fails_in_the_test_of_an_if_names_its_line():
    with pytest.raises(UnsupportedProgram, match="a dict is not a number or an array") as caught:
        sdfgad.differentiate(compared_with_a_dict)(np.array([1.0, 2.0]))
    assert str(caught.value.where) == line_of(compared_with_a_dict, "if x[0]")
