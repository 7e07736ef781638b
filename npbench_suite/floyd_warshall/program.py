"""All shortest paths by Floyd and Warshall: path becomes the distances between all pairs of nodes.

Lengths are floating here. They spread over two orders of magnitude, so that many direct ways have a shorter
detour, and no two ways are of nearly the same length.
"""

import numpy as np


def initialize(N, rng):
    return {"path": np.exp(rng.uniform(0, 5, (N, N)))}


def floyd_warshall(path):
    for k in range(path.shape[0]):
        detour = np.add.outer(path[:, k], path[k, :])
        path[:] = np.minimum(path[:], detour)
