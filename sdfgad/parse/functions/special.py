"""Special functions of NumPy and scipy.special; SciPy need not be installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.functions.elementwise import strong
from sdfgad.parse.registry import function, optional
from sdfgad.parse.values import Tensor


def held(x: Any) -> Any:
    """Stop-gradient, for definitions in `library`: the value of `x` with derivative 0."""
    return x


@function(held)
def _held(b: Builder, x: Any) -> Tensor:
    return elementwise(b, "held", x)


def root_of_squares(x: Any) -> Any:
    """The square root of a sum of squares, for definitions in `library`: its derivative at 0 is 0."""
    return np.sqrt(x)


@function(root_of_squares)
def _root_of_squares(b: Builder, x: Any) -> Tensor:
    return elementwise(b, "root_of_squares", x)


def _handler(name: str) -> Callable[..., Tensor]:
    def handler(b: Builder, *operands: Any) -> Tensor:
        return strong(elementwise(b, name, *operands))

    return handler


for _original in (np.sinc, np.i0):
    function(_original, static=True)(_handler(_original.__name__))

for _name, _operation in {
    **{name: name for name in ("erf", "erfc", "erfinv", "gamma", "gammaln", "expit", "log_expit", "logit")},
    **{name: name for name in ("xlogy", "xlog1py", "i0", "exp2", "expm1", "log1p", "cbrt")},
    **{"psi": "digamma", "digamma": "digamma"},
}.items():
    optional("scipy.special", _name)(_handler(_operation))
