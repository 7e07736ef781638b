"""Expressions: one node per distinct expression, and walks that visit each once."""

import gc
import math
import weakref

import numpy as np
import pytest

from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read, as_linear, postorder, reads, rewrite, symbols_of

F64, F32 = np.dtype(np.float64), np.dtype(np.float32)
I = Lin.symbol("i")
X = Read("x", (I,), F64)


def add(*args):
    return Op("add", args, F64)


def test_equal_expressions_are_one_node():
    assert Read("x", (I,), F64) is X
    assert Read("x", (I + 1 - 1,), F64) is X
    assert add(X, X) is add(X, X)
    assert Int(I + 1) is Int(1 + I)
    assert Const(2, F64) is Const(2.0, F64)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Const(0.0, F64), Const(-0.0, F64)),
        (Const(1, F64), Const(1, F32)),
        (Const(1, INT), Const(True, BOOL)),
        (Read("x", (I,), F64), Read("y", (I,), F64)),
        (Read("x", (I,), F64), Read("x", (I + 1,), F64)),
        (add(X, X), Op("subtract", (X, X), F64)),
    ],
)
def test_different_expressions_are_different(one, other):
    assert one is not other
    assert one != other


def test_constants_are_of_their_dtype():
    assert Const(0.1, F32).value == float(np.float32(0.1))
    assert Const(math.nan, F64) is Const(math.nan, F64)
    assert math.copysign(1, Const(-0.0, F64).value) == -1


def test_nodes_do_not_live_for_ever():
    node = weakref.ref(Op("multiply", (Read("temporary", (), F64), X), F64))
    gc.collect()
    assert node() is None


def test_postorder_visits_each_node_once_children_first():
    node = X
    for _ in range(200):
        node = add(node, node)
    order = list(postorder(node))
    assert len(order) == len(set(order)) == 201
    places = {n: k for k, n in enumerate(order)}
    assert all(places[child] < places[n] for n in order for child in n.children)


def test_reads_include_those_in_indices():
    inner = Read("idx", (I,), INT)
    outer = Read("x", (as_linear(inner),), F64)
    assert reads(add(outer, X)) == [inner, outer, X]


def test_rewrite_of_symbols():
    inner = Read("idx", (I,), INT)
    root = add(Read("x", (as_linear(inner),), F64), Op("cast", (Int(I),), F64))
    moved = rewrite(root, {"i": Lin.symbol("j") + 1})
    assert symbols_of(root) == {"i"}
    assert symbols_of(moved) == {"j"}
    assert rewrite(moved, {"j": I - 1}) is root
    assert rewrite(root) is root


def test_rewrite_of_nodes():
    root = add(X, add(X, Const(1, F64)))
    done = rewrite(root, replace=lambda n: Const(2, F64) if n is X else None)
    assert done is add(Const(2, F64), add(Const(2, F64), Const(1, F64)))
    index = Read("x", (as_linear(Read("idx", (), INT)),), F64)
    assert rewrite(index, replace=lambda n: Const(3, INT) if n.dtype == INT else None) is Read("x", (Lin(3),), F64)


def test_text():
    assert str(add(X, Const(1.5, F64))) == "add(x[i], 1.5)"
    assert str(Op("cast", (Int(I),), F64)) == "cast<float64>((i))"
