"""Arguments of NumPy's functions that are rarer, and functions over pieces of arrays."""

import numpy as np

from tests.table.cases import Group

add = Group("Options, pieces and order statistics")

K = np.array([0, 2, 2, 1])
for name in ("multiply", "divide", "maximum", "minimum", "power", "subtract"):
    add(f"z = x.copy()\nnp.{name}.at(z, k, y)\nreturn z", x="3 distinct" if "imum" in name else "3 positive", k=K,
        y="4 positive" if "imum" not in name else "4 nonint", function=f"np.{name}.at", label=f"np.{name}.at",
        jax=None)  # fmt: skip
add("z = x.copy()\nnp.multiply.at(z, (k, k), 2.0)\nreturn z", x="3x3", k=K, function="np.multiply.at", label="pairs",
    jax=None)  # fmt: skip
for name in ("logaddexp", "hypot", "subtract", "fmax"):
    where = "3 distinct | 2x3 distinct" if name == "fmax" else "3 positive | 2x3 positive"
    add(f"np.{name}.reduce(x)", x=where, function="ufunc.reduce", jax=None)
    add(f"np.{name}.accumulate(x)", x=where, function="ufunc.accumulate", jax=None)
add("np.log(x, where=x > 0, out=np.zeros_like(x))", x="4 nonzero", function="ufunc(dtype=, out=, where=)", jax=None)
for name in ("mean", "var", "std"):
    add(f"np.{name}(x, where=x > -9.0)", x="2x3 distinct", dtypes="df")
    add(f"np.{name}(x, axis=1, where=np.array([True, False, True]))", x="2x3 distinct", dtypes="df")
add("np.multiply.reduce(x, axis=1, where=x > 0)", x="2x3 nonzero", function="ufunc.reduce", jax=None)
add("np.maximum.reduce(x, initial=0.1)", x="3 nonzero", function="ufunc.reduce", jax=None)

for method in ("lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased", "normal_unbiased",
               "inverted_cdf", "averaged_inverted_cdf", "interpolated_inverted_cdf"):  # fmt: skip
    add(f"np.quantile(x, 0.35, method='{method}')", x="6 distinct | 7 distinct", jax=None, dtypes="d")
add("np.quantile(x, [0.25, 0.5], axis=1, keepdims=True)", x="2x5 distinct", jax=None, dtypes="d")
add("np.percentile(x, [25, 60], axis=0)", x="5x2 distinct", jax=None, dtypes="d")
add("np.nanmedian(np.where(x > -0.5, x, np.nan), axis=1)", x="3x5 distinct", jax=None, function="np.nanmedian")
for _call in (
    "nanquantile(_, 0.3, axis=1)",
    "nanquantile(_, [0.0, 0.4, 1.0])",
    "nanpercentile(_, 75, axis=1, keepdims=True)",
):
    add(
        "np." + _call.replace("_", "np.where(x > -0.5, x, np.nan)"),
        x="3x5 distinct",
        jax=None,
        dtypes="d",
        function="np." + _call.partition("(")[0],
    )
add(
    "np.nanquantile(np.where(x > -0.5, x, np.nan), 0.3 * y)",
    x="3x5 distinct",
    y="2 positive",
    jax=None,
    dtypes="d",
    function="np.nanquantile",
)
add("np.argpartition(x, 2)[2]", x="5 distinct", differences=False, function="np.argpartition", jax=None)
add("np.unwrap(3.0 * x)", x="5 rising | 2x5 rising", dtypes="d", jax=None)
add("np.cov(x, aweights=y)", x="2x4", y="4 positive", jax=None, tolerance=10)
add("np.cov(x, fweights=k)", x="2x4", k=np.array([1, 2, 1, 3]), jax=None, tolerance=10)
add("np.nancumprod(x)", x="4 positive", jax=None)

