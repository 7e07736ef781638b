"""Intrinsic functions: those of numbers as NumPy's functions, and conversions between kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdfgad.fortran import inquiries, reductions
from sdfgad.fortran.arguments import Arguments
from sdfgad.fortran.evaluator import Evaluator, described
from sdfgad.fortran.integers import remainder
from sdfgad.fortran.kinds import DOUBLE, INTEGER, REAL, Kind
from sdfgad.fortran.literals import real_kind
from sdfgad.fortran.values import Value, as_kind, constant, folded, plain, strong

# Functions of one floating number: Fortran's name -> NumPy's.
FLOATING = {
    **{name: f"np.{name}" for name in ("sqrt", "exp", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": f"np.arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
# Functions of one real number that is no array.
SCALAR = {"erf": "math.erf", "erfc": "math.erfc", "gamma": "math.gamma", "log_gamma": "math.lgamma"}
# Names of old, for one type each -> today's.
SPECIFIC = {
    **{f"d{name}": name for name in FLOATING if name != "log10"},
    **{"dlog10": "log10", "alog": "log", "alog10": "log10", "dabs": "abs", "iabs": "abs", "dmod": "mod", "amod": "mod"},
    **{"dsign": "sign", "isign": "sign", "ddim": "dim", "idim": "dim", "datan2": "atan2", "dint": "aint"},
    **{"max0": "max", "amax1": "max", "dmax1": "max", "min0": "min", "amin1": "min", "dmin1": "min"},
    **{"idint": "int", "ifix": "int", "dfloat": "dble", "float": "real", "sngl": "real", "dnint": "anint"},
    **{"idnint": "nint", "dconjg": "conjg", "dimag": "aimag", "dcmplx": "cmplx"},
}
TODO = "Write it with arithmetic and supported functions; docs/fortran.md has the list."
Rule = Callable[[Evaluator, Any, Arguments], Value]


def is_intrinsic(name: str) -> bool:
    name = SPECIFIC.get(name, name)
    return name in FLOATING or name in SCALAR or name in RULES


def intrinsic(e: Evaluator, node: Any, name: str, arguments: list[Any]) -> Value:
    """The value of a call of an intrinsic function.

    Raises:
        UnsupportedProgram: it is not supported, or called in a way that is not.
    """
    general = SPECIFIC.get(name, name)
    given = Arguments.of(e, node, general, arguments)
    if general in FLOATING:
        return _floating(e, node, FLOATING[general], given)
    if general in SCALAR:
        return _of_numbers(e, node, SCALAR[general], given)
    result = RULES[general](e, node, given)
    return as_kind(result, DOUBLE) if name == "dcmplx" and result.kind == REAL else result


def elementwise(text: str, kind: Kind, *operands: Value) -> Value:
    """A value; the number itself where all operands are numbers."""
    value = Value(text, kind, max(one.rank for one in operands))
    return folded(text, value) if all(one.number is not None for one in operands) else value


def _floating(e: Evaluator, node: Any, function: str, given: Arguments) -> Value:
    x = given.value(0, "x")
    if not x.kind.is_floating:
        e.refuse(node, f"`{node}` needs a real number, not {described(x)}", "Convert it: real(i, 8).")
    return elementwise(f"{function}({plain(strong(x))})", x.kind, x)


def _of_numbers(e: Evaluator, node: Any, function: str, given: Arguments) -> Value:
    x = given.value(0, "x")
    if x.kind.base != "real" or x.rank:
        e.refuse(node, f"`{node}` is supported for real numbers, not for {described(x)}", "Call it in a loop.")
    return as_kind(elementwise(f"{function}({plain(x)})", DOUBLE, x), x.kind)


def _pair(e: Evaluator, node: Any, x: Value, y: Value) -> tuple[Value, Value, Kind]:
    """Two arguments, which must be of one kind."""
    if x.kind != y.kind and not x.kind.base == y.kind.base == "integer":
        e.refuse(node, f"`{node}` has arguments of the kinds {x.kind} and {y.kind}", "Convert one: real(x, 8).")
    return strong(x), strong(y), x.kind


def _extremum(function: str, python: str) -> Rule:
    def rule(e: Evaluator, node: Any, given: Arguments) -> Value:
        result = given.value(0, "a1")
        for position in range(1, len(given.nodes)):
            other = given.value(position, f"a{position + 1}")
            x, y, kind = _pair(e, node, result, other)
            is_integer = kind.base == "integer" and not (x.rank or y.rank)
            text = f"{python if is_integer else function}({plain(x)}, {plain(y)})"
            result = elementwise(text, kind, result, other)
            if is_integer and result.number is None:
                result = Value(result.text, kind, low=_low_of(python, x, y))
        return result

    return rule


def _low_of(python: str, x: Value, y: Value) -> int | None:
    known = [one.low for one in (x, y) if one.low is not None]
    if python == "max":
        return max(known, default=None)
    return min(known) if len(known) == 2 else None


def _abs(e: Evaluator, node: Any, given: Arguments) -> Value:
    x = given.value(0, "a")
    if x.kind.base == "integer" and x.number is None:
        return Value(f"abs({plain(x)})", INTEGER, x.rank, low=None if x.rank else 0)
    return elementwise(f"abs({plain(strong(x))})", Kind("real", x.kind.bytes) if x.kind.is_floating else x.kind, x)


def _sign(e: Evaluator, node: Any, given: Arguments) -> Value:
    x, y, kind = _pair(e, node, given.value(0, "a"), given.value(1, "b"))
    if kind.base == "integer":
        if x.rank or y.rank:
            e.refuse(node, f"`{node}` of integer arrays is not supported", "Write a loop.")
        return Value(f"(abs({x.text}) if {y.text} >= 0 else -abs({x.text}))", INTEGER)
    return elementwise(f"np.copysign({plain(x)}, {plain(y)})", kind, given.value(0, "a"), given.value(1, "b"))


def _mod(e: Evaluator, node: Any, given: Arguments) -> Value:
    x, y, kind = _pair(e, node, given.value(0, "a"), given.value(1, "p"))
    if kind.base == "integer":
        return remainder(x, y)
    return elementwise(f"np.fmod({plain(x)}, {plain(y)})", kind, given.value(0, "a"), given.value(1, "p"))


def _modulo(e: Evaluator, node: Any, given: Arguments) -> Value:
    x, y, kind = _pair(e, node, given.value(0, "a"), given.value(1, "p"))
    result = elementwise(f"({x.text} % {y.text})", kind, given.value(0, "a"), given.value(1, "p"))
    is_natural = kind.base == "integer" and not result.rank and y.low is not None and y.low >= 0
    return Value(result.text, kind, result.rank, result.number, low=0) if is_natural else result


def _binary(function: str) -> Rule:
    def rule(e: Evaluator, node: Any, given: Arguments) -> Value:
        first, second = given.value(0, "x"), given.value(1, "y")
        x, y, kind = _pair(e, node, first, second)
        return elementwise(f"{function}({plain(x)}, {plain(y)})", kind, first, second)

    return rule


def _dim(e: Evaluator, node: Any, given: Arguments) -> Value:
    first, second = given.value(0, "x"), given.value(1, "y")
    x, y, kind = _pair(e, node, first, second)
    if kind.base == "integer":
        return Value(f"max({x.text} - {y.text}, 0)", kind, low=0)
    return elementwise(f"np.maximum({x.text} - {y.text}, {plain(strong(constant(0, kind)))})", kind, first, second)


def _merge(e: Evaluator, node: Any, given: Arguments) -> Value:
    first, second, mask = (given.value(k, name) for k, name in enumerate(("tsource", "fsource", "mask")))
    if mask.kind.base != "logical":
        e.refuse(node, f"the mask of `{node}` is {described(mask)}", "Write a comparison.")
    if first.kind.base == second.kind.base == "logical":
        x, y, kind = first, second, first.kind
    else:
        x, y, kind = _pair(e, node, first, second)
    rank = max(x.rank, y.rank, mask.rank)
    if not rank:
        return Value(f"({x.text} if {mask.text} else {y.text})", kind)
    return Value(f"np.where({plain(mask)}, {plain(x)}, {plain(y)})", kind, rank)


def _whole(text: str) -> Rule:
    """A real number rounded to an integer by a text of NumPy."""

    def rule(e: Evaluator, node: Any, given: Arguments) -> Value:
        x = given.value(0, "a")
        if x.kind.base == "integer":
            return x
        rounded = elementwise(text.format(strong(x).text), x.kind, x)
        return as_kind(rounded, INTEGER)

    return rule


def _rounded(text: str) -> Rule:
    def rule(e: Evaluator, node: Any, given: Arguments) -> Value:
        x = given.value(0, "a")
        return elementwise(text.format(strong(x).text), x.kind, x)

    return rule


def _real(e: Evaluator, node: Any, given: Arguments) -> Value:
    x, size = given.value(0, "a"), given.known(1, "kind")
    kind = real_kind(e, node, size if size is not None else x.kind.bytes if x.kind.base == "complex" else 4)
    if x.kind.base == "complex":
        x = elementwise(f"np.real({plain(x)})", Kind("real", x.kind.bytes), x)
    return as_kind(x, kind)


def _dble(e: Evaluator, node: Any, given: Arguments) -> Value:
    return as_kind(given.value(0, "a"), DOUBLE)


def _cmplx(e: Evaluator, node: Any, given: Arguments) -> Value:
    x, y, size = given.value(0, "x"), given.optional(1, "y"), given.known(2, "kind")
    kind = Kind("complex", size or 4)
    if y is None:
        return as_kind(x, kind)
    part = Kind("real", kind.bytes)
    a, b = as_kind(x, part), as_kind(y, part)
    value = Value(f"({strong(a).text} + 1j * {strong(b).text})", Kind("complex", 8), max(x.rank, y.rank))
    return as_kind(value, kind)


def _imaginary(e: Evaluator, node: Any, given: Arguments) -> Value:
    x = given.value(0, "z")
    return elementwise(f"np.imag({plain(x)})", Kind("real", x.kind.bytes), x)


def _conjugate(e: Evaluator, node: Any, given: Arguments) -> Value:
    x = given.value(0, "z")
    return elementwise(f"np.conj({plain(x)})", x.kind, x)


# Half away from zero: what is left after the whole part is exact, and so is twice that.
NEAREST = "(np.trunc({0}) + np.trunc(2 * ({0} - np.trunc({0}))))"
RULES: dict[str, Rule] = {
    "abs": _abs,
    "sign": _sign,
    "mod": _mod,
    "modulo": _modulo,
    "max": _extremum("np.maximum", "max"),
    "min": _extremum("np.minimum", "min"),
    "dim": _dim,
    "merge": _merge,
    "atan2": _binary("np.arctan2"),
    "hypot": _binary("np.hypot"),
    "int": _whole("np.trunc({0})"),
    "nint": _whole(NEAREST),
    "floor": _whole("np.floor({0})"),
    "ceiling": _whole("np.ceil({0})"),
    "aint": _rounded("np.trunc({0})"),
    "anint": _rounded(NEAREST),
    "real": _real,
    "dble": _dble,
    "cmplx": _cmplx,
    "aimag": _imaginary,
    "conjg": _conjugate,
    **inquiries.RULES,
    **reductions.RULES,
}
NAMES = tuple(sorted({*FLOATING, *SCALAR, *RULES}))
