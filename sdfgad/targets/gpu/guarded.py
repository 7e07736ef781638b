"""Choices that guard: of the sides of a choice only the one that is chosen is computed, with all that it reads.

A read on the other side may be out of bounds. So nothing of a side is computed before the choice, even if it occurs
twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import Expr, Op, Read, reads
from sdfgad.ir.program import Compute
from sdfgad.schedule.stores import nothing
from sdfgad.targets.cpu.cpp import Writer, cpp_type


class GuardedWriter(Writer):
    """Writes expressions, with sides of choices that read arrays in scopes of their own.

    Args:
        read: the text of a read.
        inside: a writer for a side.
    """

    def __init__(self, read: Callable[[Read], str], inside: Callable[[], Writer]) -> None:
        super().__init__(read)
        self._inside = inside

    def operands(self, node: Expr) -> tuple[Expr, ...]:
        return node.children[:1] if _is_guard(node) else node.children

    def nodes(self, root: Expr) -> list[Expr]:
        found: dict[Expr, None] = {}
        waiting = [(root, False)]
        while waiting:
            node, is_done = waiting.pop()
            if is_done:
                found.setdefault(node)
            elif node not in found:
                waiting.append((node, True))
                waiting.extend((one, False) for one in reversed(self.operands(node)))
        return list(found)

    def one(self, node: Expr) -> str:
        if not _is_guard(node):
            return super().one(node)
        condition, *sides = node.children
        first, second = map(self._side, sides)
        return f"({self._text[condition]} ? {first} : {second})"

    def _is_eager(self, node: Expr) -> bool:
        return not _is_guard(node) and super()._is_eager(node)

    def _side(self, side: Expr) -> str:
        """A side as one expression of its type."""
        writer = self._inside()
        text, type_ = writer.value(side), cpp_type(side.dtype)
        if not writer.lines:
            return f"{type_}({text})"
        return f"[&]() -> {type_} {{ {' '.join(writer.lines)} return {text}; }}()"


def _is_guard(node: Expr) -> bool:
    return isinstance(node, Op) and node.name == "select" and any(reads(side) for side in node.children[1:])


def predicated(
    statement: Compute, dtype: np.dtype[Any], writer: Writer, element: Callable[[Compute], list[str]]
) -> list[str]:
    """Predicated stores: the lines of an element, by `element`, on the sides of a choice that change it."""
    condition, *sides = statement.value.children
    test, old = writer.value(condition), nothing(statement, dtype)
    first, second = ([] if one == old else element(replace(statement, value=one)) for one in sides)
    return ["{", *writer.lines, f"if ({test}) {{", *first, "} else {", *second, "}", "}"]
