"""What library functions do to index sets, and what those of known integers return."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdfgad.analysis.sparsity.effects import Array, Effect, Link, Setting
from sdfgad.analysis.sparsity.rows import relation
from sdfgad.ir.known_calls import OF_INTEGERS
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Call

# Library functions that treat each matrix of a batch, whose number is their first size, on its own.
BATCHED = frozenset(
    (
        *("solve", "inverse", "pseudo_inverse", "determinant", "sign_log_determinant", "cholesky", "qr"),
        *("singular_values", "all_singular_vectors", "symmetric_eigen", "eigen"),
    )
)
FOURIER = frozenset(("fourier", "real_fourier", "half_fourier"))


def results_of(call: Call, known: Mapping[str, Array]) -> tuple[Array, ...]:
    """What a function of integers returns, if its inputs are known."""
    inputs = [known[whole.buffer] for whole in call.inputs if whole.buffer in known]
    is_known = call.name in OF_INTEGERS and len(inputs) == len(call.inputs)
    return OF_INTEGERS[call.name](*inputs, *call.sizes) if is_known else ()


def effects_of_call(call: Call, setting: Setting) -> list[Effect]:
    """All of an output depends on all of the inputs, by batches or lines where the function works by these."""
    floating = [(k, whole) for k, whole in enumerate(call.inputs) if whole.dtype.kind in "fc"]
    result = []
    for output in call.outputs:
        size, links = setting.size(output.buffer), []
        varies = LIBRARY[call.name].is_differentiable and output.dtype.kind in "fc"
        for position, whole in floating if varies else ():
            outer, inner = _lines(call, position)
            sources, written = (_groups(n, outer, inner) for n in (setting.size(whole.buffer), size))
            first = relation(sources, np.arange(sources.size), (outer * inner, sources.size))
            second = relation(np.arange(size), written, (size, outer * inner))
            links.append(Link(whole.buffer, np.arange(sources.size), (first, second)))
        result.append(Effect(output.buffer, np.arange(size), tuple(links), keeps=False))
    return result


def _lines(call: Call, position: int) -> tuple[int, int]:
    """How many slices that a function treats on their own there are before and after the axis along which it works."""
    if call.name in FOURIER:
        return call.sizes[0], call.sizes[2]
    if call.name == "solve" and position == 1:
        # The columns of the right-hand side.
        return call.sizes[0], call.sizes[2]
    return (call.sizes[0] if call.name in BATCHED else 1), 1


def _groups(size: int, outer: int, inner: int) -> Array:
    """The number of the line to which each element of an array belongs."""
    places = np.arange(size)
    length = max(size // max(outer * inner, 1), 1)
    return places // (length * inner) * inner + places % inner
