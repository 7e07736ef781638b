"""Gradients of programs that return ``(value, aux)``: the auxiliary data comes from the same compiled run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sdfgad.api.chosen import Wrt
from sdfgad.api.device_calls import copied
from sdfgad.api.differentiate import DifferentiatedProgram
from sdfgad.errors import ArgumentError, Location
from sdfgad.options import Options, Ranks
from sdfgad.parse.primal import Primal
from sdfgad.specialise.outgrown import repeated
from sdfgad.specialise.signature import definition
from sdfgad.specialise.specialise import Specialisation

Array = np.ndarray[Any, Any]


class GradientWithAux(DifferentiatedProgram):
    """The gradient of the first of two results; calls return the second one, too."""

    @repeated
    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The gradient and the auxiliary data; raises as `DifferentiatedProgram` does."""
        (_, aux), gradient = self.value_and_grad(*args, **kwargs)
        return gradient, aux

    @repeated
    def value_and_grad(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """``((value, aux), gradient)``; raises as ``g(...)`` does."""
        call, specialisation = self._bind_and_specialise(args, kwargs)
        outputs, gradients = specialisation.outputs_and_gradients(call, self._seed(specialisation))
        value = _number(outputs[specialisation.output])
        return (value, _aux(specialisation, outputs)), self._chosen.ordered(call, gradients)

    def _aux_of(self, primal: Primal) -> Callable[..., Any]:
        return primal.returned.parts[1].filled

    def _output_of(self, primal: Primal) -> str:
        parts = primal.returned.parts
        if len(parts) != 2:
            raise _no_pair(primal, "no pair")
        if parts[0].structure is not None or not parts[0].outputs:
            raise _no_pair(primal, "a pair whose first part is no number")
        if parts[1].hidden is not None:
            raise ArgumentError(
                f"the auxiliary data that `{primal.source.name}` returns holds {parts[1].hidden}",
                _return_of(primal),
                "Return numbers, arrays, texts, or dicts, lists, tuples and objects of them.",
            )
        return parts[0].outputs[0]


def gradient_with_aux(
    program: Callable[..., Any], wrt: Wrt, allow_unused: bool, ranks: Ranks | None
) -> GradientWithAux:
    """The gradient of the first result of a program that returns ``(value, aux)``."""
    options = Options(all_outputs=True, device="auto", ranks=ranks)
    return GradientWithAux(program, wrt=wrt, output=None, reduce=None, allow_unused=allow_unused, options=options)


def _aux(specialisation: Specialisation, outputs: Mapping[str, Array]) -> Any:
    """The second result; no two arrays in it share memory."""
    seen: set[int] = set()

    def part(name: str) -> Any:
        array = outputs[name]
        is_new = id(array) not in seen
        seen.add(id(array))
        return _number(array if is_new else copied(array))

    return specialisation.primal.returned.parts[1].filled(part)


def _number(array: Any) -> Any:
    """A number from an array of NumPy's without axes; what is on a device stays there."""
    return array[()] if isinstance(array, np.ndarray) else array


def _no_pair(primal: Primal, what: str) -> ArgumentError:
    return ArgumentError(
        f"`{primal.source.name}` returns {what}, and has_aux=True needs one: (value, aux)",
        _return_of(primal),
        "Write `return value, aux` with a scalar value, or leave has_aux out.",
    )


def _return_of(primal: Primal) -> Location:
    """The first return statement, or the line of the definition."""
    source = primal.source
    found = [node for node in ast.walk(source.node) if isinstance(node, ast.Return)]
    return source.where(found[0]) if found else definition(source.function)
