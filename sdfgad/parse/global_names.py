"""Global names in a function: those that ``global`` declares, as names of the program's namespaces."""

from __future__ import annotations

import ast
from typing import Any

from sdfgad.parse.frame import Frame
from sdfgad.parse.namespaces import AssignsGlobals


def of(frame: Frame, name: str) -> dict[str, Any] | None:
    """The dict that has a name which is no local one, if the program assigns to it as a global one."""
    cells = frame.b.namespaces.get(id(frame.source.namespace), {})
    return cells if name in cells and not frame.source.is_free(name) else None


def global_(frame: Frame, node: ast.Global) -> None:
    """``global``, of names that the function assigns to, or reads only.

    Raises:
        AssignsGlobals: it assigns to some that no dict is there for.
    """
    found = frame.source.globals & set(node.names)
    others = {name for one in ast.walk(frame.source.node) for name in _defined(one)} & set(node.names)
    if others:
        what = f"the global name `{min(others)}` is bound to a function, class or module, which is not supported"
        raise frame.unsupported(node, what, "Define or import it outside of the function.")
    namespace = frame.source.namespace
    if not found <= frame.b.namespaces.get(id(namespace), {}).keys():
        raise AssignsGlobals((namespace, found), frame.where(node))


def _defined(node: ast.AST) -> set[str]:
    """The names that a statement binds other than by an assignment."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {one.asname or one.name.partition(".")[0] for one in node.names}
    return set()
