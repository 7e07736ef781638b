"""Loops: counted ones, and those that go on while a condition holds."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read
from sdfgad.ir.program import Access, Block, Compute, Loop, guards_of, written
from sdfgad.sdfg.branches import branch
from sdfgad.sdfg.jumps_read import cleared, inside_loop, is_any, is_none, left_by
from sdfgad.sdfg.normalisation import downwards, upwards, with_symbols
from sdfgad.sdfg.operations import converted, linear, operation, truth
from sdfgad.sdfg.scope import Scope, located
from sdfgad.sdfg.stale_symbols import assigned_inside
from sdfgad.sdfg.variables import assignment

Region = Callable[[Any, Scope], Block]


class NotCounted(UnsupportedGraph):
    """The trips of a loop are not known before it."""


def loop_of(loop: Any, scope: Scope, region: Region) -> Block:
    """A loop. One of others that is not counted goes on while its condition holds.

    Raises:
        UnsupportedGraph: it is ours, and not of the form ``for (i = a; i < b; i += c)``, up or down.
    """
    if not scope.buffers.is_foreign:
        return (counted_loop(loop, scope, region),)
    var, inner = loop.loop_variable, inside_loop(loop, scope)
    if not var:
        return while_loop(loop, inner, region)
    try:
        found = counted_loop(loop, inner, region)
        flags = left_by(found.body, inner)
        return _left_early(loop, found, flags, inner) if flags else (found, *_after(loop, found.trips, scope))
    except NotCounted as error:
        if scope.is_variable(var):
            return while_loop(loop, inner, region)
        # The graph is read again, with the counter as a variable.
        raise scope.kept(var, error.what) from error


def _after(loop: Any, trips: Lin, scope: Scope) -> Block:
    """What the counter is after so many trips, if it is a variable."""
    if not scope.is_variable(loop.loop_variable):
        return ()
    count = linear(operation("maximum", Int(trips), Const(0, INT)))
    return (assignment(loop.loop_variable, Int(_start(loop, scope) + count.scaled(_step(loop, scope))), scope),)


def _left_early(loop: Any, found: Loop, flags: tuple[str, ...], scope: Scope) -> Block:
    """A counted loop that flags end: each trip finds out whether there is another one.

    Raises:
        NotCounted: the trips change where it starts, or how many there are.
    """
    changed = written(found.body)
    if any(read.buffer in changed for form in (found.start, found.trips) for read in Int(form).reads):
        raise NotCounted(f"the loop `{loop.label}` changes how long it goes on")
    buffers = scope.buffers
    trips = buffers.make(buffers.names.fresh("trips"), (), INT).name
    # No loop inside has a counter of this name.
    trip, total = Lin.symbol(found.var), Lin.symbol(Access(trips).read(INT))
    index = found.start + found.trips - 1 - trip if found.backward else found.start + trip

    def goes_on(number: Lin) -> Op:
        return Op("less", (Int(number), Int(found.trips)), BOOL)

    more = converted(Op("logical_and", (is_none(flags), goes_on(trip + 1)), BOOL), INT)
    again = Compute((), Access(trips), Op("add", (Int(trip + 1), more), INT), where=found.where)
    body = (*with_symbols(found.body, {found.var: index}), again)
    made = Loop(found.var, total, body, guards_of(found.var, found.trips), where=found.where, is_open=True)
    start = Compute((), Access(trips), converted(goes_on(Lin(0)), INT))
    done = total - linear(is_any(flags))
    return (*cleared(body, scope.exits.stop), start, made, *_after(loop, done, scope))


def counted_loop(loop: Any, scope: Scope, region: Region) -> Loop:
    """A loop whose number of trips is known before it, of steps of any length.

    Raises:
        NotCounted: it is not of the form ``for (i = a; i < b; i += c)``, up or down.
    """
    condition: Any = loop.loop_condition.code[0]
    condition = condition.value if isinstance(condition, ast.Expr) else condition
    is_one = isinstance(condition, ast.Compare) and len(condition.ops) == 1
    var = loop.loop_variable
    is_known = is_one and ast.unparse(condition.left) == var and not loop.inverted
    if not is_known or not loop.init_statement or not loop.update_statement:
        raise NotCounted(f"the loop `{loop.label}` goes on while `{loop.loop_condition.as_string}`")
    first, step = _start(loop, scope), _step(loop, scope)
    if not isinstance(condition.ops[0], (ast.Lt, ast.LtE) if step > 0 else (ast.Gt, ast.GtE)):
        raise NotCounted(f"the loop `{loop.label}` goes on while `{loop.loop_condition.as_string}`")
    bound = scope.parser.expression(condition.comparators[0], {})
    if any(var in edge.data.assignments for edge in loop.all_interstate_edges()):
        raise NotCounted(f"the loop `{loop.label}` assigns its counter")
    counter, inner = scope.without(assigned_inside(loop)).with_counter(var)
    body = region(loop, inner)
    body = (*cleared(body, scope.exits.skip), *body)
    if abs(step) != 1 and any(read.buffer in written(body) for read in Int(first).reads):
        raise NotCounted(f"the loop `{loop.label}` changes where it started")
    is_open = isinstance(bound, Read) and bound.buffer in written(body)
    data = {node.id for node in ast.walk(condition) if isinstance(node, ast.Name) and node.id in scope.sdfg.arrays}
    moving = any(scope.buffer(name).name in written(body) for name in data)
    is_from_zero = first == Lin(0) or not scope.buffers.is_foreign
    if moving and not (is_open and step == 1 and is_from_zero):
        raise NotCounted(f"the loop `{loop.label}` changes how long it goes on")
    end = Lin.symbol(bound) if is_open else linear(bound)
    closed = isinstance(condition.ops[0], (ast.LtE, ast.GtE))
    if step < 0:
        least = end if closed else end + 1
        return _placed(downwards(counter, least, first - least + 1, -step, first, body), loop, scope)
    trips = (end + 1 if closed else end) - first
    return _placed(replace(upwards(counter, first, trips, step, body), is_open=is_open), loop, scope)


def _placed(found: Loop, loop: Any, scope: Scope) -> Loop:
    """The loop with the user's line."""
    return replace(found, where=located(loop) or body_line(found.body)) if scope.buffers.is_foreign else found


