"""Pickling: a gradient is sent to another process as its function's import path and its options.

A pickler that sends the function itself gets the text that defines it, too, which the other process cannot find.
"""

from __future__ import annotations

import inspect
import pickle
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from sdfgad.errors import NotImportable
from sdfgad.parse.sent_source import Text, receive
from sdfgad.parse.source import read_source, text_of

T = TypeVar("T")


def check_importable(program: Callable[..., Any]) -> None:
    """Check that a function can be pickled by reference, and raise an error with advice if not.

    Picklers that send functions by value, such as cloudpickle's and joblib's, are exempt.

    Raises:
        NotImportable: another process cannot import the function.
    """
    if type(program).__name__ == "SDFG":
        # It is sent as a whole.
        return
    name = getattr(program, "__qualname__", "")
    if found_by_name(getattr(program, "__module__", None), name) is program or _is_sent_by_value():
        return
    source = read_source(program)
    raise NotImportable(
        f"`{source.name}` cannot be sent to another process: that would import it by name, under which it is not found",
        source.where(source.node),
        "Define it with `def` at the top level of a module, or send it with cloudpickle or joblib.",
    )


def texts_to_send(function: Callable[..., Any]) -> tuple[Text, ...]:
    """The texts that another process needs for a function, if the caller is a pickler that sends it by value."""
    return texts_of(function) if _is_sent_by_value() else ()


def texts_of(function: Callable[..., Any]) -> tuple[Text, ...]:
    """The texts that define a function, and what its module has besides; none if another process can import it."""
    module = function.__module__ or ""
    registry: set[str] = getattr(sys.modules.get("cloudpickle"), "list_registry_pickle_by_value", set)()
    is_registered = any(f"{module}.".startswith(f"{one}.") for one in registry)
    is_found = found_by_name(module, function.__qualname__) is function
    # What stands for a gradient that is differentiated is a function of ours, which is not sent.
    is_ours = module.partition(".")[0] == __name__.partition(".")[0]
    if is_ours or (is_found and module != "__main__" and not is_registered):
        return ()
    return tuple(dict.fromkeys(text for text in map(text_of, _codes_beside(function)) if text.text))


def _codes_beside(function: Callable[..., Any]) -> Iterator[types.CodeType]:
    """The code of a function, and of the functions and methods that its module defines."""
    names: dict[str, Any] = getattr(function, "__globals__", {})
    for value in [function, *names.values()]:
        members = vars(value).values() if isinstance(value, type) else (value,)
        for member in members:
            inner = inspect.unwrap(_plain(member))
            if isinstance(inner, types.FunctionType) and inner.__globals__ is names:
                yield inner.__code__


def _plain(member: Any) -> Any:
    return member.fget if isinstance(member, property) else member


def made_of_sent(texts: Iterable[Text], make: Callable[[Any], T], program: Any) -> T:
    """What `make` makes of a program that comes from another process, with the texts that define it."""
    receive(texts)
    return make(program)


def found_by_name(module: str | None, name: str) -> Any:
    """The object with a dotted name in a module; None if there is none."""
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_sent_by_value() -> bool:
    """Whether the caller is a pickler written in Python (found on the stack), which may send functions by value."""
    frame = sys._getframe()
    while frame is not None:
        if isinstance(frame.f_locals.get("self"), pickle.Pickler | pickle._Pickler):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
