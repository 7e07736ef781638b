"""What NumPy, JAX and central differences say of a case, and what sdfgad makes of it: alone, and in a batch.

A batch is one program that calls the functions of many cases and returns all of their results in one vector, so one
compilation gives every value, and one reverse sweep with a random cotangent every gradient.

Of a complex output ``w`` with cotangent ``c`` the scalar that is differentiated is ``sum(real(conj(c) * w))``; the
gradient by ``z = x + iy`` of a real scalar is its derivative by ``x`` plus ``i`` times that by ``y``.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import sdfgad
from sdfgad.errors import SdfgadError
from sdfgad.parse.parse import parse
from sdfgad.specialise.signature import bind
from tests.helpers import module_from
from tests.table.cases import CASES, Case
from tests.table.references import MODULES, Reference, difference, jax_gradients, jax_references, numpy_function

BATCH = 48
HEAD = "import math\nimport numpy as np\n" + (f"from scipy import {', '.join(MODULES)}\n" if MODULES else "")
_folder = tempfile.TemporaryDirectory(prefix="sdfgad_table_")


# --- one case alone


@dataclass(frozen=True)
class Alone:
    """What happens to a case by itself, without compiling: the stage that refuses it, if one does, and its result."""

    refused_at: str = ""
    error: SdfgadError | None = None
    shape: tuple[int, ...] = ()
    dtype: np.dtype | None = None


def parsed(case: Case) -> Alone:
    """Parse the case. Other exceptions than sdfgad's own pass."""
    values = case.arguments()
    try:
        function = _function_of(case)
        primal = parse(function, bind(function, (), values).kinds)
        _, buffer = next((name, b) for name, b in primal.program.outputs.items() if name == "return")
    except SdfgadError as error:
        return Alone("parsing", error)
    output = primal.program.buffers[buffer]
    return Alone(shape=tuple(extent.const for extent in output.shape), dtype=output.dtype)


def alone(case: Case) -> Alone:
    """Parse the case, and derive its gradient where its result is floating.

    `refused_at` is "parsing" or "differentiating". Other exceptions than sdfgad's own pass.
    """
    made = parsed(case)
    if made.dtype is None or made.dtype.kind not in "fc":
        return made
    g = sdfgad.differentiate(_function_of(case), wrt=case.drawn, output="return", allow_unused=True)
    try:
        g._bind_and_specialise((), case.arguments())
    except SdfgadError as error:
        return replace(made, refused_at="differentiating", error=error)
    return made


def _function_of(case: Case) -> Any:
    return module_from(HEAD + "\n\n" + case.source("f"), Path(_folder.name)).f


# --- many cases in one program


@dataclass
class Outcome:
    """A case's value and gradients from the compiled program, or the exception that it raised; and what JAX says."""

    value: Any = None
    gradients: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None
    reference: Reference | None = None


def cotangent_of(case: Case, size: int) -> np.ndarray:
    """Random weights of a case's results, always the same; complex ones for complex numbers."""
    rng = np.random.default_rng(zlib.crc32(case.id.encode()))
    real = rng.standard_normal(size)
    return real + 1j * rng.standard_normal(size) if case.dtype.kind == "c" else real


def run(cases: Sequence[Case], sizes: Sequence[int]) -> list[Outcome]:
    """Each case's outcome. Where the program fails, it is cut in two until the case that makes it fail is alone."""
    try:
        return _run(cases, sizes)
    except Exception as error:
        if len(cases) == 1:
            return [Outcome(error=error)]
        half = len(cases) // 2
        return [*run(cases[:half], sizes[:half]), *run(cases[half:], sizes[half:])]


def _run(cases: Sequence[Case], sizes: Sequence[int]) -> list[Outcome]:
    program = module_from(_program_text(cases), Path(_folder.name)).program
    arguments = {f"{n}_{k}": v for k, case in enumerate(cases) for n, v in case.arguments().items()}
    drawn = [f"{n}_{k}" for k, case in enumerate(cases) for n in case.drawn]
    g = sdfgad.differentiate(program, wrt=drawn, output="return", allow_unused=True)
    call, made = g._bind_and_specialise((), arguments)
    cotangent = np.concatenate([[0.0], *map(cotangent_of, cases, sizes)])
    cotangent = (cotangent if made.output_dtype.kind == "c" else np.real(cotangent)).astype(made.output_dtype)
    value, gradients = made.value_and_gradients(call, cotangent)
    ends = list(itertools.accumulate(sizes, initial=1))
    assert value.shape == (ends[-1],)
    return [
        Outcome(value[ends[k] : ends[k + 1]], {n: gradients[f"{n}_{k}"] for n in case.drawn})
        for k, case in enumerate(cases)
    ]


def _program_text(cases: Sequence[Case]) -> str:
    functions = [case.source(f"case_{k}") for k, case in enumerate(cases)]
    parameters = [f"{n}_{k}" for k, case in enumerate(cases) for n in case.specs]
    calls = [f"case_{k}({', '.join(f'{n}_{k}' for n in case.specs)})" for k, case in enumerate(cases)]
    parts = [f"np.zeros(1, np.{cases[0].dtype})", *(f"np.ravel({call})" for call in calls)]
    body = ",\n        ".join(parts)
    program = f"def program({', '.join(parameters)}):\n    return np.concatenate((\n        {body},\n    ))\n"
    return "\n\n".join([HEAD, *functions, program])


