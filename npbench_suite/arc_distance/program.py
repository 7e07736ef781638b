"""Distances on the unit sphere between the points of two lists, pair by pair, by the haversine formula."""

import numpy as np


def initialize(N, rng):
    # The two points of a pair are neither close to each other nor opposite.
    return {
        "theta_1": rng.uniform(0.1, 0.5, N),
        "phi_1": rng.uniform(0, 1, N),
        "theta_2": rng.uniform(0.6, 1.0, N),
        "phi_2": rng.uniform(0, 1, N),
    }


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    haversine = (
        np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2 + np.sin((theta_2 - theta_1) / 2) ** 2
    )
    distances = 2 * np.arctan2(np.sqrt(haversine), np.sqrt(1 - haversine))
    return distances
