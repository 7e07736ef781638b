"""Scalar replacement of reductions: sums and extrema in registers, how they are declared, added to and read.

The macros for sums are those of `include/perturb.h`: code compiled without vectors can perturb a sum where vectorised
code may round differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.schedule.target import cpu
from sdfgad.targets.cpu.cpp import COMBINE, cpp_type, simd


@dataclass(frozen=True)
class Accumulator:
    """A reduction's scalar in a register; a complex sum is two real ones, which can be vectorised."""

    dtype: np.dtype[Any]
    name: str
    kind: str = "add"

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"

    @property
    def parts(self) -> dict[str, str]:
        """The variables, and which part of a value is added to each."""
        return {f"{self.name}{part}_": f".{part}" for part in ("re", "im")} if self.is_complex else {self.name: ""}

    @property
    def is_sum(self) -> bool:
        return self.kind == "add"

    @property
    def value(self) -> str:
        totals = [f"SDFGAD_TOTAL({name})" if self.is_sum else name for name in self.parts]
        return f"{cpp_type(self.dtype)}({', '.join(totals)})" if self.is_complex else totals[0]

    def begin(self, first: str) -> list[str]:
        """Declarations of the variables with their initial values."""
        type_ = cpp_type(np.empty(0, self.dtype).real.dtype)
        begin = "SDFGAD_SUM({}, {}, {}{});" if self.is_sum else "{} {} = {}{};"
        return [begin.format(type_, name, first, part) for name, part in self.parts.items()]

    def add(self, value: str) -> list[str]:
        if self.is_complex:
            term = f"{self.name}term_"
            lines = [f"SDFGAD_ADD({name}, {term}{part});" for name, part in self.parts.items()]
            return ["{", f"const {cpp_type(self.dtype)} {term} = {value};", *lines, "}"]
        if self.is_sum:
            return [f"SDFGAD_ADD({self.name}, {value});"]
        return [f"{self.name} = {COMBINE[self.kind].format(self.name, value)};"]

    def pragma(self) -> list[str]:
        """The pragma that vectorises a sum, which allows its terms to be reordered."""
        return simd(self.parts) if self.is_sum else []


def lanes(kind: str, inner: tuple[str, ...], ends: Mapping[str, str], lines: list[str], value: str) -> list[str]:
    """Loops that accumulate an extremum in several lanes, as a vector would, and combine these at the end."""
    *outer, name = inner
    each = f"for (int k_ = 0; k_ < {cpu().lanes}; ++k_)"
    step = COMBINE[kind].format
    return [
        f"decltype(total_) lanes_[{cpu().lanes}];",
        f"{each} lanes_[k_] = total_;",
        *(f"for (int64_t {n} = 0; {n} < {ends[n]}; ++{n}) {{" for n in outer),
        f"int64_t {name}_first_ = 0;",
        f"for (; {name}_first_ + {cpu().lanes} <= {ends[name]}; {name}_first_ += {cpu().lanes}) {{",
        *(*simd(), f"{each} {{", f"const int64_t {name} = {name}_first_ + k_;", *lines),
        *(f"lanes_[k_] = {step('lanes_[k_]', value)};", "}", "}"),
        *(f"for (int64_t {name} = {name}_first_; {name} < {ends[name]}; ++{name}) {{", *lines),
        *(f"total_ = {step('total_', value)};", "}"),
        *["}"] * len(outer),
        f"{each} total_ = {step('total_', 'lanes_[k_]')};",
    ]
