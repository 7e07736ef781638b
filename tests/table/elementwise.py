"""Functions of each element by itself."""

import numpy as np

from tests.table.cases import Group

add = Group("Element-wise functions")

ALL = "() {0} | () {0} scalar | 0 {0} | 1 {0} | 5 {0} | 2x3 {0} | 3 {0} strided | 2x3 {0} transposed | 2x3 {0} .T"
ALL += " | 3 {0} [::2] | () {0} float"
FEW = "() {0} | 0 {0} | 1 {0} | 2x3 {0} | 3 {0} strided | 2x3 {0} transposed | 2x3 {0} .T"

# function -> domain
HOLOMORPHIC = {
    **dict.fromkeys(["sin", "cos", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "square", "negative"], "any"),
    **dict.fromkeys(["positive", "arcsinh"], "any"),
    **dict.fromkeys(["tan", "arcsin", "arccos", "arctan", "arctanh"], "unit"),
    **dict.fromkeys(["log", "log2", "log10", "log1p", "sqrt", "reciprocal"], "positive"),
    "arccosh": "above1",
    "sinc": "nonint",
}
REAL = {
    **dict.fromkeys(["deg2rad", "rad2deg", "radians", "degrees", "angle"], "nonzero"),
    **dict.fromkeys(
        ["cbrt", "absolute", "abs", "fabs", "sign", "signbit", "nan_to_num", "isnan", "isfinite"], "nonzero"
    ),
    **dict.fromkeys(["floor", "ceil", "trunc", "fix"], "nonint"),
    **dict.fromkeys(["rint", "round", "around"], "nonhalf"),
    **dict.fromkeys(["spacing", "i0"], "positive"),
}
OF_COMPLEX = ("absolute", "abs", "sign", "conj", "conjugate", "real", "imag", "angle", "isfinite", "isnan")
NOT_IN_JAX = ("fabs", "spacing", "fix")

for name, domain in HOLOMORPHIC.items():
    add(f"np.{name}(x)", x=ALL.format(domain))
    add(f"np.{name}(x)", label=f"complex np.{name}(x)", x=FEW.format(domain), dtypes="c")
for name, domain in REAL.items():
    jax = None if name in NOT_IN_JAX else ""
    differences = name not in ("spacing", "signbit", "isnan", "isfinite")
    add(f"np.{name}(x)", x=ALL.format(domain), jax=jax, differences=differences)
for name in OF_COMPLEX:
    add(f"np.{name}(x)", label=f"complex np.{name}(x)", x=FEW.format("nonzero"), dtypes="c")
for name in ("conj", "conjugate", "real", "imag"):
    add(f"np.{name}(x)", x=FEW.format("nonzero"))
for text in ("x.real", "x.imag", "x.conj()", "x.conjugate()"):
    add(text, x=FEW.format("nonzero"), dtypes="dfc")
add("np.real_if_close(x)", x="3", jax=None)

# two operands: both sets of alternatives belong together, one by one
PAIRS = (
    "() {0} | 0 {0} | 1 {0} | 3 {0} | 2x3 {0} | 2x1 {0} | 3 {0} strided | 2x3 {0} transposed | 2x3 {0} .T | 3 {0} [::2]",
    "() {1} | 0 {1} | 4 {1} | () {1} | 3 {1} | 1x3 {1} | 3 {1} strided | 2x3 {1} | 2x3 {1} .T | 3 {1} reversed",
)

ANALYTIC = {
    "add": ("any", "any"),
    "subtract": ("any", "any"),
    "multiply": ("any", "any"),
    "divide": ("any", "nonzero"),
    "true_divide": ("any", "nonzero"),
    "power": ("positive", "any"),
    "float_power": ("positive", "any"),
    "logaddexp": ("any", "any"),
    "logaddexp2": ("any", "any"),
}
PIECEWISE = {
    "hypot": ("nonzero", "nonzero"),
    "arctan2": ("nonzero", "nonzero"),
    **dict.fromkeys(["maximum", "minimum", "fmax", "fmin"], ("even", "odd")),
    **dict.fromkeys(["copysign", "heaviside"], ("nonzero", "nonzero")),
    **dict.fromkeys(["floor_divide", "remainder", "mod", "fmod"], ("nonint", "4")),
    "ldexp": ("any", "4"),
    "nextafter": ("even", "odd"),
    **dict.fromkeys(["less", "greater_equal", "not_equal"], ("even", "odd")),
}
for name, domains in (ANALYTIC | PIECEWISE).items():
    if domains[1] == "4":
        continue
    x, y = (pair.format(*domains) for pair in PAIRS)
    add(f"np.{name}(x, y)", x=x, y=y, jax=None if name == "nextafter" else "")
