"""Run: compile an SDFG, keep the result in the user's cache, and call it."""
