"""Reads ONNX graphs: each node becomes a statement of a NumPy program, and names the node in its comment."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import onnx
from onnx import inliner

from sdfgad.errors import Location, UnsupportedGraph
from sdfgad.models import operators as op
from sdfgad.models.onnx.attributes import DTYPES, attributes_of, type_name
from sdfgad.models.onnx.table import OPERATORS, REFUSED, Operator
from sdfgad.models.onnx.values import MOST_WRITTEN, Values
from sdfgad.models.program import ModelProgram, Writer, array_literal, evaluated, literal

OLDEST = 13


def read(model: onnx.ModelProto, file: str) -> ModelProgram:
    """The NumPy program of a model.

    Raises:
        UnsupportedGraph: it has something that is not understood; the message names the node.
    """
    versions = {one.domain: one.version for one in model.opset_import}
    version = versions.get("", versions.get("ai.onnx", 0))
    if version < OLDEST:
        what = f"the model is of opset {version}, and operators are understood as from opset {OLDEST} on"
        todo = "Convert it: onnx.version_converter.convert_version(model, 17)."
        raise UnsupportedGraph(what, Location(file, 1, model.graph.name), todo)
    if model.functions:
        model = inliner.inline_local_functions(model)
    return _Reader(onnx.shape_inference.infer_shapes(model, data_prop=True).graph, file).program()


class _Reader:
    def __init__(self, graph: onnx.GraphProto, file: str) -> None:
        self.graph = graph
        self.values = Values.of(graph)
        self.writer = Writer(graph.name or "model", file)
        self.text: dict[str, str] = {}
        self.number, self.node = 0, onnx.NodeProto()
        self.used: set[str] = set()

    def program(self) -> ModelProgram:
        for one in self.graph.input:
            if one.name not in self.values.known and one.name not in self.values.weights:
                self._parameter(one.name, None)
        needed = _needed(self.graph)
        self.used = {name for _, node in needed for name in node.input} | {one.name for one in self.graph.output}
        for number, node in needed:
            self.number, self.node = number, node
            self._read()
        return self.writer.program({one.name: self._expression(one.name, False) for one in self.graph.output})

    # --- values

    def _expression(self, name: str, is_number: bool) -> str:
        """A value in the text: its identifier, or a constant."""
        if not name:
            return "None"
        found = self.values.text(name, is_number) or self.text.get(name)
        return self._parameter(name, self.values.weights[name]) if found is None else found

    def _parameter(self, name: str, default: Any) -> str:
        kind = self.values.types[name]
        if kind not in DTYPES:
            self._refuse(f"`{name}` is of type {type_name(kind)}", f"Types that are understood: {_listed(DTYPES)}.")
        self.text[name] = self.writer.parameter(name, self.values.shapes.get(name), DTYPES[kind], default)
        return self.text[name]

    # --- nodes

    def _read(self) -> None:
        node = self.node
        operator = self._operator()
        attributes = attributes_of(node)
        if node.op_type == "Constant":
            return self._constant(attributes)
        shape = self.values.shapes.get(node.input[0]) if node.op_type == "Shape" else None
        if shape is not None and None not in shape:
            extents = np.array(shape[attributes.get("start", 0) : attributes.get("end")], dtype=np.int64)
            return self.values.add_constant(node.output[0], extents, onnx.TensorProto.INT64)
        inputs = self._inputs(operator)
        call = self._call(operator, inputs, self._keywords(operator, attributes))
        self._state(operator, call)

    def _operator(self) -> Operator:
        node = self.node
        if node.domain not in ("", "ai.onnx"):
            self._refuse(f"the operator {node.domain}.{node.op_type} is none of ONNX's own", "Export without it.")
        if node.op_type in REFUSED:
            self._refuse(f"the operator {node.op_type} is refused: {REFUSED[node.op_type]}", "Export without it.")
        if node.op_type not in OPERATORS:
            todo = "docs/languages.md has those that are understood."
            self._refuse(f"the operator {node.op_type} is not understood", todo)
        self.writer.operators.add(node.op_type)
        return OPERATORS[node.op_type]

    def _constant(self, attributes: Mapping[str, Any]) -> None:
        ((kind, value),) = attributes.items()
        if kind.startswith("sparse") or kind.startswith("value_string"):
            self._refuse(f"a constant by `{kind}` is not understood", "Make it a dense tensor.")
        dtype = {"value_float": np.float32, "value_floats": np.float32}.get(kind)
        found = np.asarray(value, dtype)
        self.values.add_constant(self.node.output[0], found, onnx.helper.np_dtype_to_tensor_dtype(found.dtype))

    def _inputs(self, operator: Operator) -> list[str]:
        names = list(self.node.input)
        for k, allowed in operator.inputs.items():
            value = None if k >= len(names) or not names[k] else self.values.constant(names[k])
            is_left_out = k >= len(names) or not names[k]
            if not (is_left_out and None in allowed) and not (value is not None and value.tolist() in allowed):
                self._refuse(f"{self.node.op_type} with its input {k} is not understood", "Export without it.")
        return [self._expression(name, k in operator.known) for k, name in enumerate(names)]

    def _keywords(self, operator: Operator, attributes: Mapping[str, Any]) -> dict[str, str]:
        """The attributes as keywords of the function."""
        takes = _keywords_of(operator.call)
        found = {}
        for name, value in attributes.items():
            allowed = operator.only.get(name)
            if allowed is not None and value not in allowed:
                self._refuse(f"{self.node.op_type} with {name}={value!r} is not understood", f"It may be {allowed}.")
            if name in ("to", "dtype"):
                found["dtype"] = self._dtype(value)
            elif name in takes:
                found[name] = _attribute(value)
            elif allowed is None and name not in operator.ignored:
                self._refuse(
                    f"{self.node.op_type} with the attribute {name}={value!r} is not understood", "Leave it out."
                )
        if operator.outputs == 0 and "num_outputs" not in found:
            found["num_outputs"] = str(len(self.node.output))
        return found

    def _dtype(self, kind: int) -> str:
        if kind not in DTYPES:
            self._refuse(f"the type {type_name(kind)} is not understood", f"Types that are: {_listed(DTYPES)}.")
        return f"np.{DTYPES[kind]}" if DTYPES[kind] != "bool" else "np.bool_"

    def _call(self, operator: Operator, inputs: Sequence[str], keywords: Mapping[str, str]) -> str:
        if self.node.op_type == "Div" and self._is_integer(self.node.input[0]):
            return f"op.integer_div({', '.join(inputs)})"
        if self.node.op_type == "Range" and self._is_integer(self.node.input[0]):
            return f"op.integer_range({', '.join(inputs)})"
        if "{0}" in operator.call:
            if operator.call.count("{") != len(inputs):
                self._refuse(f"{self.node.op_type} with {len(inputs)} inputs is not understood", "Export it anew.")
            return operator.call.format(*map(_operand, inputs))
        while inputs and inputs[-1] == "None":
            inputs = inputs[:-1]
        return f"{operator.call}({', '.join([*inputs, *(f'{name}={text}' for name, text in keywords.items())])})"

    def _is_integer(self, name: str) -> bool:
        return DTYPES.get(self.values.types.get(name, 0), "float32").startswith(("int", "uint"))

    def _state(self, operator: Operator, call: str) -> None:
        """Write the statement, or work out the value if it is a constant."""
        names = [name if name in self.used else "" for name in self.node.output]
        if operator.outputs and any(names[operator.outputs :]):
            self._refuse(f"output {operator.outputs} of {self.node.op_type} is not understood", "Export without it.")
        if self._is_known(call, operator, names):
            return
        targets = [self._bind(name) if name else "_" for name in names]
        if operator.outputs:
            targets = (targets + ["_"] * operator.outputs)[: operator.outputs]
        self.writer.assign(targets, call, _title(self.node))

    def _bind(self, name: str) -> str:
        self.text[name] = self.writer.bind(name)
        return self.text[name]

    def _is_known(self, call: str, operator: Operator, names: Sequence[str]) -> bool:
        """Whether a node has constants only; their result is then one, too."""
        if not all(not name or name in self.values.known for name in self.node.input) or not self.node.input:
            return False
        found = evaluated(call, {"np": np, "op": op})
        results = [np.asarray(one) for one in (found if operator.outputs != 1 else [found])]
        if any(one.size > MOST_WRITTEN for one in results):
            return False
        for name, value in zip(names, results, strict=False):
            value = self._typed(name, value)
            self.values.add_constant(name, value, onnx.helper.np_dtype_to_tensor_dtype(value.dtype))
        return True

    def _typed(self, name: str, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """A constant of the type that ONNX gives it, as Python's numbers in the text have none."""
        kind = DTYPES.get(self.values.types.get(name, 0))
        return value if kind is None else value.astype(kind)

    def _refuse(self, what: str, todo: str) -> NoReturn:
        raise UnsupportedGraph(what, self.writer.where(self.number, _title(self.node)), todo)


