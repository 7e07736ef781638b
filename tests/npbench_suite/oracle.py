"""What the programs of the suite compute, by NumPy and by JAX.

The gradient of a real L with respect to a complex x + iy is dL/dx + i dL/dy, and so are adjoints: where w is
an output and a its adjoint, L is the sum of all Re(conj(a) w).
"""

import copy
import functools

import jax
import jax.numpy as jnp
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

    # JAX's gradients and adjoints are the conjugates of ours.
    @jax.jit
    def gradients(adjoints):
        conjugated = {name: jnp.conj(jnp.asarray(adjoints[name], y.dtype)) for name, y in outputs.items()}
        return jax.tree.map(jnp.conj, pullback(conjugated)[0])

    return outputs, gradients


def random_like(value, rng):
    """Random numbers in the shape of a floating or complex value, of its kind, in double precision."""
    parts = rng.uniform(-1, 1, (2, *np.shape(value)))
    return parts[0] + 1j * parts[1] if np.iscomplexobj(value) else parts[0]


def inner(x, y):
    """The sum of all Re(conj(x) y)."""
    return float(np.sum((np.conj(x) * y).real))


def is_single(value):
    """Whether a value is in single precision; double precision is held to closer limits."""
    return np.asarray(value).dtype in (np.float32, np.complex64)


def distance(x, y):
    """The largest difference between two arrays, relative where they are large; NaN where there is one."""
    x, y = np.asarray(x), np.asarray(y)
    assert x.shape == y.shape
    return float(np.max(np.abs(x - y) / np.maximum(1, np.abs(x) + np.abs(y)), initial=0.0))
