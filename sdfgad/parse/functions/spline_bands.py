"""The equations by which B-splines on integers go through samples, for the definitions in `library`."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.registry import function
from sdfgad.parse.values import Tensor

# The values of the B-splines of each degree at the integers around its middle (Unser, Splines, IEEE Signal Processing
# Magazine 16 (1999), 22).
AT_INTEGERS = {
    2: (1 / 8, 6 / 8, 1 / 8),
    3: (1 / 6, 4 / 6, 1 / 6),
    4: (1 / 384, 76 / 384, 230 / 384, 76 / 384, 1 / 384),
    5: (1 / 120, 26 / 120, 66 / 120, 26 / 120, 1 / 120),
}


def spline_band(n: Any, order: Any, is_half: Any) -> Any:
    """The diagonals, from the uppermost one, of the matrix that takes coefficients to values at n > 1 samples.

    Beyond the ends the coefficients are mirrored at the samples there, or half a step behind them (`is_half`).
    """


@function(spline_band)
def _spline_band(b: Builder, n: Any, order: int, is_half: bool) -> Tensor:
    n, half = b.constant(n), order // 2
    band = np.zeros((2 * half + 1, n))
    period = 2 * n if is_half else 2 * n - 2
    for i in range(n):
        for j, weight in enumerate(AT_INTEGERS[order], -half):
            k = (i + j) % period
            k = min(k, (2 * n - 1 if is_half else period) - k)
            band[half + i - k, k] += weight
    return b.constant_array(band)
