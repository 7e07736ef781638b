"""CPU target: C++ with vector instructions, threads and OpenBLAS, and the headers that it includes."""
