"""What a gradient is of: the arguments to differentiate by, the output, and how gradients are arranged."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sdfgad.api.callables import Callee
from sdfgad.api.device_calls import copied
from sdfgad.errors import ArgumentError, OutputError, WrtError
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.parse.primal import Primal
from sdfgad.parse.program_source import ProgramSource
from sdfgad.parse.structure import build, container, names, path_of, places
from sdfgad.specialise.signature import Call, definition, like_argument
from sdfgad.specialise.tangents import fitting_leaves

Wrt = str | int | Sequence[str | int] | None
Array = np.ndarray[Any, Any]


class Chosen:
    """The arguments of a function, or parts of them, and the output that `wrt` and `output` of `differentiate` name.

    Attributes:
        names: those of the arguments in the order of `wrt`; None for all floating ones.
        is_single: whether `wrt` names one, whose gradient is not in a tuple.
        is_by_name: whether several gradients are a dict by name.
    """

    def __init__(self, callee: Callee, wrt: Wrt, output: str | None) -> None:
        """Raises: WrtError, where there is no such argument."""
        self._callee, self._function, self._output = callee, callee.function, output
        self._parameters = [one.name for one in callee.parameters]
        self.is_single = isinstance(wrt, (str, int))
        has_names = isinstance(self._function, ProgramSource) and self._function.has_names
        self.is_by_name = wrt is None or (has_names and not self.is_single)
        entries = [wrt] if isinstance(wrt, (str, int)) else wrt
        self.names = None if entries is None else tuple(self._resolved(entry) for entry in entries)

    def ordered(self, call: Call, gradients: dict[str, Array]) -> Any:
        """The gradients as `wrt` asks for them."""
        finished: dict[str, Any] = {name: like_argument(g, call.values[name]) for name, g in gradients.items()}
        return self.arranged(call, finished, container)

    def arranged(self, call: Call, gradients: Mapping[str, Any], make: Callable[..., Any]) -> Any:
        """The gradients by leaf as `wrt` asks for them; `make` makes a container of a class."""
        finished = dict(gradients)
        if call.structures:
            finished = {name: _in_structure(call, name, finished, make) for name in self._asked(call)}
        if self.names is None:
            return finished
        ordered = [finished[name] for name in self.names]
        for position, name in enumerate(self.names if len(finished) < len(ordered) else ()):
            if name in self.names[:position]:
                # A repeated name gets a copy: no two results share memory.
                ordered[position] = copied(finished[name])
        if self.is_by_name:
            return dict(zip(self.names, ordered, strict=True))
        return ordered[0] if self.is_single else tuple(ordered)

    def leaves(self, call: Call) -> tuple[tuple[str, ...], ...]:
        """The leaves to differentiate by, all of them floating, in groups of which one must be used."""
        asked = self._asked(call)
        if not asked:
            raise WrtError(
                "there is no floating argument to differentiate by",
                definition(self._function),
                "Pass a float or a floating array: 2.0 instead of 2, or x.astype(float).",
            )
        groups = tuple(tuple(self._floating_leaves(call, name)) for name in asked)
        if self.names is not None:
            return groups
        # Numbers such as tolerances are floating arguments, too: without `wrt` nobody has asked for their gradients.
        arrays = tuple(group for name, group in zip(asked, groups, strict=True) if not _is_number(call.kinds.get(name)))
        return (*arrays, tuple(leaf for group in groups for leaf in group))

    def tangents(self, call: Call, given: Any) -> dict[str, Array]:
        """Tangents that are arranged as the gradients are, by leaf.

        Raises:
            ArgumentError: they have another structure or shape than the arguments.
        """
        asked = self._asked(call)
        entries = (given,) if self.is_single else given
        if self.is_by_name and isinstance(given, Mapping) and given.keys() <= set(asked):
            entries = [given.get(name) for name in asked]
        elif self.is_by_name or not isinstance(entries, Sequence) or len(entries) != len(asked):
            kind = "a dict by name" if self.is_by_name else f"a tuple of {len(asked)}"
            todo = "Arrange them as the gradient is, with None for zeros."
            raise ArgumentError(f"the tangents are not {kind}", definition(self._function), todo)
        found: dict[str, Array] = {}
        for name, tangent in zip(asked, entries, strict=True):
            part = call.part(name)
            assert part is not None
            found |= fitting_leaves(call, *part, tangent)
        return found

    def output(self, primal: Primal) -> str:
        """The name of the output to differentiate."""
        outputs = list(primal.program.outputs)
        if self._output is not None:
            path = path_of(self._output) if isinstance(self._output, str) else None
            same = [name for name in outputs if name == self._output or (path is not None and path_of(name) == path)]
            if same:
                return same[0]
            raise self._output_error(f"there is no output {self._output!r}", outputs)
        returned = [name for name in outputs if name.startswith("return")]
        candidates = returned or outputs
        if len(candidates) != 1:
            what = "the output is ambiguous" if candidates else "the program returns nothing and updates no argument"
            raise self._output_error(what, outputs)
        return candidates[0]

    def _asked(self, call: Call) -> Sequence[str]:
        """The arguments, or parts of them, that have gradients: those of `wrt`, or all with floating leaves."""
        if self.names is not None:
            return self.names
        floating = {*call.floating}
        parts = {name: names(call.structures.get(name), name) for name in self._parameters}
        return [name for name, leaves in parts.items() if not floating.isdisjoint(leaves)]

    def _floating_leaves(self, call: Call, name: str) -> list[str]:
        part = call.part(name)
        if part is None:
            raise WrtError(
                f"the arguments have no part `{name}`",
                definition(self._function),
                f"Their parts are {', '.join(_shortened(call.values))}.",
            )
        found = [leaf for leaf in names(*part) if leaf in call.floating]
        if not found:
            what = _describe(call.kinds[part[1]]) if part[0] is None else f"a {part[0].cls.__name__} without floats"
            raise WrtError(
                f"argument `{part[1]}` is {what}, and only floating arguments have gradients",
                definition(self._function),
                "Pass it as a float or a floating array, or leave it out of `wrt`.",
            )
        return found

    def _resolved(self, entry: str | int) -> str:
        if isinstance(entry, str) and entry in self._parameters:
            return entry
        root = path_of(entry) if isinstance(entry, str) else None
        if root is not None and root[0] in inspect.signature(self._function).parameters:
            return str(entry)
        found = self._callee.name_of(entry) if isinstance(entry, int) else None
        if found is not None:
            return found
        raise WrtError(
            f"`{self._function.__name__}` has no argument {entry!r}",
            definition(self._function),
            f"Its arguments are: {', '.join(self._parameters)}.",
        )

    def _output_error(self, what: str, outputs: list[str]) -> OutputError:
        listed = ", ".join(f'"{name}"' for name in outputs)
        return OutputError(
            what, definition(self._function), f"Pass output=..., one of: {listed}." if outputs else "Return a value."
        )


def _in_structure(call: Call, name: str, gradients: Mapping[str, Any], make: Callable[..., Any]) -> Any:
    """The gradients of all leaves of an argument, or of a part of one, in its structure; None for other leaves."""
    if name in gradients:
        return gradients[name]
    part = call.part(name)
    assert part is not None
    # SciPy sorts entries in place: the gradient shares no array with the argument.
    kept = {place: call.values[place].copy() for place in places(*part)}
    return build(part[0], map({**kept, **gradients}.get, names(*part)), make)


def _shortened(entries: Mapping[str, Any], most: int = 12) -> list[str]:
    shown = [f"`{name}`" for name in list(entries)[:most]]
    return [*shown, "…"] if len(entries) > most else shown


def _is_number(kind: Any) -> bool:
    return isinstance(kind, ArrayArgument) and kind.is_scalar


def _describe(kind: Any) -> str:
    if isinstance(kind, ArrayArgument):
        return f"an array of {kind.dtype}"
    return f"the {type(kind).__name__} {kind!r}"