add("np.interp(x, y, z, period=5.0)", x="3", y="3 rising", z="3", dtypes="d", jax=None)
add("np.polyfit(x, y, 2)", x="5 rising", y=["5", "5x2"][0], jax=None, dtypes="d", tolerance=1000)
add("np.polyfit(x, y, 1, w=z)", x="5 rising", y="5", z="5 positive", jax=None, dtypes="d", tolerance=1000)
add("np.polyint(x, 2, [1.0, 2.0])", x="3", jax=None, dtypes="d")
add("np.polyder(x, 2)", x="5")
add("np.polynomial.polynomial.polyval(y, x)", x="3", y="2x2", jax=None, dtypes="d")
add("np.polynomial.chebyshev.chebval(y, x)", x="4", y="2x2", jax=None, dtypes="d")
add("np.polynomial.polyutils.getdomain(x)", x="4", jax=None, dtypes="d")
add("np.polynomial.polyutils.mapparms(y, x)[0]", x="2", y="2", jax=None, dtypes="d")
add("np.polynomial.polyutils.mapdomain(z, y, x)", x="2", y="2", z="3", jax=None, dtypes="d")
add("np.asarray_chkfinite(x)", x="4", jax=None, dtypes="d")
add("np.polynomial.legendre.legval(y, x)", x="4", y="2x2", jax=None, dtypes="d")

VIEW = "np.lib.stride_tricks.sliding_window_view"
add(f"{VIEW}(x, 3)", x="6 | 5 strided", function=VIEW, jax=None)
add(f"{VIEW}(x, (2, 3))", x="3x5", function=VIEW, jax=None)
add(f"{VIEW}(x, 3, axis=0)", x="5x2", function=VIEW, jax=None)
add("np.apply_along_axis(lambda r: np.sum(r * r), 1, x)", x="2x3", jax=None)
add("np.apply_along_axis(np.sort, 0, x)", x="3x2 distinct", jax=None)
add("np.vectorize(lambda a, b: a if a > b else a * b)(x, y)", x="4 even", y="() odd", function="np.vectorize",
    dtypes="d", jax=None)  # fmt: skip
add("np.piecewise(x, [x < -0.5, x > 0.5], [lambda t: -t, lambda t: t * t, 3.0])", x="5 even", jax=None)
add("z = x.copy()\nnp.put_along_axis(z, k, y, axis=1)\nreturn z", k=np.array([[2], [0]]), x="2x3", y="2x1",
    function="np.put_along_axis", label="np.put_along_axis", jax=None)  # fmt: skip
add("z = x.copy()\nnp.put(z, [0, 2], y)\nreturn z", x="4", y="2", function="np.put", label="np.put", jax=None)

add = Group("statistics")

OF_ONE = ("mean", "fmean", "geometric_mean", "harmonic_mean", "median", "median_low", "median_high", "stdev", "pstdev")
for name in (*OF_ONE, "variance", "pvariance"):
    head, known = f"import statistics\nreturn statistics.{name}", {"function": f"statistics.{name}", "jax": None}
    add(f"{head}([v * v for v in x])", x="5 positive", dtypes="d", label=f"statistics.{name} of a list", **known)
    add(f"{head}(x)", x="4 positive", label=f"statistics.{name}", **known)
for text in (
    "variance(x, z) + statistics.pvariance(x, mu=z) + statistics.stdev(x, z) + statistics.pstdev(x, z)",
    "fmean(x, weights=y) + statistics.harmonic_mean(x, weights=y)",
    "covariance(x, y) * statistics.correlation(x, y)",
):
    add(f"import statistics\nreturn z * statistics.{text}", x="4 positive", y="4 positive", z="()", dtypes="d", jax=None,
        function=f"statistics.{text.partition('(')[0]}", label=text)  # fmt: skip
add("import statistics\na, b = statistics.linear_regression(x, y)\nfit = statistics.linear_regression(x, y, proportional=True)\n"
    "return a * b + fit.slope", x="4 positive", y="4 positive", dtypes="d", jax=None,
    function="statistics.linear_regression", label="statistics.linear_regression")  # fmt: skip
