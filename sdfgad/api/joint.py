"""Derivatives of several outputs at once: of all that a program returns, or of outputs that are named.

The vector-Jacobian product for a tree of cotangents is the gradient of the inner product of the outputs with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sdfgad.api.callables import Callee, callee_of, with_parameters
from sdfgad.api.differentiate import DifferentiatedProgram, differentiate
from sdfgad.errors import OutputError, PythonRaises, WrtError
from sdfgad.options import Options
from sdfgad.parse.source import read_source
from sdfgad.parse.structure import path_of
from sdfgad.specialise.forward import Forward
from sdfgad.specialise.remembered import Remembered
from sdfgad.specialise.signature import Call, bind, definition
from sdfgad.specialise.tangents import tangents_of

Array = np.ndarray[Any, Any]
Outputs = str | Sequence[str] | None
# The programs whose derivatives are kept.
MOST_KEPT = 256


class Joint:
    """A program with several outputs, for calls by position."""

    def __init__(self, program: Callable[..., Any], outputs: tuple[str, ...] | None) -> None:
        callee = callee_of(program)
        read_source(callee.function)
        self.where = definition(callee.function)
        self.program = program if outputs is None else collected(program, callee, outputs)
        self.callee = callee_of(self.program)
        self._forwards = Remembered(partial(Forward, self.callee.function, Options()))
        self._pullbacks: dict[tuple[str, ...], DifferentiatedProgram] = {}

    @property
    def parameters(self) -> list[str]:
        return [one.name for one in self.callee.parameters]

    def forward(self, args: tuple[Any, ...]) -> tuple[Call, Forward]:
        """The bound arguments, and the program specialised to them.

        Raises:
            OutputError: an output that is named is not there.
        """
        call = bind(self.callee.function, *self.callee.arguments(args, {}))
        try:
            return call, self._forwards(call)
        except PythonRaises as error:
            # In `part_of`, not in the user's program.
            if error.where is None or error.where.file != __file__:
                raise
            what = f"the program has no such outputs: {error.what}"
            raise OutputError(what, self.where, "Name parts of what is returned.") from error

    def chosen(self, call: Call, argnums: Any) -> tuple[tuple[int, ...], Callable[[tuple[Any, ...]], Any]]:
        """The positions of the arguments to differentiate by, and what arranges their cotangents as `argnums` asks.

        Raises:
            WrtError: there is no such argument.
        """
        roots = {(path_of(leaf) or (leaf, ()))[0] for leaf in call.floating}
        return self.arranged(argnums, [k for k, name in enumerate(self.parameters) if name in roots])

    def arranged(
        self, argnums: Any, floating: Sequence[int]
    ) -> tuple[tuple[int, ...], Callable[[tuple[Any, ...]], Any]]:
        """As `chosen`, given the positions of the arguments that have floating leaves."""
        if argnums is None and any(one.kind is one.VAR_POSITIONAL for one in self.callee.parameters):
            what = f"`{self.callee.function.__name__}` takes any number of arguments, and has several outputs"
            raise WrtError(what, definition(self.callee.function), "Say which arguments: argnums=(0, 1).")
        if argnums is None:
            parameters, positions = self.parameters, tuple(floating)
            return positions, lambda found: {parameters[k]: one for k, one in zip(positions, found, strict=True)}
        is_single = isinstance(argnums, (int, str))
        positions = self.callee.positions((argnums,) if is_single else argnums)
        return positions, lambda found: found[0] if is_single else found

    def pulled(self, args: tuple[Any, ...], positions: tuple[int, ...], cotangent: Any) -> tuple[Any, ...]:
        """The cotangents of the arguments at some positions, for a container of cotangents like what is returned.

        Raises:
            ArgumentError: it has another structure or shape.
        """
        _, forward = self.forward(args)
        places = tuple(f"primals[{k}]" for k in positions)
        return tuple(self.pullback(places)(args, forward.cotangent(cotangent)))

    def along(self, args: tuple[Any, ...], tangents: Mapping[int, Any]) -> tuple[Any, Any]:
        """What is returned and its derivative, by the tangents of the arguments at some positions.

        Raises:
            ArgumentError: a tangent has another structure or shape than its argument.
        """
        call, forward = self.forward(args)
        return forward.along(call, tangents_of(call, self.callee.name_of, tangents))

    def derivative(self, args: tuple[Any, ...], tangents: Mapping[int, Any]) -> Any:
        """The derivative alone, without computing what only the values need."""
        call, forward = self.forward(args)
        return forward.derivative(call, tangents_of(call, self.callee.name_of, tangents))

    def derivatives_along_all(self, args: tuple[Any, ...], position: int, tangents: Array) -> tuple[Array, ...]:
        """The derivatives of the outputs along several tangents of an array, which are stacked along a first axis."""
        call, forward = self.forward(args)
        return forward.derivatives_along_all(call, {str(self.callee.name_of(position)): tangents})

    def pullback(self, places: tuple[str, ...]) -> DifferentiatedProgram:
        """The cotangents of ``primals[k]``, or parts of them, as a function of the arguments and the cotangents."""
        if places not in self._pullbacks:
            made = differentiate(paired(self.program), wrt=places, allow_unused=True, device="cpu")
            self._pullbacks[places] = made
        return self._pullbacks[places]


@lru_cache(MOST_KEPT)
def joint(program: Callable[..., Any], outputs: tuple[str, ...] | None) -> Joint:
    """The program with these outputs (None: all that it returns): always the same object."""
    return Joint(program, outputs)


def collected(program: Callable[..., Any], callee: Callee, outputs: tuple[str, ...]) -> Callable[..., Any]:
    """A program that returns a tuple of outputs by name: parts of what is returned, and arguments that are updated.

    Raises:
        OutputError: there is no such argument.
    """
    parameters = [one.name for one in callee.parameters]
    wanted = tuple(_place_of(name, parameters, callee) for name in outputs)

    def all_outputs(*primals):  # type: ignore[no-untyped-def]
        result = program(*primals)
        return tuple([part_of(result if k < 0 else primals[k], keys) for k, keys in wanted])

    return with_parameters(all_outputs, callee.parameters, f"outputs of {callee.function.__name__}")


def _place_of(name: str, parameters: list[str], callee: Callee) -> tuple[int, tuple[Any, ...]]:
    """The position of an argument, -1 for the result, and the keys that select a part of it."""
    root, keys = path_of(name) or (name, ())
    if root in ("return", "return_"):
        return -1, keys
    if root in parameters:
        return parameters.index(root), keys
    todo = f'Outputs are "return", parts of it such as "return[0]", and arguments: {", ".join(parameters)}.'
    raise OutputError(f"there is no output {name!r}", definition(callee.function), todo)


def part_of(x, keys):  # type: ignore[no-untyped-def]
    for key in keys:
        x = x[key]
    return x


def paired(program: Callable[..., Any]) -> Callable[..., Any]:
    """The inner product of a program's outputs with cotangents, as a function of its arguments and these."""

    def product(primals, cotangents):  # type: ignore[no-untyped-def]
        return inner(program(*primals), cotangents)

    return product


def inner(x, y):  # type: ignore[no-untyped-def]
    """The real inner product of two arrays, or of containers of arrays of the same structure; with None it is 0."""
    if x is None or y is None:
        return 0.0
    if isinstance(x, dict):
        return sum([inner(x[key], y[key]) for key in x])
    if isinstance(x, (list, tuple)):
        return sum([inner(a, b) for a, b in zip(x, y, strict=True)])
    if not isinstance(x, (np.ndarray, np.generic, int, float, complex)):
        return sum([inner(getattr(x, name), getattr(y, name)) for name in vars(x)])
    return np.sum((np.conj(y) * x).real)
