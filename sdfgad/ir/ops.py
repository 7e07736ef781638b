"""The elementary operations: each NumPy ufunc name with the C++ expression that computes it.

`{0}`, `{1}`, … stand for the operands, already cast to the operation's input dtype; functions in the namespace
`sdfgad` are defined in ``targets/cpu/include/sdfgad.h`` and follow NumPy where C++ differs from it.
"""

from __future__ import annotations

# What an accumulation of each kind begins with.
IDENTITY = {"add": 0.0, "maximum": float("-inf"), "minimum": float("inf")}

CPP: dict[str, str] = {
    # arithmetic
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "negative": "(-{0})",
    "positive": "({0})",
    "power": "sdfgad::power({0}, {1})",
    "float_power": "sdfgad::power({0}, {1})",
    "square": "({0} * {0})",
    "reciprocal": "sdfgad::reciprocal({0})",
    "sqrt": "std::sqrt({0})",
    # of a sum of squares: a length, whose derivative at 0 is 0
    "root_of_squares": "std::sqrt({0})",
    "cbrt": "sdfgad::math::cbrt({0})",
    "hypot": "sdfgad::math::hypot({0}, {1})",
    "floor_divide": "sdfgad::floor_divide({0}, {1})",
    "remainder": "sdfgad::remainder({0}, {1})",
    "fmod": "sdfgad::fmod({0}, {1})",
    "ieee_remainder": "std::remainder({0}, {1})",
    "fractional": "sdfgad::fractional({0})",
    "ldexp": "sdfgad::ldexp({0}, {1})",
    "gcd": "std::gcd({0}, {1})",
    "lcm": "std::lcm({0}, {1})",
    "conjugate": "({0})",
    "absolute": "sdfgad::absolute({0})",
    "fabs": "std::fabs({0})",
    "sign": "sdfgad::sign({0})",
    # exponentials and logarithms
    "exp": "sdfgad::math::exp({0})",
    "exp2": "sdfgad::math::exp2({0})",
    "expm1": "sdfgad::math::expm1({0})",
    "log": "sdfgad::math::log({0})",
    "log2": "sdfgad::math::log2({0})",
    "log10": "sdfgad::math::log10({0})",
    "log1p": "sdfgad::math::log1p({0})",
    "logaddexp": "sdfgad::logaddexp({0}, {1})",
    "logaddexp2": "sdfgad::logaddexp2({0}, {1})",
    # trigonometry
    "sin": "sdfgad::math::sin({0})",
    "cos": "sdfgad::math::cos({0})",
    "tan": "sdfgad::math::tan({0})",
    "arcsin": "sdfgad::math::asin({0})",
    "arccos": "sdfgad::math::acos({0})",
    "arctan": "sdfgad::math::atan({0})",
    "arctan2": "sdfgad::math::atan2({0}, {1})",
    "sinh": "sdfgad::math::sinh({0})",
    "cosh": "sdfgad::math::cosh({0})",
    "tanh": "sdfgad::math::tanh({0})",
    "arcsinh": "sdfgad::math::asinh({0})",
    "arccosh": "sdfgad::math::acosh({0})",
    "arctanh": "sdfgad::math::atanh({0})",
    "deg2rad": "sdfgad::radians({0})",
    "radians": "sdfgad::radians({0})",
    "rad2deg": "sdfgad::degrees({0})",
    "degrees": "sdfgad::degrees({0})",
    "sinc": "sdfgad::sinc({0})",
    "sinc_slope": "sdfgad::sinc_slope({0})",
    # special functions
    "erf": "sdfgad::math::erf({0})",
    "erfc": "sdfgad::math::erfc({0})",
    "erfinv": "sdfgad::erfinv({0})",
    "gamma": "std::tgamma({0})",
    "gammaln": "sdfgad::gammaln({0})",
    "digamma": "sdfgad::digamma({0})",
    "trigamma": "sdfgad::trigamma({0})",
    "expit": "sdfgad::expit({0})",
    "log_expit": "sdfgad::log_expit({0})",
    "logit": "sdfgad::logit({0})",
    "xlogy": "sdfgad::xlogy({0}, {1})",
    "xlog1py": "sdfgad::xlog1py({0}, {1})",
    "i0": "sdfgad::i0({0})",
    "i1": "sdfgad::i1({0})",
    # rounding and selection
    "floor": "sdfgad::floor({0})",
    "ceil": "sdfgad::ceil({0})",
    "trunc": "sdfgad::trunc({0})",
    "rint": "std::rint({0})",
    "round_decimals": "sdfgad::round_decimals({0}, {1})",
    "nextafter": "std::nextafter({0}, {1})",
    "spacing": "sdfgad::spacing({0})",
    "maximum": "sdfgad::maximum({0}, {1})",
    "minimum": "sdfgad::minimum({0}, {1})",
    "fmax": "sdfgad::fmax({0}, {1})",
    "fmin": "sdfgad::fmin({0}, {1})",
    "later_if_greater": "sdfgad::later_if_greater({0}, {1})",
    "later_if_less": "sdfgad::later_if_less({0}, {1})",
    "copysign": "std::copysign({0}, {1})",
    "heaviside": "sdfgad::heaviside({0}, {1})",
    "select": "({0} ? {1} : {2})",
    # the value without its derivative
    "held": "({0})",
    # comparison and logic
    "equal": "({0} == {1})",
    "not_equal": "({0} != {1})",
    "less": "({0} < {1})",
    "less_equal": "({0} <= {1})",
    "greater": "({0} > {1})",
    "greater_equal": "({0} >= {1})",
    "logical_and": "({0} && {1})",
    "logical_or": "({0} || {1})",
    "logical_xor": "(bool({0}) != bool({1}))",
    "logical_not": "(!{0})",
    "bitwise_and": "({0} & {1})",
    "bitwise_or": "({0} | {1})",
    "bitwise_xor": "({0} ^ {1})",
    "left_shift": "sdfgad::left_shift({0}, {1})",
    "right_shift": "sdfgad::right_shift({0}, {1})",
    "invert": "sdfgad::invert({0})",
    "isnan": "std::isnan({0})",
    "isinf": "std::isinf({0})",
    "isfinite": "std::isfinite({0})",
    "signbit": "std::signbit({0})",
    # complex numbers
    "real": "std::real({0})",
    "imag": "std::imag({0})",
    "complex": "sdfgad::complex({0}, {1})",
    # indices
    "wrap": "sdfgad::wrap({0}, {1})",
}

