"""Constant propagation of integer arrays: what their elements are, where that is known while parsing.

Shapes, shifts and axes may be elements of such arrays (``np.roll(f, C[k])``), and indices into other arrays may follow
a pattern that an array of them hides (``u[(np.arange(n) + 1) % n]``).
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.ir.evaluate import Varying, contains, evaluated
from sdfgad.ir.expr import Expr, Int, Lin, Read, reads
from sdfgad.ir.program import Access, Buffer, Params
from sdfgad.parse.followed import KINDS, MOST_PARTS, SMALL, Partial, can_follow, is_of_floats, is_whole, points
from sdfgad.parse.values import Tensor

Array = np.ndarray[Any, Any]


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
        self._partial: dict[str, Partial] = {}
        # Floats of which integers are made, and such integers. The compiled program may round the former in another
        # way, so that they are used only where there is no program without them.
        self._numbers: dict[str, Array] = {}
        # The symbols and other buffers on which the elements of a buffer depend.
        self._origins: dict[str, frozenset[str]] = {}
        # The inputs that may become constants, and the buffers that must be, or only are, used as such in other blocks.
        self._inputs: dict[str, Array] = {}
        # What inputs that are constants hold before the first statement.
        self._given: dict[str, Array] = {}
        self._needed: set[str] = set()
        self._used: set[str] = set()
        # The buffers of conditions that were known where they were met.
        self._conditions: set[frozenset[str]] = set()

    def create(self, buffer: Buffer, here: Here) -> None:
        """Begin to follow a buffer that the statements of a block fill."""
        self.forget(buffer.name)
        if can_follow(buffer) or is_of_floats(buffer):
            self._homes[buffer.name] = here

    def enter(self, buffer: Buffer, array: Array, here: Here) -> None:
        """Begin to follow an input that holds an array of the user, if that is a constant."""
        if any(array is known for known in self._decisive):
            self.set(buffer, array, here)
        elif can_follow(buffer):
            self._inputs[buffer.name] = array

    def set(self, buffer: Buffer, array: Array, here: Here) -> None:
        """Record what the elements of an input are, which cannot become more constant than that."""
        self._inputs.pop(buffer.name, None)
        self._given[buffer.name] = array
        if can_follow(buffer):
            self._homes[buffer.name], self._arrays[buffer.name] = here, array
        elif is_of_floats(buffer):
            self._homes[buffer.name], self._numbers[buffer.name] = here, array

    def note(self, buffer: str, numbers: Array) -> None:
        """Record which numbers NumPy has in a buffer that is made of constants."""
        if numbers.size <= SMALL and buffer in self._homes:
            self._numbers[buffer] = numbers
            self._partial.pop(buffer, None)

    def forget(self, name: str) -> None:
        for known in (self._homes, self._arrays, self._partial, self._origins, self._numbers):
            known.pop(name, None)

    def write(
        self, buffer: Buffer, params: Params, place: Access, value: Expr, here: Here, accumulate: str | None
    ) -> None:
        """Record a statement, ``place = value`` in a box, or ``place += value`` for another way to `accumulate`.

        Raises:
            Varies: it is in a loop that has used an element of the buffer as a constant.
        """
        name = buffer.name
        if buffer.dtype.kind not in KINDS:
            self._write_floats(buffer, params, place, value, here, accumulate)
            return
        self._numbers.pop(name, None)
        if name not in self._homes:
            return
        parts = [value, *map(Int, place.index)]
        behind = frozenset[str]().union(*map(self.origins, parts)) - {n for n, _ in params}
        if self._homes[name].block is not here.block:
            self._vary(name, here.loops - self._homes[name].loops)
            self._origins[name] |= behind
            return
        self._origins[name] = self._origins.get(name, frozenset()) | behind
        box = points(params)
        values = None if box is None else evaluated(value, box, self._arrays)
        index = [None if box is None else evaluated(Int(form), box, self._arrays) for form in place.index]
        if accumulate and box is not None and values is not None:
            # Each point of the box counts, also where the value is the same at all.
            values = np.broadcast_to(values, np.broadcast_shapes(*(points.shape for points in box.values())))
        self._assign(buffer, index, values, accumulate)
        fills = values is None and box is not None and is_whole(buffer, params, place)
        if fills and accumulate is None and self._numbers:
            self._note(buffer, evaluated(value, box or {}, self._arrays | self._numbers, KINDS + "f"))

    def _write_floats(
        self, buffer: Buffer, params: Params, place: Access, value: Expr, here: Here, accumulate: str | None
    ) -> None:
        """Record a statement that fills an array of floats, which are followed where they are made of constants."""
        name = buffer.name
        home = self._homes.get(name)
        if home is not None and home.block is not here.block:
            is_made = all(read.buffer in self._homes for read in reads(value))
            if name in self._numbers:
                self._vary(name, here.loops - home.loops)
            if not is_made:
                # What is data is not known in unrolled loops either.
                self._origins.pop(name, None)
            for of in (self._homes, self._partial, self._numbers):
                of.pop(name, None)
            home = None
        self._trace(buffer, None if accumulate else value)
        if home is None:
            return
        box = None if accumulate else points(params, SMALL)
        known = ChainMap(self._arrays, self._numbers)
        values = None if box is None else evaluated(value, box, known, KINDS + "f")
        if values is not None or (box is not None and all(read.buffer in known for read in reads(value))):
            # Where counters are all that is not known, it is known in unrolled loops.
            behind = self.origins(value) - {n for n, _ in params}
            self._origins[name] = self._origins.get(name, frozenset()) | behind
        if values is None:
            self._numbers.pop(name, None)
            self._partial.pop(name, None)
            return
        index = [evaluated(Int(form), box or {}, self._arrays) for form in place.index]
        self._assign(buffer, index, values, None)

    def _note(self, buffer: Buffer, values: Any) -> None:
        if values is not None:
            self.note(buffer.name, np.broadcast_to(values, tuple(extent.const for extent in buffer.shape)))

    def _trace(self, buffer: Buffer, value: Expr | None) -> None:
        """Record of which integers a float or complex number is made: a length may be made of it, ``int(0.5 * n)``."""
        if buffer.shape or buffer.dtype.kind not in "fc" or value is None:
            return
        sources = (self._origins.get(read.buffer, frozenset()) for read in reads(value))
        if behind := value.symbols.union(*sources):
            self._origins[buffer.name] = self._origins.get(buffer.name, frozenset()) | behind

    def derive(self, buffer: Buffer, inputs: Iterable[str]) -> None:
        """Record that a buffer is computed of others by a function that is not followed."""
        if can_follow(buffer):
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
        known = self._arrays if buffer.dtype.kind in KINDS else self._numbers
        array = known.pop(name, None)
        old = self._partial.pop(name, None) or Partial.of(buffer, array)
        is_known = values is not None and all(i is not None for i in index)
        if not (is_known and all(map(contains, (extent.const for extent in buffer.shape), index))):
            # Its elements are not known any more, unless other statements write them again.
            self._partial[name] = Partial.of(buffer, None)
            return
        new = old.assigned(tuple(index), values, accumulate)
        if not new.missing.any():
            known[name] = new.array
        if new.parts <= MOST_PARTS or new.array.size <= SMALL:
            self._partial[name] = new
        else:
            self.forget(name)

    def array(self, tensor: Tensor, here: Here, is_needed: bool = True) -> Array | None:
        """The elements of an integer array, if they are known; `is_needed`: without them there is no program."""
        params = tuple((f"k{axis}_", extent) for axis, extent in enumerate(tensor.shape))
        can_use = tensor.dtype.kind in KINDS + "f" * is_needed and (is_needed or self._may_guess)
        box = points(params) if can_use else None
        if box is None:
            return None
        element = tensor.element(tuple(Lin.symbol(name) for name, _ in params))
        found = self._used_as(element, box, here, is_needed)
        return None if found is None else np.broadcast_to(found, tuple(extent.const for extent in tensor.shape))

    def note_condition(self, expr: Expr) -> None:
        """Record the buffers that a condition reads, where they are known so far."""
        names = frozenset(read.buffer for read in reads(expr))
        if self._knows(names):
            self._conditions.add(names)

    @property
    def knows_a_condition(self) -> bool:
        """Whether the buffers of a condition that was met are known still: no loop has been found to change them."""
        return any(map(self._knows, self._conditions))

    def _knows(self, names: frozenset[str]) -> bool:
        return bool(names) and names <= self._arrays.keys() | self._numbers.keys()

    def inputs_behind(self, expr: Expr) -> dict[str, Array]:
        """The user's arrays that an expression reads, by buffer, if it would be known if they were constants."""
        names = {read.buffer for read in reads(expr)}
        is_known = names <= {*self._inputs, *self._arrays}
        return {name: array for name, array in self._inputs.items() if name in names and is_known}

    def integer(self, form: Lin, here: Here, is_needed: bool = True) -> int | None:
        """The value of an integer form, if it is known; `is_needed` as for arrays."""
        if not is_needed and not self._may_guess:
            return None
        found = self._used_as(Int(form), {}, here, is_needed)
        return None if found is None else int(found)

    def input_of(self, tensor: Tensor) -> Array | None:
        """The array of the user of which a tensor is all elements in order, if it may become a constant."""
        index = tuple(Lin.symbol(f"k{axis}_") for axis in range(tensor.ndim))
        element = tensor.element(index)
        given = self._inputs.get(element.buffer) if isinstance(element, Read) and element.index == index else None
        return given if given is not None and given.shape == tuple(extent.plain for extent in tensor.shape) else None

    def of_inputs(self, names: Iterable[str], updated: Iterable[str]) -> dict[str, Array] | None:
        """What buffers hold that the program does not write, and `updated` inputs at first; None if it is data.

        Raises:
            Decides: some are inputs that may become constants.
        """
        names, updated = set(names), set(updated)
        if inputs := sorted((names | updated) & {*self._inputs}):
            raise Decides([self._inputs[name] for name in inputs])
        known = ChainMap(self._arrays, self._numbers)
        if not (names <= known.keys() and updated <= self._given.keys()):
            return None
        return {name: known[name] for name in names} | {name: self._given[name].copy("C") for name in updated}

    def learn(self, buffer: Buffer, array: Array, here: Here) -> None:
        """Record what the statements so far have been found to leave in a buffer."""
        self.forget(buffer.name)
        (self._arrays if buffer.dtype.kind in KINDS else self._numbers)[buffer.name] = array
        self._homes[buffer.name], self._origins[buffer.name] = here, frozenset()

    def home(self, name: str) -> Any:
        """The block that makes a buffer, if that is followed."""
        return self._homes[name].block if name in self._homes else None

    def at_points(
        self, expr: Expr, points: Mapping[str, Any], here: Here, varying: Mapping[str, Varying], decide: bool
    ) -> Any:
        """The values of an expression of integers at points of the loops around, if known.

        Args:
            varying: what buffers hold at each point.
            decide: whether inputs that would have to be constants for that become so.

        Raises:
            Decides: they do.
        """
        others = [read for read in reads(expr) if read.buffer not in varying]
        if not self._may_guess:
            return None
        inputs = {read.buffer for read in others} & {*self._inputs}
        if inputs and decide and {read.buffer for read in others} <= {*inputs, *self._arrays}:
            raise Decides([self._inputs[name] for name in sorted(inputs)])
        return self._used_as(expr, points, here, is_needed=False, varying=varying)

    def _used_as(
        self, expr: Expr, box: Mapping[str, Any], here: Here, is_needed: bool, varying: Mapping[str, Any] | None = None
    ) -> Any:
        found = evaluated(expr, box, ChainMap(dict(varying or {}), self._arrays))
        if found is None and is_needed and self._numbers:
            found = evaluated(expr, box, self._arrays | self._numbers, KINDS + "f")
        if found is not None:
            names = {n for n in self.origins(expr) if n in self._homes and self._homes[n].block is not here.block}
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
        return *known, set(self._needed), set(self._used), dict(self._numbers)

    def restore(self, state: tuple[Any, ...]) -> None:
        self._homes, self._arrays, self._partial, self._origins = map(dict, state[:4])
        self._needed, self._used = map(set, state[4:6])
        self._numbers = dict(state[6])
