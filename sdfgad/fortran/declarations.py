"""Specification parts: types, attributes, shapes and named constants of what a scope declares."""

from __future__ import annotations

from typing import Any

import numpy as np
from fparser.two import Fortran2003 as f03

from sdfgad.errors import UnsupportedProgram
from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.kinds import CHARACTER, DOUBLE, LOGICAL, Kind
from sdfgad.fortran.literals import named_kind, real_kind
from sdfgad.fortran.scope import IMPLICIT, Dim, Scope, Variable
from sdfgad.fortran.syntax import listed, name_of, names_in
from sdfgad.fortran.values import Value, as_kind, folded
from sdfgad.fortran.written import evaluated

# Statements that say nothing of what is computed.
IGNORED = (f03.Comment, f03.Format_Stmt, f03.External_Stmt, f03.Intrinsic_Stmt, f03.Access_Stmt)
IGNORED_ATTRIBUTES = frozenset({"TARGET", "CONTIGUOUS", "PUBLIC", "PRIVATE", "PROTECTED", "VALUE"})
REFUSED = {
    "Common_Stmt": ("a common block", "Pass its variables as arguments."),
    "Equivalence_Stmt": ("storage that two names share", "Use one name, or copy."),
    "Data_Stmt": ("a data statement", "Assign the values at the start, or declare a parameter."),
    "Save_Stmt": ("variables that are kept from call to call", "Pass them as arguments with intent(inout)."),
    "Derived_Type_Def": ("a derived type", "Pass its components as arguments of their own."),
    "Namelist_Stmt": ("a namelist", "Pass the values as arguments."),
    "Include_Line": ("an included file", "Put its text here."),
    "Include_Filename": ("an included file", "Put its text here."),
    "Interface_Block": ("an interface block", "Put the routine in a module, or in the same file."),
    "Stmt_Function_Stmt": ("a statement function", "Write a function in a module."),
    "Pointer_Stmt": ("a pointer", "Use an allocatable array, or pass a section."),
    "Enum_Def": ("an enumeration", "Declare integer parameters."),
}


def read_declarations(scope: Scope, part: Any) -> None:
    """Enter what a specification part declares into a scope.

    Raises:
        UnsupportedProgram: a statement of it is not supported; with its line. In a module only where it is used.
    """
    for statement in getattr(part, "children", ()):
        inner = statement.children if isinstance(statement, f03.Implicit_Part) else (statement,)
        for one in inner:
            try:
                with scope.file.understood(one):
                    _statement(scope, one)
            except UnsupportedProgram as error:
                if not scope.is_module or isinstance(one, f03.Implicit_Stmt):
                    raise
                scope.unread |= dict.fromkeys(names_in(one) - {*scope.variables, *scope.imported}, error)


def _statement(scope: Scope, node: Any) -> None:
    if isinstance(node, f03.Type_Declaration_Stmt):
        _declaration(scope, node)
    elif isinstance(node, f03.Implicit_Stmt):
        _implicit(scope, node)
    elif isinstance(node, f03.Parameter_Stmt):
        for one in listed(node.children[1]):
            _parameter(scope, one)
    elif isinstance(node, f03.Dimension_Stmt):
        for name, shape in node.children[0]:
            _named(scope, name, node).dims = dims_of(scope, shape, node)
    elif isinstance(node, f03.Intent_Stmt):
        for name in listed(node.children[1]):
            _named(scope, name, node).intent = str(node.children[0]).lower().replace(" ", "")
    elif not isinstance(node, (*IGNORED, f03.Use_Stmt)):
        what, todo = REFUSED.get(type(node).__name__, (f"`{node}`", "Leave it away, or declare each name by its type."))
        scope.refuse(node, f"{what} is not supported", todo)


def _named(scope: Scope, name: Any, node: Any) -> Variable:
    """The variable of a name, which is typed by its first letter where nothing has declared it."""
    key = name_of(name)
    if key not in scope.variables:
        kind = (scope.implicit or {}).get(key[0])
        if kind is None:
            scope.refuse(node, f"`{key}` is not declared", "Declare its type first.")
        scope.variables[key] = Variable(key, kind, node)
    return scope.variables[key]


def kind_of(scope: Scope, spec: Any) -> Kind:
    """The kind of a type that is declared.

    Raises:
        UnsupportedProgram: it is a derived one, or of a kind that NumPy has not.
    """
    if not isinstance(spec, f03.Intrinsic_Type_Spec):
        what, todo = REFUSED["Derived_Type_Def"]
        scope.refuse(spec, f"`{spec}`: {what} is not supported", todo)
    base, selector = str(spec.children[0]).lower(), spec.children[1]
    if base == "double precision":
        return DOUBLE
    if base == "character":
        return CHARACTER
    e = Expressions(scope)
    size = 4 if selector is None else _size_of(e, selector)
    if base == "logical":
        return LOGICAL
    if base == "integer":
        return Kind("integer", size)
    if base == "complex" and selector is not None and str(selector.children[0]) == "*":
        size //= 2
    return real_kind(e, spec, size, base)


def _size_of(e: Evaluator, selector: Any) -> int:
    node = selector.children[1]
    return named_kind(e, node, name_of(node)) if isinstance(node, f03.Name) else e.known(node)


