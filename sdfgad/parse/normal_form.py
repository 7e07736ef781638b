"""A-normal form: statements in which some calls are assigned to names of their own, in Python's order of evaluation.

``y = a[0] * f(x) + 1`` with a call of `f` to be named is ``t = a[0]``, ``u = f(x)``, ``y = t * u + 1``: what Python
evaluates before such a call is named, too, as the call may change it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

IsWanted = Callable[[ast.expr], bool]
# Whose parts may be evaluated several times, later or never.
CONDITIONAL = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Yield | ast.YieldFrom
# The fields of statements with what they evaluate once, before all else.
EVALUATED: dict[type[ast.stmt], str] = {
    ast.AnnAssign: "value",
    ast.Assign: "value",
    ast.AugAssign: "value",
    ast.Expr: "value",
    ast.For: "iter",
    ast.If: "test",
    ast.Match: "subject",
    ast.Return: "value",
}


class NotNamed(Exception):
    """Raised where a call is in a part of a statement that may be evaluated several times, or never."""


@dataclass(frozen=True)
class Assigned:
    """A name, and the expression that it is assigned."""

    name: str
    value: ast.expr


@dataclass(frozen=True)
class Chosen:
    """A name that is assigned either of two expressions, each with what goes before it."""

    name: str
    test: ast.expr
    then: tuple[Steps, ast.expr]
    orelse: tuple[Steps, ast.expr]


Steps = list[Assigned | Chosen]


@dataclass
class Named:
    """A statement in which calls have names.

    Attributes:
        before: what is assigned before it, in order.
        statement: the statement with the names; `after`: what follows it.
    """

    before: Steps
    statement: ast.stmt
    after: list[ast.stmt] = field(default_factory=list)


def with_named_calls(statement: ast.stmt, is_wanted: IsWanted) -> Named | None:
    """A statement with those calls named that are wanted; None if there are none among what it evaluates itself.

    Raises:
        NotNamed: one may be evaluated several times, or never.
    """
    if not any(_contains(one, is_wanted) for one in _own(statement)):
        return None
    evaluated = EVALUATED.get(type(statement), "")
    if any(_contains(one, is_wanted) for one in _own(statement) if one is not getattr(statement, evaluated, None)):
        raise NotNamed
    made: Any = copy.copy(statement)
    naming, after = _Naming(is_wanted), list[ast.stmt]()
    if isinstance(made, ast.AugAssign) and not isinstance(made.target, ast.Name):
        name = naming.named(_loaded(made.target))
        after = [ast.copy_location(ast.Assign([made.target], name), made)]
        made.target = ast.copy_location(ast.Name(name.id, ast.Store()), made)
    setattr(made, evaluated, naming.expression(getattr(made, evaluated)))
    return Named(naming.before, made, after)


def name_of(value: ast.expr) -> str:
    return f"<value {value.lineno}, {value.col_offset}, {value.end_lineno}, {value.end_col_offset}>"


def _own(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of statements in it."""
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, ast.expr):
            yield part
        elif isinstance(part, ast.withitem):
            yield part.context_expr


def _contains(node: ast.AST, is_wanted: IsWanted) -> bool:
    return any(isinstance(one, ast.expr) and is_wanted(one) for one in ast.walk(node))


def _loaded(target: ast.expr) -> ast.expr:
    """What an augmented assignment reads; its target is evaluated once more where it is stored."""
    parts = [one for one in ast.walk(target) if isinstance(one, ast.Call | ast.NamedExpr | CONDITIONAL)]
    if parts:
        raise NotNamed
    made: Any = copy.copy(target)
    made.ctx = ast.Load()
    return made


@dataclass
class _Naming:
    is_wanted: IsWanted
    before: Steps = field(default_factory=list)

    def named(self, value: ast.expr) -> ast.Name:
        name = name_of(value)
        self.before.append(Assigned(name, value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    def chosen(self, node: ast.expr, test: ast.expr, then: ast.expr, orelse: ast.expr) -> ast.Name:
        """A conditional expression as a branch."""
        sides = []
        for side in (then, orelse):
            inside = _Naming(self.is_wanted)
            value = inside.expression(side)
            sides.append((inside.before, value))
        name = name_of(node) + "?"
        self.before.append(Chosen(name, test, *sides))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def expression(self, node: ast.expr) -> ast.expr:
        """An expression with the wanted calls in it named, and what is evaluated before them."""
        if not _contains(node, self.is_wanted):
            return node
        made: Any = copy.copy(node)
        match made:
            case ast.Call():
                self.call(made)
            case ast.BinOp():
                made.left, made.right = self.sequence([made.left, made.right])
            case ast.Compare():
                if any(_contains(one, self.is_wanted) for one in made.comparators[1:]):
                    raise NotNamed
                made.left, first = self.sequence([made.left, made.comparators[0]])
                made.comparators = [first, *made.comparators[1:]]
            case ast.BoolOp():
                return self.bool_op(made)
            case ast.IfExp():
                return self.chosen(made, self.expression(made.test), made.body, made.orelse)
            case ast.Subscript():
                made.value, made.slice = self.sequence([made.value, made.slice])
            case ast.Tuple() | ast.List() | ast.Set():
                made.elts = self.sequence(made.elts)
            case ast.Dict() if None not in made.keys:
                pairs: Any = zip(made.keys, made.values, strict=True)
                parts: Any = self.sequence([one for pair in pairs for one in pair])
                made.keys, made.values = parts[::2], parts[1::2]
            case ast.Attribute() | ast.Starred() | ast.NamedExpr():
                made.value = self.expression(made.value)
            case ast.UnaryOp():
                made.operand = self.expression(made.operand)
            case _:
                raise NotNamed
        return self.named(made) if self.is_wanted(node) else made

    def call(self, made: ast.Call) -> None:
        # Which function a name or attribute is, no call is expected to change.
        is_plain = not any(isinstance(one, ast.Call) for one in ast.walk(made.func))
        first = [] if is_plain else [made.func]
        values = self.sequence([*first, *made.args, *(one.value for one in made.keywords)])
        if not is_plain:
            made.func = values.pop(0)
        made.args = values[: len(made.args)]
        keywords = [copy.copy(one) for one in made.keywords]
        for keyword, value in zip(keywords, values[len(made.args) :], strict=True):
            keyword.value = value
        made.keywords = keywords

    def bool_op(self, node: ast.BoolOp) -> ast.expr:
        """``a and b`` as ``b if a else a``."""
        first, *others = node.values
        rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(node.op, others), others[0])
        test = self.named(self.expression(first))
        sides = (rest, test) if isinstance(node.op, ast.And) else (test, rest)
        return self.chosen(node, test, *sides)

    def sequence(self, nodes: Sequence[ast.expr]) -> list[ast.expr]:
        """Expressions that are evaluated one after the other: those before the last with a wanted call are named."""
        last = max((at for at, one in enumerate(nodes) if _contains(one, self.is_wanted)), default=-1)
        before = [self.earlier(one) for one in nodes[: max(last, 0)]]
        return [*before, *map(self.expression, nodes[len(before) :])]

    def earlier(self, node: ast.expr) -> ast.expr:
        """An expression that is evaluated before a wanted call."""
        if isinstance(node, ast.Starred):
            made = copy.copy(node)
            made.value = self.earlier(node.value)
            return made
        if isinstance(node, ast.Slice):
            raise NotNamed
        value = self.expression(node)
        return value if isinstance(value, ast.Name | ast.Constant) else self.named(value)
