"""Dicts of which data decides which keys are in them: ``if gap < 0: springs[i, j] = length``, masked dicts.

Which keys there may be is known once the program has been parsed in vain: each attempt learns of more, and the next one
has, in place of the dict, an object with an item for each of them, and a mask: for each key, whether it is there.
Branches and loops carry both as they do any item.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, ClassVar

from sdfgad.errors import ProgramRaises
from sdfgad.ir.expr import Lin
from sdfgad.parse import containers, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.logs import Kept, Site
from sdfgad.parse.stacks import blank
from sdfgad.parse.values import Record, Tensor, as_tensor, is_number

WHAT = "of a dict of which data decides which keys it has is not supported"
TODO = "Go over all keys in a fixed order, and test each: `for key in keys:` and `if key in values:`."

NO_KEY, TEST_IT = "the dict has no such key", "Python raises KeyError here, too: test it, `if key in values:`."


def unavailable(what: str) -> Any:
    """Refuse what such a dict cannot do."""


def learn(origin: Any, key: Any, value: Any) -> None:
    """Have the next attempt know of a key."""


def missing(origin: Any) -> Any:
    """The item of a key that no statement so far assigns to."""


def require_there(is_there: Any) -> None:
    """Require that a key is there."""


def copied(values: Any) -> Any:
    """Another dict with the same items."""


class MaskedDict:
    """What stands for such a dict. Its methods are statements of the program.

    Attributes:
        _origin: where the program makes it.
        _items: the item of each key that there may be.
        _mask: whether it is there.
        _factory: that of a defaultdict; None of others.
        _counts: whether it is a Counter.
    """

    noun: ClassVar[str] = "a dict of which data decides which keys it has"
    stands_for: ClassVar[type] = dict
    _origin: Any
    _items: Any
    _mask: Any
    _factory: Any
    _counts: Any

    def __getattr__(self, name: str) -> Any:
        return unavailable(f"`.{name}`")

    def __iter__(self) -> Any:
        return unavailable("a loop over the keys")

    def __eq__(self, other: Any) -> Any:
        return unavailable("a comparison")

    def __or__(self, other: Any) -> Any:
        return unavailable("a union")

    def __ior__(self, other: Any) -> Any:
        return unavailable("an update")

    def __len__(self) -> Any:
        count = 0
        for key in self._mask:
            if self._mask[key]:
                count += 1
        return count

    def __bool__(self) -> Any:
        return len(self) > 0

    def __contains__(self, key: Any) -> Any:
        return self._mask.get(key, False)

    def __getitem__(self, key: Any) -> Any:
        if self._counts:
            return self.get(key, 0)
        if self._factory is not None and key not in self:
            self[key] = self._factory()
        return self._item(key)

    def _item(self, key: Any) -> Any:
        if key not in self._mask:
            return missing(self._origin)
        require_there(self._mask[key])
        return self._items[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        learn(self._origin, key, value)
        if key in self._mask:
            self._items[key] = value
            self._mask[key] = True

    def __delitem__(self, key: Any) -> None:
        if not self._counts:
            self._item(key)
        if key in self._mask:
            self._mask[key] = False

    def get(self, key: Any, default: Any = None) -> Any:
        return self._items[key] if key in self else default

    def pop(self, key: Any, *default: Any) -> Any:
        value = self.get(key, default[0]) if len(default) > 0 else self._item(key)
        if key in self._mask:
            self._mask[key] = False
        return value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, other: Any = (), **more: Any) -> None:
        if self._counts:
            unavailable("`.update`")
        for values in (dict(other), more):
            for key in values:
                self[key] = values[key]

    def copy(self) -> Any:
        return copied(self)

    def clear(self) -> None:
        for key in self._mask:
            self._mask[key] = False


def made(frame: Frame, node: ast.expr, values: dict[Any, Any]) -> Any:
    """A dict that an expression of the program makes, or the masked one in its place."""
    b, site = frame.b, Site(frame.source.file, node.lineno, node.col_offset)
    kept = b.logs.known.get(site)
    if kept is None:
        b.logs.follow(values, site)
        return values
    others = {key: _blank(b, kept, like) for key, like in kept.keys.items() if key not in values}
    fields = {
        "_origin": site,
        "_items": containers.tracked(b, {**values, **others}),
        "_mask": containers.tracked(b, {**dict.fromkeys(values, True), **dict.fromkeys(others, False)}),
        "_factory": getattr(values, "factory", None),
        "_counts": isinstance(values, containers.Counts),
    }
    return Record(MaskedDict, containers.tracked(b, fields))


def _blank(b: Builder, kept: Kept, like: Any) -> Any:
    """What stands for an item that is not there, and is never read.

    Raises:
        UnsupportedProgram: it is no number or array, and no tuple of these.
    """
    leaves = trees.leaves(like)
    is_numeric = all(isinstance(leaf, (Tensor, Lin)) or is_number(leaf) for leaf in leaves)
    if not is_numeric or any(not isinstance(one, tuple) for one in trees.sequences(like)):
        raise kept.failure
    return blank(b, trees.rebuilt(like, [as_tensor(leaf) if isinstance(leaf, Lin) else leaf for leaf in leaves]))


def copy_of(b: Builder, value: Record) -> Record:
    parts = {name: containers.tracked(b, dict(value.fields[name])) for name in ("_items", "_mask")}
    return Record(MaskedDict, containers.tracked(b, {**value.fields, **parts}))


def is_masked(value: Any) -> bool:
    return isinstance(value, Record) and value.cls is MaskedDict


def require_none(b: Builder, value: Any) -> None:
    """Refuse such a dict in what a program returns."""
    if any(map(is_masked, trees.sequences(value))):
        raise b.unsupported(f"a return {WHAT}", "Return what is in it: values.get(key, 0.0).")


def learned(b: Builder, site: Site, key: Any, value: Any) -> None:
    """Note a key that such a dict has no item for."""
    key, kept = containers.key_of(b, key), b.logs.known[site]
    if key not in kept.keys:
        more = b.logs.lacking.get(site, kept)
        (like,) = trees.copied([value])
        b.logs.lacking[site] = replace(more, keys={**more.keys, key: like})


def require(b: Builder, is_there: Any) -> None:
    """Check at run time that a key is there, unless it certainly is."""
    if is_there is not True:
        b.check(as_tensor(is_there).at(), (), NO_KEY, ProgramRaises, TEST_IT, (KeyError,))
