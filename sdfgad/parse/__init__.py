"""Parsing: a Python function over NumPy arrays, and what is known of its arguments, become a `Program`."""
