"""Conditions: constant folding, affine guards, and short-circuit evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from sdfgad.errors import InvalidIndex, PythonRaises, Rebound, SdfgadError, chosen_object
from sdfgad.ir.evaluate import evaluated
from sdfgad.ir.expr import BOOL, INT, Expr, Lin, Op, as_linear, reads
from sdfgad.ir.ops import OPERATIONS
from sdfgad.parse import chosen_objects, chosen_texts, counter_conditions, sharing, truth_values
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.blame import blamed
from sdfgad.parse.builder import Builder
from sdfgad.parse.clocks import Reading
from sdfgad.parse.dict_keys import MissingKey
from sdfgad.parse.elementwise import to_bool, where
from sdfgad.parse.emitter import exception_of
from sdfgad.parse.frame import Frame
from sdfgad.parse.merging import has_one_shape, is_same, phi, unified
from sdfgad.parse.operands import method
from sdfgad.parse.tree_nodes import is_inner, is_same_kind, with_parts
from sdfgad.parse.tuple_methods import own_method
from sdfgad.parse.updating import aliased_by
from sdfgad.parse.values import (
    ChosenObject,
    ChosenText,
    MaybeNone,
    NotNumeric,
    Polymorphic,
    Record,
    Tensor,
    as_tensor,
    is_member,
    is_static,
    scalar,
)


class ShapesDiffer(Rebound):
    """The values of a conditional expression differ in their shapes."""


class MembersDiffer(Rebound):
    """The values of a conditional expression are members of an enumeration, and numbers."""

    is_of_text = True


Arms = tuple[Callable[[], Any], Callable[[], Any]]


def known_truth(value: Any) -> bool | None:
    """A value's truth value where it is known while parsing, else None; a container is true unless it is empty."""
    return bool(value) if is_static(value) or isinstance(value, (list, tuple, dict)) else None


def truth(b: Builder, value: Any) -> Tensor:
    """A value's truth value as a boolean scalar; that of an array with one element is the element's."""
    tensor = as_tensor(value)
    if any(extent != Lin(1) for extent in tensor.shape):
        raise b.unsupported(
            "the truth value of an array is ambiguous",
            "Write np.any(x > 0) or np.all(x > 0); join conditions on arrays by & and |; choose elements by np.where.",
        )
    return scalar(to_bool(tensor.at(*(Lin(0) for _ in tensor.shape))))


def logical(b: Builder, name: str, x: Any, y: Any) -> Any:
    """``x and y`` or ``x or y`` of two truth values that are both evaluated."""
    is_and = name == "logical_and"
    for known, other in ((x, y), (y, x)):
        if is_static(known):
            return other if bool(known) == is_and else not is_and
    return decided(b, Op(name, (truth(b, x).at(), truth(b, y).at()), BOOL))


def chained(b: Builder, left: Any, right: Any) -> Any:
    """``left and right`` of two comparisons, of which neither must be left out."""
    found = logical(b, "logical_and", left, right)
    if found is left or found is right or not isinstance(found, Tensor):
        return found
    types = truth_values.types_of(as_tensor(left)) | truth_values.types_of(as_tensor(right))
    known = len(types) == 1
    return replace(found, weak=types == {truth_values.PYTHON}, types=frozenset() if known else types)


def decided(b: Builder, condition: Expr) -> Any:
    """A condition on integers: True or False where the domain implies either, else a boolean scalar."""
    forms, negated = affine_forms(condition), affine_forms(condition, negate=True)
    if forms is not None and all(b.domain.implies(f) for f in forms):
        return True
    if negated is not None and all(b.domain.implies(f) for f in negated):
        return False
    constant = evaluated(condition, {}, {}) if b.is_in_part else None
    if constant is not None:
        return bool(constant)
    found = scalar(condition, weak=True)
    return replace(found, types=truth_values.BOOLEANS) if b.has_numpy_integers else found


