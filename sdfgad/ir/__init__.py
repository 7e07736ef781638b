"""Intermediate representation: symbolic affine expressions, scalar expressions, and structured statements."""
