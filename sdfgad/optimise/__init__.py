"""Optimise: programs that compute the same, faster."""
