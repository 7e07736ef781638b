"""What NumPy, JAX and central differences say of cases."""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.table.cases import Case

SCIPY = ("special", "stats", "ndimage", "signal", "integrate", "interpolate", "linalg", "fft")
try:
    MODULES = {name: importlib.import_module(f"scipy.{name}") for name in SCIPY}
except ImportError:
    MODULES = {}


def numpy_function(case: Case) -> Any:
    return _defined(case.source("f"), {"np": np, "math": math, **MODULES})


def _defined(text: str, names: dict[str, Any]) -> Any:
    exec(text, names)
    return names["f"]


def _jax_math() -> Any:
    same = "sin cos tan exp expm1 sqrt log log2 log10 log1p sinh cosh tanh fabs radians degrees cbrt exp2 floor ceil"
    more = "trunc hypot copysign fmod pow"
    named = {name: getattr(jnp, name) for name in (same + " " + more).split()}
    arcs = {f"a{n}": getattr(jnp, f"arc{n}") for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")}
    return types.SimpleNamespace(pi=math.pi, **named, **arcs)


@functools.cache
def _jax_names() -> dict[str, Any]:
    jax_scipy = {name: importlib.import_module(f"jax.scipy.{name}") for name in SCIPY if name != "interpolate"}
    return {"np": jnp, "math": _jax_math(), "abs": jnp.abs, **jax_scipy}


def wide(value: Any) -> Any:
    """The argument in double precision."""
    kind = np.asarray(value).dtype.kind
    if isinstance(value, float) or kind not in "fc":
        return value
    return np.asarray(value, np.float64 if kind == "f" else np.complex128)


@dataclass(frozen=True)
class Reference:
    """What JAX says of a case: its value, and its gradients, which are zero where the value is no floating number."""

    value: Any
    gradients: dict[str, Any]


def _jax_function(case: Case) -> Any:
    """The case as a function of its drawn arguments in JAX; None where it has no reference."""
    text = case.jax_source("f")
    if text is None or "jnp_mask" in text:
        # A mask that selects elements must be known to JAX.
        return None
    reference, arguments = _defined(text, dict(_jax_names())), case.arguments()
    constants = {n: v for n, v in arguments.items() if n not in case.drawn}
    return lambda drawn: jnp.asarray(reference(**{n: drawn[n] if n in drawn else constants[n] for n in case.specs}))


def _jax_reference(function: Any, drawn: dict[str, Any], cotangent: Any) -> Reference:
    value, pullback = jax.vjp(function, drawn)
    if not jnp.issubdtype(value.dtype, jnp.inexact):
        return Reference(value, {n: jnp.zeros(x.shape, x.dtype) for n, x in drawn.items()})
    seed = jnp.conj(cotangent) if jnp.iscomplexobj(value) else jnp.real(cotangent)
    (found,) = pullback(jnp.asarray(seed, value.dtype).reshape(value.shape))
    return Reference(value, {n: jnp.conj(x) for n, x in found.items()})


def _drawn(case: Case) -> dict[str, Any]:
    arguments = case.arguments()
    return {n: jnp.asarray(wide(arguments[n])) for n in case.drawn}


def jax_references(cases: Sequence[Case], cotangents: dict[str, Any]) -> dict[str, Reference]:
    """The references of many cases, by id, from one compilation; those that need values while they are traced lack."""
    functions = {case.id: _jax_function(case) for case in cases}
    drawn = {case.id: _drawn(case) for case in cases if functions[case.id] is not None}

    def traced(drawn: dict[str, Any], cotangents: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for key, of_case in drawn.items():
            with contextlib.suppress(Exception):  # One by one it is run again, where it may fail.
                reference = _jax_reference(functions[key], of_case, cotangents[key])
                found[key] = reference.value, reference.gradients
        return found

    made = jax.device_get(jax.jit(traced)(drawn, {key: cotangents[key] for key in drawn}))
    return {key: Reference(value, gradients) for key, (value, gradients) in made.items()}


def jax_gradients(case: Case, cotangent: Any, known: Reference | None = None) -> dict[str, Any] | None:
    """JAX's gradients in double precision; None where it has no reference. Checks that its value is NumPy's."""
    function = _jax_function(case)
    if function is None:
        return None
    reference = known or _jax_reference(function, _drawn(case), cotangent)
    with np.errstate(all="ignore"):
        expected = numpy_function(case)(**{n: wide(v) for n, v in case.arguments().items()})
    shape = np.shape(reference.value)
    assert shape == np.shape(expected), f"the reference's shape {shape} is not NumPy's"
    np.testing.assert_allclose(reference.value, expected, 1e-6, 1e-6, err_msg="JAX's value is not NumPy's")
    return {n: np.asarray(x) for n, x in reference.gradients.items()}


def difference(case: Case, name: str, direction: Any, cotangent: Any, step: float = 1e-6) -> float:
    """The derivative along a direction of one argument, by central differences of NumPy in double precision."""
    f = numpy_function(case)

    def at(t: float) -> float:
        arguments = {n: wide(v) for n, v in case.arguments().items()}
        moved = np.asarray(arguments[name]) + t * direction
        arguments[name] = moved if np.ndim(moved) or isinstance(arguments[name], np.ndarray) else moved.item()
        with np.errstate(all="ignore"):
            return float(np.sum(np.real(np.conj(cotangent) * np.asarray(f(**arguments)).ravel())))

    return (at(step) - at(-step)) / (2 * step)
