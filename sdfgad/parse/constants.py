"""Constant propagation of integer arrays: what their elements are, where that is known while parsing.

Shapes, shifts and axes may be elements of such arrays (``np.roll(f, C[k])``), and indices into other arrays may follow
a pattern that an array of them hides (``u[(np.arange(n) + 1) % n]``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.ir.evaluate import contains, evaluated
from sdfgad.ir.expr import INT, Expr, Int, Lin, reads
from sdfgad.ir.program import Access, Buffer, Params
from sdfgad.parse.values import Tensor

Array = np.ndarray[Any, Any]
KINDS = "ib"
# Larger arrays, and arrays that are filled in more parts than these unless they are small, are not followed.
MOST_ELEMENTS = 2**20
MOST_PARTS = 64
SMALL = 2**12


class Varies(Exception):
    """Raised where loops, with these counters, write an array of which they have used an element as a constant."""

    def __init__(self, loops: frozenset[str]) -> None:
        self.what = "an integer that must be known before the run is changed in this loop"
        super().__init__(self.what)
        self.loops = loops


class Guessed(Exception):
    """Raised where a loop writes an array whose elements have been used as constants, though they need not be known."""


class Decides(Exception):
    """Raised where elements of the user's `arrays` are needed as constants."""

    def __init__(self, arrays: list[Array]) -> None:
        super().__init__(f"{len(arrays)} arrays")
        self.arrays = arrays


@dataclass(frozen=True)
class _Partial:
    """The elements of an array, which of them are not known yet, and the number of statements that have filled it."""

    array: Array
    missing: Array
    parts: int

    @staticmethod
    def of(buffer: Buffer, array: Array | None) -> _Partial:
        shape = tuple(extent.const for extent in buffer.shape)
        known = np.zeros(shape, buffer.dtype) if array is None else array
        return _Partial(known, np.full(shape, array is None), 0)

    def assigned(self, index: tuple[Any, ...], values: Array, accumulate: str | None) -> _Partial:
        # Snapshots share arrays: each part is written to a copy.
        array, missing = self.array.copy(), self.missing.copy()
        if accumulate is None:
            array[index], missing[index] = values, False
        else:
            flat = np.ravel_multi_index(index, array.shape) if index else 0
            getattr(np, accumulate).at(array.reshape(-1), *np.broadcast_arrays(flat, values))
        return _Partial(array, missing, self.parts + 1)


@dataclass(frozen=True, eq=False)
class Here:
    """A position in the program: the block, and the counters of the loops around it."""

    block: Any
    loops: frozenset[str]


