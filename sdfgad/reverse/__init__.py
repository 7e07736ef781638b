"""Reverse: the adjoint of every statement, and the values that it asks for."""
