"""C++ code of scalar expressions and integer forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, Op, Read, postorder, reads
from sdfgad.ir.ops import OPERATIONS
from sdfgad.schedule.work import is_small_power, small_integer

TYPES = {
    "float64": "double",
    "float32": "float",
    "complex128": "sdfgad::complex<double>",
    "complex64": "sdfgad::complex<float>",
    "int64": "int64_t",
    "int32": "int32_t",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint64": "uint64_t",
    "uint32": "uint32_t",
    "uint16": "uint16_t",
    "uint8": "uint8_t",
    "bool": "bool",
}
# How a value is accumulated into what is there.
COMBINE: dict[str | None, str] = {
    None: "{1}",
    **{name: operation.cpp for name, operation in OPERATIONS.items() if operation.identity is not None},
}

# The functions that compute with integers as NumPy does, where an operator of C++ must not overflow.
WRAPPING = {"add": "plus", "subtract": "minus", "multiply": "times", "square": "squared", "negative": "negated"}


def cpp_type(dtype: np.dtype[Any]) -> str:
    return TYPES[np.dtype(dtype).name]


def converted(text: str, dtype: np.dtype[Any]) -> str:
    """An explicit conversion in C++, written so that it is one operand in any context.

    ``double(x[i])`` is also the type of a function or an array, and ``(double)(z).re`` converts the part ``z.re``.
    """
    return f"static_cast<{cpp_type(dtype)}>({text})"


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """A C++ literal with exactly a number's value and type."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        # The lowest int64 has no literal of its own.
        text = f"(-{2**63 - 1}LL - 1)" if value == -(2**63) else f"{value}LL"
        return f"{cpp_type(dtype)}({text})"
    if dtype.kind == "c":
        part = np.empty(0, dtype).real.dtype
        return f"{cpp_type(dtype)}({literal(value.real, part)}, {literal(value.imag, part)})"
    if math.isnan(value) or math.isinf(value):
        text = "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
        return f"{cpp_type(dtype)}({text})"
    text = repr(float(value))
    if dtype == np.float32:
        digits = f"{float(value):.9g}"
        text = f"{digits}f" if "." in digits or "e" in digits else f"{digits}.0f"
    return text if value >= 0 and not text.startswith("-") else f"({text})"


class Writer:
    """Writes expressions as C++ statements and a final value.

    Args:
        read: the text of a read.
        may_read: whether a read may be executed speculatively, where its value may not be needed; then cheap sides of a
            choice are computed on both sides (if-conversion), which allows vectorisation.
        known: the constants that have the values of some expressions already.
    """

    def __init__(
        self,
        read: Callable[[Read], str],
        may_read: Callable[[Read], bool] = lambda _: False,
        known: Mapping[Expr, str] = MappingProxyType({}),
    ) -> None:
        self._read, self._may_read = read, may_read
        self._text: dict[Expr, str] = dict(known)
        self._eager: dict[Expr, bool] = dict.fromkeys(known, True)
        self.lines: list[str] = []

    def value(self, root: Expr) -> str:
        """The C++ expression for `root`; subexpressions that occur more than once become constants in `lines`."""
        nodes = self.nodes(root)
        uses = self._uses(nodes)
        for node in nodes:
            if node in self._text:
                continue
            # A call that depends on a condition would not be vectorised, nor would a choice that computes one side.
            is_early = _comes_in_vectors(node) and all(map(self._may_read, reads(node)))
            self._eager[node] = is_early or self._is_eager(node)
            text = self.one(node)
            if isinstance(node, Op) and (is_early or uses.get(node, 0) > 1):
                name = f"v{len(self.lines)}_"
                self.lines.append(f"const {cpp_type(node.dtype)} {name} = {text};")
                text = name
            self._text[node] = text
        return self._text[root]

    def nodes(self, root: Expr) -> list[Expr]:
        """The subexpressions that are written here, operands first."""
        return list(postorder(root))

    def operands(self, node: Expr) -> tuple[Expr, ...]:
        """The operands of a node among these."""
        return node.children

    def _uses(self, nodes: Iterable[Expr]) -> dict[Expr, int]:
        uses: dict[Expr, int] = {}
        for node in nodes:
            template_uses = _template(node).count("{0}") if isinstance(node, Op) else 1
            for child in self.operands(node):
                uses[child] = uses.get(child, 0) + max(1, template_uses)
        return uses

    def form(self, lin: Lin) -> str:
        """The text of a linear form, an int64."""
        for atom, _ in lin.terms:
            if isinstance(atom, Expr):
                self.value(atom)
        parts = [
            (f"{c} * " if c != 1 else "") + (atom if isinstance(atom, str) else self._text[atom])
            for atom, c in lin.terms
        ]
        if lin.const or not parts:
            parts.append(str(lin.const))
        return " + ".join(parts).replace("+ -", "- ")

    def _is_eager(self, node: Expr) -> bool:
        """Whether a value may be computed speculatively, where it may not be needed."""
        if isinstance(node, Op):
            # Integers are divided by functions of ours, which take all divisors.
            is_cheap = OPERATIONS[node.name].is_eager or is_small_power(node)
            return is_cheap and all(self._eager[arg] for arg in node.args)
        if isinstance(node, Int):
            return all(self._eager[child] for child in node.children)
        return isinstance(node, Const) or (isinstance(node, Read) and self._may_read(node))

    def one(self, node: Expr) -> str:
        """The text of a node whose operands are written."""
        if isinstance(node, Const):
            return literal(node.value, node.dtype)
        if isinstance(node, Int):
            return converted(self.form(node.value), INT)
        if isinstance(node, Read):
            return self._read(node)
        assert isinstance(node, Op)
        args = [self._text[arg] for arg in node.args]
        if is_small_power(node):
            return f"sdfgad::power<{small_integer(node.args[1])}>({args[0]})"
        if node.name == "divide" and _is_real(node.args[1]):
            return f"sdfgad::over_real({args[0]}, ({args[1]}).re)"
        if node.name == "cast":
            return _cast(args[0], node.args[0].dtype, node.dtype)
        if node.dtype.kind in "iu" and node.name in WRAPPING:
            return f"sdfgad::{WRAPPING[node.name]}<{cpp_type(node.dtype)}>({', '.join(args)})"
        own = OPERATIONS[node.name].eager_cpp if self._eager[node] else None
        template = own if own and _is_alike(node) else _template(node)
        text = template.format(*args, type=cpp_type(node.dtype))
        # C++ computes with narrow integers and booleans as int; NumPy wraps around, and true + true is true.
        is_narrow = node.dtype.kind in "iu" and node.dtype.itemsize < 4
        is_sum = node.dtype.kind == "b" and node.name == "add"
        return converted(text, node.dtype) if is_narrow or is_sum else text


