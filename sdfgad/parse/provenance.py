"""Backward slice: the arguments of the program, of numbers that have derivatives, of which a value is computed."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sdfgad.ir.expr import Lin, reads
from sdfgad.ir.program import reads_of, walk
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.closures import Closure
from sdfgad.parse.values import Tensor


def arguments_behind(b: Builder, values: Iterable[Any]) -> list[str]:
    """The names of these arguments, in order; what only decides whether a statement runs does not count."""
    sources = defaultdict[str, set[str]](set)
    for statement in (one for block in b.blocks for one in walk(tuple(block))):
        for buffer in statement.written:
            sources[buffer] |= {read.buffer for read in reads_of(statement)}
    leaves = [leaf for value in values for leaf in trees.leaves(value)]
    leaves += [
        part for one in leaves if isinstance(one, Closure) for value in _captured(one) for part in trees.leaves(value)
    ]
    left = [buffer for leaf in leaves for buffer in _read_by(leaf)]
    found: set[str] = set()
    while left:
        buffer = left.pop()
        if buffer not in found:
            found.add(buffer)
            left += sources[buffer]
    return [
        one.source for name, one in b.buffers.items() if name in found and one.is_floating and _is_argument(b, name)
    ]


def _is_argument(b: Builder, name: str) -> bool:
    return b.buffers[name].where is None and name not in b.captured


def _captured(function: Closure) -> list[Any]:
    """The values of the names that a nested function has of the function around it."""
    names = {one.id for one in ast.walk(function.node) if isinstance(one, ast.Name)}
    return [value for name, value in function.frame.env.items() if name in names]


def _read_by(leaf: Any) -> set[str]:
    if not isinstance(leaf, Tensor):
        return set()
    with_symbols = tuple(Lin.symbol(f"a{axis}_") for axis in range(leaf.ndim))
    return {read.buffer for read in reads(leaf.element(with_symbols))}
