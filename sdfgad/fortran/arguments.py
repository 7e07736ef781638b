"""Actual arguments by position and keyword."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.syntax import name_of
from sdfgad.fortran.values import Value


def split(arguments: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    """The positional arguments of a call, and those by keyword."""
    keyed = (f03.Actual_Arg_Spec, f03.Component_Spec)
    positional = [one for one in arguments if not isinstance(one, keyed)]
    return positional, {name_of(one.children[0]): one.children[1] for one in arguments if isinstance(one, keyed)}


def by_name(routine: Any, arguments: Sequence[Any]) -> dict[str, Any]:
    """The arguments of a call of a routine by the names that it has for them."""
    positional, named = split(arguments)
    return dict(zip(routine.names, positional, strict=False)) | named


@dataclass(frozen=True)
class Arguments:
    """What an intrinsic function is called with."""

    e: Evaluator
    node: Any
    name: str
    nodes: Sequence[Any]
    named: Mapping[str, Any]

    @staticmethod
    def of(e: Evaluator, node: Any, name: str, arguments: Sequence[Any]) -> Arguments:
        return Arguments(e, node, name, *split(arguments))

    def given(self, position: int, name: str) -> Any | None:
        """The node of an argument; None if it is left out."""
        return self.nodes[position] if position < len(self.nodes) else self.named.get(name)

    def optional(self, position: int, name: str) -> Value | None:
        found = self.given(position, name)
        return None if found is None else self.e.value(found)

    def value(self, position: int, name: str) -> Value:
        """Raises: UnsupportedProgram, where it is left out."""
        found = self.optional(position, name)
        if found is None:
            self.e.refuse(self.node, f"`{self.node}` has no argument `{name}`", f"Pass it to {self.name}.")
        return found

    def known(self, position: int, name: str) -> int | None:
        """A number that must be known, such as an axis or a kind; None if it is left out."""
        found = self.given(position, name)
        return None if found is None else self.e.known(found)

    def refuse_others(self, *names: str) -> None:
        """Raises: UnsupportedProgram, for keywords that are none of these."""
        others = [name for name in self.named if name not in names]
        if others:
            what = f"`{others[0]}=` in `{self.node}` is not supported"
            self.e.refuse(self.node, what, "Write the sum, or what it is, in a loop.")
