"""A derivative rule of the user's own for the reverse sweep: `custom_vjp`, as in JAX."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdfgad.errors import ArgumentError, Location
from sdfgad.parse import trees
from sdfgad.parse.references import arrays_behind
from sdfgad.parse.transformed import CallSite, Transformed
from sdfgad.parse.values import Tensor
from sdfgad.specialise.linked import Rule, linked
from sdfgad.specialise.signature import own_copy


class custom_vjp(Transformed):  # The name is JAX's.
    """A function with a rule of its own for the reverse sweep.

    `defvjp` sets the rule, two functions: ``forward(*args)`` returns the value and anything that ``backward`` needs;
    ``backward(residuals, cotangent)`` returns a tuple with the cotangent of each argument, None where that is zero. The
    cotangent has the structure of the value, those of arguments have that of the arguments.

    What a call returns are new arrays, also where the function returns an argument; ``forward`` may not update its
    arguments. Neither the function nor ``forward`` is differentiated; gradients of gradients differentiate both of the
    rule's functions, as in JAX. There is no derivative in forward mode.

    Raises:
        ArgumentError: at a call in a program, where the rule is missing, or returns what does not fit.

    Example:
        >>> @sdfgad.custom_vjp
        ... def clipped(x):  # the value of x, with a gradient between -1 and 1
        ...     return x
        >>> clipped.defvjp(lambda x: (x, None), lambda _, c: (np.clip(c, -1.0, 1.0),))
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.rule: tuple[Callable[..., Any], Callable[..., Any]] | None = None
        functools.update_wrapper(self, function)

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Sets the rule."""
        self.rule = forward, backward

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of a call."""
        return list(inspect.signature(self.function).parameters.values())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # In programs the value is a copy of what the forward rule returns.
        return own_copy(self.function(*args, **kwargs))

    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call in a program that is being parsed."""
        where, name = site.b.where, self.function.__name__
        if method != "__call__" or self.rule is None:
            todo = "Set it before the program is differentiated: f.defvjp(forward, backward)."
            raise ArgumentError(f"the custom_vjp `{name}` has no rule", where, todo)
        forward, backward = site.b.looked_up(self, "rule", self.rule, lambda: self.rule)
        arguments = self._ordered(args, kwargs, where)
        result = self._run_forward(site, forward, arguments)
        if not isinstance(result, tuple) or len(result) != 2:
            what = f"the forward rule of the custom_vjp `{name}` returns no pair"
            raise ArgumentError(what, where, "Let it `return value, residuals`; residuals may be None.")
        site.b.where = where
        return linked(site.b, Rule(name, backward, arguments), *result)

    def _run_forward(self, site: CallSite, forward: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What the forward rule returns.

        Raises:
            ArgumentError: it updates an argument, of which the cotangent would then be that of another value.
        """
        versions, where, before = site.b.versions, site.b.where, trees.leaves(arguments)
        start = versions.writes
        result = site.call(forward, *arguments)
        after = trees.leaves(arguments)
        arrays = set().union(*(arrays_behind(leaf) for leaf in before if isinstance(leaf, Tensor)))
        is_same = len(before) == len(after) and all(map(operator.is_, before, after))
        if not is_same or not arrays.isdisjoint(versions.written_since(start)):
            what = f"the forward rule of the custom_vjp `{self.function.__name__}` updates an argument in place"
            raise ArgumentError(what, where, "Let it return what it computes: y = x.copy(), and update y.")
        return result

    def _ordered(self, args: Sequence[Any], kwargs: Mapping[str, Any], where: Location | None) -> tuple[Any, ...]:
        """All arguments by position."""
        try:
            bound = inspect.signature(self.function).bind(*args, **kwargs)
        except TypeError as error:
            todo = f"Its parameters are {', '.join(one.name for one in self.parameters)}."
            raise ArgumentError(f"the call does not fit `{self.function.__name__}`: {error}", where, todo) from None
        bound.apply_defaults()
        ordered: list[Any] = []
        for one in self.parameters:
            value = bound.arguments[one.name]
            ordered += value if one.kind is one.VAR_POSITIONAL else [value]
        return tuple(ordered)
