"""Library nodes of Fourier transforms as calls of our library, along one axis after another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dace import symbolic

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Const, Lin, cast
from sdfgad.ir.program import Access, Block, Buffer, Call, Compute, Statement
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.rules.algebra import mul
from sdfgad.sdfg.node_arrays import copied, whole
from sdfgad.sdfg.scope import Scope, located

# DaCe's class of nodes -> the sign in the exponent. Neither is normalised but by the node's factor.
SIGNS = {"FFT": -1, "IFFT": 1}


def is_known(node: Any) -> bool:
    """Whether a library node becomes calls."""
    return type(node).__name__ in SIGNS and type(node).__module__.startswith("dace.libraries.fft")


def call_of(state: Any, node: Any, scope: Scope) -> Block:
    """The transforms of a copy of what a node reads, along all axes, and a copy of the result times the node's factor.

    Raises:
        UnsupportedGraph: the memlets are no parts in steps of 1, or what is written is real.
        NeedsConstant: a size is a run-time integer.
    """
    (source,) = (edge.data for edge in state.in_edges(node))
    (target,) = (edge.data for edge in state.out_edges(node))
    where, found = located(node), list[Statement]()
    first = copied(source, scope, found)
    dtype = np.result_type(first.dtype, np.complex64)
    if scope.buffer(target.data).dtype.kind != "c":
        what = f"the node `{node.label}` writes complex numbers to `{target.data}`, which is real"
        raise UnsupportedGraph(what, where, "Write them to a complex array, and take the real part.")
    sizes = _sizes(first, node)
    line = _converted(first, dtype, scope, found)
    for axis, size in enumerate(sizes):
        if size != 1:
            around = (math.prod(sizes[:axis]), size, math.prod(sizes[axis + 1 :]), SIGNS[type(node).__name__])
            result = scope.buffers.make(scope.buffers.names.fresh("transform"), line.shape, dtype)
            found.append(Call("fourier", (whole(line),), (whole(result),), around, where))
            line = result
    scaled = _scaled(line, _factor(node, scope), scope, found)
    copied(target, scope, found, scaled)
    return tuple(found)


def _sizes(buffer: Buffer, node: Any) -> list[int]:
    if not all(extent.is_const for extent in buffer.shape):
        raise NeedsConstant({symbol for extent in buffer.shape for symbol in extent.symbols}, located(node))
    return [extent.const for extent in buffer.shape]


def _factor(node: Any, scope: Scope) -> float:
    """What the results are multiplied by, a form of symbols such as ``1/N``."""
    factor = symbolic.pystr_to_symbolic(str(node.factor))
    forms = {symbol: scope.form(symbol) for symbol in factor.free_symbols}
    unknown = {name for form in forms.values() if not form.is_const for name in form.symbols}
    if unknown:
        raise NeedsConstant(unknown, located(node))
    return float(factor.subs({symbol: form.const for symbol, form in forms.items()}))


def _converted(buffer: Buffer, dtype: np.dtype[Any], scope: Scope, found: list[Statement]) -> Buffer:
    result = scope.buffers.make(scope.buffers.names.fresh("line"), buffer.shape, dtype)
    params, index = _box(buffer, scope)
    value = cast(Access(buffer.name, index).read(buffer.dtype), dtype)
    found.append(Compute(params, Access(result.name, index), value))
    return result


def _scaled(buffer: Buffer, factor: float, scope: Scope, found: list[Statement]) -> Buffer:
    if factor == 1.0:
        return buffer
    result = scope.buffers.make(scope.buffers.names.fresh("scaled"), buffer.shape, buffer.dtype)
    params, index = _box(buffer, scope)
    value = mul(Access(buffer.name, index).read(buffer.dtype), Const(complex(factor), buffer.dtype))
    found.append(Compute(params, Access(result.name, index), value))
    return result


def _box(buffer: Buffer, scope: Scope) -> tuple[tuple[tuple[str, Lin], ...], tuple[Lin, ...]]:
    names = [scope.buffers.names.fresh("k") for _ in buffer.shape]
    return tuple(zip(names, buffer.shape, strict=True)), tuple(map(Lin.symbol, names))
