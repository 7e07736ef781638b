"""Element-wise functions at ordinary and at extreme numbers, in several dtypes: NumPy's values and dtypes."""

import math

import numpy as np
import pytest
from scipy import special

import sdfgad
from tests.helpers import line_of, module_from
from tests.helpers_ir import parsed

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 3.7, -3.7, 1e-3, 1e5, 1e-30, np.inf, -np.inf, np.nan]
INTEGERS = [0, 1, -1, 2, -7, 12, 100, -128, 127]

OF_FLOATS = [
    *(f"np.{name}(x)" for name in ("sinc", "nan_to_num", "degrees", "radians", "fabs", "positive", "trunc", "fix")),
    *(f"np.{name}(x)" for name in ("rint", "floor", "ceil", "spacing", "isposinf", "isneginf", "isreal", "iscomplex")),
    *(f"np.{name}(x)" for name in ("conj", "real", "imag", "angle", "sign", "signbit", "isnan", "isfinite", "exp2")),
    *(f"np.{name}(x, y)" for name in ("fmod", "nextafter", "heaviside", "copysign", "fmax", "fmin", "logaddexp2")),
    *(f"np.{name}(x, y)" for name in ("true_divide", "mod", "hypot", "logaddexp", "isclose", "floor_divide")),
    *(f"np.modf(x)[{k}]" for k in (0, 1)),
    *(f"np.divmod(x, y)[{k}]" for k in (0, 1)),
    "np.float_power(x, 3)",
    "np.round(x)",
    "np.round(x, 2)",
    "np.around(x, decimals=-1)",
    "x.round(1)",
    "np.nan_to_num(x, nan=7.0, posinf=8.0, neginf=-8.0)",
    "np.ldexp(x, 4)",
    "np.ldexp(x, k)",
    "np.isclose(x, y, rtol=0.1, atol=0.5, equal_nan=True)",
    "np.angle(x, deg=True)",
    "x.real + x.conj() - x.imag",
    "np.float32(x)",
    "np.float64(x)",
    "np.where(x > 0, 1.0, 0.0)",
    "(x > 0) + (x > -1)",
    "((x > 0) + (x > -1)) * x",
    "np.add(x, y, dtype=np.float64)",
    "divmod(x, y)[1]",
    "special.expit(x)",
    "special.log_expit(x)",
    "special.xlogy(x, y)",
    "special.xlog1py(x, y)",
    "special.erf(x)",
    "special.gammaln(x)",
    "special.psi(x + 0.25)",
]
OF_INTEGERS = [
    *(f"np.{name}(x, y)" for name in ("gcd", "lcm", "left_shift", "right_shift", "fmod", "fmax", "fmin", "mod")),
    *(f"np.{name}(x, y)" for name in ("floor_divide", "maximum", "bitwise_and", "float_power", "isclose")),
    *(f"np.{name}(x)" for name in ("floor", "ceil", "trunc", "fix", "round", "nan_to_num", "abs", "conj", "isneginf")),
    *(f"np.divmod(x, y)[{k}]" for k in (0, 1)),
    "np.round(x, -1)",
    "x << 2",
    "x >> 1",
    "np.float32(x)",
    "np.int32(x)",
    "np.bool_(x)",
    "np.sign(x)",
    "np.reciprocal(x)",
    "np.square(x)",
]
CASES = [(np.float64, OF_FLOATS), (np.float32, OF_FLOATS), *((t, OF_INTEGERS) for t in (np.int64, np.int32, np.int16))]


def pairs(values, dtype):
    x, y = np.meshgrid(np.array(values, dtype), np.array(values, dtype))
    return x.ravel(), y.ravel()


