"""Items of lists, dicts and generators that may be None, as data decides: they are kept, and `any` and `all` ask for
their truth.
"""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers_ir import assert_value_and_slope

POINTS = [
    np.array(x) for x in ([0.9, 1.1, 0.8, 1.3], [1.3, 0.52, 1.45, 0.7], [0.4, 0.45, 0.63, 0.55], [1.2, 2.6, 1.3, 2.0])
]


def above(v):
    return v if v > 1 else None


class Truth:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        return bool(self.v > 0.85)


class Length:
    def __init__(self, v):
        self.v = v

    def __len__(self):
        return 1 if self.v > 0.95 else 0


def any_and_all(x, s):
    t = s * x[0]
    for k in range(4):
        p, q = above(x[k]), above(x[k] * s * 1.6)
        t += 1.0 if any([p, q]) else 0.5
        t += 2.0 if all((p, q, [1])) else 0.25
        t += 4.0 if any(above(v * s) for v in x[:k]) else 0.125
        t += 8.0 if all([p is None, x[0]]) else 0.0625
    return t


def of_objects(x, s):
    a, b, t = Truth(x[0]), Length(x[1]), s * x[2]
    for k in range(4):
        p = a if np.sin(k + x[2]) > 0.1 else b
        t += (1.0 if any([p, 0]) else 0.5) + (2.0 if all([a, b]) else 0.25) + (1 if all([[], p]) else 0.125)
        here = [q for q in (a, b) if q.v > x[k]]
        t += (4.0 if any([here]) else 0.5) + (8.0 if bool(p) else 0.1)
    return t


def kept(x, s):
    values, table = [], {}
    for k in range(40):
        values.append(above(x[k % 4] * s * 1.33))
        table.setdefault(k % 3, above(x[k % 4]))
    total = sum(v for v in values if v is not None) + sum(v or 0.3 for v in (above(u) for u in x))
    others = [above(v) for v in x]
    return total + (values[3] or 0.2) + sum(v for v in table.values() if v) + sum(v for v in others if v is not None)


def kept_while(x, s):
    values, k = [], 0
    while s * k < x[0] * 3:
        values.append(above(x[k % 4]))
        k += 1
    return s * sum(v for v in values if v is not None)


def stored(x, s):
    """In items of lists and dicts, which are looked up by counters."""
    values, table, t = [None, x[1], above(x[2])], {0: None, 1: x[3], 2: above(x[1])}, 0.0
    for k in range(6):
        values[k % 3] = above(x[k % 4] * s * 1.33)
        t += table.get(k % 3) or x[0]
        table[k % 3] = values[2]
        t += sum(v for v in values if v) - (table.get(7) or s)
    return t + sum(v or 0.05 for v in values) + sum(v if v is not None else 0.3 for v in table.values())


def required(x, s):
    t = s * sum(above(v + 1) for v in x) + max(above(v + 1) for v in x) + np.array([above(v + 1) for v in x]).sum()
    p = above(x[0])
    return t + np.maximum([p, x[1]], [s, x[2]]).sum() if p is not None else t


@pytest.mark.parametrize("program", [any_and_all, of_objects, kept, kept_while, stored, required])
def test_like_python(program):
    for x in POINTS:
        assert_value_and_slope(program, x, 0.7)


def together(x, s):
    return any_and_all(x, s) + of_objects(x, s) + kept(x, s)


def test_in_compiled_code():
    g = sdfgad.value_and_grad(together)
    for x in POINTS:
        value, gradient = g(x, 0.7)
        ends = [(together(x + 1e-6 * e, 0.7) - together(x - 1e-6 * e, 0.7)) / 2e-6 for e in np.eye(4)]
        np.testing.assert_allclose(value, together(x, 0.7), rtol=1e-13)
        np.testing.assert_allclose(gradient, ends, rtol=1e-6, atol=1e-7)


def test_none_is_no_number():
    with pytest.raises(SdfgadError, match=r"is None here(.|\n)*return sum\(\["):
        sdfgad.differentiate(lambda x: _sum_of(x))(POINTS[0])


def _sum_of(x):
    return sum([above(v) for v in x])
