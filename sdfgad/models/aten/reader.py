"""Reads graphs of `torch.export`: each node becomes a statement of a NumPy program."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from sdfgad.errors import UnsupportedGraph
from sdfgad.models.aten.table import OPERATORS, REFUSED, STORAGE
from sdfgad.models.aten.tensors import array_of
from sdfgad.models.program import HEAD, ModelProgram, Writer, literal

# Python's own functions, which act on sizes.
ON_SIZES = {
    operator.add: "{0} + {1}",
    operator.sub: "{0} - {1}",
    operator.mul: "{0} * {1}",
    operator.floordiv: "{0} // {1}",
    operator.getitem: "{0}[{1}]",
}
# Operators that are random while training, and where their arguments say so.
RANDOM = {"lstm": (5, 6), "gru": (5, 6), "scaled_dot_product_attention": (4, 4)}
TEXTS = HEAD + "from sdfgad.models.aten import functions as aten\n"


def read(exported: ExportedProgram, name: str, weights: Mapping[str, torch.Tensor]) -> ModelProgram:
    """The NumPy program of an exported module.

    Args:
        name: that of the module.
        weights: its parameters and buffers by their first name.

    Raises:
        UnsupportedGraph: it has something that is not understood; the message names the node.
    """
    writer = Writer(name, name, TEXTS)
    _refuse_parts(exported, writer)
    with warnings.catch_warnings():
        # PyTorch's own, of one of its parts to another.
        warnings.simplefilter("ignore")
        program = exported.run_decompositions(_decompositions())
    return _Reader(program, writer, weights).program()


def _decompositions() -> Any:
    """PyTorch's ways to write operators by others, but for those that are in the table."""
    table = torch.export.default_decompositions()
    for overload in list(table.keys()):
        if str(overload).removeprefix("aten.") in OPERATORS:
            del table[overload]
    return table


def _refuse_parts(exported: ExportedProgram, writer: Writer) -> None:
    """Refuse what runs a part of the graph in a way of its own, which decompositions would drop without a word."""
    for module in exported.graph_module.modules():
        for k, node in enumerate(module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ()):
            if isinstance(node.target, torch._ops.HigherOrderOperator) or "set_grad_enabled" in str(node.target):
                name = "wrap_with_set_grad_enabled" if "grad_enabled" in str(node.target) else str(node.target)
                why = REFUSED.get(name, "a part of the graph runs in a way of its own")
                todo = "Use x.detach() for torch.no_grad()." if "grad" in name else "Export a module without it."
                raise UnsupportedGraph(f"{name} is refused: {why}", writer.where(k, _title(node)), todo)


