"""Batched programs compute for each entry what the program for one does; one compiled program for all."""

import numpy as np
import pytest
import scipy.linalg

import sdfgad
from sdfgad.batch.program import batched
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Call, walk
from tests.helpers_compiled import run_packed
from tests.helpers_ir import checked_outputs, parsed

N = 3
RNG = np.random.default_rng(5)
X, Y = RNG.standard_normal((2, N, 5))
A = RNG.standard_normal((N, 3, 3)) + 3.0 * np.eye(3)
B = RNG.standard_normal((N, 3))
TABLE = np.arange(12.0).reshape(3, 4)

# --- library functions


def solved(a, b):
    return np.linalg.solve(a, b)


def of_stacks(a, b):
    return np.linalg.solve(a * np.arange(1.0, 3.0)[:, None, None], np.stack([b, 2.0 * b])[..., None])


def of_one_matrix(a):
    w, v = np.linalg.eigh(a + a.T)
    q, r = np.linalg.qr(a)
    s = np.linalg.svd(a, compute_uv=False)
    d, log = np.linalg.slogdet(a)
    return np.linalg.inv(a) + v**2 * w + np.abs(q @ r) + s + np.linalg.det(a) + d * log + np.linalg.pinv(a)


def all_vectors(a):
    u, s, vh = np.linalg.svd(a[:, :2])
    return np.abs(u[:, :2] * s) @ np.abs(vh)


def factored(a):
    return np.linalg.cholesky(a @ a.T)


def eigen(a):
    w, v = np.linalg.eig(a + 0j)
    return np.sum(np.abs(v * w))


def by_factors(a, b):
    return scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b)


def banded(a, b):
    return scipy.linalg.solve_banded((1, 1), a + np.array([[0.0], [9.0], [0.0]]), b)


def transformed(x):
    return np.abs(np.fft.fft(x)) + np.sum(np.abs(np.fft.rfft(x))) + np.sum(np.fft.irfft(x))


def sorted_and_found(x, y):
    return np.argsort(x) + np.searchsorted(np.sort(x), y)


def of_positive(x):
    (found,) = np.nonzero(x > 0.0)
    return np.sum(x[found] * found)


def repeated_solves(a, n):
    x = np.ones(3)
    for k in range(n):
        x = np.linalg.solve(a + k * np.eye(3), x)
    return x


# --- control by data


def halved(x):
    n = 0
    while np.sum(x * x) > 0.5 and n < 50:
        x = x * 0.7
        n += 1
    return x, n


def swapped(x):
    a, b, k = x * 1.0, np.ones(5), 0
    while a.sum() < 10.0 and k < 20:
        a, b = b + 1.0, a * 0.5 + 0.3
        k += 1
    return a, b, k


def nested_loops(x, n):
    total, k = 0.0, 0
    while k < n:
        j = 0
        while total < x[j % 5] * 10.0 and j < k + 3:
            total += np.abs(x[j % 5]) + 0.1
            j += 1
        for m in range(j):
            total -= 0.01 * m
        k += 1
    return total, k


def triangle(x, n):
    total = 0.0
    for k in range(n):
        for j in range(k + 1):
            total += x[j] * k
    return total


def with_jumps(x):
    total = 0.0
    for k in range(5):
        if x[k] < -0.5:
            continue
        if x[k] > 1.0:
            return total, k
        total += x[k]
    return total, -1


def branches(x):
    y = np.zeros(5)
    if x[0] > 0.0:
        for k in range(4):
            y[k + 1] = y[k] + x[k] if x[k] > 0.1 else -x[k + 1]
        return y * 2.0
    return np.sin(x)


def guarded(a, b):
    if b[0] > 0.0:
        return np.linalg.solve(a, b)
    return b


# --- storage


def updated(x, y):
    x[1:] = x[:-1] * 2.0
    y += x
    y[::2] = x[0]
    return y + 1.0, np.sum(x)


def swaps(x):
    a, b = np.zeros(5), x.copy()
    for _ in range(3):
        a[1:] = b[:-1] * 0.5
        a[0] = b[-1]
        a, b = b, a
    return a - b


def gathered(x, i, j):
    return x[i[j]] * TABLE[j, 1] + np.sum(TABLE)


def scattered(x, i):
    y = np.zeros(4)
    np.add.at(y, i, x[:3])
    return y, np.max(x), np.cumsum(x), np.prod(x[:0])


def independent(x):
    return np.sum(TABLE, axis=0), x[:0], np.max(x) > 0.5