for name in ("add", "subtract", "multiply", "divide", "power", "float_power"):
    x = "() {0} | 0 {0} | 1 {0} | 2x1 {0} | 2x3 {0} transposed | 2x3 {0} .T"
    y = "() {0} | 0 {0} | 4 {0} | 1x3 {0} | 3 {0} strided | 1 {0}"
    domain = "nonzero" if name == "divide" else "positive"
    add(f"np.{name}(x, y)", label=f"complex np.{name}(x, y)", x=x.format(domain), y=y.format(domain), dtypes="c")
for name in ("floor_divide", "remainder", "mod", "fmod"):
    # x / y stays away from integers
    add(f"np.{name}(x * y, y)", x=PAIRS[0].format("nonint"), y=PAIRS[1].format("", "positive"))
add("np.ldexp(x, 3)", x="() | 2x3")
add("np.divmod(x, 0.7)[1]", x="3 nonzero", jax="np.remainder(x, 0.7)", function="np.divmod")
add("np.modf(x)[0]", x="3 nonint | 2x3 nonint transposed", function="np.modf")
add("np.frexp(x)[0]", x="3 positive", function="np.frexp", jax=None)

# operators
for sign in ["+", "-", "*", "/"]:
    name = f"x {sign} y"
    x, y = (pair.format("nonzero", "nonzero") for pair in PAIRS)
    add(name, function=name, x=x, y=y)
    add(name, function=name, label=f"complex {name}", x="() | 2x1", y="2 nonzero | 3 nonzero", dtypes="c")
    add(f"x {sign} 2.5", function=name, x="() | 0 | 2x3 strided", dtypes="dfc")
    add(f"2 {sign} x", function=name, x="() nonzero | 0 nonzero | 2x3 strided nonzero", dtypes="dfc")
for power in ("2", "3", "-1", "0.5", "2.5", "-2", "0", "1", "4", "-1.5"):
    add(f"x ** {power}", function="x ** y", x="() positive | 0 positive | 3 positive strided | 2x3 positive .T")
    add(
        f"x ** {power}", function="x ** y", label=f"complex x ** {power}", x="() positive | 2x3 positive .T", dtypes="c"
    )
add("x ** y", function="x ** y", x="3 positive | 2x1 positive", y="3 | 3", dtypes="dfc")
add("2.0 ** x", function="x ** y", x="() | 3", dtypes="dfc")
add("x ** 3", function="x ** y", label="negative base x ** 3", x="3 nonzero")
add("x ** -2", function="x ** y", label="negative base x ** -2", x="3 nonzero")
add("-x", function="-x", x="() | 0 | 2x3 strided", dtypes="dfc")
add("abs(x)", function="abs(x)", x="() nonzero | 0 | 2x3 nonzero strided", dtypes="dfc")
add("x * y // y", function="x // y", x="3 nonint | 2x1 nonint", y="3 positive | 3 positive")
add("(x * y) % y", function="x % y", x="3 nonint | 2x1 nonint", y="3 positive | 3 positive")
add("np.where(x > y, x, y)", function="x > y", x="2x3 even", y="3 odd")
add("divmod(x, 0.7)[1]", function="divmod", x="3 nonzero", jax="np.remainder(x, 0.7)")

# choice
CHOICES = (
    "() nonzero | 0 nonzero | 1 nonzero | 2x3 nonzero | 3 nonzero strided | 2x3 nonzero transposed | 2x3 nonzero .T"
)
add("np.where(x > 0, np.sin(x), x * x)", x=CHOICES)
add("np.where(x > 0, x, 0.0)", x=CHOICES)
add("np.where(x > 0, np.log(x), 0.0)", x=CHOICES, jax="np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0)")
add("np.where(x > 0, x, y)", x="2x1 nonzero | 3 nonzero | () nonzero", y="3 | () | 3")
add("np.where(np.abs(x) > 0.5, x, y)", x="3 even | 2x1 even", y="3 | 3", dtypes="c", jax=None)
add("np.clip(x, -0.5, 0.5)", x="() | 0 | 1 | 2x3 | 3 strided | 2x3 .T")
add("np.clip(x, None, 0.5)", x="3 | 2x3 transposed")
add("np.clip(x, 0.5, None)", x="3 | 2x3 transposed")
add("np.clip(x, y, y + 0.7)", x="3 | 2x3", y="3 | 3")
add("np.clip(x, a_min=-0.5, a_max=0.5)", x="3", jax="np.clip(x, -0.5, 0.5)")
add("x.clip(-0.5, 0.5)", x="3 | 2x3 .T")
add("np.select([x > 1.0, x > 0.0], [x * x, np.sin(x)], 0.5)", x="2x3 nonzero | 4 nonzero")
add("np.piecewise(x, [x < 0, x >= 0], [lambda t: -t, lambda t: t * t])", x="4 nonzero")
add("np.nan_to_num(x, nan=1.0)", x="3")
add("np.isclose(x, 1.0)", x="3 nonint", differences=False)

