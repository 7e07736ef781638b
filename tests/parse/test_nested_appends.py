"""Lists to which loops in loops append: the rows of one array, and known integers where these are indices."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.linalg import spsolve

import sdfgad
from sdfgad.errors import SdfgadError
from sdfgad.ir.program import walk
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope, parsed

IDS = np.array([3, 0, 2, 1, 1, 3, 0, 2])
FLAGS = np.array([True, False, True, True, False, True, False, True])
PAIRS = [(0, 1), (1, 2), (3, 0), (2, 2), (1, 3), (0, 3), (2, 1)]


def size_of(program, *args):
    return len(list(walk(parsed(program, *args).program.body)))


# --- assembly of finite elements


def mesh(columns):
    """Nodes and triangles of a strip of two rows of squares."""
    x, y = np.meshgrid(np.linspace(0.0, 1.0, columns + 1), np.linspace(0.0, 1.0, 3), indexing="ij")
    corners = [(i * 3 + j, (i + 1) * 3 + j) for i in range(columns) for j in range(2)]
    triangles = [part for a, b in corners for part in ((a, b, a + 1), (b, b + 1, a + 1))]
    return np.stack([x.ravel(), y.ravel()], axis=1), np.array(triangles)


def stiffness(xy):
    b, c = xy[[1, 2, 0], 1] - xy[[2, 0, 1], 1], xy[[2, 0, 1], 0] - xy[[1, 2, 0], 0]
    area = 0.5 * (b[0] * c[1] - b[1] * c[0])
    return (np.outer(b, b) + np.outer(c, c)) / (4 * area)


def by_triplets(kappa, nodes, triangles):
    n, rows, cols, vals = len(nodes), [], [], []
    for e, nodes_e in enumerate(triangles):
        Ke = kappa[e] * stiffness(nodes[nodes_e])
        for a in range(3):
            for b in range(3):
                rows.append(nodes_e[a])
                cols.append(nodes_e[b])
                vals.append(Ke[a, b])
    K = coo_matrix((vals, (rows, cols)), shape=(n, n)).tocsc()
    u = spsolve(K[3:, 3:], np.ones(n - 3))
    return np.sum(u * u)


def by_known_lists(columns):
    """The same with lists of integers from outside, whose items an inner loop looks up."""
    nodes, triangles = mesh(columns)
    elements = [tuple(map(int, one)) for one in triangles]

    def program(kappa):
        rows, cols, vals = [], [], []
        for e, element in enumerate(elements):
            Ke = kappa[e] * np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])
            for a in range(3):
                for b in range(3):
                    rows.append(element[a])
                    cols.append(element[b])
                    vals.append(Ke[a, b])
        A = csr_matrix((np.array(vals), (np.array(rows), np.array(cols))), shape=(len(nodes),) * 2)
        return np.sum((A @ nodes[:, 0]) ** 2) + vals[4] * len(vals)

    return program


def by_dofs(E, L):
    n, rows, cols, vals = 2 * len(L) + 2, [], [], []
    for e in range(len(L)):
        l = L[e]
        k = E[e] * np.array([[12, 6 * l, -12, 6 * l], [6 * l, 4 * l**2, -6 * l, 2 * l**2]]) / l**3
        dofs = np.array([2 * e, 2 * e + 1, 2 * e + 2, 2 * e + 3])
        for a, A in enumerate(dofs):
            for b in range(4):
                rows.append(A)
                cols.append(dofs[b])
                vals.append(k[a % 2, b] * (1.0 if a == b else 0.1))
    K = csr_matrix((vals, (rows, cols)), shape=(n, n))
    return np.sum((K @ np.linspace(0.0, 1.0, n)) ** 2)


def dense(E, L):
    n, i, j, v = len(L) + 1, [], [], []
    for e in range(len(L)):
        k = E[e] / L[e] * np.array([[1.0, -1.0], [-1.0, 1.0]])
        ids = [e, e + 1]
        i.extend(np.repeat(ids, 2))
        j += [ids[0], ids[1], ids[0], ids[1]]
        v.extend(k.ravel())
    K = np.zeros((n, n))
    np.add.at(K, (i, j), v)
    return np.linalg.solve(K[1:, 1:], np.ones(n - 1))[-1]


def five_points(k):
    n, m = k.shape
    rows, cols, vals = [], [], []
    for i in range(n):
        for j in range(m):
            here, total = i * m + j, 1.0
            for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if 0 <= i + di < n and 0 <= j + dj < m:
                    c = 0.5 * (k[i, j] + k[i + di, j + dj])
                    rows.append(here)
                    cols.append(here + di * m + dj)
                    vals.append(-c)
                    total = total + c
            rows.append(here)
            cols.append(here)
            vals.append(total)
    A = coo_matrix((vals, (rows, cols)), shape=(n * m, n * m)).tocsc()
    return np.sum(spsolve(A, np.arange(n * m) * 1.0) ** 2)


def distances(x):
    d, which = [], []
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d.append(np.sqrt(np.sum((x[i] - x[j]) ** 2) + 0.1))
            which.append((i, j))
    d = np.array(d)
    return np.sum(1 / d**2 - 1 / d) + np.sum(x[which[4][0]] * x[which[-1][1]])


def cases(size):
    nodes, triangles = mesh(size)
    weights = 1.0 + 0.1 * np.arange(4 * size)
    bars = 1.0 + 0.1 * np.arange(2 * size), 1.0 + 0.01 * np.arange(2 * size)
    return {
        "triplets": (by_triplets, weights, nodes, triangles),
        "known lists": (by_known_lists(size), weights),
        "dofs": (by_dofs, *bars),
        "dense": (dense, *bars),
        "five points": (five_points, 1.0 + np.sin(np.arange(8.0 * size)).reshape(2 * size, 4) ** 2),
        "distances": (distances, np.sin(np.arange(9.0 * size)).reshape(3 * size, 3)),
    }


@pytest.mark.parametrize("name", cases(3))
def test_statements_do_not_grow_with_the_trips(name):
    assert size_of(*cases(9)[name]) == size_of(*cases(18)[name]) < 70


@pytest.mark.parametrize("name", cases(3))
def test_values_and_slopes(name):
    program, *args = cases(3)[name]
    assert_value_and_slope(program, *args)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["triplets", "five points"])
def test_compiled_gradients(name):
    program, first, *others = cases(3)[name]
    names = {"triplets": "kappa", "five points": "k"}
    g = sdfgad.differentiate(program, wrt=names[name])
    assert g.value(first, *others) == pytest.approx(program(first, *others), rel=1e-12)
    sdfgad.check_grads(program, first, *others, wrt=names[name])


# --- other forms


def in_order(x, s):
    """Appends before, in and behind inner loops, of several kinds."""
    v = [x[0]]
    for i in range(6):
        v.append(x[i % 4] * s)
        for j in range(i % 3):
            v.append(0.5)
            for k in range(j, 3):
                v.append(x[k] * s + i)
        for a in IDS:
            if (a + i) % 3 == 0:
                v.append(x[a] ** 2 * s)
            else:
                v.append(float(i) * s)
    w = np.array(v)
    return np.sum(w * np.arange(len(w))) + v[7] * v[-1]


def rows_of_two_shapes(x, s):
    v = []
    for i in range(6):
        for j in range(3):
            v.append(x[:2] * s * i)
            if j > 0:
                v.append(x[1:] * (s + j))
    return sum(np.sum(one) * k for k, one in enumerate(v))


def of_known_conditions(x, s):
    v, t = [], 0.0
    for i, flag in enumerate(FLAGS):
        for j in range(IDS[i] + 1):
            if flag:
                v.append(x[j % 4] * s)
            t = t + s * j
            v.append(t)
    return np.sum(np.array(v) ** 2)


def of_arrays_made_in_trips(x, s):
    ids, v = [], []
    for i in range(6):
        a = np.array([i, i + 1]) % 4
        b = a + 1
        a[0] = 2
        c = b[0] + a[0]
        for j in range(2):
            ids.append(b[j] % 4)
            v.append(x[a[j]] * s)
            ids.append(c % 4)
            v.append(x[b[j] % 4])
        a[1] = 0
        ids.append(a[1])
        v.append(s)
    return np.sum(x[np.array(ids)] * np.array(v))


def by_a_counter(x, s):
    ids, v = [], []
    for i in range(6):
        k = 0
        for j in range(3):
            ids.append(IDS[k])
            v.append(x[IDS[k]] * s + i * j)
            k = k + 1
    return np.sum(x[np.array(ids)] * np.array(v))


def read_in_an_inner_loop(x, s):
    v, t = [x[0]], x[1]
    for i in range(6):
        for j in range(3):
            v.append(np.sin(v[-1] + x[j] * s))
            t = t + len(v)
    return np.sum(np.array(v)) * t


def in_a_long_inner_loop(x, s):
    v = []
    for i in range(2):
        for j in range(20):
            v.append(x[j % 4] * s + i)
    return np.sum(np.array(v) ** 2) + v[25]


def in_inner_loops_that_break(x, s):
    v = []
    for i in range(6):
        for j in range(4):
            if j > i:
                break
            v.append(x[j] * s * i)
    return np.sum(np.array(v) ** 2)


def updated_after_it_was_appended(x, s):
    v = []
    for i in range(6):
        for j in range(3):
            y = x[:2] * s * (i + j)
            v.append(y)
            y += 1.0
    return np.sum(np.stack(v) ** 2)


def tuples(x, s):
    v, t = [], x[0]
    for i in range(6):
        for j in range(2):
            v.append((i, x[j] * s, x[:2] * (i + 1.0)))
    for i, a, b in v:
        t = t * 0.9 + x[i % 4] * a + np.sum(b)
    return t + v[3][1]


def two_lists_in_two_loops(x, s):
    v, total = [], 0.0
    for i in range(6):
        w = []
        for j in range(7):
            w.append(x[j % 4] * s + i)
            if j % 2:
                v.append(w[-1] * 0.5)
        total = total + np.sum(np.array(w) ** 2)
    return total + np.sum(np.array(v) ** 3)


def over_pairs(x, s):
    v, ids = [], []
    for i, j in PAIRS:
        for k in (i, j):
            v.append(x[k] * s)
            ids.append(k)
    for k, a in zip(ids, v, strict=True):
        s = s + x[k] * a
    return s


OTHERS = [
    *(in_order, rows_of_two_shapes, of_known_conditions, of_arrays_made_in_trips, by_a_counter, read_in_an_inner_loop),
    *(in_a_long_inner_loop, in_inner_loops_that_break, updated_after_it_was_appended, tuples, two_lists_in_two_loops),
    over_pairs,
]
X = np.array([0.3, 0.5, 0.7, 0.9])


@pytest.mark.parametrize("program", OTHERS)
def test_all_forms_are_right(program):
    assert_value_and_slope(program, X.copy(), 0.7)


@pytest.mark.parametrize("program", [in_order, of_known_conditions, of_arrays_made_in_trips, tuples])
def test_these_loops_stay(program):
    assert 6 in trips_of(program) or 8 in trips_of(program)


def trips_of(program):
    return [one.trips.const for one in walk(parsed(program, X, 0.7).program.body) if hasattr(one, "trips")]


def in_single_precision(x, s):
    v = []
    for i in range(6):
        for j in range(3):
            v.append(x[j] * s)
            v.append(0.5)
    return (v[1] * x, np.array(v), v[0] + v[1])


def test_python_numbers_among_rows_do_not_promote():
    found = sdfgad.differentiate(in_single_precision, wrt="x", output="return[0]").value(X.astype(np.float32), 0.7)
    expected = in_single_precision(X.astype(np.float32), 0.7)
    assert found.dtype == expected[0].dtype == np.float32
    assert_like_python(in_single_precision, X.astype(np.float32), 0.7)


def out_of_range(x, s):
    v = []
    for i in range(6):
        for j in range(3):
            v.append(x[j] * s)
    return v[18]


def test_an_item_that_is_not_there():
    with pytest.raises(SdfgadError, match=r"out of range[\s\S]*v\[18\]"):
        sdfgad.differentiate(out_of_range, wrt="x").value(X, 0.7)


def when_data_decides(x, s):
    v = []
    for i in range(6):
        for j in range(3):
            if x[j] > s:
                v.append(x[j] * s)
    return np.sum(np.array(v))


def test_data_that_decides():
    primal = assert_like_python(when_data_decides, X, 0.6)
    assert list(primal.guard.values.values()) == [6 * np.count_nonzero(X[:3] > 0.6)]
    assert_slope(when_data_decides, X, 0.6)
