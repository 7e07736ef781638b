"""What a statement does to index sets: the dependence relations of the elements that it writes to those it reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.analysis.sparsity.rows import Matrix, Rows, relation
from sdfgad.ir.evaluate import evaluated
from sdfgad.ir.expr import Expr, Int, Lin, Op, Read, postorder
from sdfgad.ir.program import Buffer, Compute

Array = np.ndarray[Any, Any]
# The operands by which an operation may have a derivative that is not zero everywhere.
Operands = Callable[[Expr], tuple[Expr, ...]]


@dataclass(frozen=True)
class Link:
    """A dependence relation: the product of `steps` with the rows of a buffer gives those of the elements written."""

    buffer: str
    rows: Array
    steps: tuple[Matrix, ...]

    def of(self, source: Rows) -> Matrix:
        result = source.take(self.rows)
        for step in self.steps:
            result = step @ result
        return result


@dataclass(frozen=True)
class Effect:
    """The elements of a buffer that a statement writes, and on what they depend.

    Attributes:
        keeps: whether they depend on what their old values do, too.
    """

    buffer: str
    rows: Array
    links: tuple[Link, ...]
    keeps: bool

    @property
    def size(self) -> int:
        """How many numbers it holds, about."""
        return self.rows.size + sum(link.rows.size + sum(step.nnz for step in link.steps) for link in self.links)


@dataclass(frozen=True)
class Setting:
    """What the effects of a program's statements depend on.

    Attributes:
        symbols: the values of run-time integers and loop counters.
        known: the elements of buffers of integers and booleans, as far as they do not depend on data.
    """

    buffers: Mapping[str, Buffer]
    operands: Operands
    symbols: Mapping[str, int]
    known: Mapping[str, Array]

    def size(self, name: str) -> int:
        return math.prod(self.shape(name))

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(max(extent.const, 0) for extent in self.buffers[name].shape)

    def form(self, form: Lin) -> int | None:
        """The value of a form, unless it depends on data."""
        value = evaluated(Int(form), self.symbols, self.known)
        return None if value is None else int(value)


class Box:
    """The points of a box, as axes of arrays; what depends on data gets axes of its own, for all that it may be."""

    def __init__(self, setting: Setting, statement: Compute) -> None:
        self.setting, self.statement = setting, statement
        target = setting.shape(statement.target.buffer)
        self.extents = [setting.form(extent) for _, extent in statement.params]
        self.first_of_reads = len(self.extents) + len(target)
        self.axes = self.first_of_reads + max((len(read.index) for read in statement.value.reads), default=0)
        names = [name for name, _ in statement.params]
        self.symbols: dict[str, Any] = {name: v for name, v in setting.symbols.items() if name not in names}
        for axis, (name, extent) in enumerate(zip(names, self.extents, strict=True)):
            if extent is not None:
                self.symbols[name] = self.along(axis, extent)
        self.target, self.is_exact = self.places(target, statement.target.index, len(self.extents))

    @property
    def is_empty(self) -> bool:
        return any(extent is not None and extent <= 0 for extent in self.extents)

    def along(self, axis: int, extent: int) -> Array:
        return np.arange(extent).reshape([-1 if k == axis else 1 for k in range(self.axes)])

    def value(self, node: Expr) -> Array | None:
        found = evaluated(node, self.symbols, self.setting.known)
        return None if found is None else np.reshape(found, np.shape(found) or (1,) * self.axes)

    def places(self, shape: tuple[int, ...], index: tuple[Lin, ...], first: int) -> tuple[Array, bool]:
        """The numbers of elements, -1 for those out of range, and whether these are exact."""
        flat: Array = np.zeros((1,) * self.axes, np.int64)
        is_inside: Any = np.True_
        values = [self.value(Int(form)) for form in index]
        for axis, (extent, value) in enumerate(zip(shape, values, strict=True)):
            place = self.along(first + axis, extent) if value is None else value
            is_inside = is_inside & (place >= 0) & (place < extent)
            flat = flat * extent + place
        flat = flat if np.all(is_inside) else np.where(is_inside, flat, -1)
        return flat, all(value is not None for value in values) and None not in self.extents

    def sources(self) -> Iterator[tuple[Read, Array]]:
        """What the value depends on, and the elements; -1 where a choice by known integers takes another one."""
        masks: dict[Expr, Any] = {self.statement.value: np.True_}
        for node in reversed(list(postorder(self.statement.value))):
            mask = masks.get(node)
            if mask is None or node.dtype.kind not in "fc" or not np.any(mask):
                continue
            if isinstance(node, Read):
                places, _ = self.places(self.setting.shape(node.buffer), node.index, self.first_of_reads)
                yield node, places if np.all(mask) else np.where(mask, places, -1)
            for operand, chosen in self.operands(node):
                masks[operand] = masks.get(operand, np.False_) | (mask & chosen)

    def operands(self, node: Expr) -> list[tuple[Expr, Any]]:
        """The operands by which a value varies, and where it does."""
        if isinstance(node, Op) and node.name == "select":
            condition = self.value(node.args[0])
            if condition is not None:
                holds = condition != 0
                return [(node.args[1], holds), (node.args[2], ~holds)]
        return [(operand, np.True_) for operand in self.setting.operands(node)]


def effect_of(statement: Compute, setting: Setting) -> Effect | None:
    """What a statement does to the buffer that it writes; None if it runs for no point."""
    box = Box(setting, statement)
    if box.is_empty:
        return None
    rows = np.unique(box.target)
    rows = rows[rows >= 0]
    plain: dict[str, list[tuple[Array, Array]]] = {}
    links: list[Link] = []
    for read, places in box.sources():
        shared, is_product = _shared(box.target, places)
        if is_product:
            links.append(_product(read.buffer, rows, box.target, places, shared))
        else:
            plain.setdefault(read.buffer, []).append(_pairs(box.target, places))
    for buffer, pairs in plain.items():
        columns = [np.concatenate(part) for part in zip(*pairs, strict=True)]
        links.append(_link(buffer, rows, columns[0], columns[1]))
    return Effect(statement.target.buffer, rows, tuple(links), not (statement.assigns and box.is_exact))


def _shared(targets: Array, places: Array) -> tuple[tuple[int, ...], bool]:
    """The extents of the axes that both arrays have, and whether each of them has further ones."""
    pairs = list(zip(targets.shape, places.shape, strict=True))
    is_product = any(a > 1 == b for a, b in pairs) and any(b > 1 == a for a, b in pairs)
    return tuple(min(pair) for pair in pairs), is_product


def _pairs(x: Array, y: Array) -> tuple[Array, Array]:
    """All pairs of elements of two arrays that broadcast, where both are in range."""
    flat = [np.ravel(one) for one in np.broadcast_arrays(x, y)]
    is_inside = (flat[0] >= 0) & (flat[1] >= 0)
    return flat[0][is_inside], flat[1][is_inside]


def _product(buffer: str, rows: Array, targets: Array, places: Array, shared: tuple[int, ...]) -> Link:
    """The relation of elements that share some parameters, by these: sums first, then what repeats them."""
    groups = np.arange(math.prod(shared)).reshape(shared)
    members, sources = _pairs(groups, places)
    first = _link(buffer, np.arange(groups.size), members, sources)
    written, members = _pairs(targets, groups)
    second = relation(np.searchsorted(rows, written), members, (rows.size, groups.size))
    return Link(buffer, first.rows, (*first.steps, second))


def _link(buffer: str, rows: Array, written: Array, sources: Array) -> Link:
    order = np.argsort(written, kind="stable")
    if np.array_equal(written[order], rows):
        # Each has one source.
        return Link(buffer, sources[order], ())
    needed, columns = np.unique(sources, return_inverse=True)
    return Link(buffer, needed, (relation(np.searchsorted(rows, written), columns, (rows.size, needed.size)),))
