"""PyTorch modules, as `torch.export` writes them in ATen's operators, as NumPy programs.

| file | does |
|---|---|
| `table` | the operators: what is written for each |
| `functions` | NumPy functions with the arguments of ATen's operators |
| `reader` | a graph as a program, node by node |
| `backward` | refuses gradients that a module defines itself, which `torch.export` leaves out |
| `tensors` | tensors as arrays that share their memory |
"""
