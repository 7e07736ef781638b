"""Batch compilation: the gradients of many programs, compiled in one run of the compiler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdfgad.api.differentiate import DifferentiatedProgram
from sdfgad.errors import SdfgadError
from sdfgad.runtime.batch import Batch


def compile_together(calls: Iterable[tuple[DifferentiatedProgram, tuple[Any, ...]]]) -> list[SdfgadError | None]:
    """Compile the programs of gradients for given calls, with the output's value and without it.

    An error of one call does not affect the others; ``g(*args)`` raises it, too.

    Args:
        calls: results of `differentiate`, each with the arguments of a call.

    Returns:
        For each call None, or the error that it raises.

    Raises:
        CompilerError: there is no compiler, or it failed; then nothing has been compiled.

    Example:
        >>> compile_together([(differentiate(f), (x,)), (differentiate(h), (x, y))])  # doctest: +SKIP
        [None, None]
    """
    batch = Batch()
    refusals: list[SdfgadError | None] = []
    for gradient, args in calls:
        try:
            for program in gradient.programs(*args):
                batch.add(program)
        except SdfgadError as error:
            refusals.append(error)
        else:
            refusals.append(None)
    batch.build()
    return refusals
