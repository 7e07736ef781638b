"""Signatures at other array sizes: what a call might look like whose code only differs in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sdfgad.parse.arguments import ArrayArgument
from sdfgad.specialise.signature import Call

# Extents up to this number are taken for constants of the program, such as coordinates or states.
MOST_CONSTANT = 16
# Little, so that the plan stays the same; and less, since sizes are often the largest ones below a limit, such as 256.
# The first step leaves the remainders of divisions by 2, 4 and 8 as they are.
STEPS = (8, 2)


def other_sizes(call: Call) -> Iterator[Call]:
    """Calls with other sizes, the most general first: all extents shorter, all halved, the leading ones shorter.

    Extents that are equal stay so, and integers that are equal to an extent change with it. No such call can be run,
    as its arrays are the same ones.
    """
    extents = sorted({extent for shape in _shapes(call) for extent in shape if extent > MOST_CONSTANT})
    leading = {shape[0] for shape in _shapes(call) if shape}.intersection(extents)
    for step in STEPS:
        yield _resized(call, {extent: extent - step for extent in extents})
    yield _resized(call, {extent: extent // 2 for extent in extents})
    if leading != set(extents):
        yield _resized(call, {extent: extent - STEPS[0] for extent in leading})


def _shapes(call: Call) -> list[tuple[int, ...]]:
    return [kind.shape for kind in call.kinds.values() if isinstance(kind, ArrayArgument)]


def _resized(call: Call, sizes: dict[int, int]) -> Call:
    def resize(extent: int) -> int:
        return sizes.get(extent, extent)

    def one(kind: Any) -> Any:
        if isinstance(kind, ArrayArgument):
            return replace(kind, shape=tuple(map(resize, kind.shape)))
        return resize(kind) if type(kind) is int else kind

    return replace(
        call,
        kinds={name: one(kind) for name, kind in call.kinds.items()},
        integers=tuple(map(resize, call.integers)),
    )
