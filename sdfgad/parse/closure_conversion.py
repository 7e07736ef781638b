"""Closure conversion: the names that a nested function has from outside, in a program that is made of it.

Such a program, a gradient of it, say, is parsed by itself. There these names are hidden inputs (`enclosed`).
"""

from __future__ import annotations

import ast
import contextlib
import types
from collections.abc import Iterator
from functools import partial
from typing import Any

from sdfgad.errors import SdfgadError, UnsupportedProgram
from sdfgad.ir.expr import Lin
from sdfgad.parse import trees
from sdfgad.parse.assumptions import FAILURES
from sdfgad.parse.builder import Builder
from sdfgad.parse.closures import Closure
from sdfgad.parse.enclosed import Enclosed, EnclosingFails, enclosed_value
from sdfgad.parse.frame import CELLS, Frame
from sdfgad.parse.liveness import bound_names
from sdfgad.parse.merging import bound_value
from sdfgad.parse.ranges import Range
from sdfgad.parse.transformed import Transformed
from sdfgad.parse.values import Holder, Tensor, Unbound, as_tensor, is_static, kind_of

RETRIED = tuple(one for one in FAILURES if one is not SdfgadError)


def lexical_frame(b: Builder, function: Closure) -> Frame:
    """The frame in which a function finds its names from outside: of an enclosing program, one with their values.

    Raises:
        UnsupportedProgram: the function binds names of an enclosing program.
        EnclosingFails: that has to be parsed again.
    """
    outer: Frame | None = function.frame
    assert outer is not None
    if outer.b is b:
        return outer
    if function.source.nonlocals:
        name = min(function.source.nonlocals)
        what = f"`{name}` of the program around it is bound by a function that is differentiated or mapped"
        raise UnsupportedProgram(what, function.where, "Return the value, and bind it where the function is called.")
    # Methods of classes that the program defines.
    b.methods |= outer.b.methods
    frame = type(outer)(b, outer.source, {}, outer.depth, outer.is_definition)
    names = free_names(function.node)
    while outer is not None:
        for name in names - frame.env.keys():
            node = ast.copy_location(ast.Name(name, ast.Load()), function.node)
            if name in outer.env or name in outer.env.get(CELLS, ()):
                frame.env[name] = _value(b, outer, node)
        outer = outer.lexical
    return frame


def outer_number(function: Any) -> str | None:
    """What a function holds or reads of the floats of the program around it, as a text; None if there is nothing.

    What it reads may be in closures, default values, bound methods, partial functions, and programs made of functions.
    """
    left: list[tuple[str, Any]] = [("", function)]
    seen: dict[int, Any] = {}
    while left:
        name, value = left.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, Tensor) and value.dtype.kind in "fc":
            return f"`{name}`" if name else "a number that is bound to it"
        left += _held(name, value)
    return None


def _held(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The values that a function or container holds, by the names that they have, or of what holds them."""
    if isinstance(value, Closure):
        yield from _free_values(value)
        yield from ((one.name, one.default) for one in value.signature.parameters.values())
    elif isinstance(value, partial):
        yield from ((name, one) for one in (value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, (types.MethodType, types.BuiltinMethodType)):
        yield name, value.__self__
    elif isinstance(value, (Transformed, Holder)):
        yield from ((name, one) for one in value.held)
    else:
        yield from ((name, leaf) for leaf in trees.leaves(value) if leaf is not value)


def _free_values(function: Closure) -> Iterator[tuple[str, Any]]:
    frame: Frame | None = function.frame
    names = free_names(function.node)
    while frame is not None:
        cells = frame.env.get(CELLS, {})
        for name in sorted(names & {*frame.env, *cells}):
            yield name, frame.env[name] if name in frame.env else cells[name]
        names -= {*frame.env, *cells}
        frame = frame.lexical


def free_names(node: ast.AST) -> set[str]:
    """The names that a function reads and does not bind itself, and perhaps some that only functions in it bind."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - bound_names(node)


def _value(b: Builder, outer: Frame, node: ast.Name) -> Any:
    """The value that a name has in an enclosing program, with hidden inputs; an error is raised where it is read."""
    try:
        found = outer.env[node.id] if node.id in outer.env else outer.env[CELLS][node.id]
        return trees.mapped(bound_value(outer, node, found), partial(_leaf, b, outer, node.id), {})
    except RETRIED as failure:
        raise EnclosingFails(outer.b, failure) from failure
    except SdfgadError as error:
        return Unbound(str(error), error)


def _leaf(b: Builder, outer: Frame, name: str, leaf: Any) -> Any:
    inside = partial(_leaf, b, outer, name)
    if isinstance(leaf, (Tensor, Lin)):
        return _number(b, outer, name, leaf)
    if isinstance(leaf, partial):
        return partial(leaf.func, *map(inside, leaf.args), **{key: inside(one) for key, one in leaf.keywords.items()})
    if isinstance(leaf, Range):
        return range(outer.b.constant(leaf.start), outer.b.constant(leaf.stop), leaf.step)
    if isinstance(leaf, Closure) or (is_static(leaf) and not isinstance(leaf, Holder)):
        return leaf
    if isinstance(leaf, Holder):
        held = leaf.settled(inside)
        if held is not leaf:
            return held
    what = f"`{name}` holds {kind_of(leaf)}, and a function that is differentiated or mapped reads it from outside"
    raise outer.b.unsupported(what, "Pass it as an argument, or make a list of its items before.")


def _number(b: Builder, outer: Frame, name: str, value: Tensor | Lin) -> Any:
    """An array or number. Integers that are known are constants; others are data, unless that has failed before."""
    if isinstance(value, Lin) or (not value.ndim and value.dtype.kind in "iu"):
        known = outer.b.guessed(value)
        if known is not None:
            return known
        is_wanted = b.are_enclosed_constant or outer.b.are_enclosed_constant
        if is_wanted or (isinstance(value, Lin) and value.symbols <= outer.b.integers.keys()):
            with contextlib.suppress(UnsupportedProgram):
                return outer.b.constant(value)
        b.has_enclosed_integers = outer.b.has_enclosed_integers = True
    return enclosed_value(b, Enclosed(outer.b, as_tensor(value), name))
