"""ONNX's library nodes in graphs, which our own operators stand for, and what is refused."""

import dace
import numpy as np
import pytest
from dace import Memlet

from tests.sdfg.foreign.constructs import RNG, Graph, M, N, construct

IMAGE = RNG.uniform(0.5, 1.5, (2, 4, 5, 6))
KERNEL, BIAS = RNG.uniform(-0.5, 0.5, (4, 2, 3, 3)), RNG.uniform(0.5, 1.5, 4)
SHIFT, MEAN, VARIANCE = RNG.uniform(0.5, 1.5, (3, 4))
LEFT, RIGHT, ADDED = RNG.uniform(0.5, 1.5, (4, 6)), RNG.uniform(0.5, 1.5, (5, 4)), RNG.uniform(0.5, 1.5, 5)
WIDE = RNG.uniform(0.5, 1.5, (4, 3))
DEEP = RNG.uniform(0.5, 1.5, (3, 5))
IMAGES = {"X": (2, 4, 5, 6), "W": (4, 2, 3, 3), "b": (4,)}


class Network(Graph):
    """A graph of nodes of ONNX, each in a state of its own, with the arrays of an input `shapes`."""

    def __init__(self, z, constants=None, transients=None, **shapes):
        pytest.importorskip("onnx")
        super().__init__(z=z, **shapes, **(transients or {}))
        self.use(*shapes, "z").use(*(transients or {}), transient=True)
        for name, value in (constants or {}).items():
            kind = dace.data.Array(dace.dtypes.dtype_to_typeclass(value.dtype.type), value.shape, transient=True)
            self.sdfg.add_array(name, value.shape, kind.dtype, transient=True)
            self.sdfg.add_constant(name, value, kind)

    def node(self, kind, inputs, outputs, region=None, **attributes):
        from dace.libraries import onnx

        one = getattr(onnx, f"ONNX{kind}")("f", **attributes)
        state = self.state(region)
        state.add_node(one)
        for connector, name in inputs.items():
            one.add_in_connector(connector)
            state.add_edge(state.add_read(name), None, one, connector, self.whole(name))
        for connector, name in outputs.items():
            one.add_out_connector(connector)
            state.add_edge(one, connector, state.add_write(name), None, self.whole(name))
        return self

    def whole(self, name):
        return Memlet.from_array(name, self.sdfg.arrays[name])


def convolved(X, W, b):
    padded, z = np.zeros((2, 4, 7, 8)), np.zeros((2, 4, 3, 6))
    padded[:, :, 1:6, 2:8] = X
    for o in range(4):
        first = 2 * (o // 2)
        for i in range(3):
            for j in range(6):
                part = padded[:, first : first + 2, 2 * i : 2 * i + 3, j : j + 3]
                z[:, o, i, j] = np.sum(part * W[o], axis=(1, 2, 3)) + b[o]
    return z


GIVEN = {"X": IMAGE, "W": KERNEL, "b": BIAS, "x": None}


@construct("library", "ONNX: Conv, with padding, strides and groups", convolved, wrt=("X", "W", "b"), **GIVEN)
def _():
    inputs = {"X": "X", "W": "W", "B": "b"}
    options = {"pads": [1, 2, 1, 0], "strides": [2, 1], "group": 2}
    return Network((2, 4, 3, 6), **IMAGES).node("Conv", inputs, {"Y": "z"}, **options)


def largest(X):
    padded, z = np.zeros((2, 4, 6, 6)), np.zeros((2, 4, 3, 2))
    padded[:, :, 1:6] = X
    for i in range(3):
        for j in range(2):
            z[:, :, i, j] = np.max(padded[:, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 3], axis=(2, 3))
    return z


@construct("library", "ONNX: MaxPool, with padding and strides", largest, wrt=("X",), X=IMAGE, x=None)
def _():
    graph = Network((2, 4, 3, 2), X=IMAGES["X"])
    options = {"kernel_shape": [2, 3], "strides": [2, 2], "pads": [1, 0, 0, 0]}
    return graph.node("MaxPool", {"X": "X"}, {"Y": "z"}, **options)


def averages(X):
    padded, z = np.zeros((2, 4, 6, 6)), np.zeros((2, 4, 3, 3))
    padded[:, :, 1:6] = X
    for i in range(3):
        for j in range(3):
            part = padded[:, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
            z[:, :, i, j] = np.sum(part, axis=(2, 3)) / (2 if i == 0 else 4)
    return z


@construct("library", "ONNX: AveragePool, of what is in a window", averages, wrt=("X",), X=IMAGE, x=None)
def _():
    graph = Network((2, 4, 3, 3), X=IMAGES["X"])
    options = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 0, 0, 0], "count_include_pad": 0}
    return graph.node("AveragePool", {"X": "X"}, {"Y": "z"}, **options)


def affine(A, B, c):
    return 0.5 * (A.T @ B.T) + 2.0 * c


AFFINE = {"A": LEFT, "B": RIGHT, "c": ADDED, "x": None}


@construct("library", "ONNX: Gemm, of transposes, of symbolic sizes", affine, wrt=("A", "B", "c"), **AFFINE)
def _():
    graph = Network((N, 5), A=(M, N), B=(5, M), c=(5,))
    inputs = {"A": "A", "B": "B", "C": "c"}
    return graph.node("Gemm", inputs, {"Y": "z"}, alpha=0.5, beta=2.0, transA=1, transB=1)


