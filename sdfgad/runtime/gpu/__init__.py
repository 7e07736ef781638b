"""The device: its driver, its compiler of kernels, its memory, and programs that run on it."""
