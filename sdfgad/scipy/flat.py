"""Ravelling: the floating numbers of an array or container as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.parse.structure import Structure, build, container, flattened, names

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True)
class Flat:
    """The order in which the numbers of a container lie in a vector of doubles.

    A complex number takes two places, for its real and its imaginary part. Integers, booleans and other constants have
    none: they stay as they are.

    Attributes:
        structure: of the container; None for a number or an array.
        leaves: the container's own.
    """

    structure: Structure | None
    leaves: tuple[Any, ...]

    @staticmethod
    def of(like: Any) -> Flat:
        """Of a number, an array, or a container of them; as in SciPy, a list of numbers is an array.

        Raises:
            ArgumentError: it has no floats.
        """
        structure, leaves = flattened(_as_floats(like), "x0")
        found = Flat(structure, tuple(leaves))
        if not any(map(_varies, found.leaves)):
            raise ArgumentError("x0 has no floats", todo="Pass floats, or floating arrays, to start from.")
        return found

    @property
    def is_real_array(self) -> bool:
        """Whether it is one array of real numbers rather than a container."""
        return self.structure is None and isinstance(self.leaves[0], np.ndarray) and self.leaves[0].dtype.kind == "f"

    @property
    def start(self) -> Vector:
        """The vector of the container itself."""
        return self._joined(self.leaves)

    @property
    def size(self) -> int:
        return sum(_count(leaf) for leaf in self.leaves if _varies(leaf))

    def vector(self, tree: Any) -> Vector:
        """The numbers of a container like this one, such as its gradient.

        Raises:
            ArgumentError: it is arranged otherwise, or has other shapes.
        """
        structure, leaves = flattened(tree, "x")
        given = dict(zip(names(structure, "x"), leaves, strict=True))
        if not self._varying <= given.keys() <= set(self._names):
            what = f"a container has {', '.join(given)}, and x0 has {', '.join(self._names)}"
            raise ArgumentError(what, todo="Arrange it as x0 is.")
        return self._joined(map(given.get, self._names))

    def tree(self, vector: Any) -> Any:
        """A container with these numbers, in the dtypes of this one, and its constants."""
        return self._placed(vector, constants=True)

    def direction(self, vector: Any) -> Any:
        """A container with these numbers, and None for constants."""
        return self._placed(vector, constants=False)

    def _joined(self, leaves: Any) -> Vector:
        every = zip(self._names, leaves, self.leaves, strict=True)
        return np.concatenate([_as_reals(leaf, like, name) for name, leaf, like in every if _varies(like)])

    @cached_property
    def _names(self) -> list[str]:
        return list(names(self.structure, "x"))

    @cached_property
    def _varying(self) -> set[str]:
        return {name for name, leaf in zip(self._names, self.leaves, strict=True) if _varies(leaf)}

    def _placed(self, vector: Any, constants: bool) -> Any:
        return build(self.structure, self._leaves(np.asarray(vector, np.float64), constants), container)

    def _leaves(self, vector: Vector, constants: bool) -> Iterator[Any]:
        at = 0
        for like in self.leaves:
            if not _varies(like):
                yield like if constants else None
                continue
            yield _like(vector[at : at + _count(like)], like)
            at += _count(like)


def _as_floats(start: Any) -> Any:
    """Numbers that are integers, and lists of numbers, as SciPy reads them."""
    if isinstance(start, list) and start and all(isinstance(one, (int, float, np.number)) for one in start):
        return np.asarray(start, np.float64)
    if isinstance(start, np.ndarray) and start.dtype.kind in "iu":
        return start.astype(np.float64)
    return float(start) if isinstance(start, (int, np.integer)) else start


def _varies(leaf: Any) -> bool:
    is_float = isinstance(leaf, (float, complex)) and not isinstance(leaf, np.generic)
    return is_float or (isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "fc")


def _count(leaf: Any) -> int:
    return int(np.size(leaf)) * (2 if np.iscomplexobj(leaf) else 1)


def _as_reals(leaf: Any, like: Any, name: str) -> Vector:
    if np.shape(leaf) not in ((), np.shape(like)) or np.iscomplexobj(leaf) != np.iscomplexobj(like):
        found, expected = (f"{np.asarray(one).dtype} of shape {np.shape(one)}" for one in (leaf, like))
        raise ArgumentError(f"`{name}` is {found}, and in x0 {expected}", todo="Arrange it as x0 is.")
    leaf = np.broadcast_to(leaf, np.shape(like))
    if np.iscomplexobj(leaf):
        return np.ascontiguousarray(leaf, np.complex128).reshape(-1).view(np.float64)
    return np.asarray(leaf, np.float64).reshape(-1)


def _like(part: Vector, like: Any) -> Any:
    """Numbers in the type of a leaf: a Python number, a NumPy scalar or an array."""
    numbers = np.ascontiguousarray(part).view(np.complex128) if np.iscomplexobj(like) else part
    if isinstance(like, np.ndarray):
        return numbers.reshape(like.shape).astype(like.dtype)
    return like.dtype.type(numbers[0]) if isinstance(like, np.generic) else numbers[0].item()
