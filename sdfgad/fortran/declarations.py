"""Specification parts: types, attributes, shapes and named constants of what a scope declares."""

from __future__ import annotations

from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.errors import UnsupportedProgram
from sdfgad.fortran.constants import constant_of, count_of, listed_constant, structure_constants
from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.interfaces import enter_interface
from sdfgad.fortran.kinds import CHARACTER, DOUBLE, LOGICAL, Kind
from sdfgad.fortran.literals import named_kind, real_kind
from sdfgad.fortran.scope import IMPLICIT, Dim, Scope, Variable
from sdfgad.fortran.syntax import listed, name_of, walk
from sdfgad.fortran.types import TYPE, expand, read_type

# Statements that say nothing of what is computed.
IGNORED = (f03.Comment, f03.Format_Stmt, f03.External_Stmt, f03.Intrinsic_Stmt, f03.Access_Stmt,
           f03.Procedure_Declaration_Stmt)  # fmt: skip
IGNORED_ATTRIBUTES = frozenset(
    {"TARGET", "CONTIGUOUS", "PUBLIC", "PRIVATE", "PROTECTED", "VALUE", "VOLATILE", "EXTERNAL"}
)
REFUSED = {
    "Equivalence_Stmt": ("storage that two names share", "Use one name, or copy."),
    "Namelist_Stmt": ("a namelist", "Pass the values as arguments."),
    "Include_Line": ("an included file", "Put its text here."),
    "Include_Filename": ("an included file", "Put its text here."),
    "Pointer_Stmt": ("a pointer", "Use an allocatable array, or pass a section."),
    "Enum_Def": ("an enumeration", "Declare integer parameters."),
}


SAVED = "Pass it as an argument with intent(inout)."
TYPED = "Define the type in a module, or pass all files that it may come from."


def read_declarations(scope: Scope, part: Any) -> None:
    """Enter what a specification part declares into a scope.

    Raises:
        UnsupportedProgram: a statement of it is not supported; with its line. In a module only where it is used.
    """
    for statement in getattr(part, "children", ()):
        inner = statement.children if isinstance(statement, f03.Implicit_Part) else (statement,)
        for one in inner:
            known = {*scope.variables, *scope.imported}
            try:
                with scope.file.understood(one):
                    _statement(scope, one)
            except UnsupportedProgram as error:
                if not scope.is_module or isinstance(one, f03.Implicit_Stmt):
                    raise
                # What has been entered of the statement is not read, either.
                scope.variables = {name: one for name, one in scope.variables.items() if name in known}
                scope.unread |= dict.fromkeys(declared_in(one) - known, error)
    for variable in list(scope.variables.values()):
        variable.is_kept |= scope.is_module and variable.value is None
        for leaf in variable.leaves:
            leaf.is_kept |= variable.is_kept
        try:
            expand(variable)
        except UnsupportedProgram as error:
            if not scope.is_module:
                raise
            scope.unread[scope.variables.pop(variable.name).name] = error


def declared_in(node: Any) -> set[str]:
    """The names in a declaration, also those of types."""
    return {name_of(one) for one in walk(node) if isinstance(one, (f03.Name, f03.Type_Name))}


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
    elif not (_other_statement(scope, node) or isinstance(node, (*IGNORED, f03.Use_Stmt))):
        what, todo = REFUSED.get(type(node).__name__, (f"`{node}`", "Leave it away, or declare each name by its type."))
        scope.refuse(node, f"{what} is not supported", todo)


def _other_statement(scope: Scope, node: Any) -> bool:
    """Enter what a statement says that is about no type of its own; False for another one."""
    if isinstance(node, f03.Derived_Type_Def):
        derived = read_type(scope, node, _statement_of_type)
        scope.types[derived.name] = derived
    elif isinstance(node, f03.Interface_Block):
        enter_interface(scope, node)
    elif isinstance(node, f03.Common_Stmt):
        for one in (one for _, objects in node.children[0] for one in listed(objects)):
            variable = _named(scope, one if isinstance(one, f03.Name) else one.children[0], node)
            if not isinstance(one, f03.Name):
                variable.dims = dims_of(scope, one.children[1], node)
    elif isinstance(node, f03.Save_Stmt):
        scope.keeps_all |= node.children[1] is None
        # Common blocks are kept anyway.
        for name in (one for one in listed(node.children[1]) if isinstance(one, f03.Name)):
            _named(scope, name, node).is_kept = True
    elif isinstance(node, f03.Data_Stmt):
        for one in walk(node):
            if isinstance(one, f03.Data_Stmt_Set):
                _data(scope, one)
    else:
        return False
    return True


def _statement_of_type(scope: Scope, node: Any) -> None:
    """A line of a derived type, which declares components."""
    if isinstance(node, f03.Data_Component_Def_Stmt):
        with scope.file.understood(node):
            _declaration(scope, node)
    elif not isinstance(node, f03.Comment):
        scope.refuse(node, f"`{node}` in a type is not supported", "Declare numbers and arrays.")


def _data(scope: Scope, node: Any) -> None:
    """Names and their first values, of which each is there as often as the number before it says."""
    given: list[Any] = []
    for one in listed(node.children[1]):
        many, value = one.children if isinstance(one, f03.Data_Stmt_Value) else (None, one)
        given += [value] * (1 if many is None else Expressions(scope).known(many))
    for name in listed(node.children[0]):
        if not isinstance(name, f03.Name):
            scope.refuse(node, f"`{name}` in a data statement is not supported", "Give values to all of an array.")
        variable = _named(scope, name, node)
        count = count_of(scope, variable)
        own, given = given[:count], given[count:]
        if len(own) < count:
            scope.refuse(node, f"`{node}` has not enough values", "Give a value to each element.")
        variable.is_kept, variable.initial = True, listed_constant(scope, variable, own)


