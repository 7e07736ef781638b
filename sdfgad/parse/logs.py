"""Logs: lists whose length is data, as those to which an iteration appends its errors until it has converged.

The parser only learns that at the ``append``. So it begins anew, and the list that the program makes there is a `Log`:
what is appended is dropped, and whatever looks into it is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import trees
from sdfgad.parse.values import Log

# The methods that change a list and return nothing.
APPENDING = ("append", "extend", "insert")


class Site(NamedTuple):
    """The place in the program's text where a list is made."""

    file: str
    line: int
    column: int


@dataclass
class Logs:
    """The logs of one attempt to parse a program.

    Attributes:
        known: the places where logs are made, each with what refused to follow its list.
        found: those that this attempt has found.
    """

    known: Mapping[Site, UnsupportedProgram]
    found: dict[Site, UnsupportedProgram] = field(default_factory=dict)
    _made: dict[int, tuple[list[Any], Site]] = field(default_factory=dict)

    def made(self, values: list[Any], site: Site) -> Any:
        """A list that the program makes, or the log in its place."""
        if site in self.known:
            return Log(self.known[site])
        self._made[id(values)] = values, site
        return values

    @contextmanager
    def noted(self, values: Any) -> Iterator[None]:
        """Note it if a change of a list cannot be followed."""
        try:
            yield
        except (UnsupportedProgram, NeedsConstant) as failure:
            _, site = self._made.get(id(values), (None, None))
            if site is not None:
                self.found.setdefault(site, UnsupportedProgram(failure.what, failure.where, failure.todo))
            raise


def require_none(values: Iterable[Any]) -> None:
    """Refuse logs among the arguments of a function whose body is not parsed."""
    for log in (part for value in values for part in trees.sequences(value) if isinstance(part, Log)):
        raise log.failure


def require_handed_on(log: Log, node: ast.AST, parent: ast.AST | None) -> None:
    """Refuse an expression around one whose value is a log, unless it hands the log on without a look at its items."""
    if not _hands_on(parent, node):
        raise log.failure


def drop(*appended: Any) -> None:
    """Stands for the methods of logs."""


def _hands_on(parent: ast.AST | None, node: ast.AST) -> bool:
    if isinstance(parent, ast.Attribute):
        return parent.attr in APPENDING
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
    if isinstance(parent, ast.Assign):
        return not any(isinstance(target, (ast.Tuple, ast.List)) for target in parent.targets)
    if isinstance(parent, ast.IfExp):
        return parent.test is not node
    return isinstance(
        parent, (ast.AnnAssign, ast.Tuple, ast.List, ast.Dict, ast.keyword, ast.Call, ast.Return, ast.Expr)
    )
