"""Calls of Python's own functions on containers, objects and functions, as far as they are known while parsing."""

from __future__ import annotations

import ast
import collections
import collections.abc
import copy
import dataclasses
import functools
import inspect
import itertools
import logging
import operator
import types
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.errors import PythonRaises, SdfgadError, UnsupportedProgram
from sdfgad.ir.expr import Lin
from sdfgad.parse import (
    attributes,
    containers,
    delay_lines,
    dict_keys,
    masked_dicts,
    masked_lists,
    matching,
    namespaces,
    objects,
    operators,
    optional_values,
    outside,
    trees,
    truth_values,
    type_switch,
)
from sdfgad.parse.builder import Builder
from sdfgad.parse.closures import Closure
from sdfgad.parse.data_order import count_of, is_scalar, place_of, sorted_by
from sdfgad.parse.deques import Deque
from sdfgad.parse.functions.facts import class_of
from sdfgad.parse.iterators import Keywords, Site, first_item, iterator_of, mapping
from sdfgad.parse.operands import method
from sdfgad.parse.ranges import Range
from sdfgad.parse.source import source_text
from sdfgad.parse.texts import RunTimeText
from sdfgad.parse.tree_nodes import rebuilt_tuple
from sdfgad.parse.values import Holder, Record, Selection, Tensor, is_real, is_static

Special = Callable[..., Any]
SPECIAL: dict[Any, Special] = {}


def _of(*originals: Any) -> Callable[[Special], Special]:
    def register(handler: Special) -> Special:
        SPECIAL.update(dict.fromkeys(originals, handler))
        return handler

    return register


