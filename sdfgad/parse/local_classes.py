"""Class definitions in a function: Python makes the class, from stubs for its methods, which are closures."""

from __future__ import annotations

import abc
import ast
import dataclasses
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.closures import Closure
from sdfgad.parse.frame import Frame
from sdfgad.parse.source import source_text
from sdfgad.parse.texts import is_plain
from sdfgad.parse.trees import LOCAL_FRAME

AT_TOP = "Define the class at the top level of a module."
ACCESSORS = ("getter", "setter", "deleter")


def class_(frame: Frame, node: ast.ClassDef) -> None:
    """``class``: binds the name to a new class.

    Raises:
        NeedsConstant: a loop that runs at run time makes a class in each trip; unrolled, these are several.
        UnsupportedProgram: it is more than attributes that are constants, methods, and what dataclasses have.
    """
    if frame.b.loops:
        what = f"the class `{node.name}` is defined in a loop that runs at run time"
        raise NeedsConstant({var for _, var, _ in frame.b.loops}, frame.where(node), what, AT_TOP)
    frame.env[node.name] = _made(frame, frame, node)


def _made(frame: Frame, scope: Frame, node: ast.ClassDef) -> type:
    """The class of a definition whose expressions are evaluated in `scope`, and whose methods see `frame`."""
    inner = scope.inner(scope.source, {}, scope.depth, scope.is_definition)
    inner.lexical = scope
    bases = tuple(scope.eval(base) for base in node.bases)
    keywords = {str(keyword.arg): scope.eval(keyword.value) for keyword in node.keywords}
    if not all(isinstance(base, type) or base is NamedTuple for base in (*bases, *keywords.values())):
        raise _refused(frame, node, f"bases and keywords of the class `{node.name}` are not all classes")
    annotations: dict[str, Any] = {}
    for statement in node.body:
        _define(frame, inner, statement, annotations)
    space = {**inner.env, "__annotations__": annotations, "__module__": scope.source.function.__module__}
    made = frame.b.python(types.new_class, node.name, bases, keywords, lambda names: names.update(space))
    for decorator in reversed(node.decorator_list):
        made = frame.b.python(_class_decorator(scope, decorator), made)
    setattr(made, LOCAL_FRAME, frame)
    for stub in filter(None, map(_stub_in, made.__dict__.values())):
        if stub in frame.b.methods:
            frame.b.methods[stub] = dataclasses.replace(frame.b.methods[stub], cls=made)
    return made


def _refused(frame: Frame, node: ast.AST, what: str) -> UnsupportedProgram:
    return frame.unsupported(node, f"{what}, which is not supported inside a function", AT_TOP)


def _define(frame: Frame, inner: Frame, statement: ast.stmt, annotations: dict[str, Any]) -> None:
    """Run a statement in the body of a class."""
    if isinstance(statement, ast.FunctionDef):
        inner.env[statement.name] = _decorated(frame, inner, statement)
    elif isinstance(statement, ast.ClassDef):
        inner.env[statement.name] = _made(frame, inner, statement)
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        annotations[statement.target.id] = _annotation(frame, statement.annotation)
        if statement.value is not None:
            inner.env[statement.target.id] = _attribute(frame, inner, statement.value)
    elif isinstance(statement, ast.Assign) and all(isinstance(one, ast.Name) for one in statement.targets):
        value = _attribute(frame, inner, statement.value)
        inner.env.update({one.id: value for one in statement.targets if isinstance(one, ast.Name)})
    elif not isinstance(statement, ast.Pass) and not _is_text(statement):
        raise _refused(frame, statement, f"`{source_text(statement).splitlines()[0]}` stands in the body of a class")


