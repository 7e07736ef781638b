"""Library nodes: products of matrices, and calls of library functions, with what a generator may make of them.

A node expands to what its schedule's target generates (`OWN`: a tasklet that says what is computed, for our own
generators), to a map, or to a tasklet in C++, which is what DaCe's own generator takes.
"""

from __future__ import annotations

import ast
from typing import Any, ClassVar

import dace.library
from dace import dtypes, subsets
from dace.properties import CodeBlock, CodeProperty, ListProperty, Property, RangeProperty, make_properties
from dace.sdfg import nodes
from dace.transformation.transformation import ExpandTransformation

from sdfgad.sdfg.marks import mark

OWN = "own"


@make_properties
class BoxTasklet(nodes.Tasklet):
    """A sum of products over a box of points, as one node: ``code`` assigns an element for each point."""

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


@dace.library.node
class Product(nodes.LibraryNode):
    """A product of matrices, or of a matrix and a vector, with all its factors: for each point of a box an element is
    added to.

    Its code is ``_out[i, j] = _a[i, k] * _b[k, j] * 2.0``; the connectors see the parts of the arrays that it touches.
    """

    implementations: ClassVar[dict[str, Any]] = {OWN: ExpandOwnProduct}
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

    implementations: ClassVar[dict[str, Any]] = {OWN: ExpandOwnCall}
    default_implementation = OWN

    function = Property(dtype=str, default="", desc="Name of the function")
    sizes = ListProperty(element_type=int, desc="Its last arguments")

    def __init__(
        self, name: str, inputs: dict[str, Any], outputs: dict[str, Any], function: str, sizes: list[int]
    ) -> None:
        super().__init__(name, inputs=inputs, outputs=outputs)
        self.function, self.sizes = function, sizes
