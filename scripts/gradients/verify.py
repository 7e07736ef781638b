"""Which results are right: gradients against those of other implementations and of differences, values against NumPy's.

Implementations of different families that agree are right. Where none agree, differences of the NumPy program decide.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from scripts.gradients.results import Record

# The largest differences relative to the largest element, in double and in single precision.
DOUBLE, SINGLE = 1e-6, 1e-3
# Gradients by one array that are smaller than so many roundings of those by another are rounding errors.
ROUNDINGS = 1e3
UNSURE = "not checked: the implementations differ, and differences of the NumPy program say nothing"


@dataclass(frozen=True)
class Verdict:
    """The error of a result, whether it is right (None: nobody knows), and what to know."""

    error: float | None
    is_right: bool | None
    message: str = ""


@dataclass(frozen=True)
class Judge:
    """Asks a process that runs the NumPy program."""

    ask: Callable[..., Any]

    def value_file(self) -> str:
        return self.ask("run_numpy")

    def gradient(self, file: str) -> Verdict:
        error, is_right, is_settled = self.ask("judge", file)
        if not is_right and not is_settled:
            return Verdict(error, None, UNSURE)
        return Verdict(error, is_right, "" if is_right else "differs from differences of the NumPy program")


def verify(records: Mapping[str, Record], judge: Judge) -> dict[str, Verdict]:
    """The verdict on each file of results."""
    forward = {file: record for file, record in records.items() if record.mode == "forward"}
    gradients = {file: record for file, record in records.items() if record.mode == "grad"}
    return verify_values(forward, judge) | verify_gradients(gradients, judge)


def verify_values(records: Mapping[str, Record], judge: Judge) -> dict[str, Verdict]:
    """NumPy's own value is right."""
    if not records:
        return {}
    numpy = next((file for file, record in records.items() if record.family == "numpy"), "")
    try:
        expected = arrays_in(numpy or judge.value_file())
    except Exception as failure:
        return dict.fromkeys(records, Verdict(None, None, f"not checked: {failure}"))
    return {file: compare(file, expected, "NumPy") for file in records}


def verify_gradients(records: Mapping[str, Record], judge: Judge) -> dict[str, Verdict]:
    """Compare with a gradient that another family confirms, or else with differences."""
    if (trusted := confirmed(records)) is not None:
        expected, name = arrays_in(trusted), records[trusted].framework
        return {file: compare(file, expected, name) for file in records}
    return {file: judged(judge, file) for file in records}


def judged(judge: Judge, file: str) -> Verdict:
    try:
        return judge.gradient(file)
    except Exception as failure:
        return Verdict(None, None, f"not checked: {failure}")


def confirmed(records: Mapping[str, Record]) -> str | None:
    """A file of gradients that another family has, too; that of JAX where there is one."""
    ordered = sorted(records, key=lambda file: records[file].family != "jax")
    for k, file in enumerate(ordered):
        others = [other for other in ordered[k + 1 :] if records[other].family != records[file].family]
        if others:
            expected = arrays_in(file)
            if any(compare(other, expected, "").is_right for other in others):
                return file
    return None


def compare(file: str, expected: Mapping[str, np.ndarray], name: str) -> Verdict:
    """The arrays in a file against those that are expected."""
    found = arrays_in(file)
    error = distance(found, expected)
    is_single = any(array.dtype in (np.float32, np.complex64) for array in (*found.values(), *expected.values()))
    is_right = error <= (SINGLE if is_single else DOUBLE)
    return Verdict(error, is_right, "" if is_right else f"differs from {name}")


def arrays_in(file: str) -> dict[str, np.ndarray]:
    with np.load(file) as arrays:
        return dict(arrays)


def distance(found: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> float:
    """The worst difference of any array, relative to its largest element; infinity where one is no number."""
    if found.keys() != expected.keys():
        return float("inf")
    largest = max((size(array) for array in expected.values()), default=0.0)
    worst = 0.0
    for name, array in expected.items():
        if found[name].shape != array.shape or not (np.isfinite(found[name]).all() and np.isfinite(array).all()):
            return float("inf")
        noise = ROUNDINGS * np.finfo(array.dtype).eps * largest if array.dtype.kind in "fc" else 0.0
        difference = size(found[name] - array)
        worst = max(worst, difference / max(size(array), noise) if difference else 0.0)
    return float(worst)


def size(array: np.ndarray) -> float:
    return float(np.max(np.abs(array), initial=0.0))
