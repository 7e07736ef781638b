"""ONNX's library nodes as what our own operators compute, with ONNX's names of attributes, inputs and outputs."""

from __future__ import annotations

import re
from typing import Any

import dace
import numpy as np

from sdfgad.errors import MissingPackage, SdfgadError, UnsupportedGraph
from sdfgad.ir.expr import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import Block, Buffer, Statement
from sdfgad.ir.rename import renamed
from sdfgad.models.onnx.table import OPERATORS
from sdfgad.parse import emitter
from sdfgad.parse.builder import Builder
from sdfgad.parse.inlining import Inlining, inline
from sdfgad.parse.values import view_of
from sdfgad.sdfg.linear_algebra import STATUS, constant
from sdfgad.sdfg.node_arrays import copied
from sdfgad.sdfg.scope import TODO, Scope, located
from sdfgad.sdfg.views import part_of

WHOLE = "Copy it to an array of its own, and pass that."


def is_known(node: Any) -> bool:
    """Whether a library node is one of ONNX."""
    return type(node).__module__.startswith("dace.libraries.onnx")


def is_read(node: Any, state: Any) -> bool:
    """Whether a node of ONNX is read by our operator: it has one, which knows the integers that it needs to know."""
    if not is_known(node) or node.schema.name not in OPERATORS:
        return False
    try:
        from sdfgad.models.onnx.one_node import is_understood  # Needs `onnx` and SciPy.
    except ModuleNotFoundError as error:
        raise MissingPackage("ONNX and SciPy for nodes of ONNX", "sdfg", "onnx") from error
    known = OPERATORS[node.schema.name].known
    memlets = _memlets(node, state, is_input=True)
    integers = [m.data for k, m in enumerate(memlets) if m is not None and k in known and _is_integer(m, state)]
    return is_understood(node.schema.name, node.schema.since_version) and all(
        name in state.sdfg.constants for name in integers
    )


def call_of(state: Any, node: Any, scope: Scope) -> Block:
    """The statements of a node, between copies of what it reads and of what it writes.

    Raises:
        UnsupportedGraph: it has an attribute, a type or a shape that its operator does not take.
        NeedsConstant: a size is a run-time integer.
    """
    return _Node(state, node, scope).run()


