"""Functions with a cache (`functools.lru_cache`): for arguments that are known they return what they have returned."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.registry import is_hashable
from sdfgad.parse.values import Record, Tensor, is_static

UNCACHED = "Leave out the cache, or return what is changed."


def remembered(
    frame: Frame, function: Any, given: tuple[list[Any], dict[str, Any]], evaluate: Callable[[], Any]
) -> Any:
    """Memoisation: what a function with a cache has returned before for the same arguments, which are known.

    Arguments could be equal at run time, and a loop come here again: a function without effects returns the same then.
    """
    b, key = frame.b, (id(function), tuple(given[0]), tuple(sorted(given[1].items())))
    is_known = is_static(given) and is_hashable(key)
    if not is_known or len(b.blocks) > 1:
        evaluate = partial(_without_effects, b, evaluate)
    if not is_known:
        return evaluate()
    # The function is kept, so that no other one gets its id.
    _, blocks, result = b.remembered.get(key, (function, None, None))
    if blocks is not None and len(blocks) <= len(b.blocks) and all(map(operator.is_, blocks, b.blocks)):
        return result
    if blocks is not None and id(function) in b.remembering:
        _require_few(b)
    blocks = tuple(b.blocks)
    b.remembering.append(id(function))
    try:
        result = evaluate()
    finally:
        b.remembering.pop()
    b.remembered[key] = function, blocks, result
    return result


def _require_few(b: Builder) -> None:
    """Have the integers known by which a recursion ends: in branches on them each call would be followed anew.

    Raises:
        NeedsConstant: such a branch is around.
    """
    symbols = set[str]().union(*(one.symbols for one in b.decisions))
    if symbols:
        raise NeedsConstant(symbols, b.where, "an integer by which a recursion ends", UNCACHED)


def _without_effects(b: Builder, evaluate: Callable[[], Any]) -> Any:
    """The value of a call.

    Raises:
        NeedsConstant, UnsupportedProgram: it changes something, which Python does once for equal arguments.
    """
    state, before = b.snapshot(), b.contents.count
    result = evaluate()
    if b.has_changed_since(state):
        raise _refused(b, "a function with a cache changes something, and whether it is called so again")
    changeable = _refused(b, "what a function with a cache returns may be changed, and whether it returns it again")
    parts: list[Any] = [one.fields if isinstance(one, Record) else one for one in trees.sequences(result)]
    for one in (part for part in parts if b.contents.count_with(part) > before):
        for key in range(len(one)) if isinstance(one, list) else one:
            one[key] = _unchanged(one[key], changeable)
        b.contents.hold(one, changeable, b.loops)
    return _unchanged(result, changeable)


def _unchanged(value: Any, failure: Exception) -> Any:
    """An array, or a tuple of some, of which an update raises the failure; anything else itself."""
    if type(value) is tuple:
        return tuple(_unchanged(part, failure) for part in value)
    is_array = isinstance(value, Tensor) and value.ndim > 0
    return replace(value, unmoved=lambda: failure) if is_array else value


def _refused(b: Builder, whether: str) -> Exception:
    """Where loops are unrolled it is known."""
    what = f"{whether} is not known before the run"
    if b.loops:
        return NeedsConstant({var for _, var, _ in b.loops}, b.where, what, UNCACHED)
    return b.unsupported(what, UNCACHED)
