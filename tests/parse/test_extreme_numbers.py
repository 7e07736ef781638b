"""Empty arrays, NaN and infinity as NumPy has them; arrays that no computer can hold are refused."""

import warnings

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError, ShapeMismatch
from tests.helpers import line_of, module_from

# Of an empty vector x; some do not depend on it, and all have an empty gradient.
EMPTY = (
    *("np.sum(x)", "np.prod(x)", "np.max(x, initial=2.0)", "np.sum(np.sum(x.reshape(0, 3), axis=0))", "np.mean(x)"),
    *("np.sum(np.max(x.reshape(0, 3), axis=1))", "np.sum(np.prod(x.reshape(0, 3), axis=0))", "np.std(x)", "np.var(x)"),
    *("np.linalg.norm(x)", "np.sum(np.cumsum(x))", "np.sum(np.sort(x))", "np.dot(x, x)", "np.median(x)"),
    *("np.sum(x.reshape(3, 0) @ x.reshape(0, 4))", "np.sum(x.reshape(0, 3) @ np.ones((3, 2)))", "np.sum(x[x > 0])"),
    *("np.sum(np.linalg.inv(x.reshape(0, 0)))", "np.linalg.det(x.reshape(0, 0))", "np.trace(x.reshape(0, 0))"),
    *("np.sum(np.linalg.solve(np.eye(3), x.reshape(3, 0)))", "np.sum(np.linalg.eigh(x.reshape(0, 0))[0])"),
    *("np.sum(np.linalg.cholesky(x.reshape(0, 0)))", "np.sum(np.linalg.qr(x.reshape(0, 3))[0])", "loops(x)"),
    *("np.sum(np.linalg.svd(x.reshape(0, 3), full_matrices=False)[1])", "np.linalg.slogdet(x.reshape(0, 0))[1]"),
    *("np.sum(np.concatenate([x, np.ones(2)]))", "np.sum(np.einsum('ij,jk->ik', x.reshape(2, 0), x.reshape(0, 2)))"),
    *(
        "np.sum(np.outer(x, np.ones(3)))",
        "np.log(np.sum(np.exp(x)))",
        "np.sum(np.diff(x))",
        "np.sum(np.where(x > 0, x, 0))",
    ),
)


def test_empty_arrays(tmp_path):
    loops = ["def loops(x):", "    s = 1.0", "    for i in range(x.shape[0]):", "        s = s * x[i]"]
    loops += ["    for j in range(5, 2):", "        s = s * 2.0", "    return s"]
    lines = [f"    out[{k}] = {text}" for k, text in enumerate(EMPTY)]
    head = ["import numpy as np", *loops, "def program(x, y):", f"    out = np.zeros({len(EMPTY)})"]
    text = "\n".join([*head, *lines, "    return out * np.sum(y)"])
    program = module_from(text, tmp_path).program
    x, y = np.zeros(0), np.array([1.0])
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        expected = program(x, y)
    g = sdfgad.differentiate(program, wrt=("x", "y"))
    by_x, by_y = g.vjp(x, y, cotangent=np.ones(len(EMPTY)))
    assert by_x.shape == (0,)
    np.testing.assert_array_equal(by_y, [np.nan])
    np.testing.assert_array_equal(g.value(x, y), expected)


@pytest.mark.parametrize(
    "text", ["np.max(x)", "np.min(x)", "x[np.argmax(x)]", "np.sum(np.fft.fft(x).real)", "np.ptp(x)", "x[0]", "x[-1]"]
)
def test_what_numpy_refuses_of_empty_arrays(text, tmp_path):
    program = module_from(f"import numpy as np\ndef program(x):\n    return {text}\n", tmp_path).program
    with pytest.raises((ValueError, IndexError)):
        program(np.zeros(0))
    with pytest.raises(SdfgadError) as caught:
        sdfgad.differentiate(program)(np.zeros(0))
    assert line_of(program, "return") in str(caught.value)


