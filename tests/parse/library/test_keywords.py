"""Keyword arguments of NumPy's functions, each of which must change the result as NumPy's does."""

import numpy as np

import sdfgad
from sdfgad.interpret import library
from tests.helpers import assert_close, module_from
from tests.parse.library.oracle import arguments, assert_like_numpy

SQUARE = np.array([[4.0, 1.0, 7.0], [2.0, 5.0, 9.0], [3.0, 8.0, 6.0]])

VALUES = [
    "o = np.zeros(4); np.any(a > 1.2, axis=0, out=o); out = o * x",
    "o = np.zeros((1, 4)); p = np.all(a > 0.6, 0, o, True); out = p * x + o",
    "o = np.zeros(4); (a > 1.2).any(axis=0, out=o); out = o * x",
    "o = np.zeros(4, bool); (a > 0.6).all(0, out=o, keepdims=False); out = o * x",
    "o = np.zeros(4); np.logical_or.reduce(a > 1.2, 0, None, o); out = o * x",
    "o = np.zeros(4); np.logical_and.reduce(a > 0.6, dtype=bool, out=o); out = o * x",
    "o = np.zeros(4); r = np.maximum.accumulate(x, out=o); out = o + 2 * r",
    "o = np.zeros(4); r = np.minimum.accumulate(x, 0, None, o); out = o + 2 * r",
    "np.maximum.accumulate(k, dtype=float) * s",
    "np.minimum.accumulate(np.array([3, 0, 5], np.uint8)) * s",
    "np.minimum.accumulate(np.array([True, False, True])) * s",
    "np.maximum.reduce(k, dtype=float) * s",
    "np.minimum.reduce(x, dtype=np.float32)",
    "o = np.zeros(5); np.cumulative_sum(x, include_initial=True, out=o); out = o",
    "o = np.zeros(5); r = np.cumulative_prod(x, include_initial=True, out=o); out = o + 2 * r",
    "o = np.zeros(4); np.cumulative_sum(x, out=o); out = o",
    "np.sum(k, initial=-1.5) * s",
    "np.prod(k + 1, initial=1.5) * s",
    "np.prod(x, initial=s)",
    "o = np.zeros(4); r = np.clip(x, 0.6, s, o); out = o + 2 * r",
    "np.clip(k, None, 1.5) * s",
    "np.clip(k, 0, 1.5) * s",
    "np.clip(k.astype(np.float32), None, a[:, :3]) * s",
    "np.clip(a=x, a_min=0.6, a_max=1.0)",
    "o = np.zeros(4); np.round(x, 1, out=o); out = o * x",
    "np.conjugate(x, dtype=complex).real",
    "np.conjugate(k, dtype=float) * s",
    "x.astype(np.float64, 'C', 'safe', True, False) * k.astype(np.float32, casting='same_kind')[0]",
    "np.arange(0.5, 5.0, 0.5, dtype=int) * s",
    "np.concatenate((x, k), casting='safe')",
    "np.stack((x, x * s), dtype=np.int64, casting='unsafe') * s",
    "np.einsum('i,i', x, x, dtype=np.int64, casting='unsafe') * s",
    "o = np.zeros(4, int); np.copyto(o, 2 * x, casting='unsafe'); out = o * x",
    "np.array_equal([x[0], s], [x[0], s]) * s",
    "np.fft.fftn(a, s=(2, -1), axes=(0, 1)).real",
    "np.fft.irfftn(a, s=(3, -1), axes=(0, 1))",
    "np.pad(x, 1, constant_values=s) + np.pad(x, 1, 'linear_ramp', end_values=s)",
]

OF_MATRICES = [
    "np.linalg.pinv(m, hermitian=True)",
    "np.linalg.pinv(m, 1e-15, True)",
    "np.linalg.pinv(m, rtol=None)",
    "np.linalg.svd(m, compute_uv=False, hermitian=True)",
    "np.linalg.matrix_rank(np.tril(m, -2) + m[0, 0] * np.eye(3), hermitian=True, tol=5.0) * m",
    "np.linalg.matrix_rank(np.array([[1.0, 0.0], [1e-3, 0.0]]) * m[0, 0], hermitian=True) * m",
    "np.linalg.matrix_rank(np.stack((m, m)), tol=np.array([3.0, 0.0])) * m[0, 0]",
    "np.linalg.lstsq(m, m[0], rcond=-1)[0]",
    "z = m + 1j * m.T; out = np.real(np.linalg.pinv(z, hermitian=True))",
]


def test_values_and_slopes(tmp_path):
    assert_like_numpy(VALUES, arguments(), tmp_path)


def test_of_matrices(tmp_path):
    assert_like_numpy(OF_MATRICES, {"m": SQUARE}, tmp_path)


def test_cut_off():
    found = sdfgad.differentiate(lambda m: np.linalg.pinv(m, rcond=0.5)).value(SQUARE)
    assert_close(found, np.linalg.pinv(SQUARE, 0.5), 1e-12, "value")


def test_cut_off_in_the_interpreter():
    bits = np.float64(0.5).view(np.int64)
    found = library.LIBRARY["pseudo_inverse"](SQUARE, 1, 3, 3, bits)
    assert_close(found, np.linalg.pinv(SQUARE, 0.5), 1e-12, "value")


COMPILED = [
    "o = np.zeros(3)\n    np.any(m > 3, axis=0, out=o)\n    y = y + np.sum(o * m)",
    "o = np.zeros(3)\n    np.minimum.accumulate(m[0], out=o)\n    y = y + np.sum(o * m)",
    "o = np.zeros(4)\n    np.cumulative_sum(m[1], include_initial=True, out=o)\n    y = y + np.sum(o * o)",
    "y = y + np.sum(np.linalg.pinv(m, hermitian=True) ** 2) + np.prod(m[0], initial=m[1, 1])",
    "y = y + np.sum(np.linalg.svd(m, compute_uv=False, hermitian=True) ** 3)",
    "y = y + np.sum(np.clip(m, None, 5.5))",
    "y = y + np.sum(np.arange(0.0, 3.0, 1.5, dtype=int) * m[2, :2])",
]


def test_compiled(tmp_path):
    lines = "\n    ".join(COMPILED)
    text = f"import numpy as np\ndef program(m):\n    y = 0.0\n    {lines}\n    return y\n"
    program = module_from(text, tmp_path).program
    assert_close(sdfgad.value_and_grad(program)(SQUARE)[0], program(SQUARE), 1e-12, "value")
    sdfgad.check_grads(program, SQUARE)
