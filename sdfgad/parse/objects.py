"""Objects of classes that are written in Python: their attributes, methods and construction."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from sdfgad.errors import chosen_object
from sdfgad.parse import attributes, containers, descriptors, namespaces, outside, sparse
from sdfgad.parse.builder import Builder
from sdfgad.parse.builtin_bases import ITEMS, empty_items, member, stand_in
from sdfgad.parse.source import Source, has_source
from sdfgad.parse.sparse_formats import Sparse
from sdfgad.parse.sparse_layout import Layout
from sdfgad.parse.structure import LIBRARIES, Structure, is_record, items_of, sequence
from sdfgad.parse.transformed import Transformed
from sdfgad.parse.tuple_methods import own_method
from sdfgad.parse.values import UNDEFINED, Holder, MaybeBound, Record

# Inlines a call of a function of the user.
Inline = Callable[[Any, list[Any], dict[str, Any]], Any]
# Of the name of a field and the list that is made for it.
Begin = Callable[[str, list[Any]], Any]


def make(b: Builder, cls: type, items: dict[Any, Any]) -> Any:
    """A container of a class from its parts, as a value of the program; the class's constructor is not called."""
    if issubclass(cls, (dict, list, tuple)):
        made = sequence(cls, items)
        return made if isinstance(made, tuple) else containers.tracked(b, made)
    if issubclass(cls, Layout):
        record = sparse.made(cls, items)
        containers.tracked(b, record.fields)
        return record
    return Record(cls, containers.tracked(b, items))


def present(structure: Structure | None, value: Any) -> list[Any]:
    """The leaves that a container, which had this structure, has now; empty if it has another one."""
    if structure is None:
        return [value]
    items: Mapping[Any, Any] = value.fields if isinstance(value, Record) else items_of(value) or {}
    if issubclass(structure.cls, Layout):
        items = {key: items[key] for key in structure.keys}
    if tuple(items) != structure.keys:
        return []
    parts = [present(part, items[key]) for key, part in zip(structure.keys, structure.parts, strict=True)]
    return [leaf for part in parts for leaf in part] if all(parts) else []


# Methods that every object has for its attributes.
ACCESSORS: dict[str, Callable[..., Any]] = {"__getattribute__": getattr, "__setattr__": setattr, "__delattr__": delattr}


def attribute(b: Builder, record: Record, name: str, inline: Inline) -> Any:
    """``record.name``: an attribute of the object, or what its class defines."""
    descriptor = descriptors.descriptor_of(record.cls, name)
    keep = partial(set_field, b, record, name)
    if descriptors.is_of_data(descriptor):
        return descriptors.value(b, record, descriptor, inline, keep)
    if (row := attributes.read(b, record, name)) is not None:
        return row
    if name in record.fields and not descriptors.is_missing(b, descriptor, found := attributes.other(record, name)):
        return found
    if name == "__dict__":
        return outside.attributes_of(b, record)
    if name == "__class__":
        return sparse.class_of(record)
    if name in ACCESSORS:
        return partial(ACCESSORS[name], record)
    if is_computed(record, name):
        return inline(_hook(b, record, name), [record, name], {})
    if issubclass(record.cls, Sparse) and not hasattr(record.cls, name):
        raise b.unsupported(
            f"`.{name}` of a sparse matrix is not supported",
            "Do it outside of the function, or use A.data, A.indices, A.indptr or A.toarray().",
        )
    if descriptor is not None:
        return descriptors.value(b, record, descriptor, inline, keep)
    if (cells := namespaces.cells_of(b, record.cls, name)) is not None:
        return cells[name]
    found = _of_class(b, record.cls, name)
    if isinstance(found, property):
        return inline(found.fget, [record], {})
    if isinstance(found, types.FunctionType):
        return types.MethodType(found, record)
    if isinstance(found, Transformed) and hasattr(type(found), "__get__"):
        return partial(found, record)
    if isinstance(found, (classmethod, staticmethod)):
        return found.__get__(None, record.cls)
    return outside.part_from_outside(b, record.cls, name, getattr)


