"""Analyse: what depends on what, and which overwritten values are still needed."""
