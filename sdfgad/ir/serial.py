"""Canonical serialisation of programs, for cache keys: equal in all processes, and only for equal programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sdfgad.ir.expr import Expr, Lin, postorder
from sdfgad.ir.program import Program

# Provenance: the user's names and lines, and the messages of checks. The compiled code does not depend on them.
ORIGIN_FIELDS = frozenset(("where", "source", "checks"))


def serialised(program: Program, *, with_origin: bool = False) -> str:
    """The JSON text of all that the compiled code depends on; `with_origin` adds the user's names, lines and checks."""
    writer = _Writer(frozenset() if with_origin else ORIGIN_FIELDS)
    tree = [bool(program.checks), writer.tree(program)]
    return json.dumps([writer.nodes, tree], separators=(",", ":"))


class _Writer:
    """Converts records to nested lists; each distinct expression is written once and then referred to by number.

    All fields of a record are written except `skipped`, so that a new field cannot be forgotten.
    """

    def __init__(self, skipped: frozenset[str]) -> None:
        self.skipped = skipped
        self.nodes: list[Any] = []
        self.numbers: dict[Expr, int] = {}
        self.forms: dict[Lin, Any] = {}

    def tree(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, int)):
            return value
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, tuple):
            return [self.tree(entry) for entry in value]
        if isinstance(value, Lin):
            return self._form(value)
        if isinstance(value, Expr):
            return self._expression(value)
        if isinstance(value, np.dtype):
            return value.str
        if isinstance(value, Mapping):
            return [[self.tree(key), self.tree(entry)] for key, entry in value.items()]
        if isinstance(value, type):
            return f"{value.__module__}.{value.__qualname__}"
        if is_dataclass(value):
            names = (field.name for field in fields(value) if field.name not in self.skipped)
            return [type(value).__name__, *(self.tree(getattr(value, name)) for name in names)]
        raise TypeError(f"{value!r} has no text")

    def _form(self, form: Lin) -> Any:
        if form not in self.forms:
            terms = [[self.tree(atom), int(coefficient)] for atom, coefficient in form.terms]
            self.forms[form] = [int(form.const), *terms]
        return self.forms[form]

    def _expression(self, root: Expr) -> Any:
        if root not in self.numbers:
            for node in postorder(root):
                if node not in self.numbers:
                    self.nodes.append(self._node(node))
                    self.numbers[node] = len(self.nodes) - 1
        return {"node": self.numbers[root]}

    def _node(self, node: Expr) -> list[Any]:
        """The row of a node whose children have been written."""
        values = (getattr(node, name) for name in type(node).__slots__)
        # By repr, which distinguishes -0.0 from 0.0, and an integer from a float.
        own = [repr(value) if isinstance(value, (float, complex, bool)) else self.tree(value) for value in values]
        return [type(node).__name__, node.dtype.str, *own]