def _of_class(b: Builder, cls: type, name: str) -> Any:
    """What a class defines under a name; a later call finds out whether it still does."""
    return b.looked_up(cls, name, b.python(member, cls, name), partial(member, cls, name, None))


def is_computed(record: Record, name: str) -> bool:
    """Whether Python calls the object's ``__getattr__`` for an attribute: neither it nor its class has it."""
    return name not in record.fields and not hasattr(record.cls, name) and hasattr(record.cls, "__getattr__")


def _hook(b: Builder, record: Record, name: str) -> types.FunctionType:
    """The ``__getattr__`` of an object's class."""
    found = member(record.cls, "__getattr__")
    if isinstance(found, types.FunctionType):
        return found
    raise b.unsupported(
        f"`{record.cls.__name__}` has no attribute `{name}`, and its __getattr__, which is no function, is not called",
        f"Assign `self.{name}` in its __init__, or write __getattr__ as a method.",
    )


def overloaded(name: str, left: Any, right: Any, inline: Inline) -> Any:
    """``left op right`` by ``__op__`` of the left object or named tuple, or ``__rop__`` of the right one; else
    NotImplemented."""
    for owner, other, method in ((left, right, f"__{name}__"), (right, left, f"__r{name}__")):
        function = member(owner.cls, method, None) if isinstance(owner, Record) else own_method(owner, method)
        if isinstance(function, types.FunctionType):
            result = inline(function, [owner, other], {})
            if result is not NotImplemented:
                return result
    return NotImplemented


@dataclasses.dataclass(frozen=True)
class Parent(Holder):
    """``super()`` in a method of `cls`: the object, whose attributes are those of the classes behind `cls`."""

    record: Record
    cls: type

    @property
    def held(self) -> Iterable[Any]:
        return (self.record,)

    @staticmethod
    def of(b: Builder, source: Source, env: Mapping[str, Any], *named: Any) -> Any:
        """``super()`` in a method with these local names, or ``super(cls, self)``; Python's for one from outside."""
        first = next((one.arg for one in ast.walk(source.node.args) if isinstance(one, ast.arg)), "")
        cls, record = named if len(named) == 2 else (source.outer.get("__class__"), env.get(first))
        if isinstance(cls, type) and isinstance(record, cls) and is_record(type(record)):
            return super(cls, record)
        if not isinstance(cls, type) or not isinstance(record, Record):
            raise b.unsupported(
                "super() is only supported in methods of objects", "Name the class instead: Base.method(self, x)."
            )
        return Parent(record, cls)

    def attribute(self, b: Builder, name: str, inline: Inline) -> Any:
        mro = self.record.cls.__mro__
        owner = next((c for c in mro[mro.index(self.cls) + 1 :] if name in c.__dict__), object)
        found = stand_in(owner.__dict__.get(name))
        if isinstance(found, property):
            return inline(found.fget, [self.record], {})
        if isinstance(found, types.FunctionType):
            return types.MethodType(found, self.record)
        if owner is object and name == "__init__":
            return _nothing
        if owner is object and name == "__setattr__":
            return partial(object.__setattr__, self.record)
        return b.python(getattr, owner, name)


def _nothing() -> None:
    """``object.__init__``."""


def has_attribute(record: Record, name: str) -> bool:
    """Whether an object, or its class, has an attribute, or computes it."""
    return name in record.fields or hasattr(record.cls, name) or hasattr(record.cls, "__getattr__")


