"""Printer for tasklet code: an expression of the program as Python text, one local name for each shared subexpression.

Operators are Python's; every other elementary operation is a call of ``sdfgad_<name>``, which `include/tasklets.h`
defines for DaCe's own code generator; a conversion is a call of ``dace.<type>``. `parsing` reads the text back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, Op, Read, postorder
from sdfgad.ir.ops import OPERATIONS

PREFIXES = {"negative": "-", "logical_not": "not "}
FUNCTION = "sdfgad_{}"
RESULT = "_out"
# What so many operations in one another make is a name, too: Python takes no more than 200 parentheses.
DEEPEST = 50


class TaskletWriter:
    """Writes expressions as Python.

    Args:
        read: the text of a read, given the texts of its indices.
    """

    def __init__(self, read: Callable[[Read, list[str]], str]) -> None:
        self._read = read
        self._text: dict[Expr, str] = {}
        self._depth: dict[Expr, int] = {}
        self.lines: list[str] = []

    def value(self, root: Expr) -> str:
        """The text of an expression; subexpressions that are shared, or nested deeply, become names in `lines`."""
        uses = _uses(root)
        for node in postorder(root):
            if node in self._text:
                continue
            text = self._one(node)
            depth = 1 + max((self._depth[child] for child in node.children), default=0)
            if isinstance(node, Op) and (uses.get(node, 0) > 1 or depth > DEEPEST):
                depth = 0
                name = f"v{len(self.lines)}_"
                self.lines.append(f"{name} = {text}")
                text = name
            self._text[node], self._depth[node] = text, depth
        return self._text[root]

    def form(self, form: Lin, dtype: np.dtype[Any] | None = None) -> str:
        """The text of an integer form."""
        for atom, _ in form.terms:
            if isinstance(atom, Expr):
                self.value(atom)
        names = [(atom if isinstance(atom, str) else self._atom(atom, dtype), c) for atom, c in form.terms]
        parts = [name if c == 1 else f"{c}*{name}" for name, c in names]
        if form.const or not parts:
            parts.append(str(form.const))
        return " + ".join(parts).replace("+ -", "- ")

    def _atom(self, atom: Expr, dtype: np.dtype[Any] | None) -> str:
        """What is not linear in a form; DaCe's indices have no conversions."""
        return self._text[atom] if dtype in (None, atom.dtype) else conversion(self._text[atom], dtype or INT)

    def _one(self, node: Expr) -> str:
        if isinstance(node, Const):
            return literal(node.value, node.dtype)
        if isinstance(node, Int):
            return f"({self.form(node.value, INT)})"
        if isinstance(node, Read):
            return self._read(node, [self.form(lin) for lin in node.index])
        assert isinstance(node, Op)
        args = self._alike(node)
        if node.name == "cast":
            return _cast(args[0], node.args[0].dtype, node.dtype)
        text = _operation(node.name, args)
        # C++ computes with narrow integers and booleans as int; NumPy wraps around, and true + true is true.
        is_narrow = node.dtype.kind in "iu" and node.dtype.itemsize < 4
        is_sum = node.dtype.kind == "b" and node.name == "add"
        return conversion(text, node.dtype) if is_narrow or is_sum else text

    def _alike(self, node: Op) -> list[str]:
        """The operands of an operation; integers of several dtypes are converted, as C++ would do it otherwise."""
        kinds = [arg.dtype for arg in node.args]
        texts = [self._text[arg] for arg in node.args]
        is_operator = OPERATIONS[node.name].infix
        if not is_operator or len(set(kinds)) == 1 or any(dtype.kind not in "iu" for dtype in kinds):
            return texts
        common = np.result_type(*kinds)
        return [text if dtype == common else conversion(text, common) for text, dtype in zip(texts, kinds, strict=True)]


def conversion(text: str, dtype: np.dtype[Any]) -> str:
    return f"dace.{'bool_' if dtype.kind == 'b' else dtype.name}({text})"


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """The text of a number of a dtype; numbers of Python's own types, float64, int64 and bool, stand for themselves."""
    if dtype.kind == "c":
        part = np.dtype(np.float64)
        return f"dace.{dtype.name}({literal(value.real, part)}, {literal(value.imag, part)})"
    text = repr(value)
    if dtype.kind == "f" and not math.isfinite(value):
        # Python has no literals of them.
        text = (
            FUNCTION.format("nan") + "()" if math.isnan(value) else text.replace("inf", FUNCTION.format("inf") + "()")
        )
    text = f"({text})" if text.startswith("-") else text
    return text if dtype.name in ("float64", "int64", "bool") else conversion(text, dtype)


def _operation(name: str, args: list[str]) -> str:
    infix = OPERATIONS[name].infix
    if infix:
        return f"({args[0]} {infix} {args[1]})"
    if name in PREFIXES:
        return f"({PREFIXES[name]}{args[0]})"
    if name == "select":
        return f"({args[1]} if {args[0]} else {args[2]})"
    return f"{FUNCTION.format(name)}({', '.join(args)})"


def _cast(text: str, old: np.dtype[Any], new: np.dtype[Any]) -> str:
    """A conversion as NumPy does it: a complex number becomes real by its real part."""
    if new.kind == "b":
        return f"({text} != {literal(old.type(0).item(), old)})"
    if old.kind == "c" and new.kind != "c":
        return conversion(f"{FUNCTION.format('real')}({text})", new)
    return conversion(text, new)


def _uses(root: Expr) -> dict[Expr, int]:
    """How often each node is used; an operation in an index as if more than once: DaCe's indices have no functions."""
    uses: dict[Expr, int] = {}
    for node in postorder(root):
        for child in node.children:
            is_index = isinstance(node, Read) and isinstance(child, Op)
            uses[child] = uses.get(child, 0) + (2 if is_index else 1)
    return uses
