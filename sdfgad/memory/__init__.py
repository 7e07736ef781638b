"""Memory: the bytes that a program holds at each statement, a cost model, and the choices of a memory plan."""
