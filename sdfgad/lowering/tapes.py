"""Where stored residuals live: a tape with one slot for each value, for each trip of the enclosing loops."""

from __future__ import annotations

from dataclasses import dataclass

from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.expr import Int, symbols_of
from sdfgad.ir.linear import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Buffer, Compute
from sdfgad.ir.sets import Domain
from sdfgad.reverse.adjoint import Adjoint, Residual


@dataclass(frozen=True)
class Tape:
    """A tape's storage, and the statements that fill a slot and that put its values back."""

    buffer: Buffer
    store: Compute
    restore: Compute


def tape_for(residual: Residual, adjoint: Adjoint, names: Names) -> Tape:
    """The tape of one residual.

    Raises:
        UnsupportedProgram: the number of trips of an enclosing loop has no bound known before it runs.
    """
    domain = Domain()
    axes: list[tuple[str, Lin]] = []
    for loop in residual.loops:
        domain = domain.with_form(*loop.guards)
        axes.append((loop.var, loop.trips))
    for name, extent in residual.params:
        domain = domain.with_range(name, extent)
        axes.append((name, extent))
    shape = tuple(_extent(trips, adjoint, domain, residual) for _, trips in axes)
    primal = adjoint.primal.buffers[residual.buffer]
    name = names.fresh(f"{residual.buffer}_tape")
    slot = Access(name, tuple(Lin.symbol(symbol) for symbol, _ in axes))
    buffer = Buffer(name, shape, primal.dtype, primal.source, residual.where)
    store = Compute(residual.params, slot, residual.access.read(primal.dtype), None, residual.where)
    restore = Compute(residual.params, residual.access, slot.read(primal.dtype), None, residual.where)
    return Tape(buffer, store, restore)


def _extent(trips: Lin, adjoint: Adjoint, domain: Domain, residual: Residual) -> Lin:
    """The number of slots for a loop: its trips, or their largest number where they vary."""
    if symbols_of(Int(trips)) <= set(adjoint.primal.integers) and all(isinstance(a, str) for a, _ in trips.terms):
        return trips
    largest = domain.maximum(trips, adjoint.context)
    if largest is None:
        raise UnsupportedProgram(
            "a value in a loop whose number of trips depends on data must be kept for the reverse sweep",
            residual.where,
            "Give the loop a fixed number of trips and skip the rest with `if`.",
        )
    return Lin(max(largest, 0))
