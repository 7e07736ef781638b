"""What attempts to parse something leave behind."""

import ast

import numpy as np
import pytest

from sdfgad.errors import InvalidIndex, SdfgadError
from sdfgad.parse import statements
from sdfgad.parse.backtracking import attempted
from sdfgad.parse.interpreter import STATEMENTS
from tests.helpers_ir import checked_outputs, parsed


def program(x):
    values = [x[0]]
    values.append(x[1] * 2.0)
    return values[0] + len(values)


def _fails():
    raise InvalidIndex("no item")


ENDS = {"none": lambda: None, "false": lambda: False, "raises": _fails, "found": lambda: 3}


@pytest.mark.parametrize("end", ENDS)
def test_an_attempt_that_fails_leaves_nothing(end, monkeypatch):
    """Each expression statement is parsed twice, first in an attempt; the list has two items unless that succeeds."""
    seen = []

    def twice(frame, node):
        def attempt():
            statements.expression(frame, node)
            return ENDS[end]()

        seen.append(attempted(frame, attempt))
        return statements.expression(frame, node)

    monkeypatch.setitem(STATEMENTS, ast.Expr, twice)
    primal = parsed(program, np.array([1.0, 2.0]))
    assert seen == [3 if end == "found" else None]
    assert checked_outputs(primal, np.array([1.0, 2.0]))["return"] == (4.0 if end == "found" else 3.0)


def test_what_else_is_raised_is_passed_on(monkeypatch):
    def raises(frame, node):
        return attempted(frame, _fails, (KeyError,))

    monkeypatch.setitem(STATEMENTS, ast.Expr, raises)
    with pytest.raises(SdfgadError, match="no item"):
        parsed(program, np.array([1.0, 2.0]))
