"""Liveness of names: which ones statements assign, read before they assign them, or leave to be read later."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache


# Statements are asked about one name after the other, in each attempt to parse them; once parsed no tree changes.
@lru_cache(maxsize=1 << 14)
def assigned_names(node: ast.AST) -> frozenset[str]:
    """The names that are bound anywhere in `node`."""
    found = _names(node).items()
    return frozenset(name for name, nodes in found if any(isinstance(n.ctx, ast.Store) for n in nodes))


@lru_cache(maxsize=1 << 10)
def all_names(function: ast.AST) -> frozenset[str]:
    """The names anywhere in a function, those of its parameters and of comprehensions in it, too."""
    names = (
        n.id if isinstance(n, ast.Name) else n.arg for n in ast.walk(function) if isinstance(n, (ast.Name, ast.arg))
    )
    return frozenset(names)


@lru_cache(maxsize=1 << 12)
def assigned_attributes(node: ast.AST) -> frozenset[str]:
    """The attributes of objects that are assigned anywhere in `node`."""
    found = (n for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return frozenset(n.attr for n in found)


@lru_cache(maxsize=1 << 14)
def _names(node: ast.AST) -> dict[str, list[ast.Name]]:
    """The nodes of each name in `node`, without those that comprehensions have for themselves."""
    found: dict[str, list[ast.Name]] = {}
    for n in _free_names(node, frozenset()):
        found.setdefault(n.id, []).append(n)
    return found


def _free_names(node: ast.AST, own: frozenset[str]) -> Iterator[ast.Name]:
    """The names in `node`, without those in `own`, which comprehensions around it bind."""
    if isinstance(node, ast.Name):
        yield from () if node.id in own else (node,)
    elif isinstance(node, COMPREHENSIONS):
        first = node.generators[0].iter
        yield from _free_names(first, own)
        targets = {n.id for one in node.generators for n in ast.walk(one.target) if isinstance(n, ast.Name)}
        parts = [part for one in node.generators for part in ast.iter_child_nodes(one) if part is not first]
        items = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.comprehension)]
        for part in (*parts, *items):
            yield from _free_names(part, own | targets)
    else:
        for part in ast.iter_child_nodes(node):
            yield from _free_names(part, own)


COMPREHENSIONS = ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp
SCOPES = ast.FunctionDef, ast.Lambda, ast.ClassDef, *COMPREHENSIONS


def bound_names(function: ast.AST) -> set[str]:
    """The names that a function binds in its own scope, that is not in functions and comprehensions in it."""
    arguments = getattr(function, "args", None)
    found = {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)} if arguments is not None else set()
    left = list(ast.iter_child_nodes(function))
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if not isinstance(node, SCOPES):
            left += ast.iter_child_nodes(node)
    return found


def is_exposed(body: Sequence[ast.stmt], name: str) -> bool:
    """Upward exposure: whether `body` may read the value that `name` has before it."""
    return _first_use(body, name) == "read"


def is_assigned_first(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether `body` certainly drops the value that `name` has before it."""
    return _first_use(body, name) == "written"


def reads_name(node: ast.AST, name: str) -> bool:
    """Whether `name` is read anywhere in `node`."""
    return any(isinstance(n.ctx, ast.Load) for n in _names(node).get(name, ()))


def captured_names(body: ast.AST) -> frozenset[str]:
    """The names that nested functions and generators in `body` may capture: all that they read."""
    functions = [n for n in ast.walk(body) if isinstance(n, (ast.FunctionDef, ast.Lambda)) or _is_kept(n)]
    return frozenset(name for f in functions for name in _names(f) if reads_name(f, name))


def _is_kept(node: ast.AST) -> bool:
    """Whether a statement keeps a generator expression, which reads its names later."""
    value = getattr(node, "value", None) if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) else None
    return value is not None and any(isinstance(n, ast.GeneratorExp) for n in ast.walk(value))


def is_read_outside(function: ast.AST, loop: ast.stmt, enclosing: Sequence[ast.stmt], name: str) -> bool:
    """Whether `name` may be read after `loop`: by a later statement, or in the next trip of an enclosing loop."""
    if not name.isidentifier() and not name.startswith("<skipped"):
        # A flag or result of `parse.jumps`, or an item of a container, has no location in the file: assume a read.
        return True
    return _is_read_outside(function, loop, tuple(enclosing), name)


@lru_cache(maxsize=1 << 16)
def _is_read_outside(function: ast.AST, loop: ast.stmt, enclosing: tuple[ast.stmt, ...], name: str) -> bool:
    end = (loop.end_lineno or loop.lineno, loop.end_col_offset or 0)
    return any(
        ((n.lineno, n.col_offset) >= end or any(_contains(outer, n) for outer in enclosing))
        and not _contains(loop, n)
        and _is_read(function, n)
        for n in _names(function).get(name, ())
    )


