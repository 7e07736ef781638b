"""Loops over lists of numbers, and of tuples of numbers, that are known while parsing."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope


def lines(program, *args, **options):
    return len(str(sdfgad.explain(program, *args, stage="parsed", **options)).splitlines())


def assembled(x, edges, n):
    """A matrix of a graph, as finite elements and networks assemble one, with all that iterators do to lists."""
    free = [k for k in range(n) if k % 4 != 1]
    weights = [(k, k % 5 + 0.5, [k + 1, -1 - k]) for k in range(n)]
    K = np.zeros((n, n))
    for a, b in edges:
        K[a, a] += x[a]
        K[b, b] += x[b] ** 2
        K[a, b] -= x[a] * x[b]
    total = 0.0
    for place, k in enumerate(free, 1):
        for m in reversed(free):
            if k == m:
                total += K[k, k] * place
            elif k in (2, 3):
                total -= x[k // 2] * K[k, m]
            else:
                total += np.sin(K[k, m]) * x[m - 1] * (k - m)
    for (k, w, (after, before)), m in zip(weights, range(n), strict=True):
        x[k] = x[k] * w + x[before] / (m + 2)
        if after < n:
            x[after] = x[after] - 0.1 * x[k] ** 2
        x[-1] += 0.01 * x[k] * x[0]
        total += 0.5 * w
    return total + np.sum(x * x) + k * x[k]


RNG = np.random.default_rng(2)
EDGES = [tuple(int(v) for v in RNG.choice(17, 2, replace=False)) for _ in range(40)]


def test_loops_stay_and_gradients_are_right():
    x = RNG.uniform(0.2, 1.0, 17)
    assert lines(assembled, x, EDGES, 17) < 80
    g = sdfgad.differentiate(assembled, wrt="x")
    assert g.value(x.copy(), EDGES, 17) == pytest.approx(assembled(x.copy(), EDGES, 17), rel=1e-13)
    sdfgad.check_grads(assembled, x, EDGES, 17, wrt="x")
    # Another list is another program.
    others = EDGES[::-1]
    assert g.value(x.copy(), others, 17) == pytest.approx(assembled(x.copy(), others, 17), rel=1e-13)


def pulled(pos, bonds, steps):
    for _ in range(steps):
        F = np.zeros_like(pos)
        for i, j in bonds:
            d = pos[i] - pos[j]
            F[i] -= d / (d @ d + 0.1)
            F[j] += d / (d @ d + 0.1)
        pos = pos + 0.01 * F
    return np.sum(pos * pos)


def test_a_program_does_not_grow_with_its_bonds():
    pos = RNG.random((12, 3))
    bonds = [tuple(int(v) for v in RNG.choice(12, 2, replace=False)) for _ in range(60)]
    assert lines(pulled, pos, bonds[:30], 3, wrt="pos") == lines(pulled, pos, bonds, 3, wrt="pos")
    sdfgad.check_grads(pulled, pos, bonds, 3, wrt="pos")


def in_single_precision(x):
    y = x.copy()
    for w in [0.5, 0.25, 1.5, -2.0, 0.125] * 16:
        y = y + w * x[0]
        x[1] = x[1] + 0.01 * w
    return np.sum(y) + np.sum(x)


def test_numbers_do_not_promote():
    x = np.ones(3, np.float32)
    g = sdfgad.differentiate(in_single_precision)
    assert lines(in_single_precision, x) < 30
    assert g.value(x.copy()).dtype == np.float32
    assert g.value(x.copy()) == pytest.approx(in_single_precision(x.copy()), rel=1e-6)


def shifted(u, shifts):
    total = 0.0
    for s in [1, 2, 3, 4, 5, 6, 7, 8] * 10:
        total += np.sum(np.roll(u, s)[:2])
    for key in range(5):
        total += {0: 1.0, 1: u[0], 2: u[1], 3: 2.0, 4: u[2]}[key]
    for s in shifts:
        total = total + u[s] * s
    return total


def changed(x):
    ids = [0, 1, 2, 3, 4] * 16
    for k in ids:
        if len(ids) < 83:
            ids.append(2)
        x[k] = x[k] * 1.01 + 0.1
    return np.sum(x)


def stopped(x):
    for k in [0, 1, 2, 3, 4] * 16:
        if x[k] > 5.0:
            break
        x[k] = x[k] * 1.3
    return np.sum(x)


def whole(x):
    y = np.zeros(50)
    for w in [0.5, 0.25, 1.5, -2.0] * 16:
        y = y + w * np.sin(x)
    return np.sum(y)


@pytest.mark.parametrize(
    ("program", "args"),
    [(shifted, (np.linspace(0.5, 1.5, 9), [0, 3, 5, 8, 1, 2])), (changed, (np.ones(5),)), (stopped, (np.ones(5),))],
)
def test_what_needs_the_numbers_is_written_out(program, args):
    g = sdfgad.differentiate(program, wrt=program.__code__.co_varnames[0])
    assert g.value(*(arg.copy() for arg in args)) == pytest.approx(program(*(arg.copy() for arg in args)), rel=1e-13)


def test_whole_arrays_are_statements_of_their_own():
    assert lines(whole, np.ones(50)) > 64


def snapshots(u, steps, kappa):
    shown = {3, 4, 9, 17, 39}
    kept, times, t = [u.copy()], [0.0], 0.0
    for n in range(steps):
        t += 0.1
        u = u + kappa * np.sin(u)
        u[0] = u[1]
        if n in shown:
            kept.append(u.copy())
            times.append(t)
        if n > 30 and n % 7 == 2:
            kept.append(u * 2.0)
    return sum(np.sum(s**2) * (k + 1) for k, s in enumerate(kept)) + np.sum(np.array(times) ** 2)


def test_lists_that_some_known_trips_fill():
    """The trips need not be equally far from each other."""
    u = np.linspace(0.5, 1.5, 9)
    assert lines(snapshots, u, 60, 0.1, wrt="u") < 100
    assert sdfgad.differentiate(snapshots, wrt="u").value(u, 60, 0.1) == pytest.approx(snapshots(u, 60, 0.1), rel=1e-13)
    sdfgad.check_grads(snapshots, u, 60, 0.1, wrt=("u", "kappa"))


def by_keys(x, n):
    weights, seen, total = {0: 1.5, 3: 2.5, 4: 1.0}, {1}, 0.0
    for k in range(n):
        if k in weights and k not in (4,):
            total += x[k] * 2
        elif k % 5 not in {1, 2}:
            total += x[k] ** 3
    for k in range(n):
        if k % 4 in seen:
            total += x[k] ** 2
        else:
            seen.add(k % 4)
            total += np.sin(x[k])
    return total


def test_counters_may_be_looked_for_in_sets_and_dicts():
    x = np.linspace(0.5, 1.5, 12)
    assert sdfgad.differentiate(by_keys, wrt="x").value(x, 12) == pytest.approx(by_keys(x, 12), rel=1e-14)
    sdfgad.check_grads(by_keys, x, 12, wrt="x")


def looked_up(x, n):
    elements = [[k, k + 1, (k * 7) % n] for k in range(n - 1)]
    kind = [k % 3 for k in range(n - 1)]
    weights = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 7.5]
    K = np.zeros((n, n))
    for e in range(n - 1):
        for a in range(3):
            for b in range(3):
                K[elements[e][a], elements[e][b]] += x[e] * (a + 1) * (b + 2)
        if kind[e] == 1:
            K[e, e] += x[e] ** 2
        elif kind[e] == 2:
            K[elements[e][0], elements[e][2]] *= 0.5
    total = np.sum(K * K)
    for k in range(30):
        total += x[k % 7] * weights[k % 7 - 3] + weights[-1 - k % 7]
        x[k % 7] = x[k % 7] * 0.5 + 0.01 * total
    return total


def counted(x, n):
    hits, total = [0] * 8, 0.0
    for k in range(n):
        hits[(k * 3) % 8] += 1
        total += x[k] * hits[(k * 3) % 8]
    return total


def beyond(x, n):
    weights = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5] * 12
    total = 0.0
    for k in range(n):
        total += x[k] * weights[k]
    return total


def stages(y, n):
    c = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    for _ in range(n):
        for s in range(6):
            y = y + c[s] * np.sin(y)
    return np.sum(y)


def test_lists_are_looked_up_by_counters():
    x = np.linspace(0.5, 1.5, 20)
    assert lines(looked_up, x, 20, wrt="x") < 40
    assert lines(stages, x, 5, wrt="y") > 15
    for program in (looked_up, counted):
        assert sdfgad.differentiate(program, wrt="x").value(x.copy(), 20) == pytest.approx(program(x.copy(), 20))
        sdfgad.check_grads(program, x, 20, wrt="x")


def long_integers(x):
    total = 0.0
    for n in [2**62, 2**40, 3, 2**63 - 1, 5] * 16:
        total += x[0] * (n * n % 1000003)
    return total


def test_long_integers_are_pythons():
    assert sdfgad.differentiate(long_integers).value(np.ones(3)) == pytest.approx(long_integers(np.ones(3)), rel=1e-14)


def test_a_place_outside_of_a_list():
    g = sdfgad.differentiate(beyond, wrt="x")
    assert g.value(np.ones(80), 72) == pytest.approx(beyond(np.ones(80), 72))
    with pytest.raises(sdfgad.errors.InvalidIndex, match="out of range") as error:
        g.value(np.ones(80), 80)
    assert "total += x[k] * weights[k]" in str(error.value)


def changed_from_outside(x):
    """A later trip reads what an earlier one has put into the list of its item, not by the item's own name."""
    pairs = [[0.5 + 0.01 * k, 1.0] for k in range(60)]
    total = 0.0
    for pair in pairs:
        total = np.sin(total) + pair[0] * x[0] + x[1] * pair[1]
        pairs[50][1] = pairs[50][1] + 0.1
    rows = []
    for k in range(60):
        rows.append((np.sin(x) * k, x[0] * k))
    labelled = [(row, [1.0, 2.0]) for row in rows]
    for (v, w), own in labelled:
        total = np.sin(total) + own[0] * v[0] + v[1] * own[1] + w
        labelled[50][1][1] = 3.5
    return total


def test_lists_in_items_may_be_changed_by_other_names():
    x = np.array([0.3, 0.8])
    assert sdfgad.differentiate(changed_from_outside).value(x) == pytest.approx(changed_from_outside(x), rel=1e-12)
    sdfgad.check_grads(changed_from_outside, x)


def integrals(x):
    """Loops of two and three trips within each other, over lists that others choose."""
    exponents, weights = np.array([3.4, 0.62, 0.17]), (0.15, 0.53, 0.44)
    basis = [(x[k], list(zip(exponents * x[k + 1] ** 2, weights, strict=True))) for k in range(2)]
    total = np.zeros((2, 2, 2))
    for i, (at, first) in enumerate(basis):
        for j, (to, second) in enumerate(basis):
            for a, wa in first:
                for b, wb in second:
                    for k in range(2):
                        for c, wc in basis[k][1]:
                            total[i, j, k] += wa * wb * wc * np.exp(-((at - to) ** 2) / (a + b) - c * basis[k][0])
    return np.sum(total**2)


def test_short_loops_within_each_other_are_loops():
    x = np.array([0.3, 0.7, 1.2])
    assert str(sdfgad.explain(integrals, x, stage="parsed")).count("exp(") <= 12
    assert_value_and_slope(integrals, x)
