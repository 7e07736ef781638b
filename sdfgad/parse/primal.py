"""A parsed program, and for which calls it is valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np

from sdfgad.ir.program import Program
from sdfgad.parse.draws import Draws
from sdfgad.parse.returned import Returned
from sdfgad.parse.source import Source
from sdfgad.parse.texts import is_plain

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Guard:
    """The integers that are constants of a program though data decides them (`sdfgad.parse.value_specialisation`).

    Attributes:
        primal: the part of the program that computes them; it returns nothing else.
        values: by the name of the output, what they must be for the program to be valid.
    """

    primal: Primal
    values: Mapping[str, int]


@dataclass(frozen=True)
class Measure:
    """What computes the integers of a call that data decides.

    Attributes:
        run: runs a program; the integers by the names of the outputs.
        predict: the same without compiling it, which may round otherwise; None where that is not possible.
    """

    run: Callable[[Primal], Mapping[str, int]]
    predict: Callable[[Primal], Mapping[str, int] | None] = lambda _: None


@dataclass(frozen=True)
class Primal:
    """A parsed program.

    Attributes:
        program: its outputs are "return", "return[k]" and the names of arguments that it updates.
        context: the values of the run-time integers for which it holds.
        fixed: the integer arguments that became constants.
        decisive: the integer array arguments whose elements did, with copies of them.
        integers: the other integer arguments -> their symbols.
        inputs: array arguments -> their input buffers.
        captured: input buffers of arrays from outside the function -> the arrays, whose values are read at each call;
            of a function that another program defines, also `Enclosed` values of that.
        draws: the captured ones that get random numbers at each call instead.
        lookups: pairs of a function that looks up an array or constant outside the function, and what it found when
            parsing.
        decisive_captured: the arrays from outside the function whose elements are constants, each with a copy.
        row_major: the array arguments that must be row-major in memory: the program updates them, and reshapes them as
            NumPy does without a copy in that order.
        changes_containers: whether it changes a list, dict or object among its arguments.
        returned: what it returns.
        has_enclosed_integers: whether integers of an enclosing program are its data, or its own are those of others.
        source: the user's function.
        ranks: the sizes of the communicators on all of whose ranks floating values are shared.
        guard: the integers that data decides and that are constants.
        adopted: the arrays and containers from outside that the program changes as its own.
    """

    program: Program
    context: isl.Set
    fixed: Mapping[str, int]
    decisive: Mapping[str, Array]
    integers: Mapping[str, str]
    inputs: Mapping[str, str]
    captured: Mapping[str, Array]
    draws: Draws
    lookups: tuple[tuple[Callable[[], Any], Any], ...]
    decisive_captured: tuple[tuple[Array, Array], ...]
    row_major: frozenset[str]
    changes_containers: bool
    returned: Returned
    has_enclosed_integers: bool
    source: Source
    ranks: frozenset[int] = frozenset()
    guard: Guard | None = None
    adopted: tuple[Any, ...] = ()

    @property
    def is_current(self) -> bool:
        """Whether all names of arrays and constants from outside the function still refer to the same ones."""
        try:
            for lookup, found in self.lookups:
                now = lookup()
                if now is not found and not _is_same(now, found):
                    return False
        except (AttributeError, LookupError):
            return False
        return all(np.array_equal(array, copy) for array, copy in self.decisive_captured)


def _is_same(now: Any, found: Any) -> bool:
    """Whether two constants are equal; of arrays and functions only the very same one will do."""
    return type(now) is type(found) and is_plain(found) and not isinstance(found, np.ndarray) and bool(now == found)
