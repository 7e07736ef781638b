"""Planning: the search for a layout of a gradient within a memory limit."""
