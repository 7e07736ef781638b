"""Table of the elementary operations, named as NumPy's ufuncs where there is one: C++ text, cost and dtypes of each.

Functions in the namespace `sdfgad` are defined in ``targets/cpu/include/sdfgad.h`` and follow NumPy where C++ differs
from it. Rules of derivatives are in `sdfgad.rules.elementary`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from operator import add, floordiv, mod, mul, neg, sub
from typing import Any

import numpy as np


class Cost(Enum):
    """Cost class of an operation on real numbers: its throughput in a loop."""

    # two vector instructions per cycle
    PLAIN = auto()
    # one or two vector instructions
    CHEAP = auto()
    # a quotient or a root: a slow vector instruction, whose time is proportional to the length of the vector
    DIVISION = auto()
    # scalar instructions, or a short call
    CALL = auto()
    # a function that is slower than a load of its value from memory
    SLOW = auto()
    # such a function with a vector version in ``vector_math.h``
    VECTOR = auto()


class Result(Enum):
    """Type rule: the dtype of an operation's result."""

    # that of the first operand
    OPERAND = auto()
    # that of the second operand; the first is a condition
    CHOSEN = auto()
    # a boolean
    TRUTH = auto()
    # that of the real part of a complex operand
    PART = auto()
    # the complex dtype whose parts are the operands
    COMPLEX = auto()
    # given explicitly, as of a cast
    ASKED = auto()


PLAIN, CHEAP, DIVISION, CALL, SLOW, VECTOR = Cost
OPERAND, CHOSEN, TRUTH, PART, COMPLEX, ASKED = Result
# Stands for the text of `cpp`: the C++ for real operands serves here, too.
SAME = ""


@dataclass(frozen=True)
class Operation:
    """The properties of an elementary operation.

    In the texts `{0}`, `{1}`, … stand for the operands, already cast to the operation's input dtype, and `{type}` for
    the C++ type of the result.

    Attributes:
        cpp: the C++ expression for real operands.
        complex_cpp: the C++ expression for complex operands; None if they are not allowed.
        eager_cpp: the C++ expression for speculative evaluation (if-conversion): without a branch, so that a loop can
            be vectorised; None if that would be slow. Choices and short-circuit operators have their own text.
        like: the NumPy ufunc with the same dtypes of operands and result, where the operation is not itself a ufunc.
        infix: Python's binary operator, if there is one.
        negation: of a comparison, its negation (which for NaN does not hold either).
        identity: the neutral element of an accumulation by this operation, if there may be one.
        on_integers: the function of Python integers that evaluates it in sizes and indices, if it is allowed there.
        complex_work: the number of real operations that it takes on complex numbers.
    """

    cpp: str
    complex_cpp: str | None = None
    eager_cpp: str | None = None
    cost: Cost = CALL
    result: Result = OPERAND
    like: str = ""
    infix: str = ""
    negation: str = ""
    identity: float | None = None
    on_integers: Callable[..., int] | None = None
    complex_work: int = 2

    def text(self, is_complex: bool) -> str:
        """The C++ expression for real or for complex operands."""
        return (self.complex_cpp if is_complex else SAME) or self.cpp

    @property
    def arity(self) -> int:
        """The number of operands."""
        return max(1, sum(f"{{{k}}}" in self.cpp for k in range(3)))

    @property
    def takes_complex(self) -> bool:
        """Whether operands may be complex."""
        return self.complex_cpp is not None

    @property
    def is_eager(self) -> bool:
        """Whether speculative evaluation is cheap: it may run where its value is not needed."""
        return self.eager_cpp is not None

    @property
    def is_choice(self) -> bool:
        """Whether the first operand decides which of the others are evaluated."""
        return bool(self.eager_cpp)

    @property
    def is_comparison(self) -> bool:
        """Whether it compares two numbers."""
        return bool(self.negation)

    @property
    def is_instruction(self) -> bool:
        """Whether it compiles to vector instructions, fast or slow; others are calls of libm."""
        return self.cost in (PLAIN, CHEAP, DIVISION)

    @property
    def is_vectorised(self) -> bool:
        """Whether ``vector_math.h`` has a vector version."""
        return self.cost is VECTOR

    @property
    def is_slow(self) -> bool:
        """Whether it is slower than a load of its value from a tape in memory."""
        return self.cost in (SLOW, VECTOR)

    @property
    def is_expensive(self) -> bool:
        """Whether it is slower than a load of one operand."""
        return self.is_slow or self.cost is DIVISION


