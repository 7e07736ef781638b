"""Parameters of distributions of scipy.stats, for their definitions in `library`."""

from __future__ import annotations

import numbers
import sys
from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked


def method_of(frozen: Any, name: Any) -> Any:
    """A method of the object of scipy.stats that a frozen distribution was made of: it has a copy of its own."""


def distribution_named(name: Any) -> Any:
    """A distribution of scipy.stats, which sdfgad itself does not import."""


def parameters_of(names: Any, positional: Any, keywords: Any) -> Any:
    """The shape parameters, then the location and the scale, which are 0 and 1 unless they are given."""


def is_number(x: Any) -> Any:
    """Whether a value is a number that is known while parsing."""


@function(method_of)
def _method_of(b: Builder, frozen: Any, name: str) -> Any:
    return getattr(getattr(sys.modules["scipy.stats"], frozen.dist.name), name)


@function(distribution_named)
def _distribution_named(b: Builder, name: str) -> Any:
    return getattr(sys.modules["scipy.stats"], name)


@function(parameters_of)
def _parameters_of(b: Builder, names: tuple[str, ...], positional: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    every = (*names, "loc", "scale")
    given = dict(zip(every, positional, strict=False))
    unknown = [name for name in keywords if name not in every or name in given]
    found = {"loc": 0, "scale": 1, **given, **keywords}
    missing = [name for name in names if name not in found]
    if unknown or missing or len(positional) > len(every):
        what = f"these parameters do not fit the distribution: it has {', '.join(every)}"
        raise b.unsupported(what, "Pass each of them once; `loc` and `scale` may be left out.")
    return tuple(
        stacked(b, value) if isinstance(value, (tuple, list, np.ndarray)) else value
        for value in (found[name] for name in every)
    )


@function(is_number)
def _is_number(b: Builder, x: Any) -> bool:
    return isinstance(x, numbers.Number)
