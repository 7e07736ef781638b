"""Single exit: rewrites ``break``, ``continue`` and ``return`` inside loops and branches as structured control flow.

The statements after a branch that jumps become part of its other side if one side always jumps. Else they are guarded
by a test of flags, which the jumps set. The attribute `stop` of a loop has the names of the flags that end it. These
names are no identifiers, so they differ from all names of the user. Nodes keep their locations in the file.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from typing import Any

from sdfgad.parse import caught
from sdfgad.parse.common_results import common_name
from sdfgad.parse.managers import as_try, is_errstate
from sdfgad.parse.matching import as_branches
from sdfgad.parse.values import UNDEFINED

RETURNED = "<returned>"
RESULT = "<result>"


def structured(body: Sequence[ast.stmt], parameters: Sequence[str] = ()) -> list[ast.stmt]:
    """The body of a function with a single exit: without jumps, except for one ``return`` at its end."""
    body = _flattened(body)
    last = body[-1:] if body and isinstance(body[-1], (ast.Return, ast.Raise)) else []
    first = body[: len(body) - len(last)]
    if not _has_jump(first) and not any(_has_else(node) for node in _own_nodes(first)):
        return body
    rewriter = _Rewriter(_Results.of(body, parameters, may_end=not (last or _always_jumps(body))))
    rewritten = [*rewriter.block(body, _Flags(RETURNED)), *rewriter.none_at_end(body[-1])]
    start = [_set(RETURNED, False, body[0]), *rewriter.results.undefined(body[0])]
    end = [rewriter.results.final(body[-1])] if rewriter.results.count != -1 else []
    return [_DeadFlagRemover(rewriter.tested_flags).visit(s) for s in [*start, *rewritten]] + end


def stops(loop: ast.For | ast.While) -> tuple[str, ...]:
    """The names of the flags that end a loop."""
    return getattr(loop, "stop", ())


@lru_cache(maxsize=1 << 10)
def tested_inside(node: ast.While) -> tuple[ast.While, str]:
    """A loop whose test is a branch in its body, as it changes something; and the flag that ends the loop."""
    flag = f"<failed {node.lineno}, {node.col_offset}>"
    body = _if(node.test, node.body, [_set(flag, True, node)], node)
    endless = ast.copy_location(ast.Constant(True), node.test)
    loop: Any = ast.copy_location(ast.While(endless, [body], node.orelse), node)
    loop.stop = (*stops(node), flag)
    return loop, flag


def with_result(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """A block and its exit: a ``return`` at its end becomes an assignment of the result, and a ``return`` of that."""
    last = body[-1] if body else None
    if not isinstance(last, ast.Return) or last.value is None:
        return (body[:-1], body[-1:]) if isinstance(last, ast.Return) else (body, [])
    value = _assign(_name(RESULT, last, ast.Store()), last.value, last)
    final = ast.copy_location(ast.Return(_name(RESULT, last, ast.Load())), last)
    return [*body[:-1], value], [final]


COMPOUND = (ast.If, ast.For, ast.While, ast.Try)


def with_blocks(statement: Any, each: Callable[[list[ast.stmt]], list[ast.stmt]]) -> Any:
    """A compound statement with its blocks mapped."""
    made = copy.copy(statement)
    made.stop = stops(statement)
    made.body, made.orelse = each(statement.body), each(statement.orelse)
    if isinstance(statement, ast.Try):
        made.finalbody = each(statement.finalbody)
        made.handlers = [copy.copy(handler) for handler in statement.handlers]
        for handler in made.handlers:
            handler.body = each(handler.body)
        made.handled = [replace(one, body=each(one.body)) for one in caught.handled(statement)]
    return made


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement."""
    if not isinstance(statement, COMPOUND):
        return []
    if not isinstance(statement, ast.Try):
        return [statement.body, statement.orelse]
    handlers = [*(one.body for one in statement.handlers), *(one.body for one in caught.handled(statement))]
    return [statement.body, statement.orelse, *handlers, statement.finalbody]


