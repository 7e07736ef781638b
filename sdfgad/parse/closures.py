"""Closures: functions that are defined in a function."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sdfgad.errors import Location
from sdfgad.parse.frame import Frame
from sdfgad.parse.source import FunctionNode, Source
from sdfgad.parse.values import Holder


@dataclass(frozen=True, eq=False)
class Closure(Holder):
    """A nested function: its node, the frame of the function that defines it, and its signature with defaults.

    A method of a class that is defined there is one, too.
    """

    noun = "a function"
    instead = "Call it: f(x)."

    node: FunctionNode
    frame: Frame
    signature: inspect.Signature
    # The class of which it is a method.
    cls: type | None = None
    # Whether it keeps what it has returned, as `functools.cache` says.
    is_cached: bool = False

    @staticmethod
    def of(frame: Frame, node: FunctionNode) -> Closure:
        a = node.args
        positional = [*a.posonlyargs, *a.args]
        keyword_only = [(name, default) for name, default in zip(a.kwonlyargs, a.kw_defaults, strict=True) if default]
        given = [*zip(positional[len(positional) - len(a.defaults) :], a.defaults, strict=True), *keyword_only]
        defaults = {name: frame.b.settle(frame.eval(default)) for name, default in given}
        kinds: list[tuple[ast.arg, Any]] = [(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in positional]
        kinds += [(a.vararg, inspect.Parameter.VAR_POSITIONAL)] if a.vararg else []
        kinds += [(n, inspect.Parameter.KEYWORD_ONLY) for n in a.kwonlyargs]
        kinds += [(a.kwarg, inspect.Parameter.VAR_KEYWORD)] if a.kwarg else []
        nothing = inspect.Parameter.empty
        return Closure(
            node,
            frame,
            inspect.Signature([inspect.Parameter(n.arg, kind, default=defaults.get(n, nothing)) for n, kind in kinds]),
        )

    @property
    def held(self) -> Iterable[Any]:
        return (self.frame, *(parameter.default for parameter in self.signature.parameters.values()))

    @property
    def source(self) -> Source:
        outer = self.frame.source
        names = outer.outer if self.cls is None else {**outer.outer, "__class__": self.cls}
        return Source(outer.function, self.node, outer.file, outer.text, names)

    @property
    def where(self) -> Location:
        """The line of its definition."""
        return self.frame.source.where(self.node)

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def __signature__(self) -> inspect.Signature:
        return self.signature

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "lambda")

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        """Never called, as the parser inlines closures: it makes one a callable, which `partial` requires."""
        raise NotImplementedError
