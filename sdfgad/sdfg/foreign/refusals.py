"""What is refused wherever it stands: callbacks to Python, streams, references, structures and consumers."""

from __future__ import annotations

from typing import Any

import dace
import numpy as np
from dace import dtypes
from dace.sdfg import nodes

from sdfgad.errors import UnsupportedGraph
from sdfgad.parse.dtypes import SUPPORTED
from sdfgad.sdfg.scope import located

TODO = {
    "callback": "Write what it does in the program itself, or give the graph its result as an argument.",
    "data": "Use arrays, scalars and views of these.",
}


def refuse_unknown(sdfg: Any) -> None:
    """Raises: UnsupportedGraph, where a graph has a callback, or data that is no array."""
    for one in sdfg.all_sdfgs_recursive():
        for name, descriptor in one.arrays.items():
            _refuse_data(name, descriptor, one)
        if one.callback_mapping or any(isinstance(d, dtypes.callback) for d in one.symbols.values()):
            names = {**one.callback_mapping, **{n: n for n, d in one.symbols.items() if isinstance(d, dtypes.callback)}}
            what = f"the SDFG `{one.name}` calls Python back: {', '.join(f'`{name}`' for name in sorted(names))}"
            raise UnsupportedGraph(what, located(one), TODO["callback"])
        for state in one.states():
            _refuse_subsets(state)
    for node, state in sdfg.all_nodes_recursive():
        if isinstance(node, (nodes.ConsumeEntry, nodes.ConsumeExit)):
            what = f"the node `{node.label}` of type {type(node).__name__}, in the state `{state.label}`"
            raise UnsupportedGraph(what, located(node), "Use a map.")


def _refuse_data(name: str, descriptor: Any, sdfg: Any) -> None:
    kinds = (dace.data.Stream, dace.data.Reference, dace.data.Structure, dace.data.ContainerArray)
    if isinstance(descriptor, kinds) or not _is_number(descriptor.dtype):
        what = f"`{name}` in the SDFG `{sdfg.name}` is a {type(descriptor).__name__} of {descriptor.dtype}"
        raise UnsupportedGraph(what, located(descriptor), TODO["data"])
    if isinstance(descriptor, dace.data.Array):
        _refuse_strides(name, descriptor, sdfg)
    if getattr(descriptor, "may_alias", False) and not descriptor.transient:
        what = f"`{name}` in the SDFG `{sdfg.name}` may share memory with another argument"
        raise UnsupportedGraph(what, located(descriptor), "Set may_alias=False, and pass arrays that do not.")


def _is_number(dtype: Any) -> bool:
    """Whether a type is one of single numbers that programs have here."""
    return type(dtype) is dtypes.typeclass and np.dtype(dtype.type) in SUPPORTED


def _refuse_strides(name: str, descriptor: Any, sdfg: Any) -> None:
    """Raises: UnsupportedGraph, where indices do not start at 0, or several ones are the same element."""
    where = located(descriptor)
    if any(offset != 0 for offset in descriptor.offset):
        what = f"the indices of `{name}` in the SDFG `{sdfg.name}` start at an offset"
        raise UnsupportedGraph(what, where, "Let them start at 0.")
    if any(stride == 0 and size != 1 for stride, size in zip(descriptor.strides, descriptor.shape, strict=True)):
        what = f"several indices of `{name}` in the SDFG `{sdfg.name}` are one element: a stride is 0"
        raise UnsupportedGraph(what, where, "Use an array without that axis.")


def _refuse_subsets(state: Any) -> None:
    """Raises: UnsupportedGraph, where a subset is no range, or one in tiles or backwards."""
    found = [(edge.data, s) for edge in state.edges() for s in (edge.data.subset, edge.data.other_subset) if s]
    ranges = [(node.map.label, node.map.range) for node in state.nodes() if isinstance(node, nodes.MapEntry)]
    for owner, subset in [*found, *ranges]:
        is_plain = isinstance(subset, dace.subsets.Range) and all(size == 1 for size in subset.tile_sizes)
        if not is_plain or any((step < 0) == True for _, _, step in subset.ndrange()):  # noqa: E712 - of symbols
            what = f"the subset `{subset}` of `{owner}` in the state `{state.label}` is no range in positive steps"
            raise UnsupportedGraph(what, todo="Write it as a range of indices in positive steps, without tiles.")
