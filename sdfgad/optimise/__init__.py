"""Optimisation: passes from program to program that keep what is computed and take less time or memory."""