def with_statistics(X, s, b, m, v):
    s, b, m, v = (one[:, np.newaxis, np.newaxis] for one in (s, b, m, v))
    return s * (X - m) / np.sqrt(v + 0.25) + b


STATISTICS = {"X": IMAGE, "s": SHIFT, "b": BIAS, "m": MEAN, "v": VARIANCE}


@construct("library", "ONNX: BatchNormalization", with_statistics, wrt=(*STATISTICS,), **STATISTICS, x=None)
def _():
    graph = Network(IMAGES["X"], X=IMAGES["X"], s=(4,), b=(4,), m=(4,), v=(4,))
    inputs = {"X": "X", "scale": "s", "B": "b", "input_mean": "m", "input_var": "v"}
    return graph.node("BatchNormalization", inputs, {"Y": "z"}, epsilon=0.25)


def of_rows(A, c):
    m = np.mean(A, axis=1, keepdims=True)
    return (A - m) / np.sqrt(np.mean((A - m) ** 2, axis=1, keepdims=True) + 0.5) * c


@construct("library", "ONNX: LayerNormalization", of_rows, wrt=("A", "c"), A=RIGHT, c=BIAS, x=None)
def _():
    graph = Network((5, 4), A=(5, 4), c=(4,))
    return graph.node("LayerNormalization", {"X": "A", "Scale": "c"}, {"Y": "z"}, epsilon=0.5)


def means(A):
    return np.mean(A, axis=0)


@construct("library", "ONNX: ReduceMean, along axes of a constant", means, wrt=("A",), A=LEFT, x=None)
def _():
    graph = Network((6,), {"axes": np.array([0])}, A=(4, 6))
    return graph.node("ReduceMean", {"data": "A", "axes": "axes"}, {"reduced": "z"}, keepdims=0)


def joined(A, B):
    return np.concatenate((A, B, A), axis=1)


@construct("library", "ONNX: Concat", joined, wrt=("A", "B"), A=LEFT, B=WIDE, x=None)
def _():
    inputs = {"inputs__0": "A", "inputs__1": "B", "inputs__2": "A"}
    return Network((4, 15), A=(4, 6), B=(4, 3)).node("Concat", inputs, {"concat_result": "z"}, axis=1)


def chosen(A, rows):
    return A[rows]


@construct("library", "ONNX: Gather", chosen, wrt=("A",), A=DEEP, rows=np.array([2, 0, 2, 1]), x=None)
def _():
    graph = Network((4, 5), A=(3, 5))
    graph.sdfg.add_array("rows", (4,), dace.int64)
    return graph.node("Gather", {"data": "A", "indices": "rows"}, {"output": "z"}, axis=0)


def scores(X, W, b, V, c):
    rows = []
    for n in range(2):
        pooled = np.zeros((4, 2))
        for o in range(4):
            first, seen = 2 * (o // 2), np.zeros((3, 4))
            for i in range(3):
                for j in range(4):
                    seen[i, j] = np.maximum(np.sum(X[n, first : first + 2, i : i + 3, j : j + 3] * W[o]) + b[o], 0.0)
            pooled[o, 0], pooled[o, 1] = np.max(seen[0:2, 0:2]), np.max(seen[0:2, 2:4])
        logits = V @ pooled.reshape(8) + c
        powers = np.exp(logits - np.max(logits))
        rows.append(powers / np.sum(powers))
    return np.stack(rows)


NETWORK = {**GIVEN, "b": BIAS - 1.0, "V": RNG.uniform(-0.5, 0.5, (3, 8)), "c": ADDED[:3]}


@construct("library", "ONNX: a network of six nodes", scores, wrt=("X", "W", "b", "V", "c"), **NETWORK)
def network():
    seen = {"p": (2, 4, 3, 4), "q": (2, 4, 3, 4), "r": (2, 4, 1, 2), "s": (2, 8), "t": (2, 3)}
    graph = Network((2, 3), {"sizes": np.array([2, -1])}, seen, **IMAGES, V=(3, 8), c=(3,))
    graph.node("Conv", {"X": "X", "W": "W", "B": "b"}, {"Y": "p"}, group=2)
    graph.node("Relu", {"X": "p"}, {"Y": "q"})
    graph.node("MaxPool", {"X": "q"}, {"Y": "r"}, kernel_shape=[2, 2], strides=[2, 2])
    graph.node("Reshape", {"data": "r", "shape": "sizes"}, {"reshaped": "s"})
    graph.node("Gemm", {"A": "s", "B": "V", "C": "c"}, {"Y": "t"}, transB=1)
    return graph.node("Softmax", {"input": "t"}, {"output": "z"})


@construct("library", "ONNX: operators without one of ours", refusal="the library node `f` of type ONNXDet_", X=DEEP)
def _():
    return Network((1,), X=(3, 3)).node("Det", {"X": "X"}, {"Y": "z"})


@construct("library", "ONNX: attributes that are not understood", refusal="MaxPool with storage_order=1", X=IMAGE)
def _():
    options = {"kernel_shape": [2, 3], "storage_order": 1}
    return Network((2, 4, 4, 4), X=IMAGES["X"]).node("MaxPool", {"X": "X"}, {"Y": "z"}, **options)


@construct("library", "ONNX: parts with fewer axes", refusal="has fewer axes than its array", X=LEFT[:2])
def _():
    graph = Network((6,), X=(2, 6)).node("Relu", {"X": "X"}, {"Y": "z"})
    (state,) = graph.sdfg.states()
    next(edge for edge in state.edges() if edge.data.data == "X").data = Memlet("X[1, 0:6]")
    return graph
