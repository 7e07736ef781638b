"""Gradient: the forward sweep with its tapes and checkpoints, and the reverse sweep, as one program."""
