"""Calls of the user's own routines: arrays are passed as views, and numbers come back as results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.arguments import split
from sdfgad.fortran.evaluator import Evaluator, described
from sdfgad.fortran.library import Routine
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import listed, name_of, names_in
from sdfgad.fortran.values import Value, plain, strong

COPY = "Assign it to a variable first, and pass that."


@dataclass(frozen=True)
class CallOf:
    """One call: its text, and what takes the numbers that it changes.

    Attributes:
        text: of the call.
        results: for each number that the routine may change, the node of the variable that is passed; None for a value.
    """

    text: str
    results: list[tuple[Variable, Any]]


def call_of(e: Evaluator, node: Any, routine: Routine, arguments: Iterable[Any]) -> CallOf:
    """The translation of a call.

    Raises:
        UnsupportedProgram: an argument does not fit its dummy argument.
    """
    positional, named = split(list(arguments))
    dummies = routine.dummies
    unknown = [name for name in named if name not in {one.name for one in dummies}]
    if len(positional) > len(dummies) or unknown:
        what = f"`{node}` passes {'`' + unknown[0] + '`' if unknown else 'more arguments than there are'}"
        e.refuse(node, what, f"`{routine.name}` has the arguments {', '.join(one.name for one in dummies)}.")
    given = dict(zip((one.name for one in dummies), positional, strict=False)) | named
    texts, results = [], []
    for dummy in dummies:
        actual = given.get(dummy.name)
        texts.append("None" if actual is None else _passed(e, node, routine, dummy, actual))
        if actual is None and not dummy.is_optional:
            e.refuse(node, f"`{node}` passes no `{dummy.name}`", "Pass all arguments that are not optional.")
        if not dummy.rank and dummy.name in routine.changed:
            results.append((dummy, actual))
    return CallOf(f"{function_name(routine)}({', '.join(texts)})", results)


def function_name(routine: Routine) -> str:
    """The name of a routine's function in generated text, which no variable has."""
    return f"_{routine.name}"


def _passed(e: Evaluator, node: Any, routine: Routine, dummy: Variable, actual: Any) -> str:
    """The text of one argument."""
    value = e.value(actual)
    is_changed = dummy.name in routine.changed
    if dummy.takes_elements and not value.rank:
        value = _from_element(e, actual, value)
    if dummy.rank != value.rank:
        _refuse_rank(e, node, dummy, actual, value)
    if dummy.kind.base != value.kind.base or (dummy.kind.is_floating and dummy.kind != value.kind):
        _refuse_kind(e, node, dummy, actual, value)
    if dummy.rank and is_changed and not value.is_place:
        what = f"`{actual}` is passed as `{dummy.name}`, which `{routine.name}` changes, and it is no variable"
        e.refuse(node, what, COPY)
    if not dummy.rank and value.number is None and value.kind.is_floating:
        return plain(value)
    return plain(strong(value))


def _from_element(e: Evaluator, actual: Any, value: Value) -> Value:
    """An element passed for an array with one axis: that starts there, and ends with its column at the latest."""
    found = e.scope.variable(name_of(actual.children[0])) if isinstance(actual, f03.Part_Ref) else None
    if found is None or not found[1].rank or not value.text.endswith("]"):
        return value
    # The innermost index, which is the last one in NumPy's order, becomes the start of a section.
    return Value(f"{value.text[:-1]}:]", value.kind, 1, is_place=True)


def _refuse_rank(e: Evaluator, node: Any, dummy: Variable, actual: Any, value: Value) -> None:
    todo = "Pass an array of as many axes."
    if dummy.rank and isinstance(actual, f03.Part_Ref):
        todo = (
            f"Pass a section with {dummy.rank} axes, such as {actual.children[0]}(:, 1), instead of its first element."
        )
    what = f"`{actual}` is {described(value)}, and the argument `{dummy.name}` has {dummy.rank} axes"
    e.refuse(node, what, todo)


def function_call(e: Evaluator, node: Any, routine: Routine, arguments: list[Any]) -> Value:
    """The value of a call of a function.

    Raises:
        UnsupportedProgram: the function changes its arguments, or is called with arrays for numbers.
    """
    if not routine.is_function:
        e.refuse(node, f"`{routine.name}` is a subroutine", "Call it by a statement of its own.")
    if routine.changed:
        names = ", ".join(sorted(routine.changed))
        e.refuse(node, f"the function `{routine.name}` changes its arguments: {names}", "Make it a subroutine.")
    result = routine.scope.variables[routine.result]
    if routine.is_elemental:
        rank, text = _by_element(e, node, routine, arguments)
        if rank:
            return Value(f"np.array({text}, {result.kind.numpy})", result.kind, rank)
    return Value(call_of(e, node, routine, arguments).text, result.kind, result.rank)


def _by_element(e: Evaluator, node: Any, routine: Routine, arguments: list[Any]) -> tuple[int, str]:
    """A call of an elemental function with arrays: their rank, 0 for none, and the lists of its results by axis."""
    positional, named = split(arguments)
    nodes = {one.name: actual for one, actual in zip(routine.dummies, positional, strict=False)} | named
    values = {name: e.value(actual) for name, actual in nodes.items()}
    ranks = {value.rank for value in values.values()}
    if ranks == {0}:
        return 0, ""
    if len(ranks - {0}) > 1 or any(one.name not in values for one in routine.dummies):
        e.refuse(node, f"`{node}` has arrays of several ranks, or leaves arguments out", "Call it in a loop.")
    for one in routine.dummies:
        if one.kind != values[one.name].kind and one.kind.is_floating:
            _refuse_kind(e, node, one, nodes[one.name], values[one.name])
    rank, names = max(ranks), {name: e.fresh("element") for name, value in values.items() if value.rank}
    inner = ", ".join(names.get(one.name) or plain(strong(values[one.name])) for one in routine.dummies)
    text, own = f"{function_name(routine)}({inner})", ", ".join(names.values())
    for axis in range(rank):
        arrays = own if axis < rank - 1 else ", ".join(plain(values[name]) for name in names)
        text = f"[{text} for {own} in {arrays if len(names) == 1 else f'zip({arrays})'}]"
    return rank, text


def _refuse_kind(e: Evaluator, node: Any, dummy: Variable, actual: Any, value: Value) -> NoReturn:
    what = f"`{actual}` is {described(value)}, and the argument `{dummy.name}` {dummy.kind.noun}"
    e.refuse(node, what, "Convert it: real(x, 8).")


def subroutine_call(e: Evaluator, node: Any, routine: Routine) -> list[str]:
    """The lines of a `call` statement.

    Raises:
        UnsupportedProgram: as `call_of` does.
    """
    if routine.is_function:
        e.refuse(node, f"`{routine.name}` is a function", "Write it in an expression.")
    call = call_of(e, node, routine, listed(node.children[1]))
    targets, after = [], []
    changed = {name for _, actual in call.results if isinstance(actual, f03.Name) for name in names_in(actual)}
    for _, actual in call.results:
        value = None if actual is None else e.value(actual)
        if value is None or not value.is_place:
            targets.append(e.fresh("unused"))
        elif isinstance(actual, f03.Name):
            targets.append(value.text)
        else:
            if names_in(actual.children[1]) & changed:
                e.refuse(node, f"the call changes what `{actual}` is, which it is passed, too", COPY)
            targets.append(e.fresh("element"))
            after.append(f"{value.text} = {targets[-1]}")
    line = f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = {call.text}" if targets else call.text
    return [line, *after]
