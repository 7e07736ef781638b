"""Pattern matching: rewrites ``match`` statements as ``if`` statements, whose tests bind the names of patterns."""

from __future__ import annotations

import ast
from typing import Any


def is_sequence(subject: Any) -> Any:
    """Whether a sequence pattern may match a value."""


def is_mapping(subject: Any) -> Any:
    """Whether a mapping pattern may match a value."""


def is_instance(subject: Any, cls: Any) -> Any:
    """Whether a class pattern may match a value."""


def positional_part(subject: Any, cls: Any, position: Any) -> Any:
    """What a positional pattern in a class pattern matches."""


def as_branches(node: ast.Match) -> list[ast.stmt]:
    """Statements that do the same: the subject is evaluated once."""
    subject = f"<subject {node.lineno}.{node.col_offset}>"
    chain: list[ast.stmt] = []
    for case in reversed(node.cases):
        test = _test(_name(subject), case.pattern)
        whole = _and([test, case.guard]) if case.guard else test
        chain = [_placed(ast.If(whole, case.body, chain), case.pattern, node)]
    return [_placed(ast.Assign([ast.Name(subject, ast.Store())], node.subject), node, node), *chain]


def _placed(made: Any, at: ast.AST, node: ast.Match) -> Any:
    """A new node with the location of another one, which ends where the statement ends."""
    ast.copy_location(made, at)
    made.end_lineno, made.end_col_offset = node.end_lineno, node.end_col_offset
    return ast.fix_missing_locations(made)


def _test(subject: ast.expr, pattern: ast.pattern) -> ast.expr:
    """An expression that is true if a pattern matches, and then has bound its names."""
    if isinstance(pattern, ast.MatchValue):
        return ast.Compare(subject, [ast.Eq()], [pattern.value])
    if isinstance(pattern, ast.MatchSingleton):
        return ast.Compare(subject, [ast.Is()], [ast.Constant(pattern.value)])
    if isinstance(pattern, ast.MatchOr):
        return ast.BoolOp(ast.Or(), [_test(subject, one) for one in pattern.patterns])
    if isinstance(pattern, ast.MatchAs):
        bound = _bound(pattern.name, subject)
        return bound if pattern.pattern is None else _and([_test(subject, pattern.pattern), bound])
    if isinstance(pattern, ast.MatchSequence):
        return _sequence_test(subject, pattern.patterns)
    if isinstance(pattern, ast.MatchMapping):
        return _mapping_test(subject, pattern)
    assert isinstance(pattern, ast.MatchClass)
    return _class_test(subject, pattern)


def _sequence_test(subject: ast.expr, patterns: list[ast.pattern]) -> ast.expr:
    star = next((k for k, one in enumerate(patterns) if isinstance(one, ast.MatchStar)), None)
    size = _call(len, subject)
    least = len(patterns) - (star is not None)
    compare: ast.cmpop = ast.Eq() if star is None else ast.GtE()
    tests = [_call(is_sequence, subject), ast.Compare(size, [compare], [ast.Constant(least)])]
    for position, one in enumerate(patterns):
        if isinstance(one, ast.MatchStar):
            stop = position - len(patterns) + 1
            part = ast.Slice(ast.Constant(position), ast.Constant(stop) if stop else None)
            tests.append(_bound(one.name, _call(list, ast.Subscript(subject, part, ast.Load()))))
            continue
        index = position if star is None or position < star else position - len(patterns)
        tests.append(_test(ast.Subscript(subject, ast.Constant(index), ast.Load()), one))
    return _and(tests)


def _mapping_test(subject: ast.expr, pattern: ast.MatchMapping) -> ast.expr:
    tests: list[ast.expr] = [_call(is_mapping, subject)]
    for key, one in zip(pattern.keys, pattern.patterns, strict=True):
        tests.append(ast.Compare(key, [ast.In()], [subject]))
        tests.append(_test(ast.Subscript(subject, key, ast.Load()), one))
    if pattern.rest:
        key, value = _name("<key>"), _name("<value>")
        pair = ast.Tuple([ast.Name("<key>", ast.Store()), ast.Name("<value>", ast.Store())], ast.Store())
        others = ast.Compare(key, [ast.NotIn()], [ast.Tuple(pattern.keys, ast.Load())])
        items = ast.Call(ast.Attribute(subject, "items", ast.Load()), [], [])
        rest = ast.DictComp(key, value, [ast.comprehension(pair, items, [others], 0)])
        tests.append(_bound(pattern.rest, rest))
    return _and(tests)


def _class_test(subject: ast.expr, pattern: ast.MatchClass) -> ast.expr:
    tests: list[ast.expr] = [_call(is_instance, subject, pattern.cls)]
    for position, one in enumerate(pattern.patterns):
        tests.append(_test(_call(positional_part, subject, pattern.cls, ast.Constant(position)), one))
    for name, one in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        tests.append(_call(hasattr, subject, ast.Constant(name)))
        tests.append(_test(ast.Attribute(subject, name, ast.Load()), one))
    return _and(tests)


def _bound(name: str | None, value: ast.expr) -> ast.expr:
    """An expression that binds a name, and is true."""
    if name is None:
        return ast.Constant(True)
    return ast.Tuple([ast.NamedExpr(ast.Name(name, ast.Store()), value)], ast.Load())


def _and(tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def _call(function: Any, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Constant(function), list(arguments), [])


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
