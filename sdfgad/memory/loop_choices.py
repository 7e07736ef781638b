"""Recomputation within loops: which values of a trip its reversal may recompute, and what else must be saved for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sdfgad.analysis.model import numbered
from sdfgad.errors import UnsupportedProgram
from sdfgad.gradient.tapes import tape_shape
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import (
    ADJOINT,
    NOTHING,
    Answers,
    Asked,
    Recompute,
    Residual,
    asked,
    residuals_of,
)
from sdfgad.reverse.save_points import Key

Pair = tuple[int, int]


@dataclass(frozen=True)
class InnerChoices:
    """The recomputation choices inside of loops.

    Attributes:
        recomputes: the values that can be recomputed.
        residuals: what must be saved in loops for some choice.
        askers: who needs each residual: pairs (reader, read) of positions in `recomputes`, as in `sdfgad.plan.problem`.
        conflicts: pairs of positions of values that must not both be recomputed.
    """

    recomputes: tuple[Recompute, ...]
    residuals: Mapping[Key, Residual]
    askers: Mapping[Key, tuple[Pair, ...]]
    conflicts: tuple[Pair, ...]


def inner_choices(adjoint: Adjoint) -> InnerChoices:
    """The choices of a program, except those that would need a residual of unknown size."""
    recomputes = _worth_asking(adjoint, [a for a in adjoint.recomputable if a.block[0] != 0])
    while True:
        askers = _askers(adjoint, recomputes)
        residuals = residuals_of(adjoint.save_points, frozenset(askers))
        unknown = [key for key in askers.keys() - adjoint.residuals.keys() if not _is_known(adjoint, residuals[key])]
        unwanted = _late(adjoint, recomputes, askers).union(*(_causes(adjoint, askers, key) for key in unknown))
        if not unwanted:
            break
        recomputes = [one for k, one in enumerate(recomputes) if k not in unwanted]
    in_loops = {key: residual for key, residual in residuals.items() if residual.loops}
    return InnerChoices(tuple(recomputes), in_loops, askers, tuple(_conflicts(adjoint, recomputes, askers)))


def _worth_asking(adjoint: Adjoint, found: list[Recompute]) -> list[Recompute]:
    """The recomputations that may save a tape, and those that they depend on."""
    taped = {buffer for _, buffer in adjoint.residuals}
    useful = {k for k, recompute in enumerate(found) if recompute.buffers & taped}
    everything = list(asked(adjoint.primal, adjoint.statement_adjoints, frozenset(), found))
    answers = Answers(found)
    while True:
        grown = useful | {answers.to(one) for one in everything if one.reader in useful} - {NOTHING}
        if grown == useful:
            return [recompute for k, recompute in enumerate(found) if k in useful]
        useful = grown


def _askers(adjoint: Adjoint, recomputes: list[Recompute]) -> dict[Key, tuple[Pair, ...]]:
    """Key -> who needs it; also keys that nothing needs while everything is stored."""
    by_buffer: dict[str, list[Asked]] = {}
    for one in asked(adjoint.primal, adjoint.statement_adjoints, frozenset(adjoint.residuals), recomputes):
        by_buffer.setdefault(one.request.access.buffer, []).append(one)
    found: dict[Key, set[Pair]] = {}
    writers: dict[Key, set[int]] = {}
    always: dict[Key, set[int]] = {}
    answers = Answers(recomputes)
    for buffer, everything in by_buffer.items():
        hits = adjoint.overwrites.destroying_writes([(one.number, one.request) for one in everything], buffer)
        for one in everything:
            pair = (one.reader, answers.to(one))
            for number in hits[one.number, one.request]:
                key = (adjoint.save_points.of(one.number, number, buffer), buffer)
                found.setdefault(key, set()).add(pair)
                writers.setdefault(key, set()).add(number)
                if pair == (ADJOINT, NOTHING):
                    always.setdefault(key, set()).add(number)
    # What is kept further inside whatever is decided need not be kept outside as well.
    unneeded = {key for key, numbers in writers.items() if _is_inside(key, numbers, always)}
    return {key: tuple(sorted(pairs)) for key, pairs in found.items() if key not in unneeded}


def _is_inside(key: Key, numbers: set[int], always: Mapping[Key, set[int]]) -> bool:
    """Whether what these statements overwrite is always kept further inside than where a key says."""
    place, buffer = key
    inner = [there for (other, name), there in always.items() if name == buffer and other > place]
    return all(any(number in there for there in inner) for number in numbers)


def _is_known(adjoint: Adjoint, residual: Residual) -> bool:
    """Whether the size of a tape is known before the program runs."""
    try:
        return tape_shape(residual, adjoint) is not None
    except (NeedsConstant, UnsupportedProgram):
        return False


def _causes(adjoint: Adjoint, askers: Mapping[Key, tuple[Pair, ...]], key: Key) -> set[int]:
    """The positions of the values which, being recomputed, need a residual that is needed for none of the others.

    The reverse sweep needs it where a value that is recomputed is not kept further inside.
    """
    place, buffer = key
    end = place + adjoint.save_points.statements[place].size
    inside = [pairs for (other, name), pairs in askers.items() if name == buffer and place < other <= end]
    readers = {reader for reader, _ in askers[key]}
    kept = {read for pairs in inside for _, read in pairs} if ADJOINT in readers else set()
    return (readers | kept) - {ADJOINT, NOTHING}


def _late(adjoint: Adjoint, recomputes: list[Recompute], saved: Collection[Key]) -> set[int]:
    """The positions of values that the reverse sweep may read after the point at which they can last be recomputed.

    Args:
        saved: all that may be saved: to restore it, the branches and loops around ask for their conditions and trips.
    """
    statements, answers = numbered(adjoint.primal.body), Answers(recomputes)
    found = set[int]()
    for one in asked(adjoint.primal, adjoint.statement_adjoints, frozenset(saved), recomputes):
        k = answers.to(one) if one.reader == ADJOINT else NOTHING
        if k != NOTHING and one.number > recomputes[k].latest + statements[recomputes[k].latest].size:
            found.add(k)
    return found


def _conflicts(adjoint: Adjoint, recomputes: list[Recompute], saved: Collection[Key]) -> Iterator[Pair]:
    """Pairs of which the first would have to read the second after the point at which that can last be recomputed."""
    statements = numbered(adjoint.primal.body)
    reads: dict[int, set[int]] = {k: set() for k in range(len(recomputes))}
    last_read = [0] * len(recomputes)
    answers = Answers(recomputes)
    for one in asked(adjoint.primal, adjoint.statement_adjoints, frozenset(saved), recomputes):
        k = answers.to(one)
        if k != NOTHING and one.reader == ADJOINT:
            last_read[k] = max(last_read[k], one.number)
        elif k != NOTHING:
            reads[one.reader].add(k)
    while True:
        late = {(r, k) for r, made in reads.items() for k in made if last_read[r] > last_read[k]}
        if not late:
            break
        for reader, k in late:
            last_read[k] = max(last_read[k], last_read[reader])
    for reader, made in reads.items():
        for k in sorted(made):
            latest = recomputes[k].latest
            if last_read[reader] > latest + statements[latest].size:
                yield reader, k
