"""Strip-mining for memory: group after group of statements runs in pieces, until a limit is met or no peak falls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdfgad.ir.program import Program
from sdfgad.memory.lifetimes import always_held, buffer_bytes, footprint, lifetimes, local_variables
from sdfgad.planning.layout import Layout, Sizes

# A peak that is lowered by a smaller share of what is temporary is not worth the code.
GAIN = 0.01
MOST_CUTS = 6


class Cuts:
    """Layouts with more and more groups of statements strip-mined, computed as far as they are asked for."""

    def __init__(self, layout: Layout, sizes: Sizes) -> None:
        self.sizes = sizes
        self.layouts = [layout]
        self._more = self._found(layout)

    def within(self, limit: int) -> Layout:
        """The first layout that fits a limit; if none does, the one with the smallest peak."""
        for layout in self:
            if layout.peak_bytes(self.sizes) <= limit:
                return layout
        return min(self.layouts, key=lambda layout: layout.peak_bytes(self.sizes))

    def __iter__(self) -> Iterator[Layout]:
        yield from self.layouts
        for layout in self._more:
            self.layouts.append(layout)
            yield layout

    def _found(self, layout: Layout) -> Iterator[Layout]:
        # Passes are imported only where something is planned.
        from sdfgad.optimise.loops.pieces import in_pieces

        estimate = Estimate(layout.integers(self.sizes))
        program, cuts = layout.code.before_loops, layout.code.cuts
        for _ in range(MOST_CUTS):
            found = in_pieces(program, estimate.peak, estimate.largest(program))
            if found is None:
                return
            before, (program, cut) = estimate.temporary(program), found
            cuts = (*cuts, cut)
            yield replace(
                layout, code=replace(layout.code, strip_mined=program, cuts=cuts), status="feasible", gap=None
            )
            if before - estimate.temporary(program) < GAIN * before:
                return


class Estimate:
    """Estimates what a program holds after loop fusion and contraction, which decide which arrays are needed."""

    def __init__(self, integers: dict[str, int]) -> None:
        self.integers = integers
        # By identity: a program is no key, and the one that is cut is asked about again and again.
        self._known: dict[int, tuple[Program, Program]] = {}

    def peak(self, program: Program) -> int:
        return max(footprint(self._fused(program), self.integers))

    def temporary(self, program: Program) -> int:
        """The peak, less arguments, outputs, and what libraries keep."""
        return self.peak(program) - always_held(program, self.integers)

    def largest(self, program: Program) -> dict[str, int]:
        """The temporaries that are held at the peak, with their bytes, the largest first."""
        fused = self._fused(program)
        held = footprint(fused, self.integers)
        peak, small = held.index(max(held)), local_variables(fused)
        spans = lifetimes(fused).items()
        live = [name for name, (first, last) in spans if first <= peak <= last and name not in small]
        sizes = {name: buffer_bytes(fused.buffers[name], self.integers) for name in live}
        return dict(sorted(sizes.items(), key=lambda one: -one[1]))

    def _fused(self, program: Program) -> Program:
        from sdfgad.optimise.loops.fuse import fuse
        from sdfgad.optimise.storage.contract import contract
        from sdfgad.optimise.storage.reuse import reuse

        if id(program) not in self._known:
            self._known[id(program)] = program, reuse(contract(fuse(program)))
        return self._known[id(program)][1]
