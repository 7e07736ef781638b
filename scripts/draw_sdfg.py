"""Draws an SDFG as a Graphviz graph: regions and states as boxes, with the nodes of each state inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dace.sdfg import nodes
from dace.sdfg.state import ConditionalBlock, LoopRegion, SDFGState

SHAPES = {"AccessNode": "ellipse", "Tasklet": "octagon", "MapEntry": "trapezium", "MapExit": "invtrapezium"}


def to_dot(sdfg: Any) -> str:
    """The graph in Graphviz's language."""
    head = 'digraph { compound=true; rankdir=TB; fontname="Helvetica"; node [fontname="Helvetica", fontsize=10];'
    edge = 'edge [fontname="Helvetica", fontsize=8, color=gray40]; graph [fontsize=11, style=rounded];'
    return "\n".join([head, edge, *_Drawing().region(sdfg), "}"])


class _Drawing:
    def __init__(self) -> None:
        self.count = 0
        # The first and last node of each state that has been drawn in the present block.
        self.ends: list[tuple[str, str]] = []

    def name(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def region(self, region: Any) -> Iterator[str]:
        """The blocks of a region in order, each linked to the one before."""
        last: tuple[str, str] | None = None
        ends: list[tuple[str, str]] = []
        for block in _in_order(region):
            if isinstance(block, SDFGState) and not block.nodes():
                continue
            cluster = f"cluster_{self.name()}"
            self.ends = []
            lines, outer = list(self.block(block, cluster)), self.ends
            if not outer:
                continue
            yield from lines
            if last is not None:
                yield f"{last[0]} -> {outer[0][0]} [ltail={last[1]}, lhead={cluster}, penwidth=2, color=steelblue];"
            last = (outer[-1][1], cluster)
            ends += outer
        self.ends = ends

    def block(self, block: Any, cluster: str) -> Iterator[str]:
        yield f'subgraph {cluster} {{ label="{_label(block)}"; {_colour(block)}'
        if isinstance(block, SDFGState):
            yield from self.state(block)
        elif isinstance(block, ConditionalBlock):
            drawn: list[tuple[str, str]] = []
            for condition, branch in block.branches:
                inner = f"cluster_{self.name()}"
                yield f'subgraph {inner} {{ label="{"else" if condition is None else condition.as_string}";'
                yield from self.region(branch)
                yield "}"
                drawn += self.ends
            self.ends = drawn
        else:
            yield from self.region(block)
        yield "}"

    def state(self, state: Any) -> Iterator[str]:
        # A nested graph is a box in a box: edges end at its first node, and begin at its last one.
        first, last, boxes = dict[Any, str](), dict[Any, str](), dict[Any, str]()
        for node in state.nodes():
            if isinstance(node, nodes.NestedSDFG):
                boxes[node] = f"cluster_{self.name()}"
                yield f'subgraph {boxes[node]} {{ label="{node.sdfg.label}"; style="rounded,dashed"; color=gray50;'
                yield from self.region(node.sdfg)
                yield "}"
                first[node], last[node] = self.ends[0][0], self.ends[-1][1]
            else:
                first[node] = last[node] = self.name()
                shape = SHAPES.get(type(node).__name__, "box")
                yield f'{first[node]} [shape={shape}, style=filled, fillcolor=white, label="{_node_label(node)}"];'
        self.ends = [(first[state.source_nodes()[0]], last[state.sink_nodes()[-1]])]
        for edge in state.edges():
            label = "" if edge.data.is_empty() else f"{edge.data.data}[{edge.data.subset}]"
            ends = [f'label="{label}"']
            ends += [f"ltail={boxes[edge.src]}"] if edge.src in boxes else []
            ends += [f"lhead={boxes[edge.dst]}"] if edge.dst in boxes else []
            yield f"{last[edge.src]} -> {first[edge.dst]} [{', '.join(ends)}];"


def _in_order(region: Any) -> list[Any]:
    block, order = region.start_block, []
    while block is not None:
        order.append(block)
        following = region.successors(block)
        block = following[0] if following else None
    return order


def _label(block: Any) -> str:
    if isinstance(block, LoopRegion):
        init, test, step = (c.as_string for c in (block.init_statement, block.loop_condition, block.update_statement))
        return f"for {init}; {test}; {step}"
    return "" if isinstance(block, SDFGState) else "if"


def _colour(block: Any) -> str:
    colour = "gray97" if isinstance(block, SDFGState) else "lightsteelblue1"
    return f'style="rounded,filled"; fillcolor={colour}; color=gray60;'


def _node_label(node: Any) -> str:
    if isinstance(node, nodes.AccessNode):
        return str(node.data)
    if isinstance(node, nodes.Tasklet):
        return node.code.as_string.strip().replace('"', "'").replace("\n", "\\l") + "\\l"
    if isinstance(node, nodes.LibraryNode):
        return str(node.label)
    if isinstance(node, nodes.MapEntry):
        ranges = zip(node.map.params, node.map.range.ranges, strict=True)
        return ", ".join(f"{name} = {start}..{end}" for name, (start, end, _) in ranges)
    return ""
