"""The gradient that the interpreter of the tests computes: no passes, no generated code, no compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.fuzzing.case import Case
from tests.helpers_ir import Interpreter
from tests.helpers_passes import gradient_case


def interpreted(
    case: Case, function: Callable[..., Any], args: tuple[Any, ...], cotangent: Any
) -> tuple[Any, dict[str, Any]]:
    """The output and the gradients by the arguments on which it depends."""
    wrt = [name for name, argument in case.arguments.items() if argument.is_floating]
    primal, made, arrays, integers = gradient_case(function, args, case.output, wrt)
    run = Interpreter(made.program, arrays | {made.cotangent: cotangent}, integers)
    bars = {name: made.gradients.get(buffer) for name, buffer in primal.inputs.items() if name in wrt}
    return run.store[made.value], {name: run.store[bar] for name, bar in bars.items() if bar is not None}
