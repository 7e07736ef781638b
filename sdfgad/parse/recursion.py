"""Recursion removal: a function that returns a sum with calls of itself, as a loop over a stack of what is left to add.

Adaptive quadrature returns ``f(a, m, tol / 2) + f(m, b, tol / 2)`` where an error estimate is large: data decides how
deep it goes, so that it cannot be inlined. The sum needs no frames: a call adds what is no call to a total, and leaves
the arguments of the others, with their factors, on a stack. As the last one is taken first, all is evaluated in
Python's order, but for the additions.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sdfgad.errors import Location, UnsupportedProgram

TOTAL, TODO, FACTOR = "<total>", "<todo>", "<factor>"
TOO_DEEP = "the recursion is too deep, or whether it ends depends on data"
WRITE_A_LOOP = "Write a loop: `for _ in range(n):` or `while`."
# The file and the line of a function.
Place = tuple[str, int]


class Recursive(Exception):
    """Raised where a function calls itself again and again because data decides so, and can be a loop instead."""

    def __init__(self, place: Place, where: Location | None) -> None:
        super().__init__(TOO_DEEP)
        self.place, self.where = place, where

    def refused(self) -> UnsupportedProgram:
        """The error where the loop is refused."""
        return UnsupportedProgram(TOO_DEEP, self.where, WRITE_A_LOOP)


class _NoLoop(Exception):
    """Raised where a function has another form than a sum of calls of itself."""


@lru_cache(maxsize=256)
def as_loop(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | None:
    """The function as a loop; None if it has another form, or statements that may change what it is passed."""
    if not isinstance(node, ast.FunctionDef) or not _is_plain(node):
        return None
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call) and is_call(one, node.name)]
    uses = [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == node.name]
    try:
        passed, bound = [_passed(node, call) for call in calls], {*_bound(node)}
        kept = {name for name in (one.arg for one in node.args.args) if all(_is_same(name, one) for one in passed)}
        moving = tuple(one.arg for one in node.args.args if one.arg not in kept - bound)
        return _Removal(node, moving).loop() if moving and passed and len(uses) == len(calls) else None
    except _NoLoop:
        return None


def _is_plain(node: ast.FunctionDef) -> bool:
    """Whether a function has simple parameters, and no statement that changes anything but its own names."""
    args = node.args
    is_simple = not (args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or node.decorator_list)
    is_simple = is_simple and node.name not in {one.arg for one in args.args}
    # Without a decision it never ends.
    is_simple = is_simple and any(isinstance(one, (ast.If, ast.IfExp)) for one in ast.walk(node))
    new = _new(node)
    return is_simple and all(_is_pure(one, new) for statement in node.body for one in ast.walk(statement))


def _new(node: ast.FunctionDef) -> set[str]:
    """The names that are only assigned results of operations, which no other name has."""
    assigned = [one for one in ast.walk(node) if isinstance(one, ast.Assign)]
    computed = [one for one in assigned if isinstance(one.value, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant))]
    names = {one.id for statement in computed for one in statement.targets if isinstance(one, ast.Name)}
    others = {name for statement in assigned if statement not in computed for name in _bound(statement)}
    return names - others - {one.arg for one in node.args.args}


def _is_pure(node: ast.AST, new: set[str]) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id in new
    return not isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.FunctionDef, ast.Lambda))


def is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _passed(node: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """What a call passes, by the names of the parameters."""
    names, defaults = [one.arg for one in node.args.args], node.args.defaults
    found = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    if not all(isinstance(one, ast.Constant) for one in defaults) or len(call.args) > len(names):
        raise _NoLoop
    found |= dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in names:
            raise _NoLoop
        found[keyword.arg] = keyword.value
    if any(isinstance(one, ast.Starred) for one in call.args) or len(found) < len(names):
        raise _NoLoop
    return found


def _is_same(name: str, passed: Mapping[str, ast.expr]) -> bool:
    """Whether a parameter is passed on as it is."""
    value = passed[name]
    return isinstance(value, ast.Name) and value.id == name


@dataclass(frozen=True)
class _Removal:
    """The removal of a function's recursion; `moving` are the parameters that differ from call to call."""

    node: ast.FunctionDef
    moving: tuple[str, ...]

    def loop(self) -> ast.FunctionDef:
        node = self.node
        first = ast.Tuple([ast.Constant(1), *map(_read, self.moving)], ast.Load())
        names = ast.Tuple([_name(one, ast.Store()) for one in (FACTOR, *self.moving)], ast.Store())
        body = [ast.Assign([names], _call_of_stack("pop")), *self.block(node.body, {})]
        statements: list[ast.stmt] = [
            ast.Assign([_name(TOTAL, ast.Store())], ast.Constant(0)),
            ast.Assign([_name(TODO, ast.Store())], ast.List([first], ast.Load())),
            ast.While(_read(TODO), body, []),
            ast.Return(_read(TOTAL)),
        ]
        made = ast.FunctionDef(node.name, node.args, [_placed(one, node) for one in statements], [], node.returns)
        return ast.copy_location(made, node)

    def block(self, statements: Sequence[ast.stmt], named: Mapping[str, ast.expr]) -> list[ast.stmt]:
        """A block that ends with ``return`` on all paths; `named` are the names of calls before it."""
        if not statements:
            raise _NoLoop
        one, rest = statements[0], statements[1:]
        if isinstance(one, ast.Return):
            return [_placed(made, one) for made in self.returned(one.value, named)]
        if isinstance(one, ast.If) and self.has_return(one):
            then, orelse = (self.block([*side, *copy.deepcopy(rest)], named) for side in (one.body, one.orelse))
            return [ast.copy_location(ast.If(one.test, then, orelse), one)]
        if self.has_return(one):
            raise _NoLoop
        if isinstance(one, ast.Assign) and self.calls(one):
            if len(one.targets) > 1 or not isinstance(one.targets[0], ast.Name):
                raise _NoLoop
            return self.block(rest, {**named, one.targets[0].id: one.value})
        if named or self.calls(one):
            raise _NoLoop
        return [one, *self.block(rest, named)]

    def returned(self, value: ast.expr | None, named: Mapping[str, ast.expr]) -> list[ast.stmt]:
        """In place of a ``return``: what it returns is added to the total, and calls are left to do."""
        if value is None:
            raise _NoLoop
        read = [one.id for one in ast.walk(value) if isinstance(one, ast.Name)]
        if any(read.count(name) != 1 for name in named):
            raise _NoLoop
        if isinstance(value, ast.IfExp) and not named:
            return [ast.If(value.test, *(self.returned(side, named) for side in (value.body, value.orelse)))]
        terms = list(self.terms(value, _read(FACTOR), dict(named)))
        made: list[ast.stmt] = []
        for factor, term in terms:
            if not self.calls(term):
                total = ast.BinOp(_read(TOTAL), ast.Add(), ast.BinOp(factor, ast.Mult(), term))
                made.append(ast.Assign([_name(TOTAL, ast.Store())], total))
        for factor, term in reversed(terms):
            if self.calls(term):
                made.append(ast.Expr(_call_of_stack("append", ast.Tuple([factor, *self.arguments(term)], ast.Load()))))
        return made

    def terms(
        self, value: ast.expr, factor: ast.expr, named: dict[str, ast.expr]
    ) -> Iterator[tuple[ast.expr, ast.expr]]:
        """The terms of a sum, each with its factor; a name of a call is one once."""
        if isinstance(value, ast.Name) and value.id in named:
            yield from self.terms(named.pop(value.id), factor, named)
        elif is_call(value, self.node.name) or not self.depends(value, named):
            yield copy.deepcopy(factor), value
        elif isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
            yield from self.terms(value.left, factor, named)
            sign = factor if isinstance(value.op, ast.Add) else ast.UnaryOp(ast.USub(), factor)
            yield from self.terms(value.right, sign, named)
        elif isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Div)):
            is_left = self.depends(value.left, named)
            inner, other = (value.left, value.right) if is_left else (value.right, value.left)
            if self.depends(other, named) or (isinstance(value.op, ast.Div) and not is_left):
                raise _NoLoop
            yield from self.terms(inner, ast.BinOp(factor, value.op, other), named)
        elif isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
            yield from self.terms(value.operand, ast.UnaryOp(ast.USub(), factor), named)
        else:
            raise _NoLoop

    def arguments(self, call: ast.expr) -> list[ast.expr]:
        assert isinstance(call, ast.Call)
        passed = _passed(self.node, call)
        if any(self.calls(one) for one in passed.values()):
            raise _NoLoop
        return [passed[name] for name in self.moving]

    def calls(self, node: ast.AST) -> bool:
        """Whether the function is called in a part of it."""
        return any(is_call(one, self.node.name) for one in ast.walk(node))

    def depends(self, node: ast.AST, named: Mapping[str, ast.expr]) -> bool:
        return self.calls(node) or any(isinstance(one, ast.Name) and one.id in named for one in ast.walk(node))

    def has_return(self, node: ast.AST) -> bool:
        return any(isinstance(one, ast.Return) for one in ast.walk(node))


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that are bound in a function."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
            yield one.id


def _name(name: str, ctx: ast.expr_context) -> ast.Name:
    return ast.Name(name, ctx)


def _read(name: str) -> ast.Name:
    return _name(name, ast.Load())


def _call_of_stack(method: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(_read(TODO), method, ast.Load()), list(arguments), [])


def _placed(made: ast.stmt, at: ast.stmt) -> ast.stmt:
    """A statement at the place of one of the user's."""
    return ast.fix_missing_locations(ast.copy_location(made, at))
