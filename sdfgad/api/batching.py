"""`vmap`: the vectorising map of a program over an axis of its arguments, with the name and arguments of JAX's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sdfgad.api.callables import OfCallee, callee_of
from sdfgad.api.mapped_axes import Axes, axes_of, axes_of_leaves, check_axis_of_result, kind_of_entry
from sdfgad.options import Options
from sdfgad.parse.broadcasting import broadcast_to
from sdfgad.parse.functions.views import moveaxis
from sdfgad.parse.objects import make
from sdfgad.parse.returned import Output
from sdfgad.parse.source import read_source
from sdfgad.parse.structure import Leaf
from sdfgad.parse.transformed import CallSite, Code, emit, kind_within, stand_in, transformation
from sdfgad.parse.values import view_of
from sdfgad.specialise.mapped import Mapped, MappedCall
from sdfgad.specialise.nested import bind_within, inlining_of
from sdfgad.specialise.outgrown import repeated
from sdfgad.specialise.remembered import Remembered
from sdfgad.specialise.signature import definition, key_of, kind_of_argument


@transformation
def vmap(program: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0) -> Vmapped:
    """The vectorising map of a program over an axis of its arguments: one compiled program for a whole batch.

    What does not depend on the entry is computed once. Gradients may be mapped, ``vmap(grad(f))``, and mapped programs
    differentiated, ``grad(lambda x: np.sum(vmap(f)(x)))``.

    Args:
        program: a NumPy function, or a gradient.
        in_axes: the axis of each positional argument along which its entries lie, or None for an argument that is the
            same for all; one such value is meant for all arguments. Of a container it is the axis of all its arrays, or
            a container of axes for its parts: ``in_axes=({"w": 0, "b": None}, 0)``.
            Arguments that are passed by name are mapped as the one value says, else over their first axis.
        out_axes: the axis of the results along which those of the entries lie, None for what is the same for all and
            returned once, or a container of these, as for `in_axes`.

    Returns:
        A function of the program's arguments, which it leaves as they are. It returns what the program returns, each
        array and number with one more axis.

    Raises:
        ArgumentError: an argument has no such axis, the axes of two arguments have different lengths, or the program
            returns nothing; else as `differentiate` and the calls of its result do.

    Example:
        >>> vmap(lambda w, x: np.tanh(w @ x), in_axes=(None, 0))(w, xs)  # doctest: +SKIP
    """
    return Vmapped(program, in_axes, out_axes)


@dataclass(frozen=True)
class _Side:
    """How arguments are seen: those of a call, or of a call in a program.

    Attributes:
        kind_of: what the parser knows of an argument or leaf, given its name and value.
        moved: a value with one of its axes first.
        seen: an argument as it is bound.
    """

    kind_of: Callable[[str, Any], Any]
    moved: Callable[[Any, int], Any]
    seen: Callable[[Any], Any]


class Vmapped(OfCallee):
    """A program that is mapped over a batch, as `vmap` returns it."""

    def __init__(self, program: Callable[..., Any], in_axes: Axes, out_axes: Axes) -> None:
        self._callee = callee_of(program)
        self._function = self._callee.function
        read_source(self._function)
        self._in_axes, self._out_axes, self._options = in_axes, out_axes, Options()
        self._specialisations = Remembered(partial(self._mapped, constant=False))
        self.__name__ = f"vmap of {self._function.__name__}"
        self.__module__, self.__doc__ = self._function.__module__, self._function.__doc__

    def _mapped(self, call: MappedCall, constant: bool) -> Mapped:
        mapped = Mapped(self._function, self._options, call, constant)
        for name, axis in self._axes_of_outputs(mapped).items():
            is_same = not mapped.is_stacked(name)
            check_axis_of_result(axis, len(mapped.shape(name)), is_same, partial(definition, self._function))
        return mapped

    def _axes_of_outputs(self, mapped: Mapped) -> dict[str, int | None]:
        """The axis of the entries in each output; None for one that is the same for all, and is returned once."""
        returned = mapped.primal.returned
        pairs = zip(returned.leaves, axes_of_leaves(returned.structure, "return", self._out_axes), strict=True)
        return {leaf.name: axis for leaf, (_, axis) in pairs if isinstance(leaf, Output)}

    @repeated
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for all entries; `vmap` says what they are, and what is raised."""
        side = _Side(
            partial(kind_of_argument, self._function), lambda array, axis: np.moveaxis(array, axis, 0), lambda one: one
        )
        call = self._bound(args, kwargs, side)
        mapped = self._specialisations(call)
        found, axes = mapped.run(call), self._axes_of_outputs(mapped)

        def output(name: str) -> Any:
            axis = axes[name]
            return found[name][0] if axis is None else np.moveaxis(found[name], 0, axis)

        return mapped.result(output)

    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call in a program that is being parsed."""
        b = site.b
        side = _Side(
            lambda _, value: kind_within(b, value), lambda leaf, axis: Leaf(moveaxis(b, leaf.value, axis, 0)), stand_in
        )
        call = self._bound(tuple(args), kwargs, side)
        mapped = self._mapped(call, constant=True)
        axes = self._axes_of_outputs(mapped)
        inputs = {name: buffer for name, buffer in mapped.primal.inputs.items() if buffer in mapped.program.inputs}
        buffers = emit(b, Code(inlining_of(mapped.primal, mapped.program), call.values, inputs))

        def output(name: str) -> Any:
            view, axis = view_of(b.buffers[buffers[mapped.program.outputs[name]]]), axes[name]
            if axis is None:
                return view.result
            whole = view if mapped.is_stacked(name) else broadcast_to(b, view, mapped.shape(name))
            return moveaxis(b, whole, 0, axis)

        return mapped.result(output, partial(make, b))

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], side: _Side) -> MappedCall:
        """The arguments of a call, the mapped ones with the mapped axis first.

        Raises:
            ArgumentError: they do not fit the function, or one has no such axis.
        """
        axes = axes_of(self.parameters, self._in_axes, len(args), kwargs)
        positional, named = self._callee.arguments(args, kwargs)
        seen = tuple(map(side.seen, positional)), {name: side.seen(value) for name, value in named.items()}
        call = bind_within(self._function, *seen, lambda value: value)
        values, kinds, stacked = dict(call.values), dict[str, Any](), dict[str, int]()
        where = partial(definition, self._function)
        axis_of = {
            leaf: axis
            for name, one in axes.items()
            for leaf, axis in axes_of_leaves(call.structures.get(name), name, one)
        }
        for name, value in call.values.items():
            kinds[name], axis = side.kind_of(name, value), axis_of.get(name)
            entry = None if axis is None else kind_of_entry(name, kinds[name], axis, where)
            if entry is not None and axis is not None:
                stacked[name], kinds[name] = kinds[name].shape[axis], entry
                values[name] = side.moved(value, axis)
        key, integers = key_of(self._function, kinds, call.structures)
        key = key, tuple(stacked.items())
        return MappedCall(values, kinds, key, integers, call.structures, call.containers, stacked=stacked)