I, J = np.array([[0, 1, 4], [2, -1, 3], [0, 0, 1]]), np.array([[0, 2], [1, 1], [2, 0]])
COUNTS = np.array([0, 4, 2])
CASES = [
    *(
        (solved, (A, B), (0, 0)),
        (solved, (A[0], B), (None, 0)),
        (solved, (A[0], np.stack([B, B**2], axis=-1)), (None, 0)),
        (solved, (A, B[0]), (0, None)),
        (of_stacks, (A, B), (0, 0)),
    ),
    *((of_one_matrix, (A,), (0,)), (all_vectors, (A,), (0,)), (factored, (A,), (0,)), (eigen, (A,), (0,))),
    *((by_factors, (A, B), (0, 0)), (by_factors, (A[0], B), (None, 0)), (banded, (A, B), (0, 0))),
    *((banded, (A[0], B), (None, 0)), (transformed, (X[:, :4],), (0,)), (sorted_and_found, (X, Y), (0, 0))),
    *((sorted_and_found, (X[0], Y), (None, 0)), (of_positive, (X,), (0,)), (repeated_solves, (A, COUNTS), (0, 0))),
    *(
        (halved, (2 * X,), (0,)),
        (swapped, (X,), (0,)),
        (nested_loops, (X, COUNTS), (0, 0)),
        (triangle, (X, COUNTS), (0, 0)),
    ),
    *(
        (triangle, (X[0], COUNTS), (None, 0)),
        (with_jumps, (X,), (0,)),
        (branches, (X,), (0,)),
        (guarded, (A, B), (0, 0)),
    ),
    *(
        (updated, (X, Y), (0, 0)),
        (updated, (X, Y[0]), (0, None)),
        (swaps, (X,), (0,)),
        (gathered, (X, I, J), (0, 0, 0)),
    ),
    *((gathered, (X[0], I, J[0]), (None, 0, None)), (gathered, (X, I[0], J), (0, None, 0)), (independent, (X,), (0,))),
    *((scattered, (X, np.abs(I) % 4), (0, 0)), (scattered, (X, np.array([0, 0, 3])), (0, None))),
]


def entries(args, axes, size):
    return [[arg if axis is None else arg[k] for arg, axis in zip(args, axes, strict=True)] for k in range(size)]


def made(function, args, axes, size):
    """The batched program, its inputs, and the outputs for all entries by the interpreter."""
    each = [[np.array(value) for value in one] for one in entries(args, axes, size)]
    primal = parsed(function, *each[0])
    names = dict(zip(function.__code__.co_varnames, zip(args, axes, strict=True), strict=False))
    inputs = {primal.inputs[name]: arg if axis is None else arg[:size] for name, (arg, axis) in names.items()}
    varying = [primal.inputs[name] for name, (_, axis) in names.items() if axis is not None]
    batch = batched(primal.program, varying, size)
    return primal, batch, inputs | dict(primal.captured), [checked_outputs(primal, *one) for one in each]


@pytest.fixture(scope="module")
def all_cases():
    return [(case, made(*case, size)) for case in CASES for size in ((N, 1) if case[0] is branches else (N,))]


def test_all_entries_are_computed(all_cases):
    runs = [
        (batch.program, {n: v for n, v in given.items() if n in batch.program.inputs}, {})
        for _, (_, batch, given, _) in all_cases
    ]
    for found, ((function, *_), (_, batch, _, each)) in zip(run_packed(runs), all_cases, strict=True):
        for name, buffer in batch.program.outputs.items():
            expected = np.stack([one[name] for one in each])
            mine = found[name] if buffer in batch.buffers else np.broadcast_to(found[name], expected.shape)
            assert mine.shape == expected.shape, function.__name__
            np.testing.assert_allclose(mine, expected, rtol=1e-11, atol=1e-12, err_msg=function.__name__)


def test_all_library_functions_are_called(all_cases):
    called = {s.name for _, (primal, *_) in all_cases for s in walk(primal.program.body) if isinstance(s, Call)}
    # Those without a header are rules of other tests; only graphs call `lu`, and they are not batched. Those of
    # factors are in tests/optimise/invariants.
    apart = {"solve_pullback", "cholesky_pullback", "factor_banded", "solve_factored_band", "pure_callback", "lu"}
    apart |= {"inverse_factored", "determinant_factored", "sign_log_factored"}
    known = {n for n, one in LIBRARY.items() if one.header and not one.is_of_adjoints and not one.is_ordered}
    assert known - called <= apart


def test_what_does_not_depend_on_an_entry_is_computed_once(all_cases):
    batch = next(made[1] for (function, *_), made in all_cases if function is independent)
    assert batch.program.outputs["return[0]"] not in batch.buffers
    assert batch.program.outputs["return[2]"] in batch.buffers


# --- one entry that fails


def taken(x, i):
    return x[i] * 2.0


def refusing(x):
    if x[0] < 0.0:
        raise ValueError("negative")
    return np.sqrt(x)


SINGULAR = np.concatenate([A[:2], np.ones((1, 3, 3))])


@pytest.mark.parametrize(
    ("function", "good", "bad", "one"),
    [
        (solved, (A, B), (SINGULAR, B), 2),
        (by_factors, (A, B), (SINGULAR, B), 2),
        (repeated_solves, (A, COUNTS), (SINGULAR, np.ones(3, int)), 2),
        (taken, (X, COUNTS), (X, np.array([0, 5, 1])), 1),
        (refusing, (np.abs(X),), (np.abs(X) * np.array([[1.0], [1.0], [-1.0]]),), 2),
    ],
)
def test_an_entry_that_fails(function, good, bad, one):
    """The error is that of the entry alone; the next call is not affected."""
    mapped = sdfgad.vmap(function)
    expected = np.stack([function(*one) for one in zip(*good, strict=True)])
    np.testing.assert_allclose(mapped(*good), expected, rtol=1e-12)
    with pytest.raises(sdfgad.SdfgadError) as caught:
        mapped(*bad)
    with pytest.raises(sdfgad.SdfgadError) as alone:
        sdfgad.vmap(function)(*[value[one : one + 1] for value in bad])
    assert (type(caught.value), str(caught.value)) == (type(alone.value), str(alone.value))
    np.testing.assert_allclose(mapped(*good), expected, rtol=1e-12)
