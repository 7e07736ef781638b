"""The syntax trees of functions that return whether they raise, and of those that test it behind their calls."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sdfgad.parse.caught import Handled
from sdfgad.parse.exception_values import Handler, Place, Raises, Throw, as_raise, handlers_of_call, place_of, undefined
from sdfgad.parse.normal_form import Assigned, Chosen, NotNamed, Steps, name_of, with_named_calls
from sdfgad.parse.source import Source
from sdfgad.parse.texts import RunTimeText

# What an operation says is not known.
RAISED = "an operation raises"


def is_possible(source: Source, call: Place, kind: type[BaseException] | None = None) -> bool:
    """Whether a function has a call, or an operation that raises a class, in a place where it can be tested."""
    if not isinstance(source.node, ast.FunctionDef) or source.is_generator:
        return False
    if getattr(source.node, "is_structured", False):
        return False
    handler = Handler(call, 0, "", is_named=False)
    throw = Throw(handler, call, () if kind else (call,), is_class=False, kind=kind)
    rewriting = _Rewriting(source.file, frozenset({throw}), (handler,))
    try:
        made = rewriting.function(source.node)
    except NotNamed:
        return False
    return any(handlers_of_call(one) or isinstance(one, Raises) for one in ast.walk(made))


def with_exceptions_as_values(source: Source, throws: frozenset[Throw], handlers: tuple[Handler, ...]) -> Source:
    """A function with the exceptions as values that it raises, or calls raise in it.

    Args:
        handlers: those of its callers whose exceptions it returns.
    """
    node = source.node
    if not throws or isinstance(node, ast.Lambda) or source.is_generator:
        return source
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    places = [place for one in throws for place in (one.handler.place, one.place, *one.calls)]
    if not handlers and not any(file == source.file and line in lines for file, line, *_ in places):
        return source
    try:
        return replace(source, node=_rewritten(node, _Rewriting(source.file, throws, handlers)))
    except NotNamed:
        return source


@lru_cache(maxsize=1 << 8)
def _rewritten(node: ast.FunctionDef, rewriting: _Rewriting) -> ast.FunctionDef:
    return rewriting.function(node)


@dataclass(frozen=True)
class _Rewriting:
    """The rewriting of a function.

    Attributes:
        returned: the handlers of its callers whose exceptions it returns.
        around: the ``try`` statements around the present statement, from the outermost one.
        caught: the exception that is handled there, as an expression.
    """

    file: str
    throws: frozenset[Throw]
    returned: tuple[Handler, ...]
    around: tuple[Place, ...] = ()
    caught: str = ""

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        made = copy.copy(node)
        made.body = self.block(node.body)
        if self.returned:
            nothing = ast.copy_location(ast.Return(None), node.body[-1])
            made.body.append(self.exit(nothing))
        return ast.fix_missing_locations(made)

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for one in body for made in self.statement(one)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement, as those that stand for it."""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return [node]
        if isinstance(node, ast.While) and any(map(self.is_wanted, ast.walk(node.test))):
            node = _with_test_inside(node)
        elif isinstance(node, ast.AugAssign) and (throws := self.operation(node)):
            return self.augmented(node, throws)
        elif isinstance(node, ast.Assert) and any(one.place == place_of(self.file, node) for one in self.throws):
            node = as_raise(node)
        named = with_named_calls(node, self.is_wanted)
        before = self.steps(named.before) if named else []
        node, after = (named.statement, named.after) if named else (node, [])
        return [*before, *self.rest(node), *after]

    def rest(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement without calls that throw in what it evaluates itself."""
        if isinstance(node, ast.Raise):
            return self.raised(node)
        if isinstance(node, ast.Return) and self.returned:
            return [self.exit(node)]
        return [self.try_(node)] if isinstance(node, ast.Try) else [self.with_blocks(node)]

    def with_blocks(self, node: ast.stmt) -> ast.stmt:
        """A statement with those in it rewritten."""
        made = copy.copy(node)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(made, name, self.block(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.ExceptHandler | ast.match_case):
                setattr(made, name, [self.with_blocks(one) for one in value])
        return made

    # --- what throws

    def handlers(self, node: ast.AST) -> tuple[Handler, ...]:
        """The handlers to which a call throws."""
        if not isinstance(node, ast.Call):
            return ()
        place = place_of(self.file, node)
        return tuple(sorted({one.handler for one in self.throws if place in one.calls and self.is_open(one.handler)}))

    def is_open(self, handler: Handler) -> bool:
        return handler.place in self.around or handler in self.returned

    def steps(self, steps: Steps) -> list[ast.stmt]:
        """What is assigned before a statement."""
        made: list[ast.stmt] = []
        for step in steps:
            made += self.assigned(step.name, step.value) if isinstance(step, Assigned) else [self.chosen(step)]
        return made

    def chosen(self, step: Chosen) -> ast.stmt:
        then, orelse = [
            [*self.steps(before), *self.assigned(step.name, value)] for before, value in (step.then, step.orelse)
        ]
        return ast.fix_missing_locations(ast.copy_location(ast.If(step.test, then, orelse), step.test))

    def assigned(self, name: str, value: ast.expr) -> list[ast.stmt]:
        """What assigns an expression to a name, and leaves the function or ``try`` if it throws."""
        if throws := self.operation(value):
            return self.tested(name, value, throws)
        handlers = self.handlers(value)
        target: ast.expr = ast.Name(name, ast.Store())
        if handlers:
            names = [target, *(ast.Name(one, ast.Store()) for handler in handlers for one in handler.names)]
            target = ast.Tuple(names, ast.Store())
            value.handlers_of_call = handlers  # type: ignore[attr-defined]
        made: list[ast.stmt] = [ast.Assign([target], value)]
        made += [ast.If(ast.Name(one.flag, ast.Load()), [self.thrown(value, one)], []) for one in handlers]
        return [ast.fix_missing_locations(ast.copy_location(one, value)) for one in made]

    def operation(self, node: ast.AST) -> list[Throw]:
        """What an operation throws, in a fixed order."""
        if not isinstance(node, ast.Call | ast.BinOp | ast.AugAssign):
            return []
        place = place_of(self.file, node)
        found = [one for one in self.throws if one.kind and one.place == place and self.is_open(one.handler)]
        return sorted(found, key=lambda one: one.handler)

    def tested(self, name: str, value: ast.expr, throws: list[Throw]) -> list[ast.stmt]:
        """What assigns an operation to a name, behind tests of whether it raises."""
        operation: Any = copy.copy(value)
        operation.kinds_tested = tuple(one.kind for one in throws)
        made: list[ast.stmt] = [self.test(operation, one) for one in throws]
        made.append(ast.Assign([ast.Name(name, ast.Store())], operation))
        return [ast.fix_missing_locations(ast.copy_location(one, value)) for one in made]

    def augmented(self, node: ast.AugAssign, throws: list[Throw]) -> list[ast.stmt]:
        """An augmented assignment to a name, which may be that of an array, behind tests of whether it raises."""
        assert isinstance(node.target, ast.Name)
        value = ast.Name(name_of(node.value), ast.Load())
        made: Any = copy.copy(node)
        made.value, made.kinds_tested = value, tuple(one.kind for one in throws)
        operation: Any = ast.copy_location(ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, value), node)
        operation.kinds_tested = made.kinds_tested
        assigned = ast.copy_location(ast.Assign([ast.Name(value.id, ast.Store())], node.value), node.value)
        tests = [ast.copy_location(self.test(operation, one), node) for one in throws]
        return [*self.statement(ast.fix_missing_locations(assigned)), *map(ast.fix_missing_locations, tests), made]

    def test(self, operation: ast.expr, throw: Throw) -> ast.If:
        handler, kind = throw.handler, throw.kind
        assert kind is not None
        exception = ast.Call(ast.Constant(kind), [ast.Constant(RunTimeText(RAISED))], [])  # type: ignore[arg-type]
        bound = [ast.Assign([ast.Name(handler.exception, ast.Store())], exception)] if handler.is_named else []
        return ast.If(Raises.of(operation, kind), [*bound, self.thrown(operation, handler)], [])

    def is_wanted(self, node: ast.AST) -> bool:
        """Whether it is tested if an expression throws."""
        return bool(self.handlers(node) or self.operation(node))

    def thrown(self, at: ast.AST, handler: Handler) -> ast.stmt:
        """What leaves the ``try`` of a handler, or the function if that is a caller's."""
        if handler.place in self.around:
            jump: Any = ast.copy_location(ast.Raise(None, None), at)
            jump.caught = handler.flag
            return jump
        parts = [part for one in self.returned for part in self.parts(one, one == handler)]
        values = [undefined(), *parts]
        return ast.fix_missing_locations(ast.copy_location(ast.Return(ast.Tuple(values, ast.Load())), at))

    def parts(self, handler: Handler, is_thrown: bool) -> list[ast.expr]:
        """Whether an exception goes to a handler of a caller, and the exception."""
        exception: ast.expr = ast.Name(handler.exception, ast.Load()) if is_thrown else undefined()
        return [ast.Constant(is_thrown), exception][: len(handler.names)]

    def exit(self, node: ast.Return) -> ast.Return:
        """A ``return`` of what the function returns, without an exception."""
        value = node.value or ast.Constant(None)
        values = [value, *(part for one in self.returned for part in self.parts(one, is_thrown=False))]
        made = ast.copy_location(ast.Return(ast.Tuple(values, ast.Load())), node)
        return ast.fix_missing_locations(made)

    def raised(self, node: ast.Raise) -> list[ast.stmt]:
        """A ``raise``; as a value if it throws."""
        place = place_of(self.file, node)
        exc = node.exc or (ast.Name(self.caught, ast.Load()) if self.caught else None)
        thrown = (one for one in self.throws if not one.kind and one.place == place and self.is_open(one.handler))
        throw = next(thrown, None)
        if throw is None or exc is None:
            return [ast.fix_missing_locations(ast.copy_location(ast.Raise(exc, node.cause), node))]
        value = ast.Call(exc, [], []) if throw.is_class else exc
        bound = [ast.Assign([ast.Name(throw.handler.exception, ast.Store())], value)] if throw.handler.is_named else []
        made = [*bound, self.thrown(node, throw.handler)]
        return [ast.fix_missing_locations(ast.copy_location(one, node)) for one in made]

    def try_(self, node: ast.Try) -> ast.stmt:
        place = place_of(self.file, node)
        own = sorted({one.handler for one in self.throws if one.handler.place == place})
        inside = replace(self, around=(*self.around, place))
        made: Any = copy.copy(node)
        made.body = (inside if own else self).block(node.body)
        made.orelse, made.finalbody = self.block(node.orelse), self.block(node.finalbody)
        made.handlers = [self.with_blocks(one) for one in node.handlers]  # type: ignore[arg-type]
        made.handled = [self.handled(node.handlers[one.index], one) for one in own]
        if not own or not made.finalbody:
            return made
        inner = copy.copy(made)
        inner.finalbody, made.handlers, made.orelse, made.handled = [], [], [], []
        made.body = [inner]
        return made

    def handled(self, node: ast.ExceptHandler, handler: Handler) -> Handled:
        """What a handler does where the exception is a value; its name is unbound behind it."""
        inside = replace(self, caught=handler.exception) if handler.is_named else self
        body = inside.block(copy.deepcopy(node.body))
        if node.name is not None:
            bound = ast.Assign([ast.Name(node.name, ast.Store())], ast.Name(handler.exception, ast.Load()))
            unbound = ast.Delete([ast.Name(node.name, ast.Del())])
            body = [bound, ast.Try(body, [], [], [unbound])]
        for one in body:
            ast.fix_missing_locations(ast.copy_location(one, node) if not hasattr(one, "lineno") else one)
        return Handled(handler.flag, body, handler.exception if handler.is_named else "")


def _with_test_inside(node: ast.While) -> ast.While:
    """A loop with its test as the first statement of its body."""
    if node.orelse:
        raise NotNamed
    leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
    made = copy.copy(node)
    made.test = ast.copy_location(ast.Constant(True), node.test)
    made.body = [ast.fix_missing_locations(ast.copy_location(leave, node.test)), *node.body]
    return made
