"""Index arrays that loops fill with known numbers, and matrices of sums: values as SciPy's, gradients by slopes."""

import numpy as np
import pytest
import scipy.sparse as sp

from sdfgad.errors import UnsupportedProgram
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_slope, outputs_of, parsed

X = np.array([0.7013, -0.3127, 1.1741, 0.4519, -0.8126, 0.2541])
HEAD = "import numpy as np\nimport scipy.sparse as sp\n\ndef program(x):\n"
END = "A = sp.coo_matrix((v, (r, c)), shape=(6, 6)).tocsr()\nreturn np.sum((A @ (x * x)) ** 2)"
MATRICES = """A = sp.coo_matrix((np.exp(x), (np.arange(6), (np.arange(6) * 5 + 1) % 6)), shape=(6, 6)).tocsc()
h, w = A.sum(1), A.sum(0)
m = (2.0 * w - x) / (1.0 + w) + w.T.T - (-h).T
a = np.asarray(A * x[np.newaxis].T / h)[:, 0] + np.asarray(A * (x[np.newaxis].T / h))[:, 0] ** 2
k = np.asarray(h * w) * np.arange(36.0).reshape(6, 6)
a = np.append(a, np.sum(A[[0, 1], [1, 2]] * x[0]))
return np.sum(a) + np.sum(k) + m.A1[1] + np.sum(np.asarray(w * x.reshape(6, 1))) + np.asarray(w * h)[0, 0]"""
RIGHT = {
    "one by one": "r, c, v = np.zeros(6, dtype=int), np.zeros(6, dtype=int), np.sin(x)\nfor e in range(6):\n"
    f"    r[e] = e\n    c[e] = (e * 5 + 1) % 6\n{END}",
    "rows": "ed, v = np.zeros((6, 2), dtype=int), x * 2.0\nfor e in range(6):\n"
    f"    ed[e, :] = np.array([e, (e + 2) % 6])\nr, c = ed[:, 0], ed[:, 1]\n{END}",
    "floats by a counter": "r, c, v, k = np.zeros(18), np.zeros(18), np.zeros(18), 0\nfor i in range(6):\n"
    "    for j in range(int(np.maximum(i - 1, 0)), int(np.minimum(i + 2, 6))):\n        r[k] = i\n        c[k] = j\n"
    f"        v[k] = np.maximum(0.0, 1.5 - abs(i - j)) * x[j]\n        k = k + 1\n{END}",
    "by branches, from the end": "r, c, v = np.zeros(6, dtype=int), np.full(6, 2), x + 1.0\nfor e in range(6):\n"
    "    if e % 3 == 1:\n        r[-1 - e] += 5 - e // 2\n    else:\n        r[-1 - e] = e\n        c[e] -= e // 3\n"
    f"c[1] = -(-5 // 2)\n{END}",
    "until a test fails": "r, c, v, e = np.zeros(6, dtype=int), np.zeros(6, dtype=int), np.cos(x), 0\n"
    f"while e * e < 30:\n    r[e] = e\n    c[5 - e] = max(e - 2, 0)\n    e += 1\n{END}",
    "before the loop that needs them": "r, c, s = np.zeros(6, dtype=int), np.zeros(6, dtype=int), 0.0\n"
    "for e in range(6):\n    r[e], c[e] = e, 5 - e\nfor t in range(3):\n"
    "    A = sp.csr_matrix((x * (t + 1), (r, c)), shape=(6, 6))\n    s = s + np.sum(A @ x) * x[t]\nreturn s",
    "from what a loop filled": "r, c, s, q = np.zeros(3, dtype=int), np.arange(6), 0.0, np.zeros(6, dtype=int)\n"
    "for e in range(3):\n    r[e] = 2 * e\nfor e in range(6):\n    q[e] = r[e // 2] + e % 2\n"
    f"r, v = q, x\n{END}",
    "sums as matrices": MATRICES,
    "used, then filled again": "r, c, v = np.zeros(6, dtype=int), np.arange(6), x\nfor e in range(6):\n"
    "    r[e] = 5 - e\nB = sp.coo_matrix((v, (r, c)), shape=(6, 6)).tocsr()\nfor e in range(6):\n    r[e] = e // 2\n"
    "A = sp.coo_matrix((v, (r, c)), shape=(6, 6)).tocsr()\nreturn np.sum((A @ (B @ x)) ** 2)",
    "until a test fails, after a check of data": "s = x[int(abs(x[0]) * 3.0)]\nr, e = np.zeros(6, dtype=int), 0\n"
    "while True:\n    if e * e > 30:\n        break\n    r[e] = 5 - e\n    e += 1\nfor k in range(100):\n"
    "    if k > r[k]:\n        break\n    r[k] = r[r[k]]\nc, v = np.arange(6), x * s\n" + END,
    "the places of a mask": "m, v = np.zeros((6, 6), dtype=bool), x\nfor e in range(6):\n"
    "    m[e, (e * 5) % 6] = True\nr, c = np.nonzero(m)\nfree = np.ones(6, dtype=int)\nfor e in range(6):\n"
    "    if e % 3 == 0:\n        free[e] = 0\nk = np.flatnonzero(free)\n"
    f"v = np.append(x[k], x[np.nonzero(free == 0)[0]])\n{END}",
    "sorted": "r, v = np.zeros(6, dtype=int), x + 1.0\nfor e in range(6):\n    r[e] = (e * 4 + 1) % 6\n"
    f"c, k = np.argsort(r, kind='stable'), np.zeros(6, dtype=int)\nr = np.sort(r)\nfor e in range(6):\n"
    f"    k[e] = np.searchsorted(r, e)\nr = k % 6\n{END}",
    "sums and lists of places": "r, c, v = np.zeros(6, dtype=int), np.zeros(6, dtype=int), x\nfor e in range(6):\n"
    f"    r[e] = np.sum(np.arange(6)[:e]) % 6\nfor e in range(3):\n    np.add.at(c, [e, e, e + 1], 1)\n{END}",
    "in a branch": "r, c, s = np.zeros(6, dtype=int), np.arange(6), 0.0\nfor e in range(6):\n    r[e] = 5 - e\n"
    "if x[0] > 0.3:\n    for e in range(3):\n        r[e] = e\n"
    "    s = np.sum((sp.csr_matrix((x, (r, c)), shape=(6, 6)) @ x) ** 2)\n    r[0] = 3\n"
    "else:\n    s = np.sum((sp.csr_matrix((x, (c, r)), shape=(6, 6)) @ x) ** 3)\n    r[1] = 2\n"
    "return s + x[r[0]] * x[r[1]]",
    "where a test excludes errors": "r, v, q = np.zeros(6, dtype=int), x, np.zeros(6)\n"
    "q[2] = np.nan\nfor e in range(6):\n"
    f"    r[e] = (5 // e if e > 0 else 5) + (0 if np.isnan(q[e]) else int(q[e]))\nc = np.arange(6)\n{END}",
    "changed by the loop that needs them": "r, c, s = np.zeros(6, dtype=int), np.arange(6), 0.0\nfor e in range(6):\n"
    "    r[e] = 5 - e\nfor t in range(3):\n    A = sp.csr_matrix((x, (r, c)), shape=(6, 6))\n    r[t] = 0\n"
    "    s = s + np.sum((A @ x) ** 2 * x)\nreturn s",
}


