"""Library nodes: products of matrices and calls of library functions, with their expansions.

A node expands to a tasklet for our own generators (`OWN`, which says only what is computed); for DaCe's own generator
it expands to a map, or to a tasklet in C++.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from copy import deepcopy
from typing import Any, ClassVar

import dace.library
from dace import dtypes, subsets, symbolic
from dace.properties import CodeBlock, CodeProperty, ListProperty, Property, RangeProperty, make_properties
from dace.sdfg import nodes
from dace.transformation.transformation import ExpandTransformation

from sdfgad.ir.library import LIBRARY
from sdfgad.sdfg.marks import mark
from sdfgad.sdfg.tasklet import RESULT

# For our own generators, and for those that come with DaCe.
OWN, STOCK = "own", "stock"
# What a product that does not clear its target adds to.
BEFORE = "_before"


@make_properties
class BoxTasklet(nodes.Tasklet):
    """A node that stands for all points of a box, a sum of products: ``code`` assigns an element for each point."""

    params = ListProperty(element_type=str, desc="Names of the parameters")
    range = RangeProperty(default=subsets.Range([]), desc="Their ranges")
    fresh = Property(dtype=bool, default=False, desc="Whether the target is cleared first")

    @property
    def free_symbols(self) -> set[str]:
        found: set[str] = super().free_symbols
        return (found | self.range.free_symbols) - set(self.params)


@make_properties
class CallTasklet(nodes.Tasklet):
    """A call of a library function on whole arrays."""

    function = Property(dtype=str, default="", desc="Name of the function")
    sizes = ListProperty(element_type=int, desc="Its last arguments")


@dace.library.expansion
class ExpandOwnProduct(ExpandTransformation):
    environments: ClassVar[list[Any]] = []

    @staticmethod
    def expansion(node: Product, parent_state: Any, parent_sdfg: Any, **_: Any) -> nodes.Tasklet:
        tasklet = BoxTasklet(node.name, node.in_connectors, node.out_connectors, "")
        tasklet.code = node.code
        tasklet.params, tasklet.range, tasklet.fresh = node.params, node.range, node.fresh
        mark(tasklet)
        return tasklet


@dace.library.expansion
class ExpandOwnCall(ExpandTransformation):
    environments: ClassVar[list[Any]] = []

    @staticmethod
    def expansion(node: LibraryCall, parent_state: Any, parent_sdfg: Any, **_: Any) -> nodes.Tasklet:
        tasklet = CallTasklet(node.name, node.in_connectors, node.out_connectors, "pass")
        tasklet.function, tasklet.sizes = node.function, node.sizes
        mark(tasklet)
        return tasklet


@dace.library.expansion
class ExpandProductAsMap(ExpandTransformation):
    """A map over the box, in which each point adds its product."""

    environments: ClassVar[list[Any]] = []

    @staticmethod
    def expansion(node: Product, parent_state: Any, parent_sdfg: Any, **_: Any) -> dace.SDFG:
        sdfg = dace.SDFG(f"{node.name}_map")
        edges = [*parent_state.in_edges(node), *parent_state.out_edges(node)]
        for edge in edges:
            name = edge.dst_conn if edge.dst is node else edge.src_conn
            outer = parent_sdfg.arrays[edge.data.data]
            if isinstance(outer, dace.data.Scalar):
                sdfg.add_scalar(name, outer.dtype)
            else:
                sdfg.add_array(name, edge.data.subset.size(), outer.dtype, strides=outer.strides)
        code, target = _split(node.code.code, node.in_connectors)
        state = sdfg.add_state("clear") if node.fresh else sdfg.add_state("sum")
        if node.fresh:
            ranges = {f"c{k}": f"0:{size}" for k, size in enumerate(sdfg.arrays[RESULT].shape)}
            point = dace.Memlet(data=RESULT, subset=", ".join(ranges))
            state.add_mapped_tasklet("clear", ranges, {}, "_clear = 0", {"_clear": point}, external_edges=True)
            state = sdfg.add_state_after(state, "sum")
        inputs = {f"{c}_": dace.Memlet.from_array(c, sdfg.arrays[c]) for c in node.in_connectors if c != BEFORE}
        places = [(symbolic.pystr_to_symbolic(text),) * 2 + (1,) for text in target]
        output = dace.Memlet(data=RESULT, subset=subsets.Range(places), wcr="lambda a, b: a + b")
        ranges = dict(zip(node.params, map(str, node.range.string_list()), strict=True))
        state.add_mapped_tasklet("product", ranges, inputs, code, {f"{RESULT}_": output}, external_edges=True)
        return sdfg


@dace.library.expansion
class ExpandCallAsCpp(ExpandTransformation):
    """A tasklet in C++ that calls the function of our headers."""

    environments: ClassVar[list[Any]] = []

    @staticmethod
    def expansion(node: LibraryCall, parent_state: Any, parent_sdfg: Any, **_: Any) -> nodes.Tasklet:
        connectors = {edge.dst_conn: edge.data for edge in parent_state.in_edges(node)}
        connectors |= {edge.src_conn: edge.data for edge in parent_state.out_edges(node)}
        names = [*node.in_connectors, *node.out_connectors]
        # DaCe passes single elements by value.
        texts = [("&" if connectors[name].subset.num_elements() == 1 else "") + name for name in names]
        target = f"{texts.pop()[1:]} = " if LIBRARY[node.function].failure else ""
        arguments = ", ".join([*(f"sdfgad::own({text})" for text in texts), *map(str, node.sizes)])
        code = f"{target}sdfgad::{node.function}({arguments});"
        header = f'#include "{LIBRARY[node.function].header}"\n'
        inputs, outputs = dict.fromkeys(node.in_connectors), dict.fromkeys(node.out_connectors)
        return nodes.Tasklet(node.name, inputs, outputs, code, dtypes.Language.CPP, code_global=header)


def _split(code: list[ast.stmt], connectors: Iterable[str]) -> tuple[str, list[str]]:
    """The code of a product with its target a plain name, and that target's indices.

    Connectors end with an underscore in it: their own names are those of the arrays around.
    """
    *lines, last = _Renamed(connectors).visit(ast.Module(deepcopy(code), [])).body
    assert isinstance(last, ast.Assign)
    (target,) = last.targets
    assert isinstance(target, ast.Subscript)
    index = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    code_of_point = "\n".join([*map(ast.unparse, lines), f"{RESULT}_ = {ast.unparse(last.value)}"])
    return code_of_point, [ast.unparse(entry) for entry in index]


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(f"{node.id}_", node.ctx) if node.id in self.names else node


@dace.library.node
class Product(nodes.LibraryNode):
    """A matrix-matrix or matrix-vector product with all its factors, which adds to an element for each point of a box.

    Its code is ``_out[i, j] = _a[i, k] * _b[k, j] * 2.0``; the connectors see the parts of the arrays that it touches.
    """

    implementations: ClassVar[dict[str, Any]] = {OWN: ExpandOwnProduct, STOCK: ExpandProductAsMap}
    default_implementation = OWN

    params = ListProperty(element_type=str, desc="Names of the parameters")
    range = RangeProperty(default=subsets.Range([]), desc="Their ranges")
    code = CodeProperty(default=CodeBlock("pass"), desc="What each point adds")
    fresh = Property(dtype=bool, default=False, desc="Whether the target is cleared first")

    def __init__(
        self, name: str, inputs: dict[str, Any], outputs: dict[str, Any], params: list[str], ranges: Any, code: str
    ) -> None:
        super().__init__(name, inputs=inputs, outputs=outputs)
        self.params, self.range, self.code = params, ranges, CodeBlock(ast.parse(code).body, dtypes.Language.Python)

    @property
    def free_symbols(self) -> set[str]:
        found: set[str] = self.code.get_free_symbols(self.in_connectors.keys() | self.out_connectors.keys())
        return (found | self.range.free_symbols) - set(self.params)


@dace.library.node
class LibraryCall(nodes.LibraryNode):
    """A function of LAPACK, a transform, sorting or a selection, on whole arrays; see `sdfgad.ir.library`."""

    implementations: ClassVar[dict[str, Any]] = {OWN: ExpandOwnCall, STOCK: ExpandCallAsCpp}
    default_implementation = OWN

    function = Property(dtype=str, default="", desc="Name of the function")
    sizes = ListProperty(element_type=int, desc="Its last arguments")

    def __init__(
        self, name: str, inputs: dict[str, Any], outputs: dict[str, Any], function: str, sizes: list[int]
    ) -> None:
        super().__init__(name, inputs=inputs, outputs=outputs)
        self.function, self.sizes = function, sizes
