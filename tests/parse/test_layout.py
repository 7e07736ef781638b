"""Copies and views of reshaped arrays, as NumPy's order of the elements in memory decides: right, or refused."""

import numpy as np
import pytest

from sdfgad.errors import AmbiguousArray, UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope, parsed

RNG = np.random.default_rng(4)
X, Z = RNG.uniform(0.5, 1.5, (3, 4)), RNG.uniform(0.5, 1.5, (2, 3, 4))
K = np.array([2, 0])

# New arrays that NumPy makes row-major, and others.
ROWS = [
    *("x * 2.0", "x[::-1] * 2.0", "x[1:, ::2] + 1.0", "x[0] * x[:, :1]", "x + x.T.copy().T", "x.reshape(4, 3) * 2.0"),
    *(
        "np.exp(x)",
        "np.where(x > 1, x, x[0])",
        "x[:, None] * z.transpose(1, 0, 2) + np.ones((3, 2, 4))",
    ),
    *("x.T.copy()", "np.array(x.T, order='C')", "np.ascontiguousarray(x.T)", "x.T.astype(np.float64, order='C')"),
    *("x[k]", "x[np.ix_(k, k)]", "z[k % 2]", "x.T[k]", "np.sort(x)", "np.take(x, [0, 1], axis=0)"),
    *("x.T @ x", "np.dot(x, x.T)", "z.transpose(0, 2, 1) @ z", "np.einsum('ij,kj->ki', x, x)", "np.outer(x[0], x[1])"),
    *("np.sum(z, axis=0)", "np.mean(z, axis=1)", "np.max(z, axis=2, keepdims=True)", "np.cumsum(x, axis=0)"),
    *(
        "np.concatenate([x, x])",
        "np.stack([x, x])",
        "np.vstack([x, x])",
        "np.tile(x, 2)",
        "np.pad(x, 1)",
        "np.roll(x, 1, 0)",
    ),
    *(
        "np.zeros((3, 4))",
        "np.ones_like(x)",
        "np.full_like(x.T, 2.0, order='C')",
        "np.eye(3)",
        "np.linspace(x[0], x[1], 3)",
    ),
    *("np.linalg.inv(x[:, :3] + 2.0 * np.eye(3))", "np.fft.fft(x, axis=0).real * 1.0", "np.meshgrid(x[0], x[1])[0]"),
]
OTHERS = [
    *(
        "x.T * 2.0",
        "np.exp(x.T)",
        "-x.T",
        "x[:, ::2].T + 1.0",
        "np.rot90(x) * 1.0",
        "x.T + x[0][:, None]",
        "np.copy(x.T)",
    ),
    *("np.zeros_like(x.T)", "np.zeros((4, 3), order='F')", "np.array(x, order='F')", "x.T.astype(np.float64)"),
    *("x[:, k]", "z[..., k]", "x[0][np.array([[0, 1], [2, 3]]).T]", "np.einsum('ijk->ki', z)", "np.sort(x.T)"),
    *("np.sum(z.T, axis=0)", "np.mean(z.transpose(2, 1, 0), axis=1)", "np.cumsum(x.T, axis=0)", "np.roll(x.T, 1, 0)"),
    *("np.concatenate([x.T, x.T])", "np.stack([x, x], axis=-1)", "np.moveaxis(z, 0, -1) * 1.0", "np.fft.fft(x.T).real"),
    *("np.copy(np.broadcast_to(x[0], (3, 4)))", "np.zeros_like(np.broadcast_to(x[0], (3, 4)))"),
    *("(x.T * 2.0)[1:]", "np.linspace(x[0], x[1], 3, axis=1)", "x[:, None] * z.transpose(1, 0, 2)"),
]
FLAT = ["y.ravel()", "y.reshape(-1)", "np.ascontiguousarray(y)"]


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"import numpy as np\n\ndef program(x, z, k):\n{lines}\n", folder).program


