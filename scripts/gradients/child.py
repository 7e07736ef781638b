"""The process in which one framework runs one program: it does what it is asked for over a pipe, and else sleeps.

``python -m scripts.gradients.child FD``, where FD is the descriptor of the pipe.
"""

import ctypes
import gc
import math
import os
import resource
import signal
import statistics
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import npbench_suite
from scripts import checking
from scripts.checking import DOUBLE, SINGLE
from scripts.gradients.frameworks import NotAvailable, Ready, Task
from scripts.gradients.registry import framework_called

# A batch: calls until threads and caches are awake, which takes some 50 ms after a rest, and then those that count.
WARM_SECONDS = 0.1
BATCH_SECONDS, MOST_CALLS = 0.05, 20
SLOW = 0.5  # A call that takes so many seconds needs no other right before it.
LONGEST_MESSAGE = 300
PR_SET_PDEATHSIG = 1


class Worker:
    """What a child can be asked for; each method is a request."""

    def __init__(self, name: str, preset: str, folder: str) -> None:
        self.entry, self.folder = npbench_suite.load(name), Path(folder)
        self.arguments = self.entry.arguments_for(preset)
        self.last = 0.0

    # --- one framework

    def load(self, framework: str, device: str) -> None:
        """Import the framework."""
        self.framework = framework_called(framework, device)
        self.framework.load()

    def prepare(self, label: str) -> dict[str, Any]:
        """Compile and call: the seconds of both, the bytes that the call held at most, and the file of its result."""
        weights = np.load(self.folder / "weights.npy")
        own = self.folder / label
        own.mkdir()
        with warnings.catch_warnings(record=True) as caught:
            start = time.perf_counter()
            self.ready: Ready = self.framework.prepare(Task(self.entry, self.arguments, weights, own))
            compiling = time.perf_counter() - start
            inputs = self.ready.fresh()
            before = reset_peak()
            self.last, result = stopwatch(self.ready.call, inputs)
        note = "; ".join(filter(None, (self.ready.note, *map(said_by_sdfgad, caught))))
        peak = self.ready.peak() if self.ready.peak else max(peak_bytes() - before, 0)
        arrays = {name: np.asarray(value) for name, value in self.ready.named(result).items()}
        np.savez(own / "result.npz", **arrays)
        cost = {"first_call": compiling + self.last, "peak_bytes": peak}
        return {**cost, "file": str(own / "result.npz"), "note": note}

    def time(self) -> tuple[float, int]:
        """The median seconds of a few calls one after the other, and how many those were."""
        start = time.perf_counter()
        while self.last < SLOW and time.perf_counter() - start < WARM_SECONDS:
            self.last = stopwatch(self.ready.call, self.ready.fresh())[0]
        count = min(max(math.ceil(BATCH_SECONDS / max(self.last, 1e-9)), 1), MOST_CALLS)
        seconds = [stopwatch(self.ready.call, self.ready.fresh())[0] for _ in range(count)]
        self.last = statistics.median(seconds)
        return self.last, count

    # --- checks

    def make_weights(self) -> None:
        """Random weights of the main output, always the same and of its precision, into a file."""
        like = output_like(self.entry, self.arguments)
        weights = checking.random_like(like, np.random.default_rng(1))
        np.save(self.folder / "weights.npy", weights.astype(np.asarray(like).dtype))

    def run_numpy(self) -> str:
        """The value of the NumPy program, in a file."""
        value = checking.run_numpy(self.entry, self.arguments)[1]
        np.savez(self.folder / "value.npz", **{self.entry.output: value})
        return str(self.folder / "value.npz")

    def judge(self, file: str) -> tuple[float, bool, bool]:
        """A gradient against differences of the NumPy program: its error, whether it is right, whether that is sure."""
        weights = np.load(self.folder / "weights.npy")
        limit = (SINGLE if any(map(checking.is_single, self.arguments)) else DOUBLE).gradient
        with np.load(file) as gradients:
            found = [
                checking.compare_gradient(self.entry, self.arguments, name, gradients[name], weights, limit)
                for name in self.entry.arrays
            ]
        wrong = [difference for difference in found if not difference.is_within(limit)]
        error = max(difference.error for difference in (wrong or found))
        return error, not wrong, all(difference.is_settled for difference in wrong)


def output_like(entry: npbench_suite.Entry, arguments: tuple) -> Any:
    """Something with the shape and the type of the main output, at the least cost."""
    values = dict(zip(entry.arguments, arguments, strict=True))
    if entry.output in values:
        return values[entry.output]
    if "expert" not in entry.jax_forms:
        return checking.run_numpy(entry, arguments)[1]
    import jax

    jax.config.update("jax_enable_x64", True)
    form = entry.jax_forms["expert"]
    shaped = jax.eval_shape(lambda arrays: form(**(values | arrays)), {name: values[name] for name in entry.arrays})
    return np.empty(shaped.shape, shaped.dtype)


def stopwatch(call: Callable[[Any], Any], inputs: Any) -> tuple[float, Any]:
    """The seconds and the result of a call."""
    start = time.perf_counter()
    result = call(inputs)
    return time.perf_counter() - start, result


def said_by_sdfgad(warning: warnings.WarningMessage) -> str:
    """The text of a warning of sdfgad, such as that slower code runs; others' are of no use in a table."""
    category = type(warning.message)
    return f"{category.__name__}: {warning.message}" if category.__module__.startswith("sdfgad.") else ""


# --- memory


def reset_peak() -> int:
    """Give back what is free, forget the peak of this process so far, and return the bytes that it holds."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        return status_bytes("VmRSS")
    except (OSError, AttributeError, KeyError):
        return peak_bytes()


def peak_bytes() -> int:
    try:
        return status_bytes("VmHWM")
    except (OSError, KeyError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def status_bytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(dict(line.split(":", 1) for line in lines if ":" in line)[field].split()[0]) * 1024


# --- the pipe


def describe(failure: BaseException) -> str:
    """An exception in one line."""
    place = traceback.extract_tb(failure.__traceback__)[-1]
    text = str(failure).strip().partition("\n")[0] or f"at {Path(place.filename).name}:{place.lineno}"
    return f"{type(failure).__name__}: {text}"[:LONGEST_MESSAGE]


def answer(worker: dict[str, Worker], request: str, values: Sequence[Any]) -> tuple[str, Any]:
    """How it went ("ok", "n/a" or "ERROR"), and the result or what is wrong."""
    try:
        if request == "open":
            worker["it"] = Worker(*values)
            return "ok", None
        return "ok", getattr(worker["it"], request)(*values)
    except NotAvailable as reason:
        return "n/a", str(reason)
    except Exception as failure:
        traceback.print_exc()
        return "ERROR", describe(failure)


def main(descriptor: int) -> None:
    """Answer requests until the pipe is closed."""
    Path("/proc/self/oom_score_adj").write_text("1000")  # Where memory runs out, this process goes, not its parent.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # And where that is killed, this one goes, too.
    threads = int(os.environ["OMP_NUM_THREADS"])
    available = sorted(os.sched_getaffinity(0))
    if threads < len(available):  # JAX has as many threads as there are cores.
        os.sched_setaffinity(0, available[:threads])
    pipe, worker = Connection(descriptor), {}
    while True:
        try:
            request, *values = pipe.recv()
        except EOFError:
            return
        pipe.send(answer(worker, request, values))


if __name__ == "__main__":
    main(int(sys.argv[1]))
