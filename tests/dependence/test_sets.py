"""Exact questions about integer constraints, against enumeration."""

import itertools

import islpy as isl
import pytest

from sdfgad.dependence.sets import Domain
from sdfgad.ir.expr import INT, Const, Int, Lin, Op, as_linear

I, J, N = (Lin.symbol(name) for name in "ijn")
TRIANGLE = Domain().with_range("i", 7).with_range("j", I)
POINTS = [(i, j) for i in range(7) for j in range(i)]


def op(name, form, other):
    return as_linear(Op(name, (Int(form), Int(other) if isinstance(other, Lin) else Const(other, INT)), INT))


FORMS = {
    "i - j": (I - J, lambda i, j: i - j),
    "2i - 3j": (I.scaled(2) - J.scaled(3), lambda i, j: 2 * i - 3 * j),
    "(i + j) // 3": (op("floor_divide", I + J, 3), lambda i, j: (i + j) // 3),
    "(j - i) // 2": (op("floor_divide", J - I, 2), lambda i, j: (j - i) // 2),
    "(i - 2j) % 4": (op("remainder", I - J.scaled(2), 4), lambda i, j: (i - 2 * j) % 4),
    "max(i - 3, j)": (op("maximum", I - 3, J), lambda i, j: max(i - 3, j)),
    "min(i, 4 - j)": (op("minimum", I, 4 - J), lambda i, j: min(i, 4 - j)),
}


@pytest.mark.parametrize("name", FORMS)
def test_maximum_and_implication_agree_with_enumeration(name):
    form, value = FORMS[name]
    values = [value(*point) for point in POINTS]
    assert TRIANGLE.maximum(form) == max(values)
    for bound in range(min(values) - 2, max(values) + 3):
        assert TRIANGLE.implies(form - bound) == all(v >= bound for v in values)
        assert TRIANGLE.implies(bound - form) == all(v <= bound for v in values)
    assert not TRIANGLE.implies_zero(form)


def test_emptiness():
    assert not TRIANGLE.is_empty
    assert TRIANGLE.with_form(J - I).is_empty
    assert Domain().with_range("i", 0).is_empty
    assert Domain().with_form(I.scaled(2) - 1, 1 - I.scaled(2)).is_empty
    assert not Domain().is_empty


def test_constants():
    assert Domain().implies(0)
    assert not Domain().implies(-1)
    assert Domain().implies_zero(Lin(0))
    assert not Domain().implies_zero(Lin(1))
    assert Domain().maximum(5) == 5


def test_equalities():
    domain = Domain().with_form(I - J, J - I)
    assert domain.implies_zero(I - J)
    assert not domain.implies_zero(I)


def test_maximum_without_bound_and_of_nothing():
    assert Domain().with_form(I).maximum(I) is None
    assert Domain().with_form(-I).maximum(I) == 0
    assert Domain().with_range("i", 0).maximum(I) == -1


def test_maximum_in_a_context():
    domain = Domain().with_range("i", N)
    assert domain.maximum(I) is None
    assert domain.maximum(I, isl.Set("[n] -> { : n <= 9 }")) == 8


def test_parameters():
    domain = Domain().with_range("i", N).with_form(I - 3)
    found = domain.parameters(("n",))
    assert found.is_equal(isl.Set("[n] -> { : n >= 4 }"))


def test_parameters_violating():
    found = Domain().with_range("i", N).parameters_violating(5 - I, ("n",))
    for n in range(12):
        violates = any(5 - i < 0 for i in range(n))
        assert (not (found & isl.Set(f"[n] -> {{ : n = {n} }}")).is_empty()) == violates


def test_index_that_wraps_is_inside():
    wrapped = op("wrap", Lin.symbol("k"), 6)
    assert Domain().implies(wrapped)
    assert Domain().implies(5 - wrapped)
    assert not Domain().implies(4 - wrapped)


def test_nested_quotients():
    half = op("floor_divide", I, 2)
    quarter = op("floor_divide", half, 2)
    domain = Domain().with_range("i", 32)
    assert domain.maximum(quarter) == 7
    assert domain.implies(I - quarter.scaled(4))
    assert all((i // 2) // 2 == i // 4 for i in range(32))
    assert domain.implies_zero(quarter - op("floor_divide", I, 4))


def test_points_are_those_of_the_loops():
    for i, j in itertools.product(range(-1, 8), repeat=2):
        here = TRIANGLE.with_form(I - i, i - I, J - j, j - J)
        assert here.is_empty == ((i, j) not in POINTS)
