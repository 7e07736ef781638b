"""Listings: programs, adjoints and SDFGs as text, one statement or node a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sdfgad.analysis.model import numbered
from sdfgad.ir.program import Buffer, Program
from sdfgad.ir.text import access_text, form_text, program_text, statement_head
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import Residual

INDENT = "    "


def program_listing(program: Program) -> str:
    """A program with the buffers that it mentions: what is passed, what is returned, and what is in between."""
    mentioned = frozenset[str]().union(*(statement.mentioned for statement in program.body))
    outputs: dict[str, list[str]] = {}
    for output, buffer in program.outputs.items():
        outputs.setdefault(buffer, []).append(output)
    inner = [name for name in program.buffers if name in mentioned and name not in {*program.inputs, *outputs}]
    lines = [f"integer {name}" for name in program.integers]
    lines += [f"input {_declared(program.buffers[name])}" for name in program.inputs]
    lines += [f"output {_declared(program.buffers[n])}, {', '.join(names)}" for n, names in outputs.items()]
    lines += [f"temporary {_declared(program.buffers[name])}" for name in inner]
    return "\n".join([*lines, "", program_text(program)])


def _declared(buffer: Buffer) -> str:
    shape = f"[{', '.join(map(form_text, buffer.shape))}]" if buffer.shape else ""
    return f"{buffer.name}: {buffer.dtype}{shape}"


def adjoint_listing(adjoint: Adjoint) -> str:
    """Each statement with its adjoint, and then what the reverse sweep needs of the values that are overwritten."""
    return f"{statement_adjoints_text(adjoint)}\n\n# residuals\n{residuals_text(adjoint) or 'none'}"


def statement_adjoints_text(adjoint: Adjoint) -> str:
    """Each statement that has an adjoint, as a comment, with its adjoint."""
    statements = numbered(adjoint.primal.body)
    blocks = [
        "\n".join(
            [
                f"# {statement_head(statements[number])}",
                *map(statement_head, adjoint.statement_adjoints[number].statements),
            ]
        )
        for number in sorted(adjoint.statement_adjoints)
    ]
    return "\n\n".join(blocks)


def residuals_text(adjoint: Adjoint) -> str:
    """What the reverse sweep needs and a statement overwrites, with that statement's line."""
    return "\n".join(line for residual in adjoint.residuals.values() for line in _residual(residual))


def _residual(residual: Residual) -> Iterator[str]:
    box = ", ".join(f"{name} < {extent}" for name, extent in residual.params)
    loops = ", ".join(f"{loop.var} < {loop.trips}" for _, loop in residual.loops)
    parts = [f" for {box}"] if box else []
    parts += [f"in each trip of {loops}" if parts else f" in each trip of {loops}"] if loops else []
    yield access_text(residual.access) + ", ".join(parts)
    if residual.where is not None:
        yield f"{INDENT}overwritten by: {residual.where.text}"


def sdfg_listing(sdfg: Any) -> str:
    """The states, loops, conditionals, maps and tasklets of an SDFG, in order and within one another."""
    from dace import data

    arrays = [
        f"{'transient' if descriptor.transient else 'argument'} {name}: {descriptor.dtype}{list(descriptor.shape)}"
        for name, descriptor in sdfg.arrays.items()
        if isinstance(descriptor, data.Array)
    ]
    return "\n".join([*arrays, "", *_region(sdfg, 0)])


def _region(region: Any, depth: int) -> Iterator[str]:
    from dace.sdfg.state import ConditionalBlock, ControlFlowRegion, LoopRegion, SDFGState
    from dace.sdfg.utils import dfs_topological_sort

    pad = INDENT * depth
    for block in dfs_topological_sort(region, [region.start_block]):
        if isinstance(block, SDFGState):
            if block.nodes():
                yield f"{pad}state {block.label}"
                yield from _state(block, depth + 1)
        elif isinstance(block, LoopRegion):
            init, step = (code.as_string if code else "" for code in (block.init_statement, block.update_statement))
            yield f"{pad}loop {block.label}: {init}; {block.loop_condition.as_string}; {step}"
            yield from _region(block, depth + 1)
        elif isinstance(block, ConditionalBlock):
            for condition, branch in block.branches:
                yield f"{pad}else" if condition is None else f"{pad}if {condition.as_string}"
                yield from _region(branch, depth + 1)
        elif isinstance(block, ControlFlowRegion):
            yield from _region(block, depth)
        else:
            yield f"{pad}{type(block).__name__} {block.label}"


def _state(state: Any, depth: int) -> Iterator[str]:
    from dace.sdfg import nodes
    from dace.sdfg.utils import dfs_topological_sort

    scopes = state.scope_dict()

    def level(node: Any) -> int:
        return depth if scopes[node] is None else level(scopes[node]) + 1

    for node in dfs_topological_sort(state):
        pad = INDENT * level(node)
        if isinstance(node, nodes.MapEntry):
            ranges = zip(node.map.params, node.map.range.ranges, strict=True)
            box = ", ".join(f"{name} = {start}..{end}" for name, (start, end, _) in ranges)
            yield f"{pad}map {node.map.label} ({node.map.schedule.name}): {box}"
        elif isinstance(node, nodes.NestedSDFG):
            yield f"{pad}sdfg {node.label}"
            yield from _region(node.sdfg, level(node) + 1)
        elif isinstance(node, nodes.CodeNode):
            lines = node.code.as_string.splitlines() if isinstance(node, nodes.Tasklet) else []
            code = "; ".join(line.strip().removesuffix(";") for line in lines if not line.startswith("//"))
            yield f"{pad}{type(node).__name__.lower()} {node.label}" + (f": {code}" if code else "")
