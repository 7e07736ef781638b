"""One node of ONNX as a model of its own, whose program is parsed for arrays of given shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from sdfgad.errors import UnsupportedGraph
from sdfgad.models.onnx.reader import OLDEST, read
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.parse.parse import parse
from sdfgad.parse.primal import Primal
from sdfgad.parse.returned import Output


@dataclass(frozen=True)
class Value:
    """An input or an output of a node.

    Attributes:
        shape: its extents; None for an output.
        constant: its value, if that is known.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None = None
    constant: np.ndarray[Any, Any] | None = None


@dataclass(frozen=True)
class NodeProgram:
    """The program of a node.

    Attributes:
        inputs: the buffer of each input that it reads.
        outputs: the buffer of each output.
    """

    primal: Primal
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]


def is_understood(kind: str, version: int) -> bool:
    """Whether the version of an operator in which its node is written means what it means from opset 13 on."""
    return bool(onnx.defs.get_schema(kind, max(version, OLDEST)).since_version == version)


def program_of(
    title: str,
    operator: tuple[str, int],
    attributes: Mapping[str, Any],
    inputs: Sequence[Value | None],
    outputs: Sequence[Value | None],
) -> NodeProgram:
    """The program of one node.

    Args:
        title: stands for the file in errors.
        operator: its name, and the version of it.
        attributes: those that are not left out.
        inputs: in ONNX's order, with None for those that are left out.
        outputs: likewise.

    Raises:
        UnsupportedGraph: the node has an attribute, an input or a type that is not understood.
        UnsupportedProgram, ShapeMismatch: it does not fit the shapes.
    """
    kind, version = operator
    types = {name: one.type for name, one in onnx.defs.get_schema(kind, version).attributes.items()}
    node = helper.make_node(kind, _names(inputs), _names(outputs))
    node.attribute.extend(_attribute(name, value, types[name]) for name, value in attributes.items())
    given = [one for one in inputs if one is not None]
    graph = helper.make_graph(
        [node],
        kind,
        [_info(one) for one in given if one.constant is None],
        [_info(one) for one in outputs if one is not None],
        [numpy_helper.from_array(one.constant, one.name) for one in given if one.constant is not None],
    )
    opset = helper.make_opsetid("", max(version, OLDEST))
    model = helper.make_model(graph, opset_imports=[opset])
    return _parsed(model.SerializeToString(deterministic=True), title)


def _names(values: Sequence[Value | None]) -> list[str]:
    return ["" if one is None else one.name for one in values]


def _attribute(name: str, value: Any, kind: Any) -> onnx.AttributeProto:
    value = numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
    return helper.make_attribute(name, value, attr_type=int(kind.value))


def _info(value: Value) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(value.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


@lru_cache(maxsize=256)
def _parsed(text: bytes, title: str) -> NodeProgram:
    """A model's program; a graph is read several times, and parsing takes the time."""
    model = onnx.load_from_string(text)
    try:
        program = read(model, title)
    except (onnx.shape_inference.InferenceError, TypeError, ValueError, IndexError) as error:
        raise UnsupportedGraph(str(error), todo="Connect arrays of the types and shapes that ONNX asks for.") from error
    shapes = {one.name: _argument(one) for one in model.graph.input}
    shapes |= {one.name: ArrayArgument(tuple(one.dims), _dtype(one.data_type)) for one in model.graph.initializer}
    primal = parse(program.function, {one.identifier: shapes[one.name] for one in program.parameters})
    leaves = primal.returned.leaves
    if not all(isinstance(leaf, Output) for leaf in leaves) or primal.draws:
        raise UnsupportedGraph(f"{model.graph.node[0].op_type} returns no arrays", todo="Use its result as a constant.")
    names = {one.identifier: one.name for one in program.parameters}
    inputs = {names[argument]: buffer for argument, buffer in primal.inputs.items()}
    outputs = [primal.program.outputs[leaf.name] for leaf in leaves]
    return NodeProgram(primal, inputs, dict(zip(program.outputs, outputs, strict=True)))


def _argument(info: onnx.ValueInfoProto) -> ArrayArgument:
    kind = info.type.tensor_type
    return ArrayArgument(tuple(dim.dim_value for dim in kind.shape.dim), _dtype(kind.elem_type))


def _dtype(kind: int) -> np.dtype[Any]:
    return np.dtype(helper.tensor_dtype_to_np_dtype(kind))
