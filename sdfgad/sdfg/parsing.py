"""Parser for tasklet code, conditions and bounds, from Python text to expressions.

A dtype that the text does not state is inferred from the operands; conversions that NumPy would make are explicit in
the text, so that operands agree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op
from sdfgad.ir.ops import OPERATIONS, Result
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
DTYPES = {f"dace.{name}{'_' * (name == 'bool')}": np.dtype(name) for name in TYPES}

FLOAT = np.dtype(np.float64)
# What Python has no literals of.
NUMBERS = {FUNCTION.format(name): Const(float(name), FLOAT) for name in ("inf", "nan")}

Lookup = Callable[[str, "tuple[Lin, ...] | None"], "Expr | None"]


@dataclass(frozen=True)
class TaskletParser:
    """Parses Python text into expressions.

    Attributes:
        lookup: the expression that a name with these indices, or without any, reads; None if it is a symbol.
    """

    lookup: Lookup

    def tasklet(self, code: Sequence[ast.stmt]) -> dict[str, Expr]:
        """The values of all names that a tasklet assigns.

        Raises:
            UnsupportedGraph: the code has something else than assignments of expressions to names.
        """
        known: dict[str, Expr] = {}
        for statement in code:
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                raise UnsupportedGraph(f"the statement `{ast.unparse(statement)}`")
            (target,) = statement.targets
            if not isinstance(target, ast.Name):
                raise UnsupportedGraph(f"the assignment to `{ast.unparse(target)}`")
            known[target.id] = self.expression(statement.value, known)
        return known

    def text(self, text: str) -> Expr:
        return self.expression(ast.parse(text.strip(), mode="eval").body, {})

    def expression(self, node: ast.expr, known: dict[str, Expr]) -> Expr:
        if isinstance(node, ast.Constant):
            return _constant(node.value)
        if isinstance(node, ast.Name):
            return known.get(node.id) or self.lookup(node.id, None) or Int(Lin.symbol(node.id))
        if isinstance(node, ast.Subscript):
            return self._subscript(node, known)
        if isinstance(node, ast.IfExp):
            return operation("select", *(self.expression(n, known) for n in (node.test, node.body, node.orelse)))
        if isinstance(node, ast.Call):
            return self._call(node, known)
        return self._operator(node, known)

    def _operator(self, node: ast.expr, known: dict[str, Expr]) -> Expr:
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            args = self.expression(node.left, known), self.expression(node.right, known)
            return operation(BINARY[type(node.op)], *_alike(*args))
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
            return operation(COMPARISONS[type(node.ops[0])], *_alike(*args))
        if isinstance(node, ast.BoolOp):
            first, *rest = (self.expression(value, known) for value in node.values)
            for value in rest:
                first = operation(LOGIC[type(node.op)], first, value)
            return first
        raise UnsupportedGraph(f"the expression `{ast.unparse(node)}`")

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
                first = operation(EXTREMA[function], *_alike(first, arg))
            return first
        value = _number(DTYPES[function], args) if function in DTYPES else None
        if value is not None:
            return value
        name = CALLS.get(function, function.removeprefix(FUNCTION.format("")))
        found = OPERATIONS.get(name)
        if name == function or found is None or not found.cpp or len(args) != found.arity:
            raise UnsupportedGraph(f"the function `{function}` of {len(args)} values")
        return operation(name, *args)


def operation(name: str, *args: Expr) -> Expr:
    """The expression for an operation; one on integers that is linear in symbols is an integer form."""
    if all(isinstance(arg, (Int, Const)) and arg.dtype == INT for arg in args):
        found = _linear_operation(name, [linear(arg) for arg in args])
        if found is not None:
            return Const(found.const, INT) if found.is_const else Int(found)
    return Op(name, args, result_dtype(name, args))


def result_dtype(name: str, args: Sequence[Expr]) -> np.dtype[Any]:
    """The dtype of an operation's result, for operands of the dtypes that its C++ takes."""
    result, dtype = OPERATIONS[name].result, args[0].dtype
    if result is Result.TRUTH:
        return BOOL
    if result is Result.CHOSEN:
        return args[1].dtype
    if result is Result.PART and dtype.kind == "c":
        return np.empty(0, dtype).real.dtype
    if result is Result.COMPLEX:
        return np.result_type(dtype, np.complex64)
    return dtype


def linear(value: Expr) -> Lin:
    """An expression as an integer form, with its nonlinear parts as atoms."""
    if isinstance(value, Int):
        return value.value
    if isinstance(value, Const):
        return Lin(int(value.value))
    if isinstance(value, Op) and value.dtype == INT:
        found = _linear_operation(value.name, [linear(arg) for arg in value.args])
        if found is not None:
            return found
    return Lin.symbol(value)


def _linear_operation(name: str, args: list[Lin]) -> Lin | None:
    if name == "negative":
        return -args[0]
    if name == "add":
        return args[0] + args[1]
    if name == "subtract":
        return args[0] - args[1]
    if name == "multiply" and any(arg.is_const for arg in args):
        factor, form = args if args[0].is_const else args[::-1]
        return form.scaled(factor.const)
    return None


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


def _alike(*args: Expr) -> tuple[Expr, ...]:
    """Operands as NumPy converts them; the writer's agree already. Numbers in the text give way to other dtypes, if
    these hold them; symbols are of 64 bits."""
    if len({arg.dtype for arg in args}) == 1:
        return args
    kinds = [arg.dtype for arg in args if not (isinstance(arg, (Const, Int)) and arg.dtype == INT)]
    dtype = np.result_type(*kinds)
    if dtype.kind in "biu" and not all(_holds(dtype, arg) for arg in args):
        dtype = np.result_type(dtype, INT)
    return tuple(converted(arg, dtype) for arg in args)


def _holds(dtype: np.dtype[Any], arg: Expr) -> bool:
    """Whether an integer dtype holds what an operand may be."""
    if arg.dtype != INT or dtype == INT:
        return True
    is_number = isinstance(arg, Const) and dtype.kind != "b"
    return is_number and np.iinfo(dtype).min <= arg.value <= np.iinfo(dtype).max  # type: ignore[attr-defined]


def converted(arg: Expr, dtype: np.dtype[Any]) -> Expr:
    """An expression converted to a dtype; a constant stays a constant."""
    if arg.dtype == dtype:
        return arg
    if isinstance(arg, Const):
        # What the dtype cannot hold is converted where the program runs.
        with suppress(OverflowError, ValueError), np.errstate(all="ignore"):
            return Const(dtype.type(arg.value).item(), dtype)
    return Op("cast", (arg,), dtype)
