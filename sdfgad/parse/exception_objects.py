"""Exceptions as objects of the program: with attributes that are data, and those of which data chooses one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdfgad.parse.builder import Builder
from sdfgad.parse.texts import RunTimeText
from sdfgad.parse.values import UNDEFINED, Record


def thrown_for(b: Builder, exception: Record, text: str) -> BaseException:
    """The exception of Python's that stands for an object where it is raised; it has only a text."""
    for thrown, record in b.thrown:
        if record is exception:
            return thrown
    cls: Any = exception.cls
    made: BaseException = cls.__new__(cls)
    made.args = (RunTimeText(text),)
    b.thrown.append((made, exception))
    return made


def common_exception(values: Sequence[Any]) -> BaseException | None:
    """The exception of Python's that a name has, of which data chooses one among some of one class.

    Its text is known only at run time if they differ in it. None: they are no such exceptions.
    """
    known = [value for value in values if value is not UNDEFINED]
    first = known[0] if known else None
    if not isinstance(first, BaseException) or any(type(one) is not type(first) for one in known):
        return None
    if all(one is first or repr(one.args) == repr(first.args) for one in known):
        return first
    cls: Any = type(first)
    made: BaseException = cls.__new__(cls)
    made.args = (RunTimeText(" or ".join(dict.fromkeys(map(repr, known)))),)
    return made
