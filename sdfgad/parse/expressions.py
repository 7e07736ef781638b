"""Expressions: the values of names, literals, operators, attributes and subscripts.

Calls, comprehensions and conditions are in `calls`, `comprehensions` and `conditions`.
"""

from __future__ import annotations

import ast
import builtins
import operator
import types
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sdfgad.errors import PythonRaises, Rebound, UnboundVariable
from sdfgad.ir.expr import INT, Lin, cast
from sdfgad.parse import (
    appending,
    attributes,
    calls,
    chosen_items,
    comprehension_loops,
    comprehensions,
    conditions,
    containers,
    counter_conditions,
    delay_lines,
    dict_keys,
    filtered,
    global_names,
    iterators,
    keyed_trajectories,
    masked_dicts,
    namespaces,
    object_equality,
    object_order,
    objects,
    operators,
    optional_values,
    outside,
    polymorphic,
    ranges,
    sparse,
    stored_lists,
    trajectory_items,
)
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.basic_indexing import resolve
from sdfgad.parse.binding import bind, position_of
from sdfgad.parse.columns import columns_of
from sdfgad.parse.flat import Flat
from sdfgad.parse.frame import CELLS, Frame
from sdfgad.parse.functions import mpi
from sdfgad.parse.functions.facts import class_of
from sdfgad.parse.generator_loops import flattened
from sdfgad.parse.indexing import getitem
from sdfgad.parse.inlined_calls import inlined
from sdfgad.parse.iterators import mapping
from sdfgad.parse.library.selected import METHODS_OF_SELECTIONS
from sdfgad.parse.liveness import assigned_attributes, assigned_names
from sdfgad.parse.logs import is_log
from sdfgad.parse.merging import bound_value
from sdfgad.parse.object_arrays import ObjectArray
from sdfgad.parse.operands import evaluated, may_change_something, method
from sdfgad.parse.ranges import Range
from sdfgad.parse.registry import ATTRIBUTES, METHODS, SUBSCRIPTS
from sdfgad.parse.rows import whole_of
from sdfgad.parse.sparse_layout import is_sparse
from sdfgad.parse.texts import is_plain
from sdfgad.parse.throwing import operating
from sdfgad.parse.tuple_methods import comparison, own_method, own_property
from sdfgad.parse.values import (
    ChosenText,
    MaybeNone,
    Polymorphic,
    Record,
    Selection,
    Tensor,
    is_integer,
    is_real,
    is_whole,
)

# What to write instead of attributes of arrays that are not supported.
INSTEAD = {
    "resize": "Write `x = np.append(x, np.zeros(n))` for n more elements, or `x = x[:n]`; np.resize repeats elements.",
    "view": "Write `x[...]` for a view; convert numbers by `.astype(...)`.",
}


def constant(frame: Frame, node: ast.Constant) -> Any:
    return node.value


def name(frame: Frame, node: ast.Name) -> Any:
    """Name resolution: local names, those of enclosing functions, globals, builtins."""
    seen: Frame | None = frame
    while seen is not None:
        if node.id in seen.env:
            return bound_value(seen, node, seen.env[node.id])
        if node.id in seen.env.get(CELLS, ()):
            found = containers.read(frame.b, seen.env[CELLS][node.id], f"`{node.id}`")
            return bound_value(seen, node, found)
        seen = seen.lexical
    if (assigned := global_names.of(frame, node.id)) is not None:
        return bound_value(frame, node, containers.read(frame.b, assigned[node.id], f"`{node.id}`"))
    if node.id in frame.source.outer:
        value = frame.source.outer[node.id]
        if isinstance(value, np.ndarray):
            return frame.b.capture(node.id, value, frame.source.lookup(node.id))
        if is_sparse(value):
            return sparse.captured(frame.b, node.id, value, frame.source.lookup(node.id))
        if not isinstance(value, types.ModuleType) and not frame.is_definition:
            frame.b.looked_up(frame.source.function, node.id, value, frame.source.lookup(node.id))
        return outside.from_outside(frame.b, value)
    if hasattr(builtins, node.id):
        return getattr(builtins, node.id)
    what = f"name `{node.id}` is not defined"
    error = UnboundVariable(
        what, frame.where(node), "Assign it before, or import it at the top of the file.", name=node.id
    )
    error.is_certain = not _is_bound_in_loop(frame, node.id)
    raise error


def _is_bound_in_loop(frame: Frame | None, name: str) -> bool:
    """Whether a loop around binds a name that has no value yet: in its next trip it has one."""
    while frame is not None:
        if any(name in assigned_names(loop) for loop in frame.loops):
            return True
        frame = frame.lexical
    return False


