"""Simple statements; assignments, branches and loops are in `binding`, `control` and `loops`."""

from __future__ import annotations

import ast
import importlib
import operator
from functools import partial
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import (
    attributes,
    calls,
    containers,
    delay_lines,
    namespaces,
    objects,
    operators,
    outside,
    polymorphic,
)
from sdfgad.parse.binding import bind, part_of, store
from sdfgad.parse.builder import Builder
from sdfgad.parse.closures import Closure
from sdfgad.parse.context_managers import Setting
from sdfgad.parse.expressions import item, operation
from sdfgad.parse.frame import Frame, Return
from sdfgad.parse.indexing import require_same_kind, setitem
from sdfgad.parse.inlined_calls import inlined
from sdfgad.parse.logs import is_log
from sdfgad.parse.operands import evaluated, may_update, method, require_unchanged
from sdfgad.parse.source import source_text
from sdfgad.parse.throwing import operating
from sdfgad.parse.unread_lists import is_never_read
from sdfgad.parse.updating import is_whole_array
from sdfgad.parse.values import Polymorphic, Record, Selection, Tensor, kind_of


def return_(frame: Frame, node: ast.Return) -> Return:
    return Return(None if node.value is None else frame.b.settle(frame.eval(node.value)), frame.b.where)


def no_operation(frame: Frame, node: ast.stmt) -> None:
    """A statement that computes nothing."""


def expression(frame: Frame, node: ast.Expr) -> None:
    if is_never_read(frame, node.value):
        # What is appended may itself change something.
        frame.eval(node.value.args[0])  # type: ignore[attr-defined]
    elif not isinstance(node.value, ast.Constant):
        frame.eval(node.value)


def import_(frame: Frame, node: ast.Import) -> None:
    for alias in node.names:
        module = frame.b.python(importlib.import_module, alias.name)
        top = frame.b.python(importlib.import_module, alias.name.partition(".")[0])
        frame.env[alias.asname or top.__name__] = module if alias.asname else top


def import_from(frame: Frame, node: ast.ImportFrom) -> None:
    module = frame.b.python(_module, frame.source.namespace, node.module or "", node.level)
    for alias in node.names:
        frame.env[alias.asname or alias.name] = outside.part_from_outside(frame.b, module, alias.name, _imported)


def _module(namespace: dict[str, Any], name: str, level: int) -> Any:
    """The module that ``from`` names, in a file with these globals."""
    package = namespace.get("__package__") or ""
    if level and not package:
        raise ImportError("attempted relative import with no known parent package")
    return importlib.import_module("." * level + name, package)


def _imported(module: Any, name: str) -> Any:
    """What ``from module import name`` binds."""
    if hasattr(module, name):
        return getattr(module, name)
    inner = f"{module.__name__}.{name}"
    try:
        if hasattr(module, "__path__"):
            return importlib.import_module(inner)
    except ModuleNotFoundError as error:
        if error.name != inner:
            raise
    raise ImportError(f"cannot import name {name!r} from {module.__name__!r}", name=module.__name__)


