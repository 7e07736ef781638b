"""Expressions: names, literals and operators, with the kinds that Fortran gives to what they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.arrays import minus, plus, subscripted
from sdfgad.fortran.callees import callee, is_bound
from sdfgad.fortran.constructors import array_constructor
from sdfgad.fortran.designators import REFERENCES, Designator, base_name, designated
from sdfgad.fortran.evaluator import Evaluator, described
from sdfgad.fortran.integers import power_of_integers, quotient
from sdfgad.fortran.intrinsics import intrinsic, is_intrinsic
from sdfgad.fortran.kinds import DOUBLE, INTEGER, LOGICAL, REAL, Kind, joined
from sdfgad.fortran.literals import complex_literal, integer_literal, logical_literal, real_literal
from sdfgad.fortran.scope import Scope, Variable
from sdfgad.fortran.sharing import Shared
from sdfgad.fortran.syntax import listed, name_of
from sdfgad.fortran.values import Value, as_kind, constant, folded, plain, strong

COMPARISONS = {
    ".EQ.": "==", ".NE.": "!=", "/=": "!=", ".LT.": "<", ".LE.": "<=", ".GT.": ">", ".GE.": ">=",
    "==": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
}  # fmt: skip
LOGICALS = {".AND.": ("and", "&"), ".OR.": ("or", "|"), ".EQV.": ("==", "=="), ".NEQV.": ("!=", "!=")}
INSTEAD = "Write arithmetic, comparisons, intrinsic functions, or calls of functions of the same file."


class Expressions(Evaluator):
    """Translates expressions; calls of the user's functions are left to `call`."""

    def __init__(
        self,
        scope: Scope,
        call: Callable[[Expressions, Any, Any, list[Any]], Value] | None = None,
        shared: Shared | None = None,
    ) -> None:
        super().__init__(scope)
        self._call, self.shared = call, shared
        # Named constants that are arrays, and their elements, for the routine to make.
        self.constant_arrays: dict[str, str] = {}
        # Translates a routine that is called.
        self.called: Callable[[Any, Any], None] = lambda node, routine: None

    @contextmanager
    def ahead(self) -> Iterator[list[str]]:
        """A statement before which calls of functions that change something may be written."""
        self.before = []
        yield self.before
        self.before = None

    def within(self, home: Scope | None) -> Expressions:
        if home is None or home is self.scope:
            return self
        other = Expressions(home, self._call, self.shared)
        other.constant_arrays, other.before, other.called = self.constant_arrays, self.before, self.called
        return other

    def bounded_by(self, value: Value) -> None:
        if self.shared is not None:
            self.shared.bounded_by(value.text)

    def value(self, node: Any) -> Value:
        found = None if is_bound(self, node) else designated(self, node)
        if found is not None:
            return self.of(node, found)
        if isinstance(node, f03.Parenthesis):
            inner = self.value(node.children[1])
            # An expression in parentheses is a value, never storage.
            return Value(inner.text, inner.kind, inner.rank, inner.number, inner.low, inner.base, inner.offset,
                         root=inner.root)  # fmt: skip
        if isinstance(node, (*REFERENCES, f03.Data_Ref)):
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

    def variable(self, node: Any) -> Variable:
        """The variable of a name, as it is declared.

        Raises:
            UnsupportedProgram: there is none.
        """
        name = name_of(node)
        found = self.scope.variable(name)
        if found is not None:
            return found[1]
        if self.scope.procedure(name) is not None:
            self.refuse(node, f"the routine `{name}` as a value is not supported", "Call it by its name.")
        if self.scope.implicit is None or self.scope.is_module:
            todo = "Declare it, or pass all files that it may come from."
            self.refuse(node, f"`{name}` is not declared", todo)
        # A variable without a declaration, typed by its first letter.
        scope = self.scope if self.shared is None else self.shared.scope
        if scope.around is not None and name in scope.around.mentioned:
            # It is one of the routine around, which has no declaration of it, either.
            scope = scope.around
        scope.variables[name] = Variable(name, self.scope.implicit[name[0]], node, scope=scope)
        return scope.variables[name]

    def used(self, node: Any, variable: Variable) -> Variable:
        """A number or array as it is in the text.

        Raises:
            UnsupportedProgram: it is a variable of something else, where only constants are known.
        """
        if self.shared is not None:
            return self.shared.used(variable)
        if variable.scope is not self.scope or variable.is_kept:
            self.refuse(node, f"`{variable.name}` is no constant", "Make it a parameter.")
        return variable

    def shared_with(self, variable: Variable) -> Variable:
        """What a routine that is called from here uses of what is around it, as it is in this text."""
        assert self.shared is not None
        return self.shared.used(variable)

    def of(self, node: Any, found: Designator) -> Value:
        """The value of what a node designates."""
        variable, subscripts = found.variable, found.subscripts
        if variable.type_of is not None:
            self.refuse(node, f"`{node}` of a derived type is not supported here", "Write its components.")
        if variable.value is not None:
            if subscripts is None and not variable.rank:
                return variable.value
            variable = self._constant(node, variable)
        else:
            variable = self.used(node, variable)
        if subscripts is not None:
            value = subscripted(self, node, variable, subscripts)
            # A component of an element is a whole array, too.
            is_whole = value.rank > 0 and all(one is None for one in subscripts[: value.rank])
            return replace(value, root=variable, dims=variable.dims[: value.rank] if is_whole else ())
        is_integer = variable.kind.base == "integer" and not variable.rank
        low = self.lows.get(variable.text) if is_integer else None
        is_place = variable.value is None
        return Value(variable.text, variable.kind, variable.rank, low=low, is_place=is_place, variable=variable,
                     root=variable, dims=variable.dims)  # fmt: skip

    def _constant(self, node: Any, variable: Variable) -> Variable:
        """An array that is constant, under the name that it has here, which `use` may have changed."""
        text = "" if variable.value is None else variable.value.text
        named = variable if "%" in variable.name else replace(variable, name=base_name(node))
        if self.constant_arrays.setdefault(named.text, text) != text:
            named = replace(named, label=f"__{named.text}_of_{'' if named.scope is None else named.scope.name}")
            self.constant_arrays[named.text] = text
        return named

    def _reference(self, node: Any) -> Value:
        """What looks like a call: an intrinsic function, or one of the user's."""
        formula = self.scope.formula(name_of(node.children[0]))
        if formula is not None:
            return self._formula(node, *formula)
        name, routine, arguments = callee(self, node)
        if routine is not None and is_intrinsic(name) and routine.host is not None and not routine.host.name:
            self.refuse(node, f"`{name}` is an intrinsic function, and a routine of these files", "Rename the routine.")
        if routine is not None and self._call is not None:
            self.called(node, routine)
            return self._call(self, node, routine, arguments)
        if is_intrinsic(name):
            return intrinsic(self, node, name, arguments)
        what = f"`{name}` is no array, no intrinsic function that is supported, and no function of these files"
        self.refuse(node, what, "Write it with supported functions, or pass all files that it may come from.")

    def _formula(self, node: Any, home: Scope, formula: tuple[list[str], Any]) -> Value:
        """The value of a statement function: its expression, with what is passed for its arguments."""
        names, expression = formula
        outer, inner = self.scope, home.inside()
        for name, actual in zip(names, listed(node.children[1]), strict=True):
            value = as_kind(self.value(actual), self.within(home).variable(name).kind)
            one = Variable(name, value.kind, node, scope=None if self.shared is None else self.shared.scope,
                           label=strong(value).text)  # fmt: skip
            one.value = value if value.number is not None else None
            inner.variables[name] = one
        self.scope = inner
        result = as_kind(self.value(expression), self.variable(node.children[0]).kind)
        self.scope = outer
        return Value(result.text, result.kind, result.rank, result.number)

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