@pytest.mark.parametrize(("dtype", "expressions"), CASES, ids=[np.dtype(t).name for t, _ in CASES])
def test_values(dtype, expressions, tmp_path):
    x, y = pairs(FLOATS if np.dtype(dtype).kind == "f" else INTEGERS, dtype)
    if "int" in np.dtype(dtype).name:
        # numpy.lcm and numpy.gcd of the lowest integer overflow.
        x, y = np.maximum(x, -127), np.maximum(y, -127)
    k = (np.arange(x.size) % 9 - 4).astype(np.int64)
    rows = [f"    out[{row}] = {text}" for row, text in enumerate(expressions)]
    head = ["import numpy as np", "from scipy import special", "def program(x, y, k, w):"]
    first = f"    out = np.zeros(({len(rows)}, {x.size})) + w"
    text = "\n".join([*head, first, *rows, "    return out"])
    program = module_from(text, tmp_path).program
    with np.errstate(all="ignore"):
        expected = program(x, y, k, 0.0)
    found = sdfgad.differentiate(program).value(x, y, k, 0.0)
    tolerance = {np.float64: 4e-15, np.float32: 1e-6}.get(dtype, 0.0)
    wrong = []
    for name, mine, right in zip(expressions, found, expected, strict=True):
        same = (mine == right) & (np.signbit(mine) == np.signbit(right)) | np.isnan(mine) & np.isnan(right)
        with np.errstate(all="ignore"):
            near = same | (np.abs(mine - right) <= tolerance * np.abs(right))
        if not near.all():
            place = np.argmin(near)
            wrong.append(f"{name} of {x[place]}, {y[place]}, {k[place]}: {mine[place]}, not {right[place]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("dtype", "expressions"), CASES, ids=[np.dtype(t).name for t, _ in CASES])
def test_dtypes(dtype, expressions):
    x, k = np.ones(3, dtype), np.ones(3, np.int64)
    names = {"np": np, "special": special}
    for text in expressions:
        program = eval(f"lambda x, y, k: {text}", names)
        assert dtype_of(text, x, x, k) == program(x, x, k).dtype, text


def dtype_of(text, *args):
    import linecache

    name = f"<{text}>"
    source = f"def program(x, y, k):\n    return {text}\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {"np": np, "special": special, "math": math}
    exec(compile(source, name, "exec"), scope)
    primal = parsed(scope["program"], *args)
    return primal.program.buffers[primal.program.outputs["return"]].dtype


WEAK = ["s + x", "float(x[0]) * x", "math.sqrt(x[0]) * x", "math.pi * x", "np.float64(s) * x", "np.sqrt(s) * x"]


@pytest.mark.parametrize("text", WEAK)
def test_python_floats_give_way_to_arrays(text):
    x, s = np.ones(3, np.float32), 0.5
    expected = eval(text, {"np": np, "math": math, "x": x, "s": s}).dtype
    assert dtype_of(text.replace("s ", "y ").replace("(s)", "(y)"), x, s, 0) == expected


def test_array_equal_and_allclose():
    def program(x, y):
        total = 0.0
        if np.array_equal(x, y):
            total += x[0]
        if np.array_equal(x, y[:2]):
            total += 10.0 * x[0]
        if np.allclose(x, y, atol=0.2):
            total += 100.0 * x[0]
        return total

    g = sdfgad.differentiate(program, wrt="x")
    x = np.array([1.0, 2.0, 3.0])
    for y in (x.copy(), x + 0.1, x + 5.0):
        value, gradient = g.value_and_grad(x, y)
        assert value == program(x, y)
        assert gradient.tolist() == [program(x, y), 0.0, 0.0]


def test_static_answers():
    def program(x):
        return np.sum(x) * (1.0 if np.isrealobj(x) and not np.iscomplexobj(x) else 2.0)

    assert sdfgad.grad(program)(np.ones(2)).tolist() == [1.0, 1.0]


def test_nan_to_num_in_place():
    def program(x):
        y = x * 2.0
        np.nan_to_num(y, copy=False)
        return np.sum(y * y)

    value, gradient = sdfgad.differentiate(program, wrt="x").value_and_grad(np.array([1.0, np.nan, 3.0]))
    assert value == 40.0
    assert gradient.tolist() == [8.0, 0.0, 24.0]


def parts(x, i):
    return np.modf(i)[0] + x, np.modf(i)[1], np.modf(x)[0]


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int64, np.float32])
def test_parts_have_numpys_dtype(dtype):
    args = np.float32([1.5, -2.25]), np.array([3, 4], dtype)
    for found, expected in zip(sdfgad.vjp(parts, *args)[0], parts(*args), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_parts_in_half_precision_are_refused():
    with pytest.raises(sdfgad.UnsupportedProgram, match="modf gives float16") as caught:
        sdfgad.vjp(parts, np.ones(2), np.ones(2, bool))
    assert line_of(parts, "np.modf") in str(caught.value)
