"""A derivative rule of the user's own for a helper function: `custom_jvp`, as in JAX.

The rule is a NumPy function, linear in tangents; it is inlined where the helper is called, and carries the derivative
of the helper's value. It is of first order: a gradient through it has no derivative.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sdfgad.parse.functions.special import carried, frozen
from sdfgad.parse.registry import in_numpy


class custom_jvp:  # The name is JAX's.
    """A function with a rule of its own for derivatives in a direction.

    `defjvp` sets the rule: ``rule(primals, tangents)`` returns the value and its derivative, for tuples of arguments
    and of their tangents; it must be linear in the tangents, and may call the function itself.

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

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


# --- what a program makes of a call


@in_numpy(custom_jvp.__call__, static=False)
def call_with_jvp(of: Any, *args: Any) -> Any:
    if of.rule is None:
        raise ValueError("a custom_jvp has no rule: set it by `defjvp` before the program is differentiated")
    value, tangent = of.rule(frozen(args), deviation(args))
    return carried(value, tangent)


def deviation(x: Any) -> Any:
    """Arguments minus themselves as constants: zero, with the derivative 1."""
    if isinstance(x, dict):
        return {key: deviation(part) for key, part in x.items()}
    if isinstance(x, (list, tuple)):
        return tuple([deviation(part) for part in x])
    return x - frozen(x)