SPECIAL = (
    *("x * 2.0", "x + y", "x - y", "x * y", "x / y", "np.sqrt(x)", "np.log(x)", "np.exp(x)", "np.sin(x)", "np.tanh(x)"),
    *("np.abs(x)", "np.maximum(x, y)", "np.minimum(x, y)", "np.fmax(x, y)", "x ** 2", "np.where(x > 0, x, y)"),
    *("np.sum(x) + 0 * y", "np.max(x) + 0 * y", "np.prod(x) * y", "np.cumsum(x)", "np.hypot(x, y)", "np.sign(x)"),
)


def test_positions_of_nan_and_infinity(tmp_path):
    lines = [f"    out[{k}] = {text}" for k, text in enumerate(SPECIAL)]
    head = ["import numpy as np", "def program(x, y):", f"    out = np.zeros(({len(SPECIAL)}, x.shape[0]))"]
    program = module_from("\n".join([*head, *lines, "    return out"]), tmp_path).program
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0, 5e-324, 1.7e308]
    x = np.array([a for a in values for _ in values])
    y = np.array([b for _ in values for b in values])
    g = sdfgad.differentiate(program)
    for pick in (np.arange(81), np.arange(36, 81), np.arange(45, 81)):
        with np.errstate(all="ignore"):
            expected = program(x[pick], y[pick])
        np.testing.assert_allclose(g.value(x[pick], y[pick]), expected, rtol=1e-14)


# Of vectors with a NaN in each and a matrix with one in a row.
WITH_NAN = (
    *("np.clip(z, -1.0, y)", "np.clip(z, y, 0.5)", "z.clip(x[1], 2.0)", "np.clip(x, -1.0, 0.5)", "np.clip(z, y, x)"),
    *("np.median(x)", "np.median(m, axis=1)", "np.quantile(x, [0.1, 0.5])", "np.percentile(m, 50, axis=0)"),
    *("np.quantile(m, 0.0, axis=1, method='lower')", "np.median(z)", "np.quantile(z, 0.3)"),
    *("np.digitize(x, [0.0, 1.0])", "np.digitize(x, [1.0, 0.0])", "np.digitize(x, [1.0, 0.0], right=True)"),
    *("np.digitize(x, [0.0, 0.8, np.nan])", "np.digitize(x, [0.0, 0.8, np.nan], right=True)", "np.digitize(x, [0, 1])"),
    *("np.i0(1e308 * z)", "np.digitize(z, [-0.4, 1.3], right=True)"),
)


def test_positions_of_nan_in_order_statistics(tmp_path):
    parts = [f"    p{k} = np.ravel({text}) * 1.0" for k, text in enumerate(WITH_NAN)]
    joined = ", ".join(f"p{k}" for k in range(len(WITH_NAN)))
    lines = ["import numpy as np", "def program(x, y, z, m):", *parts, f"    return np.concatenate(({joined}))"]
    program = module_from("\n".join(lines), tmp_path).program
    x, z = np.array([0.3, np.nan, -2.0, 1.0, 0.7]), np.array([0.1, -0.4, 1.3, 0.8, -1.1])
    y, m = np.array([np.nan, 0.1, 0.2, np.nan, np.inf]), np.array([[1.0, np.nan, 2.0], [0.5, 0.2, 0.1]])
    with np.errstate(all="ignore"):
        expected = program(x, y, z, m)
    found = sdfgad.differentiate(program, wrt="z").value(x, y, z, m)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


# Of x with infinities, and y of one: NumPy takes differences of neighbours; of E without columns, and A with one.
QUANTILES = [
    f"np.quantile({x}, {q}, method='{method}')"
    for x in ("x", "x[1:4]", "y")
    for q in (0, 0.2, 0.25, 0.6, 1.0)
    for method in ("linear", "midpoint", "averaged_inverted_cdf", "median_unbiased", "higher")
]
OF_FEW = (
    *("np.nanmedian(E, axis=1)", "np.nanmedian(E, axis=1, keepdims=True)", "np.cov(A)", "np.cov(E)", "np.cov(A[0])"),
    *("np.linalg.norm(E[0], np.inf)", "np.linalg.norm(E, np.inf)", "np.linalg.norm(E, 1)"),
)