class _Reader:
    def __init__(self, exported: ExportedProgram, writer: Writer, weights: Mapping[str, torch.Tensor]) -> None:
        self.exported, self.writer, self.weights = exported, writer, weights
        self.text: dict[str, str] = {}
        self.number = 0
        self.state = {**exported.state_dict, **exported.constants}
        self.specs = {spec.arg.name: spec for spec in exported.graph_signature.input_specs}

    def program(self) -> ModelProgram:
        exported = self.exported
        specs = [one for one in exported.graph_signature.output_specs if one.kind is OutputKind.USER_OUTPUT]
        _drop_updates(exported)
        for number, node in enumerate(exported.graph.nodes):
            self.number = number
            if node.op == "placeholder":
                self._placeholder(node)
            elif node.op == "call_function":
                self._read(node)
        values = [literal(one.arg.value) if not hasattr(one.arg, "name") else self.text[one.arg.name] for one in specs]
        names = ["return"] if len(values) == 1 else [f"return[{k}]" for k in range(len(values))]
        return self.writer.program(dict(zip(names, values, strict=True)))

    # --- inputs and weights

    def _placeholder(self, node: Any) -> None:
        spec = self.specs[node.name]
        if not isinstance(node.meta.get("val"), torch.Tensor):
            self.text[node.name] = literal(node.meta.get("val"))
        elif spec.kind is InputKind.USER_INPUT:
            self.text[node.name] = self._parameter(node, node.name, None)
        elif node.users:
            self._weight(node, spec.target)

    def _weight(self, node: Any, target: str) -> None:
        """A parameter, a buffer or a constant; several names of one tensor are one argument."""
        tensor = self.state[target]
        given = self.weights.get(target, tensor)
        name = next((first for first, one in self.weights.items() if one is given), target)
        known = self.writer.names.get(name)
        self.text[node.name] = known or self._parameter(node, name, tensor)

    def _parameter(self, node: Any, name: str, default: Any) -> str:
        value = node.meta["val"]
        shape = [n if isinstance(n, int) else None for n in value.shape]
        dtype = array_of(torch.empty(0, dtype=value.dtype), name).dtype
        return self.writer.parameter(name, shape, dtype, None if default is None else array_of(default, name))

    # --- nodes

    def _read(self, node: Any) -> None:
        if "val" not in node.meta and not node.users:
            return
        call = self._call(node)
        self.text[node.name] = self.writer.bind(node.name)
        self.writer.assign([self.text[node.name]], call, _title(node))

    def _call(self, node: Any) -> str:
        if node.target in ON_SIZES:
            return ON_SIZES[node.target].format(*map(self._value, node.args))
        name = str(node.target).removeprefix("aten.")
        base = name.partition(".")[0]
        if base in REFUSED:
            self._refuse(
                node, f"the operator {name} is refused: {REFUSED[base]}", "Call module.eval(), or leave it out."
            )
        if name not in OPERATORS:
            todo = "docs/languages.md has those that are understood."
            self._refuse(node, f"the operator {name} is not understood", todo)
        self._refuse_random(node, base)
        self.writer.operators.add(name)
        kept = {key: self._value(one) for key, one in node.kwargs.items() if key not in STORAGE and one is not None}
        args, call = [*map(self._value, node.args)], OPERATORS[name]
        if "{0}" not in call:
            return f"{call}({', '.join([*args, *(f'{key}={text}' for key, text in kept.items())])})"
        if kept:
            self._refuse(node, f"the operator {name} with {', '.join(kept)} is not understood", "Leave them out.")
        return call.format(*(f"({one})" if one.startswith("-") else one for one in args))

    def _refuse_random(self, node: Any, base: str) -> None:
        first, last = RANDOM.get(base, (0, 0))
        if last and len(node.args) > last and all(node.args[k] for k in range(first, last + 1)):
            self._refuse(node, f"{base} draws random numbers", "Call module.eval(), or set its dropout to 0.")
        if base == "embedding" and len(node.args) > 3 and node.args[3]:
            self._refuse(node, "scale_grad_by_freq=True is not understood", "Leave it out.")

    def _value(self, value: Any) -> str:
        """An argument as text."""
        if isinstance(value, torch.fx.Node):
            return self.text[value.name]
        if isinstance(value, (list, tuple)):
            inner = [self._value(one) for one in value]
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        if isinstance(value, torch.dtype):
            return f"np.{array_of(torch.empty(0, dtype=value), 'value').dtype.type.__name__}"
        return literal(value)

    def _refuse(self, node: Any, what: str, todo: str) -> NoReturn:
        raise UnsupportedGraph(what, self.writer.where(self.number, _title(node)), todo)


def _drop_updates(exported: ExportedProgram) -> None:
    """Leave out what is worked out only to update buffers and inputs, which stay as they are."""
    kinds = [one.kind for one in exported.graph_signature.output_specs]
    (last,) = exported.graph.find_nodes(op="output")
    returned = zip(kinds, last.args[0], strict=True)
    last.args = (tuple(one for kind, one in returned if kind is OutputKind.USER_OUTPUT),)
    exported.graph.eliminate_dead_code()


def _title(node: Any) -> str:
    """A node in comments and errors: its name, and the module that it comes from."""
    stack: Sequence[Any] = list((node.meta.get("nn_module_stack") or {}).values())
    path = next((one[0] for one in reversed(stack) if isinstance(one, tuple) and one[0]), "")
    return f"{node.name} in {path}" if path else str(node.name)