def update(frame: Frame, node: ast.AugAssign) -> None:
    """``target op= value``: updates an array in place, and binds the target to a new value otherwise."""
    if isinstance(node.target, ast.Name):
        old, value = evaluated(frame, [_loaded(node.target), node.value])
        if isinstance(old, list):
            calls.extend(frame, node, old, value)
            return
        if isinstance(old, (dict, set)):
            _update_in_place(frame, node, old, value)
            return
        result = operated(frame, node, old, value)
        if _is_array(frame.b, old):
            _update_array(frame, old, result)
        else:
            bind(frame, node.target, result)
        return
    if isinstance(node.target, ast.Attribute):
        owner = frame.eval(node.target.value)
        if isinstance(owner, Polymorphic):
            target = node.target
            polymorphic.each_side(
                frame, owner, lambda one: _update_of(frame, node, polymorphic.attribute_of(one, target))
            )
            return
        if isinstance(owner, Record) and objects.setter_of(owner, node.target.attr) is not None:
            _update_property(frame, node, owner, node.target.attr)
            return
        if isinstance(owner, Record) and outside.is_read_later(owner, node.target.attr):
            containers.require_current(frame.b, owner.fields, node.target.attr)
        is_of_class = isinstance(owner, Record) and node.target.attr not in owner.fields
        if isinstance(owner, Record) and (is_of_class or attributes.may_be_column(frame.b, owner, node.target.attr)):
            _update_column(frame, node, owner, node.target.attr)
            return
        if isinstance(owner, Record):
            objects.require_known(frame.b, owner)
            _update_item(frame, node, owner.fields, node.target.attr)
            return
        if (namespace := namespaces.namespace_of(owner)) is not None:
            _update_name(frame, node, namespace)
            return
        part = part_of(frame, node.target)
        _update_array(frame, part, operated(frame, node, part, frame.eval(node.value)))
        return
    if not isinstance(node.target, ast.Subscript):
        raise frame.unsupported(
            node,
            f"an update of `{source_text(node.target)}` is not supported",
            "Update a name, an item, a slice, or an attribute.",
        )
    _update_item(frame, node, *evaluated(frame, [node.target.value, node.target.slice]))


def _update_in_place(frame: Frame, node: ast.AugAssign, old: Any, value: Any) -> None:
    """``old |= value`` of a dict or set."""
    if not isinstance(node.op, ast.BitOr) or not isinstance(value, type(old)):
        raise frame.unsupported(
            node, f"this update of {kind_of(old)} is not supported", "Write `values.update(more)`, or make a new one."
        )
    containers.require_current(frame.b, old)
    old.update(value)


def _update_of(frame: Frame, node: ast.AugAssign, target: ast.Attribute) -> None:
    """The same update of another attribute."""
    frame.statement(ast.copy_location(ast.AugAssign(target, node.op, node.value), node))


def _update_property(frame: Frame, node: ast.AugAssign, owner: Record, name: str) -> None:
    """``owner.name op= value`` of a property: its setter gets the new value, or the array that is updated in place."""
    old = frame.b.settle(objects.attribute(frame.b, owner, name, partial(inlined, frame, node)))
    result = operated(frame, node, old, frame.eval(node.value))
    if _is_array(frame.b, old):
        _update_array(frame, old, result)
        result = old
    if (setter := objects.setter_of(owner, name)) is not None:
        frame.call(node, setter[0], [*setter[1], frame.b.settle(result)], {})


def _update_name(frame: Frame, node: ast.AugAssign, namespace: Any) -> None:
    """``owner.name op= value`` of a module, class or function."""
    assert isinstance(node.target, ast.Attribute)
    old = frame.b.settle(frame.eval(node.target))
    result = operated(frame, node, old, frame.eval(node.value))
    if isinstance(old, list):
        calls.extend(frame, node, old, result)
    elif _is_array(frame.b, old):
        _update_array(frame, old, result)
    else:
        namespaces.assign(frame.b, namespace, node.target.attr, result)


def _update_column(frame: Frame, node: ast.AugAssign, owner: Record, name: str) -> None:
    """``owner.name op= value`` of an attribute that is a row of an array, or that the object has by its class."""
    old = frame.b.settle(objects.attribute(frame.b, owner, name, partial(inlined, frame, node)))
    result = operated(frame, node, old, frame.eval(node.value))
    if isinstance(old, (list, dict, set)) and name not in owner.fields:
        what = f"`{source_text(node.target)}` is one list or dict of all objects of the class, and is changed"
        raise frame.unsupported(node, what, f"Make one for each object: self.{name} = [] in __init__.")
    if isinstance(old, (list, dict, set)):
        raise NeedsConstant(
            frame.b.symbols_here(), frame.b.where, "a list or dict of one of several objects is changed"
        )
    if _is_array(frame.b, old):
        _update_array(frame, old, result)
    else:
        objects.set_attribute(frame.b, owner, name, result)


