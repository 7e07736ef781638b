"""Object identity: ``x is y`` of arrays, lists and other objects, refused where only a run tells."""

from __future__ import annotations

from typing import Any

from sdfgad.errors import Rebound, chosen_object
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, symbols_of
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import chosen_objects, conditions, trees, truth_values
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Record, Selection, Tensor, as_tensor

# Of these CPython has one object each.
SMALL = range(-5, 257)
ONLY_AT_RUN_TIME = "whether `is` holds is known only at run time: an object that it compares is "
BY_FLAG = "Compare a flag that is set where the object is chosen."
BY_PLACE = "Compare the places of the items in their list: for k, x in enumerate(items)."


def is_same(b: Builder, left: Any, right: Any) -> Any:
    """Whether two values are one object; for objects of a list at run-time places, a condition.

    Raises:
        UnsupportedProgram: it depends on the path that is taken at run time.
        NeedsConstant: on the trip of a loop, as an item of a list is a row of an array there.
    """
    if left is right:
        return True
    for flag, other in ((left, right), (right, left)):
        if isinstance(flag, bool) and isinstance(other, Tensor) and not other.ndim and _may_be_flag(other):
            return _is_flag(b, flag, other)
        if type(flag) is int and flag in SMALL and _is_integer(other):
            return conditions.decided(b, Op("equal", (as_tensor(other).at(), Const(flag, INT)), BOOL))
    if _is_integer(left) and _is_integer(right):
        raise b.unsupported(ONLY_AT_RUN_TIME + "an integer that is computed", "Compare integers by ==.")
    if (places := chosen_objects.places(b, left, right)) is not None:
        return conditions.decided(b, Op("equal", (Int(places[0]), Int(places[1])), BOOL))
    if type(left) is type(right) and (_is_read_back(b, left) or _is_read_back(b, right)):
        raise b.unsupported(ONLY_AT_RUN_TIME + "an item of a list whose length is data", BY_FLAG)
    is_chosen = _is_chosen(b, left) or _is_chosen(b, right)
    if is_chosen and not _referents(b, left).isdisjoint(_referents(b, right)):
        if isinstance(left, Record) and isinstance(right, Record):
            raise chosen_object(ONLY_AT_RUN_TIME + "chosen or re-bound there", b.where, BY_FLAG)
        raise b.unsupported(ONLY_AT_RUN_TIME + "chosen or re-bound there", BY_FLAG)
    if _may_be_references(b, left, right):
        raise b.unsupported(ONLY_AT_RUN_TIME + "an item of a list that a loop fills", BY_FLAG)
    counters = {var for _, var, _ in b.loops} & (_symbols(left) | _symbols(right))
    if counters and _may_be_item(left) and _may_be_item(right):
        raise NeedsConstant(counters, b.where, ONLY_AT_RUN_TIME + "that of a trip", BY_PLACE)
    return False


def _is_integer(value: Any) -> bool:
    """Whether a value is an integer of Python's that only a run tells."""
    is_scalar = isinstance(value, Tensor) and value.weak and not value.ndim and value.dtype == INT and not value.types
    return is_scalar or isinstance(value, Lin)


def _may_be_flag(value: Tensor) -> bool:
    return value.dtype == BOOL or not value.types.isdisjoint(truth_values.BOOLEANS)


def _is_flag(b: Builder, flag: bool, value: Tensor) -> Any:
    """Whether a truth value is Python's True or False: NumPy's are other objects."""
    types = truth_values.types_of(value)
    if len(types) > 1:
        what = f"whether `is` holds depends on the path: this truth value is {' or '.join(sorted(types))}"
        todo = "Write `if flag:` or `if not flag:` instead of `flag is True` or `flag is False`."
        raise Rebound(what, b.where, todo)
    if types != {truth_values.PYTHON}:
        return False
    return value if flag else conditions.negated(value)


def _is_read_back(b: Builder, value: Any) -> bool:
    """Whether a value is an object, list or dict that has been in a list whose length is data."""
    value = value.fields if isinstance(value, Record) else value
    return isinstance(value, (list, dict)) and b.contents.is_read(value)


def _is_chosen(b: Builder, value: Any) -> bool:
    value = value.fields if isinstance(value, Record) else value
    return value.copy is not None if isinstance(value, Tensor) else b.contents.is_copy(value)


def _referents(b: Builder, value: Any) -> set[Any]:
    """The storage of the arrays, or the ids of the lists and dicts, that a value may be in Python."""
    member = b.objects.member(value) if isinstance(value, Record) else None
    if member is not None:
        return {id(one.fields) for one in member.objects}
    value = value.fields if isinstance(value, Record) else value
    if not isinstance(value, Tensor):
        return {id(one) for one in b.contents.aliased_by(value)}
    copy, own = value.copy, {value.buffer} - {None}
    return own if copy is None else own | {copy.storage} | {buffer for buffer, _ in copy.of}


def _may_be_references(b: Builder, left: Any, right: Any) -> bool:
    """Whether one of two arrays is the row of a list, which may stand for an array by another name."""
    if not isinstance(left, Tensor) or not isinstance(right, Tensor) or left.buffer is None or right.buffer is None:
        return False
    return b.references.has_row(left.buffer) or b.references.has_row(right.buffer)


def _may_be_item(value: Any) -> bool:
    """Whether a value may be an item of a list that loops go over as over the rows of arrays."""
    is_number = isinstance(value, (int, float, complex)) and not isinstance(value, bool)
    return is_number or isinstance(value, (Tensor, Lin, Selection, Record, tuple, list, dict))


def _symbols(value: Any) -> set[str]:
    """The symbols that choose the elements of a value."""
    found = set[str]()
    for leaf in trees.leaves(value):
        if isinstance(leaf, Lin):
            found |= leaf.symbols
        elif isinstance(leaf, Tensor):
            found |= symbols_of(as_tensor(leaf).element(tuple(Lin(0) for _ in leaf.shape)))
    return found
