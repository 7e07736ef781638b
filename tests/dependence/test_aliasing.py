"""What statements touch, and which trips of loops meet."""

import itertools

import pytest

from sdfgad.dependence.aliasing import are_disjoint, is_same_trip, selects
from sdfgad.dependence.order import commute
from sdfgad.dependence.uses import own_params, uses_of
from sdfgad.ir.expr import Lin
from tests.helpers_text import sample


def statements(text, **integers):
    program, _, _ = sample(text, **integers)
    return program.body


def uses(text, buffer, **integers):
    (statement,) = statements(text, **integers)
    return [use for use in uses_of(statement) if use.buffer == buffer]


def test_kinds():
    found = [
        (text, [(use.buffer, use.kind, use.is_once) for use in uses_of(statements(text)[0])])
        for text in ("z[2] = x[1]", "z[2] += x[1]", "z[2] max= x[1]", "for p < 3: z[2] = sum of x[p]")
    ]
    assert [kinds[-1] for _, kinds in found] == [
        ("z", "write", True),
        ("z", "add", False),
        ("z", "write", False),
        ("z", "write", False),
    ]


def test_what_varies_in_loops_and_branches():
    (use,) = uses(
        """
        loop j < 3:
            loop 1 <= h < k:
                if X[h, j] > 0.0:
                    for c < 6: Z[j, c] = Y[h, c]
        """,
        "Y",
    )
    assert use.names == {"j", "h", "c"}
    assert dict(use.bound)["h"] == Lin(-1)
    assert dict(use.bound)["j"] == Lin(3)


# Two statements, and whether the trips of `p` in the one meet other trips of `g` in the other one.
PAIRS = [
    ("for p < 20: z[p] = x[p]", "for g < 20: w[g] = z[g]", True),
    ("for p < 19: z[p + 1] = x[p]", "for g < 19: w[g] = z[g + 1]", True),
    ("for p < 19: z[p] = x[p]", "for g < 19: w[g] = z[g + 1]", False),
    ("for p < 20: z[p] = x[p]", "for g < 20: w[g] = z[-g + 19]", False),
    ("for p < 10: z[2*p] = x[p]", "for g < 10: w[g] = z[2*g]", True),
    ("for p < 10: z[2*p] = x[p]", "for g < 10: w[g] = z[g]", False),
    ("for p < 6, c < 6: Z[p, c] = X[p, c]", "for g < 6, h < 6: W[g, h] = Z[g, h]", True),
    ("for p < 6, c < 6: Z[p, c] = X[p, c]", "for g < 6, h < 6: W[g, h] = Z[h, g]", False),
    ("for p < 6, c < 3: z[p + c] += X[p, c]", "for g < 6, h < 3: W[g, h] = z[g + h]", False),
    ("for p < 6: Z[p, k] = x[p]", "for g < 6: W[g, 0] = Z[g, k]", True),
    ("for p < 6: Z[k, p] = x[p]", "for g < 6: W[g, 0] = Z[g, k]", False),
    ("for p < 20: z[i[p]] = x[p]", "for g < 20: w[g] = z[i[g]]", False),
    ("for p < 20: z[3] += x[p]", "for g < 20: w[g] = z[3]", False),
    ("for p < 4, c < 5: z[5*p + c] += x[c]", "for h < 5, g < 4: w[g] = z[5*g + h]", True),
    ("for p < 4, c < 5: z[p + 4*c] += x[c]", "for h < 5, g < 4: w[g] = z[g + 4*h]", True),
    ("for p < 4, c < 5: z[5*p + c] += x[c]", "for h < 5, g < 4: w[g] = z[g + 4*h]", False),
    ("for p < 4, c < 5: z[5*p + c] += x[c]", "for h < 4, g < 4: w[g] = z[5*g + h]", True),
    ("for p < 3, c < 6: z[5*p + c] += x[c]", "for h < 6, g < 3: w[g] = z[5*g + h]", False),
]


@pytest.mark.parametrize(("first", "second", "expected"), PAIRS)
def test_is_same_trip(first, second, expected):
    a, b = uses(first, "z" if "z[" in first else "Z"), uses(second, "z" if "z[" in first else "Z")
    assert is_same_trip(a[-1], b[0], "p", "g") is expected
    assert is_same_trip(b[0], a[-1], "g", "p") is expected


