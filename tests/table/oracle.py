"""What NumPy, JAX and central differences say of a case, and what sdfgad makes of it: alone, and in a batch.

A batch is one program that calls the functions of many cases and returns all of their results in one vector, so one
compilation gives every value, and one reverse sweep with a random cotangent every gradient. Cases that differ only in
their numbers and in how these lie in memory are one function of it, which runs for each of them.

Of a complex output ``w`` with cotangent ``c`` the scalar that is differentiated is ``sum(real(conj(c) * w))``; the
gradient by ``z = x + iy`` of a real scalar is its derivative by ``x`` plus ``i`` times that by ``y``.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import sdfgad
from sdfgad.errors import SdfgadError
from sdfgad.parse.parse import parse
from sdfgad.specialise.signature import bind
from tests.helpers import module_from
from tests.helpers_tiers import Pack, packs
from tests.table.cases import CASES, Case
from tests.table.references import MODULES, Reference, difference, jax_gradients, jax_references, numpy_function

# Cases that are the same to a program.
Form = Sequence[Case]
BATCH = 48
SOME = 8
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


def run(forms: Sequence[Form]) -> list[Outcome]:
    """Each case's outcome, form by form. Where the program fails, it is cut in two until what fails is alone."""
    try:
        return _run(forms)
    except Exception as error:
        if len(forms) > 1:
            half = len(forms) // 2
            return [*run(forms[:half]), *run(forms[half:])]
        if len(forms[0]) > 1:
            return [outcome for case in forms[0] for outcome in run([[case]])]
        return [Outcome(error=error)]


def _run(forms: Sequence[Form]) -> list[Outcome]:
    """The outcomes from one program, which runs with the first case of each form, then with the second ones."""
    results = [expected(form[0]) for form in forms]
    program = module_from(_program_text([form[0] for form in forms], results), Path(_folder.name)).program
    drawn = [f"{n}_{k}" for k, form in enumerate(forms) for n in form[0].drawn]
    g = sdfgad.differentiate(program, wrt=drawn, output="return", allow_unused=True)
    ends = list(itertools.accumulate((result.size for result in results), initial=1))
    outcomes: dict[tuple[int, int], Outcome] = {}
    for turn in range(max(map(len, forms))):
        cases = [form[turn if turn < len(form) else 0] for form in forms]
        value, gradients = _outputs(g, cases, ends)
        outcomes |= {
            (k, turn): Outcome(value[ends[k] : ends[k + 1]], {n: gradients[f"{n}_{k}"] for n in case.drawn})
            for k, case in enumerate(cases)
        }
    return [outcomes[k, turn] for k, form in enumerate(forms) for turn in range(len(form))]


def _outputs(g: sdfgad.DifferentiatedProgram, cases: Sequence[Case], ends: Sequence[int]) -> tuple[Any, dict[str, Any]]:
    """All results in one vector, and the gradients by name, of one run of a batch's program."""
    arguments = {f"{n}_{k}": v for k, case in enumerate(cases) for n, v in case.arguments().items()}
    call, made = g._bind_and_specialise((), arguments)
    sizes = [end - start for start, end in itertools.pairwise(ends)]
    cotangent = np.concatenate([[0.0], *map(cotangent_of, cases, sizes)])
    cotangent = (cotangent if made.output_dtype.kind == "c" else np.real(cotangent)).astype(made.output_dtype)
    value, gradients = made.value_and_gradients(call, cotangent)
    assert value.shape == (ends[-1],)
    return value, gradients


# What a case returns, as a vector; refused while the program is parsed where that is not of NumPy's shape and dtype.
FLAT = """\
def flat(result, shape, dtype):
    if np.shape(result) != shape:
        raise TypeError("the result has another shape in NumPy")
    result = np.ravel(result)
    if result.dtype != dtype:
        raise TypeError("the result has another dtype in NumPy")
    return result
"""


