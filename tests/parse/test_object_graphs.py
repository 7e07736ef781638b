"""Objects that refer to each other: parents, neighbours, lists and dicts that contain themselves."""

import textwrap

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import Rebound
from sdfgad.parse import object_graphs, trees
from sdfgad.parse.values import UNDEFINED, Record
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.7013, 1.3127, 1.1741])
HEAD = """import numpy as np

class Layer:
    def __init__(self, n):
        self.n, self.stack = n, None
    def delay(self):
        return self.n * self.stack.scale

class Stack:
    def __init__(self, layers, scale):
        self.layers, self.scale = layers, scale
        for layer in layers:
            layer.stack = self
    def delay(self):
        return sum(layer.delay() for layer in self.layers)

class Node:
    def __init__(self, v):
        self.v, self.next, self.last = v, None, None

def ring(x):
    nodes = [Node(v) for v in x]
    for k in range(len(nodes)):
        nodes[k].next, nodes[k].last = nodes[k - 2], nodes[k - 1]
    return nodes

def program(x):
"""
STACK = "s = Stack([Layer(x[0]), Layer(x[1])], x[2])\n"
PROGRAMS = {
    "parent": STACK + "return s.delay()",
    "parent changed in a loop": STACK
    + "for k in range(7):\n    s.scale = s.scale * np.sin(x[0] + k)\nreturn s.delay()",
    "child changed in a loop": STACK + "for k in range(7):\n    s.layers[1].n += s.layers[0].delay()\nreturn s.delay()",
    "changed in a branch": STACK + "if x[0] > 0.5:\n    s.scale = s.scale + x[1]\nelse:\n    s.layers[0].n = 3.0\n"
    "return s.delay()",
    "changed in a while": STACK
    + "n = 0\nwhile s.scale < 9.0:\n    s.scale *= 1.5\n    s.layers[0].n += s.scale\n    n += 1\n"
    "return s.delay() * n",
    "ring": "a, b, c = ring(x)\nt, n = 0.0, a\nfor k in range(5):\n    t += n.v**2 * (k + 1)\n    n = n.next\n"
    "return t * c.last.next.v",
    "ring changed": "a, b, c = ring(x)\nfor k in range(9):\n    a.v = a.v * 0.5 + b.last.next.v\n"
    "    c.next.v = np.cos(a.v)\n"
    "return a.v + 2.0 * b.v + 3.0 * c.v",
    "itself": "a = Node(x[0])\na.next = a\nif x[1] > 0.0:\n    a.next.v = x[1] * 3.0\nreturn a.next.next.v * x[2]",
    "list and dict": "d, v = {'x': x[0]}, [x[1]]\nd['self'] = d\nv.append(v)\nfor k in range(5):\n"
    "    d['x'] = d['x'] * x[k % 3]\n"
    "return d['self']['x'] * v[1][0] * len(v)",
    "long chain": "first = Node(x[0])\nn = first\nfor k in range(60):\n    n.next = Node(x[k % 3] * k)\n"
    "    n.next.last = n\n"
    "    n = n.next\nif x[0] > 0.0:\n    first.v = x[1]\nreturn n.last.last.v * first.next.last.v",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path):
    program = module_from(HEAD + textwrap.indent(PROGRAMS[name], "    "), tmp_path).program
    assert_value_and_slope(program, X)


def test_compiled_gradient(tmp_path):
    program = module_from(HEAD + textwrap.indent(PROGRAMS["child changed in a loop"], "    "), tmp_path).program
    value, gradient = sdfgad.differentiate(program, wrt="x").value_and_grad(X)
    step = 1e-6
    differences = [(program(X + d) - program(X - d)) / (2 * step) for d in np.eye(3) * step]
    assert value == pytest.approx(program(X), rel=1e-14)
    np.testing.assert_allclose(gradient, differences, rtol=1e-7)


@pytest.mark.parametrize("first", [0.7, 1.7])
def test_a_graph_that_data_chooses_is_changed(first, tmp_path):
    text = (
        STACK
        + "t = Stack([Layer(x[1]), Layer(x[2])], x[0])\nif x[0] > 1.0:\n    s = t\ns.scale = 2.0\nreturn t.delay()"
    )
    program = module_from(HEAD + textwrap.indent(text, "    "), tmp_path).program
    x = np.array([first, *X[1:]])
    assert_value_and_slope(program, x)