APART = [
    ("for p < 10: z[p] = x[p]", "for g < 10: w[g] = z[g + 10]", True),
    ("for p < 11: z[p] = x[p]", "for g < 10: w[g] = z[g + 10]", False),
    ("z[3] = x[0]", "w[0] = z[4]", True),
    ("for p < 6: Z[p, 1] = x[p]", "for g < 6: w[g] = Z[g, 2]", True),
    ("Z[n, 1] = x[0]", "w[0] = Z[n + 1, 1]", True),
    ("Z[n, 1] = x[0]", "w[0] = Z[m, 1]", False),
    ("for p < n: z[p] = x[p]", "w[0] = z[19]", False),
    ("for p < 5: z[-p + 4] = x[p]", "w[0] = z[5]", True),
    ("for p < 5: z[i[p]] = x[p]", "w[0] = z[19]", False),
    ("for p < 0: z[p] = x[p]", "w[0] = z[0]", True),
    ("for p < 5: z[2*p] = x[p]", "for g < 5: w[g] = z[2*g + 1]", True),
    ("for p < 5: z[-2*p + 9] = x[p]", "for g < 5: w[g] = z[2*g]", True),
    ("for p < 5: z[2*p] = x[p]", "for g < 5: w[g] = z[3*g + 1]", False),
    ("for p < 5, c < 2: z[4*p + c] = x[p]", "for g < 4, h < 2: W[g, h] = z[4*g + h + 2]", True),
    ("for p < 5, c < 3: z[4*p + c] = x[p]", "for g < 4, h < 2: W[g, h] = z[4*g + h + 2]", False),
    ("for p < 5, c < 2: z[4*p + c] = x[p]", "for g < 4, h < 2: W[g, h] = z[4*g + h + 3]", False),
    ("z[2*i[0]] = x[0]", "w[0] = z[2*i[1] + 1]", True),
    ("z[2*n] = x[0]", "for g < n: w[g] = z[2*g + 3]", True),
    ("z[3*n] = x[0]", "for g < n: w[g] = z[2*g + 3]", False),
]


@pytest.mark.parametrize(("first", "second", "expected"), APART)
def test_are_apart(first, second, expected):
    name = "z" if "z[" in first else "Z"
    a, b = uses(first, name, n=3)[-1], uses(second, name, n=3)[0]
    assert are_disjoint(a, b) is are_disjoint(b, a) is expected


def test_commute():
    texts = ["z[0] = x[0]", "z[1] = 2.0", "w[0] = x[0]", "w[0] = z[0]", "z[0] += 1.0", "z[0] += x[1]", "z[0] max= 1.0"]
    free = {frozenset((a, b)) for a, b in itertools.combinations(texts, 2) if commute(*statements(a), *statements(b))}
    assert frozenset(("z[0] += 1.0", "z[0] += x[1]")) in free
    assert frozenset(("z[0] = x[0]", "z[1] = 2.0")) in free
    assert frozenset(("z[0] = x[0]", "w[0] = z[0]")) not in free
    assert frozenset(("w[0] = x[0]", "w[0] = z[0]")) not in free
    assert frozenset(("z[0] += 1.0", "z[0] max= 1.0")) not in free
    assert frozenset(("z[0] += 1.0", "w[0] = z[0]")) not in free


def test_selects():
    (use,) = list(uses("for p < 4, c < 3: Z[p, c] = X[p, c]", "Z"))
    assert selects(use, "p")
    assert selects(use, "c")
    (use,) = uses("for p < 4, c < 3: z[p + c] += X[p, c]", "z")
    assert not selects(use, "p")
    (use,) = uses("for p < 4, c < 3: z[3*p + c] += X[p, c]", "z")
    assert selects(use, "p")
    # Nothing is known of a counter outside.
    (use,) = uses("for c < 4: z[3*n + c] += x[c]", "z", n=2)
    assert not selects(use, "n")


def test_own_params_are_in_the_order_of_the_target():
    (statement,) = statements("for c < 3, h < 2, p < 4: Z[p, c] += X[h, c]")
    assert own_params(statement) == (("p", Lin(4)), ("c", Lin(3)))
