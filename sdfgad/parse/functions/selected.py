"""Selections (``x[mask]``) in definitions: their elements in place, their number, and selections of other arrays."""

from __future__ import annotations

from typing import Any

from sdfgad.ir.expr import BOOL, Int, Lin, Op
from sdfgad.parse import selecting
from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.shape import ravel
from sdfgad.parse.registry import function
from sdfgad.parse.values import Selection, Tensor, as_tensor


def in_place(x: Any, value: Any) -> Any:
    """A vector of all elements of the masked array, with `value` for those that are not selected."""
    return x


def count_of(x: Any) -> Any:
    """How many elements are selected."""
    return x.size


def first_of(dense: Any, count: Any) -> Any:
    """The first elements of a vector, as a selection."""
    return dense[:count]


def selected_like(dense: Any, x: Any) -> Any:
    """The elements of a vector where those of `x` are selected."""
    return dense


@function(in_place)
def _in_place(b: Builder, x: Selection, value: Any) -> Tensor:
    return ravel(b, selecting.filled(b, x, value))


@function(count_of)
def _count_of(b: Builder, x: Selection) -> Lin:
    return selecting.count(b, x)


@function(first_of)
def _first_of(b: Builder, dense: Any, count: Lin) -> Selection:
    dense = as_tensor(dense)
    mask = Tensor(dense.shape, BOOL, lambda p: Op("less", (Int(p[0]), Int(count)), BOOL))
    return selecting.chosen(b, dense, b.fixed_mask(mask))


@function(selected_like)
def _selected_like(b: Builder, dense: Any, x: Selection) -> Selection:
    return selecting.chosen(b, as_tensor(dense), ravel(b, x.mask))
