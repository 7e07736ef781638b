"""DaCe's own compiler and its own automatic differentiation, as far as they understand the programs as they are.

The program is parsed for the given arguments; integers are constants, so that they may be sizes. DaCe's automatic
optimisation is applied where it goes through.
"""

import copy
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from npbench_suite import Entry
from scripts.gradients.frameworks import Framework, NotAvailable, Ready, Task

LOSS, TERMS, WEIGHTS = "loss_value", "loss_terms", "loss_weights"


def load_dace() -> None:
    import dace.autodiff
    import dace.transformation.auto.auto_optimize  # noqa: F401


def parsed(entry: Entry, values: dict[str, Any], folder: Path) -> Any:
    """The SDFG of a program for arguments of these types and shapes; what DaCe writes goes into a folder."""
    import dace

    dace.Config.set("default_build_folder", value=str(folder / "dace"))
    program = entry.program
    constants = {name for name, value in values.items() if isinstance(value, (int, np.integer))}
    program.__annotations__ = dict.fromkeys(constants, dace.compiletime)
    return dace.program(program).to_sdfg(*values.values(), simplify=True)


def compiled(sdfg: Any) -> tuple[Callable[..., Any], str]:
    """An SDFG compiled after automatic optimisation, or as it is where that fails; then also what went wrong."""
    import dace
    from dace.transformation.auto.auto_optimize import auto_optimize

    try:
        return auto_optimize(copy.deepcopy(sdfg), dace.DeviceType.CPU).compile(), ""
    except Exception as failure:
        # DaCe raises whatever its passes run into; the reader is told.
        return sdfg.compile(), f"not optimised, as auto_optimize failed: {type(failure).__name__}"


def output_array(entry: Entry) -> str:
    """How DaCe calls the main output."""
    if not entry.output.startswith("return"):
        return entry.output
    return "__" + entry.output.replace("[", "_").removesuffix("]")


# --- the program


def prepare_forward(task: Task) -> Ready:
    program, note = compiled(parsed(task.entry, task.values, task.folder))
    accepted = program.sdfg.arglist()

    def fresh() -> dict[str, Any]:
        return {name: copy.deepcopy(value) for name, value in task.values.items() if name in accepted}

    def call(given: dict[str, Any]) -> Any:
        result = program(**given)
        return task.entry.outputs_from(tuple(given.get(name) for name in task.entry.arguments), one(result))

    return Ready(call, lambda outputs: {task.entry.output: shaped(outputs[task.entry.output], task)}, fresh, note)


def one(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) and len(result) == 1 else result


def shaped(output: Any, task: Task) -> np.ndarray:
    """DaCe returns a number as an array of one element."""
    return np.reshape(output, task.weights.shape) if np.size(output) == task.weights.size else np.asarray(output)


# --- its gradient


def prepare_gradient(task: Task) -> Ready:
    """The weighted sum is added to the program, and then the backward pass. Numbers become arrays of one element."""
    from dace.autodiff import add_backward_pass

    if np.iscomplexobj(task.weights):
        raise NotAvailable("the output is complex, and DaCe differentiates real numbers")
    arrays = {name: np.atleast_1d(value) for name, value in task.arrays.items()}
    values = task.values | arrays
    sdfg = parsed(task.entry, values, task.folder)
    add_weighted_sum(sdfg, output_array(task.entry))
    add_backward_pass(sdfg, inputs=list(task.entry.arrays), outputs=[LOSS])
    program, note = compiled(sdfg)
    fresh = functools.partial(buffers, program.sdfg, values, task.weights)

    def call(given: dict[str, Any]) -> dict[str, Any]:
        program(**given)
        return given

    def named(given: dict[str, Any]) -> dict[str, Any]:
        return {name: np.reshape(given[f"gradient_{name}"], np.shape(v)) for name, v in task.arrays.items()}

    return Ready(call, named, fresh, note)


def add_weighted_sum(sdfg: Any, output: str) -> None:
    """Append the sum of all products of an output with its weights."""
    import dace

    descriptor = sdfg.arrays[output]
    sdfg.add_array(WEIGHTS, descriptor.shape, descriptor.dtype)
    sdfg.add_array(LOSS, [1], descriptor.dtype)
    sdfg.add_transient(TERMS, descriptor.shape, descriptor.dtype)
    (end,) = sdfg.sink_nodes()
    state = sdfg.add_state_after(end, "weighted_sum")
    indices = [f"loss_i{k}" for k in range(len(descriptor.shape))]
    place = ", ".join(indices)
    state.add_mapped_tasklet(
        "weigh",
        {index: f"0:{size}" for index, size in zip(indices, descriptor.shape, strict=True)},
        {"loss_a": dace.Memlet(f"{output}[{place}]"), "loss_b": dace.Memlet(f"{WEIGHTS}[{place}]")},
        "loss_c = loss_a * loss_b",
        {"loss_c": dace.Memlet(f"{TERMS}[{place}]")},
        external_edges=True,
    )
    terms = next(node for node in state.data_nodes() if node.data == TERMS)
    total = state.add_reduce("lambda a, b: a + b", None, 0)
    state.add_nedge(terms, total, dace.Memlet.from_array(TERMS, sdfg.arrays[TERMS]))
    state.add_nedge(total, state.add_access(LOSS), dace.Memlet(f"{LOSS}[0]"))


def buffers(sdfg: Any, values: dict[str, Any], weights: np.ndarray) -> dict[str, Any]:
    """New arguments of the backward pass: copies of the program's, and gradients that are zero."""
    given: dict[str, Any] = {}
    for name, descriptor in sdfg.arglist().items():
        shape = tuple(int(size) for size in descriptor.shape)
        if name in values:
            given[name] = copy.deepcopy(values[name])
        elif name == WEIGHTS:
            given[name] = weights.reshape(shape).astype(descriptor.dtype.type)
        elif not name.startswith("__return"):
            given[name] = np.full(shape, float(name == f"gradient_{LOSS}"), descriptor.dtype.type)
    return given


AUTODIFF = Framework("dace-autodiff", "dace", prepare_gradient, load_dace)
FORWARD = Framework("dace-forward", "dace", prepare_forward, load_dace, mode="forward")
