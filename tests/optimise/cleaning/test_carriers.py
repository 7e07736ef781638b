"""What only carries derivatives goes once a program has been differentiated."""

import numpy as np

import sdfgad
from sdfgad.ir.expr import Op, postorder
from sdfgad.ir.program import computes
from sdfgad.optimise.cleaning.carriers import CARRIERS, drop_carriers
from tests.helpers_ir import parsed


@sdfgad.custom_jvp
def doubled(x):
    return 2.0 * x


doubled.defjvp(lambda primals, tangents: (doubled(primals[0]), 2.0 * np.cos(primals[0]) * tangents[0]))


def program(x):
    return np.sum(doubled(x) * sdfgad.stop_gradient(x))


def carriers(found):
    return {n.name for s in computes(found.body) for n in postorder(s.value) if isinstance(n, Op)} & CARRIERS


def test_values_stay_and_carriers_go():
    before = parsed(program, np.ones(3)).program
    assert carriers(before) == {"carries", "frozen", "held"}
    after = drop_carriers(before)
    assert not carriers(after)
    assert drop_carriers(after) is after


def test_the_carrier_is_not_computed():
    text = str(sdfgad.explain(program, np.ones(3), wrt="x", stage="optimised"))
    forward = text.partition("x_bar[")[0]
    assert "cos" not in forward.partition("\n\n")[2]
