"""What only ends derivatives goes once a program has been differentiated."""

import numpy as np

import sdfgad
from sdfgad.ir.expr import Op, postorder
from sdfgad.ir.program import computes
from sdfgad.optimise.cleaning.held import drop_held
from tests.helpers_ir import parsed


def program(x):
    return np.sum(x**2 * sdfgad.stop_gradient(x))


def operations(found):
    return {n.name for s in computes(found.body) for n in postorder(s.value) if isinstance(n, Op)}


def test_values_stay_and_stop_gradients_go():
    before = parsed(program, np.ones(3)).program
    after = drop_held(before)
    assert operations(before) - operations(after) == {"held"}
    assert drop_held(after) is after
