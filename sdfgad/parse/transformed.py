"""Transformed programs that a program may call, such as a gradient: their code is inlined, as that of a function is."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import written
from sdfgad.parse.arguments import ArrayArgument, Numbers
from sdfgad.parse.builder import Builder
from sdfgad.parse.constants import Decides
from sdfgad.parse.followed import KINDS
from sdfgad.parse.inlining import Inlining, inline
from sdfgad.parse.structure import Indivisible, Leaf, container, items_of
from sdfgad.parse.values import Record, Selection, Tensor, as_tensor

F = TypeVar("F", bound=Callable[..., Any])


class CallSite(Protocol):
    """A place in a program that is being parsed, where functions are called."""

    @property
    def b(self) -> Builder: ...

    def call(self, function: Any, *arguments: Any, **keywords: Any) -> Any: ...

    def define(self, definition: Any, *arguments: Any, **keywords: Any) -> Any: ...


class Transformed(Indivisible, ABC):
    """A program that was made of a program of the user's, and that other programs may call."""

    __name__: str

    def __repr__(self) -> str:
        return f"<sdfgad {self.__name__}>"

    @property
    @abstractmethod
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of a call."""

    @property
    @abstractmethod
    def held(self) -> Iterable[Any]:
        """What it was made of: functions, and arguments that are bound to them."""

    @abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results, by the compiled program."""

    @abstractmethod
    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call of it, or of one of its methods, in a program that is being parsed."""


class Wrapped(Transformed):
    """A function that runs as it is in Python, and in another way in programs; it may be a method."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        # Of a function that a program defines not what the parser keeps there.
        updated = ("__dict__",) if inspect.isfunction(function) else ()
        functools.update_wrapper(self, function, updated=updated)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """The function as a method: bound to an object, or itself."""
        return self if instance is None else functools.partial(self, instance)

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of a call."""
        return list(inspect.signature(self.function).parameters.values())

    @property
    def held(self) -> Iterable[Any]:
        return (self.function,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


# Functions that make transformed programs of functions: in a program they are called while parsing.
TRANSFORMATIONS: set[Callable[..., Any]] = set()


def transformation(function: F) -> F:
    """Marks a function that makes a transformed program of a function."""
    TRANSFORMATIONS.add(function)
    return function


# What calls of some functions are in a program: they get the call site and the arguments.
WITHIN: dict[Callable[..., Any], Callable[..., Any]] = {}


def within(function: Callable[..., Any]) -> Callable[[F], F]:
    """Registers what a call of a function is in a program."""

    def register(handler: F) -> F:
        WITHIN[function] = handler
        return handler

    return register


def transformed_of(function: Any) -> tuple[Transformed, str] | None:
    """The transformed program that a call runs, and the name of its method; None if it is no such function."""
    if isinstance(function, Transformed):
        return function, "__call__"
    owner = getattr(function, "__self__", None)
    return (owner, function.__name__) if isinstance(owner, Transformed) else None


@dataclass(frozen=True)
class Code:
    """A program to inline in place of a call.

    Attributes:
        arguments: argument, or leaf of one -> what is passed.
        inputs: those that are arrays or floats -> their input buffers.
    """

    inlining: Inlining
    arguments: Mapping[str, Any]
    inputs: Mapping[str, str]


def emit(b: Builder, code: Code, more: Mapping[str, Tensor] | None = None) -> dict[str, str]:
    """Emits the statements of a program; its buffers by the names that they have now.

    Args:
        more: input buffer -> what else is read there.
    """
    inputs = {buffer: tensor_within(b, name, code.arguments[name]) for name, buffer in code.inputs.items()}
    return inline(b, code.inlining, {**inputs, **(more or {})})


def tensor_within(b: Builder, name: str, value: Any) -> Tensor:
    """An argument that is an array or a number, as a tensor of the program that is parsed."""
    held = value.value if isinstance(value, Leaf) else value
    return b.capture(name, held, lambda: held) if isinstance(held, np.ndarray) else as_tensor(held)


def stand_in(value: Any) -> Any:
    """An argument with a `Leaf` in the place of each array and run-time integer."""
    if isinstance(value, (Tensor, Lin)):
        return Leaf(value)
    if isinstance(value, Selection):
        return Leaf(as_tensor(value))
    if isinstance(value, Record):
        return container(value.cls, {name: stand_in(part) for name, part in value.fields.items()})
    if isinstance(value, (dict, list, tuple)):
        return container(type(value), {key: stand_in(part) for key, part in (items_of(value) or {}).items()})
    return value


def kind_within(b: Builder, value: Any) -> Any:
    """What the parser of the inner function knows of an argument; integers that can be known are constants."""
    held = value.value if isinstance(value, Leaf) else value
    if isinstance(held, Lin):
        return _integer_kind(b, held)
    if isinstance(held, (float, complex, np.inexact)):
        return ArrayArgument((), np.result_type(held), is_scalar=True, weak=not isinstance(held, np.generic))
    if not isinstance(held, Tensor):
        return ArrayArgument(held.shape, held.dtype) if isinstance(held, np.ndarray) else held
    shape = tuple(b.constant(extent) for extent in held.shape)
    if not shape and held.dtype.kind in "iu":
        return _integer_kind(b, held)
    is_scalar = not shape and held.place is None
    return ArrayArgument(shape, held.dtype, is_scalar, held.weak, _numbers(b, held))


def _numbers(b: Builder, held: Tensor) -> Numbers | None:
    """The elements of an array of integers, if they are known, or may become constants of the program."""
    if held.dtype.kind not in KINDS:
        return None
    known = b.constants.array(held, b.here, is_needed=False)
    if known is not None:
        return Numbers(np.array(known, held.dtype), lambda: None)
    given = b.constants.input_of(held)
    if given is None or any(held.buffer in written(tuple(block)) for block in b.blocks):
        return None

    def use() -> None:
        raise Decides([given])

    return Numbers(given.copy(), use)


def _integer_kind(b: Builder, value: Tensor | Lin) -> Any:
    """A constant, or an integer that is data."""
    try:
        with b.as_data():
            return b.constant(value)
    except UnsupportedProgram:
        return ArrayArgument((), as_tensor(value).dtype, is_scalar=True)