def _flattened(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The body with the statements of each ``with`` moved after it, as np.errstate has no effect on compiled code.

    Other context managers are entered, and left in a ``finally``.
    """
    result: list[ast.stmt] = []
    for statement in [one for each in body for one in (as_branches(each) if isinstance(each, ast.Match) else [each])]:
        if isinstance(statement, ast.With) and not is_errstate(statement):
            result += _flattened(as_try(statement))
            continue
        if isinstance(statement, ast.With):
            alone = ast.copy_location(ast.With(statement.items, [ast.copy_location(ast.Pass(), statement)]), statement)
            result += [alone, *_flattened(statement.body)]
            continue
        has_more = any(isinstance(one, ast.With | ast.Match) for one in ast.walk(statement))
        if isinstance(statement, COMPOUND) and has_more:
            statement = with_blocks(statement, _flattened)
        result.append(statement)
    return result


@dataclass(frozen=True)
class _Flags:
    """The flags that jumps set: for ``return``, and for ``break`` and ``continue`` of the innermost loop."""

    returned: str
    stop: str = ""
    skip: str = ""


@dataclass(frozen=True)
class _Results:
    """The names of the returned value: one (`count` 0), one for each entry of a tuple, or none (-1).

    Attributes:
        may_end: whether the function may come to its end without a ``return``, so that it returns None.
        common: the names that all ``return`` have at their places.
    """

    count: int
    may_end: bool
    common: dict[int, str] = field(default_factory=dict)

    @staticmethod
    def of(body: list[ast.stmt], parameters: Sequence[str], may_end: bool) -> _Results:
        values = [n.value for n in _own_nodes(body) if isinstance(n, ast.Return)]
        if all(value is None for value in values):
            return _Results(-1, False)
        sizes = {len(v.elts) if isinstance(v, ast.Tuple) and v.elts else 0 for v in values}
        starred = any(isinstance(n, ast.Starred) for v in values if isinstance(v, ast.Tuple) for n in v.elts)
        if may_end or starred or len(sizes) > 1:
            return _Results(0, may_end)
        entries = [values] if sizes == {0} else zip(*(v.elts for v in values if isinstance(v, ast.Tuple)), strict=True)
        named = [common_name(body, parameters, entry) for entry in entries]
        return _Results(sizes.pop(), may_end, {at: name for at, name in enumerate(named) if name})

    def assigned(self, node: ast.Return) -> list[ast.stmt]:
        own = self._own()
        if not own:
            return []
        value = node.value or ast.copy_location(ast.Constant(None), node)
        targets: list[ast.expr] = [_name(name, node, ast.Store()) for name in own.values()]
        if not isinstance(value, ast.Tuple) or not self.count:
            return [_assign(targets[0], value, node)]
        values = ast.copy_location(ast.Tuple([value.elts[at] for at in own], ast.Load()), value)
        return [_assign(ast.copy_location(ast.Tuple(targets, ast.Store()), node), values, node)]

    def undefined(self, at: ast.stmt) -> list[ast.stmt]:
        return [_undefined(name, at) for name in self._own().values()]

    def final(self, at: ast.stmt) -> ast.stmt:
        own = {**self._own(), **self.common}
        names: list[ast.expr] = [_name(own[k], at, ast.Load()) for k in sorted(own)]
        value = ast.Tuple(names, ast.Load()) if self.count else names[0]
        return ast.fix_missing_locations(ast.copy_location(ast.Return(value), at))

    def _own(self) -> dict[int, str]:
        """The names of results, by their places."""
        names = {0: RESULT} if self.count == 0 else {k: f"{RESULT}{k}" for k in range(self.count)}
        return {at: name for at, name in names.items() if at not in self.common}


@dataclass
class _Rewriter:
    results: _Results
    tested_flags: set[str] = field(default_factory=set)
    numbers: Any = field(default_factory=count)

    def block(self, body: Sequence[ast.stmt], flags: _Flags) -> list[ast.stmt]:
        rewritten: list[ast.stmt] = []
        for position, statement in enumerate(body):
            rest = body[position + 1 :]
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
                return [*rewritten, *self.jump(statement, flags)]
            if isinstance(statement, ast.If) and (
                _has_jump([statement]) or any(map(_has_else, _own_nodes([statement])))
            ):
                return [*rewritten, *self.branch(statement, rest, flags)]
            if isinstance(statement, ast.Try) and (
                _has_jump([statement]) or any(map(_has_else, _own_nodes([statement])))
            ):
                return [*rewritten, *self.try_(statement, rest, flags)]
            if isinstance(statement, (ast.For, ast.While)) and _needs_rewriting(statement):
                return [*rewritten, *self.loop(statement, rest, flags)]
            rewritten.append(statement)
        return rewritten

    def none_at_end(self, at: ast.stmt) -> list[ast.stmt]:
        """Where no ``return`` was reached, the result is None."""
        if not self.results.may_end:
            return []
        self.tested_flags.add(RETURNED)
        nothing = _assign(_name(RESULT, at, ast.Store()), ast.Constant(None), at)
        return [_if(_none_of([RETURNED], at), [nothing], [], at)]

    def jump(self, node: ast.stmt, flags: _Flags) -> list[ast.stmt]:
        if isinstance(node, ast.Return):
            return [*self.results.assigned(node), _set(flags.returned, True, node)]
        if isinstance(node, ast.Raise):
            return [_set(caught.flag_of(node), True, node)] if caught.flag_of(node) else [node]
        return [_set(flags.stop if isinstance(node, ast.Break) else flags.skip, True, node)]

    def branch(self, node: ast.If, rest: Sequence[ast.stmt], flags: _Flags) -> list[ast.stmt]:
        then, orelse = node.body, node.orelse
        if _is_guard([node]) and not _always_jumps([node]):
            return [node, *self.block(rest, flags)]
        if _always_jumps(then) and not _has_jump(orelse):
            orelse, rest = [*orelse, *rest], []
        elif _always_jumps(orelse) and not _has_jump(then):
            then, rest = [*then, *rest], []
        elif _always_jumps(then) and _always_jumps(orelse):
            rest = []
        rewritten = [_if(node.test, self.block(then, flags), self.block(orelse, flags), node)]
        return [*rewritten, *self.guarded(_flags_set([node], flags), rest, flags)]

    def try_(self, node: ast.Try, rest: Sequence[ast.stmt], flags: _Flags) -> list[ast.stmt]:
        """A ``try``: where its body jumps, ``else`` does not run; where it raises in a branch, the handler does."""
        flag = f"<raised {next(self.numbers)}>"
        node = caught.marked(node, flag, with_blocks) or node
        handled = caught.handled(node)
        first = [_set(one.flag, False, node) for one in handled]
        first += [_undefined(one.exception, node) for one in handled if one.exception]
        handlers = [_if(_name(one.flag, node, ast.Load()), one.body, [], node) for one in handled]
        return [*first, *self.try_body(node, [*handlers, *rest], flags)]

    def try_body(self, node: ast.Try, rest: Sequence[ast.stmt], flags: _Flags) -> list[ast.stmt]:
        made = with_blocks(node, lambda body: body)
        made.handled = []
        made.body = self.block(node.body, flags)
        made.orelse = self.guarded(_flags_set(node.body, flags), node.orelse, flags)
        made.finalbody = self.block(node.finalbody, flags)
        made.leaves = bool(_flags_set(node.finalbody, flags))
        for handler in made.handlers:
            handler.body = self.block(handler.body, flags)
        return [made, *self.guarded(_flags_set([node], flags), rest, flags)]

    def guarded(self, names: Sequence[str], rest: Sequence[ast.stmt], flags: _Flags) -> list[ast.stmt]:
        """The statements `rest`, guarded by a test that none of the flags `names` is set."""
        if not rest or not names:
            return self.block(rest, flags)
        self.tested_flags.update(names)
        return [_if(_none_of(names, rest[0]), self.block(rest, flags), [], rest[0])]

    def loop(self, node: ast.For | ast.While, rest: Sequence[ast.stmt], flags: _Flags) -> list[ast.stmt]:
        number = next(self.numbers)
        inner = _Flags(flags.returned, f"<broken {number}>", f"<skipped {number}>")
        used = _flags_set(node.body, inner)
        stop = tuple(name for name in used if name != inner.skip)
        self.tested_flags.update(stop)
        body = self.block(node.body, inner)
        if inner.skip in self.tested_flags:
            body = [_set(inner.skip, False, node.body[0]), *body]
        rewritten: ast.stmt
        if isinstance(node, ast.For):
            rewritten = ast.For(node.target, node.iter, body, [], node.type_comment)
        else:
            rewritten = ast.While(node.test, body, [])
        rewritten.stop = stop  # type: ignore[union-attr]
        ast.copy_location(rewritten, node)
        start = [_set(inner.stop, False, node)] if inner.stop in stop else []
        after = self.guarded(stop, node.orelse, flags)
        left = _flags_set([node], flags)
        return [*start, rewritten, *after, *self.guarded(left, rest, flags)]


class _DeadFlagRemover(ast.NodeTransformer):
    """Dead-code elimination of assignments to flags that no statement tests."""

    def __init__(self, tested_flags: set[str]) -> None:
        self.tested_flags = tested_flags

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        target = node.targets[0]
        is_flag = isinstance(target, ast.Name) and target.id.startswith(("<broken", "<skipped", RETURNED))
        if is_flag and isinstance(target, ast.Name) and target.id not in self.tested_flags:
            return ast.copy_location(ast.Pass(), node)
        return node


# --- what jumps where


def _own_nodes(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """All statements of a body, without those of functions and classes that it defines."""
    found: list[ast.stmt] = []
    for statement in body:
        found.append(statement)
        for block in _blocks(statement):
            found += _own_nodes(block)
    return found


def _has_jump(body: Sequence[ast.stmt]) -> bool:
    """Whether `body` has a jump, or a branch with a ``raise``."""
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in _own_nodes(body)) or any(
        isinstance(n, ast.If) and _has_raise(n) for n in _own_nodes(body)
    )


def _has_raise(node: ast.If) -> bool:
    return any(isinstance(n, ast.Raise) for n in _own_nodes([node]))


def _has_else(node: ast.stmt) -> bool:
    return isinstance(node, (ast.For, ast.While)) and bool(node.orelse)


def _needs_rewriting(node: ast.If | ast.For | ast.While) -> bool:
    has_jump = _has_jump([node]) if isinstance(node, ast.If) else _has_jump(node.body)
    return has_jump or any(map(_has_else, _own_nodes([node])))


def _always_jumps(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return _always_jumps(last.body) and _always_jumps(last.orelse)
    return isinstance(last, (ast.Return, ast.Break, ast.Continue, ast.Raise))


def _is_guard(body: Sequence[ast.stmt]) -> bool:
    """Guard clauses: branches that raise or do nothing, so that what follows need not be in a branch.

    In a branch, attributes could not be bound, nor arrays be replaced by those of other shapes.
    """
    own = _own_nodes(body)
    if not all(isinstance(n, (ast.If, ast.Raise, ast.Expr, ast.Pass)) and not caught.flag_of(n) for n in own):
        return False
    return not any(isinstance(n, ast.NamedExpr) for statement in body for n in ast.walk(statement))


def _flags_set(body: Sequence[ast.stmt], flags: _Flags) -> tuple[str, ...]:
    """The flags by which a jump in `body` leaves it, in a fixed order."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Return):
            found.add(flags.returned)
        elif isinstance(statement, ast.Break):
            found.add(flags.stop)
        elif isinstance(statement, ast.Continue):
            found.add(flags.skip)
        elif isinstance(statement, ast.Raise):
            found |= {caught.flag_of(statement)} - {""}
        elif isinstance(statement, (ast.If, ast.Try)):
            for block in _blocks(statement):
                found |= set(_flags_set(block, flags))
            # Behind a `try` the flag has been tested.
            found -= {one.flag for one in caught.handled(statement)}
        elif isinstance(statement, (ast.For, ast.While)):
            inside = _flags_set(statement.body, _Flags(flags.returned, "", ""))
            found |= {*inside, *_flags_set(statement.orelse, flags)} - {""}
    return tuple(sorted(found))


# --- making nodes


def _name(name: str, at: ast.AST, context: ast.expr_context) -> ast.Name:
    return ast.copy_location(ast.Name(name, context), at)


def _assign(target: ast.expr, value: ast.expr, at: ast.stmt) -> ast.stmt:
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([target], value), at))


def _set(name: str, value: bool, at: ast.stmt) -> ast.stmt:
    return _assign(_name(name, at, ast.Store()), ast.Constant(value), at)


def _undefined(name: str, at: ast.stmt) -> ast.stmt:
    nothing = ast.Constant(UNDEFINED)  # type: ignore[arg-type]
    return _assign(_name(name, at, ast.Store()), nothing, at)


def _if(test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt], at: ast.stmt) -> ast.stmt:
    then = then or [ast.copy_location(ast.Pass(), at)]
    return ast.fix_missing_locations(ast.copy_location(ast.If(test, then, orelse), at))


def _none_of(names: Sequence[str], at: ast.stmt) -> ast.expr:
    tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), _name(name, at, ast.Load())) for name in names]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    return ast.copy_location(test, at)
