"""Data descriptors, memlets and symbolic extents: buffers and integer forms in DaCe's terms."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import dace
import sympy
from dace import dtypes, subsets, symbolic

from sdfgad.errors import Location
from sdfgad.ir.expr import Atom, Expr, Lin, Op, as_linear
from sdfgad.ir.program import Access, Buffer, Params
from sdfgad.sdfg.marks import storage

# Keys of an array's location.
BOUND = "bound_"
VALUE = "value"


def add_buffer(sdfg: dace.SDFG, buffer: Buffer, is_transient: bool, is_local: bool = False) -> None:
    """Declare a buffer: an argument, an array of the whole program, or one that lives in a part of it."""
    dtype = dtypes.dtype_to_typeclass(buffer.dtype.type)
    if not buffer.shape and is_transient and not buffer.is_on_device:
        sdfg.add_scalar(buffer.name, dtype, dtypes.StorageType.Register, transient=True)
    elif is_local:
        sdfg.add_array(buffer.name, shape_of(buffer), dtype, dtypes.StorageType.Register, transient=True)
    elif is_transient:
        lifetime = dtypes.AllocationLifetime.SDFG
        sdfg.add_array(buffer.name, shape_of(buffer) or [1], dtype, storage, transient=True, lifetime=lifetime)
    else:
        sdfg.add_array(buffer.name, shape_of(buffer) or [1], dtype, storage)
    sdfg.arrays[buffer.name].debuginfo = debug_info(buffer.where)


def debug_info(where: Location | None) -> dtypes.DebugInfo:
    """The user's line. DaCe would walk the Python stack for each node that is given none."""
    return dtypes.DebugInfo(0) if where is None else dtypes.DebugInfo(where.line, filename=where.file)


def connector_type(descriptor: Any, is_element: bool = False) -> Any:
    """The type of a connector: a number, or a pointer to the first element of an array."""
    is_number = is_element or isinstance(descriptor, dace.data.Scalar)
    return descriptor.dtype if is_number else dtypes.pointer(descriptor.dtype)


def mark_bounds(descriptor: Any, buffer: Buffer, bounds: Iterable[str]) -> None:
    """Marks which symbols in an array's extents may turn out too small, so that generated code checks writes."""
    symbols = {name for extent in buffer.shape for name in extent.symbols}
    for name in sorted(symbols & set(bounds)):
        descriptor.location[f"{BOUND}{len(descriptor.location)}"] = symbolic.symbol(name, dace.int64)


def bounds_of(descriptor: Any) -> set[str]:
    return {str(symbol) for key, symbol in descriptor.location.items() if key.startswith(BOUND)}


def add_value(sdfg: dace.SDFG, name: str, dtype: Any) -> None:
    """Declare a scalar that only a bound or a condition reads."""
    kind = dtypes.dtype_to_typeclass(dtype.type)
    sdfg.add_scalar(name, kind, dtypes.StorageType.Register, transient=True)
    sdfg.arrays[name].location[VALUE] = sympy.Integer(0)


def values_of(sdfg: dace.SDFG) -> list[str]:
    """The scalars of an SDFG, without those around it, that only bounds and conditions read."""
    return [name for name, descriptor in sdfg.arrays.items() if descriptor.transient and VALUE in descriptor.location]


def shape_of(buffer: Buffer) -> list[Any]:
    # DaCe has no extent of 0, and a run-time extent may be negative where its loop is not reached.
    return [max(e.const, 1) if e.is_const else sympy.Max(1, symbolic_form(e)) for e in buffer.shape]


def as_stored(buffer: Buffer) -> Buffer:
    """The buffer that is read back from an array declared for one."""
    shape = tuple(Lin(max(extent.const, 1)) if extent.is_const else extent for extent in buffer.shape)
    shape = () if shape == (Lin(1),) else shape
    return Buffer(buffer.name, shape, buffer.dtype, is_on_device=buffer.is_on_device)


def symbolic_form(form: Lin) -> Any:
    """A form as DaCe's symbolic expression."""
    return form.const + sum(c * _symbolic_atom(atom) for atom, c in form.terms)


def _symbolic_atom(atom: Atom) -> Any:
    if isinstance(atom, str):
        return symbolic.symbol(atom, dace.int64)
    assert isinstance(atom, Op)
    left, right = (symbolic_form(as_linear(arg)) for arg in atom.args)
    return left * right if atom.name == "multiply" else symbolic.int_floor(left, right)


def is_affine(index: tuple[Lin, ...]) -> bool:
    """Whether an index is linear in symbols, so that a memlet can have it as its subset."""
    return all(isinstance(atom, str) for form in index for atom, _ in form.terms)


def point(access: Access) -> dace.Memlet:
    """A memlet of one element."""
    places = [symbolic_form(form) for form in access.index] or [sympy.Integer(0)]
    return dace.Memlet(data=access.buffer, subset=subsets.Range([(p, p, 1) for p in places]), volume=1)


def box(access: Access, params: Params, sdfg: dace.SDFG) -> dace.Memlet:
    """A memlet of the smallest box that holds the elements of all points; of the whole array where that is data."""
    extents = dict(params)
    ranges = []
    for form, size in zip(access.index, sdfg.arrays[access.buffer].shape, strict=False):
        ends = _ends(form, extents)
        ranges.append((0, size - 1, 1) if ends is None else (*map(symbolic_form, ends), 1))
    return dace.Memlet(data=access.buffer, subset=subsets.Range(ranges or [(0, 0, 1)]))


def inside(access: Access, params: Params) -> list[Lin]:
    """The index of an element within such a box."""
    extents = dict(params)
    ends = (_ends(form, extents) for form in access.index)
    return [form if end is None else form - end[0] for form, end in zip(access.index, ends, strict=True)]


def _ends(form: Lin, extents: dict[str, Lin]) -> tuple[Lin, Lin] | None:
    """The first and the last value of a form, where it is linear."""
    if any(isinstance(atom, Expr) for atom, _ in form.terms):
        return None
    first, last = form, form
    for atom, coefficient in form.terms:
        if atom in extents:
            end = {str(atom): extents[str(atom)] - 1}
            first, last = (
                (first.substitute({str(atom): 0}), last.substitute(end))
                if coefficient > 0
                else (first.substitute(end), last.substitute({str(atom): 0}))
            )
    return first, last


def whole(sdfg: dace.SDFG, name: str) -> dace.Memlet:
    """A memlet of all of an array."""
    shape = sdfg.arrays[name].shape
    return dace.Memlet(data=name, subset=subsets.Range([(0, s - 1, 1) for s in shape]), volume=math.prod(shape))
