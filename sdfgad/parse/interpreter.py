"""Runs a function's syntax tree on abstract values, and so emits its program.

What is known while parsing is computed by Python itself; what is not becomes tensors and statements. Helpers are
run in frames of their own, which inlines them.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import operator
import types
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import Location, SdfgadError, UnboundVariable, UnsupportedProgram
from sdfgad.ir.expr import Lin
from sdfgad.parse import calls, comprehensions, conditions, control, loops, operators, tails
from sdfgad.parse.builder import Builder
from sdfgad.parse.conditions import logical, truth
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.functions.shape import reshape
from sdfgad.parse.indexing import getitem, require_same_kind, setitem
from sdfgad.parse.merging import bound_value
from sdfgad.parse.registry import ATTRIBUTES, METHODS, SUBSCRIPTS
from sdfgad.parse.source import Source
from sdfgad.parse.values import NotNumeric, Selection, Tensor, is_static


class Frame:
    """One call of one function: its source and its local names.

    `is_ours`: the function says what a NumPy function does; errors in it name the user's line that called it.
    """

    def __init__(self, b: Builder, source: Source, env: dict[str, Any], depth: int = 0, is_ours: bool = False) -> None:
        self.b, self.source, self.env, self.depth, self.is_ours = b, source, env, depth, is_ours
        # The frame in which a nested function is defined.
        self.lexical: Frame | None = None
        # The frame in which `:=` binds; a comprehension's is the one around it.
        self.scope: Frame = self
        self.loops: list[ast.stmt] = []
        # Buffers that a caller, too, may refer to.
        self.known = frozenset(b.buffers)

    def run(self) -> Any:
        """The function's return value; None where it returns nothing."""
        result = self.block(self.source.body)
        return None if result is None else control.returned(result.value)

    # --- statements

    def block(self, statements: list[ast.stmt]) -> control.Return | None:
        return tails.block(self, statements)

    def each(self, statements: list[ast.stmt], passed: list[tails.Passed]) -> control.Return | None:
        """Parse one statement after the other, and note the loops."""
        for position, statement in enumerate(statements):
            self.b.where = self.where(statement)
            if isinstance(statement, ast.If):
                return control.branch(self, statement, statements[position + 1 :])
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.IfExp):
                return control.assignment(self, statement, statements[position + 1 :])
            if isinstance(statement, (ast.For, ast.While)):
                passed.append(tails.Passed.of(self, statement, statements[position + 1 :]))
                continue
            result = self.statement(statement)
            if result is not None:
                return result
        return None

    def statement(self, node: ast.stmt) -> control.Return | None:
        handler = getattr(self, f"do_{type(node).__name__}", None)
        if handler is None:
            raise self.unsupported(node, f"`{_keyword(node)}` is not supported")
        try:
            result: control.Return | None = handler(node)
        except NotNumeric as error:
            raise self.unsupported(node, str(error)) from error
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, AssertionError) as error:
            if isinstance(error, SdfgadError):
                raise
            raise self.unsupported(node, f"sdfgad fails on this line with {type(error).__name__}: {error}") from error
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
            module = self.b.python(importlib.import_module, alias.name)
            top = self.b.python(importlib.import_module, alias.name.partition(".")[0])
            self.env[alias.asname or top.__name__] = module if alias.asname else top

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None:
            raise self.unsupported(node, "a relative import in a function is not supported")
        module = self.b.python(importlib.import_module, node.module)
        for alias in node.names:
            self.env[alias.asname or alias.name] = self.b.python(getattr, module, alias.name)

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
            if isinstance(old, list):
                calls.extend(self, node, old, value)
                return
            result = operators.binary(self.b, type(node.op), old, value)
            if _is_array(old):
                self.update(old, result)
            else:
                self.bind(node.target, result)
            return
        if not isinstance(node.target, ast.Subscript):
            raise self.unsupported(node, "this assignment target is not supported")
        container, index = self.eval_all([node.target.value, node.target.slice])
        old = self.item(container, index)
        if isinstance(container, (list, dict)) and _is_array(old):
            # An array in a list is updated in place.
            self.update(old, operators.binary(self.b, type(node.op), old, self.eval(node.value)))
            return
        if calls.calls_user_function(self, node.value):
            old = self.b.settle(old)
        result = operators.binary(self.b, type(node.op), old, self.eval(node.value))
        if _is_array(old):
            require_same_kind(self.b, result, old)
        self.store(container, index, result)

    def update(self, array: Any, result: Any) -> None:
        """``array op= …``, in place."""
        require_same_kind(self.b, result, array)
        setitem(self.b, array, Ellipsis, result)

    def do_For(self, node: ast.For) -> None:
        loops.for_loop(self, node)

    def do_While(self, node: ast.While) -> None:
        loops.while_loop(self, node)

    def do_Raise(self, node: ast.Raise) -> None:
        control.raises(self, node)

    def do_With(self, node: ast.With) -> None:
        for item in node.items:
            context = item.context_expr
            if not isinstance(context, ast.Call) or self.eval(context.func) is not np.errstate:
                raise self.unsupported(node, "`with` is not supported, except for np.errstate")
        self.block(node.body)

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.unsupported(node, "a decorated function inside a function is not supported")
        self.env[node.name] = calls.Closure.of(self, node)

    def do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise self.unsupported(node, "`del` of anything but a name is not supported")
            self.env.pop(target.id, None)

    # --- binding

    def bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(value, types.GeneratorType):
            raise self.unsupported(target, "a generator that is kept in a name is not supported; make it a list")
        if isinstance(value, Iterator):
            value = tuple(value)
        if isinstance(target, ast.Name):
            self.env[target.id] = self.b.named(self.b.settle(value, target.id), target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self.store(self.eval(target.value), self.eval(target.slice), value)
        elif isinstance(target, ast.Attribute) and target.attr == "shape":
            self.reshape(target, value)
        else:
            raise self.unsupported(target, "this assignment target is not supported")

    def reshape(self, target: ast.Attribute, value: Any) -> None:
        """``x.shape = value``, for all names of the array."""
        old = self.eval(target.value)
        if not isinstance(target.value, ast.Name) or not isinstance(old, Tensor):
            raise self.unsupported(target, "this assignment target is not supported")
        new = reshape(self.b, old, value)
        if new.buffer != old.buffer:
            raise self.unsupported(target, "this array cannot be given another shape in place")
        self.env.update({name: new for name, other in self.env.items() if other is old})

    def unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        parts = list(value) if isinstance(value, (tuple, list)) else self.rows(value)
        starred = next((k for k, name in enumerate(target.elts) if isinstance(name, ast.Starred)), None)
        if starred is not None:
            end = starred + len(parts) - len(target.elts) + 1
            parts = [*parts[:starred], parts[starred:end], *parts[end:]] if end >= starred else []
        if len(parts) != len(target.elts):
            raise self.unsupported(target, f"{len(parts)} values for {len(target.elts)} names")
        # All values exist before any name is bound: a, b = b, a + b.
        parts = [self.b.settle(part) for part in parts]
        for name, part in zip(target.elts, parts, strict=True):
            self.bind(name.value if isinstance(name, ast.Starred) else name, part)

    def rows(self, value: Any) -> list[Any]:
        if not isinstance(value, Tensor) or value.ndim == 0:
            raise self.b.unsupported(f"cannot unpack {value!r}")
        return [getitem(self.b, value, k) for k in range(self.b.constant(value.shape[0]))]

    def store(self, container: Any, index: Any, value: Any) -> None:
        if isinstance(container, (Tensor, Selection)):
            setitem(self.b, container, index, value)
        elif isinstance(container, (list, dict)) and is_static(index):
            calls.require_current(self.b, container)
            container[index] = self.b.settle(value)
        else:
            raise self.b.unsupported(f"assignment into {_name(container)}")

    # --- expressions

    def eval(self, node: ast.expr) -> Any:
        handler = getattr(self, f"eval_{type(node).__name__}", None)
        if handler is None:
            raise self.unsupported(node, f"the expression `{calls.source_text(node)}` is not supported")
        return handler(node)

    def eval_all(self, nodes: list[ast.expr]) -> list[Any]:
        """Operands from left to right; a later call may write what an earlier, unevaluated operand reads."""
        values: list[Any] = []
        may_write = [calls.calls_user_function(self, node) for node in nodes]
        for position, node in enumerate(nodes):
            value = self.eval(node)
            values.append(self.b.settle(value) if any(may_write[position + 1 :]) else value)
        return values

    def eval_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def eval_Name(self, node: ast.Name) -> Any:
        frame: Frame | None = self
        while frame is not None:
            if node.id in frame.env:
                return bound_value(frame, node, frame.env[node.id])
            frame = frame.lexical
        if node.id in self.source.outer:
            value = self.source.outer[node.id]
            if isinstance(value, np.ndarray):
                return self.b.capture(node.id, value, partial(self.source.lookup, node.id))
            return value
        if hasattr(builtins, node.id):
            return getattr(builtins, node.id)
        what = f"name `{node.id}` is not defined"
        raise UnboundVariable(what, self.where(node), "Define it first.", name=node.id)

    def eval_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.elements(node.elts))

    def eval_List(self, node: ast.List) -> Any:
        return calls.made(self.b, self.elements(node.elts))

    def elements(self, nodes: list[ast.expr]) -> list[Any]:
        """The entries of a tuple or list, those of starred sequences among them."""
        result: list[Any] = []
        for node, value in zip(nodes, self.eval_all(nodes), strict=True):
            result += calls.as_sequence(self, node, value) if isinstance(node, ast.Starred) else [value]
        return list(map(self.b.settle, result))

    def eval_Dict(self, node: ast.Dict) -> Any:
        keys = [self.eval(k) if k is not None else None for k in node.keys]
        return calls.made(self.b, dict(zip(keys, map(self.b.settle, self.eval_all(node.values)), strict=True)))

    def eval_Slice(self, node: ast.Slice) -> Any:
        return slice(*(None if n is None else self.eval(n) for n in (node.lower, node.upper, node.step)))

    def eval_Attribute(self, node: ast.Attribute) -> Any:
        value = self.eval(node.value)
        if not isinstance(value, (Tensor, Selection)):
            found = self.b.python(getattr, value, node.attr)
            is_array = isinstance(found, np.ndarray)
            return self.b.capture(node.attr, found, partial(getattr, value, node.attr)) if is_array else found
        if node.attr in ATTRIBUTES:
            return ATTRIBUTES[node.attr](self.b, value)
        if node.attr in METHODS:
            return calls.ArrayMethod(METHODS[node.attr], value)
        raise self.unsupported(node, f"the attribute `.{node.attr}` of arrays is not supported")

    def eval_Subscript(self, node: ast.Subscript) -> Any:
        container, index = self.eval_all([node.value, node.slice])
        return self.item(container, index)

    def item(self, container: Any, index: Any) -> Any:
        if isinstance(container, (Tensor, Selection)):
            return getitem(self.b, container, index)
        if id(container) in SUBSCRIPTS:
            return SUBSCRIPTS[id(container)][1](self.b, index)
        return self.b.python(operator.getitem, container, self.b.constant(index) if isinstance(index, Lin) else index)

    def eval_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.eval_all([node.left, node.right])
        return operators.binary(self.b, type(node.op), left, right)

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            known = conditions.known_truth(value)
            return not known if known is not None else elementwise(self.b, "logical_not", truth(self.b, value))
        return operators.unary(self.b, type(node.op), value)

    def eval_Compare(self, node: ast.Compare) -> Any:
        values = self.eval_all([node.left, *node.comparators])
        result: Any = True
        for op, left, right in zip(node.ops, values[:-1], values[1:], strict=True):
            part = operators.compare(self.b, type(op), left, right)
            result = part if result is True else logical(self.b, "logical_and", result, part)
        return result

    def eval_BoolOp(self, node: ast.BoolOp) -> Any:
        return conditions.bool_op(self, node)

    def eval_IfExp(self, node: ast.IfExp) -> Any:
        return conditions.conditional_expression(self, node)

    def eval_NamedExpr(self, node: ast.NamedExpr) -> Any:
        self.scope.bind(node.target, self.eval(node.value))
        return self.scope.env[node.target.id]

    def eval_Lambda(self, node: ast.Lambda) -> Any:
        return calls.Closure.of(self, node)

    def eval_ListComp(self, node: ast.ListComp) -> Any:
        return calls.made(self.b, comprehensions.items(self, node))

    def eval_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return comprehensions.generator(self, node)

    def eval_DictComp(self, node: ast.DictComp) -> Any:
        return calls.made(self.b, dict(comprehensions.items(self, node)))

    def eval_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return self.text(node)

    def text(self, node: ast.expr) -> str:
        """A text whose parts may be known only at run time: there is no use for it but to print it."""
        return ast.unparse(node)

    def eval_Call(self, node: ast.Call) -> Any:
        return calls.call(self, node)

    def eval_Starred(self, node: ast.Starred) -> Any:
        return self.eval(node.value)

    def unsupported(self, node: ast.AST, what: str) -> UnsupportedProgram:
        return UnsupportedProgram(what, self.where(node), "Rewrite this line with supported NumPy, or leave it out.")

    def where(self, node: ast.AST) -> Location | None:
        """The user's line that is to blame for a node."""
        return self.b.where if self.is_ours else self.source.where(node)


def _is_array(value: Any) -> bool:
    if isinstance(value, Selection):
        return True
    return isinstance(value, Tensor) and (value.place is not None or value.ndim > 0)


def _loaded(target: ast.Name) -> ast.expr:
    """The name of an augmented assignment as it is read."""
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def _name(value: Any) -> str:
    return type(value).__name__


def _keyword(node: ast.stmt) -> str:
    return {"While": "while", "Try": "try", "With": "with", "ClassDef": "class", "FunctionDef": "def"}.get(
        type(node).__name__, type(node).__name__.lower()
    )
