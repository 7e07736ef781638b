"""A derivative rule of the user's own for the reverse sweep: `custom_vjp`, as in JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sdfgad.api.rules import WithRule, at_level, level
from sdfgad.errors import ArgumentError
from sdfgad.parse.transformed import CallSite, transformation
from sdfgad.specialise.vjp_rules import Rule, with_pullback


@transformation
class custom_vjp(WithRule):  # The name is JAX's.
    """A function with a rule of its own for the reverse sweep.

    `defvjp` sets the rule, two functions: ``forward(*args)`` returns the value and anything that ``backward`` needs;
    ``backward(residuals, cotangent)`` returns a tuple with the cotangent of each argument, None where that is zero. The
    cotangent has the structure of the value, those of arguments have that of the arguments.

    What a call returns are new arrays, also where the function returns an argument; ``forward`` may not update its
    arguments. Neither the function nor ``forward`` is differentiated; gradients of gradients differentiate both of the
    rule's functions, as in JAX, with the rules of functions that these call, up to the order 3. Where ``backward`` is
    linear in the cotangent, its transpose is the derivative in forward mode; other rules have none.

    Raises:
        ArgumentError: at a call in a program, where the rule is missing, or returns what does not fit.

    Example:
        >>> @sdfgad.custom_vjp
        ... def clipped(x):  # the value of x, with a gradient between -1 and 1
        ...     return x
        >>> clipped.defvjp(lambda x: (x, None), lambda _, c: (np.clip(c, -1.0, 1.0),))
    """

    kind, setter = "custom_vjp", "f.defvjp(forward, backward)"

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Sets the rule."""
        self.rule = forward, backward

    def value_within(self, site: CallSite, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """The value of a call in a program that is being parsed, with the rule's derivative."""
        where, name = site.b.where, self.function.__name__
        forward, backward = self.rule_at(site)
        arguments = self.by_position(args, kwargs, where)
        if self.is_parsing:
            return self.run(site, self.function, arguments)
        here = level()
        with self.parsing():
            with at_level(here + 1):
                result = self.run(site, forward, arguments)
            if not isinstance(result, tuple) or len(result) != 2:
                what = f"the forward rule of the custom_vjp `{name}` returns no pair"
                raise ArgumentError(what, where, "Let it `return value, residuals`; residuals may be None.")
            with at_level(0):
                return with_pullback(site.b, Rule(name, backward, arguments, here), *result)
