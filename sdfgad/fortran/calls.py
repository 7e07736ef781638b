"""Calls of the user's own routines: arrays are passed as views, and numbers come back as results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.arguments import by_name, split
from sdfgad.fortran.callees import callee, is_bound
from sdfgad.fortran.designators import REFERENCES, designated
from sdfgad.fortran.evaluator import Evaluator, described
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.routine import Routine
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.sharing import identifiers
from sdfgad.fortran.values import Value, plain, strong

COPY = "Assign it to a variable first, and pass that."


@dataclass(frozen=True)
class CallOf:
    """One call: its text, and what takes what it returns.

    Attributes:
        text: of the call.
        results: for each number or array that the routine returns, what is passed for it; None for nothing.
    """

    text: str
    results: list[Value | None]


def call_of(e: Expressions, node: Any, routine: Routine, arguments: Iterable[Any]) -> CallOf:
    """The translation of a call of a routine that has been translated.

    Raises:
        UnsupportedProgram: an argument does not fit its dummy argument.
    """
    given = _given(e, node, routine, list(arguments))
    values: dict[Variable, Value | None] = {}
    for dummy in routine.dummies:
        actual = given.get(dummy.name)
        if actual is None and not dummy.is_optional:
            e.refuse(node, f"`{node}` passes no `{dummy.name}`", "Pass all arguments that are not optional.")
        if dummy.type_of is not None and actual is not None:
            values |= _components(e, node, routine, dummy, actual)
        else:
            leaves = [one for one in dummy.leaves if one.is_used or dummy.type_of is None]
            values |= {one: None if actual is None else _passed(e, node, routine, one, actual) for one in leaves}
    for original, view in routine.shared.views.items():
        values[view] = _lent(e, original)
    _require_apart(e, node, routine, values)
    for one in routine.parameters:
        value = values[one]
        if value is not None and value.is_place and value.root is not None and not one.is_value:
            value.root.is_lent |= one.is_changed or not routine.is_function
            value.root.is_changed |= one.is_changed
            value.root.is_rebound |= one.is_rebound
    texts = ["None" if value is None else _text(value) for value in map(values.get, routine.parameters)]
    return CallOf(f"{function_name(routine)}({', '.join(texts)})", [values[one] for one in routine.results])


def _given(e: Expressions, node: Any, routine: Routine, arguments: list[Any]) -> dict[str, Any]:
    """The nodes of the arguments by the names of the dummy arguments."""
    positional, named = split(arguments)
    names = routine.names
    unknown = [name for name in named if name not in names]
    if len(positional) > len(names) or unknown:
        what = f"`{node}` passes {'`' + unknown[0] + '`' if unknown else 'more arguments than there are'}"
        e.refuse(node, what, f"`{routine.name}` has the arguments {', '.join(names)}.")
    return by_name(routine, arguments)


def _lent(e: Expressions, original: Variable) -> Value:
    """What the caller passes for a variable from around the routine: its own, or one from around it, too."""
    one = e.shared_with(original)
    one.is_lent = True
    return Value(one.text, one.kind, one.rank, is_place=True, variable=one, root=one)


def _require_apart(e: Expressions, node: Any, routine: Routine, values: Mapping[Variable, Value | None]) -> None:
    """Raises: UnsupportedProgram, where what is passed is shared, too, and one of both is changed."""
    shared = {value.text: view for view in routine.shared.views.values() if (value := values[view]) is not None}
    for one, value in values.items():
        is_place = value is not None and value.is_place and one not in shared.values()
        view = shared.get(value.text) if value is not None and is_place else None
        if view is not None and (view.is_changed or one.is_changed):
            what = f"`{view.name}` is passed to `{routine.name}`, which uses it as a variable around it, too"
            e.refuse(node, what, COPY)


def _text(value: Value) -> str:
    if not value.rank and value.number is None and value.kind.is_floating:
        return plain(value)
    return plain(strong(value))


def _components(e: Expressions, node: Any, routine: Routine, dummy: Variable, actual: Any) -> dict[Variable, Value]:
    """What is passed for the components of an argument of a derived type."""
    made = structure_called(e, actual, dummy.type_of)
    found = None if made is not None else designated(e, actual)
    if made is None and (found is None or found.variable.type_of is not dummy.type_of):
        what = f"`{actual}` is passed as `{dummy.name}`, and is no variable of its derived type"
        e.refuse(node, what, COPY)
    parts = {} if found is None else dict(found.parts())
    values = {}
    for leaf in dummy.leaves:
        if leaf.is_used:
            path = leaf.name.partition("%")[2]
            value = made[path] if made is not None else e.of(actual, parts[path])
            _require_fitting(e, node, leaf, actual, value)
            _require_bounds(e, node, leaf, actual, value)
            values[leaf] = value
    return values


def function_name(routine: Routine) -> str:
    """The name of a routine's function in generated text, which no variable has."""
    return routine.label or f"_{routine.name}"