def setter_of(record: Record, name: str) -> tuple[Any, list[Any]] | None:
    """The function that Python calls for ``record.name = value``, if there is one, with its arguments but the value.

    It is a property's setter, or ``__setattr__``, or that of a descriptor.
    """
    found = inspect.getattr_static(record.cls, name, None)
    general = member(record.cls, "__setattr__")
    if isinstance(general, types.FunctionType) and has_source(general) and not _is_of_libraries(general):
        return general, [record, name]
    descriptor = descriptors.descriptor_of(record.cls, name)
    if descriptors.is_of_data(descriptor):
        return descriptors.setter(descriptor, record)
    is_frozen = dataclasses.is_dataclass(record.cls) and record.cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return (found.fset, [record]) if isinstance(found, property) and found.fset and not is_frozen else None


def _is_of_libraries(function: types.FunctionType) -> bool:
    is_ours = function.__module__.startswith("sdfgad.")
    return function.__module__.partition(".")[0] in LIBRARIES and not is_ours


def set_attribute(b: Builder, record: Record, name: str, value: Any) -> None:
    """``record.name = value``."""
    if dataclasses.is_dataclass(record.cls) and record.cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise b.unsupported(
            f"`{record.cls.__name__}` is frozen, so that `.{name}` cannot be assigned to",
            "Use dataclasses.replace, or a class that is not frozen.",
        )
    if name in ("__class__", "__dict__"):
        raise b.unsupported(f"`.{name}` of an object is assigned to", "Make another object: other = Other(one.x).")
    if isinstance(inspect.getattr_static(record.cls, name, None), property):
        raise b.unsupported(
            f"`.{name}` is a property, which is not assigned to here", "Assign to the attribute that it returns."
        )
    _require_default(b, record.cls, "__setattr__")
    set_field(b, record, name, value)


def set_field(b: Builder, record: Record, name: str, value: Any) -> None:
    """``object.__setattr__(record, name, value)``, whatever the class does."""
    if attributes.assign(b, record, name, value):
        return
    require_known(b, record)
    containers.require_current(b, record.fields, name, _default_of(b, record, name))
    record.fields[name] = b.settle(value, name)


def require_known(b: Builder, record: Record) -> None:
    """Refuse to change an object that may be one of several.

    Raises:
        AmbiguousArray: of an object.
    """
    if b.contents.is_copy(record.fields):
        what = f"an object of {record.cls.__name__} that may be one of several, chosen at run time, is changed"
        raise chosen_object(what, b.where, "Change it in each branch, by its own name.")


def _default_of(b: Builder, record: Record, name: str) -> Any:
    """What an attribute is that an object has not set: that of its class, or nothing."""
    if hasattr(inspect.getattr_static(record.cls, name, property), "__get__"):
        return MaybeBound(UNDEFINED, False)
    if (cells := namespaces.cells_of(b, record.cls, name)) is not None:
        return cells[name]
    return outside.part_from_outside(b, record.cls, name, getattr)


def _require_default(b: Builder, cls: type, method: str) -> None:
    """Require that a class leaves to Python how its objects are made, or get attributes."""
    owner = next(one for one in cls.__mro__ if method in one.__dict__)
    is_in_python = isinstance(owner.__dict__[method], (types.FunctionType, staticmethod))
    if is_in_python and owner.__module__.partition(".")[0] not in {*LIBRARIES, "typing"}:
        what = f"`{owner.__name__}` defines {method}, which is not called"
        raise b.unsupported(what, "Do it in __init__, or in a method that is called by its name.")


def is_class(function: Any) -> bool:
    """Whether a call constructs an object that is taken apart."""
    return isinstance(function, type) and (is_record(function) or hasattr(function, "_fields"))


