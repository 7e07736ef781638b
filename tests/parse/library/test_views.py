"""Truth over axes, and views."""

from tests.parse.library.oracle import arguments, assert_like_numpy

EXPRESSIONS = [
    "np.any(a > 1, axis=0)",
    "np.all(a > 0.1)",
    "(a>1).any()",
    "np.count_nonzero(a > 1, axis=1, keepdims=True)",
    "np.isclose(a, a+1e-9)",
    "np.allclose(a, 2)",
    "np.moveaxis(c, 0, -1)*np.ones(2)",
    "np.moveaxis(c, (0,1), (-1,0))",
    "np.rollaxis(c, 2)",
    "np.rollaxis(c,0,3)",
    "np.fliplr(a)",
    "np.flipud(a)",
    "np.rot90(a)",
    "np.rot90(a,2)",
    "np.rot90(a, -1)",
    "np.rot90(c, 1, (1,2))",
    "np.diagonal(a, 1)",
    "a.diagonal(-1)",
    "np.diagonal(c, 0, 0, 2)",
    "np.diag(x)",
    "np.diag(x, 2)",
    "np.diag(x, -1)",
    "np.diag(a, 1)",
    "np.diagflat(a, 1)",
    "np.diagflat([s, 1.0])",
    "np.atleast_1d(s)",
    "np.atleast_2d(x)",
    "np.atleast_3d(a)",
    "np.atleast_3d(x)",
    "np.atleast_2d(x, y)[1]",
    "np.broadcast_arrays(x, a)[0]*2",
    "np.split(x, 2)[1]",
    "np.split(a, [1,3], axis=1)[1]",
    "np.array_split(x, 3)[0]",
    "np.array_split(x,3)[2]",
    "np.hsplit(a, 2)[1]",
    "np.vsplit(a, 3)[1]",
    "np.dsplit(c, 2)[1]",
    "np.split(x, [3,1,6])[2]",
    "np.unstack(a, axis=1)[2]",
    "np.matrix_transpose(c)",
    "c.mT",
    "np.result_type(x, 3) == x.dtype and x",
    "x * np.size(a) + np.ndim(a)",
]

UPDATES = [
    "u = x.copy(); np.split(u, 2)[1][:] = s; out = u",
]


def test_expressions(tmp_path):
    assert_like_numpy(EXPRESSIONS, arguments(), tmp_path)


def test_parts_are_views(tmp_path):
    assert_like_numpy(UPDATES, arguments(), tmp_path)
