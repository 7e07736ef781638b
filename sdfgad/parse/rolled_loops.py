"""Loops over lists of alike items, or of a few kinds of items, as loops of the program."""

from __future__ import annotations

import ast
from typing import Any

from sdfgad.errors import (
    SdfgadError,
)
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import (
    trees,
    type_switch,
)
from sdfgad.parse.backtracking import attempted
from sdfgad.parse.builder import Builder
from sdfgad.parse.constants import Decides, Guessed
from sdfgad.parse.contents import Rolling, Taken
from sdfgad.parse.frame import Frame
from sdfgad.parse.index_set_splitting import split
from sdfgad.parse.item_tables import has_arrays, is_tabular
from sdfgad.parse.iterables import iterable_of
from sdfgad.parse.liveness import assigned_names, is_read_behind
from sdfgad.parse.loop_heads import Head, head_of
from sdfgad.parse.loop_strategies import as_loop, is_worth, parse_filling, part
from sdfgad.parse.ranges import are_rows, fewest, gone_over
from sdfgad.parse.values import Iteration


def is_table_to_roll(b: Builder, value: Any) -> bool:
    """Whether a loop goes over a list of numbers or alike arrays that would else be written out."""
    few = fewest(b)
    if b.rolling is Rolling.NONE or not is_tabular(value, few):
        return False
    sources = value.sources if isinstance(value, Iteration) else (value,)
    tables = [source for source in sources if is_tabular(source, few)]
    return any(not has_arrays(one) or not are_rows(b, one) for one in tables)


def rolled_over_table(frame: Frame, node: ast.For, value: Any) -> bool:
    """Parse a loop over a list of alike items as a loop; returns whether it can be one, and is worth it."""
    b = frame.b
    sources = list(map(trees.dict_of, value.sources if isinstance(value, Iteration) else [value]))
    before = trees.copied(sources)

    def rolled() -> bool:
        with b.rolling_tables():
            head = head_of(frame, node, gone_over(b, value))
        return head is not None and _is_rolled(frame, head) and not trees.is_changed(sources, before)

    frame.iterables.append(value)
    try:
        is_rolled = bool(attempted(frame, rolled, (NeedsConstant, Decides, Guessed, Taken, SdfgadError)))
    finally:
        frame.iterables.pop()
    b.has_rolled |= is_rolled
    return is_rolled


def keeps_items(frame: Frame, node: ast.For) -> bool:
    """Whether a name that a loop binds may be read behind it, as what it binds besides always may."""
    names = assigned_names(node.target)
    shared = frame.source.nonlocals | frame.source.cells
    bound = [one for one in ast.walk(node.target) if isinstance(getattr(one, "ctx", None), ast.Store)]
    if not all(isinstance(one, (ast.Name, ast.Tuple, ast.List, ast.Starred)) for one in bound) or names & shared:
        return True
    return any(is_read_behind(frame.source.tree, node, tuple(frame.around), name) for name in names)


def is_type_switch(frame: Frame, node: ast.For, value: Any) -> bool:
    """Parse a loop over items of several kinds as one with a branch for each kind; returns whether it can be one."""
    b = frame.b
    is_begun = isinstance(value, Iteration) and (id(value) in b.exhausted or value.blocks != tuple(b.blocks))
    if b.rolling is Rolling.NONE or is_begun:
        return False
    candidates = list(type_switch.candidates(node, value))
    if not candidates or keeps_items(frame, node):
        return False
    return any(_rolled_switch(frame, value, switch) for switch in candidates)


def _rolled_switch(frame: Frame, value: Any, switch: type_switch.TypeSwitch) -> bool:
    before = trees.copied(switch.lists)

    def rolled() -> bool:
        with switch.named(frame):
            gone_over(frame.b, value)
            is_rolled = rolled_over_table(frame, switch.node, iterable_of(frame, switch.node.iter))
        return is_rolled and not trees.is_changed(switch.lists, before)

    return bool(attempted(frame, rolled, ()))


def _is_rolled(frame: Frame, head: Head) -> bool:
    """Parse a loop over a list as one loop that is worth it, or as several; returns whether it is such."""
    failure = parse_filling(frame, head, as_loop)
    if failure is None:
        return is_worth(frame.b, frame.b.blocks[-1][-1])
    return split(frame, head, failure.by_trip, part)
