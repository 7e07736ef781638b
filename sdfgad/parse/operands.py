"""Evaluation order of operands: a function that is called in one operand may write what another one has read."""

from __future__ import annotations

import ast
import types
from functools import lru_cache, partial
from typing import Any

from sdfgad.errors import UnboundVariable, UnsupportedProgram
from sdfgad.ir.expr import Lin, reads
from sdfgad.parse import trees
from sdfgad.parse.builtin_bases import member
from sdfgad.parse.closures import Closure
from sdfgad.parse.frame import CELLS, Frame
from sdfgad.parse.values import Record, Tensor


class UpdatedOperand(UnsupportedProgram):
    """Raised where an operand was to be computed later, and another one has updated what it is computed of."""


def evaluated(frame: Frame, nodes: list[ast.expr]) -> list[Any]:
    """Operands from left to right; each is materialised if a later one calls a function that may write."""
    if len(nodes) == 1:
        return [frame.eval(nodes[0])]
    values: list[Any] = []
    may_write = [may_update(frame, node) for node in nodes]
    with frame.holding(values):
        for position, node in enumerate(nodes):
            before = frame.b.versions.writes
            value = frame.eval(node)
            require_unchanged(frame, values, before)
            values.append(frame.b.settle(value) if any(may_write[position + 1 :]) else value)
    return values


def require_unchanged(frame: Frame, values: list[Any], writes: int) -> None:
    """Refuse values that are not evaluated yet where a later operand has written what they are computed of.

    Args:
        writes: the number of writes before that operand.

    Raises:
        UnsupportedProgram: it has.
    """
    if not values or frame.b.versions.writes == writes:
        return
    written = frame.b.versions.written_since(writes)
    if any(_reads_any(leaf, written) for leaf in trees.reachable(values, None)):
        what = "an expression both reads an array and updates it, by `out=`, say, or by a function that it calls"
        raise UpdatedOperand(what, frame.b.where, "Split it into two statements: the one that reads first.")


def _reads_any(value: Any, buffers: set[str]) -> bool:
    """Whether a value that is not evaluated yet reads any of these buffers."""
    if not isinstance(value, Tensor) or value.settled or value.is_shared:
        return False
    element = value.element(tuple(Lin.symbol(f"u{axis}_") for axis in range(value.ndim)))
    return any(read.buffer in buffers for read in reads(element))


def may_update(frame: Frame, node: ast.AST) -> bool:
    """Whether an expression may update what those before it have read: as it calls a function of the user, or as an
    attempt has found out."""
    return frame.b.where in frame.b.updated_operands or calls_user_function(frame, node)


def calls_user_function(frame: Frame, node: ast.AST) -> bool:
    """Whether an expression calls a function of the user, which may write to its arguments."""
    return any(not _is_pure(frame, call.func, _bound_in(node)) for call in _calls_in(node))


@lru_cache(maxsize=1 << 14)
def _bound_in(node: ast.AST) -> frozenset[str]:
    """The names that an expression binds for itself, in comprehensions and lambdas: elsewhere they are others'."""
    inner = (one for one in ast.walk(node) if isinstance(one, (ast.comprehension, ast.Lambda)))
    parts = (one.target if isinstance(one, ast.comprehension) else one.args for one in inner)
    names = (one for part in parts for one in ast.walk(part) if isinstance(one, (ast.Name, ast.arg)))
    return frozenset(one.id if isinstance(one, ast.Name) else one.arg for one in names)


@lru_cache(maxsize=1 << 14)
def _calls_in(node: ast.AST) -> tuple[ast.Call, ...]:
    """The calls in an expression; cached, as a loop's body is parsed several times."""
    own = (node,) if isinstance(node, ast.Call) else ()
    return own + tuple(call for child in ast.iter_child_nodes(node) for call in _calls_in(child))