def _named(scope: Scope, name: Any, node: Any) -> Variable:
    """The variable of a name, which is typed by its first letter where nothing has declared it."""
    key = name_of(name)
    if key not in scope.variables:
        kind = (scope.implicit or {}).get(key[0])
        if kind is None:
            scope.refuse(node, f"`{key}` is not declared", "Declare its type first.")
        scope.variables[key] = Variable(key, kind, node, scope=scope)
    return scope.variables[key]


def kind_of(scope: Scope, spec: Any) -> Kind:
    """The kind of a type that is declared.

    Raises:
        UnsupportedProgram: it is a derived one, or of a kind that NumPy has not.
    """
    if not isinstance(spec, f03.Intrinsic_Type_Spec):
        if derived_of(scope, spec) is None:
            scope.refuse(spec, f"the type `{spec.children[1]}` is not known here", TYPED)
        return TYPE
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


def derived_of(scope: Scope, spec: Any) -> Any:
    """The derived type of a declaration; None of another one."""
    return None if isinstance(spec, f03.Intrinsic_Type_Spec) else scope.type_named(name_of(spec.children[1]))


def _size_of(e: Evaluator, selector: Any) -> int:
    node = selector.children[1]
    return named_kind(e, node, name_of(node)) if isinstance(node, f03.Name) else e.known(node)


def _declaration(scope: Scope, node: Any) -> None:
    spec, attributes, entities = node.children
    kind, derived = kind_of(scope, spec), derived_of(scope, spec)
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
        variable.type_of, variable.is_kept = derived, variable.is_kept or "SAVE" in names
        variable.is_pointer, variable.is_value = "POINTER" in names, "VALUE" in names
        variable.is_allocatable = "ALLOCATABLE" in names or variable.is_pointer
        if variable.is_pointer and (not variable.rank or derived is not None):
            scope.refuse(node, f"`{variable.name}` is a pointer to no array of numbers, which is not supported",
                         "Declare a variable, or an index in an array.")  # fmt: skip
        if variable.rank and (variable.is_value or kind == CHARACTER):
            what = "an array of texts" if kind == CHARACTER else "an array that is passed by value"
            scope.refuse(node, f"{what} is not supported", "Use integers, and pass arrays as they are.")
        _initialise(scope, variable, initial, "PARAMETER" in names)


def _declared(scope: Scope, name: str, kind: Kind, node: Any, dims: tuple[Dim, ...]) -> Variable:
    """A variable; what other statements have said of it before stays."""
    variable = scope.variables.setdefault(name, Variable(name, kind, node, scope=scope))
    variable.kind, variable.node = kind, node
    variable.dims = dims or variable.dims
    return variable


def _initialise(scope: Scope, variable: Variable, initial: Any, is_parameter: bool) -> None:
    if initial is None or str(initial).replace(" ", "").upper() == "=>NULL()":
        # A pointer to nothing is None, as what is not allocated.
        variable.is_kept |= initial is not None and not isinstance(initial, f03.Component_Initialization)
        return
    if variable.type_of is not None:
        expand(variable)
        for leaf, value in structure_constants(scope, variable, initial.children[1]):
            leaf.value, leaf.initial = (value, None) if is_parameter else (None, value)
        variable.is_kept = True
        return
    value = constant_of(scope, variable, initial.children[1])
    if is_parameter:
        variable.value = value
    else:
        # A local variable with an initial value keeps what it has from call to call; a component does not.
        variable.initial, variable.is_kept = value, not isinstance(initial, f03.Component_Initialization)


def _parameter(scope: Scope, node: Any) -> None:
    name, value = node.children
    variable = _named(scope, name, node)
    variable.value = constant_of(scope, variable, value)


def _attribute(scope: Scope, node: Any) -> tuple[str, Any]:
    if isinstance(node, f03.Intent_Attr_Spec):
        return "INTENT", str(node.children[1]).lower().replace(" ", "")
    if isinstance(node, (f03.Dimension_Attr_Spec, f03.Dimension_Component_Attr_Spec)):
        return "DIMENSION", node.children[1]
    name = str(node).upper()
    if name not in IGNORED_ATTRIBUTES | {"PARAMETER", "ALLOCATABLE", "OPTIONAL", "SAVE", "POINTER"}:
        todo = "Leave it away, or pass an argument."
        scope.refuse(node, f"the attribute `{name.lower()}` is not supported", todo)
    return name, None


def _explicit(scope: Scope, node: Any) -> Dim:
    lower, upper = node.children
    return Dim(lower, upper, home=scope)


def dims_of(scope: Scope, shape: Any, node: Any) -> tuple[Dim, ...]:
    """The axes of a shape."""
    if isinstance(shape, f03.Assumed_Size_Spec):
        explicit, lower = shape.children
        return (*(_explicit(scope, one) for one in listed(explicit)),
                Dim(lower, None, is_open=True, is_rest=True, home=scope))  # fmt: skip
    found = []
    for one in listed(shape):
        if isinstance(one, f03.Explicit_Shape_Spec):
            found.append(_explicit(scope, one))
        elif isinstance(one, (f03.Assumed_Shape_Spec, f03.Deferred_Shape_Spec)):
            found.append(Dim(one.children[0] if one.children else None, None, is_open=True, home=scope))
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
