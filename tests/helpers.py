"""Comparison of sdfgad's gradients with JAX's, and programs made from text."""

import copy
import importlib.util
import inspect
import itertools
import textwrap
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

import sdfgad
from sdfgad.schedule import target

_numbers = itertools.count()


def module_from(text, folder):
    """The module whose source is `text`, in a new file in `folder`."""
    name = f"made_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def line_of(function, text):
    """`file:line: text` of the first line of a function that contains `text`, as errors quote it."""
    lines, first = inspect.getsourcelines(function)
    offset, line = next((k, line) for k, line in enumerate(lines) if text in line)
    return f"{inspect.getsourcefile(function)}:{first + offset}: {line.strip()}"


def is_floating(value):
    return np.asarray(value).dtype.kind == "f"


def numpy_output(program, args, output=None):
    """The output of the program as NumPy computes it; the arguments are left alone."""
    values = copy.deepcopy(args)
    returned = program(*values)
    if output is None:
        return np.asarray(returned)
    if output.startswith("return["):
        return np.asarray(returned[int(output[7:-1])])
    return np.asarray(values[list(inspect.signature(program).parameters).index(output)])


def jax_vjp(reference, args, cotangent):
    """JAX's gradients by all floating arguments, in order, as double-precision arrays."""
    places = [k for k, value in enumerate(args) if is_floating(value)]

    def of_floats(*floats):
        values = list(args)
        for place, value in zip(places, floats, strict=True):
            values[place] = value
        return jnp.asarray(reference(*values))

    floats = [jnp.asarray(np.asarray(args[k], dtype=np.float64)) for k in places]
    result, pullback = jax.vjp(of_floats, *floats)
    return [np.asarray(x) for x in pullback(jnp.asarray(cotangent, result.dtype).reshape(result.shape))]


def assert_close(found, expected, tolerance=1e-9, what=""):
    """``|x - y| / max(1, |x| + |y|)`` is within the tolerance everywhere."""
    x, y = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert x.shape == y.shape, what
    error = np.abs(x - y) / np.maximum(1, np.abs(x) + np.abs(y))
    assert np.all(error <= tolerance), f"{what}: {found} is not {expected}"


def assert_gradient(program, reference, *args, output=None, tolerance=1e-9):
    """The value equals NumPy's, and the gradients for a random cotangent equal those of the JAX `reference`.

    Returns the `DifferentiatedProgram` and the gradients by name.
    """
    before = copy.deepcopy(args)
    expected_value = numpy_output(program, args, output)
    cotangent = np.random.default_rng(7).standard_normal(expected_value.shape)
    g = sdfgad.differentiate(program, output=output, reduce="sum")
    total, _ = g.value_and_grad(*args)
    assert_close(total, np.sum(expected_value, dtype=np.float64), tolerance * 100, "sum of the value")
    found = g.vjp(*args, cotangent=cotangent)
    for mine, original in zip(args, before, strict=True):
        np.testing.assert_array_equal(mine, original, strict=isinstance(mine, np.ndarray))
    assert_gradients_equal(found, jax_vjp(reference, args, cotangent), args, tolerance)
    return g, found


def refusal_or_gradient(program, reference, *args):
    """The error with which sdfgad refuses the program, or None where it differentiates it rightly."""
    try:
        assert_gradient(program, reference, *args)
    except sdfgad.errors.SdfgadError as error:
        return error
    return None


def assert_gradients_equal(found, expected, args, tolerance=1e-9):
    floating = [value for value in args if is_floating(value)]
    assert len(found) == len(expected) == len(floating)
    for (name, x), y, value in zip(found.items(), expected, floating, strict=True):
        assert np.shape(x) == np.shape(value)
        assert np.asarray(x).dtype == np.asarray(value).dtype
        assert_close(x, y, tolerance, f"gradient by {name}")


def assert_expressions(expressions, arguments, folder, tolerance=1e-9):
    """Each expression, a text over `np` and the arguments, has NumPy's value and JAX's gradient.

    All of them go into one program, so that there is one compilation; the cotangent then picks them one by one.
    """
    values = [eval(text, {"np": np, **copy.deepcopy(arguments)}) for text in expressions]
    sizes = [np.size(value) for value in values]
    ends = np.cumsum(sizes)
    names = ", ".join(arguments)
    lines = [f"    out[{end - n}:{end}] = np.ravel({t})" for t, n, end in zip(expressions, sizes, ends, strict=True)]
    text = "\n".join(
        ["import numpy as np", f"def program({names}):", f"    out = np.zeros({ends[-1]})", *lines, "    return out"]
    )
    g = sdfgad.differentiate(module_from(text, folder).program)
    args = tuple(arguments.values())
    result = g.value(*args)
    failures = []
    for k, (expression, value) in enumerate(zip(expressions, values, strict=True)):
        part = slice(ends[k] - sizes[k], ends[k])
        cotangent = np.zeros(ends[-1])
        cotangent[part] = np.random.default_rng(k).standard_normal(sizes[k])
        reference = eval(f"lambda {names}: np.ravel(np.asarray({expression}))", {"np": jnp})
        try:
            assert_close(result[part], np.ravel(value), tolerance, "value")
            found, expected = g.vjp(*args, cotangent=cotangent), jax_vjp(reference, args, cotangent[part])
            assert_gradients_equal(found, expected, args, tolerance)
        except AssertionError as error:
            failures.append(f"{expression}\n    {error}")
    assert not failures, "\n".join(failures)


def with_target(monkeypatch, **numbers):
    """Lets a test generate code for a machine with other numbers."""
    monkeypatch.setattr(target, "CPU", replace(target.CPU, **numbers))


def ensemble(x, k, steps):
    """A program of independent lanes, which have a parameter in common."""
    for _ in range(steps):
        x = x + 0.05 * np.sin(k * x) * np.cos(x)
    return np.sum(x * x)
