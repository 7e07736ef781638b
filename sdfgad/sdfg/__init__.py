"""SDFG: a program as a graph that DaCe understands, one state for each statement, for people to look at."""