@pytest.mark.parametrize("first", [0.7, 1.7])
def test_graphs_of_other_forms(first, tmp_path):
    """The one child that data chooses comes first in its parent's list, and the other one second."""
    text = (
        STACK + "layer = s.layers[0]\nif x[0] > 1.0:\n    layer = s.layers[1]\nreturn layer.n * layer.stack.layers[0].n"
    )
    program = module_from(HEAD + textwrap.indent(text, "    "), tmp_path).program
    x = np.array([first, *X[1:]])
    assert_value_and_slope(program, x)


# --- the functions


def pair():
    """A parent with two children, and a leaf in each."""
    parent, children = Record(dict, {"v": 1.0}), [Record(list, {"v": 2.0}), Record(list, {"v": 3.0})]
    parent.fields["children"] = children
    for child in children:
        child.fields["parent"] = parent
    return parent


def test_each_node_once():
    parent = pair()
    assert object_graphs.is_cyclic(parent)
    assert not object_graphs.is_cyclic([(1.0, {}), {"a": [2.0]}])
    assert trees.leaves(parent) == [1.0, 2.0, 3.0]
    assert trees.leaves(parent.fields["children"][1]) == [3.0, 1.0, 2.0]
    assert len({id(one) for one in trees.sequences(parent)}) == len(trees.sequences(parent)) == 7


def test_shared_parts_without_cycle_are_visited_as_often_as_they_are_there():
    shared = [1.0, 2.0]
    deep = shared
    for _ in range(2 * object_graphs.SUSPECT):
        deep = [deep]
    assert trees.leaves([deep, shared]) == [1.0, 2.0, 1.0, 2.0]
    assert trees.rebuilt([deep, shared], [1, 2, 3, 4])[1] == [3, 4]


def test_rebuilt_graph_is_closed():
    new = trees.rebuilt(pair(), [10.0, 20.0, 30.0])
    children = new.fields["children"]
    assert [child.fields["v"] for child in children] == [20.0, 30.0]
    assert all(child.fields["parent"] is new for child in children)
    assert new.fields["v"] == 10.0


def test_what_stays_the_same_is_kept():
    parent = pair()
    kept = [id(one) for one in trees.sequences(parent)]
    assert trees.rebuilt(parent, [1.0, 2.0, 3.0], frozenset(kept)) is parent


def test_matched_graphs():
    one, other = pair(), pair()
    assert trees.matched([one, other]) == [one, other]
    empty = trees.matched([one, UNDEFINED])[1]
    assert trees.leaves(empty) == [UNDEFINED] * 3
    assert empty.fields["children"][0].fields["parent"] is empty
    other.fields["children"][0].fields["parent"] = other.fields["children"][1]
    assert trees.matched([one, other]) is None


def test_mapped_graph():
    parent = pair()
    assert trees.mapped(parent, lambda leaf: leaf, {}) is parent
    new = trees.mapped(parent, lambda leaf: leaf + 1.0, {})
    assert trees.leaves(new) == [2.0, 3.0, 4.0]
    assert new.fields["children"][1].fields["parent"] is new


def test_values_that_share_a_graph_share_the_mapped_one():
    parent, done = pair(), {}
    whole = [parent.fields["children"][0], 5.0]
    new = trees.mapped(parent, lambda leaf: leaf + 1.0, done)
    other = trees.mapped(whole, lambda leaf: leaf + 1.0, done)
    assert other[0] is new.fields["children"][0]
    assert other[1] == 6.0
    done = {}
    kept = trees.mapped(parent, lambda leaf: leaf, done)
    changed = trees.mapped([kept.fields["children"][1], 5.0], lambda leaf: 7.0 if leaf == 5.0 else leaf, done)
    assert changed[0] is parent.fields["children"][1]
    assert changed[1] == 7.0


def test_cycle_through_a_tuple():
    inner = []
    whole = (inner, 1.0)
    inner.append(whole)
    assert trees.leaves(whole) == [1.0]
    with pytest.raises(Rebound, match="a tuple that contains itself"):
        trees.rebuilt(whole, [2.0])
