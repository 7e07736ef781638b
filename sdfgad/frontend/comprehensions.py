"""List, dict and generator comprehensions over what is known while parsing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sdfgad.frontend.calls import as_sequence

if TYPE_CHECKING:
    from sdfgad.frontend.interpreter import Frame

Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp


def items(frame: Frame, node: Comprehension) -> list[Any]:
    """The items, or the pairs of keys and values, in order; the targets are names of the comprehension alone."""
    outer = dict(frame.env)
    found = list(_items(frame, node, node.generators))
    own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    for name in own:
        frame.env.pop(name, None)
        if name in outer:
            frame.env[name] = outer[name]
    return found


def _items(frame: Frame, node: Comprehension, generators: list[ast.comprehension]) -> Iterator[Any]:
    if not generators:
        yield _item(frame, node)
        return
    first = generators[0]
    for value in as_sequence(frame, first.iter, frame.eval(first.iter)):
        frame.bind(first.target, value)
        tests = [frame.eval(test) for test in first.ifs]
        if not all(isinstance(test, (bool, int)) for test in tests):
            raise frame.unsupported(node, "a comprehension with a condition on data is not supported")
        if all(tests):
            yield from _items(frame, node, generators[1:])


def _item(frame: Frame, node: Comprehension) -> Any:
    if isinstance(node, ast.DictComp):
        return frame.eval(node.key), frame.b.settle(frame.eval(node.value))
    return frame.b.settle(frame.eval(node.elt))
