"""LAPACK's own library nodes in graphs: factors, what is solved with them, and what is refused."""

import dace
import numpy as np
from dace import Memlet
from dace.libraries.lapack import Getrf, Getri, Getrs, Potrf

from tests.sdfg.foreign.constructs import POSITIVE, SQUARE, B, Graph, N, construct

# Rows are exchanged, and the two triangles differ.
MIXED = SQUARE[[2, 0, 1, 5, 3, 4]]
ROWS = np.array([1, 2, 0, 4, 5, 3])
OTHER = POSITIVE + np.triu(0.01 * np.arange(36.0).reshape(6, 6), 1)


class Factored(Graph):
    """A graph whose nodes of LAPACK stand one after the other: each access to an array goes on from the last one."""

    def __init__(self, dtype=dace.float64, **shapes):
        super().__init__(**{"Q": (N, N), "B": (N, 3), "z": (N, 3), "p": (N,), "r": (1,), **shapes})
        self.dtype = dtype
        for name, is_transient in (("Q", False), ("z", False), ("p", True), ("r", True)):
            kind = dace.int32 if name in "pr" else dtype
            self.sdfg.add_array(name, self.shapes[name], kind, transient=is_transient)
        self.last, self.last_state = {}, None

    def at(self, name):
        if name not in self.last:
            self.last[name] = self.last_state.add_access(name)
        return self.last[name]

    def begin(self, state=None):
        self.last, self.last_state = {}, self.state() if state is None else state
        return self

    def copied(self, source, target, memlet):
        self.last_state.add_nedge(self.at(source), self.at(target), Memlet(memlet))
        return self

    def node(self, node, inputs, outputs):
        state = self.last_state
        state.add_node(node)
        for connector, text in inputs.items():
            state.add_edge(self.at(text.partition("[")[0]), None, node, connector, Memlet(text))
        for connector, text in outputs.items():
            name = text.partition("[")[0]
            self.last[name] = state.add_access(name)
            state.add_edge(node, connector, self.last[name], None, Memlet(text))
        return self

    def getrf(self, part, after=None):
        return self.node(Getrf("f"), {"_xin": part}, {"_xout": after or part, "_ipiv": "p[0:N]", "_res": "r[0]"})

    def getrs(self, factors, right, after=None):
        inputs = {"_a": factors, "_ipiv": "p[0:N]", "_rhs_in": right}
        return self.node(Getrs("s"), inputs, {"_rhs_out": after or right, "_res": "r[0]"})

    def getri(self, part):
        return self.node(Getri("i"), {"_xin": part, "_ipiv": "p[0:N]"}, {"_xout": part, "_res": "r[0]"})

    def potrf(self, part, lower):
        return self.node(Potrf("c", lower=lower), {"_xin": part}, {"_xout": part, "_res": "r[0]"})


def eliminated(Q):
    """The factors, by the rows that are exchanged for this very matrix."""
    a = Q[ROWS]
    for k in range(6):
        for i in range(k + 1, 6):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


@construct("library", "Getrf: LU factors in the place of the matrix", eliminated, wrt=("Q",), Q=MIXED, x=None)
def _():
    return Factored(z=(N, N)).begin().copied("Q", "z", "Q[0:N, 0:N]").getrf("z[0:N, 0:N]")


def solved(Q, B):
    return np.linalg.solve(Q, B)


@construct("library", "Getrf and Getrs: solutions", solved, wrt=("Q", "B"), Q=MIXED, B=B, x=None)
def _():
    graph = Factored().use("B")
    graph.sdfg.add_array("q", (N, N), dace.float64, transient=True)
    graph.begin().copied("Q", "q", "Q[0:N, 0:N]").copied("B", "z", "B[0:N, 0:3]")
    return graph.getrf("q[0:N, 0:N]").getrs("q[0:N, 0:N]", "z[0:N, 0:3]")


def with_factors(Q, y):
    low, high = np.tril(Q, -1) + np.eye(6), np.triu(Q)
    return np.linalg.solve(high, np.linalg.solve(low, y[[2, 1, 5, 3, 4, 0]]))


PIVOTS = np.array([3, 2, 6, 4, 5, 6], np.int32)


@construct(
    "library", "Getrs: factors from elsewhere", with_factors, wrt=("Q", "y"), Q=SQUARE, y=B[:, 0], q=PIVOTS, x=None
)
def _():
    graph = Factored(z=(N,)).use("y")
    graph.sdfg.add_array("q", (N,), dace.int32)
    graph.begin().copied("y", "z", "y[0:N]").copied("q", "p", "q[0:N]")
    return graph.getrs("Q[0:N, 0:N]", "z[0:N]")


@construct("library", "Getrf and Getri: inverses", lambda Q: np.linalg.inv(Q), wrt=("Q",), Q=MIXED, x=None)
def _():
    graph = Factored(z=(N, N)).begin().copied("Q", "z", "Q[0:N, 0:N]").getrf("z[0:N, 0:N]")
    return graph.getri("z[0:N, 0:N]")


def lower_factor(Q):
    return np.tril(np.linalg.cholesky(Q)) + np.triu(Q, 1)


def upper_factor(Q):
    return np.triu(np.linalg.cholesky(Q.T).T) + np.tril(Q, -1)


@construct("library", "Potrf: a lower factor, beside the rest of its matrix", lower_factor, wrt=("Q",), Q=OTHER, x=None)
def _():
    return Factored(z=(N, N)).begin().copied("Q", "z", "Q[0:N, 0:N]").potrf("z[0:N, 0:N]", True)


@construct("library", "Potrf: an upper factor", upper_factor, wrt=("Q",), Q=OTHER, x=None)
def _():
    return Factored(z=(N, N)).begin().copied("Q", "z", "Q[0:N, 0:N]").potrf("z[0:N, 0:N]", False)


@construct("library", "Getrf, Getrs, Getri, Potrf: not in place", refusal="the node `f` of LAPACK overwrites", Q=SQUARE)
def _():
    return Factored(z=(N, N)).use("x").begin().getrf("Q[0:N, 0:N]", "z[0:N, 0:N]")


@construct(
    "library", "Getrf: matrices that are not square", refusal="`f` of LAPACK is not of a square matrix", Q=SQUARE
)
def _():
    return Factored(z=(N, N)).use("x").begin().copied("Q", "z", "Q[0:N, 0:N]").getrf("z[0:N, 0:3]")


@construct("library", "Getrf, Getrs, Getri, Potrf: rows with strides", refusal="the rows of the memlet `z", Q=SQUARE)
def _():
    graph = Factored(z=(N, N)).use("x")
    graph.sdfg.arrays["z"].set_strides_from_layout(0, 1)
    return graph.begin().copied("Q", "z", "Q[0:N, 0:N]").getrf("z[0:N, 0:N]")
