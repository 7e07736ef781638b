"""Digests of results, and whether two differ by more than rounding explains.

A digest is small whatever the size of the array, so that results can be compared within a memory limit: an array of
few elements is copied, one of many is projected, block by block, on random weights.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Numbers that a digest has at most.
MOST = 4096
# Results may differ by so many times what perturbed plain code is off. Each rounding that may differ is perturbed by
# its bound with a random sign; where all of n errors of equal weight reach theirs and add up, they are sqrt(n) times as
# far off as the perturbed results. Real errors reach a small part of their bounds, so that 256 stands for many more.
FACTOR = 16.0
# A perturbed result may be right by chance; as many of its neighbours will not be.
NEIGHBOURS = 16


@dataclass(frozen=True, eq=False)
class Digest:
    """What is remembered of an array: a hash of its bits, and numbers that a wrong element changes."""

    bits: bytes
    values: Array


@dataclass(frozen=True)
class Difference:
    """Where results differ by more than rounding explains: the place in the digest, and what was found there."""

    name: str
    place: int
    plain: float
    optimised: float
    explained: float

    def __str__(self) -> str:
        return (
            f"`{self.name}` (number {self.place} of its digest) is {self.optimised:.17g} instead of {self.plain:.17g}; "
            f"rounding explains {self.explained:.1e}"
        )


def digest_of(array: Array) -> Digest:
    """The digest of an array of any dtype."""
    flat = array.reshape(-1)
    bits = hashlib.blake2b(flat.view(np.uint8).data if flat.size else b"").digest()
    parts = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
    return Digest(bits, _projected(parts))


def _projected(parts: Array) -> Array:
    if parts.size <= MOST:
        return parts.astype(np.float64)
    length = -(-parts.size // MOST)
    blocks = (parts[k : k + length] for k in range(0, parts.size, length))
    with np.errstate(all="ignore"):
        return np.array([np.sum(_weights(length)[: block.size] * block) for block in blocks])


@functools.lru_cache(maxsize=8)
def _weights(size: int) -> Array:
    """Numbers between 1/2 and 1 with random signs."""
    rng = np.random.default_rng(size)
    return rng.uniform(0.5, 1.0, size) * rng.choice((-1.0, 1.0), size)


def difference(name: str, plain: Digest, optimised: Digest, perturbed: Sequence[Digest]) -> Difference | None:
    """The worst place where two digests differ by more than perturbations do."""
    with np.errstate(all="ignore"):
        off = _distance(optimised.values, plain.values)
        spread = np.max([_distance(one.values, plain.values) for one in perturbed], axis=0, initial=0.0)
        explained = FACTOR * _greatest_around(np.broadcast_to(spread, off.shape))
        is_wrong = off > explained
        if not is_wrong.any():
            return None
        place = int(np.argmax(np.where(is_wrong, off / (explained + np.finfo(float).tiny), 0.0)))
    numbers = (float(values[place]) for values in (plain.values, optimised.values, explained))
    return Difference(name, place, *numbers)


def _distance(a: Array, b: Array) -> Array:
    """Element by element; NaN and infinity are as far as can be from all but themselves."""
    is_same = (a == b) | (np.isnan(a) & np.isnan(b))
    found = np.where(is_same, 0.0, np.abs(a - b))
    return np.where(np.isnan(found), np.inf, found)


def _greatest_around(values: Array) -> Array:
    if not values.size:
        return values
    padded = np.pad(values, NEIGHBOURS, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1).max(axis=1)
