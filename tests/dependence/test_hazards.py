"""When the points of a statement may run in any order, compared with trying all pairs of points."""

import itertools

import numpy as np
import pytest

from sdfgad.dependence.hazards import is_hazard, is_once
from sdfgad.dependence.sets import Domain
from sdfgad.ir.expr import INT, Int, Lin, Op, Read, as_linear
from sdfgad.ir.program import Access

F64 = np.dtype(np.float64)
P, Q, I, N = (Lin.symbol(name) for name in "pqin")
BOX = (("p", Lin(4)), ("q", Lin(3)))


def hazard(target, *reads, domain=None, params=BOX):
    value = Op("add", (Read("y", (P,), F64), *(Read("x", index, F64) for index in reads)), F64)
    return is_hazard(domain or Domain(), params, Access("x", target), value)


CASES = [
    ((P, Q), (P, Q)),
    ((P, Q), (P, Q + 1)),
    ((P, Q), (P, Q + 3)),
    ((P, Q), (P + 4, Q)),
    ((P, Q), (Q, P)),
    ((P, Q), (P, Lin(2))),
    ((P, Q), (P, Lin(3))),
    ((P.scaled(2), Q), (P.scaled(2) + 1, Q)),
    ((P.scaled(2), Q), (P, Q)),
    ((P + 4, Q), (3 - P, Q)),
    ((3 - P, Q), (P, Q)),
    ((P, Q), (P + Q, Lin(0))),
]


@pytest.mark.parametrize(("target", "read"), CASES)
def test_as_all_pairs_say(target, read):
    points = list(itertools.product(range(4), range(3)))

    def at(index, p, q):
        return tuple(lin.substitute({"p": p, "q": q}).const for lin in index)

    expected = target != read and any(at(target, *a) == at(read, *b) for a in points for b in points)
    assert hazard(target, read) is expected


def test_another_buffer_is_no_hazard():
    assert not is_hazard(Domain(), BOX, Access("x", (P,)), Read("y", (P + 1,), F64))


def test_any_of_several_reads():
    assert not hazard((P, Q), (P, Q), (P + 4, Q))
    assert hazard((P, Q), (P, Q), (P + 4, Q), (P + 1, Q))


def test_what_holds_around_the_statement_counts():
    params = (("p", N),)
    assert hazard((P,), (P + I,), params=params)
    assert hazard((P,), (P + I,), domain=Domain((I - 1,)), params=params)
    assert not hazard((P,), (P + I,), domain=Domain((I - N,)), params=params)
    assert not hazard((P,), (Lin.symbol("i"),), domain=Domain((-I - 1,)), params=params)


def test_row_by_row():
    # Row i is computed from the rows above it.
    assert not hazard((I, P), (I - 1, P), domain=Domain((I - 1,)), params=(("p", Lin(4)),))


def test_index_arrays_may_point_anywhere():
    place = as_linear(Read("idx", (P,), INT))
    assert hazard((P,), (place,), params=(("p", Lin(4)),))
    assert hazard((place,), (P,), params=(("p", Lin(4)),))


def test_remainders_are_understood():
    half = as_linear(Op("floor_divide", (Int(P), Int(2)), INT))
    assert hazard((P,), (half,), params=(("p", Lin(4)),))
    assert not hazard((P,), (half + 4,), params=(("p", Lin(4)),))


def test_more_may_be_known_than_the_domain_says():
    def is_empty(_):
        return True

    assert not is_hazard(Domain(), BOX, Access("x", (P,)), Read("x", (P + 1,), F64), is_empty)


def quotient(form, divisor):
    return as_linear(Op("floor_divide", (Int(form), Int(Lin(divisor))), INT))


def remainder(form, divisor):
    return as_linear(Op("remainder", (Int(form), Int(Lin(divisor))), INT))


def test_other_points_in_quotients_and_remainders():
    """Elements of a flattened array of rows of six: one point reads what another one writes."""
    flat = (("p", Lin(10)),)

    def place(form):
        return quotient(form, 6), remainder(form, 6)

    assert hazard(place(P + 2), place(P), params=flat)
    assert hazard(place(9 - P), place(P), params=flat)
    assert not hazard(place(P + 10), place(P), params=flat)
    assert not hazard(place(P), place(P), params=flat)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ((P, Q), True),
        ((P,), False),
        ((P.scaled(3) + Q,), True),
        ((P.scaled(2) + Q,), False),
        ((quotient(P, 2), Q), False),
        ((quotient(P, 2), remainder(P, 2) + Q.scaled(2)), True),
        ((as_linear(Read("k", (P,), INT)), Q), False),
    ],
    ids=str,
)
def test_elements_selected_once(index, expected):
    assert is_once(Domain(), BOX, index) == expected
