"""Memory: what a program holds at each of its statements, what that costs, and what there is to decide about it."""
