"""What each framework runs on a GPU: arguments and results are in the device's memory, and calls wait for the device.

Matrix products of single precision are in single precision in all frameworks: not in TF32, which JAX prefers.
"""

import os
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from scripts.gradients import frameworks
from scripts.gradients.frameworks import Framework, Ready, Task


def settings(jax_platform: str, cache: str) -> dict[str, str]:
    """Environment variables of the frameworks' processes; those that the user has set stay.

    Args:
        jax_platform: "cuda", or "cpu" to try all this without a GPU.
        cache: a folder of what sdfgad compiles.
    """
    chosen = {
        # Many processes share the device.
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "JAX_DEFAULT_MATMUL_PRECISION": "highest",
        "SDFGAD_CACHE_DIR": cache,
    }
    return {name: os.environ.get(name, value) for name, value in chosen.items()} | {"JAX_PLATFORMS": jax_platform}


def name_of_device() -> str:
    """The GPU and its driver; empty where there is none."""
    if os.environ.get("SDFGAD_EMULATE") == "1":
        return "emulated"
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip().partition("\n")[0].replace(", ", ", driver ")


# --- sdfgad


class Resident:
    """A compiled program of sdfgad whose arguments, but for numbers, and results stay on the device.

    Copies are made within the call of what the program itself reads or writes on the host, and of what a caller of the
    gradient reads there before it returns: whether an index was out of range, numbers of trips of loops.
    """

    def __init__(
        self,
        program: Any,
        executable: Any,
        arrays: Mapping[str, Any],
        integers: Mapping[str, int],
        results: Iterable[str],
    ) -> None:
        self.arrays, self.results = arrays, list(results)
        self._executable, self._integers, self._stack = executable, integers, ExitStack()
        executable._begin()
        self._places = {name: executable._place(name, arrays[name], self._stack) for name in executable._on_device}
        self._read = sorted(self._places.keys() & executable._outputs - set(self.results))
        on_host = {name for name, kind in executable.library.arguments if kind == "array" and arrays[name].ndim}
        used = used_by(program) if on_host else set()
        self._copies = {name: executable._place(name, arrays[name], self._stack) for name in on_host & used}

    def __call__(self, _: Any = None) -> "Resident":
        executable, table = self._executable, self._executable._table
        executable._begin()
        for name in self._copies.keys() - executable._outputs:
            executable._fetch(self.arrays[name], self._copies[name])
        executable._run_on(self.arrays, self._integers, self._places)
        for name in self._copies.keys() & executable._outputs:
            array = self.arrays[name]
            executable._checked(table.to_device(self._copies[name], array.ctypes.data, array.nbytes))
        self._fetch(self._read)
        executable._backend.wait()
        return self

    def fetched(self) -> Mapping[str, Any]:
        """All arrays, with the results of the last call in them."""
        self._fetch(name for name in self.results if name in self._places)
        return self.arrays

    def _fetch(self, names: Iterable[str]) -> None:
        for name in names:
            self._executable._fetch(self.arrays[name], self._places[name])

    @property
    def peak_bytes(self) -> int:
        """The most that calls held on the device, with the results."""
        return self._executable.peak_bytes + sum(self.arrays[name].nbytes for name in self.results)


def used_by(program: Any) -> set[str]:
    """The buffers that a program reads or writes once it is optimised; of the others it takes the shapes alone."""
    from sdfgad.ir.program import buffers_of, walk
    from sdfgad.optimise.passes import optimise

    return {name for statement in walk(optimise(program).body) for name in buffers_of(statement)}


def load_sdfgad() -> None:
    """Import, and let be made what is made once on a machine: compiled headers, the library that calls the driver."""
    import sdfgad

    sdfgad.differentiate(_sum_of_squares, device="gpu")(np.ones(3))


def _sum_of_squares(x):
    return np.sum(x * x)


def prepare_sdfgad(task: Task, **options: Any) -> Ready:
    program = frameworks.differentiate(task, device="gpu", **options)
    call, one = program._bind_and_specialise(task.arguments, {})
    cotangent = np.ascontiguousarray(task.weights, one.output_dtype).reshape(one.output_shape)
    layout = one.layout(call)
    built = one.built(layout)
    arrays, integers = one.marshalled(call, layout, built, cotangent, False)
    if built.counting is not None:
        integers |= trips_of(one, call, built, integers)
    results = built.gradient_program.gradients.values()
    resident = Resident(built.gradients, built.gradient_executable, arrays, integers, results)

    def named(_: Any) -> dict[str, Any]:
        fetched = resident.fetched()
        one.arguments.raise_failed_checks(fetched)
        return {name: one._gradients(call, built, fetched)[name] for name in task.entry.arrays}

    return Ready(resident, named, peak=lambda: resident.peak_bytes)


