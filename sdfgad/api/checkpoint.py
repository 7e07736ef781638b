"""`checkpoint`: a helper function whose intermediate values are recomputed in the reverse sweep (rematerialisation)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sdfgad.parse.transformed import CallSite, Transformed


class checkpoint(Transformed):  # The name is JAX's.
    """A function of which the plan stores no intermediate values, where the reverse sweep can compute them again.

    ``g.plan`` shows what is recomputed; ``overrides`` of `differentiate` say otherwise for single values. With the
    strategies "store_all" and "recompute_all" it has no effect, and none in gradients that programs call.

    Example:
        >>> @sdfgad.checkpoint
        ... def layer(w, x):
        ...     return np.tanh(w @ x)
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """The function as a method: bound to an object, or itself."""
        return self if instance is None else functools.partial(self, instance)

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of a call."""
        return list(inspect.signature(self.function).parameters.values())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call in a program that is being parsed."""
        site.b.pinning += 1
        try:
            return site.call(self.function, *args, **kwargs)
        finally:
            site.b.pinning -= 1