def tuple_(frame: Frame, node: ast.Tuple) -> Any:
    return tuple(_elements(frame, node.elts))


def list_(frame: Frame, node: ast.List) -> Any:
    made = containers.tracked(frame.b, _elements(frame, node.elts))
    return delay_lines.made(frame, node, made)


def _elements(frame: Frame, nodes: list[ast.expr]) -> list[Any]:
    """The entries of a tuple or list, with starred sequences unpacked."""
    result: list[Any] = []
    for node, value in zip(nodes, evaluated(frame, nodes), strict=True):
        result += iterators.all_items(frame, node, value) if isinstance(node, ast.Starred) else [value]
    return list(map(frame.b.settle, result))


def dict_(frame: Frame, node: ast.Dict) -> Any:
    """A dict display; a key of None stands for ``**value``."""
    made: dict[Any, Any] = {}
    parts = [part for pair in zip(node.keys, node.values, strict=True) for part in pair if part is not None]
    values = iter(evaluated(frame, parts))
    for of in node.keys:
        key = None if of is None else containers.key_of(frame.b, next(values))
        value = frame.b.settle(outside.with_arrays(frame.b, next(values)))
        frame.b.python(made.update, mapping(frame, node, value) if of is None else {key: value})
    return masked_dicts.made(frame, node, containers.tracked(frame.b, made))


def set_(frame: Frame, node: ast.Set) -> Any:
    return set_of(frame, _elements(frame, node.elts))


def set_of(frame: Frame, values: list[Any]) -> Any:
    """A set, whose elements must be known while parsing."""
    return containers.tracked(frame.b, frame.b.python(set, [containers.key_of(frame.b, value) for value in values]))


def set_comprehension(frame: Frame, node: ast.SetComp) -> Any:
    return set_of(frame, comprehensions.items(frame, node))


def slice_(frame: Frame, node: ast.Slice) -> Any:
    bounds = (node.lower, node.upper, node.step)
    values = iter(evaluated(frame, [bound for bound in bounds if bound is not None]))
    return slice(*(None if bound is None else next(values) for bound in bounds))


def attribute(frame: Frame, node: ast.Attribute) -> Any:
    value = frame.eval(node.value)
    if mpi.is_theirs(value):
        return mpi.attribute(frame.b, value, node.attr)
    if isinstance(value, Record):
        _require_bound(frame, value, node)
        found = objects.attribute(frame.b, value, node.attr, partial(inlined, frame, node))
        found = optional_values.bound(frame.b, found, f"`.{node.attr}`")
        return containers.read(frame.b, found, f"`.{node.attr}`")
    if isinstance(value, Polymorphic):
        return polymorphic.attribute(frame, node, value)
    if isinstance(value, objects.Parent):
        return value.attribute(frame.b, node.attr, partial(inlined, frame, node))
    if isinstance(value, Lin):
        return value if node.attr in ("real", "numerator") else getattr(frame.b.constant(value), node.attr)
    if not isinstance(value, (Tensor, Selection)):
        # A named tuple may be one of the program's own.
        if isinstance(value, tuple) and not outside.is_outside(frame.b, value):
            getter = own_property(value, node.attr)
            found = frame.b.python(getattr, value, node.attr) if getter is None else None
            return found if getter is None else frame.call(node, getter, [value], {})
        if (cells := namespaces.cells_of(frame.b, value, node.attr)) is not None:
            found = optional_values.bound(frame.b, cells[node.attr], f"`.{node.attr}`")
            return containers.read(frame.b, found, f"`.{node.attr}`")
        return outside.part_from_outside(frame.b, value, node.attr, getattr)
    cls = class_of(value)
    if frame.b.tries and not hasattr(cls, node.attr):
        what = f"the class {cls.__name__} has no attribute `{node.attr}`"
        raise PythonRaises(
            what, frame.where(node), "Use an attribute that the class or its __init__ defines.", AttributeError(what)
        )
    if node.attr in ATTRIBUTES:
        return ATTRIBUTES[node.attr](frame.b, value)
    if isinstance(value, Selection) and node.attr in METHODS_OF_SELECTIONS:
        return partial(METHODS_OF_SELECTIONS[node.attr], value)
    if node.attr in METHODS:
        return calls.ArrayMethod(METHODS[node.attr], value)
    todo = INSTEAD.get(
        node.attr, "Use a function of NumPy, np.sum(x), say, or an operator; docs/supported.md lists the functions."
    )
    raise frame.unsupported(node, f"the attribute `.{node.attr}` of arrays is not supported", todo)