def _declaration(scope: Scope, node: Any) -> None:
    spec, attributes, entities = node.children
    kind = kind_of(scope, spec)
    found = [_attribute(scope, one) for one in listed(attributes)]
    names = {name for name, _ in found}
    shape = next((dims for name, dims in found if name == "DIMENSION"), None)
    intent = next((value for name, value in found if name == "INTENT"), "")
    for entity in listed(entities):
        name, own, _, initial = entity.children
        dims = (
            dims_of(scope, own, node) if own is not None else dims_of(scope, shape, node) if shape is not None else ()
        )
        variable = _declared(scope, name_of(name), kind, node, dims)
        variable.intent, variable.is_optional = intent or variable.intent, "OPTIONAL" in names
        variable.is_allocatable, variable.is_value = "ALLOCATABLE" in names, "VALUE" in names
        if variable.rank and (variable.is_value or kind == CHARACTER):
            what = "an array of texts" if kind == CHARACTER else "an array that is passed by value"
            scope.refuse(node, f"{what} is not supported", "Use integers, and pass arrays as they are.")
        _initialise(scope, variable, initial, "PARAMETER" in names)


def _declared(scope: Scope, name: str, kind: Kind, node: Any, dims: tuple[Dim, ...]) -> Variable:
    """A variable; what other statements have said of it before stays."""
    variable = scope.variables.setdefault(name, Variable(name, kind, node))
    variable.kind, variable.node = kind, node
    variable.dims = dims or variable.dims
    return variable


def _initialise(scope: Scope, variable: Variable, initial: Any, is_parameter: bool) -> None:
    if initial is None:
        return
    if not is_parameter:
        # A local variable with an initial value keeps what it has from call to call.
        variable.is_kept = True
        return
    variable.value = constant_of(scope, variable, initial.children[1])


def constant_of(scope: Scope, variable: Variable, node: Any) -> Value:
    """The value of a named constant.

    Raises:
        UnsupportedProgram: it is not known without running.
    """
    e = Expressions(scope)
    value = e.value(node)
    if variable.rank:
        return _array_of(e, variable, value)
    value = value if value.kind.base == "logical" else as_kind(value, variable.kind)
    if value.number is None:
        text = value.text
        value = folded(text, Value(text, variable.kind)) if not _has_names(e, text) else value
    if value.number is None:
        scope.refuse(node, f"`{variable.name}` is a constant whose value is not known here", "Write it as a number.")
    return value


def _has_names(e: Evaluator, text: str) -> bool:
    """Whether a text has names of arrays that are constants, which only the routine makes."""
    return any(one in text for one in getattr(e, "constant_arrays", {}))


def _array_of(e: Evaluator, variable: Variable, value: Value) -> Value:
    """An array that is constant: its text makes it anew."""
    dtype = variable.kind.numpy
    if not value.rank and value.number is not None:
        extents = [_extent_of(e, dim) for dim in reversed(variable.dims)]
        return Value(f"np.full(({', '.join(map(str, extents))},), {value.text}, {dtype})", variable.kind, variable.rank)
    names: dict[str, Any] = {}
    for name, text in getattr(e, "constant_arrays", {}).items():
        names[name] = evaluated(text)
    array = np.asarray(evaluated(value.text, names), variable.kind.dtype)
    return Value(f"np.array({array.tolist()!r}, {dtype})", variable.kind, variable.rank)


def _extent_of(e: Evaluator, dim: Dim) -> int:
    return e.known(dim.upper) - (1 if dim.lower is None else e.known(dim.lower)) + 1


def _parameter(scope: Scope, node: Any) -> None:
    name, value = node.children
    variable = _named(scope, name, node)
    variable.value = constant_of(scope, variable, value)


def _attribute(scope: Scope, node: Any) -> tuple[str, Any]:
    if isinstance(node, f03.Intent_Attr_Spec):
        return "INTENT", str(node.children[1]).lower().replace(" ", "")
    if isinstance(node, f03.Dimension_Attr_Spec):
        return "DIMENSION", node.children[1]
    name = str(node).upper()
    if name not in IGNORED_ATTRIBUTES | {"PARAMETER", "ALLOCATABLE", "OPTIONAL"}:
        todo = REFUSED["Pointer_Stmt" if name == "POINTER" else "Save_Stmt"][1]
        scope.refuse(node, f"the attribute `{name.lower()}` is not supported", todo)
    return name, None


def dims_of(scope: Scope, shape: Any, node: Any) -> tuple[Dim, ...]:
    """The axes of a shape."""
    if isinstance(shape, f03.Assumed_Size_Spec):
        explicit, lower = shape.children
        return (*(Dim(*one.children) for one in listed(explicit)), Dim(lower, None, is_open=True, is_rest=True))
    found = []
    for one in listed(shape):
        if isinstance(one, f03.Explicit_Shape_Spec):
            found.append(Dim(*one.children))
        elif isinstance(one, (f03.Assumed_Shape_Spec, f03.Deferred_Shape_Spec)):
            found.append(Dim(one.children[0] if one.children else None, None, is_open=True))
        else:
            scope.refuse(node, f"the shape `{shape}` is not supported", "Declare bounds, or a colon for each axis.")
    return tuple(found)


def _implicit(scope: Scope, node: Any) -> None:
    if str(node.children[0]).upper() == "NONE":
        scope.implicit = None
        return
    rules = dict(scope.implicit or IMPLICIT)
    for one in listed(node.children[0]):
        kind = kind_of(scope, one.children[0])
        for span in listed(one.children[1]):
            first, last = (str(c).lower() if c is not None else None for c in getattr(span, "children", (span, None)))
            rules |= {chr(c): kind for c in range(ord(str(first)), ord(last or str(first)) + 1)}
    scope.implicit = rules
