"""Calls of a program with tensors of another framework in place of arrays, also within containers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdfgad.api.pullbacks import Differentiable
from sdfgad.parse.structure import Structure, build, container, flattened

# Stands for a tensor among the leaves of a container.
TENSOR = object()


@dataclass(eq=False)
class TensorCall:
    """What a call of a program is made of, besides the tensors: they are its arguments in the framework's graph.

    Attributes:
        structure: of the tuple of all arguments, with these leaves: TENSOR, or constants.
        places: which leaves are tensors, and `names` their names, such as ``params['w']``.
        returned: the structure of the result and its leaves, TENSOR or constants; known when it has run.
    """

    program: Differentiable
    structure: Structure | None
    leaves: list[Any]
    places: list[int]
    names: list[str]
    returned: tuple[Structure | None, list[Any]] = (None, [])

    def args(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """All arguments, with these tensors, or arrays."""
        return tuple(filled(self.structure, self.leaves, tensors))

    def tangents(self, given: Sequence[Any]) -> list[Any]:
        """The tangents of all arguments: those of tensors, and None for constants."""
        return list(filled(self.structure, _without_constants(self.leaves), given))

    def arranged(self, outputs: Sequence[Any]) -> Any:
        """What the program returns, with these tensors."""
        return filled(*self.returned, outputs)

    def cotangent(self, given: Sequence[Any]) -> Any:
        """The cotangent of what is returned: those of tensors, and None for constants."""
        structure, leaves = self.returned
        return filled(structure, _without_constants(leaves), given)

    @property
    def is_single(self) -> bool:
        """Whether the program returns one array or number; known when it has run."""
        return self.returned[0] is None


def of_tensors(
    program: Callable[..., Any], options: Mapping[str, Any], called: Callable[[Differentiable, tuple[Any, ...]], Any]
) -> Callable[..., Any]:
    """A function with a program's arguments, which are tensors; `called` calls the program in the framework's graph."""
    one = Differentiable(program, options)

    @functools.wraps(program)
    def function(*args: Any, **kwargs: Any) -> Any:
        return called(one, one.positional(args, kwargs))

    return function


def taken_apart(
    args: tuple[Any, ...], is_tensor: Callable[[Any], bool]
) -> tuple[Structure | None, list[Any], list[Any]]:
    """The structure of a value, its leaves with TENSOR for tensors, and the tensors."""
    structure, leaves = flattened(args, "arguments")
    tensors = [leaf for leaf in leaves if is_tensor(leaf)]
    return structure, [TENSOR if is_tensor(leaf) else leaf for leaf in leaves], tensors


def tensor_call(
    program: Differentiable, args: tuple[Any, ...], is_tensor: Callable[[Any], bool]
) -> tuple[TensorCall, list[Any]]:
    """A call of a program, and its tensors."""
    structure, leaves, tensors = taken_apart(args, is_tensor)
    places, every = [k for k, leaf in enumerate(leaves) if leaf is TENSOR], program.leaves(args)
    return TensorCall(program, structure, leaves, places, [every[k] for k in places]), tensors


def filled(structure: Structure | None, leaves: Sequence[Any], tensors: Sequence[Any]) -> Any:
    """A container with tensors for the leaves that are TENSOR, in order."""
    left = iter(tensors)
    return build(structure, iter([next(left) if leaf is TENSOR else leaf for leaf in leaves]), container)


def _without_constants(leaves: Sequence[Any]) -> list[Any]:
    return [leaf if leaf is TENSOR else None for leaf in leaves]
