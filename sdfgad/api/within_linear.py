"""Calls of `vjp` and `linearize` in a program: the value of another one, and its derivative as a linear function."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from sdfgad.api.callables import Callee
from sdfgad.api.higher import linearize, vjp
from sdfgad.api.joint import Joint, Outputs
from sdfgad.api.within import pushed
from sdfgad.errors import ShapeMismatch
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.enclosed import Enclosed, enclosed_value
from sdfgad.parse.transformed import CallSite, Transformed, within
from sdfgad.parse.values import Tensor
from sdfgad.specialise.pushed import pushed_within

Parameter = inspect.Parameter


class _Linear(Transformed):
    """A linear function of a program that is being parsed, at arguments of which it keeps copies."""

    def __init__(self, site: CallSite, callee: Callee, args: tuple[Any, ...], name: str) -> None:
        self._b, self.__name__, self._callee = site.b, name, callee
        self._kept = trees.mapped(args, lambda leaf: _copied(site, leaf), {})

    @property
    def held(self) -> Iterable[Any]:
        return (*self._callee.held, self._kept)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"only the parser calls the {self.__name__}")

    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call, in the program in which it was made, or in one of the programs that this defines."""
        kept = trees.mapped(self._kept, partial(_brought, self._b, site.b), {})
        return self.at(site, kept, *args, **kwargs)

    @abstractmethod
    def at(self, site: CallSite, kept: tuple[Any, ...], *given: Any) -> Any:
        """The function's value."""


class _Pullback(_Linear):
    def __init__(
        self, site: CallSite, joint: Joint, args: tuple[Any, ...], argnums: Any, is_single: bool = False
    ) -> None:
        """`is_single`: the program returns a tuple of one, and that one is the value."""
        super().__init__(site, joint.callee, args, f"pullback of {joint.callee.function.__name__}")
        self._joint = joint
        floating = [k for k, one in enumerate(args) if any(map(_is_floating, trees.leaves(one)))]
        self._positions, self._arranged = joint.arranged(argnums, floating)
        value, _ = pushed_within(site.b, joint.callee.function, args, lambda _: {})
        self.value, self._is_single = value[0] if is_single else value, is_single

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters of a call."""
        return [Parameter("cotangent", Parameter.POSITIONAL_OR_KEYWORD)]

    def at(self, site: CallSite, kept: tuple[Any, ...], *given: Any) -> Any:
        """The cotangents of the arguments.

        Raises:
            ShapeMismatch: a cotangent has another shape than the value.
        """
        (cotangent,) = given
        values, parts = trees.leaves(self.value), trees.leaves(cotangent)
        for value, part in zip(values, parts, strict=False):
            _require_shape(self._b, value, site.b, part)
        pull = self._joint.pullback(tuple(f"primals[{k}]" for k in self._positions))
        cotangents = (cotangent,) if self._is_single else cotangent
        return self._arranged(pull.call_within(site, "__call__", [kept, cotangents], {}))


class _Push(_Linear):
    def __init__(self, site: CallSite, program: Callable[..., Any], joint: Joint, args: tuple[Any, ...]) -> None:
        super().__init__(site, joint.callee, args, f"derivative of {joint.callee.function.__name__}")
        self._program, self._parameters = program, joint.callee.parameters

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters of a call."""
        return self._parameters

    def at(self, site: CallSite, kept: tuple[Any, ...], *given: Any) -> Any:
        """The derivative in a direction."""
        return pushed(site, self._program, kept, given)[1]


@within(vjp)
def vjp_within(
    site: CallSite, program: Callable[..., Any], *args: Any, argnums: Any = None, output: Outputs = None
) -> tuple[Any, Transformed]:
    """The value and the pullback."""
    outputs = None if output is None else (output,) if isinstance(output, str) else tuple(output)
    pull = _Pullback(site, Joint(program, outputs), args, argnums, isinstance(output, str))
    return pull.value, pull


@within(linearize)
def linearize_within(site: CallSite, program: Callable[..., Any], *primals: Any) -> tuple[Any, Transformed]:
    """The value and the derivative as a function of the direction."""
    joint = Joint(program, None)
    value, _ = pushed_within(site.b, joint.callee.function, primals, lambda _: {})
    return value, _Push(site, program, joint, primals)


def _copied(site: CallSite, leaf: Any) -> Any:
    """A copy of an array: later updates do not reach it."""
    return site.call(np.array, leaf) if isinstance(leaf, Tensor) and leaf.place is not None else leaf


def _brought(owner: Builder, b: Builder, leaf: Any) -> Any:
    return enclosed_value(b, Enclosed(owner, leaf, "kept")) if isinstance(leaf, Tensor) and b is not owner else leaf


def _is_floating(leaf: Any) -> bool:
    return isinstance(leaf, float | complex | np.inexact) or (isinstance(leaf, Tensor) and leaf.dtype.kind in "fc")


def _require_shape(owner: Builder, value: Any, b: Builder, part: Any) -> None:
    if isinstance(value, Tensor) and isinstance(part, Tensor):
        shapes = tuple(map(owner.constant, value.shape)), tuple(map(b.constant, part.shape))
        if shapes[0] != shapes[1]:
            what = f"the cotangent has shape {shapes[1]}, the value {shapes[0]}"
            raise ShapeMismatch(what, b.where, "Pass a cotangent shaped like the value.")
