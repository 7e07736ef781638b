"""The pullback of one scalar expression: cotangents of everything that it reads."""

from __future__ import annotations

from collections import defaultdict

from sdfgad.errors import Location, MissingRule
from sdfgad.ir.expr import Expr, Op, Read, postorder
from sdfgad.rules.algebra import add, const, is_vanishing, select
from sdfgad.rules.elementary import pulled, rule_of

# A path of `where` choices: each condition with the outcome under which a value counts.
Guard = tuple[tuple[Expr, bool], ...]


def varying(value: Expr, active: frozenset[str] | None = None) -> set[Expr]:
    """The nodes of `value` with a derivative by what they read (from `active` buffers only, if given)."""
    found: set[Expr] = set()
    for node in postorder(value):
        if node.dtype.kind not in "fc":
            continue
        is_leaf = isinstance(node, Read) and (active is None or node.buffer in active)
        if is_leaf or any(arg in found for arg in differentiable_args(node)):
            found.add(node)
    return found


def differentiable_args(node: Expr) -> tuple[Expr, ...]:
    """The operands by which an operation may have a derivative that is not zero everywhere."""
    if not isinstance(node, Op):
        return ()
    if node.name == "select":
        return node.args[1:]
    rule = rule_of(node.name)
    if rule is None:
        return node.args
    cotangents = rule(node, node, *node.args)
    return tuple(arg for arg, cotangent in zip(node.args, cotangents, strict=True) if cotangent is not None)


def missing_rules(value: Expr, active: frozenset[str]) -> list[str]:
    """Operations on the differentiated path that have no rule."""
    on_path = varying(value, active)
    nodes = [n for n in postorder(value) if isinstance(n, Op) and n in on_path]
    return [n.name for n in nodes if n.name != "select" and rule_of(n.name) is None]


def differentiable_reads(value: Expr) -> list[Read]:
    """The reads by which a value may have a derivative that is not zero everywhere."""
    waiting, seen = [value], dict[Expr, None]()
    while waiting:
        node = waiting.pop()
        if node not in seen and node.dtype.kind in "fc":
            seen[node] = None
            waiting += reversed(differentiable_args(node))
    return [node for node in seen if isinstance(node, Read)]


def pullback(value: Expr, cotangent: Expr, active: frozenset[str], where: Location | None) -> list[tuple[Read, Expr]]:
    """For each read of an active buffer in `value`, its cotangent when `value` has the given one.

    A value behind a `where` that was not chosen gets exactly zero, whatever its derivative.
    """
    alive = varying(value, active)
    if value not in alive:
        return []
    pending: dict[Expr, dict[Guard, Expr]] = defaultdict(dict)
    pending[value][()] = cotangent
    result: list[tuple[Read, Expr]] = []
    for node in reversed(list(postorder(value))):
        if node not in alive or node not in pending:
            continue
        if isinstance(node, Read):
            result.append((node, _total(pending[node])))
            continue
        for guard, t in pending[node].items():
            for arg, contribution, extended in _local(node, t, guard, where):
                if arg in alive:
                    _accumulate(pending[arg], _through(arg, extended), contribution)
    return result


def _local(node: Expr, t: Expr, guard: Guard, where: Location | None) -> list[tuple[Expr, Expr, Guard]]:
    assert isinstance(node, Op)
    if node.name == "select":
        condition, x, y = node.args
        return [(x, t, (*guard, (condition, True))), (y, t, (*guard, (condition, False)))]
    if rule_of(node.name) is None:
        raise MissingRule([(node.name, where)])
    return [(arg, c, guard) for arg, c in zip(node.args, pulled(node, t), strict=True) if c is not None]


def _through(arg: Expr, guard: Guard) -> Guard:
    """The choices under which a contribution to a node counts: the test of a strong zero is none by its cotangent."""
    return tuple(one for one in guard if not is_vanishing(one[0], arg))


def _accumulate(totals: dict[Guard, Expr], guard: Guard, contribution: Expr) -> None:
    totals[guard] = add(totals[guard], contribution) if guard in totals else contribution


def _total(totals: dict[Guard, Expr]) -> Expr:
    parts = [_guarded(guard, t) for guard, t in _joined(totals).items()]
    result = parts[0]
    for part in parts[1:]:
        result = add(result, part)
    return result


def _joined(totals: dict[Guard, Expr]) -> dict[Guard, Expr]:
    """The same where what flows through both sides of a choice is one choice, instead of a sum with zeros."""
    result = dict(totals)
    for guard in sorted(totals, key=len, reverse=True):
        # Longer guards first: what they leave may itself be a side of a choice.
        _join(result, guard)
    return result


def _join(totals: dict[Guard, Expr], guard: Guard) -> None:
    while guard and guard in totals:
        *outer, (condition, outcome) = guard
        other = (*outer, (condition, not outcome))
        if other not in totals:
            return
        sides = totals.pop(guard), totals.pop(other)
        x, y = sides if outcome else reversed(sides)
        guard = tuple(outer)
        _accumulate(totals, guard, select(condition, x, y))


def _guarded(guard: Guard, t: Expr) -> Expr:
    for condition, outcome in reversed(guard):
        zero = const(0, t)
        t = select(condition, t, zero) if outcome else select(condition, zero, t)
    return t