def affine_forms(condition: Expr, negate: bool = False) -> tuple[Lin, ...] | None:
    """Linear forms that are all >= 0 exactly where the condition (or its negation) holds; None if there are none."""
    if not isinstance(condition, Op):
        return None
    if condition.name == ("logical_or" if negate else "logical_and"):
        parts = [affine_forms(arg, negate) for arg in condition.args]
        return None if any(p is None for p in parts) else tuple(f for p in parts if p for f in p)
    if len(condition.args) != 2 or any(arg.dtype != INT for arg in condition.args):
        return None
    x, y = (as_linear(arg) for arg in condition.args)
    name = OPERATIONS[condition.name].negation if negate else condition.name
    table = {"less": (y - x - 1,), "less_equal": (y - x,), "greater": (x - y - 1,), "greater_equal": (x - y,)}
    return (x - y, y - x) if name == "equal" else table.get(name)


def implied_forms(b: Builder, condition: Expr, negate: bool = False) -> tuple[Lin, ...]:
    """Linear forms that are >= 0 where the condition (or its negation) holds: of ``i != 0``, too, where i >= 0."""
    if isinstance(condition, Op) and condition.name == ("logical_or" if negate else "logical_and"):
        return tuple(form for part in condition.args for form in implied_forms(b, part, negate))
    exact = affine_forms(condition, negate)
    if exact is not None or not isinstance(condition, Op) or condition.name != ("equal" if negate else "not_equal"):
        return exact or ()
    if any(arg.dtype != INT for arg in condition.args):
        return ()
    x, y = map(as_linear, condition.args)
    return tuple(form - 1 for form in (x - y, y - x) if b.holds(form))


def fixed(b: Builder, condition: Tensor) -> Expr:
    """Materialise a condition on data, as later statements may write its operands."""
    value = condition.at()
    return b.materialise(scalar(value), "taken").at() if reads(value) else value


# --- expressions that are evaluated only where a condition holds


