"""List, dict and generator comprehensions over sequences that are known while parsing, which are unrolled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from sdfgad.parse.binding import bind
from sdfgad.parse.calls import as_sequence
from sdfgad.parse.frame import Frame

Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp


def items(frame: Frame, node: Comprehension) -> list[Any]:
    """The items, or the pairs of keys and values, in order."""
    return list(generator(frame, node))


def generator(frame: Frame, node: Comprehension) -> Iterator[Any]:
    """The items, each computed lazily; only the first iterable is evaluated at once, as in Python."""
    # The targets are local names of the comprehension.
    inner = frame.inner(frame.source, {}, frame.depth, frame.is_definition)
    inner.lexical, inner.scope = frame, frame.scope
    first = node.generators[0]
    values = as_sequence(frame, first.iter, frame.eval(first.iter))
    return _items(inner, node, node.generators, values)


def _items(frame: Frame, node: Comprehension, generators: list[ast.comprehension], values: Any) -> Iterator[Any]:
    for value in values:
        bind(frame, generators[0].target, value)
        tests = [frame.eval(test) for test in generators[0].ifs]
        if not all(isinstance(test, (bool, int)) for test in tests):
            raise frame.unsupported(node, "a comprehension with a condition on data is not supported")
        if not all(tests):
            continue
        if len(generators) == 1:
            yield _item(frame, node)
            continue
        inner = generators[1].iter
        yield from _items(frame, node, generators[1:], as_sequence(frame, inner, frame.eval(inner)))


def _item(frame: Frame, node: Comprehension) -> Any:
    if isinstance(node, ast.DictComp):
        return frame.eval(node.key), frame.b.settle(frame.eval(node.value))
    return frame.b.settle(frame.eval(node.elt))