# math
FLOATS = "() {0} float | () {0} scalar"
MATH = {
    **dict.fromkeys(
        [
            "sin",
            "cos",
            "exp",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "expm1",
            "atan",
            "erf",
            "erfc",
            "fabs",
            "radians",
            "degrees",
        ],
        "nonzero",
    ),
    **dict.fromkeys(["sqrt", "log", "log2", "log10", "log1p", "gamma", "lgamma", "cbrt", "exp2"], "positive"),
    **dict.fromkeys(["tan", "asin", "acos", "atanh"], "unit"),
    "acosh": "above1",
    **dict.fromkeys(["floor", "ceil", "trunc"], "nonint"),
}
JAX_MATH = {
    "erf": "special.erf(x)",
    "erfc": "special.erfc(x)",
    "lgamma": "special.gammaln(x)",
    "gamma": "special.gamma(x)",
}
for name, domain in MATH.items():
    add(f"math.{name}(x)", x=FLOATS.format(domain), dtypes="d", jax=JAX_MATH.get(name, ""))
for text in ("math.atan2(x, y)", "math.hypot(x, y)", "math.pow(x, y)", "math.copysign(x, y)", "math.fmod(x, y)"):
    add(text, x=FLOATS.format("positive"), y=FLOATS.format("positive"), dtypes="d")
add("math.log(x, 3.0)", x=FLOATS.format("positive"), dtypes="d", jax="np.log(x) / np.log(3.0)")
add("math.dist((x, 1.0), (0.5, y))", x="() float", y="() float", dtypes="d", jax="np.hypot(x - 0.5, 1.0 - y)")
add("math.fsum([x, y])", x="() float", y="() float", dtypes="d", jax="x + y")
add("math.prod([x, y])", x="() float", y="() float", dtypes="d", jax="x * y")
add(
    "max(x, y)", function="max, min of numbers", x="() even float", y="() odd float", dtypes="d", jax="np.maximum(x, y)"
)
add(
    "min(x, y)", function="max, min of numbers", x="() even float", y="() odd float", dtypes="d", jax="np.minimum(x, y)"
)
add("round(x)", function="round", x="() nonhalf float", dtypes="d", jax="np.round(x)")
add("float(x)", function="float, int", x="() float", dtypes="d", jax="1.0 * x")
add("int(x)", function="float, int", x="() nonint float", dtypes="d", jax="np.trunc(x)")

# scipy.special
SPECIAL = {
    **dict.fromkeys(["erf", "erfc", "expit", "ndtr", "i0", "i1", "i0e", "i1e", "log_ndtr", "log_expit"], "any"),
    **dict.fromkeys(["erfcx", "j0", "j1", "exp10", "exprel"], "any"),
    **dict.fromkeys(["gammaln", "digamma", "gamma", "entr", "factorial", "loggamma", "rgamma"], "positive"),
    **dict.fromkeys(["ndtri", "erfcinv", "logit"], "inner"),
    "erfinv": "unit",
}
SPECIAL_IN_JAX = [
    "erf",
    "erfc",
    "expit",
    "ndtr",
    "i0",
    "i1",
    "i0e",
    "i1e",
    "log_ndtr",
    "gammaln",
    "digamma",
    "gamma",
    "entr",
    "ndtri",
    "logit",
    "erfinv",
]
for name, domain in SPECIAL.items():
    add(f"special.{name}(x)", x=FEW.format(domain), jax="" if name in SPECIAL_IN_JAX else None)
