"""Distributions of scipy.stats: densities, distribution functions and quantiles, by their argument and parameters."""

import numpy as np

from tests.table.cases import Group

add = Group("scipy.stats")

# name -> the shape parameters, and the domain of the argument
CONTINUOUS = {
    **dict.fromkeys(["norm", "cauchy", "logistic", "gumbel_r", "laplace"], ([], "nonzero")),
    **dict.fromkeys(["expon", "halfnorm", "halfcauchy", "halflogistic", "rayleigh"], ([], "positive")),
    "uniform": ([], "unit"),
    "t": (["y"], "nonzero"),
    **dict.fromkeys(["gamma", "chi2", "lognorm", "invgamma", "weibull_min"], (["y"], "positive")),
    "pareto": (["y"], "above1"),
    "beta": (["y", "z"], "inner"),
    "truncnorm": (["-y", "z"], "narrow"),
}
IN_JAX = ("norm", "cauchy", "logistic", "gumbel_r", "laplace", "expon", "t", "gamma", "chi2", "beta", "pareto")
WITH_QUANTILES = ("norm", "cauchy", "logistic", "gumbel_r", "laplace", "expon", "halfnorm", "halfcauchy", "halflogistic",
                  "rayleigh", "uniform", "lognorm", "weibull_min", "pareto")  # fmt: skip
SHAPES = "() {0} | 3 {0} | 2x3 {0} strided"

for name, (parameters, domain) in CONTINUOUS.items():
    shapes = dict.fromkeys([p.strip("-") for p in parameters], "() positive | 3 positive | 1x3 positive")
    arguments = ", ".join(["x", *parameters])
    is_flat = name == "uniform"
    for method in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
        where = "inner" if is_flat else domain
        known = name in IN_JAX and method == "logpdf" and not is_flat
        add(f"stats.{name}.{method}({arguments})", x=SHAPES.format(where), jax="" if known else None, **shapes,
            dtypes="d")  # fmt: skip
    inside = arguments + ", loc=u, scale=v"
    scaled = f"stats.{name}.logpdf({inside}) + stats.{name}.cdf({inside})"
    moved = "3 above1" if name == "pareto" else f"3 {'inner' if is_flat else domain}"
    if name != "truncnorm":
        u, v = "() small", "() below1" if name == "pareto" else "() above1"
        shapes = dict.fromkeys(shapes, "3 positive")
        wide = moved if name not in ("gamma", "beta") else "3 shifted"
        add(scaled, x=wide, u=u, v=v, jax=None, function=f"scipy.stats.{name}(loc, scale)", dtypes="d", **shapes)
    if name in WITH_QUANTILES:
        q = ", ".join(["x", *parameters, "0.2", "v"])
        add(f"stats.{name}.ppf({q})", x="3 inner", v="() positive", jax=None, dtypes="d",
            **dict.fromkeys(shapes, "() positive"))  # fmt: skip
add("stats.norm.logpdf(x)", label="single precision", x="3", dtypes="f", jax=None, tolerance=0.1)
add("stats.norm(y, z).logpdf(x)", x="3", y="()", z="() positive", function="frozen distributions", jax=None, dtypes="d")
add(
    "d = stats.gamma(y, scale=2.0)\nreturn d.pdf(x) + d.sf(x)",
    **{"function": "frozen distributions", "label": "frozen gamma", "jax": None, "dtypes": "d"},
    x="3 positive",
    y="() positive",
)

K = np.array([0, 1, 4, 2])
DISCRETE = {"poisson": "x", "binom": "5, 0.3 * x", "bernoulli": "0.3 * x", "geom": "0.3 * x", "nbinom": "3, 0.3 * x"}
for name, parameters in DISCRETE.items():
    counts = K % 2 if name == "bernoulli" else np.maximum(K, 1) if name == "geom" else K
    for method in ("pmf", "logpmf", "cdf", "sf"):
        if (name, method) != ("bernoulli", "cdf"):
            add(f"stats.{name}.{method}(k, {parameters})", k=counts, x="() positive | 4 positive", jax=None, dtypes="d")

NORMAL = "stats.multivariate_normal.{}(x, y, np.matmul(z, np.swapaxes(z, 0, 1)) + np.eye(3))"
for method in ("logpdf", "pdf"):
    add(NORMAL.format(method), x="3 | 2x3", y="3 | 3", z="3x3 | 3x3", dtypes="d", tolerance=10)
add("stats.multivariate_normal.logpdf(x, y, z)", x="4x2", y="2", z="2 positive", jax=None, dtypes="d")
add("stats.multivariate_normal.logpdf(x, cov=z)", x="4", z="() positive", jax=None, dtypes="d")

# name -> the shape parameters, and the domain of the argument
FURTHER = {
    **dict.fromkeys(["gumbel_l", "moyal", "hypsecant"], ("", "nonzero")),
    **dict.fromkeys(["maxwell", "levy"], ("", "positive")),
    **dict.fromkeys(["chi", "invgauss", "lomax", "fisk", "invweibull", "gompertz", "nakagami"], (", y", "positive")),
    **dict.fromkeys(["f", "betaprime"], (", y, z", "positive")),
    "erlang": (", 2", "positive"),
    "powerlaw": (", y", "inner"),
    "gennorm": (", y", "nonzero"),
    **dict.fromkeys(["genpareto", "genextreme"], (", 0.3 * y - 0.5", "inner")),
    "loguniform": (", 0.1 * y, 2 + z", "shifted"),
}
for name, (parameters, domain) in FURTHER.items():
    d, shapes = f"stats.{name}.", {n: "3 positive" for n in "yz" if n in parameters}
    known = {"function": f"scipy.stats.{name}", "jax": None, "dtypes": "d", "tolerance": 10, **shapes}
    add(f"{d}logpdf(x{parameters}) + {d}pdf(x{parameters}, loc=0.01, scale=1.1)", x=f"3 {domain}", **known)
    tails = f"{d}cdf(x{parameters}) + {d}sf(x{parameters}) * {d}logcdf(x{parameters}) + {d}logsf(x{parameters})"
    add(tails, x=f"3 {domain}", **known)
    if name not in ("invgauss", "betaprime", "gennorm"):
        add(f"{d}ppf(x{parameters}) + {d}isf(x{parameters}, 0.1, 2.0)", x="3 inner", **known)
for name in ("gamma", "chi2", "invgamma"):
    add(f"stats.{name}.ppf(x, y) + stats.{name}.isf(x, y, 0.1, 2.0)", x="3 inner", y="3 positive", jax=None, dtypes="d")
add("stats.beta.ppf(x, y, z) + stats.beta.isf(x, y, z, 0.1, 2.0)", x="3 inner", y="3 positive", z="3 positive",
    jax=None, dtypes="d")  # fmt: skip