@pytest.mark.parametrize("flat", FLAT)
def test_row_major_arrays(flat, tmp_path):
    for text in ROWS:
        assert_like_python(
            program_of(f"y = {text}\nr = {flat}\ny *= 2.0\nr += 1.0\nreturn r * 1.0, y * 1.0", tmp_path), X, Z, K
        )


@pytest.mark.parametrize("flat", FLAT)
def test_other_arrays_that_are_not_updated(flat, tmp_path):
    for text in OTHERS:
        assert_like_python(
            program_of(f"y = {text}\ny += 1.0\nr = {flat}\nreturn r * y.size, y * 2.0", tmp_path), X, Z, K
        )


@pytest.mark.parametrize("flat", FLAT)
@pytest.mark.parametrize(
    "text", ["x.T * 2.0", "x[:, k]", "np.zeros_like(x.T)", "np.einsum('ijk->ki', z)", "np.copy(x.T)"]
)
def test_what_may_be_a_copy_is_refused_once_it_matters(text, flat, tmp_path):
    with pytest.raises(AmbiguousArray, match="may be a view or a copy of an array") as caught:
        parsed(program_of(f"y = {text}\nr = {flat}\ny *= 2.0\nreturn r * 1.0", tmp_path), X, Z, K)
    assert caught.value.where.text == "return r * 1.0"
    with pytest.raises(UnsupportedProgram, match="what may be a view or a copy of an array") as caught:
        parsed(program_of(f"y = {text}\nr = {flat}\nr += 2.0\nreturn y * 1.0", tmp_path), X, Z, K)
    assert caught.value.where.text == "r += 2.0"


VIEWS_AND_COPIES = [
    *(
        "np.asarray(x, order='F')",
        "np.asarray(x.T, order='F')",
        "np.asarray(x.T, order='C')",
        "np.array(x, copy=None, order='F')",
    ),
    *("np.asfortranarray(x)", "np.asfortranarray(x.T)", "np.asfortranarray(x[0])", "np.ascontiguousarray(x[::2])"),
    *("x.T.astype(np.float64, order='C', copy=False)", "x.astype(np.float64, order='C', copy=False)", "x.T.ravel('F')"),
    *("x.reshape((4, 3), order='F')", "x.T.reshape(-1)", "(x * 1.0).T.reshape(4, 1, 3)", "x.T[None].reshape(4, 3, 1)"),
]


@pytest.mark.parametrize("text", VIEWS_AND_COPIES)
def test_orders_that_are_asked_for(text, tmp_path):
    program = program_of(f"x = x * 1.0\nr = {text}\nx *= 2.0\nr += x[0, 0]\nreturn r * r, x * 1.0", tmp_path)
    assert_value_and_slope(program, X, Z, K, output="return[0]")


BODIES = {
    "carried by a loop": "y = x\nfor t in range(40):\n    y = y * 0.5 + x\n    r = y.ravel()\n    r += 1.0\nreturn y",
    "chosen": "y = x * 1.0\nif x[0, 0] > 0.9:\n    y = x + 1.0\nr = y.reshape(-1)\nr *= 2.0\nreturn y * r[0]",
    "new axes alone": "y = x.T * 2.0\nr = y.reshape(4, 1, 3)\nr += 1.0\nreturn y * 1.0",
    "a vector": "y = x[:, 1] * 2.0\nr = y.reshape(3, 1)\nr += 1.0\nreturn y * 1.0",
    "no name": "y = (x.T * 2.0).reshape(-1)\ny += 1.0\nreturn y * y",
}


@pytest.mark.parametrize("name", BODIES)
def test_orders_where_paths_meet(name, tmp_path):
    program = program_of(BODIES[name], tmp_path)
    assert_value_and_slope(program, X, Z, K)


def test_order_that_a_loop_changes(tmp_path):
    body = (
        "y = z[0, :, :3] * 1.0\nfor t in range(40):\n    r = y.ravel()\n    r += 1.0\n    y = y.T * 0.5\nreturn y * y"
    )
    with pytest.raises(UnsupportedProgram, match="what may be a view or a copy of an array") as caught:
        parsed(program_of(body, tmp_path), X, Z, K)
    assert caught.value.where.text == "r += 1.0"
