"""Source text of functions that another process has sent by value: what cloudpickle makes of them has no file.

The text is not run, but compiled to tell whether it defines a function as it is.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple


class Text(NamedTuple):
    """The text of a file, or of a cell of a notebook, and its name."""

    file: str
    text: str


_received: dict[Text, None] = {}


def receive(texts: Iterable[Text]) -> None:
    """Make known the texts of functions that come from another process."""
    _received.update(dict.fromkeys(texts))


def received(code: types.CodeType) -> Text | None:
    """The text that has come from another process and defines the function with this code."""
    return next((one for one in _received if defines(one.text, code)), None)


@lru_cache(maxsize=256)
def defines(text: str, code: types.CodeType) -> bool:
    """Whether the code of a function comes from a text."""
    try:
        left: list[Any] = [compile(text, code.co_filename, "exec", dont_inherit=True)]
    except SyntaxError:
        return False
    while left:
        part = left.pop()
        if part == code:
            return True
        left += [inner for inner in part.co_consts if isinstance(inner, types.CodeType)]
    return False