def _update_item(frame: Frame, node: ast.AugAssign, container: Any, index: Any) -> None:
    """``container[index] op= value``."""
    is_kept = isinstance(container, Record) and is_log(container)
    if isinstance(container, Record) and not is_kept:
        _update_by_methods(frame, node, container, index)
        return
    old = delay_lines.updated_item(frame.b, container, index) if is_kept else item(frame, container, index)
    if isinstance(old, list):
        calls.extend(frame, node, old, frame.eval(node.value))
        return
    if isinstance(container, (list, dict)) and _is_array(frame.b, old):
        # An array in a list is updated in place.
        _update_array(frame, old, operated(frame, node, old, frame.eval(node.value)))
        return
    if may_update(frame, node.value):
        old = frame.b.settle(old)
    before = frame.b.versions.writes
    value = frame.eval(node.value)
    require_unchanged(frame, [old], before)
    result = operated(frame, node, old, value)
    if _is_array(frame.b, old):
        require_same_kind(frame.b, result, old)
    store(frame, container, index, result)


def _update_by_methods(frame: Frame, node: ast.AugAssign, owner: Record, index: Any) -> None:
    """The same of an object: its ``__setitem__`` gets the new value, or the array or list that is updated in place."""
    old = frame.b.settle(method(frame, node.target, owner, "__getitem__", index))
    value = frame.eval(node.value)
    if isinstance(old, list):
        calls.extend(frame, node, old, value)
        result = old
    else:
        result = operated(frame, node, old, value)
    if _is_array(frame.b, old):
        _update_array(frame, old, result)
        result = old
    store(frame, owner, index, frame.b.settle(result))


def operated(frame: Frame, node: ast.AugAssign, old: Any, value: Any) -> Any:
    """The value of ``old op= value``; an object may define it by a method of its own, such as ``__iadd__``."""
    name = f"__i{operators.python_name(type(node.op))}__"
    if isinstance(old, Record) and hasattr(old.cls, name):
        return method(frame, node.value, old, name, value)
    with operating(frame, node):
        return operation(frame, node.value, type(node.op), old, value)


def _update_array(frame: Frame, array: Any, result: Any) -> None:
    """``array op= …``, in place."""
    require_same_kind(frame.b, result, array)
    setitem(frame.b, array, Ellipsis, result)


def with_(frame: Frame, node: ast.With) -> None:
    """``with np.errstate(...)``, which has no effect on compiled code."""
    for entered in node.items:
        if not isinstance(frame.eval(entered.context_expr), Setting):
            raise frame.unsupported(
                node,
                "this `errstate` is not supported in `with`, only np.errstate is",
                "Leave it out, or give it another name.",
            )
    frame.block(node.body)


def function(frame: Frame, node: ast.FunctionDef) -> None:
    """The definition of a nested function, and the calls of its decorators."""
    decorators = evaluated(frame, node.decorator_list) if node.decorator_list else []
    made: Any = Closure.of(frame, node)
    for decorator in reversed(decorators):
        applied = ast.Call(ast.Constant(decorator), [ast.Constant(made)], [])
        made = frame.eval(ast.fix_missing_locations(ast.copy_location(applied, node)))
    frame.env[node.name] = made


def delete(frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.env.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            _delete_item(frame, target)
        else:
            raise frame.unsupported(
                node,
                "`del` of anything but a name or an item of a list or dict is not supported",
                "Leave it out: arrays are freed by themselves.",
            )


def _delete_item(frame: Frame, target: ast.Subscript) -> None:
    """``del container[index]``."""
    container, index = evaluated(frame, [target.value, target.slice])
    if isinstance(container, Record):
        method(frame, target, container, "__delitem__", index)
        return
    if not isinstance(container, (list, dict)):
        what = f"`del` of an item of {kind_of(container)} is not supported"
        raise frame.b.unsupported(what, "Write x = np.delete(x, i) for an array.")
    containers.require_current(frame.b, container)
    frame.b.python(operator.delitem, container, frame.b.constant(index) if isinstance(index, Lin) else index)


def _is_array(b: Builder, value: Any) -> bool:
    if isinstance(value, Selection):
        return True
    return isinstance(value, Tensor) and (value.is_shared or value.ndim > 0 or is_whole_array(b, value))


def _loaded(target: ast.Name) -> ast.expr:
    """The target of an augmented assignment as an expression that reads it."""
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)
