"""Signature of a call: what the program is specialised for, and the arrays that the compiled code is passed."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from sdfgad.errors import ArgumentError, Location
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.parse.communicators import Communicator, is_communicator
from sdfgad.parse.derived_types import computes_otherwise, has_nothing_masked, instead_of_it, what_it_is
from sdfgad.parse.draws import Draws
from sdfgad.parse.dtypes import SUPPORTED, instead_of
from sdfgad.parse.registry import is_hashable
from sdfgad.parse.source import read_source
from sdfgad.parse.sparse_layout import is_sparse
from sdfgad.parse.structure import PLAIN, Part, Structure, build, container, flattened, names, part_named, path_of
from sdfgad.specialise.device_argument import DeviceArgument, device_argument, may_be_on_device

if TYPE_CHECKING:
    from sdfgad.runtime.gpu.caller import Caller

FLOAT = ArrayArgument((), np.dtype(np.float64), is_scalar=True, weak=True)
COMPLEX = ArrayArgument((), np.dtype(np.complex128), is_scalar=True, weak=True)
# What makes a container one that is taken apart.
DATA = np.ndarray, np.generic, float, complex
# An item in the name of a leaf that is itself a container, and how many integers such items may have at run time.
ITEM = re.compile(r"\[\d+\](?=[\[.])")
FEW_INTEGERS = 4
# Flags of the code of functions with `*args` or `**kwargs`.
COLLECTS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@dataclass(frozen=True)
class Call:
    """One call's arguments, by name in the order of the parameters.

    Those that are containers are represented by their leaves, which are named as Python selects them.

    Attributes:
        values: as the user passed them.
        kinds: what the parser knows of each: an `ArrayArgument`, an int, or a constant.
        key: equal for calls that may share a specialisation.
        integers: the values of the integer arguments.
        structures: the parameters that are containers.
        containers: the containers themselves.
        caller: the device and the stream that the call works on, if an argument is on a device.
        drawn: the random numbers of this call: it draws them once, however often programs run for it.
        counted: by who asked, numbers of trips that are data: they are counted once.
        measured: by programs, integers that data decides (`sdfgad.specialise.guards`).
    """

    values: Mapping[str, Any]
    kinds: Mapping[str, Any]
    key: Hashable
    integers: tuple[int, ...]
    structures: Mapping[str, Structure]
    containers: Mapping[str, Any]
    caller: ClassVar[Caller | None] = None
    drawn: dict[Draws, dict[str, Any]] = field(default_factory=dict, compare=False)
    counted: dict[Hashable, Mapping[str, int]] = field(default_factory=dict, compare=False)
    measured: dict[str, Mapping[str, int]] = field(default_factory=dict, compare=False)

    def numbers(self, draws: Draws) -> dict[str, Any]:
        """What this call draws, by buffer."""
        if draws and draws not in self.drawn:
            self.drawn[draws] = draws.numbers()
        return self.drawn[draws] if draws else {}

    @property
    def known(self) -> Mapping[str, Any]:
        """The values, with integers and booleans on the host, where the parser may look them up."""
        return self.values

    @property
    def floating(self) -> list[str]:
        arrays = {name: kind for name, kind in self.kinds.items() if isinstance(kind, ArrayArgument)}
        return [name for name, kind in arrays.items() if kind.dtype.kind in "fc"]

    def part(self, name: str) -> Part | None:
        """The structure and the name of an argument or of a part of one; None if there is none."""
        if name in self.structures or name in self.values:
            return self.structures.get(name), name
        root, path = path_of(name) or ("", ())
        return part_named(self.structures.get(root), root, path) if root else None

    def arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by parameter, with these leaves."""
        flat = dict(values)
        for name, structure in self.structures.items():
            flat[name] = build(structure, iter([flat.pop(leaf) for leaf in names(structure, name)]), container)
        return flat


