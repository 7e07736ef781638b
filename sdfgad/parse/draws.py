"""Pseudorandom numbers: what a program draws, by NumPy's own generators, and in which order."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import Lin

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Maker:
    """A generator, or what it is made of, that the program makes: the class, and the arguments.

    Attributes:
        is_seeded: whether it is the same at each call.
    """

    cls: Any
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    is_seeded: bool


@dataclass(frozen=True, eq=False)
class Draw:
    """A call of a method of a generator.

    Attributes:
        source: the generator; one that the program makes is made anew at each call, and stands for that one.
        buffer: the hidden input that gets the numbers; None for a call that only changes the generator.
        loops: the counters and trip counts of the loops around it.
    """

    source: Any
    method: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    buffer: str | None
    loops: tuple[tuple[str, Lin], ...]

    def is_seeded(self, makers: Mapping[int, Maker]) -> bool:
        """Whether each call draws the same numbers: of a generator that it makes of a known seed."""
        return id(self.source) in makers and makers[id(self.source)].is_seeded


@dataclass(frozen=True, eq=False)
class Draws:
    """All that a program draws, in its order.

    Attributes:
        makers: what the program makes, by id; `kept` holds on to the objects that have these.
        placeholders: the hidden inputs, with arrays of their shapes and dtypes.
    """

    draws: tuple[Draw, ...] = ()
    makers: Mapping[int, Maker] | None = None
    kept: tuple[Any, ...] = ()
    placeholders: Mapping[str, Array] | None = None

    def __bool__(self) -> bool:
        return bool(self.draws)

    def numbers(self) -> dict[str, Array]:
        """The hidden inputs of one call; generators from outside advance as in the program itself."""
        arrays = {name: np.empty_like(array) for name, array in (self.placeholders or {}).items()}
        self._run(self.draws, 0, {}, arrays, {})
        return arrays

    def constants(self) -> tuple[dict[str, Array], Draws]:
        """The hidden inputs that are the same at each call, and what is left to draw."""
        seeded, other = self._split()
        return seeded.numbers(), other

    def _split(self) -> tuple[Draws, Draws]:
        makers = self.makers or {}

        def part(is_seeded: bool) -> Draws:
            draws = tuple(draw for draw in self.draws if draw.is_seeded(makers) is is_seeded)
            names = {d.buffer for d in draws}
            held = {name: array for name, array in (self.placeholders or {}).items() if name in names}
            return replace(self, draws=draws, placeholders=held)

        return part(True), part(False)

    def _run(
        self,
        draws: Iterable[Draw],
        depth: int,
        counters: dict[str, int],
        arrays: Mapping[str, Array],
        made: dict[int, Any],
    ) -> None:
        for loop, group in itertools.groupby(draws, lambda d: d.loops[depth] if len(d.loops) > depth else None):
            inside = tuple(group)
            if loop is None:
                for draw in inside:
                    self._draw(draw, counters, arrays, made)
                continue
            for trip in range(loop[1].substitute(counters).const):
                self._run(inside, depth + 1, {**counters, loop[0]: trip}, arrays, made)

    def _draw(self, draw: Draw, counters: dict[str, int], arrays: Mapping[str, Array], made: dict[int, Any]) -> None:
        found = getattr(self._made(draw.source, made), draw.method)(*draw.arguments, **draw.keywords)
        if draw.buffer is not None and draw.buffer in arrays:
            arrays[draw.buffer][tuple(counters[var] for var, _ in draw.loops)] = found

    def _made(self, source: Any, made: dict[int, Any]) -> Any:
        """The object of this call that stands for one that the program makes."""
        maker = (self.makers or {}).get(id(source))
        if maker is None:
            return source
        if id(source) not in made:
            made[id(source)] = maker.cls(*(self._made(a, made) for a in maker.arguments), **maker.keywords)
        return made[id(source)]

    # --- states

    def states(self) -> list[tuple[Any, Any]]:
        """The states of the generators from outside, for `restore`."""
        makers = self.makers or {}
        outside = {id(d.source): d.source for d in self.draws if id(d.source) not in makers}
        return [(source, _state(source)) for source in outside.values()]


def restore(states: Iterable[tuple[Any, Any]]) -> None:
    """Set generators back to the states that they had."""
    for source, state in states:
        if isinstance(source, np.random.Generator):
            source.bit_generator.state = state
        elif isinstance(source, np.random.RandomState):
            source.set_state(state)
        else:
            source.setstate(state)


def _state(source: Any) -> Any:
    if isinstance(source, np.random.Generator):
        return source.bit_generator.state
    return source.get_state() if isinstance(source, np.random.RandomState) else source.getstate()


def trial(source: Any) -> Any:
    """A generator of the same kind, for draws that only show shapes and dtypes."""
    if isinstance(source, np.random.Generator):
        return np.random.default_rng(0)
    return np.random.RandomState(0) if isinstance(source, np.random.RandomState) else random.Random(0)