def construct(
    b: Builder, cls: Any, positional: list[Any], keywords: dict[str, Any], inline: Inline, begin: Begin
) -> Any:
    """``cls(...)``: a named tuple, a dataclass, or an object whose ``__init__`` is inlined.

    Args:
        begin: what is to be the value of a field for which a list is made, by the field's name and the list.
    """
    if hasattr(cls, "_fields"):
        return b.python(cls, *map(b.settle, positional), **{name: b.settle(v) for name, v in keywords.items()})
    _require_default(b, cls, "__new__")
    _require_default(b, cls, "__getattribute__")
    _require_default(b, type(cls), "__call__")
    items = empty_items(cls)
    record = Record(cls, containers.tracked(b, {} if items is None else {ITEMS: containers.tracked(b, items)}))
    constructor = member(cls, "__init__")
    owner = next((one for one in cls.__mro__ if "__init__" in one.__dict__), object)
    if "__dataclass_params__" in owner.__dict__ and not has_source(constructor):
        _fill(b, record, positional, keywords, inline, begin)
        if hasattr(cls, "__post_init__"):
            inline(cls.__post_init__, [record, *_init_only(cls, positional, keywords)], {})
    elif isinstance(constructor, types.FunctionType):
        inline(constructor, [record, *positional], keywords)
    elif cls is types.SimpleNamespace:
        record.fields.update({name: b.settle(value) for name, value in keywords.items()})
    return record


def is_generated(method: types.MethodType) -> bool:
    """Whether it is a method that `collections.namedtuple` has made, which takes and gives parts as they are."""
    return isinstance(method.__self__, tuple) and method.__func__.__module__ == "collections"


def replaced(b: Builder, record: Any, changes: dict[str, Any]) -> Record:
    """``dataclasses.replace``: another object of the class, some of whose attributes are others."""
    if not isinstance(record, Record) or not dataclasses.is_dataclass(record.cls):
        raise b.unsupported(
            "dataclasses.replace takes an object of a dataclass; Python raises here, too",
            "Make a new object by its class.",
        )
    names = {field.name for field in dataclasses.fields(record.cls) if field.init}
    if hasattr(record.cls, "__post_init__") or not changes.keys() <= names:
        what = f"dataclasses.replace of `{record.cls.__name__}` names fields that it has not, or it has a __post_init__"
        raise b.unsupported(what, f"Make a new object: {record.cls.__name__}(...).")
    fields = {name: value for name, value in attributes.read_all(b, record).items() if name in names}
    new = fields | {name: b.settle(value, name) for name, value in changes.items()}
    return Record(record.cls, containers.tracked(b, new))


def _fill(
    b: Builder, record: Record, positional: list[Any], keywords: dict[str, Any], inline: Inline, begin: Begin
) -> None:
    """Assign the arguments of a dataclass's own constructor, and default values."""
    bound = b.python(inspect.signature(record.cls).bind, *positional, **keywords).arguments
    for field in dataclasses.fields(record.cls):
        given = field.name in bound
        value = bound[field.name] if given else _default(b, field, inline, begin)
        record.fields[field.name] = b.settle(value, field.name) if given else value


def _init_only(cls: type, positional: list[Any], keywords: dict[str, Any]) -> list[Any]:
    """The arguments that a dataclass hands on to ``__post_init__``: its `InitVar`s."""
    signature, fields = inspect.signature(cls), {field.name for field in dataclasses.fields(cls)}
    bound = signature.bind(*positional, **keywords)
    bound.apply_defaults()
    return [value for name, value in bound.arguments.items() if name not in fields]


def _default(b: Builder, field: dataclasses.Field[Any], inline: Inline, begin: Begin) -> Any:
    """The default value of a field: each object gets another one where it has a `default_factory`."""
    factory = field.default_factory
    if factory is dataclasses.MISSING:
        return field.default
    if is_class(factory):
        return construct(b, factory, [], {}, inline, partial(_begin_within, begin, field.name))
    if factory is list:
        return begin(field.name, containers.tracked_parts(b, list[Any](), len(b.blocks)))
    if isinstance(factory, types.MethodWrapperType):
        todo = "Write a function of Python's, `default_factory=lambda: ...`, or pass the value."
        raise b.unsupported(f"the default_factory of the field `{field.name}` is not supported", todo)
    return b.settle(inline(factory, [], {}), field.name)


def _begin_within(begin: Begin, owner: str, field: str, values: list[Any]) -> Any:
    return begin(f"{owner}.{field}", values)
