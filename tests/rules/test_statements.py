"""What flows back through one statement, by how it accumulates."""

import numpy as np
import pytest

from sdfgad.ir.expr import Const, Int, Lin, Op, Read, as_linear, reads
from sdfgad.ir.program import Access, Compute
from sdfgad.rules.statements import COUNT, STATEMENT_RULES, TOP, target_params
from tests.rules.test_expression import evaluated

F64 = np.dtype(np.float64)
P, Q = Lin.symbol("p"), Lin.symbol("q")
X, Y = Read("x", (P,), F64), Read("y", (P,), F64)
T = Read("t_bar", (), F64)
ACTIVE = frozenset({"x", "y", "t"})
BOX = (("p", Lin(4)),)


def op(name, *args):
    return Op(name, args, F64)


def pulled(value, accumulate, active=ACTIVE, index=()):
    statement = Compute(BOX, Access("t", index), value, accumulate)
    return STATEMENT_RULES[accumulate](statement, T, active)


def test_there_is_a_rule_for_each_way():
    assert set(STATEMENT_RULES) == {None, "add", "maximum", "minimum"}


@pytest.mark.parametrize(("accumulate", "ends"), [(None, True), ("add", False)])
def test_assignments_end_the_target_and_sums_do_not(accumulate, ends):
    result = pulled(op("multiply", X, Y), accumulate)
    assert result.ends_target is ends
    assert result.totals == ()
    assert not result.uses_result
    found = {read: evaluated(cotangent, x=3.0, y=5.0, t_bar=2.0) for read, cotangent in result.cotangents}
    assert found == {X: 10.0, Y: 6.0}


def test_only_active_reads_have_cotangents():
    assert [r for r, _ in pulled(op("multiply", X, Y), None, frozenset({"y"})).cotangents] == [Y]
    assert pulled(Const(1.0, F64), None).cotangents == ()
    assert pulled(op("floor", X), "add").cotangents == ()


@pytest.mark.parametrize("kind", ["maximum", "minimum"])
def test_an_extremum_is_shared_by_those_that_attain_it(kind):
    result = pulled(op("multiply", X, Const(2.0, F64)), kind)
    assert result.ends_target
    assert not result.uses_result
    ((read, cotangent),) = result.cotangents
    assert read is X
    assert {r.buffer for r in reads(cotangent)} == {"x", "t_bar", TOP, COUNT}
    top, count = result.totals
    assert (top.name, top.accumulate, count.name, count.accumulate) == (TOP, kind, COUNT, "add")
    assert evaluated(top.start) == (-np.inf if kind == "maximum" else np.inf)
    values = {"t_bar": 5.0, TOP: 6.0, COUNT: 2.0}
    assert evaluated(top.value, x=3.0) == 6.0
    assert evaluated(count.value, x=3.0, **values) == 1.0
    assert evaluated(count.value, x=2.0, **values) == 0.0
    assert evaluated(cotangent, x=3.0, **values) == 5.0
    assert evaluated(cotangent, x=2.0, **values) == 0.0


def test_the_count_is_read_at_the_target():
    result = pulled(X, "maximum", index=(P,))
    counts = [r for _, c in result.cotangents for r in reads(c) if r.buffer == COUNT]
    assert [r.index for r in counts] == [(P,)]


def test_parameters_of_the_target():
    box = (("p", Lin(4)), ("q", Lin(3)), ("r", Lin(2)))
    assert target_params(Compute(box, Access("t", (Q + 1, P - 1)), X)) == box[:2]
    assert target_params(Compute(box, Access("t"), X)) == ()
    wrapped = as_linear(Op("wrap", (Int(Lin.symbol("r")), Int(2)), np.dtype(np.int64)))
    assert target_params(Compute(box, Access("t", (wrapped,)), X)) == box[2:]
    looked_up = as_linear(Read("idx", (Q,), np.dtype(np.int64)))
    assert target_params(Compute(box, Access("t", (looked_up,)), X)) == box[1:2]
