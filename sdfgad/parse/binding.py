"""Assignments: bind names to values, and store values in elements and shapes."""

from __future__ import annotations

import ast
import operator
from typing import Any

from sdfgad.errors import PythonRaises
from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import appending, containers, delay_lines, namespaces, objects, polymorphic, stored_lists, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.early_returns import fixed_result
from sdfgad.parse.flat import Flat
from sdfgad.parse.frame import Frame
from sdfgad.parse.functions.facts import class_of
from sdfgad.parse.functions.shape import reshape
from sdfgad.parse.indexing import getitem, setitem
from sdfgad.parse.iterators import all_items, as_sequence, iterated
from sdfgad.parse.logs import is_log
from sdfgad.parse.operands import evaluated, may_update, method, require_unchanged
from sdfgad.parse.optional_values import required
from sdfgad.parse.registry import ATTRIBUTES
from sdfgad.parse.source import source_text
from sdfgad.parse.structure import is_record
from sdfgad.parse.texts import RunTimeText
from sdfgad.parse.updating import aliased_by
from sdfgad.parse.values import (
    DICT_VIEWS,
    Iteration,
    Polymorphic,
    Record,
    Selection,
    Tensor,
    described,
    is_static,
    kind_of,
)

# The attributes of arrays that can be assigned to, besides `shape`.
PARTS = ("real", "imag")


def assign(frame: Frame, node: ast.Assign) -> None:
    """``target = ... = value``."""
    value = fixed_result(frame, node, frame.eval(node.value))
    if len(node.targets) > 1:
        value = frame.b.settle(value)
    for target in node.targets:
        bind(frame, target, value)


def assign_annotated(frame: Frame, node: ast.AnnAssign) -> None:
    """``target: type = value``."""
    if node.value is not None:
        bind(frame, node.target, frame.eval(node.value))


def bind(frame: Frame, target: ast.expr, value: Any) -> None:
    """Bind the target of an assignment or of a loop to a value."""
    if isinstance(target, ast.Name) and frame.cells_of(target.id) is not None:
        _bind_cell(frame, target.id, value)
    elif isinstance(target, ast.Name):
        frame.env[target.id] = frame.b.named(frame.b.settle(value, target.id), target.id)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(frame, target, value)
    elif isinstance(target, ast.Subscript):
        if may_update(frame, target):
            value = frame.b.settle(value)
        before = frame.b.versions.writes
        container, index = evaluated(frame, [target.value, target.slice])
        require_unchanged(frame, [value], before)
        store(frame, container, index, value)
    elif isinstance(target, ast.Attribute):
        _bind_attribute(frame, target, value)
    else:
        raise frame.unsupported(
            target,
            f"an assignment to `{source_text(target)}` is not supported",
            "Assign to a name, an item `x[i]`, a slice `x[i:j]`, or an attribute.",
        )


def _bind_cell(frame: Frame, name: str, value: Any) -> None:
    """Bind a name that belongs to an enclosing function, or that a nested function binds."""
    cells = frame.cells_of(name)
    assert cells is not None
    containers.require_current(frame.b, cells, name)
    cells[name] = frame.b.named(frame.b.settle(value, name), name)


def _bind_attribute(frame: Frame, target: ast.Attribute, value: Any) -> None:
    """``x.name = value``."""
    if may_update(frame, target):
        value = frame.b.settle(value)
    owner = frame.eval(target.value)
    setter = objects.setter_of(owner, target.attr) if isinstance(owner, Record) else None
    if setter is not None:
        frame.call(target, setter[0], [*setter[1], frame.b.settle(value)], {})
    elif isinstance(owner, Record):
        objects.set_attribute(frame.b, owner, target.attr, value)
    elif isinstance(owner, Polymorphic):
        value = frame.b.settle(value)
        polymorphic.each_side(frame, owner, lambda one: bind(frame, polymorphic.attribute_of(one, target), value))
    elif (namespace := namespaces.namespace_of(owner)) is not None:
        namespaces.assign(frame.b, namespace, target.attr, value)
    elif target.attr == "shape":
        _reshape(frame, target, value)
    else:
        store(frame, part_of(frame, target), Ellipsis, value)


KEEP_BESIDE = "Keep it in a variable of its own."


def part_of(frame: Frame, target: ast.Attribute) -> Any:
    """The real or imaginary part that ``x.real = value`` or ``x.imag += value`` assigns to."""
    array = frame.eval(target.value)
    is_array = isinstance(array, (Tensor, Selection))
    if is_array and frame.b.catches(AttributeError) and not hasattr(class_of(array), target.attr):
        what = f"`{target.attr}` is no attribute of arrays, which take no others"
        raise PythonRaises(what, frame.where(target), KEEP_BESIDE, AttributeError(what))
    if is_record(type(array)) and not type(array).__module__.startswith("sdfgad."):
        what = f"`{source_text(target)}` of an object from outside the function is assigned to"
        raise frame.unsupported(target, what, "Make the object in the function, or pass it as an argument.")
    if not is_array or target.attr not in PARTS:
        raise frame.unsupported(
            target,
            f"an assignment to `{source_text(target)}` is not supported",
            "Write `x[...] = value` to assign to an array's elements, or assign to `.real` or `.imag` of an array.",
        )
    return ATTRIBUTES[target.attr](frame.b, array)


