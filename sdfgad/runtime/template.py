"""Code templates: the C++ of a program at several array sizes, anti-unified to one text with constants of late binding.

At another array size the C++ of a program is mostly the same text with other numbers. Where two texts differ in numbers
alone, a template is the text with the differing numbers replaced by external constants; numbers that change together
share one. The constants are a table in the read-only data of the library. For other numbers the library is copied, with
another table: no compiler runs, and the copy is the program that the compiler would have been passed, number for number
(but for local arrays, which may be longer than they need be).

The least general generalisation (anti-unification): Plotkin, "A note on inductive generalization", 1970.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

MARK = b"sdfgad constants"
LARGEST = 2**63 - 1

# Numbers that C++ needs while compiling are no parameters: in lines of the preprocessor, texts, comments, arguments of
# templates, alignments, and extents of declared arrays. Those of aligned local arrays are, as upper bounds.
_FIXED = r"""
    ^[ \t]*\#[^\n]*  |  "(?:\\.|[^"\\\n])*"  |  //[^\n]*  |  /\*.*?\*/  |  \bcase\b[^:\n]*:
    |  \b(?:constexpr|static[ ]const)\b[^\n]*  |  =\s*\{[^{}]*\}  |  (?<=\w)<[^<>;()\n]*>
    |  (?:[\w>*&]|decltype\([^()]*\))[ ]+\w+(?:\[[^\[\]\n]*\])+(?=\s*[;={])
"""
_ARRAY = r"\balignas\(\d+\)[ ][^\[\];=\n]*\[(?P<extent>\d+)\];"
_NUMBER = r"(?<![\w.])(?P<number>(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)f?|\d+(?:LL)?)(?![\w.])"
_TOKEN = re.compile(f"{_ARRAY}|(?:{_FIXED})|\\balignas\\([^()]*\\)|{_NUMBER}", re.VERBOSE | re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Skeleton:
    """C++ without its numbers.

    Attributes:
        parts: the text before, between and after the numbers; one more than there are numbers.
        extents: the positions of those numbers that are extents of local arrays.
    """

    parts: tuple[str, ...]
    extents: frozenset[int] = frozenset()

    def filled(self, numbers: Iterable[str]) -> str:
        """The text with these numbers."""
        texts = [self.parts[0]]
        for number, part in zip(numbers, self.parts[1:], strict=True):
            texts += (number, part)
        return "".join(texts)


def split(code: str) -> tuple[Skeleton, tuple[str, ...]]:
    """The skeleton of C++, and its numbers.

    Example:
        >>> skeleton, numbers = split("for (int64_t i = 0; i < 40; ++i) a[i] = b[i * 40] / 2.5;")
        >>> numbers
        ('0', '40', '40', '2.5')
    """
    found = [m for m in _TOKEN.finditer(code) if m["extent"] or (m["number"] and _is_parameter(m["number"]))]
    spans = [m.span("extent" if m["extent"] else "number") for m in found]
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(code)]
    parts = tuple(code[start:end] for start, end in zip(starts, ends, strict=True))
    extents = frozenset(position for position, m in enumerate(found) if m["extent"])
    return Skeleton(parts, extents), tuple(code[start:end] for start, end in spans)


def _is_parameter(number: str) -> bool:
    """Whether a number can be an int64 or a floating one; 010 is octal."""
    digits = number.removesuffix("LL")
    return not digits.isdigit() or (int(digits) <= LARGEST and (digits == "0" or digits[0] != "0"))


def _type(number: str) -> str:
    is_integer = number.removesuffix("LL").isdigit()
    return "int64_t" if is_integer else "float" if number.endswith("f") else "double"


def _packed(number: str) -> bytes:
    """The bytes of a constant in the table."""
    kind = _type(number)
    if kind == "int64_t":
        return struct.pack("<q", int(number.removesuffix("LL")))
    return struct.pack("<d", float(number)) if kind == "double" else struct.pack("<f4x", float(number[:-1]))


@dataclass(frozen=True)
class Template:
    """A skeleton whose numbers are known but for some.

    Attributes:
        numbers: those of one sample.
        groups: for each constant, the positions of the numbers that it replaces.
    """

    skeleton: Skeleton
    numbers: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(skeleton: Skeleton, samples: Sequence[tuple[str, ...]]) -> Template:
        """The least general template of which all samples are instances; local arrays get the next power of two."""
        groups: dict[tuple[str, ...], list[int]] = {}
        numbers = list(samples[-1])
        for position, column in enumerate(zip(*samples, strict=True)):
            if position in skeleton.extents:
                numbers[position] = str(1 << (max(map(int, column)) - 1).bit_length())
            elif len(set(column)) > 1:
                groups.setdefault(column, []).append(position)
        return Template(skeleton, tuple(numbers), tuple(map(tuple, groups.values())))

    def match(self, numbers: tuple[str, ...]) -> tuple[str, ...] | None:
        """The constants of which these numbers are an instance; None if they are none."""
        values = tuple(numbers[group[0]] for group in self.groups)
        same_kinds = all(_type(v) == _type(o) for v, o in zip(values, self._own, strict=True))
        pairs = enumerate(zip(numbers, self._instance(values), strict=True))
        is_one = all(
            has == wants or (p in self.skeleton.extents and int(has) <= int(wants)) for p, (has, wants) in pairs
        )
        return values if same_kinds and is_one else None

    @cached_property
    def _own(self) -> tuple[str, ...]:
        return tuple(self.numbers[group[0]] for group in self.groups)

    def _instance(self, values: Iterable[str]) -> list[str]:
        found = list(self.numbers)
        for value, group in zip(values, self.groups, strict=True):
            for position in group:
                found[position] = value
        return found

    @cached_property
    def code(self) -> str:
        """The C++ with constants, preceded by their table, which the compiler passes to the assembler unread."""
        names = [f"sdfgad_constant_{k}" for k in range(len(self.groups))]
        table = [f'.ascii \\"{MARK.decode()}\\"', *(f"{name}: .quad 0" for name in names)]
        lines = ['.pushsection .rodata,\\"a\\"', ".balign 16", *(f".globl {n}\\n.hidden {n}" for n in names), *table]
        declared = [f"extern const {_type(value)} {name};" for value, name in zip(self._own, names, strict=True)]
        assembly = "".join(f'    "{line}\\n"\n' for line in [*lines, ".popsection"])
        hidden = ['extern "C" {', "#pragma GCC visibility push(hidden)", *declared, "#pragma GCC visibility pop", "}"]
        text = self.skeleton.filled(self._instance(names))
        return "\n".join(["#include <cstdint>", f"asm(\n{assembly});", *hidden, text])


def bound(library: bytes, constants: Sequence[str]) -> bytes:
    """The shared library of a template with these constants.

    Raises:
        ValueError: it is not the library of a template.
    """
    start = library.find(MARK) + len(MARK)
    if start < len(MARK) or library.find(MARK, start) >= 0:
        raise ValueError("the library has no table of constants, or more than one")
    table = b"".join(map(_packed, constants))
    return library[:start] + table + library[start + len(table) :]
