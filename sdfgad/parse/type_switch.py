"""Type switch: a loop over a list of items of several kinds as one whose body is a branch for each kind.

``for element in [Quad(...), Drift(...), Quad(...)]:`` cannot look up "the element of this trip", as the classes differ.
But which kind an item is of is known, so the loop goes over the numbers of the kinds, and over the places that the
items have in the list of all items of their kind. So do loops over tuples and dicts with texts in them, and over
objects whose attributes are texts, truth values or None.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.filtered_objects import located
from sdfgad.parse.frame import Frame
from sdfgad.parse.item_tables import kind_of, listed, looked_up
from sdfgad.parse.jumps import stops
from sdfgad.parse.values import DICT_VIEWS, Iteration, Record, Tensor

# Loops over shorter lists, or over lists with fewer items of each kind in the mean, are written out.
FEWEST = 6
FEWEST_OF_A_KIND = 2
MOST_KINDS = 8


@dataclass(frozen=True)
class TypeSwitch:
    """A loop over lists of which some have items of several kinds.

    Attributes:
        node: the loop that stands for it.
        values: the names in `node`, and their values.
        lists: what has the items of several kinds, which must stay what it is.
    """

    node: ast.For
    values: dict[str, Any]
    lists: list[Any]

    @contextmanager
    def named(self, frame: Frame) -> Iterator[None]:
        """Within it, the names of the loop have their values."""
        frame.env |= self.values
        try:
            yield
        finally:
            for name in self.values:
                frame.env.pop(name, None)


def candidates(node: ast.For, value: Any) -> Iterator[TypeSwitch]:
    """The type switches that a loop over `value` can be: by classes alone, and by other attributes, too."""
    before: list[int] | None = None
    is_alone = not isinstance(value, Iteration) or value.function is iter
    whole = _sources(value)
    sources = list(map(_as_list, whole))
    for has_labels in (False, True):
        kinds = {number: found for number, one in enumerate(sources) if (found := _kinds_of(one, has_labels))}
        chosen = _numbered(list(kinds.values()))
        if chosen is not None and chosen != before:
            form = _Form(f"{node.lineno}, {node.col_offset}", len(sources), tuple(kinds), max(chosen) + 1, is_alone)
            values = _values(form, sources, chosen)
            yield TypeSwitch(_loop(node, form), values, [trees.dict_of(whole[number]) for number in kinds])
        before = chosen


def _values(form: _Form, sources: Sequence[Any], kinds: list[int]) -> dict[str, Any]:
    """What the names of a type switch mean."""
    values: dict[str, Any] = {form.kinds: kinds}
    for number, source in enumerate(sources):
        values[form.source(number)] = source
        if number in form.mixed:
            values[form.source(number)], parts = _divided(source, kinds)
            values |= {form.part(number, kind): part for kind, part in parts.items()}
    return values


def _as_list(source: Any) -> Any:
    is_list = isinstance(source, (str, list, tuple, dict, *DICT_VIEWS))
    return listed(source) if is_list else source


def _sources(value: Any) -> Sequence[Any]:
    """What a loop goes over side by side, where it is known; none for other loops."""
    if not isinstance(value, Iteration):
        return [value]
    first = value.sources[0] if value.sources else None
    if value.function is enumerate and isinstance(first, Sized):
        start = value.sources[1] if len(value.sources) > 1 else 0
        return [range(start, start + len(first)), first] if isinstance(start, int) else []
    lists = [one for one in value.sources if not isinstance(one, bool)]
    is_strict = len(lists) < len(value.sources)
    if value.function not in (zip, iter) or (is_strict and len(set(map(_length, lists))) > 1):
        return []
    return lists


def _length(source: Any) -> Lin | None:
    if isinstance(source, Tensor):
        return source.shape[0] if source.ndim else None
    return Lin(len(source)) if hasattr(source, "__len__") else None


def _kinds_of(items: Any, has_labels: bool) -> list[Hashable] | None:
    """What kind each item of a list is of; None of other values, and of items of one kind."""
    if not isinstance(items, (list, tuple)) or len(items) < FEWEST:
        return None
    kinds: list[Hashable] = [(one.cls, tuple(one.fields)) if isinstance(one, Record) else kind_of(one) for one in items]
    if has_labels and all(isinstance(one, Record) for one in items):
        kinds = list(zip(kinds, *_labels(items), strict=True))
    return kinds if len(set(kinds)) > 1 else None


def _labels(objects: Sequence[Record]) -> Iterator[list[Hashable]]:
    """What those attributes of objects are that are no numbers, but for names that hardly two of the objects share."""
    for name in dict.fromkeys(name for one in objects for name in one.fields):
        labels = [_label(one.fields.get(name)) for one in objects]
        if 1 < len(set(labels)) <= MOST_KINDS:
            yield labels


def _label(value: Any) -> Hashable:
    if isinstance(value, (str, bool)) or value is None:
        return value
    if isinstance(value, (list, tuple, dict)):
        return type(value), len(value)
    return value.shape if isinstance(value, Tensor) else getattr(value, "cls", None)


def _numbered(kinds: list[list[Hashable]]) -> list[int] | None:
    """The number of the kind of each trip; None where these are too many, or some are kinds of no loop."""
    trips = list(zip(*kinds, strict=False))
    order = {kind: number for number, kind in enumerate(dict.fromkeys(trips))}
    is_many = len(order) > min(MOST_KINDS, len(trips) // FEWEST_OF_A_KIND)
    return None if not trips or is_many or any(None in kind for kind in order) else [order[kind] for kind in trips]


def _divided(items: Sequence[Any], kinds: list[int]) -> tuple[list[int], dict[int, list[Any]]]:
    """The place of each item among those of its kind, and these, each object once."""
    parts: dict[int, list[Any]] = {kind: [] for kind in kinds}
    places: list[int] = []
    known: dict[tuple[int, int], int] = {}
    for item, kind in zip(items, kinds, strict=False):
        key = kind, id(item.fields if isinstance(item, Record) else item)
        if key not in known:
            known[key] = len(parts[kind])
            parts[kind].append(item)
        places.append(known[key])
    return places, parts


@dataclass(frozen=True)
class _Form:
    """What the nodes of a type switch depend on.

    Attributes:
        at: its place in the file.
        sources: how many lists it goes over, beside the numbers of the kinds.
        mixed: the numbers of those that have items of several kinds.
        count: the number of kinds.
        is_alone: whether its target is the item of the only list, not a tuple of one of each.
    """

    at: str
    sources: int
    mixed: tuple[int, ...]
    count: int
    is_alone: bool

    @property
    def kinds(self) -> str:
        return f"<skipped: kinds at {self.at}>"

    def source(self, number: int) -> str:
        return f"<skipped: source {number} at {self.at}>"

    def part(self, number: int, kind: int) -> str:
        return f"<skipped: source {number}, kind {kind} at {self.at}>"


@lru_cache(maxsize=1 << 10)
def _loop(node: ast.For, form: _Form) -> ast.For:
    sources = [form.kinds, *map(form.source, range(form.sources))]
    kind, *items = (f"{name}, item" for name in sources)
    body: list[ast.stmt] = []
    for number in reversed(range(form.count)):
        assigned: ast.stmt = ast.Assign([node.target], _target(form, items, number))
        test = ast.Compare(_read(kind), [ast.Eq()], [ast.Constant(number)])
        body = [ast.If(test, [assigned, *node.body], body)] if body else [assigned, *node.body]
    target = ast.Tuple([ast.Name(name, ast.Store()) for name in (kind, *items)], ast.Store())
    zipped = ast.Call(ast.Constant(zip), list(map(_read, sources)), [])  # type: ignore[arg-type]
    loop: Any = ast.For(target, zipped, body, node.orelse)
    loop.stop = stops(node)
    return located(loop, node, {id(one) for one in (node.target, *node.body, *node.orelse)})


def _target(form: _Form, items: list[str], kind: int) -> ast.expr:
    """What the loop's target gets in a trip whose items are of a kind."""
    parts = list(map(_read, items))
    for number in form.mixed:
        chosen = ast.Constant(item_of_kind)  # type: ignore[arg-type]
        parts[number] = ast.Call(chosen, [_read(form.part(number, kind)), parts[number]], [])
    return parts[0] if form.is_alone else ast.Tuple(parts, ast.Load())


def _read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def item_of_kind(items: Any, place: Any) -> Any:
    """The item at a place of a list of items of one kind; only the parser calls it."""


def chosen_item(b: Builder, items: Sequence[Any], place: Any) -> Any:
    """What `item_of_kind` is of a place that may be known only at run time."""
    index = Lin.of(place)
    found = items[index.const] if index.is_const else looked_up(b, items, index)
    if found is None:
        raise NeedsConstant({var for _, var, _ in b.loops}, b.where, "items of a list are of several kinds")
    return found
