"""The parts of `scripts/fuzz.py`: random NumPy programs, what is checked of each, and what is done about failures."""
