"""`associate` and `block`: names that are known within a part of a routine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.assignments import empty
from sdfgad.fortran.declarations import read_declarations
from sdfgad.fortran.designators import designated
from sdfgad.fortran.effects import assigned_in
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.routine import Routine
from sdfgad.fortran.scope import Dim, Scope, Variable
from sdfgad.fortran.syntax import name_of, names_in, walk
from sdfgad.fortran.values import constant, plain, strong


@contextmanager
def _within(e: Expressions) -> Iterator[Scope]:
    """A scope for the names of a part of a routine."""
    outer = e.scope
    yield outer.inside()
    e.scope = outer


@contextmanager
def associated(e: Expressions, node: Any) -> Iterator[list[str]]:
    """The body of an `associate`, and the lines before it: what names stand for is evaluated once.

    Raises:
        UnsupportedProgram: what chooses an element is assigned in the body.
    """
    with _within(e) as inner:
        changed, lines = assigned_in(node.children[1:]), []
        for one in (one for one in walk(node.children[0]) if isinstance(one, f03.Association)):
            lines += _associate(e, inner, one, changed)
        e.scope = inner
        yield lines


def _associate(e: Expressions, inner: Scope, node: Any, changed: set[str]) -> list[str]:
    name, _, selector = node.children
    key, found = name_of(name), designated(e, selector)
    if found is not None and (found.variable.type_of is not None or not found.subscripts or not e.value(selector).rank):
        chosen = set().union(*(names_in(one) for one in found.subscripts or () if one is not None)) & changed
        if chosen:
            what = f"`{name}` stands for `{selector}`, which the assignment to `{min(chosen)}` would change"
            e.refuse(node, what, f"Keep {min(chosen)} as it is in there.")
        inner.aliases[key] = found
        return []
    value = e.value(selector)
    if value.root is not None and key in changed:
        value.root.is_changed = True
    bounds = [(one.lower, one.home) for one in value.dims] or [(None, None)] * value.rank
    dims = tuple(Dim(lower, None, is_open=True, home=home) for lower, home in bounds)
    variable = Variable(key, value.kind, node, dims, scope=_routine_of(e), label=e.fresh(key))
    inner.variables[key] = variable
    return [f"{variable.text} = {plain(strong(value))}"]


@contextmanager
def block(e: Expressions, node: Any, routine: Routine) -> Iterator[list[str]]:
    """The body of a `block`, and the lines that make its variables.

    Raises:
        UnsupportedProgram: one of them keeps its value, or is of a derived type.
    """
    with _within(e) as inner:
        part = next((one for one in node.children if isinstance(one, f03.Specification_Part)), None)
        routine.library.use(inner, part)
        read_declarations(inner, part)
        e.scope, lines = inner, []
        for one in inner.variables.values():
            if one.is_kept or one.parts:
                e.refuse(one.node, f"`{one.name}` in a block is not supported", "Declare it in the routine.")
            one.scope, one.label = _routine_of(e), e.fresh(one.name)
            routine.library.storage.settle(one, routine.node)
            if one.value is None and not one.is_allocatable:
                value = empty(e, one, one.dims) if one.rank else strong(constant(0, one.kind)).text
                lines.append(f"{one.text} = {value}")
        yield lines


def _routine_of(e: Expressions) -> Scope:
    assert e.shared is not None
    return e.shared.scope
