"""Branches, returns, and the start of a call."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sdfgad.errors import Location
from sdfgad.frontend import conditions
from sdfgad.frontend.merging import joined, same_static, shared
from sdfgad.frontend.values import AfterLoop, Unbound

if TYPE_CHECKING:
    from sdfgad.frontend.interpreter import Frame


@dataclass(frozen=True)
class Return:
    """A return statement was reached."""

    value: Any
    where: Location | None


def branch(frame: Frame, node: ast.If) -> Return | None:
    """An ``if``: decided while parsing where its condition is known, else both bodies are parsed."""
    b = frame.b
    test = conditions.test(frame, node.test)
    if isinstance(test, bool):
        return frame.block(node.body if test else node.orelse)
    condition = conditions.fixed(b, test)
    here, before = b.where, dict(frame.env)
    ends = []
    for body, negate in ((node.body, False), (node.orelse, True)):
        frame.env = dict(before)
        with b.block(*(conditions.affine_forms(condition, negate) or ())) as statements:
            if frame.block(body) is not None:
                raise frame.unsupported(node, "`return` inside a branch that is decided at run time is not supported")
        ends.append((frame.env, statements))
    b.where = here
    frame.env = _merge(frame, before, ends)
    b.branch(condition, ends[0][1], ends[1][1], conditions.affine_forms(condition) or ())
    return None


def _merge(frame: Frame, before: dict[str, Any], ends: list[tuple[dict[str, Any], Any]]) -> dict[str, Any]:
    merged = dict(before)
    unbound = Unbound("one branch does not assign it")
    for name in {**ends[0][0], **ends[1][0]}:
        x, y = (env.get(name, unbound) for env, _ in ends)
        if x is y or same_static(x, y):
            merged[name] = x
        elif isinstance(x, (Unbound, AfterLoop)) or isinstance(y, (Unbound, AfterLoop)):
            merged[name] = unbound
        else:
            sources = {buffer for env, _ in ends for buffer in shared(frame, name, env)}
            merged[name] = joined(frame.b, name, [(x, ends[0][1]), (y, ends[1][1])], sources)
    return merged
