"""The program of a model: NumPy text with one statement a node, and what its names are in the model."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.errors import Location
from sdfgad.parse.source import add_text

# What is put behind the name of a model's file for that of its program.
AS_NUMPY = " as NumPy"
HEAD = "import numpy as np\n\nfrom sdfgad.models import operators as op\n"


@dataclass(frozen=True)
class Parameter:
    """An input or a weight.

    Attributes:
        name: in the model.
        identifier: in the program.
        shape: its extents, None for those that are any; None if nothing is known.
        kind: that of its dtype: "f", "i", "u" or "b".
        default: its value, for weights.
    """

    name: str
    identifier: str
    shape: tuple[int | None, ...] | None
    kind: str
    default: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class ModelProgram:
    """A model as a NumPy function.

    Attributes:
        name: that of the function.
        text: the module that defines it.
        file: what stands for its file in errors.
        parameters: first inputs, then weights.
        outputs: their names in the model, in the order in which they are returned.
        operators: those of the model that occur in it.
    """

    name: str
    text: str
    file: str
    parameters: tuple[Parameter, ...]
    outputs: tuple[str, ...]
    operators: frozenset[str]

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the function, which is made again.
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The NumPy function, whose defaults are the weights."""
        names: dict[str, Any] = {"__name__": f"model_{self.name}"}
        _require_written(ast.parse(self.text))
        exec(compile(self.text, self.file, "exec", dont_inherit=True), names)
        function: Callable[..., Any] = names[self.name]
        defaults = [one.default for one in self.parameters if one.default is not None]
        function.__defaults__ = tuple(defaults)
        add_text(function, self.text)
        return function


class Writer:
    """Writes a program, statement by statement.

    Attributes:
        names: the identifier of each value of the model.
        operators: those of the nodes that have been written.
    """

    def __init__(self, name: str, model: str, head: str = HEAD) -> None:
        self._head, self.file = head, model + AS_NUMPY
        self._used = {*keyword.kwlist, *dir(builtins), "np", "op", "aten"}
        self.name = self._unique(name)
        self.names: dict[str, str] = {}
        self._parameters: list[Parameter] = []
        self._lines: list[str] = []
        self.operators: set[str] = set()

    def parameter(self, name: str, shape: Sequence[int | None] | None, dtype: Any, default: Any = None) -> str:
        """A new parameter; its identifier."""
        identifier = self.bind(name)
        extents = None if shape is None else tuple(shape)
        self._parameters.append(Parameter(name, identifier, extents, np.dtype(dtype).kind, default))
        return identifier

    def bind(self, name: str) -> str:
        """A new identifier for a value of the model."""
        self.names[name] = self._unique(name)
        return self.names[name]

    def assign(self, targets: Sequence[str], value: str, comment: str) -> None:
        """A statement, and the node that it is."""
        # Names in a model may be of several lines.
        self._lines.append(f"    {', '.join(targets)} = {value}  # {' '.join(comment.split())}")

    def where(self, number: int, title: str) -> Location:
        """A node of the model, for errors: its number in the graph, and what it is."""
        return Location(self.file.removesuffix(AS_NUMPY), number + 1, title)

    def program(self, outputs: Mapping[str, str]) -> ModelProgram:
        """The program, with the outputs' names and values."""
        ordered = sorted(self._parameters, key=lambda one: one.default is not None)
        parameters = ", ".join(one.identifier for one in ordered)
        first = f"def {self.name}({parameters}):"
        if len(first) > 100:
            listed = "".join(f"    {one.identifier},\n" for one in ordered)
            first = f"def {self.name}(\n{listed}):"
        values = list(outputs.values())
        returned = values[0] if len(values) == 1 else f"({', '.join(values)})"
        text = self._head + "\n\n" + "\n".join([first, *self._lines, f"    return {returned}"]) + "\n"
        return ModelProgram(self.name, text, self.file, tuple(ordered), tuple(outputs), frozenset(self.operators))

    def _unique(self, name: str) -> str:
        stem = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "value"
        stem = f"v_{stem}" if stem[0].isdigit() else stem
        found, k = stem, 1
        while found in self._used:
            k += 1
            found = f"{stem}_{k}"
        self._used.add(found)
        return found


def evaluated(text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression of a program, of the modules of operators alone."""
    tree = ast.parse(text, mode="eval")
    _require_written(tree)
    return eval(compile(tree, "<model>", "eval"), {"__builtins__": {}, **names})


def _require_written(tree: ast.AST) -> None:
    """What has another form than what is written here would be a model's text, which is never run.

    A program is one function of assignments, whose attributes are those of arrays, NumPy and the operators.
    """
    for node in ast.walk(tree):
        is_known = isinstance(node, (ast.Module, ast.Expression, ast.expr, ast.expr_context, ast.operator, ast.unaryop))
        is_known |= isinstance(node, (ast.FunctionDef, ast.arguments, ast.arg, ast.Assign, ast.Return, ast.keyword))
        is_known |= isinstance(node, (ast.boolop, ast.cmpop, ast.comprehension, ast.AugAssign, ast.alias))
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            is_known = ast.unparse(node).split()[1] in ("numpy", "sdfgad.models", "sdfgad.models.aten")
        name = str(getattr(node, "attr", getattr(node, "id", "")))
        is_known = is_known and not isinstance(node, ast.Lambda) and not name.startswith("__")
        assert is_known, ast.dump(node)


def literal(value: Any) -> str:
    """A number, a string, None, or nested tuples of them, as Python writes it."""
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.dtype != np.float32 else _shortest(value)
    if isinstance(value, np.generic):
        value = float(str(value)) if value.dtype.kind == "f" else value.item()
    if isinstance(value, (list, tuple)):
        inner = [literal(one) for one in value]
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    if isinstance(value, float) and not np.isfinite(value):
        return "np.nan" if np.isnan(value) else ("np.inf" if value > 0 else "-np.inf")
    return repr(value)


def _shortest(value: Any) -> Any:
    """Numbers in single precision as the shortest decimals that are rounded to them."""
    if value.ndim:
        return [_shortest(one) for one in value]
    return float(str(np.float32(value)))


def array_literal(value: np.ndarray[Any, Any]) -> str:
    """An array as an expression."""
    return f"np.array({literal(value)}, dtype=np.{value.dtype.name})"
