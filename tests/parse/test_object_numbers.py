"""``id`` of objects, and keys that counters of loops tell."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import DivisionByZero, UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.5, 0.3, 0.7, 0.2, 0.9, 0.1])


class Node:
    def __init__(self, value, children=()):
        self.value, self.children = value, list(children)


def visited(x):
    """A graph that is gone through with a memory."""
    leaves = [Node(v) for v in x]
    root = Node(x[0], [Node(x[1], leaves[:3]), Node(x[2], leaves[2:])])
    memory, order = {}, []

    def visit(node):
        if id(node) in memory:
            return memory[id(node)]
        total = node.value**2
        for child in node.children:
            total = total + visit(child)
        memory[id(node)] = total
        order.append(node)
        return total

    return visit(root) + len(memory) * x[3] + len(order) * x[4]


def keys_of_counters(x):
    found = {0.0, 1.0}
    for k in range(5):
        found.add(k / 4)
    return np.sum(x) * len(found)


@pytest.mark.parametrize("program", [visited, keys_of_counters])
def test_values_and_slopes(program):
    assert_value_and_slope(program, X)


def of_an_array(x):
    return x[0] * (id(x) > 0)


def test_what_has_no_number():
    with pytest.raises(UnsupportedProgram, match=r"`id` of what is no object of a class(.|\n)*return x\[0\] \* \(id"):
        sdfgad.differentiate(of_an_array)(X)


def shared(x):
    n = 0
    for v in x:
        if v > 0.4:
            n += 1
    return x[0] * (3 / n)


def test_quotients_of_integers_of_python():
    """They were infinite, where Python raises."""
    assert_value_and_slope(shared, X)
    with pytest.raises(DivisionByZero, match=r"(?s)integer division by zero.*return x\[0\] \* \(3 / n\)"):
        sdfgad.differentiate(shared).value(X * 0.1)
