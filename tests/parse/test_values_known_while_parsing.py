"""What must be known while parsing, and is not: refused at its line, with advice."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import module_from
from tests.helpers_ir import parsed

X = np.random.default_rng(8).uniform(0.5, 1.5, 4)
REFUSED = [
    ("d = {s: 1.0}\nreturn d[s]", "d = {s", "a key of a dict, or an element of a set, is known only at run time"),
    ("return len(set(x))", "return len", "an element of a set, is known only at run time"),
    ("return sorted([x, x])[0]", "return sorted", "Python raises TypeError here: .* 'ndarray' and 'ndarray'"),
    ("return sum(filter(None, x))", "return sum", "which items are chosen depends on data"),
    (
        "import itertools\nreturn s * len(list(itertools.groupby(x)))",
        "return s",
        "the groups of `groupby` depend on data",
    ),
    (
        "import itertools\ng = list(itertools.groupby([1, 1, 2]))\nreturn s * len(list(g[0][1]))",
        "return s",
        "this iterator is used up",
    ),
    ("import operator\noperator.iadd(x, s)\nreturn x", "operator.iadd", r"`operator\.iadd` is not supported"),
    ("out = np.empty((3, 2), dtype=object)\nreturn s", "out = ", "arrays of objects with 2 axes are not supported"),
    (
        "out = np.empty(3, object)\nout[0] = s\nreturn out * 2",
        "return out",
        "arithmetic and comparisons of arrays",
    ),
    (
        "out = np.full(3, None)\nreturn s if (out == s)[0] else s",
        "return s if",
        "arithmetic and comparisons of",
    ),
    ("out = np.full(3, None)\nreturn len(out[1:]) * s", "return len", "a slice of an array of objects"),
    (
        "out = [None] * 1000\nfor i in range(1000):\n    out[i] = [s, i]\nreturn out[3][0]",
        "out[i]",
        "an item of a list is replaced in a loop",
    ),
    ("return next([s])", "return next", "`next` of a list is not supported"),
    ("return range(n)[7] * s", "return range", "the range has no item 7"),
    ("match s:\n    case {'a': v}:\n        u = v\nreturn u", "return u", "name `u` is not defined"),
]


@pytest.mark.parametrize(("body", "line", "what"), REFUSED)
def test_refusal_at_its_line(body, line, what, tmp_path):
    lines = "\n".join(f"    {one}" for one in body.split("\n"))
    program = module_from(f"import numpy as np\n\ndef program(x, k, s, n):\n{lines}\n", tmp_path).program
    with pytest.raises(SdfgadError, match=what) as caught:
        parsed(program, X, np.array([1, 0]), 0.7, 5)
    assert caught.value.where.text.startswith(line)
    assert caught.value.todo


def assembled(x, names):
    d = dict(zip(names, x, strict=True))
    d.update(c=d.pop("a") * d["b"])
    rows = [*sorted(d.values()), *(v for _, v in sorted(d.items()))]
    A = np.zeros((4, 4))
    for i in range(1, 3):
        A[i, i - 1 : i + 2] = rows[:3]
    return np.sum(A @ A)


def test_in_compiled_code():
    found = sdfgad.check_grads(assembled, np.array([0.4, 0.9]), ("a", "b"))
    assert found.rate > 1.9
