"""Planning: the search for a layout (what is stored, recomputed, checkpointed, strip-mined) within a memory limit."""