def bind(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
    """Binds a call's arguments to the function's parameters.

    Raises:
        ArgumentError: they do not fit, or are of a kind that a compiled program does not take.
        OnGpu: one is on a device.
    """
    passed = bound_arguments(function, args, kwargs)
    values, structures = flattened_arguments(function, passed)
    kinds = {name: kind_of_argument(function, name, value) for name, value in values.items()}
    key, integers = key_of(function, kinds, structures)
    containers = {name: passed[name] for name in structures} if structures else {}
    return Call(values, kinds, key, integers, structures, containers)


def key_of(
    function: Callable[..., Any], kinds: Mapping[str, Any], structures: Mapping[str, Structure]
) -> tuple[Hashable, tuple[int, ...]]:
    """What calls have in common that may share a specialisation, and the values of the integer arguments.

    Raises:
        ArgumentError: an argument is neither data nor a constant.
    """
    key: tuple[Any, ...] = tuple([(name, _key(kind)) for name, kind in kinds.items()])
    if structures:
        key = (key, tuple(structures.items()))
    try:
        hash(key)
    except TypeError:
        others = ", ".join(f"`{n}` ({type(kind).__name__})" for n, kind in kinds.items() if not is_hashable(_key(kind)))
        raise ArgumentError(
            f"arguments that are not arrays, numbers or containers of them must be constants: {others}",
            definition(function),
            "Pass NumPy arrays, numbers, or dicts, lists, tuples or dataclasses of them.",
        ) from None
    return key, tuple([kind for kind in kinds.values() if type(kind) is int])


def bound_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by parameter, with defaults.

    Raises:
        ArgumentError: they do not fit.
    """
    values = _bound_plainly(function, args, kwargs)
    return _bound(function, args, kwargs) if values is None else values


def flattened_arguments(
    function: Callable[..., Any], values: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Structure]]:
    """The leaves of all arguments, and the structures of those that are containers."""
    flat: dict[str, Any] = {}
    structures: dict[str, Structure] = {}
    for name, value in values.items():
        if type(value) in PLAIN:
            flat[name] = value
            continue
        try:
            structure, leaves = flattened(value, name)
        except ArgumentError as error:
            raise ArgumentError(error.what, definition(function), error.todo) from None
        if structure is None or (is_hashable(value) and not any(map(_is_data, leaves))):
            # Containers of constants alone that have a hash are constants; of others the leaves are.
            flat[name] = value
        else:
            structures[name] = structure
            flat.update(zip(names(structure, name), leaves, strict=True))
    return flat, structures


def _is_data(leaf: Any) -> bool:
    return isinstance(leaf, DATA) or may_be_on_device(type(leaf))


def _bound_plainly(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any] | None:
    """What `_bound` gives, ten times as fast, for a call that fits a function with parameters of the plain kind."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    has_others = code.co_posonlyargcount or code.co_kwonlyargcount or code.co_flags & COLLECTS
    if has_others or "__signature__" in function.__dict__:
        return None
    names = code.co_varnames[: code.co_argcount]
    values = dict(zip(names, args, strict=False))
    left = names[len(args) :]
    if left:
        defaults = function.__defaults__ or ()
        given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)) | dict(kwargs)
        values.update({name: given[name] for name in left if name in given})
    # Every parameter has a value, and nothing was passed that is not one of them or that is there already.
    fits = len(values) == len(names) >= len(args) and (not kwargs or kwargs.keys() <= set(left))
    return values if fits else None