def _needed(graph: onnx.GraphProto) -> list[tuple[int, onnx.NodeProto]]:
    """The nodes on which outputs depend, in order, with their numbers."""
    wanted, found = {one.name for one in graph.output}, []
    for number, node in reversed(list(enumerate(graph.node))):
        if not wanted.isdisjoint(node.output):
            found.append((number, node))
            wanted |= set(node.input)
    return found[::-1]


def _title(node: onnx.NodeProto) -> str:
    """A node in comments and errors: its operator, and its name or else its first output."""
    return f"{node.op_type} {node.name or (node.output[0] if node.output else '')}".strip()


def _keywords_of(call: str) -> set[str]:
    """The names by which the function that is called takes attributes; some were inputs before or became ones later."""
    if not call.startswith("op.") or "(" in call:
        return set()
    parameters = inspect.signature(getattr(op, call.removeprefix("op."))).parameters.values()
    return {one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)}


def _attribute(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{array_literal(np.reshape(value, -1))}[0]" if value.size == 1 else array_literal(value)
    return literal(value)


def _operand(text: str) -> str:
    """An input within an expression; a minus needs parentheses."""
    return f"({text})" if text.startswith("-") else text


def _listed(kinds: Mapping[int, str]) -> str:
    return ", ".join(type_name(kind) for kind in kinds)
