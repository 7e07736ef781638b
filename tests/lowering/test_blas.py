"""Which statements become calls of BLAS, and that the calls compute what NumPy does."""

import copy

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.program import computes
from sdfgad.lowering.blas import SMALLEST, product_of
from tests.helpers import assert_close, module_from
from tests.helpers_ir import parsed

M, N, K = 9, 8, 10
assert min(M * N * K, M * K * 8) >= SMALLEST


def products(function, *args):
    """The products that the program of a function has: "gemm" or "gemv" for each."""
    program = parsed(function, *args).program
    found = [product_of(statement, program.buffers) for statement in computes(program.body)]
    return ["gemv" if p.n is None else "gemm" for p in found if p is not None]


def array(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng((seed, *shape)).uniform(-1, 1, shape).astype(dtype)


ARGUMENTS = {
    "A": array(M, K),
    "B": array(K, N),
    "AT": array(K, M),
    "BT": array(N, K),
    "big": array(3 * M, 3 * K),
    "wide": array(K, 3 * N),
    "long": array(60, 40),
    "x": array(40),
    "y": array(60),
    "x2": array(40, 2),
    "cube": array(4, 30, 40),
}

RECOGNISED = {
    "A @ B": "gemm",
    "AT.T @ B": "gemm",
    "A @ BT.T": "gemm",
    "AT.T @ BT.T": "gemm",
    "(A @ B).T": "gemm",
    "np.dot(A, B)": "gemm",
    "big[:M, :K] @ B": "gemm",
    "big[M : 2 * M, K : 2 * K] @ wide[:, N : 2 * N]": "gemm",
    "big[::3, 1 : K + 1] @ B": "gemm",
    "big[2 : M + 2, :K] @ wide.T[N : 2 * N].T": "gemm",
    "A.T.T @ B": "gemm",
    "A @ A.T": "gemm",
    "(BT @ AT).T": "gemm",
    "cube[1, :M, :K] @ B": "gemm",
    "long @ x": "gemv",
    "long.T @ y": "gemv",
    "y @ long": "gemv",
    "long @ x2[:, 1]": "gemv",
    "long[:, ::1] @ x": "gemv",
    "long[::2] @ x": "gemv",
    "long[:, 3:38] @ x[3:38]": "gemv",
    "cube[2] @ x": "gemv",
}

NOT_RECOGNISED = [
    "A * A",
    "A[:, ::2] @ B[::2]",
    "big[::3, ::3] @ B",
    "np.outer(x, y)",
    "cube @ x",
    "cube @ long.T",
    "np.sum(A)",
    "A[:2, :3] @ B[:3, :2]",
    "long @ x[::-1]",
]


def function_of(text, folder):
    names = ", ".join(ARGUMENTS)
    values = f"M, N, K = {M}, {N}, {K}"
    return module_from(f"import numpy as np\n{values}\ndef program({names}):\n    return {text}", folder).program


@pytest.mark.parametrize("text", RECOGNISED)
def test_recognised(text, tmp_path):
    assert products(function_of(text, tmp_path), *ARGUMENTS.values()) == [RECOGNISED[text]]


@pytest.mark.parametrize("text", NOT_RECOGNISED)
def test_not_recognised(text, tmp_path):
    assert products(function_of(text, tmp_path), *ARGUMENTS.values()) == []


def test_single_precision():
    single = [array(M, K, dtype=np.float32), array(K, N, dtype=np.float32)]
    assert products(lambda a, b: a @ b, *single) == ["gemm"]
    assert products(lambda a, b: a @ b, single[0], array(K, N)) == []


def test_integers_are_not_for_blas():
    ones = np.ones((10, 10), np.int64)
    assert products(lambda a, b: a @ b, ones, ones) == []


def in_place(c, a, b):
    for i in range(8):
        c[i:, i] += c[i:, :i] @ c[i, :i]
    return c


def rows(c, a, b):
    for i in range(9):
        c[i] += a[i] @ b
    return c


def test_target_among_the_operands():
    square = array(40, 40)
    program = parsed(in_place, square, square, square).program
    for statement in computes(program.body):
        product = product_of(statement, program.buffers)
        assert product is None or product.c.access.buffer not in (product.a.access.buffer, product.b.access.buffer)


def test_three_factors_with_a_parameter():
    def program(a, b, w):
        c = np.zeros((9, 8))
        c += np.sum(a[:, :, None] * w[None, :, None] * b[None, :, :], axis=1)
        return c

    assert products(program, array(M, K), array(K, N), array(K)) == []


def test_products_in_loops():
    assert products(rows, array(M, 100), array(M, K), array(K, 100)) == ["gemv"]


def test_results_and_gradients_in_one_program(tmp_path):
    """All that is recognised, and some that is not, at sizes where calls are made."""
    cases = [text for text in (*RECOGNISED, *NOT_RECOGNISED) if "sum" not in text]
    names = ", ".join(ARGUMENTS)
    space = {"np": np, "M": M, "N": N, "K": K, **copy.deepcopy(ARGUMENTS)}
    values = [eval(text, dict(space)) for text in cases]
    ends = np.cumsum([value.size for value in values])
    lines = [f"    out[{e - v.size}:{e}] = np.ravel({t})" for t, v, e in zip(cases, values, ends, strict=True)]
    head = f"import numpy as np\nM, N, K = {M}, {N}, {K}\ndef program({names}):\n    out = np.zeros({ends[-1]})\n"
    program = module_from(head + "\n".join(lines) + "\n    return out", tmp_path).program
    g = sdfgad.differentiate(program, allow_unused=True)
    args = tuple(ARGUMENTS.values())
    found = g.value(*args)
    for text, value, end in zip(cases, values, ends, strict=True):
        assert_close(found[end - value.size : end], np.ravel(value), 1e-13, text)
    # The gradient along a direction, by central differences: each entry is linear or quadratic in the arguments.
    cotangent, h = array(ends[-1]), 1e-3
    gradients = g.vjp(*args, cotangent=cotangent)
    for name in gradients:
        direction = array(*np.shape(ARGUMENTS[name]), seed=1)
        ahead, behind = (program(**{**ARGUMENTS, name: ARGUMENTS[name] + step * direction}) for step in (h, -h))
        assert_close(np.sum(gradients[name] * direction), cotangent @ (ahead - behind) / (2 * h), 1e-9, name)


def test_results_in_single_precision_and_in_place():
    def program(a, b, c, d, e):
        f = a @ b
        c -= 0.5 * (a @ b)
        d += e @ d * 0.25
        for i in range(9):
            c[i] += a[i] @ b
        return f, c, d

    args = (*(array(*s, dtype=np.float32) for s in ((M, K), (K, N), (M, N))), array(30), array(30, 30))
    expected = program(*copy.deepcopy(args))
    for k in range(3):
        found = sdfgad.differentiate(program, output=f"return[{k}]", allow_unused=True).value(*args)
        assert found.dtype == expected[k].dtype
        assert_close(found, expected[k], 1e-6 if k < 2 else 1e-13)
