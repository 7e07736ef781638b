"""The documented derivatives at kinks and ties, exactly; and what a choice did not take contributes exactly zero."""

import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from

# label -> the body of f(x), x, and the gradient of the sum of the result
KINKS = {
    # ties share evenly
    "maximum of equals": ("return np.maximum(x, 1.0)", [1.0, 0.0, 2.0], [0.5, 0.0, 1.0]),
    "minimum of equals": ("return np.minimum(x, 1.0)", [1.0, 0.0, 2.0], [0.5, 1.0, 0.0]),
    "fmax of equals": ("return np.fmax(x, 1.0)", [1.0, 0.0, 2.0], [0.5, 0.0, 1.0]),
    "fmin of equals": ("return np.fmin(x, 1.0)", [1.0, 0.0, 2.0], [0.5, 1.0, 0.0]),
    "maximum of x and x": ("return np.maximum(x, x)", [1.0, -2.0], [1.0, 1.0]),
    "minimum of x and x": ("return np.minimum(x, x)", [1.0, -2.0], [1.0, 1.0]),
    "max of equals": ("return np.max(x)", [1.0, 3.0, 3.0, 0.0], [0.0, 0.5, 0.5, 0.0]),
    "min of three equals": ("return np.min(x)", [1.0, 1.0, 3.0, 1.0], [1 / 3, 1 / 3, 0.0, 1 / 3]),
    "max over rows": ("return np.max(x, axis=1)", [[2.0, 2.0], [1.0, 3.0]], [[0.5, 0.5], [0.0, 1.0]]),
    "min over columns": ("return np.min(x, axis=0)", [[2.0, 2.0], [2.0, 3.0]], [[0.5, 1.0], [0.5, 0.0]]),
    "relu at 0": ("return np.maximum(x, 0.0)", [0.0, -0.0, 1.0], [0.5, 0.5, 1.0]),
    # abs, sign and steps
    "absolute at 0": ("return np.abs(x)", [0.0, -0.0, 2.0, -2.0], [0.0, 0.0, 1.0, -1.0]),
    "fabs at 0": ("return np.fabs(x)", [0.0, 2.0, -2.0], [0.0, 1.0, -1.0]),
    "abs at 0": ("return abs(x)", [0.0, 2.0], [0.0, 1.0]),
    "sign": ("return np.sign(x) * x", [0.0, 2.0, -2.0], [0.0, 1.0, -1.0]),
    "floor at an integer": ("return np.floor(x) + x", [1.0, 1.5, -1.0], [1.0, 1.0, 1.0]),
    "ceil at an integer": ("return np.ceil(x) * x", [1.0, 2.0], [1.0, 2.0]),
    "rint at a half": ("return np.rint(x) * x", [0.5, 1.5], [0.0, 2.0]),
    "heaviside at 0": ("return np.heaviside(x, 0.5) * x", [0.0, 1.0, -1.0], [0.5, 1.0, 0.0]),
    # clip passes inside and on the bounds
    "clip": ("return np.clip(x, -1.0, 1.0)", [-1.0, 1.0, 0.0, -1.5, 1.5], [1.0, 1.0, 1.0, 0.0, 0.0]),
    "clip from below": ("return np.clip(x, 0.0, None)", [0.0, 1.0, -1.0], [1.0, 1.0, 0.0]),
    "clip from above": ("return x.clip(None, 0.0)", [0.0, 1.0, -1.0], [1.0, 0.0, 1.0]),
    # what is not taken contributes exactly zero
    "where log": ("return np.where(x > 0, np.log(x), 0.0)", [0.0, -1.0, 2.0], [0.0, 0.0, 0.5]),
    "where sqrt": ("return np.where(x > 0, np.sqrt(x), 0.0)", [0.0, -1.0, 4.0], [0.0, 0.0, 0.25]),
    "where divide": ("return np.where(x != 0, 1.0 / x, 0.0)", [0.0, 2.0], [0.0, -0.25]),
    "where power": ("return np.where(x > 0, x ** 0.5, x)", [0.0, 4.0, -1.0], [1.0, 0.25, 1.0]),
    "where arcsin": ("return np.where(np.abs(x) < 1, np.arcsin(x), 0.0)", [1.0, 0.0, -3.0], [0.0, 1.0, 0.0]),
    "where across statements": (
        "t = np.log(x)\ny = np.where(x > 0, t, 0.0)\nreturn y",
        [0.0, -1.0, 2.0],
        [0.0, 0.0, 0.5],
    ),
    "where across a product": (
        "t = np.log(x)\ns = t * x\ny = np.where(x > 0, s, 0.0)\nreturn y",
        [0.0, -1.0, 1.0],
        [0.0, 0.0, 1.0],
    ),
    "where across a store": (
        "t = np.zeros(3)\nt[:] = np.sqrt(x)\ny = np.where(x > 0, t, x)\nreturn y",
        [0.0, -1.0, 4.0],
        [1.0, 1.0, 0.25],
    ),
    "where across a loop": (
        "t = np.zeros(3)\nfor i in range(3):\n    t[i] = 1.0 / x[i]\nreturn np.where(x != 0, t, 0.0)",
        [0.0, 1.0, 2.0],
        [0.0, -1.0, -0.25],
    ),
    "mask": ("z = np.zeros(3)\nz[x > 0] = np.log(x[x > 0])\nreturn z", [0.0, -1.0, 2.0], [0.0, 0.0, 0.5]),
    "mask over a value": ("z = np.log(x)\nz[x <= 0] = 0.0\nreturn z", [0.0, -1.0, 2.0], [0.0, 0.0, 0.5]),
    "sum where": ("return np.sum(np.log(x), where=x > 0)", [0.0, -1.0, 2.0], [0.0, 0.0, 0.5]),
    "branch": (
        "s = 0.0\nfor i in range(3):\n    if x[i] > 0:\n        s += np.sqrt(x[i])\nreturn s",
        [0.0, -1.0, 4.0],
        [0.0, 0.0, 0.25],
    ),
    "conditional expression": ("return np.log(x[0]) if x[0] > 0 else x[1]", [0.0, 2.0], [0.0, 1.0]),
    "overwritten by a slice": ("z = 1.0 / x\nz[0] = 3.0\nreturn z", [0.0, 2.0], [0.0, -0.25]),
    "part that is not read": ("z = np.log(x)\nreturn z[1:]", [0.0, 2.0], [0.0, 0.5]),
}


def gradient_at(body, x, folder, dtype):
    text = "import numpy as np\n\n\ndef f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    function = module_from(text, folder).f
    return sdfgad.differentiate(function, wrt="x", output="return", reduce="sum")(np.array(x, dtype))


@pytest.mark.parametrize("label", KINKS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_value_at_the_kink(label, dtype, tmp_path):
    body, x, expected = KINKS[label]
    np.testing.assert_array_equal(gradient_at(body, x, tmp_path, dtype), np.array(expected, dtype))
