"""GPU target: kernels as text that NVRTC compiles, and the functions of the host that launch them."""
