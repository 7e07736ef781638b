"""Object identity: ``x is y`` of arrays, lists and other objects, refused where only a run tells."""

from __future__ import annotations

from typing import Any

from sdfgad.ir.expr import Lin, symbols_of
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Record, Selection, Tensor, as_tensor

ONLY_AT_RUN_TIME = "whether `is` holds is known only at run time: an object that it compares is "
BY_FLAG = "Compare a flag that is set where the object is chosen."
BY_PLACE = "Compare the places of the items in their list: for k, x in enumerate(items)."


def is_same(b: Builder, left: Any, right: Any) -> bool:
    """Whether two values are one object.

    Raises:
        UnsupportedProgram: it depends on the path that is taken at run time.
        NeedsConstant: on the trip of a loop, as an item of a list is a row of an array there.
    """
    if left is right:
        return True
    is_chosen = _is_chosen(b, left) or _is_chosen(b, right)
    if is_chosen and not _referents(b, left).isdisjoint(_referents(b, right)):
        raise b.unsupported(ONLY_AT_RUN_TIME + "chosen or re-bound there", BY_FLAG)
    counters = {var for _, var, _ in b.loops} & (_symbols(left) | _symbols(right))
    if counters and _may_be_item(left) and _may_be_item(right):
        raise NeedsConstant(counters, b.where, ONLY_AT_RUN_TIME + "that of a trip", BY_PLACE)
    return False


def _is_chosen(b: Builder, value: Any) -> bool:
    return value.copy is not None if isinstance(value, Tensor) else b.contents.is_copy(value)


def _referents(b: Builder, value: Any) -> set[Any]:
    """The storage of the arrays, or the ids of the lists and dicts, that a value may be in Python."""
    if not isinstance(value, Tensor):
        return {id(one) for one in b.contents.aliased_by(value)}
    copy, own = value.copy, {value.buffer} - {None}
    return own if copy is None else own | {copy.storage} | {buffer for buffer, _ in copy.of}


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