def body_line(body: Block) -> Any:
    """The first line that a block is of."""
    return next((statement.where for statement in body if statement.where is not None), None)


def _start(loop: Any, scope: Scope) -> Lin:
    assignment = loop.init_statement.code[0]
    return linear(scope.parser.expression(assignment.value, {}))


def _step(loop: Any, scope: Scope) -> int:
    assignment, var = loop.update_statement.code[0], loop.loop_variable
    after = scope.with_symbols({var: Lin.symbol(var)}).parser.expression(assignment.value, {})
    step = linear(after) - Lin.symbol(var)
    if not step.is_const or not step.const:
        raise NotCounted(f"the loop `{loop.label}` steps by `{loop.update_statement.as_string}`")
    return step.const


def while_loop(loop: Any, scope: Scope, region: Region) -> Block:
    """A loop that goes on while a condition holds: each trip finds out whether there is another one."""
    inside = scope.without(assigned_inside(loop))
    buffers = scope.buffers
    counter, trips = buffers.names.fresh("k"), buffers.make(buffers.names.fresh("trips"), (), INT).name
    following = Int(Lin.symbol(counter) + 1)

    def goes_on(where: Scope) -> Any:
        return converted(truth(where.parser.text(loop.loop_condition.as_string)), INT)

    def runs(statement: Any) -> Block:
        return () if not statement else tuple(_assigned(loop, one, inside) for one in statement.code)

    first, update = runs(loop.init_statement), runs(loop.update_statement)
    body = region(loop, inside)
    _refuse_end(loop, body, scope)
    line, flags = body_line(body), left_by(body, scope)
    again = (*update, Compute((), Access(trips), Op("add", (following, goes_on(inside)), INT), where=line))
    if flags:
        again = (Compute((), Access(trips), following, where=line), *branch(is_none(flags), again, (), inside))
    start = Int(Lin(1)) if loop.inverted else goes_on(inside)
    span, guards = Lin.symbol(Access(trips).read(INT)), (Lin.symbol(counter),)
    whole = (*cleared(body, scope.exits.skip), *body, *again)
    found = Loop(counter, span, whole, guards, where=located(loop) or line, is_open=True)
    return (*first, *cleared(body, scope.exits.stop), Compute((), Access(trips), start), found)


def _refuse_end(loop: Any, body: Block, scope: Scope) -> None:
    """Raises: UnsupportedGraph, where a trip ends before a condition at its end, or steps after it."""
    if loop.inverted and loop.update_statement and not loop.update_before_condition:
        raise UnsupportedGraph(f"the loop `{loop.label}` steps after its condition, which comes at its end")
    if loop.inverted and cleared(body, scope.exits.skip):
        what = f"a block of `{loop.label}`, whose condition comes at its end, continues: DaCe's code skips its step"
        raise UnsupportedGraph(what, located(loop), "Put what follows that block into a branch.")


def _assigned(loop: Any, statement: Any, scope: Scope) -> Compute:
    """An assignment in the head of a loop."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        raise UnsupportedGraph(f"the loop `{loop.label}` has `{ast.unparse(statement)}` in its head")
    name = statement.targets[0].id
    if not scope.is_variable(name):
        raise scope.kept(name, f"the loop `{loop.label}` assigns `{name}` in its head")
    return assignment(name, scope.parser.expression(statement.value, {}), scope)
