"""A derivative rule of the user's own in forward mode: `custom_jvp`, as in JAX. It serves the reverse sweep, too."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any

from sdfgad.api.callables import by_position
from sdfgad.errors import ArgumentError
from sdfgad.parse.transformed import CallSite, Transformed
from sdfgad.specialise.jvp_rules import TangentRule, with_tangents

# The functions whose rules are being parsed in this thread.
_parsing = threading.local()


class custom_jvp(Transformed):  # The name is JAX's.
    """A function with a rule of its own for derivatives in a direction.

    `defjvp` sets the rule: ``rule(primals, tangents)`` returns the value and its derivative, for tuples of arguments
    and of their tangents; it must be linear in the tangents, and may call the function itself, which is then
    differentiated as it is written where higher derivatives ask for it. Tangents of integers are 0.

    Raises:
        ArgumentError: at a call in a program, where the rule is missing, or returns what does not fit.

    Example:
        >>> @sdfgad.custom_jvp
        ... def softplus(x):
        ...     return np.log1p(np.exp(x))
        >>> @softplus.defjvp
        ... def rule(primals, tangents):
        ...     (x,), (t,) = primals, tangents
        ...     return softplus(x), t / (1.0 + np.exp(-x))
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.rule: Callable[..., Any] | None = None
        functools.update_wrapper(self, function)

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the rule, and returns it."""
        self.rule = rule
        return rule

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of a call."""
        return list(inspect.signature(self.function).parameters.values())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call in a program that is being parsed."""
        where, name = site.b.where, self.function.__name__
        if method != "__call__" or self.rule is None:
            todo = "Set it by `defjvp` before the program is differentiated."
            raise ArgumentError(f"the custom_jvp `{name}` has no rule", where, todo)
        arguments = by_position(self.function, args, kwargs, where)
        value = site.call(self.function, *arguments)
        active = vars(_parsing).setdefault("active", set())
        if id(self) in active:
            return value
        site.b.where = where
        active.add(id(self))
        try:
            return with_tangents(site.b, TangentRule(name, self.rule, arguments), value)
        finally:
            active.discard(id(self))
