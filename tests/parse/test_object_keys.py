"""Objects as keys of dicts and elements of sets."""

from dataclasses import dataclass

import numpy as np
import pytest

from sdfgad.errors import UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(0.2, 1.7, 8)


class Node:
    def __init__(self, v):
        self.v = v


@dataclass(frozen=True)
class Point:
    i: int
    j: int


class Hashed:
    def __init__(self, v):
        self.v = v

    def __hash__(self):
        return hash(self.v)

    def __eq__(self, other):
        return self.v == other.v


A, B = Node(2.0), Node(3.0)
WEIGHTS, NEXT, SEEN = {A: 1.0, B: 4.0}, {A: [B], B: [A, B]}, {A}
GRID = {Point(0, 1): 2.0, Point(1, 1): 3.0}
HASHED = {Hashed(1): 2.0}


def by_identity(x):
    p, q = Node(x[0]), Node(x[1])
    table = {p: x[2], q: 3.0}
    table[p] = table[p] * 2.0
    return table[p] * p.v + table[q] * q.v + (2.0 if p in table else 1.0) + table.get(A, 0.5) * x[3]


def of_outside(x):
    total = WEIGHTS[A] * x[0] + WEIGHTS[B] * x[1] + sum(n.v * w for n, w in WEIGHTS.items()) * x[2]
    return total * (2.0 if A in SEEN else 1.0) * (3.0 if B in SEEN else 1.0)


def graph(x):
    total = 0.0
    for n in NEXT:
        for m in NEXT[n]:
            total += n.v * m.v * x[0]
    return total


def by_fields(x):
    cells = {Point(i, i % 2): x[i] for i in range(4)}
    cells[Point(1, 1)] = cells[Point(1, 1)] * 2.0
    return cells[Point(1, 1)] * cells[Point(0, 0)] + GRID[Point(0, 1)] * x[5] + (1.0 if Point(7, 7) in GRID else 2.0)


def of_a_graph_search(x):
    """Breadth-first: what has been seen, and from where."""
    nodes = [Node(v) for v in x[:5]]
    near = {n: [nodes[(k + 1) % 5], nodes[(k + 3) % 5]] for k, n in enumerate(nodes)}
    seen, queue, far = {nodes[0]}, [nodes[0]], {nodes[0]: 0.0}
    while queue:
        n = queue.pop(0)
        for m in near[n]:
            if m not in seen:
                seen.add(m)
                far[m] = far[n] + m.v
                queue.append(m)
    return sum(far.values()) * far[nodes[2]]


def changed_in_a_loop(x):
    """Loops and branches make new values of what objects hold; the objects are the same ones."""
    p, q = Node(x[0]), Node(x[1])
    table = {p: x[2], q: 3.0}
    for _ in range(30):
        p.v = p.v * 0.9 + x[3]
    if x[0] > 0.1:
        q.v = x[4]
    r = p
    while r.v < 3.0:
        r.v = r.v * 1.5
    return table[r] * p.v + table[q] * q.v + (2.0 if r in table else 1.0)


def sums_by_object(x):
    nodes = [Node(v) for v in x]
    sums, seen = dict.fromkeys(nodes, 0.0), {nodes[0], nodes[2]}
    for _ in range(20):
        for n in nodes:
            sums[n] += n.v * 0.1
            n.v = n.v * 0.99
    return sum(sums[n] * n.v for n in nodes if n in seen)


@pytest.mark.parametrize(
    "program", [by_identity, of_outside, graph, by_fields, of_a_graph_search, changed_in_a_loop, sums_by_object]
)
def test_as_in_python(program):
    assert_value_and_slope(program, X)


def with_a_hash(x):
    table = {Hashed(1): x[0]}
    return table[Hashed(1)]


def outside_with_a_hash(x):
    return HASHED[Hashed(1)] * x[0]


def chosen(x):
    nodes = [Node(v) for v in x[:3]]
    table = {n: k for k, n in enumerate(nodes)}
    best = min(nodes, key=lambda n: n.v)
    return table[best] * x[0]


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (with_a_hash, "is an object of Hashed, which has a __hash__"),
        (outside_with_a_hash, "is an object of Hashed, which has a __hash__"),
        (chosen, "is an object of Node that data chooses"),
    ],
)
def test_refusals(program, what):
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        parsed(program, X)
    assert "table[one.name]" in caught.value.todo
