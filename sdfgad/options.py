"""Options of `differentiate` that concern plans: the memory limit, the strategy, and the solver."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from sdfgad.errors import ArgumentError

Strategy = Literal["ilp", "store_all", "recompute_all", "revolve"]
STRATEGIES = get_args(Strategy)
Shapes = Literal["auto", "any", "exact"]
SHAPES = get_args(Shapes)
Accumulation = Literal["float64"]
Device = Literal["auto", "cpu", "gpu"]
DEVICES = get_args(Device)
Ranks = Literal["sum", "same"]
RANKS = get_args(Ranks)
PREFIXES = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 2**10, "mi": 2**20, "gi": 2**30}


@dataclass(frozen=True)
class Options:
    """The settings of `differentiate` that concern plans.

    Attributes:
        limit: bytes, or None.
        overrides: name of a value -> "store" or "recompute".
        solver, solver_seconds: "CBC" or "HiGHS", and how long it may take.
        all_outputs: whether the gradient program gives all that is returned, not only what is differentiated.
        accumulate: "float64": adjoints are in double precision where values are in single precision.
        shapes: whether calls with arrays of other sizes may share compiled code.
        device: what the gradient runs on; "auto" follows the arguments of each call.
        ranks: of a program that communicates: whether the outputs of all ranks are added up, or are the same number.
        without: the names of passes that are left out of what `explain` shows; what is run always has all of them.
    """

    limit: int | None = None
    strategy: Strategy = "ilp"
    overrides: Mapping[str, str] = field(default_factory=dict)
    solver: str = "CBC"
    solver_seconds: float = 10.0
    without: tuple[str, ...] = ()
    shapes: Shapes = "auto"
    all_outputs: bool = False
    accumulate: Accumulation | None = None
    device: Device = "cpu"
    ranks: Ranks | None = None


def parse_bytes(limit: int | str | None) -> int | None:
    """A number of bytes, or text such as ``"512 MiB"`` or ``"1.5 GB"``.

    Raises:
        ArgumentError: it is neither.
    """
    if limit is None or (isinstance(limit, (int, np.integer)) and not isinstance(limit, bool) and limit > 0):
        return None if limit is None else int(limit)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]i?)?b?\s*", limit.lower()) if isinstance(limit, str) else None
    if match is None:
        raise ArgumentError(
            f"memory_limit={limit!r} is no size", todo='Pass a number of bytes, or text such as "512 MiB".'
        )
    return int(float(match[1]) * PREFIXES[match[2] or ""])
