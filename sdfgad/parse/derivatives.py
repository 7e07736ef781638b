"""Higher-order derivatives: a call of a gradient in a program is inlined, as a call of a function is.

``g(x)``, with ``g = differentiate(f)``, becomes the statements of the forward and the reverse sweep of `f`, over
buffers of the program that calls it. That program can then be differentiated itself, and gives second derivatives.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.parse.builder import Builder
from sdfgad.parse.objects import make
from sdfgad.parse.registry import known_function
from sdfgad.parse.transformed import CallSite, Code, Transformed, emit, stand_in
from sdfgad.parse.values import Tensor, as_tensor, cast, view_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class GradientCode(Code):
    """A gradient program to inline, the forward sweep, then the reverse sweep, and what it means.

    Attributes:
        kinds: argument, or leaf of one -> what the parser knows of it.
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

    kinds: Mapping[str, Any]
    cotangent: str
    value: str
    gradients: Mapping[str, str | None]
    seed: Callable[[], Array]
    arranged: Callable[[Mapping[str, Any], Callable[..., Any]], Any]
    others: Mapping[str, str] = field(default_factory=dict)
    aux: Callable[[Callable[[str], Any], Callable[..., Any]], Any] | None = None


class Derivative(Transformed):
    """A gradient that a program may call."""

    @abstractmethod
    def code_within(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], b: Builder) -> GradientCode:
        """The gradient program for a call in a program.

        Args:
            args, kwargs: the arguments, in which a `Leaf` stands for an array of the program.
            b: the builder of that program.
        """

    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call of the gradient, or of its method `value_and_grad` or `vjp`."""
        b = site.b
        if method not in ("__call__", "value_and_grad", "vjp"):
            todo = "Use g(...), g.value_and_grad(...) or g.vjp(..., cotangent=...)."
            raise b.unsupported(f"the method `{method}` of a gradient is not supported in a program", todo)
        rest = dict(kwargs)
        given = as_tensor(rest.pop("cotangent")) if method == "vjp" and "cotangent" in rest else None
        code = self.code_within(tuple(map(stand_in, args)), {n: stand_in(v) for n, v in rest.items()}, b)
        cotangent = b.constant_array(code.seed()) if given is None else _fitting(b, code, given)
        names = emit(b, code, {code.cotangent: cotangent})
        gradients = code.arranged({name: _result(b, code, name, names) for name in code.gradients}, partial(make, b))
        if method == "vjp" or (method == "__call__" and code.aux is None):
            return gradients
        value = _value(b, names[code.value])
        if code.aux is None:
            return value, gradients
        aux = code.aux(lambda name: view_of(b.buffers[names[code.others[name]]]).result, partial(make, b))
        return (gradients, aux) if method == "__call__" else ((value, aux), gradients)


def _value(b: Builder, buffer: str) -> Tensor:
    """The output, or its sum."""
    value = view_of(b.buffers[buffer])
    return known_function(np.sum).handler(b, value) if value.ndim else value.result  # type: ignore[union-attr]


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