def _passed(e: Expressions, node: Any, routine: Routine, dummy: Variable, actual: Any) -> Value:
    """What is passed for an argument."""
    value = e.value(actual)
    is_changed = dummy.name in routine.changed
    if dummy.takes_elements and not value.rank:
        value = _from_element(actual, value)
    _require_fitting(e, node, dummy, actual, value)
    if dummy.rank and is_changed and not value.is_place:
        what = f"`{actual}` is passed as `{dummy.name}`, which `{routine.name}` changes, and it is no variable"
        e.refuse(node, what, COPY)
    if value.rank and not value.is_place and value.root is not None:
        # An array in parentheses is a value: what it is a copy of may change.
        value = replace(value, text=f"np.array({value.text})")
    if dummy.is_allocatable:
        if value.variable is None or not value.variable.is_allocatable:
            e.refuse(node, f"`{actual}` is passed as `{dummy.name}`, and is not allocatable", COPY)
        _require_bounds(e, node, dummy, actual, value)
    return value


def _require_fitting(e: Evaluator, node: Any, dummy: Variable, actual: Any, value: Value) -> None:
    if dummy.rank != value.rank:
        _refuse_rank(e, node, dummy, actual, value)
    if dummy.kind.base != value.kind.base or (dummy.kind.is_floating and dummy.kind != value.kind):
        _refuse_kind(e, node, dummy, actual, value)


def _require_bounds(e: Evaluator, node: Any, dummy: Variable, actual: Any, value: Value) -> None:
    """Raises: UnsupportedProgram, where allocatable arrays have different lower bounds, which are passed with them."""
    if dummy.is_allocatable and value.variable is not None:
        mine, theirs = ([dim.low for dim in one.dims] for one in (value.variable, dummy))
        if mine != theirs:
            what = f"`{actual}` has the lower bounds {', '.join(mine)}, and `{dummy.name}` {', '.join(theirs)}"
            e.refuse(node, what, f"Declare {dummy.name} as {dummy.name}(0:), with its lower bounds.")


def _from_element(actual: Any, value: Value) -> Value:
    """An element passed for an array with one axis: that starts there, and ends with its column at the latest."""
    last = actual.children[-1] if isinstance(actual, f03.Data_Ref) else actual
    if not isinstance(last, f03.Part_Ref) or not value.is_place or not value.text.endswith("]"):
        return value
    # The innermost index, which is the last one in NumPy's order, becomes the start of a section.
    return Value(f"{value.text[:-1]}:]", value.kind, 1, is_place=True, root=value.root)


def _refuse_rank(e: Evaluator, node: Any, dummy: Variable, actual: Any, value: Value) -> None:
    todo = "Pass an array of as many axes."
    if dummy.rank and isinstance(actual, f03.Part_Ref):
        todo = (
            f"Pass a section with {dummy.rank} axes, such as {actual.children[0]}(:, 1), instead of its first element."
        )
    what = f"`{actual}` is {described(value)}, and the argument `{dummy.name}` has {dummy.rank} axes"
    e.refuse(node, what, todo)


def function_call(e: Expressions, node: Any, routine: Routine, arguments: list[Any]) -> Value:
    """The value of a call of a function.

    Raises:
        UnsupportedProgram: the function changes its arguments, or is called with arrays for numbers.
    """
    _require_function(e, node, routine)
    result = routine.scope.variables[routine.result]
    if result.type_of is not None:
        e.refuse(node, f"`{node}` of a derived type is not supported here", "Assign it to a variable first.")
    if routine.is_elemental:
        rank, text = _by_element(e, node, routine, arguments)
        if rank and not routine.is_pure:
            e.refuse(node, f"the elemental function `{routine.name}` changes something else", "Call it in a loop.")
        if rank:
            return Value(f"np.array({text}, {result.kind.numpy})", result.kind, rank)
    if not routine.is_pure:
        return _called_ahead(e, node, routine, arguments)[0]
    return Value(call_of(e, node, routine, arguments).text, result.kind, result.rank)


