"""Redundancies that are removed before differentiation: factors that systems share, and values that trips share."""
