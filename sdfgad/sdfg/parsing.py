"""Parser for tasklet code, conditions and bounds, from Python text to expressions.

A dtype that the text does not state is inferred from the operands; conversions that NumPy would make are explicit in
the text, so that operands agree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, postorder
from sdfgad.ir.ops import OPERATIONS
from sdfgad.sdfg.functions import operation_called
from sdfgad.sdfg.operations import FLOAT, alike, applied, converted, linear, operation, power, truth
from sdfgad.sdfg.tasklet import FUNCTION

BINARY: dict[type[Any], str] = {
    **{ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide"},
    **{ast.Mod: "remainder", ast.Pow: "power", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or"},
    **{ast.BitXor: "bitwise_xor", ast.LShift: "left_shift", ast.RShift: "right_shift"},
}
UNARY: dict[type[Any], str] = {ast.USub: "negative", ast.Not: "logical_not", ast.Invert: "invert"}
COMPARISONS: dict[type[Any], str] = {
    **{ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal"},
    **{ast.Gt: "greater", ast.GtE: "greater_equal"},
}
LOGIC: dict[type[Any], str] = {ast.And: "logical_and", ast.Or: "logical_or"}
TYPES = (
    *("bool", "float32", "float64", "complex64", "complex128"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
# What DaCe and SymPy call operations on integers.
CALLS = {"int_floor": "floor_divide", "Mod": "remainder"}
EXTREMA = {"min": "minimum", "Min": "minimum", "max": "maximum", "Max": "maximum"}
DTYPES = {f"dace.{name}{'_' * (name == 'bool')}": np.dtype(name) for name in TYPES} | {"double": FLOAT}

# What Python has no literals of.
NUMBERS = {FUNCTION.format(name): Const(float(name), FLOAT) for name in ("inf", "nan")}

ASSIGN = "Write assignments of expressions to names, with `if` and `else` if need be."

# In the value of a name that is not assigned in every case: what it was before.
KEPT = Const("kept", np.dtype("U4"))
Lookup = Callable[[str, "tuple[Lin, ...] | None"], "Expr | None"]


@dataclass(frozen=True)
class TaskletParser:
    """Parses Python text into expressions.

    Attributes:
        lookup: the expression that a name with these indices, or without any, reads; None if it is a symbol.
        is_foreign: whether it is a tasklet of others, in which C++ divides.
    """

    lookup: Lookup
    is_foreign: bool = False

    def tasklet(self, code: Sequence[ast.stmt]) -> dict[str, Expr]:
        """The values of all names that a tasklet assigns.

        Raises:
            UnsupportedGraph: the code has something else than assignments of expressions to names.
        """
        known: dict[str, Expr] = {}
        for statement in code:
            self._statement(statement, known)
        return known

    def _statement(self, statement: ast.stmt, known: dict[str, Expr]) -> None:
        """Notes what a statement assigns."""
        if isinstance(statement, ast.If) and self.is_foreign:
            self._branch(statement, known)
            return
        if isinstance(statement, ast.AugAssign) and getattr(statement.target, "id", None) in known:
            assert isinstance(statement.target, ast.Name)
            value: ast.expr = ast.BinOp(ast.Name(statement.target.id), statement.op, statement.value)
            statement = ast.Assign([statement.target], value)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise UnsupportedGraph(f"the statement `{ast.unparse(statement)}`", todo=ASSIGN)
        (target,) = statement.targets
        if not isinstance(target, ast.Name):
            raise UnsupportedGraph(f"the assignment to `{ast.unparse(target)}`", todo=ASSIGN)
        known[target.id] = self.expression(statement.value, known)

    def _branch(self, statement: ast.If, known: dict[str, Expr]) -> None:
        """What both sides of a choice assign, or one of them anew, has the value of the side that is taken."""
        condition = truth(self.expression(statement.test, known))
        sides = []
        for block in (statement.body, statement.orelse):
            after = dict(known)
            for inner in block:
                self._statement(inner, after)
            sides.append(after)
        names = [name for side in sides for name in side if side[name] is not known.get(name)]
        for name in dict.fromkeys(names):
            first, second = (side.get(name, KEPT) for side in sides)
            if is_partial(first) or is_partial(second):
                dtype = second.dtype if first is KEPT else first.dtype
                known[name] = Op("select", (condition, first, second), dtype)
            else:
                known[name] = operation("select", condition, *alike(first, second))

    def text(self, text: str) -> Expr:
        return self.expression(ast.parse(text.strip(), mode="eval").body, {})

    def expression(self, node: ast.expr, known: dict[str, Expr]) -> Expr:
        if isinstance(node, ast.Constant) and isinstance(node.value, complex) and self.is_foreign:
            return Const(node.value, np.dtype(np.complex128))
        if isinstance(node, ast.Constant):
            return _constant(node.value)
        if isinstance(node, ast.Name) and node.id in known and is_partial(known[node.id]):
            what = f"`{node.id}` is assigned on one side of an `if` only, and used after it"
            raise UnsupportedGraph(what, todo="Assign it on both sides, or before.")
        if isinstance(node, ast.Name):
            return known.get(node.id) or self.lookup(node.id, None) or Int(Lin.symbol(node.id))
        if isinstance(node, ast.Subscript):
            return self._subscript(node, known)
        if isinstance(node, ast.IfExp):
            sides = alike(self.expression(node.body, known), self.expression(node.orelse, known))
            return operation("select", truth(self.expression(node.test, known)), *sides)
        if isinstance(node, ast.Call):
            return self._call(node, known)
        return self._operator(node, known)

    def _operator(self, node: ast.expr, known: dict[str, Expr]) -> Expr:
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            args = self.expression(node.left, known), self.expression(node.right, known)
            if isinstance(node.op, ast.Pow):
                return power(*args)
            operands = alike(*args)
            self._refuse_rounding(node, operands[0].dtype)
            return operation(BINARY[type(node.op)], *operands)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
            return self.expression(node.operand, known)
        if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
            if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
                # The smallest integer is the opposite of none.
                return _constant(ast.literal_eval(node))
            arg = self.expression(node.operand, known)
            if isinstance(node.op, ast.USub) and isinstance(arg, Const) and arg.dtype == FLOAT:
                return Const(-arg.value, FLOAT)
            return operation(UNARY[type(node.op)], arg)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            args = self.expression(node.left, known), self.expression(node.comparators[0], known)
            return operation(COMPARISONS[type(node.ops[0])], *alike(*args))
        if isinstance(node, ast.BoolOp):
            first, *rest = (self.expression(value, known) for value in node.values)
            for value in rest:
                first = operation(LOGIC[type(node.op)], first, value)
            return first
        raise UnsupportedGraph(f"the expression `{ast.unparse(node)}`")

    def _refuse_rounding(self, node: ast.BinOp, dtype: np.dtype[Any]) -> None:
        """Raises: UnsupportedGraph, where C++ and Python divide integers in different ways."""
        if not self.is_foreign or dtype.kind not in "biu":
            return
        if isinstance(node.op, ast.Div):
            what = f"`{ast.unparse(node)}` divides integers, of which C++ drops the fraction"
            raise UnsupportedGraph(what, todo="Convert one to a float, `dace.float64(a) / b`, or write `a // b`.")
        if isinstance(node.op, ast.Mod):
            what = f"`{ast.unparse(node)}` is a remainder of integers, which C++ gives the sign of the first one"
            raise UnsupportedGraph(what, todo="Write `PyMod(a, b)`, which has the sign of the second one.")

    def _subscript(self, node: ast.Subscript, known: dict[str, Expr]) -> Expr:
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = tuple(linear(self.expression(entry, known)) for entry in entries)
        found = self.lookup(node.value.id, index) if isinstance(node.value, ast.Name) else None
        if found is None:
            raise UnsupportedGraph(f"the element `{ast.unparse(node)}`")
        return found

    def _call(self, node: ast.Call, known: dict[str, Expr]) -> Expr:
        if node.keywords:
            raise UnsupportedGraph(f"the expression `{ast.unparse(node)}`")
        args = [self.expression(arg, known) for arg in node.args]
        function = ast.unparse(node.func)
        if function in NUMBERS and not args:
            return NUMBERS[function]
        if function in EXTREMA and args:
            first, *rest = args
            for arg in rest:
                first = operation(EXTREMA[function], *alike(first, arg))
            return first
        value = _number(DTYPES[function], args) if function in DTYPES else None
        if value is not None:
            return value
        called = operation_called(function) if self.is_foreign and function not in CALLS else None
        if called is not None and len(args) == OPERATIONS[called].arity:
            return applied(called, args)
        name = CALLS.get(function, function.removeprefix(FUNCTION.format("")))
        found = OPERATIONS.get(name)
        if name == function or found is None or not found.cpp or len(args) != found.arity:
            what = f"the function `{function}` of {len(args)} values"
            raise UnsupportedGraph(what, todo="Use functions of `math` or NumPy that take numbers.")
        return operation(name, *args)


def is_partial(value: Expr) -> bool:
    """Whether a value is that of a name which is not assigned in every case."""
    return any(node is KEPT for node in postorder(value))


def filled(value: Expr, before: Expr) -> Expr:
    """Such a value, in the dtype of what was there before."""
    if value is KEPT:
        return before
    if isinstance(value, Op) and value.name == "select" and is_partial(value):
        condition, first, second = value.args
        return Op("select", (condition, filled(first, before), filled(second, before)), before.dtype)
    return converted(value, before.dtype)


def _constant(value: Any) -> Expr:
    if isinstance(value, bool):
        return Const(value, BOOL)
    if isinstance(value, int):
        return Const(value, INT if value < 1 << 63 else np.dtype(np.uint64))
    if isinstance(value, float):
        return Const(value, FLOAT)
    raise UnsupportedGraph(f"the constant `{value!r}`")


def _number(dtype: np.dtype[Any], args: list[Expr]) -> Expr | None:
    """What a call of a dtype is: a conversion, or a complex number."""
    if len(args) == 2 and all(isinstance(arg, Const) for arg in args):
        real, imaginary = (arg.value for arg in args if isinstance(arg, Const))
        return Const(complex(real, imaginary), dtype)
    return converted(args[0], dtype) if len(args) == 1 else None