def _require_bound(frame: Frame, record: Record, node: ast.Attribute) -> None:
    """Refuse an attribute that a loop around sets first, and that this trip may not have set yet.

    Raises:
        UnboundVariable: nothing has set it, at least in the first trip.
    """
    if objects.has_attribute(record, node.attr) or attributes.is_of_column(frame.b, record, node.attr):
        return
    if any(node.attr in assigned_attributes(loop) for loop in frame.loops):
        raise UnboundVariable(
            f"`.{node.attr}` of the object may be read before it is set",
            frame.where(node),
            "Set it before the loop, in `__init__`, say.",
            name=node.attr,
        )


def subscript(frame: Frame, node: ast.Subscript) -> Any:
    container, index = evaluated(frame, [node.value, node.slice])
    if is_log(container) and delay_lines.is_kept_at(container, index):
        return delay_lines.item(frame.b, container, index)
    if is_log(container):
        container = delay_lines.items_for(frame, container, index)
    if isinstance(container, Polymorphic):
        return polymorphic.applied(frame, node, lambda x, k: ast.Subscript(x, k, ast.Load()), (container, index))
    if isinstance(container, Record):
        return method(frame, node, container, "__getitem__", index)
    if (own := own_method(container, "__getitem__")) is not None:
        return frame.call(node, own, [container, index], {})
    try:
        with containers.noted_lookup(frame.b, container, index):
            return item(frame, container, index)
    except Rebound as error:
        if isinstance(node.slice, ast.IfExp):
            # Each of the two keys may have an item of its own kind.
            error.choice = error.choice or node.slice
        raise


def item(frame: Frame, container: Any, index: Any) -> Any:
    """``container[index]`` of an array or of a container that is known while parsing."""
    filling = frame.b.filling.get(id(container))
    if filling is not None and filling.storing is not None:
        return stored_lists.read(frame.b, container, index)
    if filling is not None and isinstance(container, dict):
        return keyed_trajectories.item(frame, container, index)
    if filling is not None and is_whole(index):
        place = Lin.of(index) if is_integer(index) else frame.b.fixed(cast(index.at(), INT))
        with frame.b.indexed(frame.source.counts_back):
            return trajectory_items.item(frame.b, container, place)
    if isinstance(container, list) and not stored_lists.is_known(index):
        stored_lists.expect(frame.b, frame.env, container, index)
    if isinstance(index, ChosenText):
        return chosen_items.of_text(frame.b, container, index)
    if isinstance(container, ObjectArray) and isinstance(index, (slice, tuple)):
        what = "a slice of an array of objects is not supported"
        raise frame.b.unsupported(what, "Go over its items one by one, or use a list from the start.")
    if isinstance(container, (Tensor, Selection)):
        with frame.b.indexed(frame.source.counts_back):
            return getitem(frame.b, container, index)
    if isinstance(container, Flat):
        return container.item(frame.b, index)
    if id(container) in SUBSCRIPTS:
        return SUBSCRIPTS[id(container)][1](frame.b, index)
    if isinstance(container, Range):
        return ranges.item(frame.b, container, index)
    index = counter_conditions.index(frame.b, index)
    counted = _counted(frame, container, index)
    if counted is not None:
        return counted
    chosen = chosen_items.item_at(frame.b, container, index, frame.source.counts_back)
    if chosen is not None:
        return chosen
    if isinstance(container, (list, tuple)) and isinstance(index, Tensor) and chosen_items.is_integer_of_data(index):
        counted = _at_place(frame, container, frame.b.fixed(index.at()))
        if counted is not None:
            return counted
    if isinstance(container, (list, tuple, dict)):
        index = position_of(frame.b, index)
    index = frame.b.constant(index) if isinstance(index, Lin) else index
    if isinstance(container, containers.Default) and is_real(index) and index not in container:
        return _made(frame, container, index)
    if outside.is_outside(frame.b, container) and not isinstance(index, slice):
        return outside.part_from_outside(frame.b, container, index, operator.getitem)
    container = outside.with_arrays(frame.b, container) if isinstance(index, slice) else container
    found = frame.b.python(operator.getitem, container, index)
    if isinstance(index, slice):
        containers.tracked(frame.b, found)
    return containers.read(frame.b, found, f"an item of this {type(container).__name__}")


