"""Real times complex numbers, summed over few and many elements: values as NumPy's, gradients as JAX's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from
from tests.helpers_tiers import some

# Of a matrix a (n, n) and vectors u and z (n): u and a are of one dtype, z of another.
PRODUCTS = (
    *("a @ z", "z @ a", "np.dot(u, z)", "np.inner(z, a)", "np.einsum('ij,j,i->', a, z, u)"),
    *("np.tensordot(a, z, axes=1)", "np.sum(a * z, axis=1)", "np.sum(u * z)", "(u * z)[0] + (u * z)[1]"),
)
LOOP = "    s = 0j\n    for i in range({n}):\n        s += u[i] * z[i]\n"
LENGTHS = (2, 3, 4, 7)
PAIRS = {
    "double": (np.float64, np.complex128),
    "integer": (np.int64, np.complex128),
    "boolean": (np.bool_, np.complex128),
    "single": (np.float32, np.complex64),
    "mixed": (np.float64, np.complex64),
    "wider": (np.complex64, np.complex128),
    "narrow": (np.int8, np.complex64),
}


def arguments(real, complex_):
    """For each length: a, u and z."""
    rng = np.random.default_rng(3)

    def draw(shape, dtype):
        x = rng.uniform(0.5, 2.0, shape) + 1j * rng.uniform(0.5, 2.0, shape) * (np.dtype(dtype).kind == "c")
        return (x if np.dtype(dtype).kind == "c" else 2 * x.real).astype(dtype)

    return [draw(shape, dtype) for n in LENGTHS for shape, dtype in (((n, n), real), ((n,), real), ((n,), complex_))]


def program_text():
    """A program of all products at all lengths: the weighted sum of their squared absolute values."""
    names = [f"{name}{n}" for n in LENGTHS for name in "auz"]
    lines, count = [], 0
    for n in LENGTHS:
        texts = [*PRODUCTS, *(["np.cross(u, z)"] if n == 3 else [])]
        lines.append(f"    a, u, z = a{n}, u{n}, z{n}")
        lines += [
            f"    total = total + weights[{k}] * np.sum(np.abs({text}) ** 2)" for k, text in enumerate(texts, count)
        ]
        count += len(texts)
        lines += [*LOOP.format(n=n).splitlines(), f"    total = total + weights[{count}] * np.abs(s) ** 2"]
        count += 1
    head = ["import numpy as np", f"def program(weights, {', '.join(names)}):", "    total = 0.0"]
    return "\n".join([*head, *lines, "    return total"]), count


def jax_gradients(text, values):
    """By all arguments that can be varied, in double precision; JAX's are conjugated."""
    namespace = {}
    exec(text.replace("import numpy as np", "import jax.numpy as np"), namespace)
    places = [k for k, value in enumerate(values) if value.dtype.kind in "fc"]
    wide = [jnp.asarray(v, np.result_type(v, np.float64) if k in places else v.dtype) for k, v in enumerate(values)]
    return [np.conj(np.asarray(x)) for x in jax.grad(namespace["program"], places)(*wide)]


@pytest.mark.parametrize("pair", some(PAIRS, 6))
def test_products_of_real_and_complex_numbers(pair, tmp_path):
    text, count = program_text()
    values = [np.random.default_rng(4).uniform(0.5, 1.5, count), *arguments(*PAIRS[pair])]
    program = module_from(text, tmp_path).program
    tolerance = 1e-10 if np.complex64 not in PAIRS[pair] else 1e-4
    value, found = sdfgad.differentiate(program).value_and_grad(*values)
    np.testing.assert_allclose(value, program(*values), rtol=tolerance)
    # The gradient by the weights is made of the values of all products.
    for (name, mine), theirs in zip(found.items(), jax_gradients(text, values), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance * np.max(np.abs(theirs)), err_msg=name)
