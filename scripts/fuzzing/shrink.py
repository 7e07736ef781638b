"""Makes a failing program smaller for as long as it fails in the same way."""

from __future__ import annotations

import ast
import copy
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from scripts.fuzzing.case import Argument, Case, function_of
from scripts.fuzzing.reference import value_of

# Candidates that are checked together, and how many such batches there are at most.
TOGETHER, ROUNDS = 12, 20
# A program that runs longer is no candidate.
MOST_LINES = 100_000


def shrunk(case: Case, fails: Callable[[list[Case]], list[bool]], rounds: int = ROUNDS) -> Case:
    """A smaller program that fails in the same way.

    Args:
        fails: says of candidates which of them do.
    """
    tried: set[str] = set()
    for _ in range(rounds):
        batch: list[Case] = []
        for candidate in smaller(case):
            key = repr((candidate.text, candidate.arguments))
            if key not in tried and _runs(candidate):
                tried.add(key)
                batch.append(replace(candidate, seed=case.seed + len(batch)))
            if len(batch) == TOGETHER:
                break
        if not batch:
            return case
        failing = [one for one, does in zip(batch, fails(batch), strict=True) if does]
        if failing:
            case = replace(min(failing, key=_size), seed=case.seed)
    return case


def _size(case: Case) -> tuple[int, int]:
    return len(ast.unparse(ast.parse(case.text))), sum(sum(a.shape) for a in case.arguments.values())


def _runs(case: Case) -> bool:
    """Whether NumPy runs a candidate, and that in so many lines; a `while` may have lost what ends it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            function = function_of(case, Path(folder))
            with _patience(function.__code__.co_filename):
                value_of(function, case, case.drawn(0))
        except Exception:  # Whatever NumPy or Python says to a program that was cut at random.
            return False
    return True


@contextmanager
def _patience(file: str) -> Iterator[None]:
    """No more than so many lines of a file are run meanwhile."""
    left = MOST_LINES

    def lines(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            raise TimeoutError
        return lines

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: lines if frame.f_code.co_filename == file else None)
    try:
        yield
    finally:
        sys.settrace(before)


def smaller(case: Case) -> Iterator[Case]:
    """Candidates, those that save most first."""
    tree = ast.parse(case.text)
    found = [*_cut(tree), *_simplified(tree)]
    for text in sorted(dict.fromkeys(found), key=len):
        if len(text) < len(case.text):
            yield from _without_unused(case.with_text(text))
    yield from _shorter(case)


def _cut(tree: ast.Module) -> Iterator[str]:
    """Without a statement, or with a compound one replaced by what it holds."""
    for number, (_, field, place) in enumerate(_statements(tree)):
        for replacement in ((), "body", "orelse"):
            changed = copy.deepcopy(tree)
            owner, field, place = list(_statements(changed))[number]
            block = getattr(owner, field)
            statement = block[place]
            if isinstance(statement, ast.FunctionDef) and statement.name == "program":
                continue
            if isinstance(replacement, str):
                inner = getattr(statement, replacement, None)
                if not inner:
                    continue
                block[place : place + 1] = inner
            else:
                del block[place]
            if field == "body" and not block:
                continue
            yield _text(changed)


def _statements(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield from ((node, field, place) for place in range(len(block)))


def _simplified(tree: ast.Module) -> Iterator[str]:
    """With an expression replaced by an operand of it, or by a number."""
    total = len(list(_expressions(tree)))
    for number in range(total):
        _, _, _, node = list(_expressions(tree))[number]
        operands = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if isinstance(node, ast.Call):
            operands = list(node.args)
        elif isinstance(node, ast.Subscript):
            operands = []
        for replacement in [*operands, *([ast.Constant(0.5)] if operands else [])]:
            changed = copy.deepcopy(tree)
            owner, field, place, _ = list(_expressions(changed))[number]
            new = copy.deepcopy(replacement)
            if place is None:
                setattr(owner, field, new)
            else:
                getattr(owner, field)[place] = new
            yield _text(changed)


def _expressions(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    for owner in ast.walk(tree):
        for field, value in ast.iter_fields(owner):
            if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Call, ast.BoolOp, ast.Subscript)):
                yield owner, field, None, value
            elif isinstance(value, list):
                found = ((k, v) for k, v in enumerate(value) if isinstance(v, (ast.BinOp, ast.UnaryOp, ast.Call)))
                yield from ((owner, field, place, entry) for place, entry in found)


def _text(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _without_unused(case: Case) -> Iterator[Case]:
    """The candidate without parameters that it does not mention."""
    tree = ast.parse(case.text)
    program = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "program")
    mentioned = {node.id for node in ast.walk(program) if isinstance(node, ast.Name)}
    kept = {name: argument for name, argument in case.arguments.items() if name in mentioned}
    if len(kept) < len(case.arguments) and any(a.is_floating for a in kept.values()):
        program.args.args = [one for one in program.args.args if one.arg in kept]
        yield replace(case, text=_text(tree), arguments=kept)
    yield case


def _shorter(case: Case) -> Iterator[Case]:
    """With smaller arrays; an extent is the same number in all of them."""
    for extent in sorted({e for a in case.arguments.values() for e in a.shape if e > 1}, reverse=True):
        for less in dict.fromkeys((max(1, extent // 2), extent - 1)):
            changed = {name: _with_extent(a, extent, less) for name, a in case.arguments.items()}
            yield replace(case, arguments=changed)


def _with_extent(argument: Argument, extent: int, less: int) -> Argument:
    shape = tuple(less if e == extent else e for e in argument.shape)
    return replace(argument, shape=shape, high=less if argument.high == extent else argument.high)
