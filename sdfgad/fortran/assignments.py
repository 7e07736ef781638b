"""Assignments: to numbers, to arrays and sections, under masks, and of storage."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.designators import Designator, designated
from sdfgad.fortran.evaluator import Evaluator, described
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.scope import Dim, Variable
from sdfgad.fortran.syntax import listed
from sdfgad.fortran.values import Value, as_kind, plain, strong


def assigned(e: Expressions, node: Any) -> list[str]:
    """The lines of an assignment."""
    target, _, source = node.children
    was_used = (found := designated(e, target)) is not None and found.variable.is_used
    place = _place(e, target)
    value = _fitting(e, node, e.value(source), place)
    if place.variable is not None and value.rank and is_unallocated(place.variable):
        bind(e, node, place.variable, value, was_used)
    return stored(place, value)


def bind(e: Expressions, node: Any, variable: Variable, value: Value, was_used: bool) -> None:
    """Give an array new storage, with the lower bounds of an array that is all of what it gets.

    Raises:
        UnsupportedProgram: it has been used with others.
    """
    variable.is_rebound = True
    dims = value.dims
    lows = [dim.low for dim in dims] or ["1"] * variable.rank
    if lows == [dim.low for dim in variable.dims]:
        return
    if was_used or not _is_own(e, variable) or any(not low.lstrip("-").isdigit() for low in lows):
        what = f"`{node}` gives `{variable.name}` the lower bounds {', '.join(lows)}, and it may have had others"
        e.refuse(node, what, "Allocate it with its bounds first.")
    variable.dims = tuple(Dim(dim.lower, None, is_open=True) for dim in dims)


def stored(place: Value, value: Value) -> list[str]:
    """The lines that put a value of its kind in a place."""
    if place.rank and value.rank and place.variable is not None and is_unallocated(place.variable):
        # Assignment allocates it; the array is its own, whatever the value is a view of.
        return [f"{place.text} = np.array({plain(value)}, {place.kind.numpy})"]
    if place.rank:
        return [f"{_whole(place)} = {plain(value)}"]
    return [f"{place.text} = {plain(strong(value) if place.variable is not None else value)}"]


def is_unallocated(variable: Variable) -> bool:
    """Whether an allocatable array may have no size but that of what is assigned to it."""
    if not variable.is_allocatable or variable.is_pointer:
        return False
    is_component = "%" in variable.name and all(dim.low == "1" for dim in variable.dims)
    is_given = variable.is_dummy and variable.intent != "out"
    return is_component or not (is_given or variable.is_allocated)


def _whole(place: Value) -> str:
    """All elements of a place: a name alone would be bound to another array."""
    return place.text if place.text.endswith("]") else f"{place.text}[...]"


def _place(e: Expressions, target: Any) -> Value:
    """What is assigned.

    Raises:
        UnsupportedProgram: it is a constant, an argument that is only read, or no variable at all.
    """
    found = designated(e, target)
    if found is not None:
        return place_of(e, target, found)
    if isinstance(target, f03.Part_Ref):
        e.refuse(target, f"`{target.children[0]}` is no array, and statement functions are not supported",
                 "Declare an array, or write a function.")  # fmt: skip
    e.refuse(target, f"`{target}` as what is assigned is not supported", "Assign to a variable or a part of an array.")


def place_of(e: Expressions, target: Any, found: Designator) -> Value:
    """What is assigned, of what a node designates.

    Raises:
        UnsupportedProgram: it is a constant, or an argument that is only read.
    """
    variable = found.variable
    if variable.value is not None or variable.intent == "in":
        kind = "a parameter" if variable.value is not None else "an argument with intent(in)"
        e.refuse(target, f"`{variable.name}` is {kind}, and is assigned", "Assign to another variable.")
    if variable.kind.base == "character":
        e.refuse(target, f"the text `{variable.name}` is not supported", "Use integers instead of texts.")
    place = e.of(target, found)
    e.used(target, variable).is_changed = True
    return place


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
    return f"np.array({value.text})" if value.is_place else plain(value)


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
    shaped = [one for one in listed(node.children[1]) if isinstance(one, f03.Allocation)]
    lines = [line for one in shaped for line in _allocation(e, one)]
    if len(shaped) < len(listed(node.children[1])) and "SOURCE" not in str(node.children[2]).upper():
        e.refuse(node, f"`{node}` gives no shape", "Write the bounds of each array.")
    for option in listed(node.children[2]):
        name, value = option.children
        if str(name).upper() == "SOURCE":
            source = e.value(value)
            for one in listed(node.children[1]):
                lines += _filled(e, node, one, source)
        else:
            lines.append(_status(e, option))
    return lines


def _filled(e: Expressions, node: Any, one: Any, source: Value) -> list[str]:
    """The lines that fill an array from its `source=`, which is its shape, too, where none is given."""
    if isinstance(one, f03.Allocation):
        place = e.value(one.children[0])
        return [f"{place.text}[...] = {plain(_fitting(e, node, source, place))}"]
    was_used = (found := designated(e, one)) is not None and found.variable.is_used
    leaf = _stored(e, one)[0]
    bind(e, node, leaf, source, was_used)
    return [f"{leaf.text} = np.array({plain(source)}, {leaf.kind.numpy})"]


def deallocated(e: Expressions, node: Any) -> list[str]:
    """The lines of a `deallocate`: the storage is that of a name, which is bound anew."""
    lines = []
    for one in listed(node.children[0]):
        for leaf in _stored(e, one):
            if leaf.is_asked or not _is_own(e, leaf):
                leaf.is_rebound = True
                lines.append(f"{leaf.text} = None")
    return [*lines, *map(partial(_status, e), listed(node.children[1]))]


def _is_own(e: Expressions, leaf: Variable) -> bool:
    return leaf.label == "" and leaf.scope is e.scope and not leaf.is_dummy


def _stored(e: Expressions, node: Any) -> list[Variable]:
    """The arrays that are the storage of what a node names.

    Raises:
        UnsupportedProgram: it is a part of something, or not allocatable.
    """
    found = designated(e, node)
    if found is None or found.subscripts is not None or not found.variable.is_allocatable:
        e.refuse(node, f"`{node}` is no allocatable array", "Declare it as allocatable.")
    return [e.used(node, leaf) for leaf in found.variable.leaves]


def _status(e: Expressions, option: Any) -> str:
    """The status of an allocation: 0, as one that fails raises an error.

    Raises:
        UnsupportedProgram: the option is another one.
    """
    name, value = option.children
    if str(name).upper() != "STAT":
        e.refuse(option, f"`{name}=` is not supported here", "Leave it away.")
    return f"{_place(e, value).text} = 0"


def _allocation(e: Expressions, node: Any) -> list[str]:
    name, shape = node.children
    dims = tuple(Dim(*one.children) for one in listed(shape))
    lines = []
    for leaf in _stored(e, name):
        leaf.is_rebound = leaf.is_changed = True
        own = leaf.dims[: leaf.rank - len(dims)]
        lines.append(f"{leaf.text} = {empty(e, leaf, (*own, *dims))}")
    return lines


def empty(e: Evaluator, variable: Variable, dims: tuple[Dim, ...]) -> str:
    """The text that allocates an array; of the axes in reverse order."""
    extents = [plain(_extent(e, one)) for one in reversed(dims)]
    return f"np.empty(({', '.join(extents)},), {variable.kind.numpy})"


def _extent(e: Evaluator, dim: Dim) -> Value:
    e = e.within(dim.home)
    upper = e.integer(dim.upper)
    if dim.lower is None:
        return upper
    lower = e.integer(dim.lower)
    if lower.number is not None:
        return upper.shifted(1 - lower.number)
    return Value(f"({upper.text} - {lower.text} + 1)", upper.kind)
