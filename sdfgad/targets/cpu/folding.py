"""Identical code folding: functions whose texts differ only in the names of their own variables are one function.

Unrolled loops, and functions of the user's that are called for several arrays, leave many statements of one form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class Folding:
    """The functions of a program, by their texts with numbers for their own names."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def known(self, name: str, code: str, variables: Iterable[str]) -> str | None:
        """The name of a function with the same text and parameters; None if this is the first one.

        Args:
            code: the texts of the function and of those that it calls, whose names begin with its own.
            variables: the names of its parameters and local variables.
        """
        own = frozenset(variables)
        numbers: dict[str, str] = {}

        def numbered(match: re.Match[str]) -> str:
            word = match.group()
            is_own = word in own or word.startswith(name)
            # With a sign that C++ does not have: a number alone would be a constant.
            return numbers.setdefault(word, f"@{len(numbers)}") if is_own else word

        first = self._known.setdefault(IDENTIFIER.sub(numbered, code), name)
        return None if first is name else first


def by_first_use(names: Iterable[str], lines: Iterable[str]) -> list[str]:
    """The buffers in the order in which a function's lines have them, whatever they are called."""
    places = dict[str, int]()
    for match in IDENTIFIER.finditer("\n".join(lines)):
        places.setdefault(match.group(), match.start())
    return sorted(names, key=lambda name: (places.get(f"b_{name}_", -1), name))
