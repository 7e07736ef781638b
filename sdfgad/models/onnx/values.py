"""What is known of the values of an ONNX graph while it is read: types, shapes, constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from sdfgad.models.program import array_literal, literal

# Constants of more elements are no part of the text, but arguments.
MOST_WRITTEN = 64


@dataclass
class Values:
    """Types, shapes and constants by name.

    Attributes:
        types: element types, as far as ONNX's inference finds them.
        shapes: extents, None for those that are any.
        known: constants, small enough to be written in the text.
        weights: floating constants, and others that are too large to be written.
    """

    types: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, tuple[int | None, ...]] = field(default_factory=dict)
    known: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    weights: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)

    @staticmethod
    def of(graph: onnx.GraphProto) -> Values:
        found = Values()
        for one in [*graph.input, *graph.value_info, *graph.output]:
            kind = one.type.tensor_type
            found.types[one.name] = kind.elem_type
            if kind.HasField("shape"):
                found.shapes[one.name] = tuple(map(_extent, kind.shape.dim))
        for one in graph.initializer:
            found.add_weight(one.name, numpy_helper.to_array(one), one.data_type)
        return found

    def add_weight(self, name: str, value: np.ndarray[Any, Any], kind: int) -> None:
        """An initialiser: floating ones are arguments, small ones of integers and booleans are constants."""
        self.types[name], self.shapes[name] = kind, value.shape
        is_written = value.dtype.kind in "iub" and value.size <= MOST_WRITTEN
        (self.known if is_written else self.weights)[name] = value

    def add_constant(self, name: str, value: np.ndarray[Any, Any], kind: int) -> None:
        """A constant of the graph, which is written in the text if it is small."""
        self.types[name], self.shapes[name] = kind, value.shape
        (self.known if value.size <= MOST_WRITTEN else self.weights)[name] = value

    def constant(self, name: str) -> np.ndarray[Any, Any] | None:
        """The value of a constant, or of a weight that has one element; None if it is not known."""
        found = self.known.get(name)
        if found is None and name in self.weights and self.weights[name].size <= MOST_WRITTEN:
            found = self.weights[name]
        return found

    def text(self, name: str, is_number: bool) -> str | None:
        """A constant as text; `is_number`: as numbers in tuples rather than as an array."""
        value = self.constant(name) if is_number else self.known.get(name)
        if value is None:
            return None
        return literal(value) if is_number or value.ndim == 0 else array_literal(value)


def _extent(dim: Any) -> int | None:
    return int(dim.dim_value) if dim.HasField("dim_value") else None
