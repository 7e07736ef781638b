"""A derivative rule of the user's own in forward mode: `custom_jvp`, as in JAX. It serves the reverse sweep, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sdfgad.api.rules import WithRule
from sdfgad.parse.transformed import CallSite, transformation
from sdfgad.specialise.jvp_rules import TangentRule, with_tangents


@transformation
class custom_jvp(WithRule):  # The name is JAX's.
    """A function with a rule of its own for derivatives in a direction.

    `defjvp` sets the rule: ``rule(primals, tangents)`` returns the value and its derivative, for tuples of arguments
    and of their tangents; it must be linear in the tangents. Derivatives of higher order use the rule, too, also
    where the rule calls the function; the value is the function's, not the first result of the rule. Tangents of
    integers are 0. What a call returns are new arrays; the function may not update its arguments.

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

    kind, setter = "custom_jvp", "f.defjvp(rule)"

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the rule, and returns it."""
        self.rule = rule
        return rule

    def value_within(self, site: CallSite, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """The value of a call in a program that is being parsed, with the rule's derivative."""
        rule = self.rule_at(site)
        arguments = self.by_position(args, kwargs, site.b.where)
        value = self.run(site, self.function, arguments)
        if self.is_parsing:
            return value
        with self.parsing():
            return with_tangents(site.b, TangentRule(self.function.__name__, rule, arguments), value)