def _annotation(frame: Frame, node: ast.expr) -> Any:
    """An annotation as far as it makes a difference to dataclasses; its names need not have values here."""
    text = ast.unparse(node)
    if "InitVar" in text:
        raise _refused(frame, node, f"a field of a dataclass is `{text}`")
    special = {"ClassVar": ClassVar, "KW_ONLY": dataclasses.KW_ONLY}
    return next((found for name, found in special.items() if name in text), Any)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _attribute(frame: Frame, inner: Frame, node: ast.expr) -> Any:
    """The value of a class's attribute: a constant, a class, or a field of a dataclass."""
    if isinstance(node, ast.Call) and inner.eval(node.func) is dataclasses.field:
        given = {str(keyword.arg): inner.eval(keyword.value) for keyword in node.keywords}
        factory, default = given.get("default_factory"), given.get("default")
        if (factory is None or callable(factory)) and is_plain(default):
            return frame.b.python(dataclasses.field, **given)
    else:
        value = inner.eval(node)
        if is_plain(value):
            return value
    what = f"an attribute of a class is `{source_text(node)}`, no number, text or class that is known before the run"
    raise frame.unsupported(node, what, "Assign it to `self` in __init__, or define the class at the top level.")


# --- methods


def _decorated(frame: Frame, inner: Frame, node: ast.FunctionDef) -> Any:
    """A method's stub with its decorators; the closure for which it stands is noted in the builder."""
    stub = _stub(frame, node)
    frame.b.methods[stub] = dataclasses.replace(Closure.of(inner, node), frame=frame)
    made: Any = stub
    for decorator in reversed(node.decorator_list):
        function = inner.eval(decorator)
        is_accessor = isinstance(getattr(function, "__self__", None), property) and function.__name__ in ACCESSORS
        if not is_accessor and function not in (property, staticmethod, classmethod, abc.abstractmethod):
            raise _refused(frame, decorator, f"the decorator `{source_text(decorator)}` is one of a method in a class")
        made = frame.b.python(function, made)
    return made


def _stub(frame: Frame, node: ast.FunctionDef) -> types.FunctionType:
    """A Python function with a method's name and parameters, which is never called."""
    what = f"`{node.name}` of a class inside a function is called by Python itself"

    def stub(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(what)

    stub.__name__ = stub.__qualname__ = node.name
    stub.__module__ = frame.source.function.__module__
    stub.__signature__ = _signature(node.args)  # type: ignore[attr-defined]
    return stub  # type: ignore[return-value]


def _signature(arguments: ast.arguments) -> inspect.Signature:
    """The parameters of a method, with None for each default."""
    plain: list[tuple[ast.arg, Any]] = [(a, inspect.Parameter.POSITIONAL_ONLY) for a in arguments.posonlyargs]
    plain += [(a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in arguments.args]
    first = len(plain) - len(arguments.defaults)
    found = [inspect.Parameter(a.arg, kind, **_default(k >= first)) for k, (a, kind) in enumerate(plain)]
    if arguments.vararg:
        found.append(inspect.Parameter(arguments.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(inspect.Parameter(one.arg, inspect.Parameter.KEYWORD_ONLY, **_default(default is not None)))
    if arguments.kwarg:
        found.append(inspect.Parameter(arguments.kwarg.arg, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(found)


def _default(has_one: bool) -> dict[str, Any]:
    return {"default": None} if has_one else {}


def _stub_in(value: Any) -> types.FunctionType | None:
    """The function in an attribute of a class."""
    inside = getattr(value, "fget", None) or getattr(value, "__func__", value)
    return inside if isinstance(inside, types.FunctionType) else None


# --- decorators of classes


def _class_decorator(scope: Frame, node: ast.expr) -> Callable[[type], type]:
    function = scope.eval(node.func if isinstance(node, ast.Call) else node)
    if function is not dataclasses.dataclass:
        raise _refused(scope, node, f"the decorator `{source_text(node)}` is one of a class")
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return dataclasses.dataclass(**dict(_options(scope, keywords)))


def _options(scope: Frame, keywords: list[ast.keyword]) -> Iterator[tuple[str, Any]]:
    for keyword in keywords:
        value = scope.eval(keyword.value)
        if not isinstance(value, bool):
            raise _refused(scope, keyword.value, f"the option `{keyword.arg}` of a dataclass is no constant")
        yield str(keyword.arg), value
