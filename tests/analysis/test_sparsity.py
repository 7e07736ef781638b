"""Sparsity pattern propagation: patterns against those that are expected, and against differences."""

import copy

import numpy as np
import pytest
import scipy.sparse

import sdfgad
from sdfgad.analysis.sparsity import propagation
from sdfgad.analysis.sparsity.propagation import sparsity_pattern
from sdfgad.analysis.sparsity.rows import FEW, Rows, relation
from sdfgad.rules.expression import differentiable_args
from tests.helpers import line_of, module_from
from tests.helpers_ir import inputs_of, parsed


def pattern_of(program, *args, argument="x"):
    """The pattern of the output by an argument, as a dense array."""
    primal = parsed(program, *args)
    arrays, integers = inputs_of(primal, *args)
    known = {name: array for name, array in arrays.items() if np.asarray(array).dtype.kind in "iub"}
    output = primal.program.outputs["return"]
    found = sparsity_pattern(primal.program, primal.inputs[argument], output, differentiable_args, integers, known)
    return found.toarray()


def slopes(program, *args, position=0):
    """Where differences say that the Jacobian is not zero."""

    def value(x):
        passed = [x if k == position else copy.deepcopy(arg) for k, arg in enumerate(args)]
        return np.ravel(program(*passed))

    x, columns = args[position], []
    for k in range(x.size):
        step = 1e-5 * np.reshape(np.arange(x.size) == k, x.shape)
        columns.append(np.abs(value(x + step) - value(x - step)) > 1e-9 * np.maximum(np.abs(value(x)), 1.0))
    return np.array(columns).T


def position_of(args):
    """The position of the first floating array."""
    return next(k for k, arg in enumerate(args) if getattr(arg, "dtype", None) == np.float64)


def points(seed, *shape):
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape)


def near(n, below, above):
    offsets = np.arange(n) - np.arange(n)[:, None]
    return (offsets >= -below) & (offsets <= above)


def ends_fixed(pattern, ends):
    """The pattern of a stencil that leaves the first and last rows as they are."""
    fixed = np.eye(len(pattern), dtype=bool)
    return np.concatenate([fixed[:ends], pattern[ends:-ends], fixed[-ends:]])


def elementwise(x):
    return np.sin(x) * x + 2.0


def heat(steps, x):
    u = x.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def tridiagonal(x):
    r = np.zeros_like(x)
    r[1:-1] = x[2:] ** 2 - 2.0 * x[1:-1] + x[:-2]
    r[0], r[-1] = x[0] * x[1], x[-1] - x[-2]
    return r


def chosen(x):
    return np.where(x > 1.0, x, x[::-1] ** 2)


def chosen_by_place(x):
    return np.where(np.arange(6) < 2, x, np.roll(x, 1))


ORDER = np.array([3, 0, 0, 5])


def gathered(x):
    return x[ORDER] * x[0]


def gathered_by(x, places):
    return x[places] ** 2


def scattered_by(x, places):
    y = np.zeros(6)
    y[places] += x[: len(places)]
    return y


def reduced(x):
    return np.array([np.sum(x[:3]), np.max(x), np.mean(x[::2])])


def multiplied(x):
    return np.arange(1.0, 13.0).reshape(2, 6) @ x


def masked(x, mask):
    y = x[::-1].copy()
    y[mask] = x[mask] * x[0]
    return y


def ranked(x, keys):
    return x[np.argsort(keys)] * x[np.searchsorted(keys, 2)]


def solved(x):
    return np.linalg.solve(np.eye(6) + 0.1, x)


def solved_columns(x):
    return np.linalg.solve(np.eye(3) + 0.1, np.reshape(x, (3, 2)))


def summed_up(x):
    return np.cumsum(x)


def branched(x):
    y = x * 2.0
    if x[0] > 1.0:
        y[1] = x[2] * x[0]
    else:
        y[1] = x[3]
    return y


def branched_by(n, x):
    y = x * 2.0
    if n > 3:
        y[0] = x[n]
    return y


def run(n, x):
    y = x.copy()
    for i in range(1, n):
        y[i] = y[i - 1] * x[i]
    return y


def transformed(x):
    return np.fft.irfft(np.fft.rfft(np.reshape(x, (2, 3)), axis=0), n=2, axis=0)


