"""Lower: an adjoint and a plan become one program, and a program becomes an SDFG."""