def trips_of(one: Any, call: Any, built: Any, integers: Mapping[str, int]) -> dict[str, int]:
    """The numbers of trips of loops that depend on data, which calls after the first guess right."""
    from sdfgad.planning.layout import Sizes

    return Sizes(integers, one.counted(call, built)).of(built.gradient_program)


def prepare_sdfgad_call(task: Task) -> Ready:
    """What users call, with arrays of ours on the device, and the time that Python takes for it."""
    from sdfgad.runtime.gpu.driver import device

    program = frameworks.differentiate(task, device="gpu")
    passed, weights = tuple(map(on_device, task.arguments)), on_device(task.weights)
    wait = device().synchronise if os.environ.get("SDFGAD_EMULATE") != "1" else lambda: None

    def call(_: Any) -> Any:
        found = program.vjp(*passed, cotangent=weights)
        wait()
        return found

    def peak() -> int:
        bound, one = program._bind_and_specialise(passed, {})
        program_bytes = one.built(one.layout(bound)).gradient_executable.peak_bytes
        return program_bytes + sum(np.asarray(task.values[name]).nbytes for name in task.entry.arrays)

    return Ready(call, lambda found: dict(zip(task.entry.arrays, map(on_host, found), strict=True)), peak=peak)


def on_device(value: Any) -> Any:
    """An array of NumPy on the device; numbers stay."""
    if not (isinstance(value, np.ndarray) and value.ndim):
        return value
    if os.environ.get("SDFGAD_EMULATE") == "1":
        from sdfgad.runtime.gpu.emulation import EmulatedArray

        return EmulatedArray.from_numpy(value)
    from sdfgad.runtime.gpu.arrays import DeviceArray

    return DeviceArray.from_numpy(value)


def on_host(value: Any) -> Any:
    return value.to_numpy() if hasattr(value, "to_numpy") else value


def prepare_sdfgad_forward(task: Task) -> Ready:
    program = frameworks.differentiate(task, device="gpu")
    call, one = program._bind_and_specialise(task.arguments, {})
    output = one.pipeline.forward.outputs[one.output]
    arrays = one.arguments.inputs(call) | one._forward_outputs()
    program, integers = one.pipeline.forward, one.arguments.integers(call)
    resident = Resident(program, one.forward_executable, arrays, integers, [output])
    return Ready(
        resident,
        lambda _: {task.entry.output: resident.fetched()[output]},
        peak=lambda: resident.peak_bytes,
    )


# --- JAX


def prepare_jax(task: Task, form: str) -> Ready:
    """The same as on the CPU: JAX's arrays are on its default device, and so are its results."""
    ready, compiled = frameworks.jax_gradient(task, frameworks.jax_function(task, form))
    return Ready(ready.call, ready.named, peak=lambda: planned_bytes(compiled))


def planned_bytes(compiled: Any) -> int:
    """The memory of temporaries and results that XLA has planned; what it has allocated has no peak of its own."""
    found = compiled.memory_analysis()
    if found is None:  # JAX leaves open whether there is one.
        return 0
    return int(found.temp_size_in_bytes + found.output_size_in_bytes)


FRAMEWORKS = (
    Framework("sdfgad", "sdfgad", prepare_sdfgad, load_sdfgad),
    Framework("sdfgad-call", "sdfgad", prepare_sdfgad_call, load_sdfgad),
    Framework("sdfgad-store-all", "sdfgad", partial(prepare_sdfgad, strategy="store_all"), load_sdfgad),
    Framework("jax-port", "jax", partial(prepare_jax, form="port"), frameworks.load_jax),
    Framework("jax-expert", "jax", partial(prepare_jax, form="expert"), frameworks.load_jax),
    Framework("jax-library", "jax", partial(prepare_jax, form="library"), frameworks.load_jax),
    Framework("sdfgad-forward", "sdfgad", prepare_sdfgad_forward, load_sdfgad, mode="forward"),
)
