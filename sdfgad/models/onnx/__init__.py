"""ONNX models as NumPy programs.

| file | does |
|---|---|
| `table` | the operators: what is written for each, and which attributes are understood |
| `attributes` | attributes as Python values |
| `known` | integers that are known while reading, such as shapes |
| `reader` | the graph as a program, node by node |
| `one_node` | a single node as a program, for nodes in SDFGs |
"""
