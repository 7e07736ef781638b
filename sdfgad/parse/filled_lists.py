"""Escape analysis of the lists and dicts that loops fill: until its loop ends, nothing may look into such a list.

While the loop's body is parsed, the list is still what it was before the loop. So each expression whose value is the
list, or holds it, must be one of those that hand it on or append to it, in whatever function it is.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable
from functools import partial
from typing import Any

from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import objects, trees
from sdfgad.parse.closures import Closure
from sdfgad.parse.contents import Fills
from sdfgad.parse.frame import Frame
from sdfgad.parse.logs import APPENDING, REMOVING
from sdfgad.parse.operands import is_library
from sdfgad.parse.python_calls import SPECIAL
from sdfgad.parse.registry import known_function
from sdfgad.parse.values import Record, Tensor

# The methods of dicts that give an item.
LOOKUPS = ("get", "setdefault")
TODO = "Make an array before the loop, such as `x = np.zeros(n)`, and write `x[i] = value`; or read the list after it."


def require_handed_on(frame: Frame, node: ast.expr, value: Any) -> None:
    """Require that an expression around one whose value holds a list that a loop fills does not look into it.

    Raises:
        NeedsConstant: it does, so that the loop must be unrolled.
        Fills: it removes an item, so that the loop does not fill the list.
    """
    if isinstance(value, Tensor) or not trees.holds_any((value,), frame.b.filling):
        return
    parent = frame.source.parents.get(id(node))
    if isinstance(parent, ast.Attribute) and parent.attr in REMOVING and id(value) in frame.b.filling:
        _give_up_filling(frame, value)
    if not _hands_on(frame, node, parent, value):
        _refuse(frame, (value,))


def require_followed(frame: Frame, function: Any, arguments: Iterable[Any]) -> None:
    """Require of a function which gets a list that a loop fills, or what holds one, that its body is parsed.

    Raises:
        NeedsConstant: it is not, so that the loop must be unrolled.
    """
    if is_followed(function):
        return
    owner = getattr(function, "__self__", None)
    is_append = isinstance(owner, list) and function.__name__ in APPENDING
    is_lookup = isinstance(owner, dict) and function.__name__ in LOOKUPS and id(owner) not in frame.b.filling
    reached = [*arguments, *([] if is_append or is_lookup else [owner])]
    if trees.holds_any(reached, frame.b.filling):
        _refuse(frame, reached)


def _give_up_filling(frame: Frame, values: Any) -> None:
    """Have the loop parsed as one that does not fill a list: it may carry all of its items."""
    node = frame.b.filling[id(values)].node
    frame.b.only_read[id(node), id(values)] = values
    raise Fills(node, None)


def _refuse(frame: Frame, values: Iterable[Any]) -> None:
    reached = list(values)
    loops = {one.var for key, one in frame.b.filling.items() if trees.holds_any(reached, {key})}
    what = "a list or dict is read in the loop that fills it, or holds what a name is bound to anew there"
    raise NeedsConstant(loops, frame.b.where, what, TODO)


def is_followed(function: Any) -> bool:
    if isinstance(function, partial):
        return is_followed(function.func)
    if isinstance(function, types.MethodType):
        return not objects.is_generated(function) and is_followed(function.__func__)
    if isinstance(function, types.FunctionType):
        return not is_library(function) and function not in SPECIAL and known_function(function) is None
    return isinstance(function, (Closure, Record)) or function is partial or objects.is_class(function)


def _hands_on(frame: Frame, node: ast.expr, parent: ast.AST | None, value: Any) -> bool:
    """Whether what is around an expression hands its value on, without a look at the items of lists in it."""
    is_object = isinstance(value, Record)
    if isinstance(parent, ast.Attribute) and is_object:
        # Of the attributes of an object that are filled as a dict, `obj.__dict__`, others may be read.
        return id(value.fields) not in frame.b.filling
    if isinstance(parent, ast.Attribute):
        is_filled_dict = isinstance(value, dict) and id(value) in frame.b.filling
        return not is_filled_dict and parent.attr in (LOOKUPS if isinstance(value, dict) else APPENDING)
    if isinstance(parent, ast.Subscript):
        is_item = parent.value is node and not isinstance(parent.slice, ast.Slice)
        if isinstance(value, dict) and id(value) in frame.b.filling:
            return is_item and not isinstance(parent.ctx, ast.Del)
        # Of the list itself `trajectory_items` and `stored_lists` read and replace items.
        filling = frame.b.filling.get(id(value))
        is_replaced = filling is not None and filling.storing is not None and isinstance(parent.ctx, ast.Store)
        return is_item and (filling is None or is_replaced or isinstance(parent.ctx, ast.Load))
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        return _is_local(frame, parent, value)
    if isinstance(parent, (ast.If, ast.IfExp)):
        return is_object and parent.test is node
    if isinstance(parent, ast.keyword):
        return parent.arg is not None
    # Of an update's target the parser makes a new name.
    is_target = parent is None and isinstance(node, ast.Name)
    # What a call does with it, `require_followed` says.
    return is_target or isinstance(parent, (ast.Call, ast.Return, ast.Expr))


def _is_local(frame: Frame, statement: ast.Assign | ast.AnnAssign, value: Any) -> bool:
    """Whether an assignment binds a name that no other trip has, and no branch chooses."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if not all(isinstance(target, ast.Name) for target in targets):
        return False
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    if all(frame.env.get(name) is value for name in names):
        return True
    is_kept = not names.isdisjoint(frame.source.nonlocals | frame.source.cells)
    is_straight = not frame.loops and len(frame.b.blocks) == frame.entered and not frame.is_definition
    return is_straight and not is_kept and frame.caller is not None