@functools.lru_cache(maxsize=2)
def batch(number: int) -> dict[str, Outcome]:
    """The outcomes of one of `batches`, by id of the case."""
    cases, sizes, outcomes = [], [], {}
    for case in batches()[number]:
        with np.errstate(all="ignore"):
            expected = np.asarray(numpy_function(case)(**case.arguments()))
        try:
            made = parsed(case)  # What refuses to be differentiated does so in the program of all, too.
            assert made.error is None, f"refused: {made.error}"
            assert (made.shape, made.dtype) == (expected.shape, expected.dtype), (
                f"the result is {made.dtype} of shape {made.shape}, in NumPy {expected.dtype} of shape {expected.shape}"
            )
        except Exception as error:
            outcomes[case.id] = Outcome(error=error)
            continue
        cases.append(case)
        sizes.append(expected.size)
    outcomes |= {case.id: made for case, made in zip(cases, run(cases, sizes) if cases else [], strict=True)}
    cotangents = {case.id: cotangent_of(case, size) for case, size in zip(cases, sizes, strict=True)}
    for key, reference in jax_references(cases, cotangents).items():
        outcomes[key].reference = reference
    return outcomes


@functools.cache
def batches() -> list[list[Case]]:
    """The cases that sdfgad takes, those of one dtype together."""
    refused = refusals()
    result = []
    for dtype in dict.fromkeys(case.dtype for case in CASES):
        chosen = [case for case in CASES if case.dtype == dtype and stage(case, refused) == ""]
        result += itertools.batched(chosen, BATCH) if hasattr(itertools, "batched") else _batched(chosen)
    return [list(cases) for cases in result]


def _batched(cases: list[Case]) -> Iterator[list[Case]]:
    for start in range(0, len(cases), BATCH):
        yield cases[start : start + BATCH]


# --- what is refused today

REFUSED = Path(__file__).with_name("refused.txt")
STAGES = ("parsing", "differentiating", "alone")


@functools.cache
def refusals() -> dict[str, str]:
    """From ids of cases, or their functions with or without a dtype, to the stage that refuses them."""
    found = {}
    with contextlib.suppress(FileNotFoundError):
        for line in REFUSED.read_text().splitlines():
            if line and not line.startswith("#"):
                refused_at, _, what = line.partition(": ")
                assert refused_at in STAGES, line
                found[what] = refused_at
    return found


def stage(case: Case, refused: dict[str, str] | None = None) -> str:
    """The stage at which sdfgad refuses a case, "alone" where it has a program of its own, or ""."""
    refused = refusals() if refused is None else refused
    keys = (case.id, case.label, f"{case.function} {case.dtype}", case.function, f"* {case.dtype}")
    return next((refused[key] for key in keys if key in refused), "")


# --- comparison


def assert_right(case: Case, made: Outcome) -> None:
    """The value is NumPy's, and the gradients are JAX's and those of central differences."""
    if made.error is not None:
        raise made.error
    double = case.dtype != np.float32
    with np.errstate(all="ignore"):
        expected = np.asarray(numpy_function(case)(**case.arguments())).ravel()
    _assert_near("value", made.value, expected, case.tolerance * (1e-12 if double else 2e-6))
    cotangent = cotangent_of(case, expected.size)
    arguments = case.arguments()
    for name, found in made.gradients.items():
        assert np.shape(found) == np.shape(arguments[name]), f"gradient by {name}: shape {np.shape(found)}"
        dtype = np.asarray(arguments[name]).dtype
        assert np.asarray(found).dtype == dtype, f"gradient by {name}: {np.asarray(found).dtype} for {dtype}"
    limit = case.tolerance * (1e-9 if double else 1e-4)
    references = jax_gradients(case, cotangent, made.reference)
    if references is not None:
        for name, found in made.gradients.items():
            _assert_near(f"gradient by {name} and JAX's", found, references[name], limit)
    if case.differences:
        rng = np.random.default_rng(1)
        for name, found in made.gradients.items():
            direction = rng.standard_normal(np.shape(found))
            if case.dtype.kind == "c":
                direction = direction + 1j * rng.standard_normal(np.shape(found))
            slope = difference(case, name, direction, cotangent)
            along = np.real(np.conj(direction) * found)
            scale = 1.0 + np.sum(np.abs(along)) + np.sum(np.abs(cotangent * expected))
            error = abs(slope - np.sum(along)) / scale
            wanted = max(limit, 1e-7)
            assert error <= wanted, f"gradient by {name}: {np.sum(along)} along a line, by differences {slope}"


def _assert_near(what: str, found: Any, expected: Any, limit: float) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    if not np.iscomplexobj(expected):
        assert not np.any(np.imag(found)), f"{what}: {found} is complex"
        found = np.real(found)
    with np.errstate(all="ignore"):
        error = np.abs(found - expected) / np.maximum(1.0, np.abs(found) + np.abs(expected))
    same = (found == expected) | (np.isnan(found) & np.isnan(expected)) | (error <= limit)
    assert np.all(same), f"{what}: {found} is not {expected}"
