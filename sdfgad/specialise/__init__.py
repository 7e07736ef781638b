"""Specialisation: one program for the shapes, dtypes and integers of a call, from parsing to compiled code."""
