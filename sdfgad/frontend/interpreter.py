"""Runs a function's syntax tree on abstract values, and so emits its program.

What is known while parsing is computed by Python itself; what is not becomes tensors and statements. Helpers are
run in frames of their own, which inlines them.
"""

from __future__ import annotations

import ast
import builtins
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.errors import Location, UnboundVariable, UnsupportedProgram
from sdfgad.frontend import conditions, control, loops
from sdfgad.frontend.builder import Builder
from sdfgad.frontend.conditions import logical, truth
from sdfgad.frontend.functions.contraction import matmul
from sdfgad.frontend.functions.elementwise import elementwise, power, where
from sdfgad.frontend.indexing import getitem, is_mask, setitem
from sdfgad.frontend.merging import bound_value
from sdfgad.frontend.registry import ATTRIBUTES, FUNCTIONS, METHODS
from sdfgad.frontend.source import Source, read_source
from sdfgad.frontend.values import Tensor, is_integer, is_static
from sdfgad.ir.expr import BOOL, INT, Int, Op, symbols_of
from sdfgad.ir.linear import Lin, as_linear
from sdfgad.ir.specialise import NeedsConstant

BINARY: dict[type[ast.operator], tuple[Callable[[Any, Any], Any], str]] = {
    ast.Add: (operator.add, "add"),
    ast.Sub: (operator.sub, "subtract"),
    ast.Mult: (operator.mul, "multiply"),
    ast.Div: (operator.truediv, "divide"),
    ast.FloorDiv: (operator.floordiv, "floor_divide"),
    ast.Mod: (operator.mod, "remainder"),
    ast.Pow: (operator.pow, "power"),
    ast.MatMult: (operator.matmul, "matmul"),
    ast.BitAnd: (operator.and_, "bitwise_and"),
    ast.BitOr: (operator.or_, "bitwise_or"),
    ast.BitXor: (operator.xor, "bitwise_xor"),
}
COMPARE: dict[type[ast.cmpop], tuple[Callable[[Any, Any], Any], str]] = {
    ast.Eq: (operator.eq, "equal"),
    ast.NotEq: (operator.ne, "not_equal"),
    ast.Lt: (operator.lt, "less"),
    ast.LtE: (operator.le, "less_equal"),
    ast.Gt: (operator.gt, "greater"),
    ast.GtE: (operator.ge, "greater_equal"),
}
IDENTITY: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y,
}
UNARY: dict[type[ast.unaryop], tuple[Callable[[Any], Any], str]] = {
    ast.USub: (operator.neg, "negative"),
    ast.UAdd: (operator.pos, "positive"),
    ast.Invert: (operator.inv, "invert"),
}


