"""Neural networks of ONNX and PyTorch as NumPy programs.

| | does |
|---|---|
| `operators/` | operators as NumPy functions, which the programs call |
| `program` | the text of a program, and its names in the model |
| `onnx/` | reads ONNX graphs |
| `aten/` | reads graphs of `torch.export` |
"""