def _reshape(frame: Frame, target: ast.Attribute, value: Any) -> None:
    """``x.shape = value``, for all local names of the array; refused where anything else may refer to it."""
    old = frame.eval(target.value)
    if not isinstance(target.value, ast.Name) or not isinstance(old, Tensor):
        raise frame.unsupported(
            target,
            f"an assignment to `{source_text(target)}` is not supported",
            "Write `y = x.reshape(shape)`.",
        )
    new = reshape(frame.b, old, value)
    if old.place is None or new.buffer != old.buffer:
        what = f"`{target.value.id}` cannot be given another shape in place"
        raise frame.unsupported(target, what, f"Write `{target.value.id} = {target.value.id}.reshape(shape)`.")
    others = [held for held in frame.env.values() if held is not old]
    reachable = trees.reachable([*others, *frame.iterables, frame.caller, frame.lexical], frame)
    if any(held is old or (isinstance(held, Tensor) and new.buffer in aliased_by(held)) for held in reachable):
        name = target.value.id
        what = (
            f"`{name}` gets another shape in place, and other lists, objects, views or functions hold this array, too"
        )
        raise frame.b.unsupported(what, f"Write `{name} = {name}.reshape(...)`.")
    frame.b.references.update(old)
    frame.env.update({name: new for name, held in frame.env.items() if held is old})


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Any) -> None:
    value = iterated(frame, target, required(frame.b, value, "what is unpacked"))
    if isinstance(value, Iteration):
        value = all_items(frame, target, value)
    is_sequence = isinstance(value, (tuple, list, dict, *DICT_VIEWS))
    parts: list[Any] = [*value] if is_sequence else _rows(frame, value)
    starred = next((k for k, name in enumerate(target.elts) if isinstance(name, ast.Starred)), None)
    if starred is not None:
        end = starred + len(parts) - len(target.elts) + 1
        parts = (
            [*parts[:starred], containers.tracked(frame.b, parts[starred:end]), *parts[end:]] if end >= starred else []
        )
    if len(parts) != len(target.elts):
        what = f"{len(parts)} values for {len(target.elts)} names"
        todo = "Write as many names as there are values, or collect the others: first, *others = values."
        raise PythonRaises(what, frame.where(target), todo, ValueError(RunTimeText(what)))
    # All values exist before any name is bound: a, b = b, a + b.
    parts = [frame.b.settle(part) for part in parts]
    for name, part in zip(target.elts, parts, strict=True):
        bind(frame, name.value if isinstance(name, ast.Starred) else name, part)


def _rows(frame: Frame, value: Any) -> list[Any]:
    value = value.elements if isinstance(value, Flat) else value
    if not isinstance(value, Tensor) or value.ndim == 0:
        raise frame.b.unsupported(
            f"cannot unpack {described(value)}", "Unpack a tuple, a list, or an array of a fixed length."
        )
    return [getitem(frame.b, value, k) for k in range(frame.b.constant(value.shape[0]))]


def position_of(b: Builder, index: Any) -> Any:
    """An index of a list or dict, which must be known while parsing: an integer as a constant."""
    is_integer_array = isinstance(index, Tensor) and not index.ndim and index.dtype.kind in "iu"
    if isinstance(index, Lin) or is_integer_array:
        try:
            return b.constant(index)
        except NeedsConstant as need:
            what = "an item of a list or dict is chosen by an index that is known only at run time"
            todo = "Keep the items in an array: np.stack(items)[i]."
            raise NeedsConstant(need.symbols, need.where, what, todo) from need
    if isinstance(index, slice):
        ends = (None if end is None else b.constant(end) for end in (index.start, index.stop, index.step))
        return slice(*ends)
    if isinstance(index, (tuple, str, Record)):
        return containers.key_of(b, index)
    if not is_static(index):
        raise b.unsupported(
            "an item of a list or dict is chosen by a value that is known only at run time",
            "Keep the items in an array, np.stack(items)[i], or choose: np.where(condition, x, y).",
        )
    return index


def store(frame: Frame, container: Any, index: Any, value: Any) -> None:
    """``container[index] = value``."""
    if isinstance(container, (Tensor, Selection, Flat)):
        value = required(frame.b, value, "what is assigned to elements of an array")
    if isinstance(container, (Tensor, Selection)):
        with frame.b.indexed(frame.source.counts_back):
            setitem(frame.b, container, index, value)
    elif isinstance(container, Flat):
        setitem(frame.b, container.elements, index, value)
    elif isinstance(container, Record):
        if is_log(container):
            delay_lines.require_place(frame.b, container, index)
        method(frame, frame.source.node, container, "__setitem__", index, value)
    elif isinstance(container, (list, dict)):
        by_loop = stored_lists.store if isinstance(container, list) else appending.store
        if by_loop(frame.b, container, index, value):
            return
        index = position_of(frame.b, index)
        containers.require_current(frame.b, container, containers.item_key(container, index))
        if isinstance(index, slice) and isinstance(value, Iteration):
            value = tuple(as_sequence(frame, frame.source.node, value))
        frame.b.python(operator.setitem, container, index, frame.b.settle(value))
    else:
        raise frame.b.unsupported(
            f"an item of {kind_of(container)} is assigned to", "Assign to items of an array, a list or a dict."
        )