def held(x):
    return x * sdfgad.stop_gradient(x[::-1]) + np.floor(x[::-1])


def counted(x):
    y, k = np.zeros(6), 0
    while k < 4:
        y[k] = x[k + 1]
        k += 2
    return y


def matrices(x):
    a = np.reshape(x, (2, 3))
    return a @ np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]])


MASK = np.array([True, False, False, True, True, False])
EYE, LOWER = np.eye(6, dtype=bool), np.tri(6, dtype=bool)
SIX = points(0, 6)


def places(shape, *entries):
    pattern = np.zeros(shape, bool)
    pattern[tuple(zip(*entries, strict=True))] = True
    return pattern


# The program, its arguments, and the pattern by `x`.
CASES = {
    "element-wise": (elementwise, (SIX,), EYE),
    "a stencil in a time loop": (heat, (2, points(1, 10)), ends_fixed(near(10, 2, 2), 1)),
    "a tridiagonal residual": (tridiagonal, (SIX,), near(6, 1, 1)),
    "np.where by data": (chosen, (SIX,), EYE | EYE[::-1]),
    "np.where by place": (chosen_by_place, (SIX,), np.concatenate([EYE[:2], EYE[1:5]])),
    "a constant gather": (gathered, (SIX,), EYE[ORDER] | (np.arange(6) == 0)),
    "a gather by an argument": (gathered_by, (SIX, np.array([2, -1, 2])), EYE[[2, 5, 2]]),
    "a scatter by an argument": (scattered_by, (SIX, np.array([4, -6])), places((6, 6), (4, 0), (0, 1))),
    "a mask": (masked, (SIX, MASK), np.where(MASK[:, None], EYE | (np.arange(6) == 0), EYE[::-1])),
    "an order of integers": (ranked, (SIX, np.array([1, 2, 5])), EYE[:3] | EYE[1]),
    "reductions": (reduced, (SIX,), np.array([[1, 1, 1, 0, 0, 0], [1] * 6, [1, 0] * 3], bool)),
    "a product": (multiplied, (SIX,), np.ones((2, 6), bool)),
    "a solution": (solved, (SIX,), np.ones((6, 6), bool)),
    "solutions by columns": (solved_columns, (SIX,), np.kron(np.ones((3, 3)), np.eye(2)) > 0),
    "cumulative sums": (summed_up, (SIX,), LOWER),
    "a branch by data": (branched, (SIX,), np.where(EYE[1][:, None], [1, 0, 1, 1, 0, 0], EYE) > 0),
    "a branch by an integer": (branched_by, (4, SIX), np.concatenate([EYE[4:5], EYE[1:]])),
    "the other side of it": (branched_by, (2, SIX), EYE),
    "a loop of a number of trips": (run, (4, SIX), np.where(np.arange(6)[:, None] < 4, LOWER, EYE)),
    "Fourier transforms": (transformed, (SIX,), np.kron(np.ones((2, 2)), np.eye(3)) > 0),
    "no gradient": (held, (SIX,), EYE),
    "a loop by a counter": (counted, (SIX,), places((6, 6), (0, 1), (2, 3))),
    "a product of matrices": (matrices, (SIX,), np.kron(np.eye(2), np.ones((2, 3))) > 0),
}


@pytest.mark.parametrize("case", CASES)
def test_patterns(case):
    program, args, expected = CASES[case]
    found = pattern_of(program, *args)
    np.testing.assert_array_equal(found, expected)
    if program is not held:
        assert not np.any(slopes(program, *args, position=position_of(args)) & ~found)


# --- what depends on data


def gathered_by_order(x):
    return x[np.argsort(x)] * 2.0


def scattered_by_order(x):
    y = np.zeros(6)
    y[np.argsort(x)] = np.arange(6.0)
    y[2] = x[0]
    y[np.argmax(x[:2])] = x[5]
    return y


def found_rows(x, table):
    return table[np.searchsorted(np.array([0.7, 1.0, 1.3]), x)] * x[0]


def flagged(x):
    y, is_large = x.copy(), False
    if x[0] > 1.0:
        is_large = True
    if is_large:
        y[1] = x[5]
    return y