def _counted(frame: Frame, container: Any, index: Any) -> Any:
    """An item of a list, tuple or dict that counters tell; None where it can be none of a loop."""
    if type(container) is dict and not is_plain(index):
        try:
            chosen = dict_keys.chosen(frame.b, container, index)
        except dict_keys.MissingKey:
            keyed_trajectories.expect(frame, container, index)
            raise
        return None if chosen is None else _at_place(frame, *chosen)
    is_counted = not isinstance(container, dict) and isinstance(index, Lin) and not index.is_const
    return _at_place(frame, container, index) if is_counted else None


def _at_place(frame: Frame, values: Any, index: Lin) -> Any:
    rows = whole_of(frame.b, values)
    if rows is not None:
        return getitem(frame.b, rows, index)
    if ranges.is_repeated(frame.b, values) and _is_within(frame, index, len(values)):
        return values[0]
    tuples = columns_of(frame.b, values, ranges.fewest(frame.b))
    if tuples is not None:
        return tuples(resolve(frame.b, index, Lin(len(values))))
    number = ranges.number_at(frame.b, values, index, is_known=True)
    if number is None and stored_lists.has_many_trips(frame.b, index):
        appending.expect(frame.b, values)
        number = ranges.number_at(frame.b, values, index, is_known=False)
    return number


def _is_within(frame: Frame, index: Lin, length: int) -> bool:
    return frame.b.holds(index) and frame.b.holds(length - 1 - index)


def _made(frame: Frame, container: containers.Default, key: Any) -> Any:
    """The new item of a defaultdict, or the 0 of a Counter."""
    if isinstance(container, containers.Counts):
        return 0
    made = frame.eval(ast.Call(ast.Constant(container.factory), [], []))
    containers.require_current(frame.b, container, key)
    container[key] = frame.b.settle(made)
    return container[key]


def binary(frame: Frame, node: ast.BinOp) -> Any:
    left, right = evaluated(frame, [node.left, node.right])
    with operating(frame, node):
        return operation(frame, node, type(node.op), left, right)


def operation(frame: Frame, node: ast.expr, op: type[ast.operator], left: Any, right: Any) -> Any:
    """``left op right``, by the method that a class of the user defines for it, or else of numbers and arrays."""
    if any(map(polymorphic.is_one, (left, right))):
        return polymorphic.applied(frame, node, lambda x, y: ast.BinOp(x, op(), y), (left, right))
    found = objects.overloaded(operators.python_name(op), left, right, partial(inlined, frame, node))
    return operators.binary(frame.b, op, left, right) if found is NotImplemented else found


def unary(frame: Frame, node: ast.UnaryOp) -> Any:
    if isinstance(node.op, ast.Not):
        return conditions.test(frame, node)
    value = frame.eval(node.operand)
    if isinstance(value, Polymorphic):
        return polymorphic.applied(frame, node, lambda x: ast.UnaryOp(node.op, x), (value,))
    name = f"__{operators.UNARY[type(node.op)][0].__name__}__"
    if isinstance(value, Record):
        return method(frame, node, value, name)
    if (own := own_method(value, name)) is not None:
        return frame.call(node, own, [value], {})
    return operators.unary(frame.b, type(node.op), value)


def compare(frame: Frame, node: ast.Compare) -> Any:
    if any(may_change_something(frame, one) for one in node.comparators[1:]):
        return frame.eval(_as_conjunction(node))
    values = evaluated(frame, [node.left, *node.comparators])
    result: Any = True
    for op, left, right in zip(node.ops, values[:-1], values[1:], strict=True):
        part = _compared(frame, node, type(op), left, right)
        result = part if result is True else conditions.chained(frame.b, result, part)
    return result


@lru_cache(maxsize=1 << 10)
def _as_conjunction(node: ast.Compare) -> ast.BoolOp:
    """A chain ``a < b < c()`` as ``a < (x := b) and x < c()``, which does not call where the first part is false."""
    left, parts = node.left, list[ast.expr]()
    for k, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        name = f"<compared {node.lineno}, {node.col_offset}, {k}>"
        is_last = k == len(node.ops) - 1
        kept = right if is_last else ast.NamedExpr(ast.Name(name, ast.Store()), right)
        parts.append(ast.Compare(left, [op], [kept]))
        left = ast.Name(name, ast.Load())
    return ast.fix_missing_locations(ast.copy_location(ast.BoolOp(ast.And(), parts), node))


