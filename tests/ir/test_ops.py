"""The table of operations: what its rows say agrees with NumPy, and with each other."""

import itertools

import numpy as np
import pytest

from sdfgad.interpret.library import operation
from sdfgad.ir.ops import OPERATIONS, SAME, Cost, Operation, Result, identity

COMPARISONS = [name for name, operation in OPERATIONS.items() if operation.is_comparison]
INTEGERS = [name for name, operation in OPERATIONS.items() if operation.on_integers is not None]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [((), ("r", "r")), ((SAME,), ("r", "r")), (("c",), ("r", "c"))],
)
def test_text_of_complex_operands(texts, expected):
    operation = Operation("r", *texts)
    assert (operation.text(is_complex=False), operation.text(is_complex=True)) == expected
    assert operation.takes_complex == bool(texts)


@pytest.mark.parametrize(("eager", "is_eager", "is_choice"), [(None, 0, 0), (SAME, 1, 0), ("t", 1, 1)])
def test_what_runs_where_it_is_not_asked_for(eager, is_eager, is_choice):
    operation = Operation("r", eager_cpp=eager)
    assert (operation.is_eager, operation.is_choice) == (is_eager, is_choice)


def test_costs():
    found = {
        cost: (operation.is_instruction, operation.is_expensive, operation.is_slow, operation.is_vectorised)
        for cost in Cost
        for operation in [Operation("r", cost=cost)]
    }
    assert found == {
        Cost.PLAIN: (True, False, False, False),
        Cost.CHEAP: (True, False, False, False),
        Cost.DIVISION: (True, True, False, False),
        Cost.CALL: (False, False, False, False),
        Cost.SLOW: (False, True, True, False),
        Cost.VECTOR: (False, True, True, True),
    }


@pytest.mark.parametrize("name", OPERATIONS)
def test_arity_is_that_of_the_ufunc(name):
    ufunc = getattr(np, OPERATIONS[name].like or name, None)
    assert isinstance(ufunc, np.ufunc) or not OPERATIONS[name].like
    if isinstance(ufunc, np.ufunc):
        assert OPERATIONS[name].arity == ufunc.nin


@pytest.mark.parametrize("name", [name for name in OPERATIONS if isinstance(getattr(np, name, None), np.ufunc)])
def test_truth_is_what_numpy_gives(name):
    ufunc, is_truth = getattr(np, name), OPERATIONS[name].result is Result.TRUTH
    outputs = {signature.split("->")[1] for signature in ufunc.types if not {*signature} & set("?OmM")}
    assert not outputs or (outputs == {"?"}) == is_truth


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_negation_holds_where_the_comparison_does_not(name):
    negation = OPERATIONS[name].negation
    assert OPERATIONS[negation].negation == name
    for x, y in itertools.product((-1.0, 0.0, 2.0), repeat=2):
        assert getattr(np, name)(x, y) != getattr(np, negation)(x, y)


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if one.infix])
def test_operators_of_python(name):
    values = (False, True) if name.startswith("logical") else (1, 6)
    for x, y in itertools.product(values, repeat=2):
        assert eval(f"{x} {OPERATIONS[name].infix} {y}") == operation(name)(x, y)


@pytest.mark.parametrize("name", INTEGERS)
def test_functions_of_integers(name):
    operation = OPERATIONS[name]
    for args in itertools.product((-7, -2, 3, 5), repeat=operation.arity):
        assert operation.on_integers(*args) == getattr(np, name)(*args)


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.identity is not None])
def test_accumulations_begin_with_what_changes_nothing(name):
    for value in (-2.5, 0.0, 3.0, np.inf, -np.inf):
        assert getattr(np, name)(OPERATIONS[name].identity, value) == value


@pytest.mark.parametrize("dtype", [bool, "int8", "uint16", "int64", "float32"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_neutral_elements_of_extrema(name, dtype):
    values = np.array([0, 1], dtype)
    neutral = np.array(identity(name, values.dtype), dtype)
    np.testing.assert_array_equal(getattr(np, name)(neutral, values), values)
