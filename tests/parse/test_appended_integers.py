"""Lists to which loops append integers and truth values that data decides: the loops stay loops."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(1.1, 5.3, 10)


def solve(x, a):
    """Newton's method for a root, and the number of its steps."""
    for it in range(20):
        d = (x * x - a) / (2 * x)
        x = x - d
        if abs(d) < 1e-9:
            break
    return x, it


def counts(a):
    its, s = [], 0.0
    for v in a:
        x, n = solve(1.0, v)
        its.append(n)
        s += x
    return s + 0.1 * sum(its) + np.array(its).mean() + its[3] * a[its[2]] + max(its) * min(its) + its[-1] // 2


def flags(a):
    flags = []
    for v in a:
        flags.append(v > 2.0)
    return sum(v for v, f in zip(a, flags, strict=True) if f) + (a[0] if flags[1] else a[1]) + sum(flags) * a[2]


def pairs(a):
    rows, t = [], 0.0
    for v in a:
        x, n = solve(1.0, v)
        rows.append((n, x))
    for n, x in rows:
        for k in range(n):
            t += x * k
    return t + rows[2][0] * a[0]


def lengths(a):
    its = []
    for v in a:
        its.append(solve(1.0, v)[1])
    equal = (its[2] == its[3]) * a[2] + (4 in its) * a[4] + its.count(4) * a[5]
    return np.sum(a[: its[0]]) + np.sum(np.zeros(its[1])) + a[1] + equal


def keys(a):
    ks, d = [], {}
    for v in a:
        ks.append(int(v * 3))
    for k in ks:
        d[k] = d.get(k, 0.0) + a[k % 4]
    return sum(d.values()) + a[0] ** ks[1] + 1.0 / ks[2] + ks[0] / ks[3]


def ordered(a):
    ks = []
    for v in a:
        ks.append(int(np.floor(v)))
    ks.sort()
    return sum(a[k % 5] * (i + 1) for i, k in enumerate(ks)) + a[ks[0]] * len(set(ks))


@pytest.mark.parametrize("program", [counts, flags, pairs, lengths, keys, ordered])
def test_value_and_slope(program):
    assert_value_and_slope(program, X.copy())


@pytest.mark.parametrize("program", [counts, flags, pairs])
def test_the_program_does_not_grow_with_the_list(program):
    sizes = [len(str(sdfgad.explain(program, np.linspace(1.1, 5.3, n), stage="parsed")).splitlines()) for n in (20, 40)]
    assert sizes[0] == sizes[1]


def truth_of_either_kind(a):
    """`and` gives a boolean of NumPy or one of Python."""
    both = []
    for v in a:
        n = solve(1.0, v)[1]
        both.append(v > 1.2 and n > 2)
    return (1.0 if both[0] is True else 2.0) * a[0]


def test_the_kind_of_a_truth_value_is_not_lost():
    with pytest.raises(sdfgad.SdfgadError, match=r"boolean of NumPy or a boolean of Python\n.*both\[0\] is True"):
        parsed(truth_of_either_kind, X)
