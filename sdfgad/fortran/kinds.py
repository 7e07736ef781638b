"""Intrinsic types of Fortran with their kinds, as the dtypes of NumPy that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Of the four types by which expressions compute, the later one is the type of what joins two of them.
ORDER = ("logical", "integer", "real", "complex")
# What a decimal precision asks of a real kind.
DIGITS = {4: 6, 8: 15}
EXPONENT = {4: 37, 8: 307}


@dataclass(frozen=True)
class Kind:
    """A type and its kind: ``real(8)`` is ``Kind("real", 8)``; all integers are held in eight bytes."""

    base: str
    bytes: int

    @property
    def dtype(self) -> np.dtype[Any]:
        if self.base == "logical":
            return np.dtype(bool)
        if self.base == "integer":
            return np.dtype(np.int64)
        return np.dtype(f"{self.base[0].replace('r', 'f')}{self.bytes * (2 if self.base == 'complex' else 1)}")

    @property
    def numpy(self) -> str:
        """The dtype as generated text names it."""
        return "bool" if self.base == "logical" else f"np.{self.dtype.name}"

    @property
    def is_floating(self) -> bool:
        return self.base in ("real", "complex")

    @property
    def noun(self) -> str:
        """The kind with its article."""
        return f"an {self}" if self.base == "integer" else f"a {self}"

    def __str__(self) -> str:
        if self.base == "type":
            return "derived type"
        return self.base if self.base in ("logical", "character") else f"{self.base}({self.bytes})"


LOGICAL, INTEGER, REAL, DOUBLE = Kind("logical", 4), Kind("integer", 4), Kind("real", 4), Kind("real", 8)
CHARACTER = Kind("character", 1)


def joined(x: Kind, y: Kind) -> Kind:
    """The kind of what an operation makes of two numbers: the higher type, and the higher precision of such."""
    base = max(x.base, y.base, key=ORDER.index)
    return Kind(base, max(one.bytes for one in (x, y) if one.is_floating or base == "integer"))


def selected_real_kind(digits: int, exponent: int = 0) -> int:
    """The smallest real kind with so many decimal digits and such exponents; -1 if there is none."""
    fits = [kind for kind in DIGITS if DIGITS[kind] >= digits and EXPONENT[kind] >= exponent]
    return fits[0] if fits else -1


def selected_int_kind(digits: int) -> int:
    """The smallest integer kind with so many decimal digits."""
    return next((size for size in (1, 2, 4, 8) if 10**digits < 2 ** (8 * size - 1)), -1)


# What modules of the language itself define: names -> kinds.
INTRINSIC_MODULES: dict[str, dict[str, int]] = {
    "iso_fortran_env": {
        "real32": 4, "real64": 8, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
        "input_unit": 5, "output_unit": 6, "error_unit": 0,
    },
    "iso_c_binding": {"c_float": 4, "c_double": 8, "c_int": 4, "c_long": 8, "c_bool": 1, "c_int64_t": 8},
}  # fmt: skip
