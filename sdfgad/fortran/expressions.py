"""Expressions: names, literals and operators, with the kinds that Fortran gives to what they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.arrays import minus, plus, subscripted, subscripts_of
from sdfgad.fortran.constructors import array_constructor
from sdfgad.fortran.evaluator import Evaluator, described
from sdfgad.fortran.integers import power_of_integers, quotient
from sdfgad.fortran.intrinsics import intrinsic, is_intrinsic
from sdfgad.fortran.kinds import DOUBLE, INTEGER, LOGICAL, REAL, Kind, joined
from sdfgad.fortran.literals import complex_literal, integer_literal, logical_literal, real_literal
from sdfgad.fortran.scope import Scope, Variable
from sdfgad.fortran.syntax import name_of
from sdfgad.fortran.values import Value, as_kind, constant, folded, plain, strong

COMPARISONS = {
    ".EQ.": "==", ".NE.": "!=", "/=": "!=", ".LT.": "<", ".LE.": "<=", ".GT.": ">", ".GE.": ">=",
    "==": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
}  # fmt: skip
LOGICALS = {".AND.": ("and", "&"), ".OR.": ("or", "|"), ".EQV.": ("==", "=="), ".NEQV.": ("!=", "!=")}
INSTEAD = "Write arithmetic, comparisons, intrinsic functions, or calls of functions of the same file."


class Expressions(Evaluator):
    """Translates expressions; calls of the user's functions are left to `call`."""

    def __init__(self, scope: Scope, call: Callable[[Evaluator, Any, Any, list[Any]], Value] | None = None) -> None:
        super().__init__(scope)
        self._call = call
        # Named constants that are arrays, and their elements, for the routine to make.
        self.constant_arrays: dict[str, str] = {}

    def value(self, node: Any) -> Value:
        if isinstance(node, f03.Name):
            return self._name(node)
        if isinstance(node, f03.Parenthesis):
            inner = self.value(node.children[1])
            # An expression in parentheses is a value, never storage.
            return Value(inner.text, inner.kind, inner.rank, inner.number, inner.low, inner.base, inner.offset)
        if isinstance(node, f03.Intrinsic_Function_Reference):
            return self._reference(node)
        if isinstance(node, (f03.Part_Ref, f03.Function_Reference, f03.Structure_Constructor)):
            return self._reference(node)
        literal = self._literal(node)
        if literal is not None:
            return literal
        if isinstance(node, f03.Array_Constructor):
            return array_constructor(self, node)
        children: tuple[Any, ...] = getattr(node, "children", ())
        if len(children) == 2 and isinstance(children[0], str) and children[1] is not None:
            return self._unary(node, children[0].upper(), self.value(children[1]))
        if len(children) == 3 and isinstance(children[1], str):
            return self._binary(node, children[1].upper(), self.value(children[0]), self.value(children[2]))
        self.refuse(node, f"`{node}` is not supported", INSTEAD)

    def _literal(self, node: Any) -> Value | None:
        if isinstance(node, (f03.Int_Literal_Constant, f03.Signed_Int_Literal_Constant)):
            return integer_literal(node)
        if isinstance(node, (f03.Real_Literal_Constant, f03.Signed_Real_Literal_Constant)):
            return real_literal(self, node)
        if isinstance(node, f03.Logical_Literal_Constant):
            return logical_literal(node)
        return complex_literal(self, node) if isinstance(node, f03.Complex_Literal_Constant) else None

    # --- names

    def variable(self, node: Any) -> tuple[Scope, Variable]:
        """The variable of a name.

        Raises:
            UnsupportedProgram: there is none, or it is one of a module, which other routines may change.
        """
        name = name_of(node)
        found = self.scope.variable(name) or self._implicit(name, node)
        if found is None:
            self._refuse_name(name, node)
        scope, variable = found
        if scope is not self.scope and variable.value is None:
            what = f"`{name}` is a variable of a module, which other routines may change"
            self.refuse(node, what, "Pass it as an argument, or make it a parameter.")
        return found

    def _implicit(self, name: str, node: Any) -> tuple[Scope, Variable] | None:
        """A variable without a declaration, typed by its first letter."""
        if self.scope.implicit is None or self.scope.is_module or name in self.scope.hidden:
            return None
        self.scope.variables[name] = Variable(name, self.scope.implicit[name[0]], node)
        return self.scope, self.scope.variables[name]

    def _refuse_name(self, name: str, node: Any) -> NoReturn:
        if name in self.scope.hidden:
            what, todo = f"`{name}` is a variable of the routine around this one", "Pass it as an argument."
        else:
            what, todo = f"`{name}` is not declared", "Declare it, or pass all files that it may come from."
        self.refuse(node, what, todo)

    def _name(self, node: Any) -> Value:
        name = name_of(node)
        if self.scope.variable(name) is None and self.scope.procedure(name) is not None:
            self.refuse(node, f"the routine `{name}` as a value is not supported", "Call it by its name.")
        _, variable = self.variable(node)
        if variable.value is not None:
            return self._constant(self._named(variable, name), variable.value)
        is_integer = variable.kind.base == "integer" and not variable.rank
        low = self.lows.get(name) if is_integer else None
        return Value(variable.text, variable.kind, variable.rank, low=low, is_place=True)

    def _constant(self, variable: Variable, value: Value | None) -> Value:
        assert value is not None
        if not variable.rank:
            return value
        self.constant_arrays[variable.text] = value.text
        return Value(variable.text, variable.kind, variable.rank)

    def _named(self, variable: Variable, name: str) -> Variable:
        """A constant under the name that it has here, which `use` may have changed."""
        return variable if variable.name == name else replace(variable, name=name)

    def _reference(self, node: Any) -> Value:
        """What looks like a call: an element or section, an intrinsic function, or one of the user's."""
        name, arguments = name_of(node.children[0]), subscripts_of(node)
        found = self.scope.variable(name)
        if found is not None and found[1].rank:
            scope, variable = self.variable(node.children[0])
            if variable.value is not None:
                variable = self._named(variable, name)
                self._constant(variable, variable.value)
            return subscripted(self, node, scope, variable, arguments)
        routine = self.scope.procedure(name)
        if routine is not None and self._call is not None:
            return self._call(self, node, routine, arguments)
        if name in self.scope.hidden:
            self._refuse_name(name, node)
        if is_intrinsic(name):
            return intrinsic(self, node, name, arguments)
        what = f"`{name}` is no array, no intrinsic function that is supported, and no function of these files"
        self.refuse(node, what, "Write it with supported functions, or pass all files that it may come from.")

    # --- operators

    def _unary(self, node: Any, operator: str, x: Value) -> Value:
        if operator == ".NOT.":
            self._require(node, x, "logical")
            text = f"(~{x.text})" if x.rank else f"(not {x.text})"
            return _result(text, LOGICAL, x)
        if operator == "+":
            return x
        if operator != "-":
            self.refuse(node, f"the operator `{operator}` is not supported", INSTEAD)
        self._require(node, x, "number")
        return constant(-x.number, x.kind) if x.number is not None else _result(f"(-{x.text})", x.kind, x)

    def _binary(self, node: Any, operator: str, x: Value, y: Value) -> Value:
        if x.rank and y.rank and x.rank != y.rank:
            what = f"`{node}` joins {described(x)} and {described(y)}"
            self.refuse(node, what, "Write arrays of the same shape, or numbers.")
        if operator in LOGICALS:
            return self._logical(node, operator, x, y)
        if operator not in COMPARISONS and operator not in ("+", "-", "*", "/", "**"):
            self.refuse(node, f"the operator `{operator}` is not supported", INSTEAD)
        for one in (x, y):
            self._require(node, one, "number")
        if operator in COMPARISONS:
            a, b = _matched(x, y)
            return _result(f"({a.text} {COMPARISONS[operator]} {b.text})", LOGICAL, x, y)
        if x.kind.base == y.kind.base == "integer":
            return self._integers(node, operator, x, y)
        if operator == "**":
            return _power(x, y)
        a, b = _matched(x, y)
        return _result(f"({a.text} {operator} {b.text})", joined(x.kind, y.kind), x, y)

    def _logical(self, node: Any, operator: str, x: Value, y: Value) -> Value:
        for one in (x, y):
            self._require(node, one, "logical")
        symbol = LOGICALS[operator][bool(x.rank or y.rank)]
        return _result(f"({x.text} {symbol} {y.text})", LOGICAL, x, y)

    def _integers(self, node: Any, operator: str, x: Value, y: Value) -> Value:
        if operator == "/":
            return quotient(self, node, x, y)
        if operator == "**":
            return power_of_integers(self, node, x, y)
        if not (x.rank or y.rank) and operator in "+-":
            return plus(x, y) if operator == "+" else minus(x, y)
        if x.number is not None and y.number is not None:
            return constant(x.number * y.number, INTEGER)
        known = operator == "*" and x.low is not None and y.low is not None and min(x.low, y.low) >= 0
        low = x.low * y.low if known and x.low is not None and y.low is not None else None
        return Value(f"({x.text} {operator} {y.text})", INTEGER, max(x.rank, y.rank), low=low)

    def _require(self, node: Any, value: Value, what: str) -> None:
        fits = value.kind.base == "logical" if what == "logical" else value.kind.base in ("integer", "real", "complex")
        if not fits:
            self.refuse(node, f"`{node}` needs a {what} where there is {described(value)}", f"Write a {what}.")