def _program_text(cases: Sequence[Case], results: Sequence[np.ndarray]) -> str:
    functions = [case.source(f"case_{k}") for k, case in enumerate(cases)]
    parameters = [f"{n}_{k}" for k, case in enumerate(cases) for n in case.specs]
    calls = [f"case_{k}({', '.join(f'{n}_{k}' for n in case.specs)})" for k, case in enumerate(cases)]
    flat = [f"flat({c}, {r.shape}, np.{r.dtype.type.__name__})" for c, r in zip(calls, results, strict=True)]
    body = ",\n        ".join([f"np.zeros(1, np.{cases[0].dtype})", *flat])
    program = f"def program({', '.join(parameters)}):\n    return np.concatenate((\n        {body},\n    ))\n"
    return "\n\n".join([HEAD, FLAT, *functions, program])


def expected(case: Case) -> np.ndarray:
    """What NumPy computes."""
    with np.errstate(all="ignore"):
        return np.asarray(numpy_function(case)(**case.arguments()))


@functools.lru_cache(maxsize=2)
def batch(number: int) -> dict[str, Outcome]:
    """The outcomes of one of `batches`, by id of the case."""
    forms, outcomes = [], {}
    for form in batches()[number].values:
        try:
            if form[0].form in returned_alone():
                _require_numpys_result(form[0])
            forms.append(form)
        except Exception as error:
            outcomes |= {case.id: Outcome(error=error) for case in form}
    cases = [case for form in forms for case in form]
    outcomes |= {case.id: made for case, made in zip(cases, run(forms) if forms else [], strict=True)}
    cotangents = {case.id: cotangent_of(case, expected(case).size) for case in cases}
    for key, reference in jax_references(cases, cotangents).items():
        outcomes[key].reference = reference
    return outcomes


def _require_numpys_result(case: Case) -> None:
    """The case by itself returns an array, or a number, of NumPy's shape and dtype."""
    made, wanted = parsed(case), expected(case)
    assert made.error is None, f"refused: {made.error}"
    assert (made.shape, made.dtype) == (wanted.shape, wanted.dtype), (
        f"the result is {made.dtype} of shape {made.shape}, in NumPy {wanted.dtype} of shape {wanted.shape}"
    )


@functools.cache
def returned_alone() -> set[tuple[str, ...]]:
    """The first forms of each function and dtype, with arrays and with numbers, which are parsed alone, too."""
    firsts: dict[tuple[Any, ...], tuple[str, ...]] = {}
    for case, *_ in itertools.chain.from_iterable(pack.values for pack in batches()):
        are_numbers = all(case.specs[name].shape == () for name in case.drawn)
        firsts.setdefault((case.text, case.dtype, are_numbers), case.form)
    return set(firsts.values())


@functools.cache
def batches() -> list[Pack]:
    """The forms of cases that sdfgad takes, those of one dtype together.

    By default each line of the table runs with the first of its forms, in real and in complex numbers, and each
    `SOME`-th of all others, so every shape, layout and dtype is there with some functions.
    """
    refused = refusals()
    forms: dict[tuple[str, ...], list[Case]] = {}
    for case in CASES:
        if stage(case, refused) == "":
            forms.setdefault(case.form, []).append(case)
    return list(packs(forms.values(), BATCH, SOME, kind=_line, together=lambda form: form[0].dtype))


def _line(form: Form) -> tuple[str, bool]:
    return form[0].label.partition(" | ")[0], form[0].dtype.kind == "c"


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
    double, wanted = case.dtype != np.float32, expected(case).ravel()
    _assert_near("value", made.value, wanted, case.tolerance * (1e-12 if double else 2e-6))
    cotangent = cotangent_of(case, wanted.size)
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
            scale = 1.0 + np.sum(np.abs(along)) + np.sum(np.abs(cotangent * wanted))
            error = abs(slope - np.sum(along)) / scale
            assert error <= max(limit, 1e-7), (
                f"gradient by {name}: {np.sum(along)} along a line, by differences {slope}"
            )


def _assert_near(what: str, found: Any, expected: Any, limit: float) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    if not np.iscomplexobj(expected):
        assert not np.any(np.imag(found)), f"{what}: {found} is complex"
        found = np.real(found)
    with np.errstate(all="ignore"):
        error = np.abs(found - expected) / np.maximum(1.0, np.abs(found) + np.abs(expected))
    same = (found == expected) | (np.isnan(found) & np.isnan(expected)) | (error <= limit)
    assert np.all(same), f"{what}: {found} is not {expected}"
