"""Branches: constant folding, phi nodes for the names that sides bind, and tail duplication."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sdfgad.errors import AmbiguousArray, Rebound
from sdfgad.ir.expr import BOOL, Expr, Op
from sdfgad.parse import chosen_objects, conditions, sharing
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.binding import assign
from sdfgad.parse.blame import blame_for_names, blamed
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import Decision
from sdfgad.parse.escape import aliased_buffers
from sdfgad.parse.frame import Frame, Return
from sdfgad.parse.items import Items, settled
from sdfgad.parse.jumps import with_result
from sdfgad.parse.liveness import is_exposed, is_read_outside
from sdfgad.parse.merging import as_maybe_bound, is_same, is_unmergeable, phi, unified
from sdfgad.parse.operands import calls_user_function, may_change_something
from sdfgad.parse.values import ABSENT, AfterLoop, NotNumeric, Tensor, Unbound

Env = dict[str, Any]
Side = Callable[[], Any]
# From the value of each side, with its statements, to the value after them.
Join = Callable[[list[tuple[Any, list[Any]]]], Any]
CHANGE_BEFORE = "Assign it, or change it, before the `if`."

MOST_TAIL_DUPLICATIONS = 16


def branch(frame: Frame, node: ast.If, rest: list[ast.stmt]) -> Return | None:
    """Parse an ``if`` and the statements after it; only one side, where the condition is known while parsing.

    Tail duplication: where the sides bind a name to different arrays or shapes, and the statements that follow cannot
    use a copy in a phi node, these are parsed once for each side.
    """

    def merged() -> Return | None:
        test = conditions.test(frame, node.test)
        with frame.going_on():
            branch_on(frame, test, lambda: frame.block(node.body), lambda: frame.block(node.orelse), node)
        return frame.block(rest)

    def split() -> Return | None:
        follows, end = with_result(rest)
        test = conditions.test(frame, node.test)
        sides = [[*node.body, *follows], [*node.orelse, *follows]]
        branch_on(frame, test, lambda: frame.block(sides[0]), lambda: frame.block(sides[1]), node)
        return frame.block(end)

    return retried(frame, merged, split)


def assignment(frame: Frame, node: ast.Assign, rest: list[ast.stmt]) -> Return | None:
    """Parse ``z = x if condition else y`` and what follows; as a branch where `z` must be an alias of `x` or `y`."""
    value = node.value
    assert isinstance(value, ast.IfExp)
    sides = [ast.copy_location(ast.Assign(node.targets, side), node) for side in (value.body, value.orelse)]
    as_branch = ast.copy_location(ast.If(value.test, [sides[0]], [sides[1]]), node)

    def chosen() -> Return | None:
        try:
            assign(frame, node)
        except NotNumeric as error:
            # Lists, dicts and objects are merged by a branch.
            raise Rebound(str(error), frame.where(node), error.todo) from error
        return frame.block(rest)

    return retried(frame, chosen, lambda: branch(frame, as_branch, rest))


def with_choices(frame: Frame, node: ast.stmt, rest: list[ast.stmt]) -> tuple[Return | None, bool]:
    """Parse a statement with conditional expressions in it; as a branch, with what follows, where that is needed.

    Returns what the statement, or the branch, returns, and whether what follows has been parsed.
    """
    point = ChoicePoint.of(frame)
    try:
        return frame.statement(node), False
    except Rebound as error:
        sides = None if error.choice is None else _hoisted(frame, node, error.choice)
        if sides is None or error.choice is None:
            raise
        test = error.choice.test
    point.backtrack(frame)
    (first, end), (second, _) = (with_result([side]) for side in sides)
    as_branch = ast.copy_location(ast.If(test, first, second), node)
    return branch(frame, as_branch, [*rest, *end]), True


def _hoisted(frame: Frame, node: ast.stmt, choice: ast.IfExp) -> list[ast.stmt] | None:
    """A statement with either value of a conditional expression in it; None unless its test may be evaluated first."""
    if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)):
        return None
    if not _is_part(node, choice) or calls_user_function(frame, _with(node, choice, ast.Constant(None))):
        return None
    if any(may_change_something(frame, one) for one in _beside(node, choice)):
        return None
    return [_with(node, choice, value) for value in (choice.body, choice.orelse)]


def _beside(node: ast.AST, choice: ast.IfExp) -> Iterator[ast.expr]:
    """The expressions in a statement beside a conditional one, or beside what that is part of."""
    for part in ast.iter_child_nodes(node):
        if part is not choice and any(one is choice for one in ast.walk(part)):
            yield from _beside(part, choice)
        elif part is not choice and isinstance(part, ast.expr):
            yield part


def _is_part(node: ast.AST, choice: ast.IfExp) -> bool:
    """Whether a statement evaluates an expression, and does so once whatever the values of others in it."""
    if not any(n is choice for n in ast.walk(node)):
        return False
    others = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp)
    around = (n for n in ast.walk(node) if isinstance(n, others) and n is not choice)
    return not any(n is choice for other in around for n in ast.walk(other))


def _with(node: Any, old: ast.expr, new: ast.expr) -> Any:
    """A copy of a node with a node in it replaced; what does not contain that node is shared."""
    if node is old:
        return new
    if isinstance(node, list):
        return [_with(part, old, new) for part in node]
    if not isinstance(node, ast.AST) or not any(n is old for n in ast.walk(node)):
        return node
    copied = copy.copy(node)
    for name, value in ast.iter_fields(node):
        setattr(copied, name, _with(value, old, new))
    return copied


def may_duplicate_tail(b: Builder) -> bool:
    """Count a tail duplication, and return whether it is within the limit."""
    b.tail_duplications += 1
    return b.tail_duplications <= MOST_TAIL_DUPLICATIONS


def retried(frame: Frame, first: Callable[[], Any], otherwise: Callable[[], Any]) -> Return | None:
    """Parse by `first`; backtrack and parse by `otherwise` where arrays or shapes depend on a branch."""
    point = ChoicePoint.of(frame)
    try:
        return first()
    except (Rebound, AmbiguousArray):
        if not may_duplicate_tail(frame.b):
            raise
    point.backtrack(frame)
    return otherwise()


def branch_on(frame: Frame, test: bool | Tensor, then: Side, orelse: Side, node: ast.stmt | None) -> None:
    """Parse one side where the test is known while parsing, else both, as a branch of the program."""
    if isinstance(test, bool):
        (then if test else orelse)()
        return
    _merged_sides(frame, test, (then, orelse), node, None)


def chosen(frame: Frame, test: Tensor, arms: tuple[Side, Side], join: Join) -> Any:
    """Parse two expressions as the sides of a branch; what `join` makes of their values.

    Whatever they bind, with ``:=`` or in functions that they call, is merged as that of an ``if`` is.
    """
    return _merged_sides(frame, test, arms, None, join)


def _merged_sides(
    frame: Frame, test: Tensor, sides: tuple[Side, Side], node: ast.stmt | None, join: Join | None
) -> Any:
    b, point = frame.b, ChoicePoint.of(frame)

    def attempt(items: Items) -> Any:
        condition = conditions.fixed(b, test)
        with blamed(b, condition, b.where):
            return _branch(frame, condition, sides, node, items, join)

    return settled(b, node, attempt, lambda: point.backtrack(frame))


def _branch(
    frame: Frame,
    condition: Expr,
    sides: tuple[Side, Side],
    node: ast.stmt | None,
    items: Items,
    join: Join | None,
) -> Any:
    b = frame.b
    items.as_names(frame)
    here, before = b.where, dict(frame.env)
    ends, values = [], []
    for side, negate in zip(sides, (False, True), strict=True):
        frame.env = dict(before)
        forms = conditions.implied_forms(b, condition, negate)
        with b.block(*forms) as statements, items.in_body(b), _decided(b, condition, negate):
            items.as_items(frame)
            values.append(side())
            items.as_names(frame)
        ends.append((frame.env, statements))
    b.where = here
    frame.env = _merge(_Ends(frame, ends, node), before, items)
    blame_for_names(b, before, frame.env, condition)
    if join is not None and items.held_by(frame, values):
        raise Rebound("an expression on data chooses a list, dict or object, and changes it", here, CHANGE_BEFORE)
    result = None if join is None else join([(value, end[1]) for value, end in zip(values, ends, strict=True)])
    items.assign(frame)
    b.branch(condition, ends[0][1], ends[1][1], conditions.affine_forms(condition) or ())
    return result


@contextmanager
def _decided(b: Builder, condition: Expr, negate: bool) -> Iterator[None]:
    holds = Op("logical_not", (condition,), BOOL) if negate else condition
    b.decisions.append(Decision(len(b.blocks), b.deciders(condition), holds, b.where))
    try:
        with conditions.a_side():
            yield
    finally:
        b.decisions.pop()


@dataclass(frozen=True, eq=False)
class _Ends:
    """The ends of both sides of a branch: what each binds, and its statements.

    Attributes:
        node: the branch; None: that of an expression.
        masks: phi nodes that have been made, to share them.
    """

    frame: Frame
    sides: list[tuple[Env, Any]]
    node: ast.stmt | None
    masks: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def dead(self) -> list[frozenset[str]]:
        """For each side the names of arrays that are not read after the branch."""
        return [frozenset(n for n, value in env.items() if self._is_dead(n, value)) for env, _ in self.sides]

    def _is_dead(self, name: str, value: Any) -> bool:
        """Whether a name of an array is not read after the branch, neither by this function nor by those in it."""
        source = self.frame.source
        is_kept = name in source.captured or name in source.nonlocals or not isinstance(value, Tensor)
        return not is_kept and not self.is_read(name)

    def is_read(self, name: str) -> bool:
        """Whether a name may be read after the branch; after that of an expression the rest of the statement may."""
        frame, node = self.frame, self.node
        if node is None or is_read_outside(frame.source.tree, node, frame.around, name):
            return True
        # The branch itself may read it in the next trip of a loop around it.
        return bool(frame.around) and is_exposed([node], name)


def _merge(ends: _Ends, before: Env, items: Items) -> Env:
    frame, merged = ends.frame, dict(before)
    for name in {**ends.sides[0][0], **ends.sides[1][0]}:
        values = [env.get(name, ABSENT) for env, _ in ends.sides]
        x, y = values
        if x is y or is_same(x, y):
            merged[name] = x
        elif (one := sharing.only_one(frame.b, values, len(frame.b.blocks))) is not None:
            merged[name] = one
        elif is_unmergeable(x) or is_unmergeable(y):
            merged[name] = x if is_unmergeable(x) else y
        elif any(id(one) not in sharing.same_containers(values) for one in items.held_by(frame, values)):
            # What is in them differs, too, by the names of the items.
            what = f"an `if` on data both assigns a list, dict or object to `{name}` and changes one"
            merged[name] = Unbound(what, Rebound(what, frame.b.where, CHANGE_BEFORE))
        else:
            merged[name] = _merged_value(ends, name, values)
    return merged


def _merged_value(ends: _Ends, name: str, values: list[Any]) -> Any:
    """The phi node of a name whose values differ after the two sides; where there is none, reading it is an error."""
    if ABSENT in values and not ends.is_read(name) and name not in ends.frame.source.captured:
        return ABSENT
    try:
        return _phi(ends, name, values)
    except Rebound as error:
        return Unbound(str(error.what), error)


def _phi(ends: _Ends, name: str, values: list[Any]) -> Any:
    frame, sides = ends.frame, ends.sides
    values = [as_maybe_bound(value) if isinstance(value, AfterLoop) else value for value in values]
    pairs = [(value, block) for value, (_, block) in zip(values, sides, strict=True)]

    def aliased(end: int, leaf: Any) -> Any:
        return aliased_buffers(frame, name, leaf, sides[end][0], ends.dead[end])

    merged = phi(frame.b, name, pairs, aliased, ends.masks)
    if any(sharing.is_shared(frame, value, env) for value, (env, _) in zip(values, sides, strict=True)):
        sharing.add_copies(frame.b, merged, unified(frame.b, values, len(frame.b.blocks), joins_none=True))
    return chosen_objects.resolved(frame.b, merged)