def _matched(x: Value, y: Value) -> tuple[Value, Value]:
    """Two numbers in texts that NumPy joins in the kind that Fortran joins them in."""
    kind = joined(x.kind, y.kind)
    a, b = _operand(x, kind), _operand(y, kind)
    if a.number is not None and b.number is not None:
        return strong(a), strong(b)
    return a, b


def _operand(x: Value, kind: Kind) -> Value:
    """A number in the kind in which it is joined with another one; integers meet double precision as they are."""
    if x.kind.base == kind.base == "integer" or (x.kind.base == "integer" and kind == DOUBLE and x.number is None):
        return x
    return as_kind(x, kind)


def _power(x: Value, y: Value) -> Value:
    kind = joined(x.kind, y.kind)
    # Whole exponents stay so: a power of a negative number has one.
    base = _operand(x, kind)
    exponent = y if y.kind.base == "integer" else _operand(y, kind)
    if base.number is not None and (exponent.kind.base != "integer" or exponent.number is None or kind == REAL):
        base = strong(base)
    if kind == REAL and exponent.kind.base == "integer" and exponent.number is None:
        # NumPy's integers are wider than single precision.
        return as_kind(Value(f"({base.text} ** {exponent.text})", DOUBLE, max(x.rank, y.rank)), REAL)
    return _result(f"({base.text} ** {exponent.text})", kind, x, y)


def _result(text: str, kind: Kind, *operands: Value) -> Value:
    """A value; the number itself where all operands are numbers."""
    value = Value(text, kind, max(one.rank for one in operands))
    return folded(plain(value), value) if all(one.number is not None for one in operands) else value
