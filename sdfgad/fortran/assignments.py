"""Assignments: to numbers, to arrays and sections, under masks, and of storage."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.evaluator import Evaluator, described
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.scope import Dim, Variable
from sdfgad.fortran.syntax import listed, name_of, walk
from sdfgad.fortran.values import Value, as_kind, plain, strong


def assigned(e: Expressions, node: Any) -> list[str]:
    """The lines of an assignment."""
    target, _, source = node.children
    place, value = _place(e, target), _fitting(e, node, e.value(source), _place(e, target))
    if place.rank and isinstance(target, f03.Name) and value.rank and _is_unallocated(e, target):
        # Assignment allocates it; the array is its own, whatever the value is a view of.
        return [f"{place.text} = np.array({plain(value)}, {place.kind.numpy})"]
    if place.rank:
        return [f"{_whole(place)} = {plain(value)}"]
    return [f"{place.text} = {plain(strong(value) if isinstance(target, f03.Name) else value)}"]


def _is_unallocated(e: Expressions, target: Any) -> bool:
    """Whether an allocatable array has no size but those of what is assigned to it."""
    _, variable = e.variable(target)
    return variable.is_allocatable and not variable.is_dummy and not variable.is_allocated


def _whole(place: Value) -> str:
    """All elements of a place: a name alone would be bound to another array."""
    return place.text if place.text.endswith("]") else f"{place.text}[...]"


def _place(e: Expressions, target: Any) -> Value:
    """What is assigned.

    Raises:
        UnsupportedProgram: it is a constant, an argument that is only read, or no variable at all.
    """
    if not isinstance(target, (f03.Name, f03.Part_Ref)):
        e.refuse(
            target, f"`{target}` as what is assigned is not supported", "Assign to a variable or a part of an array."
        )
    name = target if isinstance(target, f03.Name) else target.children[0]
    _, variable = e.variable(name)
    if not isinstance(target, f03.Name) and not variable.rank:
        e.refuse(target, f"`{variable.name}` is no array, and statement functions are not supported",
                 "Declare an array, or write a function.")  # fmt: skip
    if variable.value is not None or variable.intent == "in":
        kind = "a parameter" if variable.value is not None else "an argument with intent(in)"
        e.refuse(target, f"`{variable.name}` is {kind}, and is assigned", "Assign to another variable.")
    if variable.kind.base == "character":
        e.refuse(target, f"the text `{variable.name}` is not supported", "Use integers instead of texts.")
    return e.value(target)


def _fitting(e: Evaluator, node: Any, value: Value, place: Value) -> Value:
    """A value in the kind of the place where it is put."""
    if value.rank and value.rank != place.rank:
        what = f"`{node}` assigns {described(value)} to {described(place)}"
        e.refuse(node, what, "Assign arrays of the same shape, or numbers.")
    if (value.kind.base == "logical") != (place.kind.base == "logical"):
        e.refuse(node, f"`{node}` assigns {described(value)} to {described(place)}", "Use merge(1, 0, mask).")
    return as_kind(value, place.kind)


# --- masks


def masked(e: Expressions, node: Any) -> Iterator[tuple[str, Any]]:
    """The lines of a `where`, with the statements they come from; each mask is computed once, before what it hides."""
    if isinstance(node, f03.Where_Stmt):
        mask, assignment = node.children
        name = e.fresh("mask")
        yield f"{name} = {_mask(e, mask)}", node
        yield from _under(e, name, assignment)
        return
    seen: list[str] = []
    for one in node.children:
        if isinstance(one, (f03.Where_Construct_Stmt, f03.Masked_Elsewhere_Stmt, f03.Elsewhere_Stmt)):
            left = " & ".join(f"~{mask}" for mask in seen)
            own = "" if isinstance(one, f03.Elsewhere_Stmt) else _mask(e, one.children[0])
            seen.append(e.fresh("mask"))
            yield f"{seen[-1]} = {' & '.join(filter(None, (left, f'({own})' if left and own else own)))}", one
        elif isinstance(one, f03.Assignment_Stmt):
            yield from _under(e, seen[-1], one)
        elif not isinstance(one, f03.End_Where_Stmt):
            e.refuse(one, "a `where` in another one is not supported", "Join the masks by .and.")


def _mask(e: Evaluator, node: Any) -> str:
    value = e.value(node)
    if value.kind.base != "logical" or not value.rank:
        e.refuse(node, f"the mask `{node}` is {described(value)}", "Write a comparison of arrays.")
    # What is under the mask may change the array that it is.
    return f"{value.text}.copy()" if value.is_place else plain(value)


def _under(e: Expressions, mask: str, node: Any) -> Iterator[tuple[str, Any]]:
    target, _, source = node.children
    place = _place(e, target)
    value = _fitting(e, node, e.value(source), place)
    if not place.rank:
        e.refuse(node, f"`{target}` under a mask is no array", "Assign to an array of the mask's shape.")
    yield f"{_whole(place)} = np.where({mask}, {plain(value)}, {place.text})", node


# --- storage


def allocated(e: Expressions, node: Any) -> list[str]:
    """The lines of an `allocate`.

    Raises:
        UnsupportedProgram: an array is allocated in several places with different lower bounds.
    """
    if node.children[0] is not None:
        e.refuse(node, f"a type in `{node}` is not supported", "Declare the kind with the array.")
    lines = [_allocation(e, one) for one in listed(node.children[1])]
    for option in listed(node.children[2]):
        name, value = option.children
        if str(name).upper() == "SOURCE":
            source = e.value(value)
            for one in listed(node.children[1]):
                place = e.value(one.children[0])
                lines.append(f"{place.text}[...] = {plain(_fitting(e, node, source, place))}")
        else:
            lines.append(_status(e, option))
    return lines


def deallocated(e: Expressions, node: Any) -> list[str]:
    """The lines of a `deallocate`: the storage is that of a name, which is bound anew."""
    names = [e.variable(one)[1] for one in listed(node.children[0])]
    return [
        *(f"{one.text} = None" for one in names if one.is_asked),
        *map(partial(_status, e), listed(node.children[1])),
    ]


def _status(e: Expressions, option: Any) -> str:
    """The status of an allocation: 0, as one that fails raises an error.

    Raises:
        UnsupportedProgram: the option is another one.
    """
    name, value = option.children
    if str(name).upper() != "STAT":
        e.refuse(option, f"`{name}=` is not supported here", "Leave it away.")
    return f"{e.integer(value).text} = 0"


def _allocation(e: Expressions, node: Any) -> str:
    name, shape = node.children
    _, variable = e.variable(name)
    dims = tuple(Dim(*one.children) for one in listed(shape))
    bounds = {str(one.lower) for one in dims}
    if any(bound != "None" and not bound.lstrip("-").isdigit() for bound in bounds):
        e.refuse(node, f"`{node}` has a lower bound that is no number", "Write a number, or leave it away.")
    variable.dims = tuple(Dim(one.lower, None, is_open=True) for one in dims)
    return f"{variable.text} = {empty(e, variable, dims)}"


def empty(e: Evaluator, variable: Variable, dims: tuple[Dim, ...]) -> str:
    """The text that allocates an array; of the axes in reverse order."""
    extents = [plain(_extent(e, one)) for one in reversed(dims)]
    return f"np.empty(({', '.join(extents)},), {variable.kind.numpy})"


def _extent(e: Evaluator, dim: Dim) -> Value:
    upper = e.integer(dim.upper)
    if dim.lower is None:
        return upper
    lower = e.integer(dim.lower)
    if lower.number is not None:
        return upper.shifted(1 - lower.number)
    return Value(f"({upper.text} - {lower.text} + 1)", upper.kind)


def allocations(e: Evaluator, body: Any) -> dict[str, set[str]]:
    """The lower bounds with which arrays are allocated, by name."""
    found: dict[str, set[str]] = {}
    for one in walk(body) if body is not None else ():
        if isinstance(one, f03.Allocation):
            lows = ",".join(str(dim.children[0] or 1) for dim in listed(one.children[1]))
            found.setdefault(name_of(one.children[0]), set()).add(lows)
    return found
