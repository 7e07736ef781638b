"""Calls that are repeated with longer tapes: loops of gradients that they call have made more trips than expected."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sdfgad.ir.capacities import Outgrown

F = TypeVar("F", bound=Callable[..., Any])


def repeated(function: F) -> F:
    """The function, called again as long as tapes have been too short for it: the program is then parsed anew."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        while True:
            try:
                return function(*args, **kwargs)
            except Outgrown as found:
                found.learn()

    return call  # type: ignore[return-value]