class Constants:
    """The integer arrays that are known at the present statement.

    Args:
        decisive: arrays of the user whose elements are constants of the program.
        may_guess: whether elements are used as constants also where they need not be known.
    """

    def __init__(self, decisive: Iterable[Array] = (), may_guess: bool = True) -> None:
        self._decisive, self._may_guess = tuple(decisive), may_guess
        # Where a buffer is created, its elements, and those of buffers of which only some are known.
        self._homes: dict[str, Here] = {}
        self._arrays: dict[str, Array] = {}
        self._partial: dict[str, _Partial] = {}
        # Numbers of which integers are made, and such integers. The compiled program may round the former in another
        # way, so that they are used only where there is no program without them.
        self._numbers: dict[str, Array] = {}
        self._noted: dict[str, Here] = {}
        # The symbols and other buffers on which the elements of a buffer depend.
        self._origins: dict[str, frozenset[str]] = {}
        # The inputs that may become constants, and the buffers that must be, or only are, used as such in other blocks.
        self._inputs: dict[str, Array] = {}
        self._needed: set[str] = set()
        self._used: set[str] = set()

    def create(self, buffer: Buffer, here: Here) -> None:
        """Begin to follow a buffer that the statements of a block fill."""
        self.forget(buffer.name)
        if _can_follow(buffer):
            self._homes[buffer.name] = here

    def enter(self, buffer: Buffer, array: Array, here: Here) -> None:
        """Begin to follow an input that holds an array of the user, if that is a constant."""
        if any(array is known for known in self._decisive):
            self.set(buffer, array, here)
        elif _can_follow(buffer):
            self._inputs[buffer.name] = array

    def set(self, buffer: Buffer, array: Array, here: Here) -> None:
        """Record what the elements of an input are, which cannot become more constant than that."""
        self._inputs.pop(buffer.name, None)
        if _can_follow(buffer):
            self._homes[buffer.name], self._arrays[buffer.name] = here, array

    def note(self, buffer: str, numbers: Array, here: Here) -> None:
        """Record which numbers NumPy has in a buffer that is made of constants."""
        if numbers.size <= SMALL:
            self._numbers[buffer], self._noted[buffer] = numbers, here

    def forget(self, name: str) -> None:
        for known in (self._homes, self._arrays, self._partial, self._origins, self._numbers, self._noted):
            known.pop(name, None)

    def write(
        self, buffer: Buffer, params: Params, place: Access, value: Expr, here: Here, accumulate: str | None
    ) -> None:
        """Record a statement, ``place = value`` in a box, or ``place += value`` for another way to `accumulate`.

        Raises:
            Varies: it is in a loop that has used an element of the buffer as a constant.
        """
        name = buffer.name
        self._numbers.pop(name, None)
        noted = self._noted.pop(name, here)
        is_whole = accumulate is None and _is_whole(buffer, params, place)
        if name not in self._homes:
            if noted.block is not here.block:
                self._vary(name, here.loops - noted.loops)
                # Unrolled, the loop would not tell more: parts of such arrays are not followed.
                self._origins[name] -= here.loops
            self._trace(buffer, None if accumulate else value)
            if is_whole and buffer.dtype.kind == "f":
                self._note(buffer, value, params, here)
            return
        parts = [value, *map(Int, place.index)]
        behind = frozenset[str]().union(*map(self.origins, parts)) - {n for n, _ in params}
        if self._homes[name].block is not here.block:
            self._vary(name, here.loops - self._homes[name].loops)
            self._origins[name] |= behind
            return
        self._origins[name] = self._origins.get(name, frozenset()) | behind
        box = _points(params)
        values = None if box is None else evaluated(value, box, self._arrays)
        index = [None if box is None else evaluated(Int(form), box, self._arrays) for form in place.index]
        if accumulate and box is not None and values is not None:
            # Each point of the box counts, also where the value is the same at all.
            values = np.broadcast_to(values, np.broadcast_shapes(*(points.shape for points in box.values())))
        self._assign(buffer, index, values, accumulate)
        if is_whole and values is None and self._numbers:
            self._note(buffer, value, params, here)

    def _note(self, buffer: Buffer, value: Expr, params: Params, here: Here) -> None:
        """Note the numbers of an array that one statement makes of known ones."""
        shape = tuple(extent.const for _, extent in params)
        box = _points(params) if math.prod(shape) <= SMALL and reads(value) else None
        values = None if box is None else evaluated(value, box, self._arrays | self._numbers, KINDS + "f")
        if values is not None:
            self.note(buffer.name, np.broadcast_to(values, shape), here)
            behind = self.origins(value) - {name for name, _ in params}
            self._origins[buffer.name] = self._origins.get(buffer.name, frozenset()) | behind

    def _trace(self, buffer: Buffer, value: Expr | None) -> None:
        """Record of which integers a float or complex number is made: a length may be made of it, ``int(0.5 * n)``."""
        if buffer.shape or buffer.dtype.kind not in "fc" or value is None:
            return
        sources = (self._origins.get(read.buffer, frozenset()) for read in reads(value))
        if behind := value.symbols.union(*sources):
            self._origins[buffer.name] = self._origins.get(buffer.name, frozenset()) | behind

    def derive(self, buffer: Buffer, inputs: Iterable[str]) -> None:
        """Record that a buffer is computed of others by a function that is not followed."""
        if _can_follow(buffer):
            self._origins[buffer.name] = frozenset(inputs).union(*(self._origins.get(name, ()) for name in inputs))

    def _vary(self, name: str, loops: frozenset[str]) -> None:
        """Forget a buffer that another block writes, and what is computed of it: they depend on the loops around."""
        if loops and name in self._needed:
            raise Varies(loops)
        if loops and name in self._used:
            raise Guessed
        dependent = {n for n, origins in self._origins.items() if name in origins} if loops else set()
        for other in {name, *dependent}:
            origins = self._origins.get(other, frozenset())
            self.forget(other)
            self._origins[other] = origins | loops

    def _assign(self, buffer: Buffer, index: list[Any], values: Any, accumulate: str | None) -> None:
        name = buffer.name
        array = self._arrays.pop(name, None)
        old = self._partial.pop(name, None) or _Partial.of(buffer, array)
        is_known = values is not None and all(i is not None for i in index)
        if not (is_known and all(map(contains, (extent.const for extent in buffer.shape), index))):
            # Its elements are not known any more, unless other statements write them again.
            self._partial[name] = _Partial.of(buffer, None)
            return
        new = old.assigned(tuple(index), values, accumulate)
        if not new.missing.any():
            self._arrays[name] = new.array
        if new.parts <= MOST_PARTS or new.array.size <= SMALL:
            self._partial[name] = new
        else:
            self.forget(name)

    def array(self, tensor: Tensor, here: Here, is_needed: bool = True) -> Array | None:
        """The elements of an integer array, if they are known; `is_needed`: without them there is no program."""
        params = tuple((f"k{axis}_", extent) for axis, extent in enumerate(tensor.shape))
        can_use = tensor.dtype.kind in KINDS and (is_needed or self._may_guess)
        box = _points(params) if can_use else None
        if box is None:
            return None
        element = tensor.element(tuple(Lin.symbol(name) for name, _ in params))
        found = self._used_as(element, box, here, is_needed)
        return None if found is None else np.broadcast_to(found, tuple(extent.const for extent in tensor.shape))

    def integer(self, form: Lin, here: Here, is_needed: bool = True) -> int | None:
        """The value of an integer form, if it is known; `is_needed` as for arrays."""
        if not is_needed and not self._may_guess:
            return None
        found = self._used_as(Int(form), {}, here, is_needed)
        return None if found is None else int(found)

    def _used_as(self, expr: Expr, box: Mapping[str, Any], here: Here, is_needed: bool) -> Any:
        found = evaluated(expr, box, self._arrays)
        if found is None and is_needed and self._numbers:
            found = evaluated(expr, box, self._arrays | self._numbers, KINDS + "f")
        if found is not None:
            homes = self._homes | self._noted
            names = {n for n in self.origins(expr) if n in homes and homes[n].block is not here.block}
            (self._needed if is_needed else self._used).update(names)
        return found

    def require(self, form: Lin) -> frozenset[str]:
        """The symbols and buffers on which an integer that is not known depends.

        Raises:
            Decides: some are inputs that may become constants.
        """
        origins = self.origins(Int(form))
        found = origins & {*self._inputs}
        if found:
            raise Decides([self._inputs[name] for name in sorted(found)])
        return origins

    def origins(self, expr: Expr) -> frozenset[str]:
        """The symbols and buffers on which the value of an expression depends, as far as they are followed."""
        names = frozenset(read.buffer for read in reads(expr))
        return expr.symbols.union(names, *(self._origins.get(name, ()) for name in names))

    def snapshot(self) -> tuple[Any, ...]:
        """What is known, for `restore`."""
        known = dict(self._homes), dict(self._arrays), dict(self._partial), dict(self._origins)
        return *known, set(self._needed), set(self._used), dict(self._numbers), dict(self._noted)

    def restore(self, state: tuple[Any, ...]) -> None:
        self._homes, self._arrays, self._partial, self._origins = map(dict, state[:4])
        self._needed, self._used = map(set, state[4:6])
        self._numbers, self._noted = map(dict, state[6:])


def _can_follow(buffer: Buffer) -> bool:
    sizes = [extent.const for extent in buffer.shape if extent.is_const]
    return buffer.dtype.kind in KINDS and len(sizes) == len(buffer.shape) and math.prod(sizes) <= MOST_ELEMENTS


def _is_whole(buffer: Buffer, params: Params, place: Access) -> bool:
    """Whether a statement writes each element of a buffer, in order."""
    sizes = tuple(extent for _, extent in params)
    return sizes == tuple(buffer.shape) and place.index == tuple(Lin.symbol(name) for name, _ in params)


def _points(params: Params) -> dict[str, Array] | None:
    """The values of the parameters of a box, which broadcast to its shape; None if it is large, or not known."""
    extents = [extent.const for _, extent in params]
    if not all(extent.is_const for _, extent in params) or math.prod(extents) > MOST_ELEMENTS:
        return None
    grids = np.ogrid[tuple(slice(0, extent) for extent in extents)] if extents else ()
    return {name: grid.astype(INT) for (name, _), grid in zip(params, grids, strict=True)}