def counted_by_data(x):
    k = 0
    for i in range(6):
        if x[i] > 1.0:
            k += 1
    return x * x[k % 6]


def test_an_index_by_data_may_be_any():
    np.testing.assert_array_equal(pattern_of(gathered_by_order, SIX), np.ones((6, 6), bool))
    found = pattern_of(scattered_by_order, SIX)
    assert found[:, 5].all()
    assert found[2, 0]
    assert found.sum() == 7
    assert pattern_of(found_rows, SIX, points(3, 4))[:, 0].all()
    assert pattern_of(found_rows, SIX, points(3, 4)).sum() == 6
    assert pattern_of(found_rows, SIX, points(3, 4), argument="table").all()
    np.testing.assert_array_equal(pattern_of(flagged, SIX), EYE | places((6, 6), (1, 5)))
    assert pattern_of(counted_by_data, SIX).all()


def halved(x):
    while np.sum(x) > 1.0:
        x = x * 0.5
    return x


def halved_some(x):
    n = int(x[0])
    for _ in range(n):
        x = x * 0.5
    return x


@pytest.mark.parametrize(("program", "line"), [(halved, "while np.sum"), (halved_some, "for _ in")])
def test_a_loop_that_ends_by_data_is_refused(program, line):
    with pytest.raises(sdfgad.UnsupportedProgram, match="how often this loop runs depends on data") as refusal:
        pattern_of(program, SIX)
    assert str(refusal.value.where) == line_of(program, line)
    assert "Pass a pattern, jacobian(f, sparsity=pattern)" in str(refusal.value)


# --- long loops


def mixed(steps, x):
    for _ in range(steps):
        x = x[ORDER_OF_SIX] * 0.5 + x
    return x


ORDER_OF_SIX = np.array([1, 2, 0, 4, 5, 3])


def test_a_loop_ends_where_nothing_changes_any_more(monkeypatch):
    taken = []
    plain = Rows.take
    monkeypatch.setattr(Rows, "take", lambda self, rows: taken.append(rows) or plain(self, rows))
    np.testing.assert_array_equal(pattern_of(mixed, 10**9, SIX), np.kron(np.eye(2), np.ones((3, 3))) > 0)
    assert len(taken) < 50


def test_a_counter_in_values_alone_does_not_keep_a_loop_from_ending():
    def program(x):
        for k in range(10**9):
            x = x + 0.1 * k * np.roll(x, 1)
        return x

    assert pattern_of(program, SIX).all()


def triangle(x):
    y = np.zeros((6, 6))
    for i in range(6):
        for j in range(i):
            y[i, j] = x[i] * x[j]
    return y


def test_nested_loops():
    expected = np.zeros((6, 6, 6), bool)
    for i, j in np.argwhere(np.tri(6, k=-1)):
        expected[i, j, [i, j]] = True
    np.testing.assert_array_equal(pattern_of(triangle, SIX), expected.reshape(36, 6))


# --- loops whose trips are independent


def by_rows(x):
    y, z = np.zeros(6), np.zeros((6, 3))
    for i in range(1, 5):
        y[i] = x[i - 1] * x[i + 1]
        for j in range(3):
            z[i, j] += x[2 * j] * x[i]
    return np.sum(z, axis=1) * y


