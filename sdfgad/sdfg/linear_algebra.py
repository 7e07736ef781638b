"""Library nodes of linear algebra as calls of our library, with a check that fails where LAPACK does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import BOOL, INT, Const, Lin, Op
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import FIRST_CHECK, Access, Block, Buffer, Call, Check, Compute, Whole
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.sdfg.scope import Scope, located
from sdfgad.sdfg.views import part_of

# DaCe's class of nodes -> our function, and the connectors of its inputs and its output.
FUNCTIONS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "Solve": ("solve", ("_ain", "_bin"), "_bout"),
    "Inv": ("inverse", ("_ain",), "_aout"),
    "Cholesky": ("cholesky", ("_a",), "_b"),
}
# The buffer for what checks find; no array has such a name.
STATUS = "<status>"
TODO = "Pass whole matrices of one size, or parts in steps of 1."


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
    first: list[Compute] = []
    inputs = [_copied(memlets[c], scope, first) for c in connectors]
    sizes = _sizes(node, [buffer.shape for buffer in inputs])
    out = scope.buffers.make(scope.buffers.names.fresh(name), inputs[-1].shape, inputs[-1].dtype)
    failed = scope.buffers.make(scope.buffers.names.fresh("failed"), (), INT)
    call = Call(name, tuple(map(_whole, inputs)), (_whole(out), _whole(failed)), sizes, where)
    last: list[Compute] = []
    _copied(memlets[result], scope, last, out)
    return (*first, call, _check(name, failed, scope, where), *last)


def _sizes(node: Any, shapes: list[tuple[Lin, ...]]) -> tuple[int, ...]:
    """The sizes that the library is passed: one matrix, its rows, and how many columns are solved for."""
    if any(not extent.is_const for shape in shapes for extent in shape):
        symbols = {symbol for shape in shapes for extent in shape for symbol in extent.symbols}
        raise NeedsConstant(symbols, located(node))
    matrix, *others = shapes
    if len(matrix) != 2 or matrix[0] != matrix[1] or any(other[0] != matrix[0] for other in others):
        raise UnsupportedGraph(f"the node `{node.label}` is not of square matrices of one size", todo=TODO)
    return (1, matrix[0].const, *(other[1].const for other in others))


def _copied(memlet: Any, scope: Scope, found: list[Compute], source: Buffer | None = None) -> Buffer:
    """A new array with what a memlet names, a vector as a column; or that part, set from an array."""
    part = part_of(memlet.subset, scope)
    if any(step != Lin(1) for step in part.steps) or memlet.wcr is not None:
        raise UnsupportedGraph(f"the memlet `{memlet}` of a node of linear algebra", todo=TODO)
    long = [k for k, size in enumerate(part.sizes) if size != Lin(1)]
    long = [*range(len(part.sizes))] if len(part.sizes) <= 2 else long
    shape = tuple(part.sizes[k] for k in long)
    shape = shape if len(shape) == 2 else (*shape, Lin(1))
    names = [scope.buffers.names.fresh("c") for _ in shape]
    index = tuple(map(Lin.symbol, names))
    at = dict(zip(long, index, strict=False))
    place = tuple(start + at.get(k, Lin(0)) for k, start in enumerate(part.starts))
    params = tuple(zip(names, shape, strict=True))
    element = scope.read(memlet.data, place)
    if source is not None:
        value = Access(source.name, index).read(source.dtype)
        found.append(Compute(params, Access(element.buffer, element.index), value))
        return source
    buffer = scope.buffers.make(scope.buffers.names.fresh("matrix"), shape, element.dtype)
    found.append(Compute(params, Access(buffer.name, index), element))
    return buffer


def _whole(buffer: Buffer) -> Whole:
    return Whole(buffer.name, buffer.shape, buffer.dtype)


def _check(name: str, failed: Buffer, scope: Scope, where: Any) -> Compute:
    """The statement that notes where a function has failed."""
    buffers, function = scope.buffers, LIBRARY[name]
    buffers.checks.append(Check(function.raises, function.failure, where, function.todo))
    if STATUS not in buffers.found:
        buffers.make(STATUS, (), INT)
    is_right = Op("equal", (Access(failed.name).read(INT), Const(0, INT)), BOOL)
    code = Const(FIRST_CHECK - len(buffers.checks), INT)
    return Compute((), Access(STATUS), Op("select", (is_right, Const(0, INT), code), INT), "maximum", where)
