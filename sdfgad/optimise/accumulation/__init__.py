"""Accumulation: how contributions to one array are cleared, aligned, and added up."""
