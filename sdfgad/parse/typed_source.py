"""Texts of functions that have no file: the text after ``python -c``, and what was typed at Python's prompt.

Neither is run again, nor compiled but to tell whether it defines a function as it is (`source`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile

# The lines of the history that are looked at, the last ones.
MOST_LINES = 2000


def typed_texts(name: str) -> Iterator[str]:
    """Texts that may define the function with a name, the most likely first."""
    arguments = sys.orig_argv
    if "-c" in arguments[:-1]:
        yield arguments[arguments.index("-c") + 1]
    readline = sys.modules.get("readline")
    if readline is not None:
        last = readline.get_current_history_length()
        lines = [readline.get_history_item(k) or "" for k in range(max(1, last - MOST_LINES), last + 1)]
        yield from blocks(lines, name)


def blocks(lines: Sequence[str], name: str) -> Iterator[str]:
    """The statements at the prompt that may define a function, the last first; a lambda's name is not in its text."""
    sign = "lambda" if name == "<lambda>" else f"def {name}"
    for start in reversed(range(len(lines))):
        line = lines[start]
        # A decorated function begins with its decorators.
        if line[:1].isspace() or not (sign in line or line.startswith("@")):
            continue
        head = [*takewhile(lambda one: one.startswith("@"), lines[start:])]
        rest = lines[start + len(head) + 1 :]
        body = takewhile(lambda one: not one or one[:1].isspace(), rest)
        yield "\n".join([*lines[start : start + len(head) + 1], *body]) + "\n"
