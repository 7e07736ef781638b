"""Concrete syntax: Fortran text to fparser's tree, the lines of its nodes, and refusals that name them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn

from fparser.common.readfortran import FortranStringReader
from fparser.common.sourceinfo import FortranFormat
from fparser.two import Fortran2003 as f03
from fparser.two.parser import ParserFactory
from fparser.two.symbol_table import SYMBOL_TABLES
from fparser.two.utils import FortranSyntaxError

from sdfgad.errors import ArgumentError, Location, UnsupportedProgram

# How the names of files in fixed form end: a statement starts in column 7, and a mark in column 6 continues one.
FIXED = frozenset({".f", ".for", ".f77", ".ftn"})
DIRECTIVE = re.compile(r"^\s*#", re.MULTILINE)


@dataclass(frozen=True)
class File:
    """A Fortran file: its name, as errors show it, and its text."""

    name: str
    text: str

    @staticmethod
    def read(path: str | Path) -> File:
        """Raises: ArgumentError, where there is no such file."""
        try:
            return File(str(path), Path(path).read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise ArgumentError(f"cannot read {path}: {error}", todo="Pass the path of a Fortran file.") from None

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def at(self, line: int) -> Location:
        return Location(self.name, line, self.lines[line - 1].strip() if 0 < line <= len(self.lines) else "")

    def where(self, node: Any) -> Location:
        return self.at(line_of(node))

    def refuse(self, node: Any, what: str, todo: str) -> NoReturn:
        """Raises: UnsupportedProgram, with the line of a node."""
        raise UnsupportedProgram(what, self.where(node), todo)

    @contextmanager
    def understood(self, node: Any) -> Iterator[None]:
        """What the tree of a statement has in places where nothing is expected is refused.

        Raises:
            UnsupportedProgram: it has.
        """
        try:
            yield
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            text = str(node).strip().splitlines()[0]
            what, todo = f"`{text}` is not understood: {error}", "Write it in simpler statements."
            raise UnsupportedProgram(what, self.where(node), todo) from error

    def tree(self) -> Any:
        """The syntax tree of the file.

        Raises:
            UnsupportedProgram: a line is no Fortran, or is one of a preprocessor.
        """
        found = DIRECTIVE.search(self.text)
        if found:
            line = self.text.count("\n", 0, found.end()) + 1
            what, todo = (
                "a line of a preprocessor",
                "Run the preprocessor first: gfortran -cpp -E -P file.F90 > file.f90.",
            )
            raise UnsupportedProgram(what, self.at(line), todo)
        # Tables of names are global to fparser, and those of another file with the same names would clash.
        SYMBOL_TABLES.clear()
        parser = _parser()
        reader = FortranStringReader(self.text, ignore_comments=True)
        reader.set_format(FortranFormat(Path(self.name).suffix.lower() not in FIXED, False))
        try:
            return parser(reader)
        except FortranSyntaxError as error:
            line = int((re.findall(r"at line (\d+)", str(error)) or ["1"])[0])
            what, todo = (
                "this is no Fortran 2008, or nothing that fparser reads",
                "Compile the file to see what is wrong.",
            )
            raise UnsupportedProgram(what, self.at(line), todo) from error


@cache
def _parser() -> Any:
    """The parser, which takes half a second to make."""
    return ParserFactory().create(std="f2008")


def line_of(node: Any) -> int:
    """The number of the first line of the statement that a node is in."""
    while node is not None:
        item = getattr(node, "item", None)
        if item is not None:
            return int(item.span[0])
        inner = next((child for child in getattr(node, "content", None) or () if not isinstance(child, str)), None)
        if inner is not None:
            return line_of_first(inner)
        node = node.parent
    return 1


def line_of_first(node: Any) -> int:
    """The line of the first statement in a construct."""
    while getattr(node, "item", None) is None:
        children = [child for child in node.children if hasattr(child, "children")]
        if not children:
            return 1
        node = children[0]
    return int(node.item.span[0])


def name_of(node: Any) -> str:
    """A name as Fortran compares names."""
    return str(node).lower()


def walk(node: Any) -> Iterator[Any]:
    """A node and those in it, in the order of the text."""
    yield node
    children = node if isinstance(node, (tuple, list)) else getattr(node, "children", ())
    for child in children:
        if child is not None and not isinstance(child, str):
            yield from walk(child)


def listed(node: Any) -> list[Any]:
    """The entries of a list, of which there may be none."""
    if node is None:
        return []
    return list(node.children) if type(node).__name__.endswith("_List") else [node]


def names_in(node: Any) -> set[str]:
    return {name_of(one) for one in walk(node) if isinstance(one, f03.Name)}


def label_of(statement: Any) -> str:
    """The name of a construct, "" if it has none."""
    item = getattr(statement, "item", None)
    return str(getattr(item, "name", None) or "").lower()