def overwritten(x):
    y = np.zeros(6)
    for i in range(6):
        y[i // 2] = x[i] ** 2
    return y


def shifted(x):
    y = x.copy()
    for i in range(5):
        y[i + 1] = y[i] + x[i]
    return y


def test_loops_whose_trips_are_independent_do_not_run(monkeypatch):
    run = []
    plain = Rows.put
    monkeypatch.setattr(Rows, "put", lambda self, *args: run.append(args) or plain(self, *args))
    found = pattern_of(by_rows, SIX)
    inside = (near(6, 1, 1) & ~EYE | (np.arange(6) % 2 == 0) | EYE)[1:5]
    np.testing.assert_array_equal(found, np.concatenate([np.zeros((1, 6)), inside, np.zeros((1, 6))]))
    assert len(run) < 10


def test_what_trips_overwrite_may_count():
    found = pattern_of(overwritten, SIX)
    assert not np.any(slopes(overwritten, SIX) & ~found)
    np.testing.assert_array_equal(found, places((6, 6), *((i // 2, i) for i in range(6))))


def test_loops_whose_trips_depend_on_each_other_run():
    np.testing.assert_array_equal(pattern_of(shifted, SIX), np.where(EYE[0][:, None], EYE, np.tri(6, k=-1)) > 0)


# --- sparse matrices


def test_sparse_matrices_from_outside():
    matrix = scipy.sparse.random(9, 9, 0.2, "csr", rng=np.random.default_rng(4))
    x, expected = points(5, 9), matrix.toarray() != 0
    np.testing.assert_array_equal(pattern_of(lambda x: matrix @ x, x), expected)
    transposed = matrix.tocsc()
    np.testing.assert_array_equal(pattern_of(lambda x: transposed @ (x * x), x), expected)


@pytest.mark.parametrize("size", [FEW - 1, FEW + 1])
def test_rows_are_replaced(size):
    rng = np.random.default_rng(size)
    expected, matrix = np.zeros((20, 7), bool), Rows.empty(20, 7)
    for _ in range(20):
        rows = np.sort(rng.permutation(20)[: rng.choice([size, 1, 20])])
        values = rng.random((rows.size, 7)) < 0.3
        places = np.nonzero(values)
        before = matrix.copied()
        matrix.put(rows, relation(places[0], places[1], values.shape))
        assert matrix.is_like(before) == np.array_equal(expected[rows], values)
        expected[rows] = values
        some = rng.permutation(20)[:size]
        np.testing.assert_array_equal(matrix.take(some).toarray(), expected[some])
    np.testing.assert_array_equal(matrix.settled().toarray(), expected)


# --- random programs

STATEMENTS = (
    "y = y * np.roll(y, {k})",
    "y[{a}:{b}] = x[{a}:{b}] * y[{k}]",
    "y[{k}] += x[{a}] * x[{b}]",
    "y = np.where(np.arange(7) < {a}, y, x[::-1])",
    "y = np.where(x > 1.0, y, x[INDEX])",
    "y[INDEX] = x * y[{a}]",
    "y[::2] += np.cumsum(x[:4])",
    "y[{k}] = np.sum(x[{a}:{b}])",
    "y = np.sign(y) + x",
    "y = np.tril(np.outer(x, y)) @ np.arange(7.0)",
    "y[:6] = np.reshape(np.reshape(y[:6], (2, 3)).T @ np.eye(2), 6)",
    "y[{a}:{b}] = np.sort(y[{a}:{b}])",
    "for i in range({a}, n):\n        y[i] = y[i - 1] + x[i] * y[{k}]",
    "for i in range(n):\n        y[i] = x[i] * x[{k}]",
    "for i in range({b}):\n        for j in range({a}):\n            y[i] += x[j] * x[i + 1]",
    "for i in range({b}):\n        y[1:] = y[:-1] * x[i]",
    "if n > {k}:\n        y[{a}] = x[{b}]",
    "if x[{k}] > 1.0:\n        y[{a}] = x[{b}]\n    else:\n        y = y * x",
)
INDEX = np.array([4, 2, 6, 0, 1, 5, 3])


def random_program(seed, folder):
    """A function of `n` and `x` of a few of these statements."""
    rng = np.random.default_rng(seed)
    lines = []
    for statement in rng.choice(STATEMENTS, 4):
        a, b = sorted(rng.choice(7, 2, replace=False).tolist())
        lines.append("    " + statement.format(a=a, b=b, k=rng.integers(7)))
    body = "\n".join(lines)
    code = (
        f"import numpy as np\n\nINDEX = np.{INDEX!r}\n\n\ndef program(n, x):\n    y = x.copy()\n{body}\n    return y\n"
    )
    return module_from(code, folder).program


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed, tmp_path):
    program = random_program(seed, tmp_path)
    for n in (2, 7):
        found = pattern_of(program, n, points(seed, 7))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(propagation, "folded", lambda *_: ())
            patch.setattr(propagation.Deciding, "key", lambda *_: None)
            by_trips = pattern_of(program, n, points(seed, 7))
        assert not np.any(by_trips & ~found)
        for other in range(3):
            assert not np.any(slopes(program, n, points((seed, other), 7), position=1) & ~found)
