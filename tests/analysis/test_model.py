"""Access relations: what is known exactly of them."""

import islpy as isl

from sdfgad.analysis.model import Place, access_relation
from sdfgad.ir.expr import INT, Int, Lin, Op, as_linear
from sdfgad.ir.program import Access


def test_a_quotient_by_what_is_not_known_is_not_exact():
    unknown = as_linear(Op("floor_divide", (Int(Lin.symbol("p")), Int(Lin.symbol("n"))), INT))
    found = access_relation(
        "W", Place(("p",), (), ("0",)), Access("b", (unknown,)), (), 1, 1, isl.Set("[n] -> { : n >= 1 }")
    )
    assert not found.is_exact
