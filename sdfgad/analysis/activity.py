"""Activity analysis: finds the buffers that depend on `wrt` and on which the output depends."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdfgad.ir.expr import Read
from sdfgad.ir.program import MESSAGES, Program, Statement, walk, writes_of

Dependences = Callable[[Statement], Iterable[Read]]


def active_buffers(
    program: Program, wrt: Iterable[str], output: str, dependences: Dependences
) -> tuple[frozenset[str], frozenset[str]]:
    """The active buffers, and all buffers on which the output depends.

    Args:
        wrt: buffers with respect to which derivatives are taken.
        output: the buffer that is differentiated.
        dependences: the reads through which a statement's value varies differentiably.
    """
    edges = [
        (access.buffer, {read.buffer for read in dependences(statement)})
        for statement in walk(program.body)
        for access, _ in writes_of(statement)
    ]
    # What is sent may depend on `wrt` on other ranks, and what is received be needed there.
    always = {MESSAGES} & program.buffers.keys()
    varied = _closure({*wrt, *always}, [(source, {target}) for target, sources in edges for source in sources])
    useful = _closure({output, *always}, edges)
    return frozenset(varied & useful), frozenset(useful)


def _closure(found: set[str], edges: list[tuple[str, set[str]]]) -> set[str]:
    """`found` and all names that are reachable from it along the edges; `found` is extended in place."""
    following: dict[str, set[str]] = {}
    for source, targets in edges:
        following.setdefault(source, set()).update(targets)
    queue = list(found)
    while queue:
        for target in following.get(queue.pop(), ()):
            if target not in found:
                found.add(target)
                queue.append(target)
    return found
