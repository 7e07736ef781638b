"""Walks over structured programs, and rewrites of them."""

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read, as_linear
from sdfgad.ir.program import Access, Branch, Compute, Loop, computes, reads_of, rewrite_statement, transform, walk

F64 = np.dtype(np.float64)
I, N, P = (Lin.symbol(name) for name in ("i", "n", "p"))


def assign(target, index, value):
    return Compute((("p", N),), Access(target, index), value)


FIRST = assign("a", (P,), Read("b", (P + I,), F64))
SECOND = assign("b", (as_linear(Read("idx", (P,), INT)),), Read("a", (P,), F64))
CONDITION = Op("less", (Read("s", (), F64), Const(0, F64)), BOOL)
BRANCH = Branch(CONDITION, (FIRST,), (SECOND,))
LOOP = Loop("i", N + as_linear(Read("bound", (), INT)), (BRANCH, FIRST), (I, N - I - 1))


def test_walk_is_outer_before_inner():
    assert list(walk((LOOP, SECOND))) == [LOOP, BRANCH, FIRST, SECOND, FIRST, SECOND]
    assert list(computes((LOOP,))) == [FIRST, SECOND, FIRST]


def test_reads_of_a_statement_alone():
    assert [r.buffer for r in reads_of(FIRST)] == ["b"]
    assert sorted(r.buffer for r in reads_of(SECOND)) == ["a", "idx"]
    assert [r.buffer for r in reads_of(BRANCH)] == ["s"]
    assert [r.buffer for r in reads_of(LOOP)] == ["bound"]


def test_transform_is_bottom_up():
    seen = []

    def each(statement):
        seen.append(type(statement).__name__)
        return (statement, statement) if isinstance(statement, Compute) else (statement,)

    (loop,) = transform((LOOP,), each)
    assert seen == ["Compute", "Compute", "Branch", "Compute", "Loop"]
    assert len(loop.body) == 3
    assert loop.body[0].then == (FIRST, FIRST)
    assert transform((LOOP,), lambda statement: (statement,)) == (LOOP,)


def test_rewrite_of_symbols():
    moved = rewrite_statement(FIRST, {"i": Lin(2), "n": Lin(5)})
    assert moved == Compute((("p", Lin(5)),), Access("a", (P,)), Read("b", (P + 2,), F64))
    loop = rewrite_statement(LOOP, {"n": Lin(5)})
    assert loop.guards == (I, 4 - I)
    assert loop.body == LOOP.body


def test_rewrite_of_nodes():
    bound = Read("bound", (), INT)
    loop = rewrite_statement(LOOP, replace_node=lambda node: Int(7) if node is bound else None)
    assert loop.trips == N + 7
    target = rewrite_statement(SECOND, replace_node=lambda n: Const(1, INT) if n.dtype == INT else None).target
    assert target == Access("b", (Lin(1),))
