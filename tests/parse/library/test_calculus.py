"""Differences, integrals, interpolation and polynomials."""

from tests.parse.library.oracle import arguments, assert_like_numpy

EXPRESSIONS = [
    "np.diff(x)",
    "np.diff(a, axis=0)",
    "np.diff(a, 2)",
    "np.diff(x, prepend=0)",
    "np.diff(a, append=a[:, :1])",
    "np.diff(k)",
    "np.ediff1d(a)",
    "np.ediff1d(x, to_begin=s, to_end=[1,2])",
    "np.gradient(x)",
    "np.gradient(x, s)",
    "np.gradient(x, np.cumsum(x))",
    "np.gradient(a)[1]",
    "np.gradient(a, s, x)[1]",
    "np.gradient(a, axis=1, edge_order=2)",
    "np.gradient(x, np.cumsum(x), edge_order=2)",
    "np.gradient(a, 2.0)[0]",
    "np.gradient(k)",
    "np.trapezoid(x)",
    "np.trapezoid(a, axis=0)",
    "np.trapezoid(a, x)",
    "np.trapezoid(a, dx=s)",
    "np.trapezoid(a, y, axis=0)",
    "np.interp(x, np.cumsum(y), y)",
    "np.interp(s, [0.0,0.5,1.0], y)",
    "np.interp(a, [0.6,.9,1.2], y, left=-1.0)",
    "np.interp(a, [0.6,.9,1.2], y, right=s)",
    "np.polyval(y, x)",
    "np.polyval([1,2,3], x)",
    "np.polyval(y, s)",
    "np.polyval(y, a)",
    "np.logspace(0, s, 4)",
    "np.logspace(0,1,5)*s",
    "np.geomspace(s, 3, 4)",
    "np.geomspace(-1, -100, 3)*s",
    "np.geomspace(x, 2, 3, axis=-1)",
    "np.vander(x)",
    "np.vander(x, 3, increasing=True)",
    "np.vander(k)",
]


def test_expressions(tmp_path):
    assert_like_numpy(EXPRESSIONS, arguments(), tmp_path)