@lru_cache(maxsize=1 << 16)
def is_read_behind(function: ast.AST, loop: ast.For, enclosing: tuple[ast.stmt, ...], name: str) -> bool:
    """The same of a name that a loop binds; what other loops, comprehensions and functions bind first is no read of it.

    Functions that are defined before the loop may read it, too.
    """
    others = [one for one in ast.walk(function) if not _is_around(one, loop)]
    bound = {id(n) for one in others for n in _own(one, name)}
    functions = [one for one in others if isinstance(one, ast.Lambda | ast.FunctionDef)]
    captured = {id(n) for one in functions for n in _names(one).get(name, ())}
    end = (loop.end_lineno or loop.lineno, loop.end_col_offset or 0)

    def is_behind(n: ast.Name) -> bool:
        is_later = (n.lineno, n.col_offset) >= end or any(_contains(outer, n) for outer in enclosing)
        return (is_later and not _contains(loop, n)) or id(n) in captured

    reads = [n for n in _names(function).get(name, ()) if id(n) not in bound and _is_read(function, n)]
    return any(map(is_behind, reads))


def _is_around(node: ast.AST, loop: ast.For) -> bool:
    """Whether a node contains a loop, or what that was rewritten from."""
    if not isinstance(node, ast.stmt | ast.expr):
        return True
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    return start <= (loop.lineno, loop.col_offset) and end >= (loop.end_lineno or 0, loop.end_col_offset or 0)


def _own(node: ast.AST, name: str) -> list[ast.Name]:
    """Where a loop, comprehension or function uses a name that it has bound before."""
    inside: list[ast.AST] = []
    if isinstance(node, ast.For) and name in assigned_names(node.target):
        inside = list(node.body)
    elif isinstance(node, COMPREHENSIONS) and any(name in assigned_names(one.target) for one in node.generators):
        first = node.generators[0]
        inside = [part for part in ast.iter_child_nodes(node) if part is not first] + [first.target, *first.ifs]
    elif isinstance(node, ast.Lambda | ast.FunctionDef):
        is_parameter = any(isinstance(one, ast.arg) and one.arg == name for one in ast.walk(node.args))
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        inside = list(body) if is_parameter else []
    return [n for part in inside for n in _names(part).get(name, ())]


def _is_read(function: ast.AST, name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load) or any(target is name for target in _updated(function))


@lru_cache(maxsize=1 << 10)
def _updated(node: ast.AST) -> list[ast.AST]:
    """The targets of augmented assignments in `node`."""
    return [n.target for n in ast.walk(node) if isinstance(n, ast.AugAssign)]


def _contains(outer: ast.AST, name: ast.Name) -> bool:
    return any(n is name for n in _names(outer).get(name.id, ()))


def _first_use(body: Sequence[ast.stmt], name: str) -> str:
    """'read' if some path reads the name first, 'written' if every path assigns it first, else ''."""
    for statement in body:
        use = _use(statement, name)
        if use:
            return use
    return ""


@lru_cache(maxsize=1 << 16)
def _use(statement: ast.stmt, name: str) -> str:
    if isinstance(statement, ast.If):
        if reads_name(statement.test, name):
            return "read"
        uses = [_first_use(statement.body, name), _first_use(statement.orelse, name)]
        return "read" if "read" in uses else "written" if uses == ["written", "written"] else ""
    if isinstance(statement, (ast.For, ast.While)):
        head = statement.iter if isinstance(statement, ast.For) else statement.test
        if reads_name(head, name) or name in getattr(statement, "stop", ()):
            return "read"
        if isinstance(statement, ast.For) and name in assigned_names(statement.target):
            return ""
        # The body may not run at all, so an assignment in it does not count.
        return "read" if _first_use(statement.body, name) == "read" else ""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return "read" if statement.target.id == name or reads_name(statement.value, name) else ""
    if reads_name(statement, name):
        return "read"
    if isinstance(statement, ast.Try):
        # Which of its statements run is not known.
        return ""
    return "written" if any(one.id == name for one in _certainly_bound(statement)) else ""


def _certainly_bound(node: ast.AST) -> Iterator[ast.Name]:
    """The names that a statement binds whatever is true: ``a and (b := c)`` evaluates its second part or not."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node
    later: list[ast.expr] = []
    if isinstance(node, ast.BoolOp):
        later = node.values[1:]
    elif isinstance(node, ast.IfExp):
        later = [node.body, node.orelse]
    elif isinstance(node, ast.Compare):
        later = node.comparators[1:]
    is_declared = isinstance(node, ast.AnnAssign) and node.value is None
    if not isinstance(node, SCOPES) and not is_declared:
        for part in ast.iter_child_nodes(node):
            if not any(part is one for one in later):
                yield from _certainly_bound(part)
