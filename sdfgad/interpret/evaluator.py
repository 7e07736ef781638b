"""Closure compilation: an expression of a program becomes nested functions once, which compute it at many points."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sdfgad.errors import InvalidProgram
from sdfgad.interpret.library import operation
from sdfgad.ir.expr import Const, Expr, Int, Lin, Op, Read, postorder
from sdfgad.ir.program import Access

Array = np.ndarray[Any, Any]
Place = tuple[int, ...]
Thunk = Callable[[], Any]


class Evaluator:
    """Storage and integers, and the values of expressions over them.

    Attributes:
        env: the values of symbols.
        store: the arrays by buffer.
        is_watched: whether `touch` is to be told of every element that is read.
    """

    def __init__(self) -> None:
        self.env: dict[str, Any] = {}
        self.store: dict[str, Array] = {}
        self.is_watched = False
        # The objects are kept, as others might get their ids.
        self._forms: dict[int, tuple[Lin, Callable[[], int]]] = {}
        self._places: dict[int, tuple[Access, Callable[[], Place]]] = {}
        self._values: dict[Expr, Thunk] = {}

    def touch(self, buffer: str, place: Place, *kinds: str) -> None:
        """Called with each element that is read while `is_watched`."""

    def form(self, lin: Lin) -> int:
        return self.form_of(lin)()

    def all_hold(self, forms: Iterable[Lin]) -> bool:
        return all(self.form(form) >= 0 for form in forms)

    def place(self, target: Access) -> Place:
        return self.place_of(target)()

    def value(self, node: Expr) -> Any:
        return self.value_of(node)()

    def drop_closures(self) -> None:
        """Closures refer to this object, and it to them: without them storage is freed as soon as it is not used."""
        self._forms, self._places, self._values = {}, {}, {}

    # --- closures

    def form_of(self, lin: Lin) -> Callable[[], int]:
        found = self._forms.get(id(lin))
        if found is None:
            found = self._forms[id(lin)] = lin, self._form(lin)
        return found[1]

    def place_of(self, target: Access) -> Callable[[], Place]:
        found = self._places.get(id(target))
        if found is None:
            found = self._places[id(target)] = target, self._place(target.buffer, target.index)
        return found[1]

    def value_of(self, node: Expr) -> Thunk:
        if node not in self._values:
            for one in postorder(node):
                if one not in self._values:
                    self._values[one] = self._value(one)
        return self._values[node]

    def _form(self, lin: Lin) -> Callable[[], int]:
        const, env = lin.const, self.env
        match lin.terms:
            case ():
                return lambda: const
            case ((str(name), 1),):
                return (lambda: env[name] + const) if const else (lambda: env[name])
            case ((str(name), factor),):
                return lambda: const + factor * env[name]
            case ((str(name), factor), (str(other), second)):
                return lambda: const + factor * env[name] + second * env[other]
        parts = [(factor, self._atom(atom)) for atom, factor in lin.terms]
        return lambda: const + sum([factor * atom() for factor, atom in parts])

    def _atom(self, atom: str | Expr) -> Callable[[], int]:
        if isinstance(atom, str):
            return functools.partial(self.env.__getitem__, atom)
        value = self.value_of(atom)
        return lambda: int(value())

    def _place(self, buffer: str, index: tuple[Lin, ...]) -> Callable[[], Place]:
        if all(lin.is_const for lin in index):
            return self._constant_place(buffer, tuple(lin.const for lin in index))
        store, forms = self.store, [self.form_of(lin) for lin in index]

        def place() -> Place:
            found, shape = tuple([form() for form in forms]), store[buffer].shape
            if len(found) != len(shape):
                raise _out_of_range(buffer, found, shape)
            for i, extent in zip(found, shape, strict=True):
                if not 0 <= i < extent:
                    raise _out_of_range(buffer, found, shape)
            return found

        def on_a_line() -> Place:
            i, shape = form(), store[buffer].shape
            if len(shape) != 1 or not 0 <= i < shape[0]:
                raise _out_of_range(buffer, (i,), shape)
            return (i,)

        if len(forms) != 1:
            return place
        (form,) = forms
        return on_a_line

    def _constant_place(self, buffer: str, index: Place) -> Callable[[], Place]:
        """The same of a scalar, or of constant indices: looked at only once, as arrays keep their shapes."""
        store, is_inside = self.store, False

        def place() -> Place:
            nonlocal is_inside
            if not is_inside:
                shape = store[buffer].shape
                if len(index) != len(shape) or not all(0 <= i < extent for i, extent in zip(index, shape, strict=True)):
                    raise _out_of_range(buffer, index, shape)
                is_inside = True
            return index

        return place

    def _value(self, node: Expr) -> Thunk:
        if isinstance(node, Const):
            value = node.dtype.type(node.value)
            return lambda: value
        if isinstance(node, Int):
            form = self.form_of(node.value)
            return lambda: np.int64(form())
        if isinstance(node, Read):
            return self._read(node)
        assert isinstance(node, Op)
        return self._op(node, [self._values[arg] for arg in node.args])

    def _read(self, node: Read) -> Thunk:
        buffer, place, store = node.buffer, self._place(node.buffer, node.index), self.store

        def read() -> Any:
            found = place()
            if self.is_watched:
                self.touch(buffer, found, "read")
            return store[buffer][found]

        return read

    @staticmethod
    def _op(node: Op, args: list[Thunk]) -> Thunk:
        name, dtype, kind = node.name, node.dtype, node.dtype.type
        if name == "select":
            condition, then, orelse = args
            return lambda: then() if condition() else orelse()
        if name == "complex":
            return lambda: kind(complex(*[arg() for arg in args]))
        if name == "cast":
            return lambda: args[0]().astype(dtype)
        if name == "wrap":
            return lambda: _wrapped(*[arg() for arg in args])

        function = operation(name)

        def of_one() -> Any:
            found = function(one())
            return found if type(found) is kind else np.asarray(found).astype(dtype)[()]

        def of_two() -> Any:
            found = function(one(), two())
            return found if type(found) is kind else np.asarray(found).astype(dtype)[()]

        def of_many() -> Any:
            return np.asarray(function(*[arg() for arg in args])).astype(dtype)[()]

        one, two = (*args, *args)[:2] if args else (of_many, of_many)
        return {1: of_one, 2: of_two}.get(len(args), of_many)


def _wrapped(index: Any, extent: Any) -> Any:
    return np.int64(min(max(index + extent if index < 0 else index, 0), extent - 1))


def _out_of_range(buffer: str, place: Place, shape: Place) -> InvalidProgram:
    return InvalidProgram(f"{text_of((buffer, place))} is out of range, of an array of shape {shape}")


def text_of(place: tuple[str, Place]) -> str:
    """An element as programs write it."""
    buffer, index = place
    return f"{buffer}[{', '.join(map(str, index))}]" if index else buffer
