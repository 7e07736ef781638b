"""The table of NumPy functions: `CASES`, filled by the modules of its groups."""

from tests.table import (
    distributions,
    elementwise,
    fourier,
    linalg,
    making,
    more,
    reductions,
    samples,
    sciences,
    scipy,
    selecting,
    shaping,
    signals,
    spatial,
    statements,
)
from tests.table.cases import CASES

__all__ = [
    "CASES",
    "distributions",
    "elementwise",
    "fourier",
    "linalg",
    "making",
    "more",
    "reductions",
    "samples",
    "sciences",
    "scipy",
    "selecting",
    "shaping",
    "signals",
    "spatial",
    "statements",
]