# NumPy advises against matrices that SciPy makes.
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("name", RIGHT)
def test_as_in_python(name, tmp_path):
    program = module_from(HEAD + "".join(f"    {line}\n" for line in RIGHT[name].split("\n")), tmp_path).program
    primal = parsed(program, X)
    for x in (X, X[::-1].copy()):
        np.testing.assert_allclose(outputs_of(primal, x)["return"], program(x.copy()), rtol=1e-13)
        assert_slope(program, x)


def of_length(x, n):
    r = np.zeros(n, dtype=int)
    for e in range(n):
        r[e] = n - 1 - e
    return np.sum((sp.csr_matrix((x[:n], (r, np.arange(n))), shape=(n, n)) @ x[:n]) ** 2)


def test_integers_that_decide_the_numbers_become_constants():
    for n in (2, 5):
        primal = parsed(of_length, X, n, constant={"n"})
        np.testing.assert_allclose(outputs_of(primal, X, n)["return"], of_length(X, n), rtol=1e-14)


def by_data(x):
    r = np.zeros(6, dtype=int)
    for e in range(6):
        if x[e] > 0.5:
            r[e] = 1
    return np.sum(sp.csr_matrix((x, (r, np.arange(6))), shape=(6, 6)) @ x)


def into_an_argument(x, start):
    for e in range(3):
        start[e] = e
    return np.sum(sp.csr_matrix((x, (start, np.arange(6))), shape=(6, 6)) @ x)


