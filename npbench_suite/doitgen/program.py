"""Multiresolution analysis: every fibre of A along its last axis is multiplied with the matrix C4."""

import numpy as np


def initialize(NR, NQ, NP, rng):
    return {
        "NR": NR,
        "NQ": NQ,
        "NP": NP,
        "A": rng.uniform(-1, 1, (NR, NQ, NP)),
        "C4": rng.uniform(-1, 1, (NP, NP)),
    }


def doitgen(NR, NQ, NP, A, C4):
    rows = np.reshape(A, (NR, NQ, 1, NP))
    A[:] = np.reshape(rows @ C4, (NR, NQ, NP))