def _bound(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        what, todo = (
            f"the call does not fit `{function.__name__}`: {error}",
            f"Its arguments are {_signature(function)}.",
        )
        raise ArgumentError(what, definition(function), todo) from None
    bound.apply_defaults()
    return dict(bound.arguments)


def definition(function: Callable[..., Any]) -> Location:
    """The line where a function is defined."""
    source = read_source(function)
    return source.where(source.node)


def _signature(function: Callable[..., Any]) -> str:
    return ", ".join(inspect.signature(function).parameters) or "none"


@lru_cache(maxsize=4096)
def _array_kind(shape: tuple[int, ...], dtype: np.dtype[Any], is_scalar: bool) -> ArrayArgument | None:
    """None for a dtype that is not supported."""
    return ArrayArgument(shape, dtype, is_scalar) if dtype in SUPPORTED else None


def own_copy(value: Any) -> Any:
    """An argument, or a container of the same structure, with copies of its arrays: later updates do not reach it."""
    structure, leaves = flattened(value, "")
    if not any(map(_is_data, leaves)):
        return value
    return build(structure, map(_own_leaf, leaves), container)


def _own_leaf(leaf: Any) -> Any:
    if may_be_on_device(type(leaf)) or isinstance(leaf, np.ndarray):
        copy = getattr(leaf, "clone", None) or getattr(leaf, "copy", None)
        return leaf if copy is None else copy()
    return leaf


def kind_of_argument(
    function: Callable[..., Any], name: str, value: Any, found: dict[str, DeviceArgument] | None = None
) -> Any:
    """What the parser knows of an argument, or leaf of one: an `ArrayArgument`, an int, or the constant itself.

    Args:
        found: takes arguments on a device; None: there must be none.

    Raises:
        OnGpu: there is one.
        ArgumentError: it is of a kind that compiled programs do not take.
    """
    if computes_otherwise(value) and not has_nothing_masked(value):
        what = what_it_is(f"argument `{name}`", value)
        raise ArgumentError(what, definition(function), instead_of_it(name, value))
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, float) and not isinstance(value, np.floating):
        return FLOAT
    if isinstance(value, complex) and not isinstance(value, np.complexfloating):
        return COMPLEX
    if isinstance(value, (np.ndarray, np.generic)):
        kind = _array_kind(value.shape, value.dtype, isinstance(value, np.generic))
        return kind or _refuse_dtype(function, name, value.dtype)
    if may_be_on_device(type(value)):
        there = device_argument(name, value, found, partial(definition, function))
        if there is not None and found is not None:
            found[name] = there
            return _array_kind(there.shape, there.dtype, False) or _refuse_dtype(function, name, there.dtype)
    if is_communicator(value):
        return Communicator(value)
    if is_sparse(value):
        what = f"argument `{name}` is a {type(value).__name__} with {len(value.shape)} axes, which is not supported"
        raise ArgumentError(what, definition(function), "Convert it before, by .tocsr().")
    if hasattr(value, "__array__"):
        raise ArgumentError(
            f"argument `{name}` is a {type(value).__name__}, not a NumPy array",
            definition(function),
            "Convert it with np.asarray.",
        )
    return value


def _refuse_dtype(function: Callable[..., Any], name: str, dtype: np.dtype[Any]) -> NoReturn:
    what = f"argument `{name}` has the dtype {dtype}, which is not supported"
    raise ArgumentError(what, definition(function), instead_of(dtype, name))


def _key(kind: Any) -> Any:
    # A run-time integer may have any value; True and 1 are equal but not the same.
    if type(kind) is set:
        return set, frozenset((type(one), one) for one in kind)
    return int if type(kind) is int else (type(kind), kind)


def as_input(value: Any, kind: ArrayArgument) -> np.ndarray[Any, Any]:
    """The C-contiguous array that the compiled code reads; the user's own where it is one already."""
    return as_contiguous(value, kind.dtype)


def as_contiguous(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array in row-major order, of any rank."""
    if type(value) is np.ndarray and value.flags.c_contiguous and value.dtype == dtype:
        return value
    if isinstance(value, DeviceArgument):
        return value  # type: ignore[return-value]  # For programs on a device, which take both.
    return np.ascontiguousarray(value, dtype=dtype).reshape(np.shape(value))


def like_argument(gradient: np.ndarray[Any, Any], value: Any) -> Any:
    """A gradient in the type of the argument: Python number, NumPy scalar or array."""
    if isinstance(value, (np.ndarray, DeviceArgument)):
        return gradient
    return gradient[()] if isinstance(value, np.generic) else gradient[()].item()


def integers_of_lists(call: Call) -> set[str]:
    """The integers in the items of lists of tuples or objects that have many, such as the edges of a graph.

    They become constants: the loop over such a list is written out, and of two indices that are known only at run time
    each may be the other. Lists of integers, which may be other ones in each call, are left alone.
    """
    found = defaultdict[str, list[str]](list)
    for name, kind in call.kinds.items():
        if type(kind) is int and (item := ITEM.search(name)):
            found[name[: item.start()]].append(name)
    return {name for leaves in found.values() if len(leaves) > FEW_INTEGERS for name in leaves}
