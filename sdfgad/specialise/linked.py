"""Values with a derivative of the user's own: each becomes a copy of itself, by a call with procedures as derivatives.

The call's name contains a digest of these procedures, so that whatever a cache keeps of it is of this very rule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sdfgad.ir.expr import INT
from sdfgad.ir.library import LIBRARY, LibraryFunction
from sdfgad.ir.names import plain
from sdfgad.ir.program import Buffer, Program
from sdfgad.ir.serial import serialised
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.returned import is_numeric
from sdfgad.parse.values import Tensor, as_tensor, view_of


@dataclass(frozen=True)
class Link:
    """The derivatives of a value by arguments.

    Attributes:
        kind, name: "custom_vjp" or "custom_jvp", and the function's name.
        given: what the procedures read besides cotangents or tangents.
        arguments: the arrays and numbers by which the value varies.
        pullback: takes what is given and the cotangents of the value's floating leaves, and computes those of the
            arguments.
        pushforward: takes what is given and the tangents of the arguments, and computes those of the value.
        is_of_any_order: whether derivatives of these derivatives use them, too, rather than what computes the value.
        level: in how many forward rules the value is computed; so many derivatives of the program do not use this one.
    """

    kind: str
    name: str
    given: tuple[Tensor, ...]
    arguments: tuple[Tensor, ...]
    pullback: Program
    pushforward: Program | None = None
    level: int = 0
    is_of_any_order: bool = False


def floating_values(b: Builder, value: Any) -> dict[int, Tensor]:
    """The floating leaves of a value by position, each in a buffer of its own."""
    leaves = enumerate(trees.leaves(value))
    tensors = {k: as_tensor(leaf) for k, leaf in leaves if is_numeric(leaf)}
    floating = {k: tensor for k, tensor in tensors.items() if tensor.dtype.kind in "fc"}
    return {k: view_of(b.buffers[b.as_whole(tensor).buffer]).result for k, tensor in floating.items()}


def linked(b: Builder, link: Link, value: Any, values: Mapping[int, Tensor]) -> Any:
    """The value, with these derivatives; `values` are its floating leaves by position."""
    leaves, first = trees.leaves(value), len(b.checks)
    if link.pullback.checks:
        b.checks += link.pullback.checks
        b.buffers.setdefault(STATUS, Buffer(STATUS, (), INT))
    shapes = [(one.shape, one.dtype) for one in values.values()]
    inputs = [*values.values(), *link.given, *link.arguments]
    found = b.call(_registered(link, len(values)), inputs, shapes, (first, len(link.given)))
    for k, view in zip(values, found, strict=True):
        leaves[k] = view.result
    return trees.rebuilt(value, leaves)


def _registered(link: Link, count: int) -> str:
    """The name of the function that copies `count` values and has these derivatives."""
    procedures = {"pullback": link.pullback, "pushforward": link.pushforward}
    made = {suffix: program for suffix, program in procedures.items() if program is not None}
    text = f"{count} {len(link.given)} {link.is_of_any_order} {[serialised(program) for program in made.values()]}"
    name = f"{link.kind}_{plain(link.name)}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    title = f"{link.kind} `{link.name}`"
    names = {suffix: f"{name}_{suffix}" for suffix in made}
    for suffix, program in made.items():
        LIBRARY[names[suffix]] = LibraryFunction("", procedure=program, title=title, has_batch=False)
    forward = names.get("pushforward", "")
    same = LibraryFunction(
        "",
        title=title,
        has_batch=False,
        pullback=names["pullback"],
        pushforward=forward,
        is_of_any_order=link.is_of_any_order,
    )
    LIBRARY[name] = same
    for level in range(link.level):
        LIBRARY[f"{name}_{level + 1}"] = replace(same, next_order=f"{name}_{level}" if level else name)
    return f"{name}_{link.level}" if link.level else name
