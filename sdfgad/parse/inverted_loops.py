"""The syntax trees of internal iteration: generators that call a function where they yield, and functions whose loops
over such generators have their bodies as functions.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sdfgad.parse.jumps import stops, with_blocks
from sdfgad.parse.liveness import all_names, assigned_names, is_assigned_first, is_read_behind
from sdfgad.parse.source import Source

# The names of the closure in a generator's frame, and of the closure's parameter, which must be an identifier.
BODY, ITEM = "<body>", "__sdfgad_item"


@dataclass(frozen=True)
class LoopPlace:
    """A loop: its file, line and column, and whether it goes over ``enumerate`` of a generator function."""

    file: str
    line: int
    column: int
    is_numbered: bool


# --- the generator, with calls in place of `yield`


@lru_cache(maxsize=1 << 8)
def calling(node: ast.FunctionDef, may_stop: bool) -> ast.FunctionDef:
    """A generator function that calls the body of a loop where it yields, and returns where that ends the loop."""
    made = copy.copy(node)
    made.body = [_Calling(may_stop).visit(copy.deepcopy(one)) for one in node.body]
    return ast.fix_missing_locations(made)


class _Calling(ast.NodeTransformer):
    def __init__(self, may_stop: bool) -> None:
        self.may_stop = may_stop

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.Yield):
            return self.call(node, node.value.value or ast.Constant(None))
        if not isinstance(node.value, ast.YieldFrom):
            return node
        item = f"<item {node.lineno}, {node.col_offset}>"
        body = self.call(node, ast.Name(item, ast.Load()))
        loop = ast.For(ast.Name(item, ast.Store()), node.value.value, [body], [])
        return ast.copy_location(loop, node)

    def call(self, node: ast.Expr, value: ast.expr) -> ast.stmt:
        call = ast.Call(ast.Name(BODY, ast.Load()), [value], [])
        made = ast.If(call, [ast.Return(None)], []) if self.may_stop else ast.Expr(call)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        # The value is for `yield from`, but may be a call that changes something.
        value = [] if node.value is None else [ast.Expr(node.value)]
        return [ast.copy_location(one, node) for one in (*value, ast.Return(None))]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


# --- the function around the loop


def bodies(node: ast.For) -> Mapping[bool, ast.FunctionDef]:
    """The body of an inverted loop as a function, for items with or without numbers; none of another loop."""
    return getattr(node, "inverted", {})


def with_inverted_loops(source: Source, places: frozenset[LoopPlace]) -> Source:
    """A function with those of its loops inverted that are at some places."""
    node = source.node
    if not isinstance(node, ast.FunctionDef) or not places:
        return source
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    own = frozenset(one for one in places if one.file == source.file and one.line in lines)
    if not own or source.is_generator:
        return source
    inversion = _Inversion(own, source.tree, source.cells | source.nonlocals, source.globals)
    return replace(source, node=_with_inverted_loops(node, inversion))


@lru_cache(maxsize=1 << 8)
def _with_inverted_loops(node: ast.FunctionDef, inversion: _Inversion) -> ast.FunctionDef:
    made: Any = copy.copy(node)
    made.body, made.cells = inversion.block(inversion.tree.body, ())
    made.is_structured = True
    return made


@dataclass(frozen=True)
class _Inversion:
    """The loops of a function to invert.

    Attributes:
        shared: the names that it has in common with functions around it, and `globals`: those that are global.
    """

    places: frozenset[LoopPlace]
    tree: ast.Module
    shared: frozenset[str]
    globals: frozenset[str]

    def block(self, body: Sequence[ast.stmt], around: tuple[ast.stmt, ...]) -> tuple[list[ast.stmt], frozenset[str]]:
        """The statements, and the names that the bodies of inverted loops in them bind for others."""
        made, cells = [], frozenset[str]()
        for one in body:
            new, more = self.statement(one, around)
            made.append(new)
            cells |= more
        return made, cells

    def statement(self, node: ast.stmt, around: tuple[ast.stmt, ...]) -> tuple[ast.stmt, frozenset[str]]:
        if not isinstance(node, ast.If | ast.For | ast.While | ast.Try):
            return node, frozenset()
        found: list[frozenset[str]] = []
        inside = (*around, node) if isinstance(node, ast.For | ast.While) else around

        def each(block: list[ast.stmt]) -> list[ast.stmt]:
            new, cells = self.block(block, inside)
            found.append(cells)
            return new

        made = with_blocks(node, each)
        cells = frozenset[str]().union(*found)
        if isinstance(node, ast.For):
            names = self.bound(node, around)
            made.inverted = {one: self.body(made, names, cells - names, one) for one in self.inverted(node)}
            cells |= (names - self.globals) | {counter(node)} if made.inverted else frozenset()
        return made, cells

    def inverted(self, node: ast.For) -> list[bool]:
        """For each way in which a loop is to be inverted, whether it numbers its items."""
        here = [one for one in self.places if (one.line, one.column) == (node.lineno, node.col_offset)]
        return [one.is_numbered for one in here]

    def bound(self, node: ast.For, around: tuple[ast.stmt, ...]) -> frozenset[str]:
        """The names that a loop binds for others: for what is behind it, or for its next trip."""
        first = ast.Assign([node.target], ast.Constant(None))
        # What a function or generator expression in the body reads later is what the last trip has bound.
        late = [one for part in node.body for one in ast.walk(part) if isinstance(one, ast.Lambda | ast.GeneratorExp)]
        shared = self.shared.union(self.globals, *map(all_names, late))

        def is_own(name: str) -> bool:
            is_first = name.isidentifier() and name not in shared and is_assigned_first([first, *node.body], name)
            return is_first and not is_read_behind(self.tree, node, around, name)

        names = assigned_names(node.target).union(*map(assigned_names, node.body))
        return frozenset(name for name in names if not is_own(name))

    def body(self, node: ast.For, names: frozenset[str], cells: frozenset[str], is_numbered: bool) -> ast.FunctionDef:
        """The body of a loop as a function of an item, which returns whether the loop ends.

        Args:
            names: those that it binds for others.
            cells: its own names that bodies of inverted loops in it bind.
        """
        item: ast.expr = ast.Name(ITEM, ast.Load())
        number = ast.Name(counter(node), ast.Load())
        step = ast.Assign([ast.Name(counter(node), ast.Store())], ast.BinOp(number, ast.Add(), ast.Constant(1)))
        item = ast.Tuple([number, item], ast.Load()) if is_numbered else item
        flags: list[ast.expr] = [ast.Name(name, ast.Load()) for name in stops(node)]
        ends = ast.Return(flags[0] if len(flags) == 1 else ast.BoolOp(ast.Or(), flags)) if flags else ast.Pass()
        first: list[ast.stmt] = [ast.Assign([node.target], item), *([step] if is_numbered else [])]
        names |= {counter(node)} if is_numbered else set()
        kinds = ((ast.Nonlocal, names - self.globals), (ast.Global, names & self.globals))
        declared = [kind(sorted(own)) for kind, own in kinds if own]
        parameters = ast.arguments([], [ast.arg(ITEM)], None, [], [], None, [])
        function: Any = ast.FunctionDef("<loop>", parameters, [*declared, *first, *node.body, ends], [], None)
        for one in (function, *declared, *first, ends):
            ast.fix_missing_locations(ast.copy_location(one, node))
        function.is_structured, function.cells = True, cells
        return function


def counter(node: ast.For) -> str:
    """The name of the number of an item."""
    return f"<number {node.lineno}, {node.col_offset}>"