def from_an_argument(x, start):
    r = np.zeros(6, dtype=int)
    start[0] += 1
    for e in range(6):
        r[e] = start[e]
    return np.sum(sp.csr_matrix((x, (r, np.arange(6))), shape=(6, 6)) @ x)


def from_a_view(x, start):
    view, r = start[::-1], np.zeros(6, dtype=int)
    for e in range(6):
        r[e] = view[e]
        view[e] = 0
    return np.sum(sp.csr_matrix((x, (r, start + np.arange(6))), shape=(6, 6)) @ x * x)


@pytest.mark.parametrize("program", [into_an_argument, from_an_argument, from_a_view])
def test_arguments_that_are_updated_begin_with_their_numbers(program):
    for start in (np.array([1, 0, 2, 4, 5, 4]), np.array([2, 2, 1, 0, 3, 5])):
        primal = parsed(program, X, start.copy())
        assert primal.decisive
        np.testing.assert_allclose(outputs_of(primal, X, start.copy())["return"], program(X, start.copy()), rtol=1e-13)


def wraps_around(x):
    h, r = np.full(1, 2**62 + 12345), np.zeros(6, dtype=int)
    for e in range(6):
        r[e] = (h[0] * (e + 5)) % 6
    return np.sum(sp.csr_matrix((x, (r, np.arange(6))), shape=(6, 6)) @ x)


def test_integers_that_leave_64_bits_are_refused():
    with pytest.raises(UnsupportedProgram, match="known only at run time") as error:
        parsed(wraps_around, X)
    assert line_of(wraps_around, "csr_matrix") in str(error.value)


def long_loop(x):
    r = np.zeros(6, dtype=int)
    for e in range(10**12):
        if e < 6:
            r[e] = e
    return np.sum(sp.csr_matrix((x, (r, np.arange(6))), shape=(6, 6)) @ x)


def test_trips_without_a_statement_count(monkeypatch):
    monkeypatch.setattr("sdfgad.parse.partial_evaluation.MOST_RUNS", 1000)
    with pytest.raises(UnsupportedProgram, match="known only at run time"):
        parsed(long_loop, X)


def test_what_data_decides_is_refused():
    with pytest.raises(UnsupportedProgram, match="known only at run time") as error:
        parsed(by_data, X)
    assert line_of(by_data, "csr_matrix") in str(error.value)


def test_an_argument_that_decides_the_numbers_is_compared_in_later_calls():
    import sdfgad

    def program(x, start):
        r = np.zeros(6, dtype=int)
        for e in range(6):
            r[e] = (start[0] + e) % 6
        return np.sum((sp.csr_matrix((x, (r, np.arange(6))), shape=(6, 6)) @ x) ** 2 * x)

    g = sdfgad.differentiate(program, wrt="x")
    for first in (1, 4):
        start = np.array([first])
        value, gradient = g.value_and_grad(X, start)
        np.testing.assert_allclose(value, program(X, start), rtol=1e-14)
        ends = [program(X + h * np.cos(X), start) for h in (1e-6, -1e-6)]
        np.testing.assert_allclose(gradient @ np.cos(X), (ends[0] - ends[1]) / 2e-6, rtol=1e-7)