# What differs for complex operands.
COMPLEX_CPP: dict[str, str] = {
    "square": "({0} * {0})",
    "reciprocal": "sdfgad::reciprocal({0})",
    "power": "sdfgad::power({0}, {1})",
    "absolute": "sdfgad::absolute({0})",
    "conjugate": "sdfgad::conj({0})",
    "real": "{0}.re",
    "imag": "{0}.im",
    "sqrt": "sdfgad::sqrt({0})",
    "exp": "sdfgad::exp({0})",
    "exp2": "sdfgad::exp2({0})",
    "expm1": "sdfgad::expm1({0})",
    "log": "sdfgad::log({0})",
    "log2": "sdfgad::log2({0})",
    "log10": "sdfgad::log10({0})",
    "log1p": "sdfgad::log1p({0})",
    "sin": "sdfgad::sin({0})",
    "cos": "sdfgad::cos({0})",
    "tan": "sdfgad::tan({0})",
    "arcsin": "sdfgad::asin({0})",
    "arccos": "sdfgad::acos({0})",
    "arctan": "sdfgad::atan({0})",
    "sinh": "sdfgad::sinh({0})",
    "cosh": "sdfgad::cosh({0})",
    "tanh": "sdfgad::tanh({0})",
    "arcsinh": "sdfgad::asinh({0})",
    "arccosh": "sdfgad::acosh({0})",
    "arctanh": "sdfgad::atanh({0})",
    "isnan": "sdfgad::is_nan({0})",
    "isinf": "sdfgad::is_inf({0})",
    "isfinite": "sdfgad::is_finite({0})",
}
# Where both sides may be computed: without a branch, trips of a loop can be elements of a vector.
EAGER_CPP: dict[str, str] = {
    "select": "sdfgad::select<{type}>({0}, {1}, {2})",
    "logical_and": "sdfgad::both({0}, {1})",
    "logical_or": "sdfgad::either({0}, {1})",
}
# What is cheap in a vector.
EAGER = {
    *EAGER_CPP,
    *("add", "subtract", "multiply", "divide", "negative", "positive", "square", "sqrt", "fabs", "absolute", "held"),
    "root_of_squares",
    *("conjugate", "real", "imag", "complex", "cast", "maximum", "minimum", "logical_not", "logical_xor"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("bitwise_and", "bitwise_or", "bitwise_xor"),
}
# Functions that vector_math.h has for whole vectors.
VECTORISED = {
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh"),
    *("arctanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "hypot", "erf", "erfc", "power"),
}
# What takes longer than reading a number.
EXPENSIVE = {
    *VECTORISED,
    *(
        "float_power",
        "sqrt",
        "root_of_squares",
        "reciprocal",
        "sinc",
        "sinc_slope",
        "erfinv",
        "gamma",
        "gammaln",
        "digamma",
        "trigamma",
    ),
    *("expit", "log_expit", "logit", "xlogy", "xlog1py", "i0", "i1", "logaddexp", "logaddexp2"),
}
# The other operations that complex numbers have, with the same text as for real ones.
COMPLEX = {
    *COMPLEX_CPP,
    *("add", "subtract", "multiply", "divide", "negative", "positive", "equal", "not_equal"),
    *("complex", "select", "cast"),
}
