"""Functions with derivative rules of the user's own: what `custom_vjp` and `custom_jvp` have in common."""

from __future__ import annotations

import inspect
import operator
import threading
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sdfgad.errors import ArgumentError, Location, UnsupportedProgram
from sdfgad.parse import trees
from sdfgad.parse.closure_conversion import outer_number
from sdfgad.parse.closures import Closure
from sdfgad.parse.references import arrays_behind
from sdfgad.parse.transformed import CallSite, Wrapped
from sdfgad.parse.values import Tensor
from sdfgad.specialise.signature import own_copy

# A rule may call its function, whose derivative, in one of higher order, is that of the rule again: up to this order.
ORDERS = 3
# The functions whose rules are being parsed in this thread.
_parsing = threading.local()


def _active() -> Counter[tuple[str, int]]:
    """How many rules of each function are being parsed, within each other."""
    found: Counter[tuple[str, int]] = vars(_parsing).setdefault("active", Counter())
    return found


def level() -> int:
    """In how many forward rules a call is being parsed, within the innermost backward rule around it."""
    return int(vars(_parsing).setdefault("level", 0))


@contextmanager
def at_level(number: int) -> Iterator[None]:
    """While a forward rule is being parsed, one level higher, or a backward rule, at level 0."""
    before = level()
    _parsing.level = number
    try:
        yield
    finally:
        _parsing.level = before


class WithRule(Wrapped):
    """A function with a rule; what a call returns are new arrays, in Python as in programs."""

    kind = setter = ""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.rule: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # In programs the value is a copy.
        return own_copy(super().__call__(*args, **kwargs))

    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call in a program that is being parsed, or the definition of the rule there.

        Raises:
            UnsupportedProgram: a program defines the rule of a function from outside.
        """
        if method == "__call__":
            return self.value_within(site, args, kwargs)
        if not isinstance(self.function, Closure):
            what = f"the program sets the rule of `{self.function.__name__}`, which is defined outside of it"
            raise UnsupportedProgram(what, site.b.where, "Set it where the function is defined.")
        setter: Callable[..., Any] = getattr(self, method)
        return setter(*args, **kwargs)

    @abstractmethod
    def value_within(self, site: CallSite, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """The value of a call in a program that is being parsed, with the rule's derivative."""

    def rule_at(self, site: CallSite) -> Any:
        """The rule, which later calls look up again.

        Raises:
            ArgumentError: there is none.
        """
        if self.rule is None:
            what = f"the {self.kind} `{self.function.__name__}` has no rule"
            raise ArgumentError(what, site.b.where, f"Set it before the program is differentiated: {self.setter}.")
        return site.b.looked_up(self, "rule", self.rule, lambda: self.rule)

    @property
    def is_parsing(self) -> bool:
        """Whether its rule is being parsed, within itself so often that further calls are taken as they are written."""
        return _active()[self.kind, id(self)] >= ORDERS

    @contextmanager
    def parsing(self) -> Iterator[None]:
        """While its rule is being parsed."""
        active = _active()
        active[self.kind, id(self)] += 1
        try:
            yield
        finally:
            active[self.kind, id(self)] -= 1

    def run(self, site: CallSite, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What a function returns for the arguments.

        Raises:
            ArgumentError: it updates an argument, of which the derivative would then be that of another value, or reads
                numbers that are none of its arguments.
        """
        name = f"{self.kind} `{self.function.__name__}`"
        outer = outer_number(function)
        if outer is not None:
            what = f"the {name} reads {outer} of the program around it, and its rule is for its arguments alone"
            raise ArgumentError(what, site.b.where, "Pass it as an argument, too.")
        versions, where, before = site.b.versions, site.b.where, trees.leaves(arguments)
        start = versions.writes
        result = site.call(function, *arguments)
        after = trees.leaves(arguments)
        arrays = set().union(*(arrays_behind(leaf) for leaf in before if isinstance(leaf, Tensor)))
        is_same = len(before) == len(after) and all(map(operator.is_, before, after))
        if not is_same or not arrays.isdisjoint(versions.written_since(start)):
            what = f"the function, or the forward rule, of the {name} updates an argument in place"
            raise ArgumentError(what, where, "Let it return what it computes: y = x.copy(), and update y.")
        site.b.where = where
        return result

    def by_position(self, args: Sequence[Any], kwargs: Mapping[str, Any], where: Location | None) -> tuple[Any, ...]:
        """All arguments of a call by position, with defaults.

        Raises:
            ArgumentError: they do not fit.
        """
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
