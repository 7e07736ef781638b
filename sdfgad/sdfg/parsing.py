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
from sdfgad.sdfg.functions import ON_INTEGERS, operation_called
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

ASSIGN = "Write assignments of expressions to names, with `if` and `else` if need be."

# The value of a name that only one side of a choice assigns.
ONE_SIDED = Const("one side", np.dtype("U8"))
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
        return {name: value for name, value in known.items() if value is not ONE_SIDED}

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
            if not all(side.get(name, ONE_SIDED) is not ONE_SIDED for side in sides):
                known[name] = ONE_SIDED
                continue
            known[name] = operation("select", condition, *_alike(*(side[name] for side in sides)))

    def text(self, text: str) -> Expr:
        return self.expression(ast.parse(text.strip(), mode="eval").body, {})

    def expression(self, node: ast.expr, known: dict[str, Expr]) -> Expr:
        if isinstance(node, ast.Constant) and isinstance(node.value, complex) and self.is_foreign:
            return Const(node.value, np.dtype(np.complex128))
        if isinstance(node, ast.Constant):
            return _constant(node.value)
        if isinstance(node, ast.Name) and known.get(node.id) is ONE_SIDED:
            what = f"`{node.id}` is assigned on one side of an `if` only, and used after it"
            raise UnsupportedGraph(what, todo="Assign it on both sides, or before.")
        if isinstance(node, ast.Name):
            return known.get(node.id) or self.lookup(node.id, None) or Int(Lin.symbol(node.id))
        if isinstance(node, ast.Subscript):
            return self._subscript(node, known)
        if isinstance(node, ast.IfExp):
            sides = _alike(self.expression(node.body, known), self.expression(node.orelse, known))
            return operation("select", truth(self.expression(node.test, known)), *sides)
        if isinstance(node, ast.Call):
            return self._call(node, known)
        return self._operator(node, known)

    def _operator(self, node: ast.expr, known: dict[str, Expr]) -> Expr:
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            args = self.expression(node.left, known), self.expression(node.right, known)
            if isinstance(node.op, ast.Pow):
                return power(*args)
            alike = _alike(*args)
            self._refuse_rounding(node, alike[0].dtype)
            return operation(BINARY[type(node.op)], *alike)
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
            return operation(COMPARISONS[type(node.ops[0])], *_alike(*args))
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
                first = operation(EXTREMA[function], *_alike(first, arg))
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


def applied(name: str, args: list[Expr]) -> Expr:
    """An operation that a function of `math` or NumPy is: on operands of one dtype, floats where it has to be."""
    alike = _alike(*args)
    if alike[0].dtype.kind in "biu" and name not in ON_INTEGERS:
        alike = tuple(converted(arg, FLOAT) for arg in alike)
    return operation(name, *alike)


def power(base: Expr, exponent: Expr) -> Expr:
    """``base ** exponent``; small constant exponents are products and roots, as NumPy has them.

    Raises:
        UnsupportedGraph: of integers, with an exponent that is not certainly positive.
    """
    is_number = isinstance(exponent, Const) and exponent.dtype.kind in "if"
    if base.dtype.kind in "fc" and is_number:
        short = SHORT_POWERS.get(float(exponent.value))  # type: ignore[attr-defined]
        if short is not None:
            return short(base)
    alike = _alike(base, exponent)
    if alike[0].dtype.kind in "biu" and not (is_number and exponent.value >= 0):  # type: ignore[attr-defined]
        raise UnsupportedGraph("an integer to a power that may be negative", todo="Convert it to a float before.")
    return operation("power", *alike)


SHORT_POWERS: dict[float, Callable[[Expr], Expr]] = {
    1.0: lambda x: x,
    2.0: lambda x: operation("square", x),
    3.0: lambda x: operation("multiply", operation("square", x), x),
    4.0: lambda x: operation("square", operation("square", x)),
    0.5: lambda x: operation("sqrt", x),
    -1.0: lambda x: operation("reciprocal", x),
}


def truth(value: Expr) -> Expr:
    """A number as a condition."""
    if value.dtype == BOOL:
        return value
    return operation("not_equal", value, Const(0, value.dtype))


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
