"""ONNX's nodes in compiled gradients, in loops, with several outputs, and what errors name."""

import dace
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex, UnsupportedGraph
from tests.helpers import assert_close
from tests.helpers_graphs import assert_like, primal_of, value_of
from tests.sdfg.foreign.onnx_constructs import DEEP, IMAGE, LEFT, NETWORK, Network, network

ROWS = np.array([2, 0, 2, 1])
START = np.random.default_rng(8).uniform(0.5, 1.5, (4, 5))


def test_a_compiled_network_has_the_gradients_of_torch():
    torch = pytest.importorskip("torch")
    given = {name: value for name, value in NETWORK.items() if value is not None}
    weights = np.random.default_rng(3).uniform(0.5, 1.5, (2, 3))
    found = sdfgad.differentiate(network().sdfg, wrt=tuple(given), output="z").vjp(**given, cotangent=weights)
    leaves = {name: torch.from_numpy(value).requires_grad_() for name, value in given.items()}
    seen = torch.relu(torch.nn.functional.conv2d(leaves["X"], leaves["W"], leaves["b"], groups=2))
    pooled = torch.nn.functional.max_pool2d(seen, 2).reshape(2, 8)
    z = torch.softmax(pooled @ leaves["V"].T + leaves["c"], dim=1)
    assert (seen == 0).any()
    (z * torch.from_numpy(weights)).sum().backward()
    for name, leaf in leaves.items():
        assert_close(found[name], leaf.grad.numpy())


def repeated():
    """Rows that are gathered in each trip of a loop, in arrays whose names ours have, too."""
    graph = Network((4, 5), transients={"input": (4, 5), "matrix": (4, 5)}, A=(3, 5))
    graph.sdfg.add_array("rows", (4,), dace.int64)
    loop = graph.loop("k < 3")
    graph.node("Gather", {"data": "A", "indices": "rows"}, {"output": "input"}, loop, axis=0)
    graph.node("Exp", {"input": "input"}, {"output": "matrix"}, loop)
    return graph.node("Mul", {"A": "z", "B": "matrix"}, {"C": "z"}, loop).sdfg


def repeated_in_numpy(A, rows, z):
    z = z.copy()
    for _ in range(3):
        z = z * np.exp(A[rows])
    return z


def test_nodes_in_loops_are_compiled_and_check_indices():
    arguments = {"A": DEEP, "rows": ROWS, "z": START}
    assert_like(repeated(), repeated_in_numpy, ("A", "z"), "z", "return", **arguments)
    g = sdfgad.differentiate(repeated(), wrt="A", output="z", reduce="sum")
    expected = np.zeros_like(DEEP)
    np.add.at(expected, ROWS, 3.0 * repeated_in_numpy(**arguments))
    assert_close(g(**arguments), expected)
    with pytest.raises(InvalidIndex):
        g(**{**arguments, "rows": ROWS + 1})


def test_outputs_that_may_be_left_out():
    graph = Network((4, 6), c=(6,), mean=(4, 1), scale=(4, 1), A=(4, 6))
    outputs = {"Y": "z", "InvStdDev": "scale"}
    graph.node("LayerNormalization", {"X": "A", "Scale": "c"}, outputs, epsilon=0.5)
    arguments = {"A": LEFT, "c": LEFT[0]}
    expected = 1.0 / np.sqrt(np.var(LEFT, axis=1, keepdims=True) + 0.5)
    np.testing.assert_allclose(value_of(graph.sdfg, "scale", **arguments), expected, rtol=1e-12)
    assert "mean" not in primal_of(graph.sdfg, arguments).program.outputs


def test_older_versions_with_another_meaning_are_left_to_dace():
    """Softmax of opset 11 is over all axes from one on; ours is that of opset 13."""
    onnx = pytest.importorskip("onnx")
    from sdfgad.models.onnx.one_node import is_understood
    from sdfgad.sdfg.onnx_nodes import is_read

    assert not is_understood("Softmax", 11)
    assert is_understood("Softmax", 13)
    assert onnx.defs.get_schema("Clip", 13).since_version == 13
    for kind, is_ours in (("Softmax_11", False), ("Softmax_13", True)):
        graph = Network((4, 6), A=(4, 6)).node(kind, {"input": "A"}, {"output": "z"})
        (state,) = graph.sdfg.states()
        (node,) = (node for node in state.nodes() if node.label == "f")
        assert is_read(node, state) is is_ours


def refused(graph, match, **arguments):
    (state,) = graph.sdfg.states()
    node = next(node for node in state.nodes() if node.label == "f")
    node.debuginfo = dace.dtypes.DebugInfo(7, 1, 7, 2, __file__)
    with pytest.raises(UnsupportedGraph, match=match) as found:
        primal_of(graph.sdfg, arguments)
    assert (found.value.where.file, found.value.where.line) == (__file__, 7)
    assert f"in the state `{state.label}`" in str(found.value)
    assert found.value.todo


def test_errors_name_the_node_its_line_and_its_state():
    graph = Network((2, 4, 4, 4), X=(2, 4, 5, 6))
    graph.node("MaxPool", {"X": "X"}, {"Y": "z"}, kernel_shape=[2, 3], storage_order=1)
    refused(graph, "`f` of type ONNXMaxPool_22: MaxPool with storage_order=1", X=IMAGE)


def test_shapes_and_types_that_the_operator_does_not_give():
    graph = Network((2, 4, 4, 3), X=(2, 4, 5, 6))
    graph.node("MaxPool", {"X": "X"}, {"Y": "z"}, kernel_shape=[2, 3])
    refused(graph, "another shape than what it is", X=IMAGE)
    graph = Network((4,), A=(4, 6)).node("ArgMax", {"data": "A"}, {"reduced": "z"}, keepdims=0)
    refused(graph, "computes numbers of int64, and `z` is of float64", A=LEFT)
    graph = Network((4, 3), A=(4, 6)).node("Add", {"A": "A", "B": "A", "D": "A"}, {"C": "z"})
    refused(graph, "`f` of type ONNXAdd_14 in the state `s` has no input or output `D`", A=LEFT)