class Frame:
    """One call of one function: its source and its local names."""

    def __init__(self, b: Builder, source: Source, env: dict[str, Any], depth: int = 0) -> None:
        self.b, self.source, self.env, self.depth = b, source, env, depth
        self.loops: list[ast.For] = []
        # Buffers that a caller, too, may refer to.
        self.known = frozenset(b.buffers)

    def run(self) -> Any:
        """The function's return value; None where it returns nothing."""
        return next((result.value for result in [self.block(self.source.body)] if result is not None), None)

    # --- statements

    def block(self, statements: list[ast.stmt]) -> control.Return | None:
        for statement in statements:
            self.b.where = self.source.where(statement)
            result = self.statement(statement)
            if result is not None:
                return result
        return None

    def statement(self, node: ast.stmt) -> control.Return | None:
        handler = getattr(self, f"do_{type(node).__name__}", None)
        if handler is None:
            raise self.unsupported(node, f"`{_keyword(node)}` is not supported")
        result: control.Return | None = handler(node)
        return result

    def do_Return(self, node: ast.Return) -> control.Return:
        return control.Return(None if node.value is None else self.b.settle(self.eval(node.value)), self.b.where)

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.eval(node.value)

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Assert(self, node: ast.Assert) -> None:
        pass

    def do_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = __import__(alias.name)
            self.env[alias.asname or alias.name.partition(".")[0]] = module

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        if len(node.targets) > 1:
            value = self.b.settle(value)
        for target in node.targets:
            self.bind(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.eval(node.value))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            old, value = self.eval_all([_loaded(node.target), node.value])
            result = self.binary(type(node.op), old, value)
            if isinstance(old, Tensor) and (old.place is not None or old.ndim):
                setitem(self.b, old, Ellipsis, result)
            else:
                self.bind(node.target, result)
            return
        if not isinstance(node.target, ast.Subscript):
            raise self.unsupported(node, "this assignment target is not supported")
        container, index = self.eval_all([node.target.value, node.target.slice])
        if is_mask(index):
            chosen = self.binary(type(node.op), container, self.eval(node.value))
            setitem(self.b, container, Ellipsis, where(self.b, index, chosen, container))
            return
        old = self.item(container, index)
        if self.calls_user_function(node.value):
            old = self.b.settle(old)
        self.store(container, index, self.binary(type(node.op), old, self.eval(node.value)))

    def do_If(self, node: ast.If) -> control.Return | None:
        return control.branch(self, node)

    def do_For(self, node: ast.For) -> control.Return | None:
        return loops.for_loop(self, node)

    # --- binding

    def bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = self.b.settle(value, target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self.store(self.eval(target.value), self.eval(target.slice), value)
        else:
            raise self.unsupported(target, "this assignment target is not supported")

    def unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        parts = list(value) if isinstance(value, (tuple, list)) else self.rows(value)
        if len(parts) != len(target.elts):
            raise self.unsupported(target, f"{len(parts)} values for {len(target.elts)} names")
        # All values exist before any name is bound: a, b = b, a + b.
        parts = [self.b.settle(part) for part in parts]
        for name, part in zip(target.elts, parts, strict=True):
            self.bind(name, part)

    def rows(self, value: Any) -> list[Any]:
        if not isinstance(value, Tensor) or value.ndim == 0:
            raise self.b.unsupported(f"cannot unpack {value!r}")
        return [getitem(self.b, value, k) for k in range(self.b.constant(value.shape[0]))]

    def store(self, container: Any, index: Any, value: Any) -> None:
        if isinstance(container, Tensor):
            setitem(self.b, container, index, value)
        elif isinstance(container, (list, dict)) and is_static(index):
            self.require_current(container)
            container[index] = self.b.settle(value)
        else:
            raise self.b.unsupported(f"assignment into {_name(container)}")

    def require_current(self, container: Any) -> None:
        """A list or dict may change only in the block where it was made: loops in between must be unrolled."""
        made = self.b.containers.get(id(container), (None, 1))[1]
        if made == len(self.b.blocks):
            return
        what = f"a {_name(container)} is changed in a loop or branch that runs at run time"
        loops = [(var, trips) for depth, var, trips in self.b.loops if depth > made]
        if len(loops) < len(self.b.blocks) - made:
            raise self.b.unsupported(what, "Use an array, or names, for values that change.")
        var, trips = loops[0]
        raise NeedsConstant({var} | symbols_of(Int(trips)), self.b.where, what)

    def made(self, container: Any) -> Any:
        self.b.containers[id(container)] = (container, len(self.b.blocks))
        return container

    # --- expressions

    def eval(self, node: ast.expr) -> Any:
        handler = getattr(self, f"eval_{type(node).__name__}", None)
        if handler is None:
            raise self.unsupported(node, f"the expression `{_source_text(node)}` is not supported")
        return handler(node)

    def eval_all(self, nodes: list[ast.expr]) -> list[Any]:
        """Operands from left to right; a later call may write what an earlier, unevaluated operand reads."""
        values: list[Any] = []
        calls = [self.calls_user_function(node) for node in nodes]
        for position, node in enumerate(nodes):
            value = self.eval(node)
            values.append(self.b.settle(value) if any(calls[position + 1 :]) else value)
        return values

    def calls_user_function(self, node: ast.AST) -> bool:
        """Whether an expression calls a function that might write to its arguments."""
        return any(isinstance(n, ast.Call) and not self.is_pure(n.func) for n in ast.walk(node))

    def is_pure(self, callee: ast.expr) -> bool:
        """Whether a called function is a library's; a method of an array or list is none of the user's either."""
        root: ast.expr = callee
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return isinstance(callee, ast.Attribute)
        if root.id in self.env:
            return isinstance(callee, ast.Attribute)
        function = self.eval(callee)
        return not isinstance(function, types.FunctionType) or _is_library(function)

    def eval_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def eval_Name(self, node: ast.Name) -> Any:
        if node.id in self.env:
            return bound_value(self, node, self.env[node.id])
        if node.id in self.source.outer:
            return self.source.outer[node.id]
        if hasattr(builtins, node.id):
            return getattr(builtins, node.id)
        raise UnboundVariable(f"name `{node.id}` is not defined", self.source.where(node), "Define it first.")

    def eval_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(map(self.b.settle, self.eval_all(node.elts)))

    def eval_List(self, node: ast.List) -> Any:
        return self.made(list(map(self.b.settle, self.eval_all(node.elts))))

    def eval_Dict(self, node: ast.Dict) -> Any:
        keys = [self.eval(k) if k is not None else None for k in node.keys]
        return self.made(dict(zip(keys, map(self.b.settle, self.eval_all(node.values)), strict=True)))

    def eval_Slice(self, node: ast.Slice) -> Any:
        return slice(*(None if n is None else self.eval(n) for n in (node.lower, node.upper, node.step)))

    def eval_Attribute(self, node: ast.Attribute) -> Any:
        value = self.eval(node.value)
        if not isinstance(value, Tensor):
            return getattr(value, node.attr)
        if node.attr in ATTRIBUTES:
            return ATTRIBUTES[node.attr](self.b, value)
        if node.attr in METHODS:
            return types.MethodType(_BoundMethod(METHODS[node.attr]), value)
        raise self.unsupported(node, f"the attribute `.{node.attr}` of arrays is not supported")

    def eval_Subscript(self, node: ast.Subscript) -> Any:
        container, index = self.eval_all([node.value, node.slice])
        return self.item(container, index)

    def item(self, container: Any, index: Any) -> Any:
        if isinstance(container, Tensor):
            return getitem(self.b, container, index)
        return container[self.b.constant(index) if isinstance(index, Lin) else index]

    def eval_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.eval_all([node.left, node.right])
        return self.binary(type(node.op), left, right)

    def binary(self, op: type[ast.operator], left: Any, right: Any) -> Any:
        if op not in BINARY:
            raise self.b.unsupported(f"the operator {op.__name__} is not supported")
        python, name = BINARY[op]
        if is_static(left) and is_static(right):
            return python(left, right)
        if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)):
            return python(left, right)
        if is_integer(left) and is_integer(right):
            return _integer_binary(self.b, name, left, right)
        if name == "power":
            return power(self.b, left, right)
        if name == "matmul":
            return matmul(self.b, left, right)
        return elementwise(self.b, name, left, right)

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            return (not value) if is_static(value) else elementwise(self.b, "logical_not", truth(self.b, value))
        python, name = UNARY[type(node.op)]
        if is_static(value):
            return python(value)
        if isinstance(value, Lin):
            return {"negative": -value, "positive": value, "invert": -value - 1}[name]
        return elementwise(self.b, name, value)

    def eval_Compare(self, node: ast.Compare) -> Any:
        values = self.eval_all([node.left, *node.comparators])
        result: Any = True
        for op, left, right in zip(node.ops, values[:-1], values[1:], strict=True):
            part = self.compare(type(op), left, right)
            result = part if result is True else logical(self.b, "logical_and", result, part)
        return result

    def compare(self, op: type[ast.cmpop], left: Any, right: Any) -> Any:
        if op in IDENTITY:
            return IDENTITY[op](left, right)
        python, name = COMPARE[op]
        if is_static(left) and is_static(right):
            return python(left, right)
        if is_integer(left) and is_integer(right):
            return conditions.decided(self.b, Op(name, (Int(left), Int(right)), BOOL))
        return elementwise(self.b, name, left, right)

    def eval_BoolOp(self, node: ast.BoolOp) -> Any:
        return conditions.bool_op(self, node)

    def eval_IfExp(self, node: ast.IfExp) -> Any:
        return conditions.conditional_expression(self, node)

    def eval_Call(self, node: ast.Call) -> Any:
        function = self.eval(node.func)
        arguments = self.eval_all([*node.args, *(k.value for k in node.keywords)])
        positional = _splat(node.args, arguments[: len(node.args)])
        keywords = {k.arg: v for k, v in zip(node.keywords, arguments[len(node.args) :], strict=True) if k.arg}
        return self.call(node, function, positional, keywords)

    def eval_Starred(self, node: ast.Starred) -> Any:
        return self.eval(node.value)

    def call(self, node: ast.Call, function: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
        if isinstance(function, types.MethodType) and isinstance(function.__func__, _BoundMethod):
            return self.handled(node, function.__func__.handler, [function.__self__, *positional], keywords)
        known = FUNCTIONS.get(function) if _is_hashable(function) else None
        if known is not None:
            if known.static and is_static((positional, keywords)):
                return function(*positional, **keywords)
            return self.handled(node, known.handler, positional, keywords)
        if function is range:
            return loops.Range.of(self.b, positional)
        if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, (list, dict)):
            return self.call_container(function, positional)
        if isinstance(function, types.FunctionType) and not _is_library(function):
            return self.inline(node, function, positional, keywords)
        if _is_hashable(function) and function in _STATIC_CALLS:
            return self.call_static(node, function, positional, keywords)
        raise self.unsupported(node, f"the function `{_source_text(node.func)}` is not supported")

    def call_static(self, node: ast.Call, function: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
        """A function of Python on things known while parsing; arrays and ranges count as sequences of known length."""
        plain = [self.sequence(value) if function in _ON_SEQUENCES else value for value in positional]
        if function not in _ON_SEQUENCES and not is_static((plain, keywords)):
            raise self.unsupported(node, f"`{_source_text(node)}` of run-time values is not supported")
        result = function(*plain, **keywords)
        return self.made(list(result)) if function in _ON_SEQUENCES else result

    def sequence(self, value: Any) -> Any:
        if isinstance(value, loops.Range):
            start, stop = self.b.constant(value.start), self.b.constant(value.stop)
            return range(start, stop, value.step)
        return [self.b.settle(row) for row in self.rows(value)] if isinstance(value, Tensor) else value

    def call_container(self, function: Any, positional: list[Any]) -> Any:
        if function.__name__ not in ("get", "items", "keys", "values", "copy", "index", "count"):
            self.require_current(function.__self__)
        return function(*map(self.b.settle, positional))

    def handled(self, node: ast.Call, handler: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
        try:
            return handler(self.b, *positional, **keywords)
        except TypeError as error:
            raise self.unsupported(node, f"this call is not supported: {error}") from error

    def inline(self, node: ast.Call, function: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
        if self.depth > 50:
            raise self.unsupported(node, "the recursion is too deep, or has no end known while parsing")
        here = self.b.where
        source = read_source(function)
        env = control.bind_parameters(self, node, function, positional, keywords)
        env = {name: self.b.settle(value, name) for name, value in env.items()}
        result = Frame(self.b, source, env, self.depth + 1).run()
        self.b.where = here
        return result

    def unsupported(self, node: ast.AST, what: str) -> UnsupportedProgram:
        where: Location = self.source.where(node)
        return UnsupportedProgram(what, where, "Rewrite this line with supported NumPy, or leave it out.")


class _BoundMethod:
    """Marks a handler that is bound to an array."""

    def __init__(self, handler: Any) -> None:
        self.handler = handler

    def __call__(self, *_: Any) -> Any:
        raise TypeError("a method of an array can only be called")


_ON_SEQUENCES = {enumerate, zip, reversed}
_STATIC_CALLS = {
    tuple,
    list,
    dict,
    str,
    bool,
    round,
    divmod,
    isinstance,
    enumerate,
    zip,
    reversed,
    sorted,
    np.dtype,
    slice,
}


def _integer_binary(b: Builder, name: str, left: Any, right: Any) -> Any:
    left, right = Lin.of(left), Lin.of(right)
    if name == "add":
        return left + right
    if name == "subtract":
        return left - right
    if name == "multiply" and (left.is_const or right.is_const):
        return left.scaled(right.const) if right.is_const else right.scaled(left.const)
    if name == "divide":
        return elementwise(b, name, left, right)
    if name in ("power", "floor_divide", "remainder") and right.is_const and right.const == 0 and name != "power":
        raise b.unsupported("integer division by zero")
    if name == "power" and not b.holds(right):
        raise b.unsupported("an integer to a power that may be negative")
    return as_linear(Op(name, (Int(left), Int(right)), INT))


def _is_hashable(value: Any) -> bool:
    return getattr(value, "__hash__", None) is not None


def _is_library(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in {"numpy", "scipy", "math"}


def _loaded(target: ast.Name) -> ast.expr:
    """The name of an augmented assignment as it is read."""
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def _name(value: Any) -> str:
    return type(value).__name__


def _keyword(node: ast.stmt) -> str:
    return {"While": "while", "Try": "try", "With": "with", "ClassDef": "class", "FunctionDef": "def"}.get(
        type(node).__name__, type(node).__name__.lower()
    )


def _source_text(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."


def _splat(nodes: list[ast.expr], values: list[Any]) -> list[Any]:
    result: list[Any] = []
    for node, value in zip(nodes, values, strict=True):
        result.extend(value if isinstance(node, ast.Starred) else [value])
    return result
