"""The syntax tree and the source lines of a user's function."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

from sdfgad.errors import ArgumentError, Location, UnsupportedProgram
from sdfgad.parse.jumps import structured
from sdfgad.parse.liveness import captured_names
from sdfgad.parse.mangling import is_mangled_or_same, mangle
from sdfgad.parse.sent_source import Text, defines, received
from sdfgad.parse.typed_source import typed_texts

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, eq=False)
class Source:
    """A function, its syntax tree with the line numbers of its file, and its global and free names (`outer`).

    `counts_back`: negative indices count from the end, as in Python; in other languages they are out of range.
    """

    function: Callable[..., Any]
    node: FunctionNode
    file: str
    text: str
    outer: dict[str, Any]
    counts_back: bool = True

    def where(self, node: ast.AST) -> Location:
        line = getattr(node, "lineno", self.node.lineno)
        return Location(self.file, line, self._lines[line - 1].strip() if line <= len(self._lines) else "")

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines()

    def lookup(self, name: str) -> Callable[[], Any]:
        """What gives the present value of a global or free name; None if it has none."""
        names = self.function.__code__.co_freevars
        if name not in names:
            return partial(self.function.__globals__.get, name)
        cell = (self.function.__closure__ or ())[names.index(name)]
        return lambda: cell.cell_contents if _is_filled(cell) else None

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", "program").strip("<>")

    @property
    def body(self) -> list[ast.stmt]:
        """The statements, with jumps out of loops and branches rewritten as structured control flow."""
        return self.tree.body

    @property
    def captured(self) -> frozenset[str]:
        """The names that nested functions may read."""
        return self._syntax.captured

    @property
    def is_generator(self) -> bool:
        """Whether it is a generator function."""
        return self._syntax.is_generator

    @property
    def nonlocals(self) -> frozenset[str]:
        """The names of enclosing functions that it binds."""
        return self._syntax.nonlocals

    @property
    def cells(self) -> frozenset[str]:
        """Its own names that nested functions bind."""
        return self._syntax.cells

    @property
    def globals(self) -> frozenset[str]:
        """The global names that it assigns to."""
        return self._syntax.globals

    def is_free(self, name: str) -> bool:
        """Whether a name is one of a function around it."""
        return name in self.function.__code__.co_freevars

    @property
    def namespace(self) -> dict[str, Any]:
        """The global names of its module, and their present values."""
        found: dict[str, Any] = getattr(self.function, "__globals__", {})
        return found

    @property
    def tree(self) -> ast.Module:
        """The statements of `body` as one node."""
        return self._syntax.tree

    @property
    def parents(self) -> dict[int, ast.AST]:
        """The node around each node of `tree`, by id."""
        return self._syntax.parents

    @cached_property
    def _syntax(self) -> _Syntax:
        return _syntax_of(self.node)


@dataclass(frozen=True, eq=False)
class _Syntax:
    """What a function's syntax tree alone says; worked out once, however often the function is inlined."""

    node: FunctionNode

    @cached_property
    def captured(self) -> frozenset[str]:
        return captured_names(self.tree)

    @cached_property
    def is_generator(self) -> bool:
        return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _own_nodes(self.node))

    @cached_property
    def nonlocals(self) -> frozenset[str]:
        return frozenset(name for n in _own_nodes(self.node) if isinstance(n, ast.Nonlocal) for name in n.names)

    @cached_property
    def globals(self) -> frozenset[str]:
        named = {name for n in _own_nodes(self.node) if isinstance(n, ast.Global) for name in n.names}
        return frozenset(named & self._stored)

    @cached_property
    def _stored(self) -> set[str]:
        return {n.id for n in _own_nodes(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}

    @property
    def _parameters(self) -> list[str]:
        return [n.arg for n in ast.walk(self.node.args) if isinstance(n, ast.arg)]

    @cached_property
    def cells(self) -> frozenset[str]:
        named = {name for n in ast.walk(self.node) if isinstance(n, ast.Nonlocal) for name in n.names}
        own = self._stored.union(self._parameters)
        bound = frozenset(named & own) | getattr(self.node, "cells", frozenset())
        return bound - self.nonlocals - self.globals

    @cached_property
    def tree(self) -> ast.Module:
        if isinstance(self.node, ast.Lambda):
            return ast.Module([ast.copy_location(ast.Return(self.node.body), self.node.body)], [])
        if getattr(self.node, "is_structured", False):
            return ast.Module(self.node.body, [])
        return ast.Module(structured(self.node.body, self._parameters), [])

    @cached_property
    def parents(self) -> dict[int, ast.AST]:
        return {id(child): node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}


@lru_cache(maxsize=1024)
def _syntax_of(node: FunctionNode) -> _Syntax:
    return _Syntax(node)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a function, without those in functions and classes that it defines."""
    waiting = [*ast.iter_child_nodes(node)]
    while waiting:
        child = waiting.pop()
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(child)


# What their decorators put around a function makes no difference here.
TRANSPARENT = frozenset({"dace", "functools", "jax", "numba", "numpy", "sdfgad"})


def own_signature(function: Any) -> inspect.Signature:
    """The parameters by a function's own definition, though a decorator shows those of the function it decorates."""
    if "__wrapped__" in vars(function) and "__signature__" in vars(function):
        own = types.FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
        own.__kwdefaults__ = function.__kwdefaults__
        return inspect.signature(own)
    return inspect.signature(function, follow_wrapped=False)


def unwrapped(function: Any) -> Any:
    """The function that runs where one is called: that of a decorator of the user, which may call the decorated one."""
    while hasattr(function, "__wrapped__"):
        is_plain = isinstance(function, types.FunctionType)
        is_transparent = function.__globals__.get("__name__", "").partition(".")[0] in TRANSPARENT if is_plain else True
        if not (is_transparent and callable(function.__wrapped__)):
            break
        function = function.__wrapped__
    return function


def read_source(function: Callable[..., Any]) -> Source:
    """Find the syntax tree of `function`.

    Raises:
        UnsupportedProgram: the function has no readable Python source.
    """
    function = unwrapped(function)
    if isinstance(getattr(function, "source", None), Source):
        # A function that another one defines.
        return function.source  # type: ignore[attr-defined]
    code = getattr(function, "__code__", None)
    if code is None:
        raise UnsupportedProgram(
            f"{function!r} is not a Python function", None, "Pass a function written in Python with `def`."
        )
    file, text = text_of(code)
    node = _find(code, text)
    outer = dict(function.__globals__)
    outer |= {name: cell.cell_contents for name, cell in _cells(function, code) if _is_filled(cell)}
    return Source(function, node, file, text, _with_numpy(outer) if "cupy" in sys.modules else outer)


def _with_numpy(outer: dict[str, Any]) -> dict[str, Any]:
    """Global and free names with NumPy's modules for CuPy's, whose functions have the same names and do the same."""
    names = {name: value.__name__ for name, value in outer.items() if isinstance(value, types.ModuleType)}
    theirs = {name: module for name, module in names.items() if module.partition(".")[0] == "cupy"}
    found = {name: sys.modules.get(module.replace("cupy", "numpy", 1)) for name, module in theirs.items()}
    return outer | {name: module for name, module in found.items() if module is not None}


# The texts of code that has no file, such as what `exec` runs, by the name that it has instead.
_TEXTS: dict[str, list[str]] = {}


def add_text(function: Callable[..., Any], text: str) -> None:
    """Make known the text that `exec` has run to define a function, and others beside it.

    Raises:
        ArgumentError: the text does not define the function.
    """
    code = unwrapped(function).__code__
    if not defines(text, code):
        what = f"the text that is passed as `source` does not define `{code.co_name}` as it is"
        raise ArgumentError(what, None, "Pass the text that was run by exec, without changes.")
    known = _TEXTS.setdefault(code.co_filename, [])
    if text not in known:
        known.insert(0, text)


def text_of(code: types.CodeType) -> Text:
    """The text that defines a function, "" if it is not available, and the name of its file."""
    file = _file_of(code)
    text = "".join(linecache.getlines(file))
    if text:
        return Text(file, text)
    typed = typed_texts(code.co_name) if file in ("<string>", "<stdin>") else ()
    known = next((one for one in (*_TEXTS.get(file, ()), *typed) if defines(one, code)), "")
    return (None if known else received(code)) or Text(file, known)


def _file_of(code: types.CodeType) -> str:
    """The name of the file of code; that of a frozen module, as which Python loads some of its own, is beside them."""
    name = code.co_filename
    frozen = sys.modules.get(name.removeprefix("<frozen ").removesuffix(">")) if name.startswith("<frozen ") else None
    return getattr(frozen, "__file__", None) or name


def has_source(function: Any) -> bool:
    """Whether a function is written in Python by somebody, rather than made as those of dataclasses are."""
    code = function.__code__
    return not _file_of(code).startswith("<") or received(code) is not None


def _find(code: types.CodeType, text: str) -> FunctionNode:
    where = Location(code.co_filename, code.co_firstlineno, f"def {code.co_name}")
    if not text:
        raise UnsupportedProgram(f"the source of `{code.co_name}` is not available", where, _advice(code))
    found = [node for node in _functions(text) if _is_at(node, code)]
    # Of nested lambdas that all contain the code, the innermost is the one.
    found = found[-1:] if all(isinstance(node, ast.Lambda) for node in found) else found
    if not found:
        raise UnsupportedProgram(
            f"`{code.co_name}` is no longer where it was defined: its file has changed since",
            where,
            "Import it again, by importlib.reload, or start Python anew.",
        )
    if len(found) > 1:
        raise UnsupportedProgram(
            f"the source of `{code.co_name}` cannot be told apart from {len(found)} candidates on its line",
            where,
            "Give the function a line of its own, with `def`.",
        )
    return found[0]


def _advice(code: types.CodeType) -> str:
    """What to do where the text of a function is not available."""
    # The name that cloudpickle gives to the file of what it sends by value.
    if code.co_filename == "<dynamic-code>":
        return (
            "A function that is sent to another process comes without its text. Send the gradient, as `differentiate` "
            "returns it, or define the function in a module."
        )
    return "Define the function in a file or a notebook, or pass its text: differentiate(..., source=text)."


@lru_cache(maxsize=64)
def _functions(text: str) -> tuple[FunctionNode, ...]:
    """The functions that a file defines, outer before inner."""
    tree = ast.parse(text)
    mangle(tree)
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda))


def _is_at(node: FunctionNode, code: Any) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno and _spans(node.body, code)
    if not is_mangled_or_same(node.name, code.co_name):
        return False
    return code.co_firstlineno in {node.lineno, *(d.lineno for d in node.decorator_list)}


def _spans(body: ast.expr, code: Any) -> bool:
    """Whether all instructions of `code` come from the text of `body`."""
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places = [(line, column) for line, _, column, last in code.co_positions() if line and column is not None and last]
    return all(start <= place <= end for place in places)


def _cells(function: Any, code: Any) -> list[tuple[str, Any]]:
    return list(zip(code.co_freevars, function.__closure__ or (), strict=True))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - reading is the test
    except ValueError:
        return False
    return True


def source_text(node: ast.AST) -> str:
    """The source text of an expression, shortened to 60 characters."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."