SPECIAL_OF_TWO = [
    "beta",
    "betaln",
    "gammainc",
    "gammaincc",
    "kl_div",
    "rel_entr",
    "binom",
    "comb",
    "stdtr",
    "huber",
    "pseudo_huber",
    "boxcox",
    "poch",
]
for name in SPECIAL_OF_TWO:
    known = name in ("beta", "betaln", "gammainc", "gammaincc", "kl_div", "rel_entr")
    above = "above1" if name in ("binom", "comb") else "positive"
    under = "inner" if above == "above1" else "positive"
    where = f"3 {above} | 2x1 {above} | 0 {above}", f"3 {under} | 3 {under} strided | () {under}"
    add(f"special.{name}(x, y)", x=where[0], y=where[1], jax="" if known else None)
add("special.xlog1py(x, y)", x="3 positive | 2x1 positive", y="3 positive | 3 positive")
add(
    "special.betainc(x, y, z)",
    x="3 positive | 2x1 positive",
    y="3 positive | () positive",
    z="3 inner | 3 inner",
    jax=None,
)
add("special.betaincc(x, y, z)", x="3 positive", y="3 positive", z="3 inner", jax=None)
for order in (0, 1, 2, 4):
    add(f"special.polygamma({order}, x)", x="3 positive | () positive", jax=None, tolerance=10)
    add(f"special.jv({order}, x)", x="3 | () positive", jax=None)
for name in ("y0(x)", "y1(x)", "yn(2, x)", "yv(1.5, x)", "k0(x)", "k1(x)", "kn(2, x)", "kv(1.5, x)", "iv(1.5, x)"):
    add(f"special.{name}", x="3 positive | () positive", jax=None)
OF_ONE = (
    *(
        "k0e(x)",
        "k1e(x)",
        "kve(1.5, x)",
        "ive(1.5, x)",
        "jve(1.5, x)",
        "yve(1.5, x)",
        "exp1(x)",
        "expi(x)",
        "expn(2, x)",
    ),
    *(
        "spherical_jn(2, x)",
        "spherical_yn(2, x)",
        "spherical_in(2, x)",
        "spherical_kn(2, x)",
        "zeta(2.5, x)",
        "dawsn(x)",
    ),
    *("spherical_jn(1, x, derivative=True)", "erfi(x)", "hyp0f1(1.5, x)", "hyp1f1(0.5, 1.5, x)", "lambertw(x).real"),
    *("wofz(x).imag", "tandg(x)", "cotdg(x)", "boxcox1p(x, 0.5)", "inv_boxcox1p(x, 0.5)", "radian(x, 30.0, 12.0)"),
)
for name in OF_ONE:
    add(f"special.{name}", x="3 positive | () positive", jax=None, tolerance=10)
add("np.stack(special.airy(x))", function="scipy.special.airy", x="3 | () positive", jax=None, tolerance=10)
add("special.gammasgn(x)", x="3 nonint", jax=None, differences=False)
add("special.owens_t(x, y)", x="3 | 2x1", y="3 | 3 strided", jax=None)
for name in ("gammaincinv", "gammainccinv"):
    add(f"special.{name}(x, y)", x="3 positive | 2x1 positive", y="3 inner | 3 inner", jax=None, tolerance=10)
for name in ("betaincinv", "betainccinv"):
    add(f"special.{name}(x, y, z)", x="3 positive", y="3 positive", z="3 inner", jax=None, tolerance=10)
add("special.wofz(x)", x="4 | ()", dtypes="c", jax=None)
add("special.wofz(6.0 * x)", x="2x5", dtypes="c", jax=None)
VOIGT = {"x": "4 | () | 3x1", "y": "4 positive | () positive | 2 positive"}
add("special.voigt_profile(x, y, z)", **VOIGT, z="4 positive | () positive | () positive", jax=None, tolerance=10)
add("special.voigt_profile(30.0 * x, -0.5, y)", x="6", y="() nonzero", jax=None, dtypes="d")
add("special.voigt_profile(x, 0, y) + special.voigt_profile(x, z, 0)", x="4", y="4 positive", z="4 positive", jax=None)
add("special.voigt_profile(k, 2, 1) * x", k=np.arange(3), x="3", jax=None, dtypes="d")
LIMITS = np.array([[0.0, 1.0, 1e30, np.inf], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0]])
add("special.voigt_profile(*k) * x", k=LIMITS, x="()", function="scipy.special.voigt_profile", jax=None, dtypes="d",
    differences=False)  # fmt: skip
for name in ("jvp", "yvp", "ivp", "kvp"):
    for order in ("0", "1", "2.5"):
        add(f"special.{name}({order}, x)", x="4 positive", jax=None, dtypes="d", tolerance=10)
