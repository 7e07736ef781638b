"""Library nodes of linear algebra as calls of our library, with a check that fails where LAPACK does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdfgad.errors import Location, UnsupportedGraph
from sdfgad.ir.expr import BOOL, INT, Const, Lin, Op
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import FIRST_CHECK, Access, Block, Buffer, Call, Check, Compute, Statement
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.sdfg.node_arrays import TODO, copied, whole
from sdfgad.sdfg.scope import Scope, located

# DaCe's class of nodes -> our function, and the connectors of its inputs and its output.
FUNCTIONS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "Solve": ("solve", ("_ain", "_bin"), "_bout"),
    "Inv": ("inverse", ("_ain",), "_aout"),
    "Cholesky": ("cholesky", ("_a",), "_b"),
}
# The buffer for what checks find; no array has such a name.
STATUS = "<status>"


def is_known(node: Any) -> bool:
    """Whether a library node becomes a call."""
    return type(node).__name__ in FUNCTIONS and type(node).__module__.startswith("dace.libraries.linalg")


def call_of(state: Any, node: Any, scope: Scope) -> Block:
    """The call of a library function on copies of what a node reads, its check, and a copy of what it returns.

    Raises:
        UnsupportedGraph: it is of a form that the library does not have.
    """
    name, connectors, result = FUNCTIONS[type(node).__name__]
    if name == "cholesky" and not node.lower:
        raise UnsupportedGraph(f"the node `{node.label}` asks for an upper triangle", todo="Transpose the lower one.")
    memlets = {edge.dst_conn: edge.data for edge in state.in_edges(node)}
    memlets |= {edge.src_conn: edge.data for edge in state.out_edges(node)}
    where = located(node)
    first = list[Statement]()
    inputs = [copied(memlets[c], scope, first) for c in connectors]
    sizes = _sizes(node, [buffer.shape for buffer in inputs])
    out = scope.buffers.make(scope.buffers.names.fresh(name), inputs[-1].shape, inputs[-1].dtype)
    failed = scope.buffers.make(scope.buffers.names.fresh("failed"), (), INT)
    call = Call(name, tuple(map(whole, inputs)), (whole(out), whole(failed)), sizes, where)
    last = list[Statement]()
    copied(memlets[result], scope, last, out)
    return (*first, call, checked(name, failed, scope, where), *last)


def _sizes(node: Any, shapes: list[tuple[Lin, ...]]) -> tuple[int, ...]:
    """The sizes that the library is passed: one matrix, its rows, and how many columns are solved for."""
    matrix, *others = (constant(shape, located(node)) for shape in shapes)
    if len(matrix) != 2 or matrix[0] != matrix[1] or any(other[0] != matrix[0] for other in others):
        raise UnsupportedGraph(f"the node `{node.label}` is not of square matrices of one size", todo=TODO)
    return (1, matrix[0], *(other[1] for other in others))


def constant(shape: tuple[Lin, ...], where: Location | None) -> tuple[int, ...]:
    """The extents as numbers.

    Raises:
        NeedsConstant: one depends on an integer of the caller.
    """
    if not all(extent.is_const for extent in shape):
        raise NeedsConstant({symbol for extent in shape for symbol in extent.symbols}, where)
    return tuple(extent.const for extent in shape)


def checked(name: str, failed: Buffer, scope: Scope, where: Any) -> Compute:
    """The statement that notes where a function has failed."""
    buffers, function = scope.buffers, LIBRARY[name]
    buffers.checks.append(Check(function.raises, function.failure, where, function.todo))
    if STATUS not in buffers.found:
        buffers.make(STATUS, (), INT)
    is_right = Op("equal", (Access(failed.name).read(INT), Const(0, INT)), BOOL)
    code = Const(FIRST_CHECK - len(buffers.checks), INT)
    return Compute((), Access(STATUS), Op("select", (is_right, Const(0, INT), code), INT), "maximum", where)
