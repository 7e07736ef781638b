"""What is refused wherever it stands: callbacks to Python, streams, references, structures and consumers."""

from __future__ import annotations

from typing import Any

import dace
from dace import dtypes
from dace.sdfg import nodes

from sdfgad.errors import UnsupportedGraph
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
    for node, state in sdfg.all_nodes_recursive():
        if isinstance(node, (nodes.ConsumeEntry, nodes.ConsumeExit)):
            what = f"the node `{node.label}` of type {type(node).__name__}, in the state `{state.label}`"
            raise UnsupportedGraph(what, located(node), "Use a map.")


def _refuse_data(name: str, descriptor: Any, sdfg: Any) -> None:
    kinds = (dace.data.Stream, dace.data.Reference, dace.data.Structure, dace.data.ContainerArray)
    if isinstance(descriptor, kinds) or descriptor.dtype in (dtypes.pyobject(), dtypes.string):
        what = f"`{name}` in the SDFG `{sdfg.name}` is a {type(descriptor).__name__} of {descriptor.dtype}"
        raise UnsupportedGraph(what, located(descriptor), TODO["data"])
    if getattr(descriptor, "may_alias", False) and not descriptor.transient:
        what = f"`{name}` in the SDFG `{sdfg.name}` may share memory with another argument"
        raise UnsupportedGraph(what, located(descriptor), "Set may_alias=False, and pass arrays that do not.")
