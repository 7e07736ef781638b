"""Strip-mining and interchange (tiling): a few trips of a parallel loop run side by side in the sequential loops in it.

In ``for f: for j: t[f, j] = … t[f, j - 1] …`` each step waits for the one before. With eight rows at a time the
processor has eight independent chains to work on: ``for g: for j: for f < 8: t[8 * g + f, j] = …``.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import Int, Lin, reads, symbols_of
from sdfgad.ir.names import Names
from sdfgad.ir.program import Block, Compute, Loop, Program, Statement, substituted, transform
from sdfgad.optimise.loops.nest import last_trips
from sdfgad.optimise.names import names_of
from sdfgad.schedule.target import cpu


def tile(program: Program) -> Program:
    """The program with such loops in tiles; the remaining rows run as before."""
    names = names_of(program)
    return program.with_body(transform(program.body, lambda statement: _tiled(statement, names)))


def _tiled(statement: Statement, names: Names) -> Block:
    if not isinstance(statement, Loop) or not _is_chained(statement):
        return (statement,)
    count = statement.trips.const
    outer, inner = names.fresh(f"{statement.var}_tile"), names.fresh(statement.var)
    index = Lin.symbol(inner) + Lin.symbol(outer).scaled(cpu().tile_trips)
    body = tuple(_inside(s, statement, inner, index) for s in statement.body)
    tiles = Loop.over(outer, Lin(count // cpu().tile_trips), body, statement.where, is_parallel=True)
    return (tiles, *last_trips(statement, count % cpu().tile_trips))


def _is_chained(loop: Loop) -> bool:
    """Whether a parallel loop contains only sequential loops over single points, and plain statements."""
    if (
        not loop.is_parallel
        or loop.start != Lin(0)
        or not loop.trips.is_const
        or loop.trips.const < 2 * cpu().tile_trips
    ):
        return False
    chains = [s for s in loop.body if isinstance(s, Loop)]
    others = [s for s in loop.body if not isinstance(s, Loop)]
    return bool(chains) and all(_is_chain(s, loop.var) for s in chains) and all(isinstance(s, Compute) for s in others)


def _is_chain(loop: Loop, row: str) -> bool:
    """Whether a nested loop is sequential, over single points, and has the same trips for all rows."""
    is_plain = all(isinstance(s, Compute) and not s.params for s in loop.body)
    bounds = (Int(loop.start), Int(loop.trips))
    is_same = row not in symbols_of(*bounds) and not reads(*bounds)
    return is_plain and is_same and not loop.is_parallel and not loop.is_open


def _inside(statement: Statement, around: Loop, inner: str, index: Lin) -> Statement:
    """A statement of the body, for all trips of a tile."""
    if isinstance(statement, Loop):
        return replace(statement, body=(_rows(statement.body, around, inner, index),))
    return _rows((statement,), around, inner, index)


def _rows(block: Block, around: Loop, inner: str, index: Lin) -> Loop:
    body = substituted(block, {around.var: index})
    return Loop.over(inner, Lin(cpu().tile_trips), body, around.where, is_parallel=True)
