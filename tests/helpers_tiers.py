"""Two tiers of tests: of many cases that are alike the default run has some, and `-m long` the others."""

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest


def chosen(values: Iterable[Any], every: int, kind: Callable[[Any], Hashable] = lambda value: None) -> list[bool]:
    """Stratified sampling: the default run has the first value of each kind, and of all others each `every`-th.

    The others are counted through all kinds, so what varies inside of each kind alike is there in turn.
    """
    kinds: set[Hashable] = set()
    others = itertools.count(1)
    result = []
    for value in values:
        is_first = kind(value) not in kinds
        kinds.add(kind(value))
        result.append(is_first or next(others) % every == 0)
    return result


def some(values: Iterable[Any], every: int, kind: Callable[[Any], Hashable] = lambda value: None) -> list[Any]:
    """Parameters of a test, those that are not `chosen` marked as long; a tuple is several parameters."""
    values = list(values)
    return [_parameter(v, *_marks(c)) for v, c in zip(values, chosen(values, every, kind), strict=True)]


@dataclass(frozen=True)
class Pack:
    """Values that are compiled at once, all of them in the same tier: nothing is compiled for tests that do not run."""

    values: Sequence[Any]
    is_default: bool


def packs(
    values: Iterable[Any],
    size: int,
    every: int,
    kind: Callable[[Any], Hashable] = lambda value: None,
    together: Callable[[Any], Hashable] = lambda value: None,
) -> Iterator[Pack]:
    """Cut values into packs, those of which `together` says the same: first the `chosen` ones, then the others."""
    values = list(values)
    tiers: dict[tuple[bool, Hashable], list[Any]] = {}
    for value, is_default in zip(values, chosen(values, every, kind), strict=True):
        tiers.setdefault((is_default, together(value)), []).append(value)
    for (is_default, _), members in sorted(tiers.items(), key=lambda item: not item[0][0]):
        yield from (Pack(members[k : k + size], is_default) for k in range(0, len(members), size))


def packed(packs: Iterable[Pack], name: Callable[[Any], str] = str) -> list[Any]:
    """Parameters of a test: the number of a pack and one of its values."""
    return [
        _parameter((number, value), *_marks(pack.is_default), id=name(value))
        for number, pack in enumerate(packs)
        for value in pack.values
    ]


def _marks(is_default: bool) -> list[Any]:
    return [] if is_default else [pytest.mark.long]


def _parameter(value: Any, *marks: Any, id: str | None = None) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=marks, id=id)
