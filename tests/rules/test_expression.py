"""The pullback of one expression, evaluated by hand."""

import math

import numpy as np
import pytest

from sdfgad.errors import MissingRule
from sdfgad.interpret.library import operation
from sdfgad.ir.expr import BOOL, Const, Lin, Op, Read
from sdfgad.rules import elementary, expression
from sdfgad.rules.expression import differentiable_reads, missing_rules, pullback, varying

F64 = np.dtype(np.float64)
X, Y, Z, T = (Read(name, (), F64) for name in ("x", "y", "z", "t"))
ALL = frozenset({"x", "y", "z"})


def op(name, *args):
    return Op(name, args, F64)


def select(condition, x, y):
    return Op("select", (condition, x, y), F64)


def less(x, y):
    return Op("less", (x, y), BOOL)


def evaluated(expr, **values):
    """The number that an expression stands for."""
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Read):
        return values[expr.buffer]
    if expr.name == "select":
        condition, x, y = expr.args
        return evaluated(x if evaluated(condition, **values) else y, **values)
    return operation(expr.name)(*(evaluated(arg, **values) for arg in expr.args))


def gradients(value, active=ALL, **values):
    pairs = pullback(value, T, active, None)
    assert len({read for read, _ in pairs}) == len(pairs)
    return {read.buffer: evaluated(cotangent, **values) for read, cotangent in pairs}


def test_a_value_used_twice_gets_one_cotangent():
    assert gradients(op("multiply", X, X), x=3.0, t=2.0) == {"x": 12.0}
    assert gradients(op("add", X, op("add", X, X)), x=3.0, t=2.0) == {"x": 6.0}


def test_both_sides_of_a_choice_are_one_choice():
    """A masked update, which reads the old value on both sides, adds nothing up."""
    updated = select(less(Y, Z), op("multiply", X, X), X)
    for y, expected in ((1.0, 12.0), (3.0, 2.0)):
        assert gradients(updated, x=3.0, y=y, z=2.0, t=2.0)["x"] == expected
    ((_, found),) = pullback(updated, T, frozenset("x"), None)
    assert found.name == "select"
    assert found.args[2] is T
    ((_, kept),) = pullback(select(less(Y, Z), op("add", X, Y), X), T, frozenset("x"), None)
    assert kept is T
    # Nested choices, of which an inner one is whole and an outer one is not.
    inner = select(less(X, Z), op("multiply", X, X), op("negative", X))
    nested = select(less(Y, Z), inner, op("add", Y, op("multiply", X, Z)))
    for x, y, expected in ((1.0, 1.0, 4.0), (5.0, 1.0, -2.0), (1.0, 7.0, 6.0)):
        assert gradients(nested, x=x, y=y, z=3.0, t=2.0)["x"] == expected


def test_shared_subexpressions():
    shared = op("sin", op("multiply", X, Y))
    found = gradients(op("multiply", shared, op("exp", shared)), x=0.5, y=0.7, t=1.0)
    s = math.sin(0.35)
    by_shared = math.exp(s) * (1 + s)
    assert found["x"] == pytest.approx(by_shared * math.cos(0.35) * 0.7, rel=1e-14)
    assert found["y"] == pytest.approx(by_shared * math.cos(0.35) * 0.5, rel=1e-14)


def test_inactive_reads_get_nothing():
    assert gradients(op("multiply", X, Y), frozenset({"y"}), x=3.0, y=5.0, t=2.0) == {"y": 6.0}
    assert gradients(op("multiply", X, Y), frozenset({"z"}), x=3.0, y=5.0, t=2.0) == {}
    assert gradients(op("floor", X), x=3.0, t=2.0) == {}


@pytest.mark.parametrize(("x", "by_x", "by_y"), [(-1.0, 0.0, 2.0), (4.0, 2.0 * 0.25, 0.0)])
def test_only_the_chosen_branch_counts(x, by_x, by_y):
    value = select(less(Const(0, F64), X), op("sqrt", X), Y)
    with np.errstate(all="ignore"):
        assert gradients(value, x=x, y=7.0, t=2.0) == {"x": by_x, "y": by_y}


def test_nested_choices_of_infinite_derivatives():
    root, inverse = op("sqrt", X), op("reciprocal", X)
    inner = select(less(X, Const(1, F64)), root, inverse)
    value = op("add", select(less(Const(0, F64), X), inner, Const(0, F64)), op("multiply", X, Y))
    with np.errstate(all="ignore"):
        assert gradients(value, x=0.0, y=3.0, t=1.0) == {"x": 3.0, "y": 0.0}
    assert gradients(value, x=0.25, y=3.0, t=1.0) == {"x": 4.0, "y": 0.25}
    assert gradients(value, x=2.0, y=3.0, t=1.0) == {"x": 2.75, "y": 2.0}


def test_a_condition_carries_no_derivative():
    value = select(less(X, Y), Z, Const(0, F64))
    assert varying(value, frozenset({"x", "y"})) == {X, Y}
    assert varying(value, frozenset({"z"})) == {value, Z}


def test_varying_stops_at_operations_without_a_derivative():
    flat = op("floor", X)
    value = op("multiply", flat, Y)
    assert varying(value, frozenset({"y"})) == {value, Y}
    assert varying(value, frozenset({"x"})) == {X}


def test_elements_of_one_buffer_are_told_apart():
    first, second = Read("x", (Lin(0),), F64), Read("x", (Lin(1),), F64)
    assert {read for read, _ in pullback(op("subtract", first, second), T, ALL, None)} == {first, second}


def test_missing_rules(monkeypatch):
    for name in ("sin", "exp"):
        monkeypatch.delitem(elementary.ELEMENTARY, name)
    value = op("add", op("sin", op("exp", X)), op("sin", Y))
    assert sorted(set(missing_rules(value, ALL))) == ["exp", "sin"]
    assert set(missing_rules(value, frozenset({"y"}))) == {"sin"}
    assert missing_rules(value, frozenset({"z"})) == []
    with pytest.raises(MissingRule):
        pullback(value, T, ALL, None)


def test_reads_with_a_derivative_behind_functions_that_have_none():
    step = op("floor", op("multiply", X, Y))
    assert differentiable_reads(select(less(Z, X), op("sin", Y), step)) == [Y]
    assert differentiable_reads(step) == []


def test_rules_are_asked_for_once_for_each_operation(monkeypatch):
    asked = []
    original = expression.differentiable_args
    monkeypatch.setattr(expression, "differentiable_args", lambda node: asked.append(node) or original(node))
    value = X
    for _ in range(100):
        value = op("sin", op("multiply", value, value))
    missing_rules(value, ALL)
    differentiable_reads(value)
    assert len(asked) < 2 * 202
