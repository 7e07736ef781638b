"""Dataflow analysis: what depends on what, and which overwritten values the reverse sweep needs."""
