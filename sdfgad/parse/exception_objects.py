"""Exceptions as objects of the program, with attributes that are data."""

from __future__ import annotations

from typing import Any

from sdfgad.parse.builder import Builder
from sdfgad.parse.texts import RunTimeText
from sdfgad.parse.values import Record


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