for name in ("chdtr", "chdtrc", "pdtr", "pdtrc"):
    add(f"special.{name}(3, x)", x="4 positive", jax=None)
for name in ("fdtr", "fdtrc", "gdtr", "gdtrc"):
    add(f"special.{name}(2, x, y)", x="4 positive", y="4 positive", jax=None, tolerance=10)
for name in ("sh_legendre", "sh_chebyt", "sh_chebyu", "chebyc", "chebys"):
    add(f"special.eval_{name}(3, x)", x="4 unit", jax=None)
add("special.assoc_laguerre(x, 2, 1) + special.assoc_laguerre(x, 3)", x="4 positive", jax=None, dtypes="d")
for factor in (1, 10):
    add(
        f"np.stack(special.fresnel({factor} * x))", x="6 | ()", function="scipy.special.fresnel", jax=None, tolerance=10
    )
add("special.agm(x, y) + special.agm(-x, -1e-9 * y)", x="4 positive", y="4 positive", jax=None, tolerance=10)
add("special.diric(3 * x, 4) + special.diric(x, 5)", x="4", jax=None, tolerance=10)
add("special.diric(k, 4) * x", k=2.0 * np.pi * np.arange(-1.0, 3.0), x="4", jax=None, dtypes="d")
add("special.multigammaln(x, 3)", x="3 above1", jax=None)
add("special.log_softmax(x, axis=0)", x="2x3", jax="x - special.logsumexp(x, axis=0)")
add("special.xlogy(x, y)", x="3 positive | 2x1 positive", y="3 positive | 3 positive")
add("special.logsumexp(x)", x="3 | 2x3")
add("special.logsumexp(x, axis=0)", x="2x3 | 2x3 .T")
add("special.softmax(x, axis=-1)", x="2x3 | 3", jax="np.exp(x - np.log(np.sum(np.exp(x), -1, keepdims=True)))")

# other ways to call a ufunc
add("np.add(x, y, dtype=np.float64)", x="3", y="3", jax="np.add(x, y)", function="ufunc(dtype=, out=, where=)")
add("np.multiply(x, y, out=np.zeros(3))", x="3", y="3", jax="np.multiply(x, y)", function="ufunc(dtype=, out=, where=)")
add(
    "np.divide(x, y, out=np.zeros(3), where=y > 0)",
    **{"x": "3", "y": "3 nonzero", "jax": "np.where(y > 0, x / y, 0.0)", "function": "ufunc(dtype=, out=, where=)"},
)
add("np.add.reduce(x)", x="3 | 2x3", function="ufunc.reduce", jax="np.sum(x, axis=0)")
add("np.multiply.reduce(x)", x="3 | 2x3", function="ufunc.reduce", jax="np.prod(x, axis=0)")
add("np.maximum.reduce(x)", x="3 distinct | 2x3 distinct", function="ufunc.reduce", jax="np.max(x, axis=0)")
add("np.add.reduceat(x, [0, 2, 1])", x="3 | 3x2", function="ufunc.reduceat", jax=None)
add("np.multiply.reduceat(x, [0, 2], axis=1)", x="2x3", function="ufunc.reduceat", jax=None)
add("np.maximum.reduceat(x, np.array([1, 1]))", x="3 distinct", function="ufunc.reduceat", jax=None)
add("np.add.accumulate(x)", x="3 | 2x3", function="ufunc.accumulate", jax="np.cumsum(x, axis=0)")
add("np.multiply.accumulate(x)", x="3", function="ufunc.accumulate", jax="np.cumprod(x, axis=0)")
add("np.multiply.outer(x, y)", x="3 | ()", y="2 | 2", function="ufunc.outer", dtypes="dfc")
add("np.subtract.outer(x, y)", x="3 | 2x2", y="2 | 3", function="ufunc.outer")
add("np.maximum.outer(x, y)", x="3 even", y="2 odd", function="ufunc.outer", jax="np.maximum(x[:, None], y)")

# conversions
add("x.astype(np.float64)", x="() | 2x3 strided")
add("x.astype(np.float32)", x="3", differences=False, tolerance=1e4)
add("x.astype(complex)", x="3", dtypes="dc")
add("np.float64(x)", x="()", dtypes="d", jax="x")
add("np.float32(x) * x", x="() scalar", dtypes="f", jax="x * x", differences=False)
add("x.item() * 2.0", x="()", dtypes="d", jax="x * 2.0")