def _compared(frame: Frame, node: ast.Compare, op: type[ast.cmpop], left: Any, right: Any) -> Any:
    if op not in (ast.Is, ast.IsNot) and any(map(polymorphic.is_one, (left, right))):
        return polymorphic.applied(frame, node, lambda x, y: ast.Compare(x, [op()], [y]), (left, right))
    found = NotImplemented if op in operators.IDENTITY else _compared_by_tuple(frame, node, op, left, right)
    if found is not NotImplemented:
        return found
    if op in (ast.In, ast.NotIn) and isinstance(right, Record):
        is_missing = _negated(frame, node, method(frame, node, right, "__contains__", left))
        return is_missing if op is ast.NotIn else _negated(frame, node, is_missing)
    left, right = _with_methods(frame, op, left, right)
    if op in object_order.ORDER and (isinstance(left, Record) or isinstance(right, Record)):
        return _ordered(frame, node, op, left, right)
    is_identity = op in operators.IDENTITY or (op in (ast.Eq, ast.NotEq) and object_equality.are_compared(left, right))
    if not isinstance(left, Record) or is_identity:
        return operators.compare(frame.b, op, left, right)
    if op is ast.NotEq and not object_equality.defines(left.cls, "__ne__"):
        return _negated(frame, node, method(frame, node, left, "__eq__", right))
    return method(frame, node, left, f"__{operators.COMPARE[op][0].__name__}__", right)


def _compared_by_tuple(frame: Frame, node: ast.Compare, op: type[ast.cmpop], left: Any, right: Any) -> Any:
    """The same by what the class of a named tuple defines; else NotImplemented."""
    if op in (ast.In, ast.NotIn):
        function = own_method(right, "__contains__")
        chosen = None if function is None else (function, [right, left])
    else:
        chosen = None if isinstance(left, Record) else comparison(operators.COMPARE[op][0].__name__, left, right)
    if chosen is None and op is not ast.NotEq:
        return NotImplemented
    if chosen is None:
        found = _compared_by_tuple(frame, node, ast.Eq, left, right)
        return found if found is NotImplemented else _negated(frame, node, found)
    found = frame.call(node, chosen[0], chosen[1], {})
    return _negated(frame, node, found) if op is ast.NotIn else found


def _ordered(frame: Frame, node: ast.Compare, op: type[ast.cmpop], left: Any, right: Any) -> Any:
    """``<`` and the like of objects."""
    found = object_order.compared(frame.b, op, left, right, partial(method, frame, node))
    if isinstance(found, tuple):
        return operators.compare(frame.b, op, *found)
    if found is NotImplemented and isinstance(left, Record):
        return method(frame, node, left, object_order.ORDER[op][0], right)
    return operators.compare(frame.b, op, left, right) if found is NotImplemented else found


def _with_methods(frame: Frame, op: type[ast.cmpop], left: Any, right: Any) -> tuple[Any, Any]:
    """Two values that are compared; where a class of theirs defines ``==``, they must not be None."""
    known = [value.value if isinstance(value, MaybeNone) else value for value in (left, right)]
    has_object = any(isinstance(value, Record) for value in known) and left is not None and right is not None
    if op not in (ast.Eq, ast.NotEq) or not has_object or object_equality.are_compared(*known):
        return left, right
    left, right = (optional_values.required(frame.b, value, "what is compared") for value in (left, right))
    return left, right


def _negated(frame: Frame, node: ast.Compare, value: Any) -> Any:
    """``not value``."""
    return frame.eval(ast.copy_location(ast.UnaryOp(ast.Not(), ast.Constant(value)), node))


def named(frame: Frame, node: ast.NamedExpr) -> Any:
    """``name := value``."""
    bind(frame.scope, node.target, frame.eval(node.value))
    return name(frame.scope, node.target)


def list_comprehension(frame: Frame, node: ast.ListComp) -> Any:
    found = filtered.items(frame, flattened(frame, node))
    return found if isinstance(found, Record) else containers.tracked(frame.b, found)


def dict_comprehension(frame: Frame, node: ast.DictComp) -> Any:
    point = ChoicePoint.of(frame)
    try:
        pairs = comprehensions.items(frame, node)
    except comprehensions.ConditionOnData as error:
        if not error.is_of(node):
            raise
        point.backtrack(frame)
        values, empty = frame.eval(node.generators[0].iter), containers.tracked(frame.b, {})
        found = masked_dicts.made(frame, node, empty)
        return comprehension_loops.filled_dict(comprehensions.inner_of(frame), node, values, found)
    return masked_dicts.made(frame, node, containers.tracked(frame.b, frame.b.python(dict, pairs)))


def starred(frame: Frame, node: ast.Starred) -> Any:
    return frame.eval(node.value)
