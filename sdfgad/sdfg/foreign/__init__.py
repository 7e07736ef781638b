"""SDFGs of others as programs: they are brought into the form that `sdfgad.sdfg.reader` reads, and bound to calls.

| file | does |
|---|---|
| `graph_program` | stands for an SDFG or a `dace.program` where the pipeline has a function |
| `dace_programs` | what DaCe parses of a `dace.program` |
| `parameters` | the arguments of a call: arrays, numbers, and symbols that shapes tell |
| `raising` | loops and branches of states become loops and branches |
| `expansion` | library nodes become maps and nested SDFGs |
| `refusals` | callbacks, streams, references, subsets in tiles |
| `assembly` | all of this for one call |
| `statements` | the graph as statements, read again with a symbol as a variable where it has to be one |
| `canonical` | loops from 0 on, with guards, and names that all languages take |
| `extents` | numbers for sizes that depend on counters |
| `extrema` | maxima and minima with what was there before |
| `inlining` | temporaries of DaCe's parser give way to their values |
| `interface` | copies of what the program writes, so that arguments stay as they are |
"""
