"""Lists of those objects for which a condition on data holds: ``[p for p in agents if p.alive]``, masked lists.

How many objects there are is known only at run time, but which ones there may be is known. So the list has all of them
and a mask, an array of truth values: a loop over it is one over all of them, whose body is a branch, and so is a
comprehension.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from sdfgad.ir.expr import BOOL
from sdfgad.parse import containers
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.jumps import stops
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Record, astype

# Names that no program can have, and that nothing reads behind the statement that binds them (`liveness`).
LIST, FLAG = "<skipped: list>", "<skipped: is in it>"
WHAT = "of a list of the objects for which a condition on data holds is not supported"
TODO = "Go over all objects, and test the condition there: `for p in objects:` and `if p.alive:`."


def unavailable(what: str) -> Any:
    """Refuse what such a list cannot do."""


class FilteredObjects:
    """What stands for such a list. Its methods are statements of the program.

    Attributes:
        _objects: all objects that it may have, in order.
        _mask: whether it has them.
    """

    noun: ClassVar[str] = "a list of the objects for which a condition on data holds"
    stands_for: ClassVar[type] = list
    _objects: Any
    _mask: Any

    def __init__(self, values: Any, mask: Any) -> None:
        self._objects, self._mask = values, mask

    def __getattr__(self, name: str) -> Any:
        return unavailable(f"`.{name}`")

    def __iter__(self) -> Any:
        return unavailable("this use")

    def __eq__(self, other: Any) -> Any:
        return unavailable("a comparison")

    def __add__(self, other: Any) -> Any:
        return unavailable("a sum")

    def __radd__(self, other: Any) -> Any:
        return unavailable("a sum")

    def __mul__(self, other: Any) -> Any:
        return unavailable("a product")

    def __len__(self) -> Any:
        return int(np.sum(self._mask))

    def __getitem__(self, place: Any) -> Any:
        count = np.sum(self._mask)
        numbers = np.cumsum(self._mask)
        if isinstance(place, slice):
            if place.step is not None:
                return unavailable("a step through the items")
            start = 0 if place.start is None else place.start
            stop = count if place.stop is None else place.stop
            start = start + count if start < 0 else start
            stop = stop + count if stop < 0 else stop
            return FilteredObjects(self._objects, self._mask & (numbers > start) & (numbers <= stop))
        at = place + count if place < 0 else place
        # Behind the last object, where it is not there.
        return self._objects[np.where((at < 0) | (at >= count), len(self._objects), np.argmax(numbers > at))]

    def __contains__(self, value: Any) -> Any:
        found = False
        for is_in_it, one in zip(self._mask, self._objects, strict=True):
            if is_in_it and one is value:
                found = True
        return found


def of(b: Builder, values: list[Any], tests: list[Any]) -> Record:
    """The list of those objects whose tests are true."""
    mask = b.stored(astype(stacked(b, tests), BOOL))
    b.objects.masks.add(str(mask.buffer))
    fields = {"_objects": containers.tracked(b, list(values)), "_mask": mask}
    return Record(FilteredObjects, containers.tracked(b, fields))


def is_filtered(value: Any) -> bool:
    return isinstance(value, Record) and value.cls is FilteredObjects


# --- what goes over it


@contextmanager
def named(frame: Frame, value: Record) -> Iterator[None]:
    """Within it, a list has the name that the nodes below read."""
    before = {name: frame.env[name] for name in (LIST, FLAG) if name in frame.env}
    frame.env[LIST] = value
    try:
        yield
    finally:
        for name in (LIST, FLAG):
            frame.env.pop(name, None)
        frame.env |= before


@lru_cache(maxsize=1 << 10)
def loop_over_all(node: ast.For) -> ast.For:
    """A loop over all objects of a list, which `LIST` is a name of, that skips those that are not in it."""
    body: list[ast.stmt] = [ast.If(ast.Name(FLAG, ast.Load()), node.body, [])]
    loop: Any = ast.For(_target(node.target), _pairs(ast.Name(LIST, ast.Load())), body, node.orelse)
    loop.stop = stops(node)
    return _located(loop, node, {id(one) for one in (node.target, *node.body, *node.orelse)})


@lru_cache(maxsize=1 << 10)
def over_all(node: Any) -> Any:
    """A comprehension over all objects of a list, which `LIST` is a name of, with a further condition."""
    first, *others = node.generators
    test = ast.Name(FLAG, ast.Load())
    whole = ast.comprehension(
        _target(first.target), _pairs(ast.Name(LIST, ast.Load())), [test, *first.ifs], first.is_async
    )
    kept = {"generators": [whole, *others]}
    new = type(node)(**{name: kept.get(name, getattr(node, name)) for name in node._fields})
    inside = [part for name, part in ast.iter_fields(node) if name != "generators"]
    new.origin = node
    return _located(new, node, {id(one) for one in (first.target, *first.ifs, *others, *inside)})


def is_over_all(node: ast.AST) -> bool:
    """Whether a comprehension is one of `over_all`."""
    return hasattr(node, "origin")


def _target(target: ast.expr) -> ast.Tuple:
    return ast.Tuple([ast.Name(FLAG, ast.Store()), target], ast.Store())


def _pairs(values: ast.expr) -> ast.Call:
    parts: list[ast.expr] = [ast.Attribute(values, name, ast.Load()) for name in ("_mask", "_objects")]
    return ast.Call(ast.Constant(zip), parts, [])  # type: ignore[arg-type]


def _located(new: Any, node: ast.AST, kept: set[int]) -> Any:
    """New nodes with the place of what they replace; those that are `kept` have their own."""
    inner: list[ast.AST] = [new]
    while inner:
        made = inner.pop()
        if id(made) not in kept:
            ast.copy_location(made, node)
            inner += ast.iter_child_nodes(made)
    return new
