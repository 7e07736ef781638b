"""A context-free grammar whose productions are text: ``<name>`` stands for a production of that name.

A name that is alone on its line may stand for several lines, which get the indentation of that line.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

_ALONE = re.compile(r"^( *)<(\w+)>$")
_NAME = re.compile(r"<(\w+)>")
Rules = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Subject:
    """What programs of one subject consist of.

    Attributes:
        before: what stands before the function `program`; a production, as the others are.
        body: what `program` does.
        rules: productions by name, besides those that all subjects share.
    """

    before: str
    body: str
    rules: Rules


class Sentences:
    """Random sentences of a grammar.

    Args:
        rules: productions by name.
    """

    def __init__(self, rules: Rules, rng: random.Random) -> None:
        self.rules, self.rng = rules, rng
        self.last = {name for name, choices in rules.items() if not any(map(_NAME.search, choices))}

    def of(self, text: str, depth: int) -> str:
        """A production with all names replaced; at depth 0 by what ends soonest, where there is such."""
        return "\n".join(self._line(line, depth) for line in text.split("\n"))

    def _line(self, line: str, depth: int) -> str:
        if alone := _ALONE.match(line):
            found = self._named(alone[2], depth)
            return "\n".join(alone[1] + one for one in found.split("\n"))
        return _NAME.sub(lambda name: self._named(name[1], depth), line)

    def _named(self, name: str, depth: int) -> str:
        choices = self.rules[name]
        if depth <= 0:
            choices = tuple(one for one in choices if self.last.issuperset(_NAME.findall(one))) or choices
        return self.of(self.rng.choice(choices), depth - 1)