OF_TRUTHS = (
    "np.sum(x[:3] > 0, dtype=bool)",
    "np.sum(x[:1], dtype=bool)",
    "np.prod(x, dtype=bool)",
    "sum(E[0])",
    "np.max(x > 9.0, initial=-1.0, where=x < 2.0)",
    "(x > 0).prod(dtype=bool)",
)
ALL_NAN = tuple(
    f"np.nan{name}(np.array([[np.nan, np.nan], [np.nan, 1.0]]) * A[:2], axis={a})"
    for name in ("max", "min")
    for a in (0, 1)
)


@pytest.mark.parametrize("texts", [QUANTILES, OF_FEW, OF_TRUTHS + ALL_NAN], ids=["quantiles", "few", "others"])
def test_statistics_of_infinite_and_of_few_numbers(texts, tmp_path):
    lines = ["import numpy as np", "def program(x, y, E, A):", f"    return ({', '.join(texts)},)"]
    program = module_from("\n".join(lines), tmp_path).program
    args = np.array([-np.inf, 1, 2, 3, np.inf, np.inf]), np.array([-np.inf]), np.zeros((3, 0)), np.ones((3, 1))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = program(*args)
    for text, found, wanted in zip(texts, sdfgad.vjp(program, *args)[0], expected, strict=True):
        np.testing.assert_array_equal(found, wanted, err_msg=text)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype, text


def pythons(x, y):
    return max(x), min(x), max(y), min(y), max(y[1:]) * max(x[:1])


def test_pythons_extrema_keep_a_first_nan_only():
    x, y = np.array([1.0, np.nan, 3.0, -2.0]), np.array([np.nan, 1.0, 2.0])
    np.testing.assert_array_equal(sdfgad.vjp(pythons, x, y)[0], pythons(x, y))
    by_x, by_y = sdfgad.vjp(pythons, x, y)[1]((1.0, 10.0, 0.0, 0.0, 5.0)).values()
    np.testing.assert_array_equal(by_x, [10.0, 0.0, 1.0, 10.0])
    np.testing.assert_array_equal(by_y, [0.0, 0.0, 5.0])


def too_many_elements(x):
    y = np.zeros((2**40, 2**20, 2**10))
    y[0, 0, 0] = x[0]
    return y[0, 0, 0] * x[0]


def of_run_time_sizes(x, n):
    y = np.zeros((n, n))
    y[0, 0] = x[0]
    return y[0, 0] * x[1]


def too_many_bytes(x):
    y = np.zeros(2**61)
    y[0] = x[0]
    return y[0]


def broadcast(x):
    return np.sum(x[:, None, None] * np.ones((2**31, 1)) * np.ones(2**31))


def repeated(x):
    return np.sum(np.repeat(x, 2**62))


def never_stored(x):
    return np.sum(np.zeros((2**32, 2**32))) * x[0]


@pytest.mark.parametrize(
    ("program", "args", "line"),
    [
        (too_many_elements, (), "np.zeros"),
        (of_run_time_sizes, (2**32,), "np.zeros"),
        (too_many_bytes, (), "np.zeros"),
        (broadcast, (), "np.ones"),
        (repeated, (), "np.repeat"),
        (never_stored, (), "np.zeros"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_sizes_that_overflow_are_refused(program, args, line):
    with pytest.raises(ShapeMismatch, match="too many elements") as caught:
        sdfgad.differentiate(program, wrt="x")(np.ones(3), *args)
    assert line_of(program, line) in str(caught.value)
    assert "Make the array smaller" in str(caught.value)