def special(site: Site, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """The value of a call of one of these functions."""
    try:
        return SPECIAL[function](site, *positional, **keywords)
    except SdfgadError:
        raise
    except TypeError as error:
        what = f"these arguments of `{function.__name__}` are not supported: {error}"
        raise site.frame.unsupported(
            site.node,
            what,
            "Pass what it takes in Python; values of arrays are known only at run time.",
        ) from error


# --- containers


@_of(dict)
def _dict(site: Site, *given: Any, **more: Any) -> Any:
    return _made(site, dict(_pairs(site, given)) | _settled(site, more))


def _made(site: Site, values: dict[Any, Any]) -> Any:
    return masked_dicts.made(site.frame, site.node, containers.tracked(site.b, values))


@_of(OrderedDict)
def _ordered_dict(site: Site, *given: Any, **more: Any) -> Any:
    return containers.tracked(site.b, OrderedDict(_pairs(site, given) | _settled(site, more)))


@_of(defaultdict)
def _defaultdict(site: Site, factory: Any = None, *given: Any, **more: Any) -> Any:
    # A factory may be a function that only the parser can call: see `containers.Default`.
    made = containers.Default(_pairs(site, given) | _settled(site, more))
    made.factory = factory
    return _made(site, made)


@_of(Counter)
def _counter(site: Site, values: Any = (), **more: Any) -> Any:
    made = containers.Counts()
    _count(site, made, values)
    _count(site, made, more)
    return _made(site, made)


def _count(site: Site, counts: containers.Counts, values: Any) -> None:
    """Add the counts of a mapping, or one for each of other items."""
    values = mapping(site.frame, site.node, values)
    pairs = values.items() if isinstance(values, dict) else ((key, 1) for key in site.sequence(values))
    for key, count in pairs:
        known = containers.key_of(site.b, key)
        counts[known] = operators.binary(site.b, ast.Add, counts.get(known, 0), site.b.settle(count))


@_of(dict.fromkeys)
def _fromkeys(site: Site, keys: Any, value: Any = None) -> Any:
    known = [containers.key_of(site.b, key) for key in site.sequence(keys)]
    return _made(site, dict.fromkeys(known, site.b.settle(value)))


def _pairs(site: Site, given: tuple[Any, ...]) -> dict[Any, Any]:
    """The items of a mapping or of an iterable of pairs."""
    if not given:
        return {}
    (source,) = given
    source = mapping(site.frame, site.node, source)
    if isinstance(source, dict):
        return dict(source)
    pairs = [list(site.sequence(pair)) for pair in site.sequence(source)]
    keyed = [(containers.key_of(site.b, key), *values) for key, *values in pairs]
    return site.b.python(dict, [site.b.settle(pair) for pair in keyed])


def _settled(site: Site, values: Keywords) -> Keywords:
    return {name: site.b.settle(value) for name, value in values.items()}


def special_method(site: Site, method: Any, positional: list[Any], keywords: Keywords) -> Any:
    """A call of a method of a list, dict or set."""
    owner, name = method.__self__, method.__name__
    if name in containers.READ_ONLY and (whole := outside.with_arrays(site.b, owner)) is not owner:
        return special_method(site, getattr(whole, name), positional, keywords)
    if name == "sort":
        containers.require_current(site.b, owner)
        owner[:] = _sorted(site, list(owner), **keywords)
        return None
    if name == "update" and isinstance(owner, dict):
        containers.require_current(site.b, owner)
        if isinstance(owner, containers.Counts):
            _count(site, owner, *positional)
            return _count(site, owner, keywords)
        owner.update(_pairs(site, tuple(positional)) | _settled(site, keywords))
        return None
    is_set = isinstance(owner, (set, frozenset))
    if name in ("index", "count", "remove") and not is_set and not is_real((owner, positional)):
        return _searched(site, owner, name, *positional)
    if name == "extend" and type(owner) is list:
        containers.extend(site.b, owner, *map(site.sequence, positional))
        return None
    if name == "get" and positional and _follows_from_counters(site.b, positional[0]):
        return _got(site, owner, *positional)
    if name in ("extend", "extendleft", "fromkeys") or (is_set and name in containers.OF_SETS):
        positional = [list(site.sequence(value)) for value in positional]
    made = containers.method(site.b, method, positional, keywords)
    if name == "copy" and isinstance(owner, containers.Default):
        made, made.factory = type(owner)(made), owner.factory
    is_new = isinstance(made, (list, dict, set)) and made is not owner and name in ("copy", *containers.NEW_SETS)
    return containers.tracked(site.b, made) if is_new else made


def _follows_from_counters(b: Builder, key: Any) -> bool:
    return not dict_keys.symbols_of(key).isdisjoint(var for _, var, _ in b.loops)


def _got(site: Site, values: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """``values.get(key)`` as ``values[key] if key in values else default``: a loop is split by where it holds."""
    has = ast.Compare(_constant(key), [ast.In()], [_constant(values)])
    item: Any = ast.Subscript(_constant(values), _constant(key), ast.Load())
    chosen: Any = _at(site, ast.IfExp(has, item, _constant(default)))
    item.is_handed_on = chosen.is_handed_on = True
    return site.frame.eval(chosen)


def _searched(site: Site, values: Any, name: str, wanted: Any) -> Any:
    """``index``, ``count`` or ``remove`` where some items are known only at run time: by what is known to be equal."""
    equal = [item is wanted or operators.compare(site.b, ast.Eq, item, wanted) for item in values]
    if not all(isinstance(one, (bool, np.bool_)) for one in equal):
        if all(isinstance(one, Record) or is_scalar(one) for one in [*values, wanted]):
            found = place_of(site.b, equal) if name != "count" else count_of(site.b, equal)
            return _removed(site, values, found) if name == "remove" else found
        what = f"`{name}` looks for a value among items that are known only at run time"
        raise site.b.unsupported(what, "Write np.argmax(np.array(values) == x).")
    if name == "count":
        return sum(map(bool, equal))
    if True not in equal:
        raise PythonRaises(
            "the value is not in the list", site.b.where, "Test for it before: if x in values.", ValueError()
        )
    position = equal.index(True)
    return position if name == "index" else _removed(site, values, position)


def _removed(site: Site, values: Any, position: Any) -> None:
    containers.method(site.b, values.pop, [position], {})


@_of(set)
def _set(site: Site, iterable: Any = ()) -> Any:
    return containers.tracked(site.b, site.b.python(set, _elements(site, iterable)))


@_of(frozenset)
def _frozenset(site: Site, iterable: Any = ()) -> Any:
    return site.b.python(frozenset, _elements(site, iterable))


def _elements(site: Site, iterable: Any) -> list[Any]:
    return [containers.key_of(site.b, value) for value in site.sequence(iterable)]


@_of(sorted)
def _sorted(site: Site, iterable: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    values = [site.b.settle(value) for value in site.sequence(iterable)]
    if key is None and not is_real(values) and all(map(is_scalar, values)):
        ordered = list(site.sequence(site.call(np.sort, site.call(np.array, values))))
        return containers.tracked(site.b, ordered[::-1] if reverse else ordered)
    keys = values if key is None else [site.call(key, value) for value in values]
    if any(isinstance(one, Record) for one in keys):
        # Of objects, how many are less, by their own `<`.
        keys = [site.call(sum, [site.call(operator.lt, other, one) for other in keys]) for one in keys]
    if any(isinstance(leaf, RunTimeText) for leaf in trees.leaves(keys)):
        raise site.b.unsupported(
            "strings that depend on run-time values are sorted", "Sort the numbers that they are made of."
        )
    try:
        # Data may be in them and not matter: the keys of a dict differ before its values are compared.
        order = site.b.python(sorted, range(len(values)), key=keys.__getitem__, reverse=bool(reverse))
    except UnsupportedProgram:
        by_data = sorted_by(site.b, values, keys, site.b.python(bool, reverse))
        if by_data is None:
            raise
        return containers.tracked(site.b, by_data)
    return containers.tracked(site.b, [values[k] for k in order])


_of(next)(first_item)
_of(iter)(iterator_of)


# --- functions of functions and objects


@_of(masked_lists.unavailable)
def _unavailable(site: Site, what: str) -> Any:
    raise site.b.unsupported(f"{what} {masked_lists.WHAT}", masked_lists.TODO)


@_of(masked_dicts.unavailable)
def _unavailable_of_dict(site: Site, what: str) -> Any:
    raise site.b.unsupported(f"{what} {masked_dicts.WHAT}", masked_dicts.TODO)


@_of(masked_dicts.learn)
def _learn(site: Site, origin: Any, key: Any, value: Any) -> None:
    masked_dicts.learned(site.b, origin, key, value)


@_of(masked_dicts.copied)
def _copied(site: Site, values: Any) -> Any:
    return masked_dicts.copy_of(site.b, values)


@_of(masked_dicts.missing)
def _missing(site: Site, origin: Any) -> Any:
    raise PythonRaises(masked_dicts.NO_KEY, site.b.where, masked_dicts.TEST_IT, KeyError())


@_of(masked_dicts.require_there)
def _require_there(site: Site, is_there: Any) -> None:
    masked_dicts.require(site.b, is_there)


@_of(id)
def _id(site: Site, value: Any) -> int:
    """A number that other objects have not; not Python's, which differs from run to run."""
    containers.require_no_member(site.b, [value])
    if not isinstance(value, Record) or site.b.contents.is_copy(value.fields):
        what = "`id` of what is no object of a class, or of an object that data chooses, is not supported"
        raise site.b.unsupported(what, "Number the objects: self.number = k.")
    return id(value.fields)


@_of(type_switch.item_of_kind)
def _item_of_kind(site: Site, items: Any, place: Any) -> Any:
    return type_switch.chosen_item(site.b, items, place)


@_of(masked_lists.pythons)
def _pythons(site: Site, numbers: Tensor) -> Tensor:
    return dataclasses.replace(site.b.settle(numbers), weak=True)


@_of(functools.reduce)
def _reduce(site: Site, function: Any, iterable: Any, *initial: Any) -> Any:
    values = itertools.chain(initial, site.sequence(iterable))
    total = next(values, None)
    if total is None:
        what = "`reduce` of an empty sequence"
        raise PythonRaises(
            what,
            site.b.where,
            "Give it a first value: reduce(f, values, 0.0).",
            TypeError("reduce() of empty iterable"),
        )
    for value in values:
        total = site.b.settle(site.call(function, total, value))
    return total


def _unchanged(function: Any) -> Any:
    """What a decorator that makes no difference returns; only the parser calls it."""


@_of(_unchanged)
def _same(site: Site, function: Any) -> Any:
    return function


@_of(functools.wraps)
def _wraps(site: Site, *_: Any, **__: Any) -> Any:
    return functools.partial(_unchanged)


def _cached(function: Any) -> Any:
    return dataclasses.replace(function, is_cached=True) if isinstance(function, Closure) else function


@_of(_cached)
def _as_cached(site: Site, function: Any) -> Any:
    return _cached(function)


@_of(functools.lru_cache, functools.cache)
def _cache(site: Site, function: Any = None, **_: Any) -> Any:
    if function is None or isinstance(function, int):
        return functools.partial(_cached)
    return _cached(function)


@_of(logging.getLogger)
def _logger(site: Site, *name: Any) -> logging.Logger:
    """A logger, whose calls the compiled program leaves out."""
    return site.b.python(logging.getLogger, *name)


@_of(collections.abc.KeysView)
def _keys(site: Site, mapping: Any) -> list[Any]:
    """What the mixin of Mapping returns for ``keys()`` of an object; a copy, which later changes do not reach."""
    return site.dispatch(list, [mapping], {})


@_of(collections.abc.ValuesView)
def _values(site: Site, mapping: Any) -> list[Any]:
    return site.dispatch(_values_of, [mapping], {})


@_of(collections.abc.ItemsView)
def _items(site: Site, mapping: Any) -> list[Any]:
    return site.dispatch(_items_of, [mapping], {})


def _values_of(mapping: Any) -> list[Any]:
    return [mapping[key] for key in mapping]


def _items_of(mapping: Any) -> list[Any]:
    return [(key, mapping[key]) for key in mapping]


@_of(callable)
def _callable(site: Site, value: Any) -> bool:
    if isinstance(value, (Tensor, Lin, Selection)):
        return False
    return (
        callable(inspect.getattr_static(value.cls, "__call__", None)) if isinstance(value, Record) else callable(value)
    )


@_of(type)
def _type(site: Site, value: Any) -> Any:
    return truth_values.agreed(site.b, value, class_of(value), lambda cls: cls)


@_of(getattr)
def _getattr(site: Site, value: Any, name: str, *default: Any) -> Any:
    if default and not (found := _hasattr(site, value, name)):
        return default[0]
    if default and not isinstance(found, bool):
        what = f"whether `.{name}` is set is known only at run time"
        raise site.b.unsupported(what, "Set it in `__init__`, to None, say, and test it by `is None`.")
    return site.frame.eval(_at(site, ast.Attribute(_constant(value), name, ast.Load())))


@_of(hasattr)
def _hasattr(site: Site, value: Any, name: str) -> Any:
    if isinstance(value, Record) and attributes.read(site.b, value, name) is not None:
        return True
    if isinstance(value, Record) and name in value.fields:
        return optional_values.is_bound(site.b, value.fields[name])
    if isinstance(value, Record) and objects.is_computed(value, name):
        return site.dispatch(_computes, [value, name], {})
    if isinstance(value, (Tensor, Lin, Selection, Record)):
        return hasattr(class_of(value), name)
    if (cells := namespaces.cells_of(site.b, value, name)) is not None:
        return optional_values.is_bound(site.b, cells[name])
    return site.b.looked_up(value, ("has", name), hasattr(value, name), functools.partial(hasattr, value, name))


def _computes(value: Any, name: str) -> bool:
    """Whether ``__getattr__`` gives an attribute; inlined as a function of the user's is."""
    try:
        getattr(value, name)
    except AttributeError:
        return False
    return True


@_of(object.__setattr__)
def _set_field(site: Site, value: Any, name: str, new: Any) -> None:
    objects.set_field(site.b, value, name, new)


@_of(setattr)
def _setattr(site: Site, value: Any, name: str, new: Any) -> None:
    target = ast.Attribute(_constant(value), name, ast.Store())
    site.frame.statement(_at(site, ast.Assign([target], _constant(new))))


@_of(vars)
def _vars(site: Site, value: Any) -> Any:
    return site.frame.eval(_at(site, ast.Attribute(_constant(value), "__dict__", ast.Load())))


@_of(dataclasses.replace)
def _replace(site: Site, record: Any, **changes: Any) -> Any:
    fields = [field.name for field in dataclasses.fields(class_of(record)) if field.init]
    values = {name: _getattr(site, record, name) for name in fields}
    return site.dispatch(class_of(record), [], values | changes)


def _constant(value: Any) -> ast.Constant:
    """A value as an expression."""
    return ast.Constant(value)


def _at(site: Site, node: Any) -> Any:
    return ast.fix_missing_locations(ast.copy_location(node, site.node))


# --- what patterns ask


@_of(matching.is_sequence)
def _is_sequence(site: Site, value: Any) -> bool:
    return isinstance(value, (tuple, list, range, Range)) or masked_lists.is_filtered(value)


@_of(matching.is_mapping)
def _is_mapping(site: Site, value: Any) -> bool:
    return isinstance(value, dict)


@_of(matching.is_instance)
def _is_instance(site: Site, value: Any, cls: Any) -> Any:
    return site.call(isinstance, value, cls)


@_of(matching.positional_part)
def _positional_part(site: Site, value: Any, cls: Any, position: int) -> Any:
    # Python's own classes match as a whole.
    own = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
    return value if cls in own else _getattr(site, value, site.b.python(operator.getitem, cls.__match_args__, position))


# --- copies


@_of(copy.copy)
def _copy(site: Site, value: Any) -> Any:
    if isinstance(value, (Tensor, Selection)):
        return site.call(np.copy, value)
    if masked_dicts.is_masked(value):
        return masked_dicts.copy_of(site.b, value)
    if isinstance(value, Record):
        return Record(value.cls, containers.tracked(site.b, attributes.read_all(site.b, value)))
    is_container = isinstance(value, (list, dict, set))
    return containers.tracked(site.b, value.copy()) if is_container else site.b.python(copy.copy, value)


@_of(copy.deepcopy)
def _deepcopy(site: Site, value: Any) -> Any:
    done: dict[int, tuple[Any, Any]] = {}
    return _deeply(site, value, done)


def _deeply(site: Site, value: Any, done: dict[int, tuple[Any, Any]]) -> Any:
    """A copy in which what several parts refer to is one object, too."""
    value = outside.with_arrays(site.b, value)
    if id(value) not in done:
        if isinstance(value, tuple):
            made: Any = rebuilt_tuple(value, [_deeply(site, part, done) for part in value])
        elif isinstance(value, (list, dict, Record)):
            made = _copy(site, value)
            done[id(value)] = value, made
            target = made.fields if isinstance(made, Record) else made
            for key, part in list(target.items() if isinstance(target, dict) else enumerate(target)):
                target[key] = _deeply(site, part, done)
        elif isinstance(value, Holder):
            what = "a deep copy of a function or iterator is not supported"
            raise site.b.unsupported(what, "Copy its arrays: x.copy().")
        else:
            made = _copy(site, value) if isinstance(value, (Tensor, Selection)) else value
        done[id(value)] = value, made
    return done[id(value)][1]


# --- texts


@_of(eval, ast.literal_eval)
def _eval(site: Site, text: Any, *_: Any) -> Any:
    """``eval`` of a literal that is known while parsing: numbers, texts and containers of them."""
    try:
        return containers.tracked(site.b, ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError) as error:
        what = f"`{source_text(site.node)}` evaluates what is no literal"
        raise site.b.unsupported(what, "Write the expression itself in the function.") from error


def _text_of(function: Any, name: str) -> Special:
    """``str`` or ``repr``: of what is known while parsing, or by a method; else a text of run-time values."""

    def handler(site: Site, *values: Any) -> Any:
        if is_static(values):
            return site.b.python(function, *values)
        cls = values[0].cls if len(values) == 1 and isinstance(values[0], Record) else None
        for one in (name, "__repr__"):
            if isinstance(inspect.getattr_static(cls, one, None), types.FunctionType):
                return method(site.frame, site.node, values[0], one)
        return RunTimeText.of(source_text(site.node), values, function)

    return handler


SPECIAL.update({str: _text_of(str, "__str__"), repr: _text_of(repr, "__repr__")})


# --- module operator


def _operators() -> dict[Any, Special]:
    """The functions of `operator` that are written as operators, too."""
    found: dict[Any, Special] = {}
    for op, (python, _) in operators.BINARY.items():
        found[python] = lambda site, x, y, op=op: operators.binary(site.b, op, x, y)
    for test, (python, _) in operators.COMPARE.items():
        found[python] = lambda site, x, y, op=test: operators.compare(site.b, op, x, y)
    for sign, (known, _) in operators.UNARY.items():
        found[known] = lambda site, x, op=sign: operators.unary(site.b, op, x)
    return found


SPECIAL.update(_operators())
_IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor")


@_of(*(getattr(operator, name) for name in _IN_PLACE))
def _in_place(site: Site, *_: Any) -> Any:
    what = f"`{source_text(site.node.func)}` is not supported"
    raise site.b.unsupported(what, "Write the statement, such as `x += y`.")


@_of(operator.is_)
def _is(site: Site, x: Any, y: Any) -> Any:
    return operators.compare(site.b, ast.Is, x, y)


@_of(operator.truth)
def _truth(site: Site, x: Any) -> Any:
    return site.call(bool, x)


@_of(operator.contains)
def _contains(site: Site, container: Any, item: Any) -> Any:
    return operators.compare(site.b, ast.In, item, container)


@_of(operator.getitem)
def _getitem(site: Site, container: Any, index: Any) -> Any:
    return site.frame.eval(_at(site, ast.Subscript(_constant(container), _constant(index), ast.Load())))


@_of(operator.setitem)
def _setitem(site: Site, container: Any, index: Any, value: Any) -> None:
    target = ast.Subscript(_constant(container), _constant(index), ast.Store())
    site.frame.statement(_at(site, ast.Assign([target], _constant(value))))


def call_getter(site: Site, getter: Any, value: Any) -> Any:
    """A call of what ``itemgetter``, ``attrgetter`` or ``methodcaller`` have made."""
    _, arguments = getter.__reduce__()[:2]
    if isinstance(getter, operator.methodcaller):
        return site.dispatch(_getattr(site, value, arguments[0]), list(arguments[1:]), {})
    if isinstance(getter, operator.itemgetter):
        found = [_getitem(site, value, key) for key in arguments]
    else:
        found = [functools.reduce(functools.partial(_getattr, site), path.split("."), value) for path in arguments]
    return found[0] if len(found) == 1 else tuple(found)


GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def _maker_of_getters(kind: Any) -> Special:
    return lambda site, *arguments, **keywords: site.b.python(kind, *arguments, **keywords)


SPECIAL.update({kind: _maker_of_getters(kind) for kind in GETTERS})


@_of(collections.namedtuple)
def _namedtuple(site: Site, *arguments: Any, **keywords: Any) -> Any:
    return site.b.python(collections.namedtuple, *arguments, **keywords)


@_of(collections.deque)
def _deque(site: Site, iterable: Any = (), maxlen: Any = None) -> Any:
    items = [site.b.settle(value) for value in site.sequence(iterable)]
    if maxlen is not None:
        return containers.tracked(site.b, Deque(items, site.b.constant(maxlen)))
    return delay_lines.made(site.frame, site.node, containers.tracked(site.b, Deque(items)))


__all__ = ["GETTERS", "SPECIAL", "call_getter", "special", "special_method"]
