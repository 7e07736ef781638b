"""Arrays as DaCe declares them."""

from __future__ import annotations

from typing import Any

import dace
import sympy
from dace import dtypes, symbolic

from sdfgad.ir.expr import Atom, Lin, Op, as_linear
from sdfgad.ir.program import Buffer


def add_buffer(sdfg: dace.SDFG, buffer: Buffer, is_transient: bool) -> None:
    """Declare a buffer."""
    dtype = dtypes.dtype_to_typeclass(buffer.dtype.type)
    if not buffer.shape and is_transient:
        sdfg.add_scalar(buffer.name, dtype, transient=True)
        return
    # DaCe has no extent of 0, and a run-time extent may be negative where its loop is not reached.
    shape = [max(e.const, 1) if e.is_const else sympy.Max(1, symbolic_form(e)) for e in buffer.shape] or [1]
    if not is_transient:
        sdfg.add_array(buffer.name, shape, dtype)
        return
    # Declared for the whole program, whose statements allocate and release it; see `allocation`.
    storage, lifetime = dtypes.StorageType.CPU_Heap, dtypes.AllocationLifetime.SDFG
    sdfg.add_array(buffer.name, shape, dtype, storage, transient=True, lifetime=lifetime)


def symbolic_form(form: Lin) -> Any:
    """A form as DaCe's symbolic expression."""
    return form.const + sum(c * _atom(atom) for atom, c in form.terms)


def _atom(atom: Atom) -> Any:
    if isinstance(atom, str):
        return symbolic.symbol(atom, dace.int64)
    assert isinstance(atom, Op)
    left, right = (symbolic_form(as_linear(arg)) for arg in atom.args)
    return left * right if atom.name == "multiply" else symbolic.int_floor(left, right)
