"""Higher-order derivatives: a call of a gradient in a program is inlined, as a call of a function is.

``g(x)``, with ``g = differentiate(f)``, becomes the statements of the forward and the reverse sweep of `f`, over
buffers of the program that calls it. That program can then be differentiated itself, and gives second derivatives.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import Lin
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.parse.builder import Builder
from sdfgad.parse.inlining import Inlining, inline
from sdfgad.parse.objects import make
from sdfgad.parse.registry import known_function
from sdfgad.parse.structure import Leaf, container, items_of
from sdfgad.parse.values import Record, Selection, Tensor, as_tensor, cast, view_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class GradientCode:
    """A gradient program to inline, and what it means.

    Attributes:
        inlining: the forward sweep, then the reverse sweep.
        arguments: argument, or leaf of one -> what is passed.
        kinds: the same names -> what the parser knows of them.
        inputs: those that are arrays or floats -> their input buffers.
        cotangent: the input buffer of the output's cotangent.
        value: the buffer of the output.
        gradients: the leaves of `wrt` -> the buffer of the gradient; None where that is zero.
        seed: the cotangent of a call that passes none.
        arranged: the gradients by leaf, as the call returns them: one, a tuple, or a dict by name; it is passed what
            makes a container of a class.
        others: further outputs of the program -> their buffers.
        aux: the auxiliary data that a call returns, too, from a function that gives an output by name, and what makes
            a container of a class; None if it returns none.
    """

    inlining: Inlining
    arguments: Mapping[str, Any]
    kinds: Mapping[str, Any]
    inputs: Mapping[str, str]
    cotangent: str
    value: str
    gradients: Mapping[str, str | None]
    seed: Callable[[], Array]
    arranged: Callable[[Mapping[str, Any], Callable[..., Any]], Any]
    others: Mapping[str, str] = field(default_factory=dict)
    aux: Callable[[Callable[[str], Any], Callable[..., Any]], Any] | None = None


class Derivative(ABC):
    """A gradient that a program may call."""

    @property
    @abstractmethod
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of a call."""

    @abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient, by the compiled program."""

    @abstractmethod
    def code_within(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], kind_of: Callable[[Any], Any]
    ) -> GradientCode:
        """The gradient program for a call in a program.

        Args:
            args, kwargs: the arguments, in which a `Leaf` stands for an array of the program.
            kind_of: what the parser knows of an argument or leaf of one.
        """


def derivative_of(function: Any) -> tuple[Derivative, str] | None:
    """The gradient that a call of a function computes, and the name of its method; None if it is no such function."""
    if isinstance(function, Derivative):
        return function, "__call__"
    owner = getattr(function, "__self__", None)
    return (owner, function.__name__) if isinstance(owner, Derivative) else None


def call_derivative(b: Builder, of: Derivative, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call of a gradient, or of its method `value_and_grad` or `vjp`."""
    if method not in ("__call__", "value_and_grad", "vjp"):
        todo = "Use g(...), g.value_and_grad(...) or g.vjp(..., cotangent=...)."
        raise b.unsupported(f"the method `{method}` of a gradient is not supported in a program", todo)
    rest = dict(kwargs)
    given = as_tensor(rest.pop("cotangent")) if method == "vjp" and "cotangent" in rest else None
    code = of.code_within(
        tuple(map(_stand_in, args)), {n: _stand_in(v) for n, v in rest.items()}, lambda v: _kind(b, v)
    )
    cotangent = b.constant_array(code.seed()) if given is None else _fitting(b, code, given)
    inputs = {buffer: _tensor(b, name, code.arguments[name]) for name, buffer in code.inputs.items()}
    names = inline(b, code.inlining, {**inputs, code.cotangent: cotangent})
    found = {name: _result(b, code, name, names) for name in code.gradients}
    gradients = code.arranged(found, partial(make, b))
    if method == "vjp" or (method == "__call__" and code.aux is None):
        return gradients
    value = view_of(b.buffers[names[code.value]])
    total = known_function(np.sum).handler(b, value) if value.ndim else value.as_value(settled=True)  # type: ignore[union-attr]
    if code.aux is None:
        return total, gradients
    aux = code.aux(lambda name: _output(b, names[code.others[name]]), partial(make, b))
    return (gradients, aux) if method == "__call__" else ((total, aux), gradients)


def _output(b: Builder, buffer: str) -> Tensor:
    view = view_of(b.buffers[buffer])
    return view if view.ndim else view.as_value(settled=True)


def _stand_in(value: Any) -> Any:
    """An argument with a `Leaf` in the place of each array and run-time integer."""
    if isinstance(value, (Tensor, Lin)):
        return Leaf(value)
    if isinstance(value, Selection):
        return Leaf(as_tensor(value))
    if isinstance(value, Record):
        return container(value.cls, {name: _stand_in(part) for name, part in value.fields.items()})
    if isinstance(value, (dict, list, tuple)):
        return container(type(value), {key: _stand_in(part) for key, part in (items_of(value) or {}).items()})
    return value


def _kind(b: Builder, value: Any) -> Any:
    """What the parser of the inner function knows of an argument."""
    held = value.value if isinstance(value, Leaf) else value
    if isinstance(held, Lin):
        return b.constant(held)
    if isinstance(held, (float, complex, np.inexact)):
        return ArrayArgument((), np.result_type(held), is_scalar=True, weak=not isinstance(held, np.generic))
    if not isinstance(held, Tensor):
        return ArrayArgument(held.shape, held.dtype) if isinstance(held, np.ndarray) else held
    shape = tuple(b.constant(extent) for extent in held.shape)
    if not shape and held.dtype.kind in "iu":
        return b.constant(held)
    return ArrayArgument(shape, held.dtype, is_scalar=not shape and held.place is None, weak=held.weak)


def _tensor(b: Builder, name: str, value: Any) -> Tensor:
    held = value.value if isinstance(value, Leaf) else value
    return b.capture(name, held, lambda: held) if isinstance(held, np.ndarray) else as_tensor(held)


def _fitting(b: Builder, code: GradientCode, cotangent: Tensor) -> Tensor:
    """A cotangent of the output's shape and dtype.

    Raises:
        ShapeMismatch: it has another shape.
    """
    output = code.inlining.program.buffers[code.value]
    if cotangent.shape != output.shape:
        shapes = [tuple(extent.const for extent in one.shape) for one in (cotangent, output)]
        what = f"the cotangent has shape {shapes[0]}, the output {shapes[1]}"
        raise ShapeMismatch(what, b.where, "Pass a cotangent shaped like the output.")
    return Tensor(output.shape, output.dtype, lambda index: cast(cotangent.element(index), output.dtype))


def _result(b: Builder, code: GradientCode, name: str, names: Mapping[str, str]) -> Tensor:
    """The gradient by one leaf, in its kind: a number, or an array."""
    kind, buffer = code.kinds[name], code.gradients[name]
    if buffer is None:
        return b.constant_array(np.zeros(kind.shape, kind.dtype))
    view = view_of(b.buffers[names[buffer]], kind.weak)
    return view.as_value(settled=True) if kind.is_scalar else view