def _is_pure(frame: Frame, callee: ast.expr, bound: frozenset[str]) -> bool:
    """Whether a callee is a library function, or a method of an array or list.

    Args:
        bound: the names that the expression around binds.
    """
    root: ast.expr = callee
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in bound:
        return isinstance(callee, ast.Attribute)
    if root.id in frame.env and isinstance(callee, ast.Attribute):
        return True
    try:
        function = frame.eval(callee)
    except UnboundVariable:
        # A parameter of a lambda in the expression.
        return isinstance(callee, ast.Attribute)
    if isinstance(function, (Closure, partial)):
        return False
    return not isinstance(function, types.FunctionType) or is_library(function)


def may_change_something(frame: Frame, node: ast.AST, bound: frozenset[str] = frozenset()) -> bool:
    """Whether an expression binds names, or has calls that may change an object: of other functions than library
    functions, and of other methods than a few.

    Args:
        bound: names that will be bound where it is evaluated: what they are elsewhere says nothing.
    """
    binds, bound = any(isinstance(one, ast.NamedExpr) for one in ast.walk(node)), bound | _bound_in(node)
    return binds or any(not _leaves_all(frame, call.func, bound) for call in _calls_in(node))


# Methods of arrays, strings and containers that change nothing.
READING = frozenset(
    (
        *("sum", "mean", "min", "max", "std", "var", "prod", "dot", "any", "all", "argmax", "argmin", "conj", "round"),
        *("clip", "cumsum", "cumprod", "trace", "diagonal", "nonzero", "argsort", "searchsorted", "repeat", "take"),
        *(
            "copy",
            "astype",
            "reshape",
            "ravel",
            "flatten",
            "squeeze",
            "swapaxes",
            "transpose",
            "view",
            "tolist",
            "item",
        ),
        *("get", "items", "keys", "values", "index", "count"),
        *("startswith", "endswith", "lower", "upper", "strip", "split", "join", "format"),
    )
)


def _leaves_all(frame: Frame, callee: ast.expr, bound: frozenset[str]) -> bool:
    if not isinstance(callee, ast.Attribute):
        is_iteration = isinstance(callee, ast.Name) and callee.id == "next"
        return not is_iteration and _is_pure(frame, callee, bound) and not _is_class(frame, callee)
    root: ast.expr = callee
    while isinstance(root, ast.Attribute):
        root = root.value
    value = bound_to(frame, root.id) if isinstance(root, ast.Name) else None
    if value is None and isinstance(root, ast.Name):
        # A module: its generators of random numbers are drawn of.
        return "random" not in ast.unparse(callee).split(".") and _is_pure(frame, callee, bound)
    return callee.attr in READING and not isinstance(value, Record)


def bound_to(frame: Frame | None, name: str) -> Any:
    """What a name of a function, or of those around it, is bound to; None where it is no name of theirs."""
    while frame is not None:
        for names in (frame.env, frame.env.get(CELLS, {})):
            if name in names:
                return names[name]
        frame = frame.lexical
    return None


def _is_class(frame: Frame, callee: ast.expr) -> bool:
    """Whether a callee is a class of the user's."""
    value = frame.eval(callee) if isinstance(callee, ast.Name) and callee.id not in frame.env else None
    return isinstance(value, type) and value.__module__ != "builtins" and not is_library_module(value.__module__)


def is_library(function: types.FunctionType) -> bool:
    """Whether a function is a library's, which writes to none of its arguments."""
    return is_library_module(function.__module__)


def is_library_module(name: str | None) -> bool:
    return (name or "").partition(".")[0] in {"numpy", "scipy", "math"}


def method(frame: Frame, node: ast.AST, record: Record, name: str, *arguments: Any) -> Any:
    """A call of a method that Python calls for an operator or a builtin function, such as ``__len__``."""
    function = member(record.cls, name, None)
    if not isinstance(function, types.FunctionType):
        what = f"`{record.cls.__name__}` does not define `{name}` in Python"
        raise UnsupportedProgram(what, frame.b.where, f"Define `{name}` in the class, or use the object's attributes.")
    return frame.call(node, function, [record, *arguments], {})
