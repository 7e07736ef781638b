"""The pushforward of one scalar expression: its tangent, given the tangents of what it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sdfgad.errors import Location, MissingRule
from sdfgad.ir.expr import BOOL, Expr, Op, Read, postorder
from sdfgad.rules.algebra import add, cast, complex_of, conjugate, const, div, imag, mul, real, select
from sdfgad.rules.elementary import is_holomorphic, pulled, rule_of

# Nodes -> their tangents; None for one that is held constant.
Tangents = Mapping[Expr, Expr | None]


def pushforward(value: Expr, tangent_of: Callable[[Read], Expr | None], where: Location | None) -> Expr | None:
    """The tangent of a value; None where it is zero everywhere.

    Args:
        tangent_of: the tangent of what is read; None where it is constant.

    Raises:
        MissingRule: an operation on the differentiated path has no rule.
    """
    return _pushed(value, {node: tangent_of(node) for node in postorder(value) if isinstance(node, Read)}, where)


def _pushed(value: Expr, seeds: Tangents, where: Location | None) -> Expr | None:
    """The tangent of a value, given those of some of its nodes; the other leaves are constant."""
    found = {node: t for node, t in seeds.items() if t is not None}
    for node in postorder(value, without=seeds):
        if not isinstance(node, Op) or node.dtype.kind not in "fc":
            continue
        tangent = _chosen(node, found, seeds, where) if node.name == "select" else _total(node, found, where)
        if tangent is not None:
            found[node] = tangent
    return found.get(value)


def _chosen(node: Op, found: Mapping[Expr, Expr], seeds: Tangents, where: Location | None) -> Expr | None:
    """The tangent of a choice.

    In a gradient, the test of a strong zero is a choice by a cotangent, `t`, of a value that is linear in it. What
    comes from the tangent of `t` is not chosen: it may differ from zero where `t` is zero. The rest comes from the
    tangents of all else, with `t` held constant.
    """
    condition, x, y = node.args
    if isinstance(condition, Op) and condition.name == "vanishes":
        t = condition.args[0]
        constant: Tangents = {other: None for other, tangent in seeds.items() if tangent is None}
        direct = _pushed(y, {**constant, t: found[t]}, where) if t in found else None
        rest = _pushed(y, {**seeds, t: None}, where)
        return _sum(direct, None if rest is None else select(condition, const(0, rest), rest))
    tangents = found.get(x), found.get(y)
    if tangents == (None, None):
        return None
    x_dot, y_dot = (const(0, node) if t is None else t for t in tangents)
    return select(condition, x_dot, y_dot)


def _total(node: Op, found: Mapping[Expr, Expr], where: Location | None) -> Expr | None:
    """The tangent of an operation: the sum of what comes through each operand."""
    tangents = [found.get(arg) for arg in node.args]
    if all(t is None for t in tangents):
        return None
    if node.name == "complex":
        x, y = (const(0, arg) if t is None else t for arg, t in zip(node.args, tangents, strict=True))
        return complex_of(x, y)
    if rule_of(node.name) is None:
        raise MissingRule([(node.name, where)])
    total: Expr | None = None
    for position, t in enumerate(tangents):
        total = total if t is None else _sum(total, _through(node, position, t))
    return total


def _sum(x: Expr | None, y: Expr | None) -> Expr | None:
    if x is None or y is None:
        return x if y is None else y
    return add(x, y)


def _through(node: Op, position: int, t: Expr) -> Expr | None:
    """What an operand's tangent gives: by the rule of the reverse mode, which multiplies by the same derivative."""
    if node.name in PARTS and node.args[0].dtype.kind == "c":
        return PARTS[node.name](t, node)
    if node.name == "cast":
        return cast(t, node.dtype)
    if node.name == "conjugate":
        return conjugate(t)
    if not is_holomorphic(node):
        return pulled(node, t)[position]
    # The rule multiplies by the conjugate derivative.
    pushed = pulled(node, conjugate(t))[position]
    return None if pushed is None else conjugate(pushed)


def _of_length(t: Expr, node: Op) -> Expr:
    """The tangent of ``|z|``, ``Re(conj(z) t) / |z|``; 0 at 0."""
    z, zero = node.args[0], const(0, node)
    product = add(mul(real(z), real(t)), mul(imag(z), imag(t)))
    return select(Op("equal", (node, zero), BOOL), zero, div(product, node))


PARTS: Mapping[str, Callable[[Expr, Op], Expr]] = {
    "absolute": _of_length,
    "real": lambda t, node: real(t),
    "imag": lambda t, node: imag(t),
}
