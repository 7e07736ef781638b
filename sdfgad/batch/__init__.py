"""Vectorising map: one program for many values of some inputs, with what does not depend on them computed once."""
