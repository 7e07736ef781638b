"""Passes for a device: sums in parts, and what runs and lives where."""
