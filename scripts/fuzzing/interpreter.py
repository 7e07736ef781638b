"""The gradient that the interpreter computes: no passes, no generated code, no compiler."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdfgad.explain.interpreter import Interpreter
from sdfgad.ir.program import Compute
from tests.helpers_passes import gradient_case


class TooLong(Exception):
    """A program computes more elements than were allowed."""


class _Bounded(Interpreter):
    """An interpreter that gives up after so many elements."""

    left = math.inf

    def compute(self, statement: Compute) -> None:
        self.left -= math.prod(self.form(extent) for _, extent in statement.params)
        if self.left < 0:
            raise TooLong
        super().compute(statement)


def interpreted(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    output: str | None,
    wrt: Sequence[str],
    cotangent: Any,
    most: float = math.inf,
) -> tuple[Any, dict[str, Any]]:
    """The output and the gradients by the arguments on which it depends.

    Raises:
        TooLong: that takes more than `most` elements.
    """
    primal, made, arrays, integers = gradient_case(function, args, output, wrt)
    bounded = type("Bounded", (_Bounded,), {"left": most})
    # NumPy's dtype may depend on which statements run.
    wanted = np.asarray(cotangent, made.program.buffers[made.cotangent].dtype)
    run = bounded(made.program, arrays | {made.cotangent: wanted}, integers)
    bars = {name: made.gradients.get(buffer) for name, buffer in primal.inputs.items() if name in wrt}
    return run.store[made.value], {name: run.store[bar] for name, bar in bars.items() if bar is not None}
