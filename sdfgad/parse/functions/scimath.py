"""The functions of np.emath, which leave the real numbers where their arguments are outside of a domain."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise, power
from sdfgad.parse.functions.elementwise import strong
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Tensor


def _complex(b: Builder, name: str, x: Any) -> Tensor:
    """An argument that is complex, so that the result is, too."""
    tensor = stacked(b, x)
    if tensor.dtype.kind != "c":
        what = f"whether np.emath.{name} of real numbers is real or complex depends on data"
        raise b.unsupported(what, f"Write np.{name}(x), or np.{name}(x + 0j) for a complex result.")
    return tensor


def _of_complex(name: str) -> Any:
    def handler(b: Builder, x: Any) -> Tensor:
        return strong(elementwise(b, name, _complex(b, name, x)))

    return handler


for _name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"):
    function(getattr(np.emath, _name), static=True)(_of_complex(_name))


@function(np.emath.power, static=True)
def power_(b: Builder, x: Any, p: Any) -> Tensor:
    return strong(power(b, _complex(b, "power", x), stacked(b, p)))
