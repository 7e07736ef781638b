"""Gradient: the forward sweep with what it keeps, and the reverse sweep, as one program."""