def _require_function(e: Expressions, node: Any, routine: Routine) -> None:
    if not routine.is_function:
        e.refuse(node, f"`{routine.name}` is a subroutine", "Call it by a statement of its own.")


def _called_ahead(e: Expressions, node: Any, routine: Routine, arguments: list[Any]) -> list[Value]:
    """What a function returns, which is called before the statement: it changes other things, or has components.

    Raises:
        UnsupportedProgram: the statement is none before which it may be called.
    """
    if e.before is None:
        what = f"the function `{routine.name}` changes its arguments or variables around it, or is of a derived type"
        e.refuse(node, f"{what}, and is called in a condition or bound", "Assign its value to a variable first.")
    call, own = call_of(e, node, routine, arguments), routine.own_results
    names = [e.fresh("value") for _ in own]
    e.before += received(e, node, call, names)
    return [Value(name, one.kind, one.rank) for name, one in zip(names, own, strict=True)]


def structure_called(e: Expressions, node: Any, derived: Any) -> dict[str, Value] | None:
    """The components of the value of a function, by their paths; None if a node is no call of one of a derived type."""
    if not isinstance(node, REFERENCES) and not is_bound(e, node):
        return None
    _, routine, arguments = callee(e, node)
    if routine is None or not routine.is_function:
        return None
    result = routine.scope.variables[routine.result]
    if result.type_of is not derived or result.rank:
        return None
    e.called(node, routine)
    paths = [one.name.partition("%")[2] for one in routine.own_results]
    return dict(zip(paths, _called_ahead(e, node, routine, arguments), strict=True))


def _by_element(e: Expressions, node: Any, routine: Routine, arguments: list[Any]) -> tuple[int, str]:
    """A call of an elemental function with arrays: their rank, 0 for none, and the lists of its results by axis."""
    nodes = by_name(routine, arguments)
    if any(one.type_of is not None for one in routine.dummies):
        # Elements of arrays of derived types are passed in loops.
        return 0, ""
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
    passed = [names.get(one.name) or plain(strong(values[one.name])) for one in routine.dummies]
    inner = ", ".join([*passed, *(_lent(e, one).text for one in routine.shared.views)])
    text, own = f"{function_name(routine)}({inner})", ", ".join(names.values())
    for axis in range(rank):
        arrays = own if axis < rank - 1 else ", ".join(plain(values[name]) for name in names)
        text = f"[{text} for {own} in {arrays if len(names) == 1 else f'zip({arrays})'}]"
    return rank, text


def _refuse_kind(e: Evaluator, node: Any, dummy: Variable, actual: Any, value: Value) -> NoReturn:
    what = f"`{actual}` is {described(value)}, and the argument `{dummy.name}` {dummy.kind.noun}"
    e.refuse(node, what, "Convert it: real(x, 8).")


def subroutine_call(e: Expressions, node: Any, routine: Routine) -> list[str]:
    """The lines of a `call` statement.

    Raises:
        UnsupportedProgram: as `call_of` does.
    """
    if routine.is_function:
        e.refuse(node, f"`{routine.name}` is a function", "Write it in an expression.")
    return received(e, node, call_of(e, node, routine, callee(e, node)[2]))


def received(e: Expressions, node: Any, call: CallOf, own: Sequence[str] = ()) -> list[str]:
    """The lines of a call, with what takes its results, after names for the value of a function."""
    targets, after = [*own], []
    wholes = {value.text for value in call.results if value is not None and value.variable is not None}
    for value in call.results:
        if value is None or not value.is_place:
            targets.append(e.fresh("unused"))
        elif value.variable is not None:
            if value.text in targets:
                e.refuse(node, f"the call changes `{value.variable.name}` in two ways", COPY)
            targets.append(value.text)
        else:
            subscripts = value.text.partition("[")[2]
            if identifiers(subscripts) & wholes:
                e.refuse(node, f"the call changes what `{value.text}` is, which it is passed, too", COPY)
            targets.append(e.fresh("element"))
            after.append(f"{value.text} = {targets[-1]}")
    comma = "," if len(targets) == 1 and not own else ""
    line = f"{', '.join(targets)}{comma} = {call.text}" if targets else call.text
    return [line, *after]
