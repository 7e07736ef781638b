"""Running results, products and statistics."""

import numpy as np

from tests.parse.library.oracle import arguments, assert_like_numpy

EXPRESSIONS = [
    "np.prod(a)",
    "np.prod(x)",
    "a.prod(axis=0)",
    "np.prod(a, axis=1, keepdims=True)",
    "np.prod(k)*s",
    "np.prod(c, axis=(0,2))",
    "np.prod(x.astype(np.float32))",
    "np.prod(x, initial=3.0)",
    "np.prod(a, where=a>1)",
    "np.cumsum(a)",
    "np.cumsum(a, axis=0)",
    "a.cumsum(1)",
    "np.cumsum(k)*y",
    "np.cumsum(k)",
    "np.cumprod(a, -1)",
    "np.cumprod(x)",
    "np.cumulative_sum(x, include_initial=True)",
    "np.cumulative_prod(a, axis=1)",
    "np.add.accumulate(x)",
    "np.cumsum(x.astype(np.float32))",
    "np.cumsum(k>0)",
    "np.var(a, axis=0)",
    "a.var(ddof=1)",
    "np.std(a,1,keepdims=True)",
    "np.var(k)",
    "np.var(a.astype(np.float32))",
    "np.ptp(a)",
    "np.ptp(a, axis=1)",
    "np.average(a)",
    "np.average(a, axis=1, weights=x)",
    "np.average(a, weights=a*a)",
    "np.average(a, axis=0, weights=k+1, returned=True)[1]",
    "np.average(k, weights=y)",
    "np.average(a, axis=(0,1), weights=a)",
    "np.cov(a)",
    "np.cov(a, rowvar=False)",
    "np.cov(x, x*x)",
    "np.cov(x)",
    "np.cov(a, bias=True)",
    "np.corrcoef(a)[0,1:]",
    "np.corrcoef(x, x*x)[0,1]",
    "np.std(x, out=None)",
    "np.var([x, 2*x], axis=0)",
]

ZEROS = [
    "np.prod(z, axis=0)",
    "np.prod(z, axis=1)",
    "np.prod(z)",
    "np.cumprod(z, axis=1)",
]

WITHOUT_NAN = [
    "np.nansum(q, axis=0)",
    "np.nanmean(q, axis=1)",
    "np.nanmean(q)",
    "np.nanvar(q, axis=1)",
    "np.nanstd(q)",
    "np.nanmax(q, axis=1)",
    "np.nanmin(q)",
    "np.nancumsum(q)",
    "np.nanprod(q, axis=0)",
    "np.nansum(k)",
]


def test_expressions(tmp_path):
    assert_like_numpy(EXPRESSIONS, arguments(), tmp_path)


def test_products_with_zeros(tmp_path):
    assert_like_numpy(ZEROS, arguments(z=np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 1.5]])), tmp_path)


def test_without_nan(tmp_path):
    q = np.array([[1.0, np.nan, 2.0], [0.3, 0.5, np.nan]])
    assert_like_numpy(WITHOUT_NAN, arguments(q=q), tmp_path)
