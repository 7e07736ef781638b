"""What each framework runs: gradients of a weighted sum of a program's main output, and the program itself.

A framework imports what it needs (`load`), then makes a call ready (`prepare`: all that compiles) that is timed. The
gradient of a real L by a complex x + iy is dL/dx + i dL/dy, and L is the sum of all Re(conj(weight) output).
"""

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npbench_suite import Entry

NEARLY_ALL = 0.99


class NotAvailable(Exception):
    """A framework has nothing to run for a program."""


@dataclass(frozen=True)
class Task:
    """A program with its arguments, the weights of its main output, and a folder for what compilers write."""

    entry: Entry
    arguments: tuple
    weights: np.ndarray
    folder: Path

    @property
    def values(self) -> dict[str, Any]:
        """The arguments by name."""
        return dict(zip(self.entry.arguments, self.arguments, strict=True))

    @property
    def arrays(self) -> dict[str, Any]:
        """Those arguments by name that are differentiated."""
        return {name: self.values[name] for name in self.entry.arrays}


@dataclass(frozen=True)
class Ready:
    """A call that is ready to be timed.

    Attributes:
        call: what is timed, given what `fresh` returned; it returns when all is computed.
        named: from what `call` returned to arrays by name: those of the gradients, or of the output.
        fresh: is run before each call, and not timed.
        note: what to know of how it was made.
        peak: returns the most bytes that the call held, where that is not memory of this process.
    """

    call: Callable[[Any], Any]
    named: Callable[[Any], dict[str, Any]]
    fresh: Callable[[], Any] = lambda: None
    note: str = ""
    peak: Callable[[], int] | None = None


@dataclass(frozen=True)
class Framework:
    """One column of the tables.

    Attributes:
        name: as it is shown and asked for.
        family: whose implementation it is; families that agree confirm one another.
        prepare: makes a call ready; raises `NotAvailable` where there is nothing to run.
        load: imports, and what is made once on a machine; not timed.
        mode: "grad" or "forward".
        file: where it comes from, if not from here.
    """

    name: str
    family: str
    prepare: Callable[[Task], Ready]
    load: Callable[[], None] = lambda: None
    mode: str = "grad"
    file: str = ""

    @property
    def full_name(self) -> str:
        """What `framework_called` finds it by."""
        return f"{self.file}:{self.name}" if self.file else self.name


# --- NumPy


def prepare_numpy(task: Task) -> Ready:
    """The program itself, on copies of its arguments."""
    entry = task.entry

    def call(arguments: tuple) -> Any:
        return entry.outputs_from(arguments, entry.program(*arguments))[entry.output]

    return Ready(call, lambda output: {entry.output: output}, lambda: copy.deepcopy(task.arguments))


# --- sdfgad


def load_sdfgad() -> None:
    """Import, and let be made what is made once on a machine: compiled headers, measured constants."""
    import sdfgad

    sdfgad.differentiate(_square)(2.0)


def _square(x):
    return x * x


def differentiate(task: Task, device: str = "cpu", **options: Any) -> Any:
    import sdfgad

    if device == "cpu":  # An empty cache, so that the first call is one.
        os.environ["SDFGAD_CACHE_DIR"] = str(task.folder / "cache")
    options["device"] = device
    entry = task.entry
    return sdfgad.differentiate(entry.program, wrt=entry.arrays, output=entry.output, allow_unused=True, **options)


def prepare_sdfgad(task: Task, **options: Any) -> Ready:
    program = differentiate(task, **options)
    program.compile(*task.arguments)
    return Ready(
        lambda _: program.vjp(*task.arguments, cotangent=task.weights),
        lambda gradients: dict(zip(task.entry.arrays, gradients, strict=True)),
    )


def prepare_budget(task: Task) -> Ready:
    """With a memory limit half-way between the smallest that can be kept and what storing everything takes."""
    from sdfgad.errors import InfeasibleBudget

    most = differentiate(task, strategy="store_all").plan(*task.arguments).peak_bytes
    try:
        least = differentiate(task, memory_limit=1).plan(*task.arguments).peak_bytes
    except InfeasibleBudget as failure:
        least = failure.minimum_bytes
    if least > NEARLY_ALL * most:
        raise NotAvailable(f"no plan holds less than {least} bytes, and storing everything takes {most}")
    return prepare_sdfgad(task, memory_limit=(least + most) // 2)


def prepare_sdfgad_forward(task: Task) -> Ready:
    program = differentiate(task)
    program.value(*task.arguments)
    return Ready(lambda _: program.value(*task.arguments), lambda output: {task.entry.output: output})


# --- JAX


def load_jax() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.jit(_square)(2.0).block_until_ready()


def weighted_sum(output: Any, weights: Any) -> Any:
    import jax.numpy as jnp

    if not jnp.iscomplexobj(output):
        return jnp.sum(output * weights)
    return jnp.sum((output * jnp.conj(weights)).real)


def prepare_jax(task: Task, form: str) -> Ready:
    """The gradient of one of the forms of jax_forms.py, or of the reference that the tests use."""
    return jax_gradient(task, jax_function(task, form))[0]


def jax_function(task: Task, form: str) -> Callable:
    if form == "reference":
        return lambda **values: task.entry.reference(**values)[task.entry.output]
    if form not in task.entry.jax_forms:
        raise NotAvailable(f"jax_forms.py has no {form}")
    return task.entry.jax_forms[form]


def jax_gradient(task: Task, function: Callable) -> tuple[Ready, Any]:
    """The call, and what JAX has compiled for it."""
    import jax
    import jax.numpy as jnp

    def loss(arrays: dict, weights: Any) -> Any:
        output = function(**(task.values | arrays))
        return weighted_sum(output, weights.astype(output.dtype))

    given = {name: jnp.asarray(value) for name, value in task.arrays.items()}, jnp.asarray(task.weights)
    compiled = jax.jit(jax.grad(loss)).lower(*given).compile()
    ready = Ready(
        lambda _: jax.block_until_ready(compiled(*given)),
        # JAX's gradients are the conjugates of ours.
        lambda found: {name: np.conj(np.asarray(gradient)) for name, gradient in found.items()},
    )
    return ready, compiled