def test(frame: Frame, node: ast.expr) -> Any:
    """The truth of an expression: True, False, or a scalar tensor of booleans."""
    if isinstance(node, ast.BoolOp):
        return _short_circuit(frame, node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return negated(test(frame, node.operand))
    return tested(frame, node, frame.eval(node))


def tested(frame: Frame, node: ast.expr, value: Any) -> Any:
    """The truth of the value of an expression."""
    value = _truth_value(frame, node, value)
    known = known_truth(value)
    return _by_constants(frame.b, truth(frame.b, value)) if known is None else known


def _by_constants(b: Builder, condition: Tensor) -> Any:
    """A condition on counters or known arrays as True or False, where it has to be known, say for a length."""
    of_counters = counter_conditions.known_or_kept(b, condition.at())
    if of_counters is not None:
        return bool(of_counters)
    b.constants.note_condition(condition.at())
    b.deciding_inputs |= b.constants.inputs_behind(condition.at())
    known = b.constants.array(condition, b.here) if b.decides else None
    found = b.truth_by_value(condition) if known is None else bool(known)
    return condition if found is None else found


def _truth_value(frame: Frame, node: ast.expr, value: Any) -> Any:
    """What decides the truth of an object: its ``__bool__``, its ``__len__``, or that it is there; None is false."""
    if isinstance(value, MaybeNone):
        inner = _truth_value(frame, node, value.value)
        inner = bool(inner) if isinstance(inner, (tuple, list, dict, set)) else inner
        return logical(frame.b, "logical_and", as_tensor(value.there), inner)
    if isinstance(value, ChosenText):
        return chosen_texts.truth(frame.b, value)
    if isinstance(value, Polymorphic):
        called: Any = ast.Call(ast.Constant(bool), [ast.Constant(value)], [])  # type: ignore[arg-type]
        return frame.eval(ast.fix_missing_locations(ast.copy_location(called, node)))
    if isinstance(value, Reading):
        raise frame.unsupported(node, f"{Reading.noun} is a condition: it differs from run to run", Reading.instead)
    own = own_method(value, "__bool__") or own_method(value, "__len__")
    if own is not None:
        return frame.call(node, own, [value], {})
    if not isinstance(value, Record):
        return value
    name = next((name for name in ("__bool__", "__len__") if hasattr(value.cls, name)), None)
    return True if name is None else method(frame, node, value, name)


def negated(value: Any) -> Any:
    """``not value`` of a truth value."""
    return not value if isinstance(value, bool) else scalar(Op("logical_not", (value.at(),), BOOL), weak=True)


def _short_circuit(frame: Frame, node: ast.BoolOp) -> Any:
    """The truth value of ``and`` and ``or``: an operand is evaluated only where those before it do not decide."""
    stop = isinstance(node.op, ast.Or)
    result = test(frame, node.values[0])
    for operand in node.values[1:]:
        if isinstance(result, bool):
            if result == stop:
                return result
            result = test(frame, operand)
        else:
            result = _and_then(frame, result, operand, stop)
    return result


def _and_then(frame: Frame, result: Tensor, operand: ast.expr, stop: bool) -> Any:
    arms = _arms(lambda: test(frame, operand), lambda: stop, stop)
    values, merged = _evaluate_arms(frame, result, arms)
    if not values:
        return merged
    return logical(frame.b, "logical_or" if stop else "logical_and", result, values[int(stop)])


def bool_op(frame: Frame, node: ast.BoolOp) -> Any:
    """The value of ``and`` and ``or``: that of the operand that decides."""
    stop = isinstance(node.op, ast.Or)
    result = frame.eval(node.values[0])
    for before, operand in pairwise(node.values):
        left = result if known_truth(result) is not None else frame.b.settle(result)
        holds = _truth_value(frame, before, left)
        if known_truth(holds) is None:
            holds = _by_constants(frame.b, truth(frame.b, holds))
        if known_truth(holds) is None:
            result = _selected_operand(frame, left, holds, operand, stop)
        elif bool(holds) == stop:
            # What is true is not None.
            return left.value if stop and isinstance(left, MaybeNone) else left
        else:
            result = frame.eval(operand)
    return result


def _selected_operand(frame: Frame, left: Any, holds: Tensor, operand: ast.expr, stop: bool) -> Any:
    # What is true is not None.
    decides = left.value if stop and isinstance(left, MaybeNone) else left
    return _selected(frame, holds, _arms(lambda: frame.eval(operand), lambda: decides, stop))


def _arms(if_open: Callable[[], Any], if_decided: Callable[[], Any], stop: bool) -> Arms:
    """The arms for a true and a false condition: a true one decides an ``or`` (`stop`), a false one an ``and``."""
    return (if_decided, if_open) if stop else (if_open, if_decided)


def conditional_expression(frame: Frame, node: ast.IfExp) -> Any:
    """``x if condition else y``."""
    condition = test(frame, node.test)
    if isinstance(condition, bool):
        return frame.eval(node.body if condition else node.orelse)
    try:
        return _selected(frame, condition, (lambda: frame.eval(node.body), lambda: frame.eval(node.orelse)))
    except (ShapesDiffer, MembersDiffer) as error:
        error.choice = error.choice or node
        raise


def _selected(frame: Frame, condition: Tensor, arms: Arms) -> Any:
    values, merged = _evaluate_arms(frame, condition, arms)
    if not values:
        return merged
    with blamed(frame.b, condition.at(), frame.b.where):
        return _either(frame.b, condition, values)


def _either(b: Builder, condition: Tensor, values: list[Any]) -> Any:
    """One of two values, also part by part of tuples."""
    if all(isinstance(value, tuple) and is_inner(value) for value in values) and is_same_kind(*values):
        return with_parts(values[0], [_either(b, condition, list(pair)) for pair in zip(*values, strict=True)])
    values = chosen_objects.unified(b, values, len(b.blocks))
    if values[0] is values[1] or is_same(*values):
        return values[0]
    if any(value is None or isinstance(value, MaybeNone) for value in values) and not chosen_texts.are_texts(values):
        return _either_or_none(b, condition, values)
    if isinstance(values[0], ChosenObject):
        place = where(b, condition, *(as_tensor(value.place) for value in values))
        return chosen_objects.resolved(b, replace(values[0], place=place))
    if all(isinstance(value, Record) for value in values):
        raise chosen_object("data decides which one of two objects this is", b.where, "Write an `if` statement.")
    if any(map(is_member, values)):
        what = "data decides which of two members of an enumeration this expression is"
        raise MembersDiffer(what, b.where, "Write an `if` statement.")
    if b.numbers_texts and chosen_texts.are_texts(values):
        return ChosenText(where(b, condition, *(chosen_texts.code_of(b, value) for value in values)))
    return _either_array(b, condition, values)


def _either_or_none(b: Builder, condition: Tensor, values: list[Any]) -> MaybeNone:
    """One of two values of which either may be None, and one is not."""
    pairs = [(one.value, one.there) if isinstance(one, MaybeNone) else (one, one is not None) for one in values]
    there = where(b, condition, *(as_tensor(is_there) for _, is_there in pairs))
    known = [value for value, _ in pairs if value is not None]
    return MaybeNone(known[0] if len(known) == 1 else _either(b, condition, known), there)


def _either_array(b: Builder, condition: Tensor, values: list[Any]) -> Tensor:
    try:
        tensors = [as_tensor(value) for value in values]
    except NotNumeric as error:
        error.symbols = b.deciders(condition.at())
        if not error.symbols and chosen_texts.are_texts(values):
            raise chosen_texts.refused(b, "data decides which one of two strings this expression is") from error
        raise
    if not has_one_shape(b, tensors):
        what = "the values of this expression, of which one is chosen at run time, differ in their shapes"
        raise ShapesDiffer(what, b.where, "Write an `if` statement, or give them one shape.")
    result, sources = where(b, condition, *tensors), _may_alias(tensors)
    is_read_only = any(tensor.read_only for tensor in tensors)
    result = replace(result, read_only=is_read_only, types=truth_values.joined(tensors))
    return b.versions.copy_of(result, sources) if sources else result


def _may_alias(values: list[Any]) -> set[str]:
    tensors = [value for value in values if isinstance(value, Tensor)]
    copied = set[str]().union(*map(aliased_by, tensors))
    return copied | {str(tensor.buffer) for tensor in tensors if tensor.place is not None}


@contextmanager
def a_side() -> Iterator[None]:
    """Within it, data decides whether the program comes to what is parsed."""
    try:
        yield
    except PythonRaises as error:
        error.is_passed_on = True
        raise


def _evaluate_arms(frame: Frame, condition: Tensor, arms: Arms) -> tuple[list[Any], Any]:
    """If-conversion where both arms emit no statement and bind nothing: their values, and None. Else none, and a phi.

    ``:=`` binds names in the function around a comprehension.
    """
    b, scope = frame.b, frame.scope
    point = ChoicePoint.of(scope)
    try:
        with blamed(b, condition.at(), b.where), a_side():
            values = [arm() for arm in arms]
        if b.is_unchanged_since(point.state) and _has_same_names(scope.env, point.env):
            return values, None
    except (InvalidIndex, MissingKey):
        # An arm has an index that is only valid where the condition selects it.
        pass
    except SdfgadError as error:
        if not any(isinstance(exception_of(error), guard.kinds) for guard in b.tries):
            raise
    point.backtrack(scope)
    settled = (lambda: b.settle(arms[0]()), lambda: b.settle(arms[1]()))
    return [], scope.chosen(condition, settled, partial(_phi_of_arms, b))


def _has_same_names(env: dict[str, Any], before: dict[str, Any]) -> bool:
    return env.keys() == before.keys() and all(value is before[name] for name, value in env.items())


def _phi_of_arms(b: Builder, ends: list[tuple[Any, list[Any]]]) -> Any:
    result = phi(b, "chosen", ends, lambda _, leaf: _may_alias([leaf]))
    sharing.add_copies(b, result, unified(b, [value for value, _ in ends], len(b.blocks), joins_none=True))
    return chosen_objects.resolved(b, result)
