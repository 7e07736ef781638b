"""NumPy's promotion of Python's numbers beside float32: they take part in it in lists, not in arithmetic."""

import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from
from tests.helpers_ir import as_python_runs, outputs_of, parsed

X = np.array([0.7, 0.3, 0.9, 0.1])
EXPRESSIONS = [
    "np.array([1.0, x[0]])",
    "np.array([s, x[0]])",
    "np.array([x[0], 1])",
    "np.array([x[0], True])",
    "np.array([[x[0], 0], [0, 1]])",
    "np.array([x[0], x[1] * 0.5])",
    "np.stack([x, x * 2.0])",
    "np.append(x, 1.0)",
    "np.concatenate([x, [1.0]])",
    "np.hstack((x, [0.0]))",
    "np.insert(x, 0, 1.0)",
    "np.r_[x, 1.0]",
    "np.r_[1.0, x[0]]",
    "np.r_[s, x, 2]",
    "np.r_[x, [1.0]]",
    "np.r_[0, x[0]]",
    "np.r_[0:3, x[0]]",
    "np.r_[np.float64(1.0), x]",
    "np.r_[0, n]",
    "np.array(x.tolist())",
    "x.tolist()[0] * x.tolist()[1]",
    "x[0].item() * x[1].item()",
    "np.array([x[0].item(), x[1]])",
    "x[0].item() * x[1]",
    "float(x[0]) * x[1]",
    "[1.5, 2.5, 3.5][int(abs(x[0]))] * x[1]",
    "np.array([1.5, 2.5, 3.5])[int(abs(x[0]))] * x[1]",
    "np.dot([1.0, x[0]], [x[1], 2.0])",
    "np.full(3, x[0])",
    "np.where(x > 0.2, x, 0.0)",
    "x * [1.0, 2.0, 3.0, 4.0]",
    "np.array([v * 2.0 for v in x] + [1.0])",
]


@pytest.mark.parametrize("dtype", ["float32", "complex64", "float64"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_dtypes_are_those_of_numpy(expression, dtype, tmp_path):
    x = X.astype(dtype)
    if dtype == "complex64" and any(what in expression for what in ("int(", "float(", "> 0.2")):
        pytest.skip("of real numbers only")
    program = module_from(f"import numpy as np\n\ndef program(x, n, s):\n    return {expression}\n", tmp_path).program
    expected, _ = as_python_runs(program, x, 3, 0.8)
    found = outputs_of(parsed(program, x, 3, 0.8), x, 3, 0.8)["return"]
    assert found.dtype == np.asarray(expected).dtype
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-14 if found.dtype.itemsize > 8 else 1e-6)


def in_double_precision(x):
    a = x.tolist()
    scale = [1.1, 2.3, 3.7][int(x[0])]
    return a[0] * a[1] * 1e-9 + a[2] + x[3].item() * scale


def test_numbers_of_python_compute_in_double_precision():
    x = X.astype(np.float32)
    gradient = sdfgad.differentiate(in_double_precision, wrt="x")
    value, found = gradient.value_and_grad(x)
    assert value == pytest.approx(in_double_precision(x), rel=1e-15)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [x[1] * 1e-9, x[0] * 1e-9, 1.0, 1.1], rtol=1e-6)


# Python's integers that a short dtype does not hold: NumPy compares them by their values.
COMPARED = ["u > -1", "u < 300", "u == 256", "h >= 128", "-129 < h", "u > n", "u < n + 300", "h == n", "u[0] > -1"]
SHORT = [*("np.where(u > n, 1, 0)", "np.bincount(u[:2])", "np.polyval(u, 20)", "np.polyval(h, n)", "np.polyval(u, h)")]
SHORT += [f"np.fft.{name}({x})" for name in ("fft", "rfft", "ifft") for x in ("u", "h", "u > 3")]
SHORT += ["np.vecdot(u, u)", "np.vecdot(h > 0, h > 0)", "np.linalg.lstsq(np.outer(h, u[:2]), h, rcond=None)[0]"]


def test_short_integers(tmp_path):
    texts = [*COMPARED, *SHORT]
    lines = ["import numpy as np", "def program(u, h, n):", f"    return ({', '.join(texts)},)"]
    program = module_from("\n".join(lines), tmp_path).program
    args = np.array([0, 3, 200, 255], np.uint8), np.array([-128, 3, 127, -1], np.int8), -5
    for text, found, expected in zip(texts, sdfgad.vjp(program, *args)[0], program(*args), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13, err_msg=text)
        assert np.asarray(found).dtype == np.asarray(expected).dtype, text
