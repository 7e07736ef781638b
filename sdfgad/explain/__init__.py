"""Explain: what a program is after each stage and pass, and the first of them after which it computes otherwise."""
