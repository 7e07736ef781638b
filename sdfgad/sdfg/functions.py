"""Functions that tasklets of DaCe call, by the elementary operations that they are."""

from __future__ import annotations

from sdfgad.ir.ops import OPERATIONS

# In Python's `math`, in NumPy, and in DaCe's own `math`, where what they are called differs from our names.
NAMES = {
    **{"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power", "abs": "absolute"},
    **{"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "fabs": "absolute", "conj": "conjugate"},
    **{"tgamma": "gamma", "lgamma": "gammaln", "sign_numpy_2": "sign", "PyMod": "remainder", "py_mod": "remainder"},
    **{"CMod": "fmod", "py_floor": "floor_divide", "np_float_pow": "float_power", "int_floor": "floor_divide"},
    # What SymPy and DaCe print of conditions.
    **{"And": "logical_and", "AND": "logical_and", "Or": "logical_or", "OR": "logical_or", "Not": "logical_not"},
    **{"Eq": "equal", "Ne": "not_equal", "Lt": "less", "Le": "less_equal", "Gt": "greater", "Ge": "greater_equal"},
    **{"Mod": "remainder", "reciprocal": "reciprocal", "heaviside": "heaviside", "ln": "log"},
}
SAME = (
    *("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh"),
    *("tanh", "arcsin", "arccos", "arctan", "arctan2", "arcsinh", "arccosh", "arctanh", "erf", "erfc", "floor", "ceil"),
    *("trunc", "rint", "hypot", "square", "absolute", "copysign", "sign", "conjugate", "power", "maximum", "minimum"),
    *("fmod", "remainder", "logaddexp", "logaddexp2", "deg2rad", "rad2deg", "isnan", "isinf", "isfinite", "signbit"),
    *("logical_and", "logical_or", "logical_not", "logical_xor", "real", "imag", "negative", "subtract", "add"),
    *("multiply", "fmin", "fmax", "floor_divide", "float_power"),
)
FUNCTIONS = {name: name for name in SAME} | NAMES
MODULES = ("dace.math.", "math.", "numpy.", "np.", "cmath.")
# What takes integers as they are; others compute with doubles.
ON_INTEGERS = frozenset(
    (
        *(
            "absolute",
            "remainder",
            "floor_divide",
            "maximum",
            "minimum",
            "fmod",
            "sign",
            "square",
            "conjugate",
            "power",
        ),
        *("logical_and", "logical_or", "logical_not", "logical_xor", "negative", "subtract", "add", "multiply", "fmin"),
        *("fmax", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf", "isfinite"),
        *("signbit", "real", "imag", "power"),
    )
)


def operation_called(function: str) -> str | None:
    """The elementary operation that a function is, by its name in a tasklet; None for any other one."""
    module = next((one for one in MODULES if function.startswith(one)), "")
    name = FUNCTIONS.get(function.removeprefix(module))
    return name if name in OPERATIONS else None
