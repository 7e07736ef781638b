"""Sparsity patterns of Jacobians, from programs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from sdfgad.api.differentiate import DifferentiatedProgram, specialised
from sdfgad.api.products import gradient_of
from sdfgad.errors import ArgumentError
from sdfgad.rules.expression import differentiable_args
from sdfgad.specialise.signature import Call, as_input
from sdfgad.specialise.specialise import Specialisation

Array = np.ndarray[Any, Any]
# How many results of functions of patterns are kept.
MOST_KEPT = 16


def sparsity(program: Callable[..., Any], *args: Any, argnums: int = 0, output: str | None = None) -> Any:
    """The sparsity pattern of the Jacobian of a program by one array argument, found from the program itself.

    It holds for all values of floating arguments, and may have more entries than the Jacobian at these: a branch that
    depends on them may be taken both ways, and an index that does may be any.

    Args:
        args: the program's arguments; of the floating ones only shapes and dtypes matter.
        argnums: the argument's position.
        output: as in `differentiate`.

    Returns:
        A ``scipy.sparse.csr_matrix`` of booleans, of (output's size, argument's size).

    Raises:
        UnsupportedProgram: how often a loop runs depends on floating values; else as `differentiate` and the calls of
            its result do.

    Example:
        >>> sparsity(lambda x: x[1:] * x[:-1], np.ones(3)).toarray()  # doctest: +SKIP
        array([[ True,  True, False],
               [False,  True,  True]])
    """
    return Patterns(gradient_of(program, (argnums,), output), lambda pattern: pattern.copy())(args)


class Patterns:
    """A function of the sparsity pattern of a program's Jacobian, kept for calls that have the same one.

    Args:
        then: what is computed of the pattern.
    """

    def __init__(self, gradient: DifferentiatedProgram, then: Callable[[Any], Any]) -> None:
        self.gradient, self.then = gradient, then
        self.kept: dict[Hashable, Any] = {}

    def __call__(self, args: tuple[Any, ...]) -> Any:
        call, specialisation = specialised(self.gradient, args, {})
        arrays, integers = _integer_arrays(call, specialisation), specialisation.arguments.integers(call)
        key = (specialisation, *integers.items(), *((name, array.tobytes()) for name, array in arrays.items()))
        if key not in self.kept:
            if len(self.kept) >= MOST_KEPT:
                self.kept.clear()
            self.kept[key] = self.then(_pattern(specialisation, integers, arrays))
        return self.kept[key]


def _integer_arrays(call: Call, specialisation: Specialisation) -> dict[str, Array]:
    """The inputs of integers and booleans by buffer, but for random ones."""
    primal = specialisation.primal
    random = primal.draws.placeholders or {}
    arrays = {buffer: np.asarray(array) for buffer, array in primal.captured.items() if buffer not in random}
    passed = {buffer: (call.values[name], call.kinds[name]) for name, buffer in primal.inputs.items()}
    arrays |= {buffer: as_input(*one) for buffer, one in passed.items() if one[1].dtype.kind in "iub"}
    return {buffer: array for buffer, array in arrays.items() if array.dtype.kind in "iub"}


def _pattern(specialisation: Specialisation, integers: Mapping[str, int], arrays: Mapping[str, Array]) -> Any:
    from sdfgad.analysis.sparsity.propagation import sparsity_pattern  # SciPy is not required.

    primal = specialisation.primal
    if len(specialisation.wrt) != 1:
        raise ArgumentError(
            "a sparsity pattern is that of the Jacobian by one array, and this argument has several",
            primal.source.where(primal.source.node),
            "Differentiate a function of one of them.",
        )
    wrt, output = primal.inputs[specialisation.wrt[0]], primal.program.outputs[specialisation.output]
    return sparsity_pattern(primal.program, wrt, output, differentiable_args, integers, arrays)
