"""Attributes and constants of ONNX as Python values, and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

# The element types that programs here have.
DTYPES: dict[int, str] = {
    onnx.TensorProto.FLOAT: "float32",
    onnx.TensorProto.DOUBLE: "float64",
    onnx.TensorProto.BOOL: "bool",
    onnx.TensorProto.UINT8: "uint8",
    onnx.TensorProto.UINT16: "uint16",
    onnx.TensorProto.UINT32: "uint32",
    onnx.TensorProto.UINT64: "uint64",
    onnx.TensorProto.INT8: "int8",
    onnx.TensorProto.INT16: "int16",
    onnx.TensorProto.INT32: "int32",
    onnx.TensorProto.INT64: "int64",
}


def type_name(kind: int) -> str:
    """The name of an element type in ONNX."""
    return str(onnx.TensorProto.DataType.Name(kind)).lower()


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    """The attributes of a node: numbers, strings, tuples of them, arrays, or what ONNX has (graphs)."""
    return {one.name: _plain(helper.get_attribute_value(one)) for one in node.attribute}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return float(str(np.float32(value)))
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, (str, int)):
        return value
    return tuple(map(_plain, value)) if hasattr(value, "__len__") else value
