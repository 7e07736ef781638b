"""Context managers: what ``with`` enters and leaves, by methods of the user's classes.

`sdfgad.parse.jumps` writes ``with`` as ``try`` and ``finally``, with calls of `enter` and `leave`. Those that only set
how NumPy or Python warns and prints have no effect on compiled code.
"""

from __future__ import annotations

import contextlib
import inspect
import types
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sdfgad.parse import containers
from sdfgad.parse.iterators import Site
from sdfgad.parse.managers import enter, leave
from sdfgad.parse.operands import is_library
from sdfgad.parse.python_calls import SPECIAL
from sdfgad.parse.ranges import next_of
from sdfgad.parse.values import Holder, Iteration, Record


@dataclass(frozen=True, eq=False)
class Setting(Holder):
    """A context manager without an effect on numbers; `value` is what ``as`` binds."""

    noun: ClassVar[str] = "a context manager"
    instead: ClassVar[str] = "Use it in a `with` statement."
    value: Any = None

    @property
    def held(self) -> Iterable[Any]:
        return (self.value,)


def _errstate(site: Site, **modes: Any) -> Setting:
    if any(mode in ("raise", "call") for mode in modes.values()):
        site.b.unraised[FloatingPointError] = "np.errstate"
    return Setting()


def is_quiet(function: Any, modes: Iterable[Any], keywords: dict[str, Any]) -> bool:
    """Whether a change of NumPy's settings has no effect on numbers, nor on where a program raises."""
    given = {*modes, *keywords.values()}
    return function is np.set_printoptions or (function is np.seterr and given <= {None, "ignore", "warn", "print"})


def _seterr(site: Site, **_: Any) -> Any:
    """The settings before, which a program sets again at its end."""
    return containers.tracked(site.b, {**np.geterr()})


def _catch_warnings(site: Site, record: Any = False, **_: Any) -> Setting:
    if record is not False:
        what = "the warnings that a compiled program gives are not recorded"
        raise site.b.unsupported(what, "Leave `record` out, or call the gradient where they are recorded.")
    return Setting()


def _print_options(site: Site, *_: Any, **__: Any) -> Setting:
    return Setting()


def _null_context(site: Site, enter_result: Any = None) -> Setting:
    return Setting(site.b.settle(enter_result))


def _enter(site: Site, manager: Any) -> Any:
    """What ``as`` binds."""
    if isinstance(manager, Setting):
        return manager.value
    if (generator := _generator_of(manager)) is not None:
        return _first_item(site, generator)
    return _call(site, manager, "__enter__")


def _leave(site: Site, manager: Any) -> None:
    if (generator := _generator_of(manager)) is not None:
        if next_of(site.b, generator):
            raise site.b.unsupported("a generator of a context manager yields twice", "Let it yield once.")
    elif not isinstance(manager, Setting):
        _call(site, manager, "__exit__", None, None, None)


def _generator_of(manager: Any) -> Iteration | None:
    """What runs before and behind ``yield`` of a function that `contextlib.contextmanager` decorates."""
    is_one = isinstance(manager, Record) and issubclass(manager.cls, contextlib._GeneratorContextManager)
    found = manager.fields.get("gen") if is_one else None
    return found if isinstance(found, Iteration) else None


def _first_item(site: Site, generator: Iteration) -> Any:
    before, site.b.is_entering = site.b.is_entering, True
    try:
        found = next_of(site.b, generator)
    finally:
        site.b.is_entering = before
    if not found:
        raise site.b.unsupported("a generator of a context manager yields nothing", "Let it yield once.")
    return found[0]


def _call(site: Site, manager: Any, name: str, *arguments: Any) -> Any:
    cls = manager.cls if isinstance(manager, Record) else type(manager)
    function = inspect.getattr_static(cls, name, None)
    if not isinstance(function, types.FunctionType) or is_library(function) or cls.__module__ == "contextlib":
        reason = (
            "what it catches is not followed" if cls.__module__ == "contextlib" else f"it has no `{name}` in Python"
        )
        raise site.b.unsupported(
            f"`{cls.__name__}` in `with` is not supported: {reason}",
            "Do it outside of the function, and pass what is read there as an argument.",
        )
    return site.frame.call(site.node, function, [manager, *arguments], {})


SPECIAL |= {
    np.errstate: _errstate,
    np.seterr: _seterr,
    np.set_printoptions: lambda site, *_, **__: None,
    np.printoptions: _print_options,
    warnings.catch_warnings: _catch_warnings,
    contextlib.nullcontext: _null_context,
    enter: _enter,
    leave: _leave,
}