def _comes_in_vectors(node: Expr) -> bool:
    """Whether a function of ``vector_math.h`` computes a node; of complex numbers only ``exp`` is made of these."""
    if not isinstance(node, Op) or not OPERATIONS[node.name].is_vectorised:
        return False
    return node.dtype.kind == "f" or (node.dtype.kind == "c" and node.name == "exp")


def _is_real(node: Expr) -> bool:
    """Whether a complex value is a real one that has been converted."""
    return node.dtype.kind == "c" and isinstance(node, Op) and node.name == "cast" and node.args[0].dtype.kind in "iuf"


def _is_alike(node: Op) -> bool:
    """Whether the sides of a choice have one type in C++, and conditions are booleans."""
    sides = node.args[1:] if node.name == "select" else node.args
    kinds = {arg.dtype for arg in sides}
    is_wide = node.dtype.kind in "fc" or (node.dtype.kind in "biu" and node.dtype.itemsize in (1, 8))
    return is_wide and kinds == {node.dtype} and node.args[0].dtype.kind == "b"


def _template(node: Op) -> str:
    return OPERATIONS[node.name].text(is_complex=node.args[0].dtype.kind == "c")


# C++ leaves undefined what a float out of an integer's range becomes, and so compilers may leave the conversion out.
# By way of these it wraps around, as it does in NumPy on this kind of processor.
_WIDER: dict[str, np.dtype[Any]] = dict.fromkeys(("int8", "int16", "uint8", "uint16"), np.dtype(np.int32))
_WIDER["uint32"] = INT


def _cast(text: str, old: np.dtype[Any], new: np.dtype[Any]) -> str:
    """A conversion as NumPy does it: a complex number becomes real by its real part."""
    if old.kind == "c" and new.kind == "b":
        return f"({text} != {literal(0, old)})"
    if old.kind == "c" and new.kind != "c":
        return converted(f"({text}).re", new)
    if new.kind == "c" and old.kind != "c":
        return converted(_cast(text, old, np.empty(0, new).real.dtype), new)
    if old.kind == "f" and new.name in _WIDER:
        return converted(converted(text, _WIDER[new.name]), new)
    return f"sdfgad::number({text})" if old == np.int64 and new == np.float64 else converted(text, new)


def simd(sums: Iterable[str] = ()) -> list[str]:
    """The pragma that vectorises the next loop, except in code compiled as plain; sums may be reordered."""
    names = ", ".join(sums)
    clause = f" reduction(+ : {names})" if names else ""
    return ["#ifndef SDFGAD_PLAIN", f"#pragma omp simd{clause}", "#endif"]