OPERATIONS: dict[str, Operation] = {
    # arithmetic
    "add": Operation("({0} + {1})", SAME, eager_cpp=SAME, cost=PLAIN, infix="+", identity=0.0, on_integers=add),
    "subtract": Operation("({0} - {1})", SAME, eager_cpp=SAME, cost=PLAIN, infix="-", on_integers=sub),
    "multiply": Operation("({0} * {1})", SAME, eager_cpp=SAME, cost=PLAIN, infix="*", on_integers=mul, complex_work=6),
    "divide": Operation("({0} / {1})", SAME, eager_cpp=SAME, cost=DIVISION, infix="/", complex_work=6),
    "negative": Operation("(-{0})", SAME, eager_cpp=SAME, cost=PLAIN, on_integers=neg),
    "positive": Operation("({0})", SAME, eager_cpp=SAME, cost=PLAIN),
    "power": Operation("sdfgad::power({0}, {1})", SAME, cost=VECTOR),
    "float_power": Operation("sdfgad::power({0}, {1})", cost=SLOW),
    "square": Operation("({0} * {0})", SAME, eager_cpp=SAME, cost=PLAIN, complex_work=6),
    "reciprocal": Operation("sdfgad::reciprocal({0})", SAME, cost=DIVISION),
    "sqrt": Operation("std::sqrt({0})", "sdfgad::sqrt({0})", eager_cpp=SAME, cost=DIVISION),
    # the square root of a sum of squares: a norm, whose derivative at 0 is 0
    "root_of_squares": Operation("std::sqrt({0})", eager_cpp=SAME, cost=DIVISION, like="sin"),
    "cbrt": Operation("sdfgad::math::cbrt({0})", cost=VECTOR),
    "hypot": Operation("sdfgad::math::hypot({0}, {1})", cost=VECTOR),
    "floor_divide": Operation("sdfgad::floor_divide({0}, {1})", on_integers=floordiv),
    "remainder": Operation("sdfgad::remainder({0}, {1})", on_integers=mod),
    "fmod": Operation("sdfgad::fmod({0}, {1})"),
    "ieee_remainder": Operation("std::remainder({0}, {1})", like="arctan2"),
    "fractional": Operation("sdfgad::fractional({0})", like="sin"),
    "ldexp": Operation("sdfgad::ldexp({0}, {1})"),
    "gcd": Operation("std::gcd({0}, {1})"),
    "lcm": Operation("std::lcm({0}, {1})"),
    "conjugate": Operation("({0})", "sdfgad::conj({0})", eager_cpp=SAME, cost=CHEAP, complex_work=0),
    "absolute": Operation("sdfgad::absolute({0})", SAME, eager_cpp=SAME, cost=CHEAP, result=PART),
    "fabs": Operation("std::fabs({0})", eager_cpp=SAME, cost=CHEAP),
    "sign": Operation("sdfgad::sign({0})", eager_cpp=SAME, cost=CHEAP),
    # exponentials and logarithms
    "exp": Operation("sdfgad::math::exp({0})", "sdfgad::exp({0})", cost=VECTOR),
    "exp2": Operation("sdfgad::math::exp2({0})", "sdfgad::exp2({0})", cost=VECTOR),
    "expm1": Operation("sdfgad::math::expm1({0})", "sdfgad::expm1({0})", cost=VECTOR),
    "log": Operation("sdfgad::math::log({0})", "sdfgad::log({0})", cost=VECTOR),
    "log2": Operation("sdfgad::math::log2({0})", "sdfgad::log2({0})", cost=VECTOR),
    "log10": Operation("sdfgad::math::log10({0})", "sdfgad::log10({0})", cost=VECTOR),
    "log1p": Operation("sdfgad::math::log1p({0})", "sdfgad::log1p({0})", cost=VECTOR),
    "logaddexp": Operation("sdfgad::logaddexp({0}, {1})", cost=SLOW),
    "logaddexp2": Operation("sdfgad::logaddexp2({0}, {1})", cost=SLOW),
    # trigonometry
    "sin": Operation("sdfgad::math::sin({0})", "sdfgad::sin({0})", cost=VECTOR),
    "cos": Operation("sdfgad::math::cos({0})", "sdfgad::cos({0})", cost=VECTOR),
    "tan": Operation("sdfgad::math::tan({0})", "sdfgad::tan({0})", cost=VECTOR),
    "arcsin": Operation("sdfgad::math::asin({0})", "sdfgad::asin({0})", cost=VECTOR),
    "arccos": Operation("sdfgad::math::acos({0})", "sdfgad::acos({0})", cost=VECTOR),
    "arctan": Operation("sdfgad::math::atan({0})", "sdfgad::atan({0})", cost=VECTOR),
    "arctan2": Operation("sdfgad::math::atan2({0}, {1})", cost=VECTOR),
    "sinh": Operation("sdfgad::math::sinh({0})", "sdfgad::sinh({0})", cost=VECTOR),
    "cosh": Operation("sdfgad::math::cosh({0})", "sdfgad::cosh({0})", cost=VECTOR),
    "tanh": Operation("sdfgad::math::tanh({0})", "sdfgad::tanh({0})", cost=VECTOR),
    "arcsinh": Operation("sdfgad::math::asinh({0})", "sdfgad::asinh({0})", cost=VECTOR),
    "arccosh": Operation("sdfgad::math::acosh({0})", "sdfgad::acosh({0})", cost=VECTOR),
    "arctanh": Operation("sdfgad::math::atanh({0})", "sdfgad::atanh({0})", cost=VECTOR),
    "deg2rad": Operation("sdfgad::radians({0})", eager_cpp=SAME),
    "radians": Operation("sdfgad::radians({0})", eager_cpp=SAME),
    "rad2deg": Operation("sdfgad::degrees({0})", eager_cpp=SAME),
    "degrees": Operation("sdfgad::degrees({0})", eager_cpp=SAME),
    "sinc": Operation("sdfgad::sinc({0})", cost=SLOW, like="sin"),
    # special functions
    "erf": Operation("sdfgad::math::erf({0})", cost=VECTOR, like="sin"),
    "erfc": Operation("sdfgad::math::erfc({0})", cost=VECTOR, like="sin"),
    "erfinv": Operation("sdfgad::erfinv({0})", cost=SLOW, like="sin"),
    "gamma": Operation("std::tgamma({0})", cost=SLOW, like="sin"),
    "gammaln": Operation("sdfgad::gammaln({0})", cost=SLOW, like="sin"),
    "digamma": Operation("sdfgad::digamma({0})", cost=SLOW, like="sin"),
    "trigamma": Operation("sdfgad::trigamma({0})", cost=SLOW),
    "expit": Operation("sdfgad::expit({0})", cost=SLOW, like="sin"),
    "log_expit": Operation("sdfgad::log_expit({0})", cost=SLOW, like="sin"),
    "logit": Operation("sdfgad::logit({0})", cost=SLOW, like="sin"),
    "xlogy": Operation("sdfgad::xlogy({0}, {1})", cost=SLOW, like="arctan2"),
    "xlog1py": Operation("sdfgad::xlog1py({0}, {1})", cost=SLOW, like="arctan2"),
    "i0": Operation("sdfgad::i0({0})", cost=SLOW, like="sin"),
    "i1": Operation("sdfgad::i1({0})", cost=SLOW, like="sin"),
    **{
        name: Operation(f"sdfgad::{name}({{0}})", cost=SLOW, like="sin")
        for name in (
            *("erfcx", "erfcinv", "erfi", "log_ndtr", "i0e", "i1e", "j0", "j1", "exp1", "expi", "dawsn", "dawsn_slope"),
            *("airy_ai", "airy_ai_slope", "airy_bi", "airy_bi_slope"),
        )
    },
    # the order is an integer
    **{
        name: Operation(f"sdfgad::{name}({{0}}, {{1}})", cost=SLOW, like="ldexp")
        for name in (
            *("bessel_j", "bessel_j_quotient", "bessel_i_quotient", "bessel_ie_quotient", "sinc_derivative"),
            *("polygamma_of", "expn_of", *(f"spherical_{kind}" for kind in "jyik")),
        )
    },
    # the order is a constant
    **{
        name: Operation(f"sdfgad::{name}({{0}}, {{1}})", cost=SLOW, like="arctan2")
        for name in (
            *("bessel_jv", "bessel_y", "bessel_i", "bessel_k", "bessel_ie", "bessel_ke"),
            *("hurwitz_zeta", "lambert_w", "hyp0f1"),
        )
    },
    **{
        name: Operation(f"sdfgad::{name}({{0}}, {{1}})", cost=SLOW, like="arctan2")
        for name in (
            "beta",
            "betaln",
            "gammainc",
            "gammaincc",
            "gammaincinv",
            "gammainccinv",
            "gammainc_by_shape",
            "gamma_density",
            "owens_t",
            "stdtr",
            "stdtr_by_shape",
        )
    },
    **{
        name: Operation(f"sdfgad::{name}({{0}}, {{1}}, {{2}})", cost=SLOW)
        for name in ("betainc", "betaincc", "betaincinv", "betainccinv", "betainc_by_shape", "beta_density", "hyp1f1")
    },
    # rounding and selection
    "floor": Operation("sdfgad::floor({0})", eager_cpp=SAME, cost=CHEAP),
    "ceil": Operation("sdfgad::ceil({0})", eager_cpp=SAME, cost=CHEAP),
    "trunc": Operation("sdfgad::trunc({0})", eager_cpp=SAME, cost=CHEAP),
    "rint": Operation("std::rint({0})", eager_cpp=SAME, cost=CHEAP),
    "round_decimals": Operation("sdfgad::round_decimals({0}, {1})"),
    "nextafter": Operation("std::nextafter({0}, {1})"),
    "spacing": Operation("sdfgad::spacing({0})"),
    "maximum": Operation("sdfgad::maximum({0}, {1})", eager_cpp=SAME, cost=CHEAP, identity=-math.inf, on_integers=max),
    "minimum": Operation("sdfgad::minimum({0}, {1})", eager_cpp=SAME, cost=CHEAP, identity=math.inf, on_integers=min),
    "fmax": Operation("sdfgad::fmax({0}, {1})", eager_cpp=SAME, cost=CHEAP),
    "fmin": Operation("sdfgad::fmin({0}, {1})", eager_cpp=SAME, cost=CHEAP),
    "later_if_greater": Operation("sdfgad::later_if_greater({0}, {1})", cost=CHEAP, like="maximum"),
    "later_if_less": Operation("sdfgad::later_if_less({0}, {1})", cost=CHEAP, like="maximum"),
    "copysign": Operation("std::copysign({0}, {1})", eager_cpp=SAME),
    "heaviside": Operation("sdfgad::heaviside({0}, {1})"),
    "select": Operation(
        "({0} ? {1} : {2})", SAME, eager_cpp="sdfgad::select<{type}>({0}, {1}, {2})", cost=CHEAP, result=CHOSEN
    ),
    # stop_gradient: the value, with derivative 0
    "held": Operation("({0})", eager_cpp=SAME, cost=CHEAP, like="sin"),
    # A rule of first order: what it takes, and the first operand's value with the second one's derivative; then the
    # same within a gradient, which have no rule.
    # comparison and logic
    "equal": Operation(
        "({0} == {1})", SAME, eager_cpp=SAME, cost=CHEAP, result=TRUTH, infix="==", negation="not_equal"
    ),
    # Whether a cotangent is exactly 0, which is no choice: what it multiplies has a derivative by it (see `rules`).
    "vanishes": Operation("({0} == {1})", SAME, eager_cpp=SAME, cost=CHEAP, result=TRUTH, infix="==", like="equal"),
    "not_equal": Operation(
        "({0} != {1})", SAME, eager_cpp=SAME, cost=CHEAP, result=TRUTH, infix="!=", negation="equal"
    ),
    "less": Operation("({0} < {1})", eager_cpp=SAME, cost=CHEAP, result=TRUTH, infix="<", negation="greater_equal"),
    "less_equal": Operation("({0} <= {1})", eager_cpp=SAME, cost=CHEAP, result=TRUTH, infix="<=", negation="greater"),
    "greater": Operation("({0} > {1})", eager_cpp=SAME, cost=CHEAP, result=TRUTH, infix=">", negation="less_equal"),
    "greater_equal": Operation("({0} >= {1})", eager_cpp=SAME, cost=CHEAP, result=TRUTH, infix=">=", negation="less"),
    "logical_and": Operation("({0} && {1})", eager_cpp="sdfgad::both({0}, {1})", cost=CHEAP, result=TRUTH, infix="and"),
    "logical_or": Operation("({0} || {1})", eager_cpp="sdfgad::either({0}, {1})", cost=CHEAP, result=TRUTH, infix="or"),
    "logical_xor": Operation("(bool({0}) != bool({1}))", eager_cpp=SAME, cost=CHEAP, result=TRUTH),
    "logical_not": Operation("(!{0})", eager_cpp=SAME, cost=CHEAP, result=TRUTH),
    "bitwise_and": Operation("({0} & {1})", eager_cpp=SAME, infix="&"),
    "bitwise_or": Operation("({0} | {1})", eager_cpp=SAME, infix="|"),
    "bitwise_xor": Operation("({0} ^ {1})", eager_cpp=SAME, infix="^"),
    "left_shift": Operation("sdfgad::left_shift({0}, {1})"),
    "right_shift": Operation("sdfgad::right_shift({0}, {1})"),
    "invert": Operation("sdfgad::invert({0})"),
    "isnan": Operation("std::isnan({0})", "sdfgad::is_nan({0})", eager_cpp=SAME, result=TRUTH),
    "isinf": Operation("std::isinf({0})", "sdfgad::is_inf({0})", eager_cpp=SAME, result=TRUTH),
    "isfinite": Operation("std::isfinite({0})", "sdfgad::is_finite({0})", eager_cpp=SAME, result=TRUTH),
    "signbit": Operation("std::signbit({0})", eager_cpp=SAME, result=TRUTH),
    # complex numbers
    "real": Operation("std::real({0})", "{0}.re", eager_cpp=SAME, cost=CHEAP, result=PART),
    "imag": Operation("std::imag({0})", "{0}.im", eager_cpp=SAME, cost=CHEAP, result=PART),
    "complex": Operation("sdfgad::complex({0}, {1})", SAME, eager_cpp=SAME, result=COMPLEX),
    # an index; a negative one counts from the end
    "wrap": Operation("sdfgad::wrap({0}, {1})", cost=CHEAP),
    # a conversion: its text follows from both dtypes
    "cast": Operation("", SAME, eager_cpp=SAME, cost=CHEAP, result=ASKED),
}


def identity(kind: str, dtype: np.dtype[Any]) -> Any:
    """The neutral element of an accumulation, a Python number; of extrema the end of the range of integers or bools."""
    value = OPERATIONS[kind].identity
    assert value is not None
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(min(max(value, int(limits.min)), int(limits.max)))
    if dtype.kind == "b":
        return value > 0
    return dtype.type(value).item()