class _Node:
    """The statements of one node in the making."""

    def __init__(self, state: Any, node: Any, scope: Scope) -> None:
        self.node, self.scope, self.where = node, scope, located(node)
        self.operator = OPERATORS[node.schema.name]
        self.inputs = _memlets(node, state, is_input=True)
        self.outputs = _memlets(node, state, is_input=False)
        self.found: list[Statement] = []
        self.buffers: dict[str, Buffer] = {}

    def run(self) -> Block:
        from sdfgad.models.onnx.one_node import Value, program_of  # Needs the package `onnx`.

        inputs = [None if m is None else Value(f"input{k}", *self._input(k, m)) for k, m in enumerate(self.inputs)]
        dtypes = [None if m is None else self.scope.buffer(m.data).dtype for m in self.outputs]
        outputs = [None if dtype is None else Value(f"output{k}", dtype) for k, dtype in enumerate(dtypes)]
        operator = (self.node.schema.name, self.node.schema.since_version)
        try:
            found = program_of(self.node.label, operator, _attributes(self.node), inputs, outputs)
        except SdfgadError as error:
            what = f"the node `{self.node.label}` of type {type(self.node).__name__}: {error.what}"
            raise UnsupportedGraph(what, self.where, error.todo or TODO) from error
        given = {buffer: self.buffers[name] for name, buffer in found.inputs.items() if name in self.buffers}
        names = self._inlined(found.primal, given)
        for k, memlet in enumerate(self.outputs):
            if memlet is not None:
                self._output(memlet, self.scope.buffers.found[names[found.outputs[f"output{k}"]]])
        return tuple(self.found)

    def _input(self, k: int, memlet: Any) -> tuple[np.dtype[Any], tuple[int, ...], Any]:
        """The dtype, the shape and, if it is known, the value of an input; else it is copied."""
        constants = self.scope.sdfg.constants
        found = list[Statement]()
        buffer = copied(memlet, self.scope, found, rank=self._rank(memlet))
        shape = constant(buffer.shape, self.where)
        if memlet.data in constants and (k in self.operator.known or buffer.dtype.kind in "iub"):
            value = np.asarray(constants[memlet.data], buffer.dtype)
            if value.size == np.prod(shape, dtype=int):
                return buffer.dtype, shape, value.reshape(shape)
        self.found += found
        self.buffers[f"input{k}"] = buffer
        return buffer.dtype, shape, None

    def _output(self, memlet: Any, source: Buffer) -> None:
        target = self.scope.buffer(memlet.data)
        if target.dtype != source.dtype:
            what = f"the node `{self.node.label}` computes numbers of {source.dtype}, and `{memlet.data}` is of"
            raise UnsupportedGraph(f"{what} {target.dtype}", self.where, "Give the array the type that ONNX gives it.")
        copied(memlet, self.scope, self.found, source, self._rank(memlet) if source.shape else 0)

    def _rank(self, memlet: Any) -> int:
        """The number of axes that a memlet's array has for the node; a single number has none.

        Raises:
            UnsupportedGraph: the memlet leaves out an axis, which DaCe's nodes see and ours would not.
        """
        part, layout = part_of(memlet.subset, self.scope), self.scope.layout(memlet.data)
        if any(s == Lin(1) and e != Lin(1) for s, e in zip(part.sizes, layout.shape, strict=True)):
            what = f"the memlet `{memlet}` of the node `{self.node.label}` is a part that has fewer axes than its array"
            raise UnsupportedGraph(what, self.where, WHOLE)
        is_number = isinstance(self.scope.sdfg.arrays[memlet.data], dace.data.Scalar)
        return 0 if is_number else len(part.sizes)

    def _inlined(self, primal: Any, given: dict[str, Buffer]) -> dict[str, str]:
        """Adds the statements of a program; its buffers by the names that they have now."""
        known, b = self.scope.buffers, Builder({})
        b.names, b.buffers, b.checks = Names([*known.names.snapshot(), *known.found]), dict(known.found), known.checks
        b.blocks, b.where = [[]], self.where
        values = {name: view_of(buffer) for name, buffer in given.items()}
        names = inline(b, Inlining(primal.program, primal.captured, ()), values)
        new = {name: one for name, one in b.buffers.items() if name not in known.found}
        if primal.program.checks and STATUS not in known.found:
            known.make(STATUS, (), np.int64)
        known.found |= {name: one for name, one in new.items() if name != emitter.STATUS}
        known.constants |= b.captured
        self.found += renamed(tuple(b.blocks[0]), {emitter.STATUS: STATUS})
        return names


def _memlets(node: Any, state: Any, is_input: bool) -> list[Any]:
    """What is at the connectors in ONNX's order, None where nothing is; variadic ones are numbered from 0 on."""
    edges = [edge for edge in (state.in_edges if is_input else state.out_edges)(node) if not edge.data.is_empty()]
    found = {edge.dst_conn if is_input else edge.src_conn: edge.data for edge in edges}
    ordered: list[Any] = []
    for parameter in node.schema.inputs if is_input else node.schema.outputs:
        if "Variadic" not in str(parameter.param_type):
            ordered.append(found.pop(parameter.name, None))
            continue
        count = sum(bool(re.fullmatch(rf"{re.escape(parameter.name)}__\d+", name or "")) for name in found)
        ordered += [found.pop(f"{parameter.name}__{k}", None) for k in range(count)]
    if found:
        what = f"the node `{node.label}` of type {type(node).__name__} in the state `{state.label}`"
        what += f" has no input or output `{next(iter(found))}`"
        raise UnsupportedGraph(what, located(node), "Name connectors as ONNX names its inputs and outputs.")
    while ordered and ordered[-1] is None:
        ordered.pop()
    return ordered


def _attributes(node: Any) -> dict[str, Any]:
    """The attributes that are neither left out nor what they are when left out."""
    found = {}
    for name, attribute in node.schema.attributes.items():
        value, default = getattr(node, name, None), attribute.default_value
        is_left_out = value is None or (isinstance(value, (list, tuple)) and not value)
        if not is_left_out and (isinstance(value, np.ndarray) or value != default):
            found[name] = value
    return found


def _is_integer(memlet: Any, state: Any) -> bool:
    return np.dtype(state.sdfg.arrays[memlet.data].dtype.type).kind in "iu"
