"""Digests (random projections) of result arrays, and whether two differ by more than rounding explains.

A digest has a bounded size, so that results can be compared within a memory limit: a small array is copied, a large one
is projected, block by block, on random weights.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# The greatest length of a digest.
MOST_VALUES = 4096
# Tolerance: results may differ by this factor times the deviation of perturbed plain code. Each rounding is perturbed
# by its bound with a random sign; if n errors of equal weight all reach their bounds and add up, their sum is sqrt(n)
# times the deviation of the perturbed results: 16 covers n = 256, and more, as real errors are far below their bounds.
FACTOR = 16.0
# A change of the last bits is rounding, even where no perturbation moves a result that hardly depends on any.
LAST_BITS = 4.0
# A perturbed result may be exact by chance: its deviation is the maximum over so many neighbours on each side.
NEIGHBOURS = 16


@dataclass(frozen=True, eq=False)
class Digest:
    """The digest of an array.

    Attributes:
        bits: a hash of its bits.
        values: a 1-d float64 array that any wrong element changes; if some elements are not finite, sums of the finite
            ones, followed by as many that tell where the others are.
        units: how far each of these moves if all elements move by the precision of their dtype, to random sides.
    """

    bits: bytes
    values: Array
    units: Array


@dataclass(frozen=True)
class Difference:
    """A difference that rounding does not explain: its position in the digest, and the values there."""

    name: str
    position: int
    plain: float
    optimised: float
    explained: float

    def __str__(self) -> str:
        return (
            f"`{self.name}` (number {self.position} of its digest) is {self.optimised:.17g} "
            f"instead of {self.plain:.17g}; rounding explains {self.explained:.1e}"
        )


def digest_of(array: Array) -> Digest:
    """The digest of an array of any dtype."""
    flat = array.reshape(-1)
    bits = hashlib.blake2b(flat.view(np.uint8).data if flat.size else b"").digest()
    parts = _real_parts(array)
    precision = np.finfo(parts.dtype).eps if parts.dtype.kind == "f" else 0.0
    values = values_of(array)
    with np.errstate(all="ignore"):
        units = precision * np.sqrt(_projected(_finite(parts), 2))
    return Digest(bits, values, _padded(np.where(np.isfinite(units), units, 0.0), values.size))


def values_of(array: Array) -> Array:
    """The values of an array's digest alone, which take half the time of all of it."""
    parts = _real_parts(array)
    sums = _projected(parts, 1)
    if np.isfinite(sums).all():
        return sums
    # A sum with a NaN hides what else is wrong in it.
    kinds = np.select([np.isfinite(parts), np.isnan(parts), parts > 0], [0.0, 1.0, 2.0], 3.0)
    return np.concatenate([_projected(_finite(parts), 1), _projected(kinds, 1)])


def _finite(parts: Array) -> Array:
    return np.where(np.isfinite(parts), parts, parts.dtype.type(0)) if parts.dtype.kind == "f" else parts


def _padded(values: Array, size: int) -> Array:
    return np.pad(values, (0, size - values.size))


def _real_parts(array: Array) -> Array:
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _projected(parts: Array, power: int) -> Array:
    """Sums of a power of the weighted elements of each block."""
    if parts.size <= MOST_VALUES:
        return parts.astype(np.float64) ** power
    length = -(-parts.size // MOST_VALUES)
    weights, whole = _weights(length) ** power, parts.size - parts.size % length
    blocks = parts[:whole].reshape(-1, length), parts[None, whole:]
    with np.errstate(all="ignore"):
        # Not by BLAS, whose sums may depend on where the array lies in memory.
        sums = [
            np.einsum(",".join(["ij"] * power) + ",j->i", *[block] * power, weights[: block.shape[1]])
            for block in blocks
        ]
    return np.concatenate(sums if parts.size > whole else sums[:1])


@functools.lru_cache(maxsize=8)
def _weights(size: int) -> Array:
    """Random weights: of magnitudes between 1/2 and 1, with random signs."""
    rng = np.random.default_rng(size)
    return rng.uniform(0.5, 1.0, size) * rng.choice((-1.0, 1.0), size)


def difference(name: str, plain: Digest, optimised: Digest, perturbed: Sequence[Array]) -> Difference | None:
    """The largest relative excess over the tolerance; None if all differences are within it.

    Args:
        perturbed: the values of the digests of perturbed results.
    """
    with np.errstate(all="ignore"):
        size = max(one.size for one in (plain.values, optimised.values, *perturbed))
        values, found = (_padded(one.values, size) for one in (plain, optimised))
        deviation = _distance(found, values)
        spread = np.max([_distance(_padded(one, size), values) for one in perturbed], axis=0, initial=0.0)
        explained = FACTOR * _neighbourhood_maximum(np.broadcast_to(spread, deviation.shape))
        # Where rounding grows until no digit is certain, as in a run that diverges, its spread is itself uncertain.
        explained = np.where(explained > np.abs(values), FACTOR * explained, explained)
        explained = np.maximum(explained, LAST_BITS * _last_bits(_padded(plain.units, size), spread))
        is_wrong = deviation > explained
        if not is_wrong.any():
            return None
        position = int(np.argmax(np.where(is_wrong, deviation / (explained + np.finfo(float).tiny), 0.0)))
    return Difference(name, position, float(values[position]), float(found[position]), float(explained[position]))


def _last_bits(units: Array, spread: Array) -> Array:
    """How far the last bit of an element, or of one that it has been computed of, may move it.

    Where a difference of larger numbers is small, it moves by their last bits, or not at all. Its neighbours are about
    as large as those, and perturbations show in some elements whether there is anything that may be rounded.
    """
    return _neighbourhood_maximum(units) if spread.any() else units


def _distance(a: Array, b: Array) -> Array:
    """Elementwise absolute difference; infinite where just one is NaN, or an infinity is not matched."""
    is_same = (a == b) | (np.isnan(a) & np.isnan(b))
    found = np.where(is_same, 0.0, np.abs(a - b))
    return np.where(np.isnan(found), np.inf, found)


def _neighbourhood_maximum(values: Array) -> Array:
    if not values.size:
        return values
    padded = np.pad(values, NEIGHBOURS, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1).max(axis=1)
