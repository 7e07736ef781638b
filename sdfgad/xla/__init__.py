"""Calls of Python functions from what XLA runs on the host, on its own buffers, by its foreign function interface."""
