"""Library functions against NumPy and central differences, without compiling anything."""

import copy

import numpy as np

from sdfgad.errors import SdfgadError
from tests.helpers import assert_close, is_floating, module_from
from tests.helpers_ir import evaluated_gradients, floating, gradient_of, outputs_of, parsed

STEP = 1e-6


def arguments(**others):
    """Arguments for expressions; None leaves one out."""
    rng = np.random.default_rng(1)
    known = {
        "x": rng.uniform(0.5, 1.5, 4),
        "y": rng.uniform(0.5, 1.5, 3),
        "a": rng.uniform(0.5, 1.5, (3, 4)),
        "c": rng.standard_normal((2, 3, 2)),
        "s": 0.7,
        "k": np.array([2, 0, 1]),
    }
    return known | others


def assert_like_numpy(expressions, arguments, folder, tolerance=1e-10, slope_tolerance=1e-6):
    """Each expression, a text over `np` and the arguments, has NumPy's value, dtype and derivatives.

    An expression may be several statements, of which the last assigns to `out`. The programs are run by the
    interpreter of the IR; the derivative for a random cotangent is compared along a random direction.
    """
    names = ", ".join(arguments)
    lines = ["import numpy as np"]
    for k, text in enumerate(expressions):
        body = text if "out =" in text else f"out = {text}"
        lines += [f"def program_{k}({names}):", f"    {body}", "    return out"]
    module = module_from("\n".join(lines), folder)
    failures = []
    for k, text in enumerate(expressions):
        try:
            _compare(getattr(module, f"program_{k}"), list(arguments.values()), tolerance, slope_tolerance)
        except (AssertionError, SdfgadError) as error:
            failures.append(f"{text}\n    {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)


def _compare(program, args, tolerance, slope_tolerance):
    primal = parsed(program, *args)
    found = outputs_of(primal, *copy.deepcopy(args))["return"]
    expected = np.asarray(program(*copy.deepcopy(args)))
    assert found.dtype == expected.dtype, f"{found.dtype} is not {expected.dtype}"
    is_single = expected.dtype == np.float32
    assert_close(found, expected, 1e-6 if is_single else tolerance, "value")
    if expected.dtype.kind != "f" or expected.dtype.itemsize < 8:
        return
    rng = np.random.default_rng(3)
    cotangent = rng.standard_normal(expected.shape)
    _, gradients = evaluated_gradients(primal, gradient_of(primal), cotangent, *copy.deepcopy(args))
    names = list(primal.inputs)
    directions = {n: rng.standard_normal(np.shape(a)) for n, a in zip(names, _arrays(args), strict=True)}
    slope = sum(np.vdot(gradients[n], directions[n]) for n in floating(primal) if n in gradients)
    ends = [
        np.vdot(cotangent, np.asarray(program(*_moved(args, directions, sign * STEP)), np.float64)) for sign in (1, -1)
    ]
    assert_close(slope, (ends[0] - ends[1]) / (2 * STEP), slope_tolerance, "slope")


def _arrays(args):
    return [a for a in args if isinstance(a, (np.ndarray, float))]


def _moved(args, directions, step):
    """The arguments, with the floating ones moved."""
    rest = iter(directions.values())
    moved = []
    for value in copy.deepcopy(args):
        direction = next(rest) if isinstance(value, (np.ndarray, float)) else None
        if direction is None or not is_floating(value):
            moved.append(value)
        else:
            moved.append(value + step * direction if isinstance(value, np.ndarray) else float(value + step * direction))
    return moved
