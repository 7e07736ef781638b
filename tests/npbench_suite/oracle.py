"""What the programs of the suite compute, by NumPy and by JAX."""

import copy
import functools

import jax
import numpy as np

import npbench_suite

NAMES = npbench_suite.names()
TESTED = ("test", "test2")


def run(entry, arguments):
    """The program's outputs by name; the arguments are left as they were."""
    arguments = copy.deepcopy(arguments)
    returned = entry.program(*arguments)
    return entry.outputs_from(arguments, returned)


@functools.cache
def reference(name, preset):
    """The outputs of a compiled reference, and the function from their adjoints to the arrays' gradients."""
    entry = npbench_suite.load(name)
    values = dict(zip(entry.arguments, entry.arguments_for(preset), strict=True))

    # Sizes must stay Python integers, so only the arrays are traced.
    @jax.jit
    def compiled(arrays):
        return entry.reference(**(values | arrays))

    outputs, pullback = jax.vjp(compiled, {name: values[name] for name in entry.arrays})
    return outputs, jax.jit(lambda adjoints: pullback(adjoints)[0])


def distance(x, y):
    """The largest difference between two arrays, relative where they are large; NaN where there is one."""
    x, y = np.asarray(x), np.asarray(y)
    assert x.shape == y.shape
    return float(np.max(np.abs(x - y) / np.maximum(1, np.abs(x) + np.abs(y)), initial=0.0))
