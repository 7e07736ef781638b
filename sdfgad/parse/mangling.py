"""Name mangling: in the body of a class Python puts the class's name before names such as ``__step``."""

from __future__ import annotations

import ast

# The fields of syntax trees that hold one identifier.
IDENTIFIERS = ("id", "attr", "name", "arg", "rest")


def mangle(node: ast.AST, cls: str = "") -> None:
    """Mangle the private names in a tree, in place, as Python's compiler does.

    Args:
        cls: the name of the innermost class around it, without leading underscores; "" if there is none.
    """
    is_class = isinstance(node, ast.ClassDef)
    inner, body = (node.name.lstrip("_"), set(map(id, node.body))) if isinstance(node, ast.ClassDef) else (cls, set())
    # The names of keyword arguments in calls stay as they are.
    for field in IDENTIFIERS if cls and not isinstance(node, ast.keyword) else ():
        name = getattr(node, field, None)
        if isinstance(name, str):
            setattr(node, field, _mangled(name, cls))
    if cls and isinstance(node, (ast.Global, ast.Nonlocal)):
        node.names = [_mangled(name, cls) for name in node.names]
    for child in ast.iter_child_nodes(node):
        mangle(child, inner if not is_class or id(child) in body else cls)


def _mangled(name: str, cls: str) -> str:
    return f"_{cls}{name}" if _is_private(name) else name


def is_mangled_or_same(name: str, spelled: str) -> bool:
    """Whether a name in a mangled tree may be spelled so in its text."""
    return name == spelled or (_is_private(spelled) and name.startswith("_") and name.endswith(spelled))


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")
