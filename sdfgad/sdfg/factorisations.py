"""LAPACK's own library nodes: LU and Cholesky factors in the place of their matrix, and what is solved with LU factors.

Each node has a meaning of its own. LU factors are a library call, whose derivative holds for the rows that were
exchanged. Solving with them is solving with two triangles, for the right side with its rows exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, cast
from sdfgad.ir.program import Access, Block, Buffer, Call, Compute, Loop, Statement
from sdfgad.sdfg.linear_algebra import checked, constant
from sdfgad.sdfg.node_arrays import TODO, copied, is_same_part, refuse_strided, whole
from sdfgad.sdfg.operations import linear
from sdfgad.sdfg.scope import Scope, located

# LAPACK's nodes -> the connector of what is overwritten, and that by which it is left.
IN_PLACE: Mapping[str, tuple[str, str]] = {
    "Getrf": ("_xin", "_xout"),
    "Potrf": ("_xin", "_xout"),
    "Getri": ("_xin", "_xout"),
    "Getrs": ("_rhs_in", "_rhs_out"),
}
INT32 = np.dtype(np.int32)
COPY = "Copy it to an array before, and let both connectors have this array."


def is_known(node: Any) -> bool:
    """Whether a library node is one of these."""
    return type(node).__name__ in IN_PLACE and type(node).__module__.startswith("dace.libraries.lapack")


def call_of(state: Any, node: Any, scope: Scope) -> Block:
    """The statements of a node.

    Raises:
        UnsupportedGraph: it is not in place, of no square matrix, or of rows that LAPACK cannot read.
    """
    return _Steps(state, node, scope).run()


class _Steps:
    """The statements of one node in the making: copies of what it reads, calls, and what it writes."""

    def __init__(self, state: Any, node: Any, scope: Scope) -> None:
        self.node, self.scope, self.where = node, scope, located(node)
        self.memlets = {edge.dst_conn: edge.data for edge in state.in_edges(node)}
        self.memlets |= {edge.src_conn: edge.data for edge in state.out_edges(node)}
        self.found: list[Statement] = []

    def run(self) -> Block:
        kind = type(self.node).__name__
        before, after = (self._memlet(name) for name in IN_PLACE[kind])
        if not is_same_part(before, after, self.scope):
            what = f"the node `{self.node.label}` of LAPACK overwrites `{before}`, and its result is read as `{after}`"
            raise UnsupportedGraph(what, self.where, COPY)
        result = {"Getrf": self.lu, "Getrs": self.solution, "Getri": self.inverse, "Potrf": self.cholesky}[kind]()
        copied(after, self.scope, self.found, result)
        if "_res" in self.memlets:
            # Where it would be another number, the call raises an error.
            copied(self.memlets["_res"], self.scope, self.found, self.filled((1, 1), INT32, lambda *_: Const(0, INT32)))
        return tuple(self.found)

    def lu(self) -> Buffer:
        matrix, n = self.square("_xin")
        result, exchanged = self.new("lu", (n, n), matrix.dtype), self.new("exchanged", (n,), INT32)
        self.call("lu", [matrix], [result, exchanged], (n,))
        copied(self._memlet("_ipiv"), self.scope, self.found, exchanged, rank=1)
        return result

    def solution(self) -> Buffer:
        lu, n = self.square("_a")
        right, rows = copied(self._memlet("_rhs_in"), self.scope, self.found), self.rows(n)
        refuse_strided(self._memlet("_rhs_in"), self.scope)
        return self.solved(lu, right, lambda i, j: _at(right, rows(i), j))

    def inverse(self) -> Buffer:
        lu, n = self.square("_xin")
        one, zero, rows = Const(1, lu.dtype), Const(0, lu.dtype), self.rows(n)
        return self.solved(lu, lu, lambda i, j: _choose("equal", rows(i), j, one, zero))

    def cholesky(self) -> Buffer:
        """The factor in one triangle; the other one keeps what it has."""
        matrix, n = self.square("_xin")
        is_lower = bool(self.node.lower)
        source = matrix if is_lower else self.turned(matrix)
        factor = self.new("cholesky", (n, n), matrix.dtype)
        self.call("cholesky", [source], [factor], (1, n))
        factor = factor if is_lower else self.turned(factor)
        order = "less_equal" if is_lower else "greater_equal"
        return self.filled(
            (n, n), matrix.dtype, lambda i, j: _choose(order, j, i, _at(factor, i, j), _at(matrix, i, j))
        )

    # --- parts

    def rows(self, n: int) -> Callable[[Lin], Lin]:
        """The row of a right side that comes to each place: LAPACK exchanges rows k and ``pivots[k]``, from 1 on."""
        pivots = copied(self._memlet("_ipiv"), self.scope, self.found, rank=1)
        if constant(pivots.shape, self.where) != (n,):
            what = f"the node `{self.node.label}` of LAPACK has another number of exchanged rows than of rows"
            raise UnsupportedGraph(what, self.where, TODO)
        rows, hold = self.filled((n,), INT, Int), self.new("hold", (), INT)
        k = Lin.symbol(counter := self.scope.buffers.names.fresh("k"))
        other = linear(cast(_at(pivots, k), INT)) - 1
        exchange = (
            Compute((), Access(hold.name), _at(rows, other)),
            Compute((), Access(rows.name, (other,)), _at(rows, k)),
            Compute((), Access(rows.name, (k,)), _at(hold)),
        )
        self.found.append(Loop(counter, Lin(n), exchange, (), where=self.where))
        return lambda i: linear(_at(rows, i))

    def solved(self, lu: Buffer, like: Buffer, right: Callable[[Lin, Lin], Expr]) -> Buffer:
        """The solutions for a right side, of a shape and type, whose rows are exchanged, by two triangles."""
        (n, _), sizes, dtype = constant(lu.shape, self.where), constant(like.shape, self.where), like.dtype
        if sizes[0] != n or lu.dtype != dtype:
            what = f"the node `{self.node.label}` has factors of {n} rows of {lu.dtype}, and a right side of {sizes[0]}"
            raise UnsupportedGraph(f"{what} of {dtype}", self.where, TODO)
        one, zero = Const(1, dtype), Const(0, dtype)
        low = self.filled(
            (n, n), dtype, lambda i, j: _choose("less", j, i, _at(lu, i, j), _choose("equal", i, j, one, zero))
        )
        high = self.filled((n, n), dtype, lambda i, j: _choose("less_equal", i, j, _at(lu, i, j), zero))
        result = self.filled(sizes, dtype, right)
        for triangle in (low, high):
            given, result = result, self.new("solution", sizes, dtype)
            self.call("solve", [triangle, given], [result], (1, n, sizes[1]))
        return result

    def square(self, connector: str) -> tuple[Buffer, int]:
        """A copy of a square matrix, and its size."""
        memlet = self._memlet(connector)
        matrix = copied(memlet, self.scope, self.found)
        refuse_strided(memlet, self.scope)
        sizes = constant(matrix.shape, self.where)
        if len(sizes) != 2 or sizes[0] != sizes[1]:
            raise UnsupportedGraph(
                f"the node `{self.node.label}` of LAPACK is not of a square matrix", self.where, TODO
            )
        return matrix, sizes[0]

    def turned(self, matrix: Buffer) -> Buffer:
        """The adjoint of a matrix."""

        def element(i: Lin, j: Lin) -> Expr:
            value = _at(matrix, j, i)
            return Op("conjugate", (value,), value.dtype) if value.dtype.kind == "c" else value

        return self.filled(constant(matrix.shape, self.where), matrix.dtype, element)

    def call(self, name: str, inputs: list[Buffer], outputs: list[Buffer], sizes: tuple[int, ...]) -> None:
        failed = self.new("failed", (), INT)
        results = tuple(map(whole, (*outputs, failed)))
        self.found.append(Call(name, tuple(map(whole, inputs)), results, sizes, self.where))
        self.found.append(checked(name, failed, self.scope, self.where))

    def new(self, base: str, shape: tuple[int, ...], dtype: Any) -> Buffer:
        return self.scope.buffers.make(self.scope.buffers.names.fresh(base), tuple(map(Lin, shape)), dtype)

    def filled(self, shape: tuple[int, ...], dtype: Any, value: Callable[..., Expr]) -> Buffer:
        """A new array with a value for each index."""
        buffer = self.new("filled", shape, dtype)
        names = [self.scope.buffers.names.fresh("p") for _ in shape]
        index = tuple(map(Lin.symbol, names))
        params = tuple(zip(names, buffer.shape, strict=True))
        self.found.append(Compute(params, Access(buffer.name, index), value(*index), where=self.where))
        return buffer

    def _memlet(self, connector: str) -> Any:
        if connector not in self.memlets:
            what = f"the node `{self.node.label}` of LAPACK has nothing at `{connector}`"
            raise UnsupportedGraph(what, self.where, "Connect it; LAPACK needs it.")
        return self.memlets[connector]


def _at(buffer: Buffer, *index: Lin) -> Expr:
    return Access(buffer.name, index).read(buffer.dtype)


def _choose(order: str, a: Lin, b: Lin, yes: Expr, no: Expr) -> Expr:
    return Op("select", (Op(order, (Int(a), Int(b)), BOOL), yes, no), yes.dtype)
