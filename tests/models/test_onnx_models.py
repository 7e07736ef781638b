"""ONNX models as a whole: names, weights, shapes, and what is refused."""

import pickle

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import sdfgad  # noqa: E402
import sdfgad.onnx  # noqa: E402
from sdfgad.errors import ArgumentError, OutputError, ShapeMismatch, UnsupportedGraph, WrtError  # noqa: E402
from sdfgad.models.onnx.table import REFUSED  # noqa: E402
from tests.models.numbers import floats  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, inputs, outputs, weights=None, opset=17, name="net"):
    """A model of nodes (operator, inputs, outputs, attributes) with inputs and outputs (name, type, shape)."""
    made = [helper.make_node(op, i, o, name=f"/{o[0]}", **attributes) for op, i, o, attributes in nodes]
    tensors = [numpy_helper.from_array(value, key) for key, value in (weights or {}).items()]
    infos = [[helper.make_tensor_value_info(*one) for one in side] for side in (inputs, outputs)]
    graph = helper.make_graph(made, name, *infos, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def network():
    """A classifier as exporters write it: names with dots and slashes, sizes that vary, and arithmetic of shapes."""
    weights = {"conv1.weight": floats(3, 2, 3, 3), "conv1.bias": floats(3), "onnx::MatMul_9": floats(12, 4) / 4}
    weights |= {"minus_one": np.array([-1]), "zero": np.array(0), "one": np.array([0])}
    nodes = [
        ("Conv", ["x", "conv1.weight", "conv1.bias"], ["/conv1/out"], {"pads": [1, 1, 1, 1]}),
        ("Relu", ["/conv1/out"], ["/relu"], {}),
        ("MaxPool", ["/relu"], ["/pool"], {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("Shape", ["/pool"], ["/shape"], {}),
        ("Gather", ["/shape", "zero"], ["/batch"], {}),
        ("Unsqueeze", ["/batch", "one"], ["/rows"], {}),
        ("Concat", ["/rows", "minus_one"], ["/to"], {"axis": 0}),
        ("Reshape", ["/pool", "/to"], ["/flat"], {}),
        ("MatMul", ["/flat", "onnx::MatMul_9"], ["scores"], {}),
        ("SoftmaxCrossEntropyLoss", ["scores", "labels"], ["loss"], {}),
    ]
    inputs = [("x", FLOAT, ["n", 2, 4, 4]), ("labels", INT64, ["n"])]
    return model(nodes, inputs, [("loss", FLOAT, []), ("scores", FLOAT, ["n", 4])], weights)


def batch(n, seed=0):
    return floats(n, 2, 4, 4, seed=seed), np.arange(n) % 4


@pytest.fixture(scope="module")
def differentiated():
    return sdfgad.onnx.differentiate(network(), output="loss")


def test_inputs_and_weights_have_the_models_names(differentiated):
    g = differentiated
    assert (g.inputs, g.outputs) == (("x", "labels"), ("loss", "scores"))
    assert g.weights == ("conv1.weight", "conv1.bias", "onnx::MatMul_9")
    assert "conv1_out = op.conv(x, conv1_weight, conv1_bias, pads=(1, 1, 1, 1))  # Conv /" in g.source
    x, labels = batch(3)
    value, gradient = g.value_and_grad(x, labels)
    assert set(gradient) == {"x", *g.weights}
    session = ort.InferenceSession(network().SerializeToString(), providers=["CPUExecutionProvider"])
    assert value == pytest.approx(session.run(["loss"], {"x": x, "labels": labels})[0], rel=1e-5)
    assert gradient["x"].dtype == np.float32
    sdfgad.check_grads(g.program, output="return[0]", x=x.astype(float), labels=labels, wrt="conv1_weight")


def test_other_sizes_and_other_weights(differentiated):
    g = differentiated
    x, labels = batch(5, seed=1)
    plain = g(x=x, labels=labels)
    weights = {name: 2 * np.asarray(one) for name, one in zip(g.weights, g.program.__defaults__, strict=True)}
    assert g.value(x, labels, **weights) != g.value(x, labels)
    changed = {"onnx::MatMul_9": g.program.__defaults__[2]}
    np.testing.assert_array_equal(g(x, labels, **changed)["x"], plain["x"])


def test_a_file_a_limit_and_a_copy(tmp_path, differentiated):
    onnx.save(network(), tmp_path / "net.onnx")
    x, labels = batch(3)
    limit = differentiated.plan(x, labels).peak_bytes * 8 // 10
    limited = sdfgad.onnx.differentiate(tmp_path / "net.onnx", wrt="conv1.weight", output="loss", memory_limit=limit)
    found = limited(x, labels)
    np.testing.assert_allclose(found, differentiated(x, labels)["conv1.weight"], rtol=1e-5, atol=1e-7)
    assert limited.measure(x, labels, repeats=1).peak_bytes <= limit
    assert any(row.source.startswith("net.onnx as NumPy:") for row in limited.plan(x, labels).decisions)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(limited))(x, labels), found)


def test_arguments_that_do_not_fit(differentiated):
    x, labels = batch(3)
    with pytest.raises(ArgumentError, match=r"floats of shape \(any, 2, 4, 4\)"):
        differentiated(x[:, :1], labels)
    with pytest.raises(ArgumentError, match=r"`labels` has the shape \(3,\) and the dtype float64"):
        differentiated(x, labels * 1.0)
    with pytest.raises(WrtError, match=r"no argument 'conv1_weight'"):
        sdfgad.onnx.differentiate(network(), wrt="conv1_weight")
    with pytest.raises(OutputError, match="no output 'los'"):
        sdfgad.onnx.differentiate(network(), output="los")


def test_positions_axes_as_attributes_and_masks_that_nobody_reads():
    nodes = [
        ("Shape", ["x"], ["shape"], {}),
        ("Gather", ["shape", "one"], ["length"], {}),
        ("Range", ["zero", "length", "one"], ["range"], {}),
        ("Cast", ["range"], ["positions"], {"to": FLOAT}),
        ("Mul", ["x", "positions"], ["product"], {}),
        ("Dropout", ["product"], ["kept", "mask"], {}),
        ("ReduceMean", ["kept"], ["y"], {"axes": [1], "keepdims": 0}),
    ]
    x, constants = [("x", FLOAT, ["n", "m"])], {"one": np.array(1), "zero": np.array(0)}
    g = sdfgad.onnx.differentiate(model(nodes, x, [("y", FLOAT, ["n"])], constants, opset=13), reduce="sum")
    assert "axes=(1,)" in g.source
    np.testing.assert_allclose(g(floats(2, 3))["x"], np.tile(np.arange(3) / 3, (2, 1)), rtol=1e-6)
    np.testing.assert_allclose(g(floats(1, 4))["x"], [np.arange(4) / 4], rtol=1e-6)


def test_errors_at_run_time_name_the_node():
    shapes = [("x", FLOAT, [1, "a", 4, 4]), ("w", FLOAT, [3, "b", 3, 3])]
    one = model([("Conv", ["x", "w"], ["y"], {})], shapes, [("y", FLOAT, ["k", "l", "m", "n"])])
    with pytest.raises(ShapeMismatch) as caught:
        sdfgad.onnx.differentiate(one, reduce="sum")(floats(1, 2, 4, 4), floats(3, 5, 3, 3))
    assert str(caught.value.where) == "net as NumPy:7: y = op.conv(x, w)  # Conv /y"


X, Y = [("x", FLOAT, [2, 3])], [("y", FLOAT, ["a", "b"])]
SCALE = {"s": np.array(0.1, np.float32), "z": np.array(0, np.int8)}
REFUSALS = {
    "a result whose shape depends on data": model([("NonZero", ["x"], ["y"], {})], X, [("y", INT64, [2, "k"])]),
    "quantised numbers": model([("QuantizeLinear", ["x", "s", "z"], ["y"], {})], X, [("y", TensorProto.INT8, [2, 3])], SCALE),
    "random numbers": model([("RandomNormalLike", ["x"], ["y"], {})], X, Y),
    "the operator Det is not understood": model([("Det", ["x"], ["y"], {})], [("x", FLOAT, [2, 2])], [("y", FLOAT, [])]),
    r"Resize with mode='cubic' is not understood": model(
        [("Resize", ["x", "", "s"], ["y"], {"mode": "cubic"})], X, Y, {"s": np.array([1, 2], np.float32)}
    ),
    "MaxPool with storage_order=1": model(
        [("MaxPool", ["x"], ["y"], {"kernel_shape": [1], "storage_order": 1})], [("x", FLOAT, [1, 2, 3])], [("y", FLOAT, [1, 2, 3])]
    ),
    "output 1 of MaxPool is not understood": model(
        [("MaxPool", ["x"], ["y", "i"], {"kernel_shape": [1]})], [("x", FLOAT, [1, 2, 3])], [("i", INT64, [1, 2, 3])]
    ),
    "LSTM with the attribute clip=1.0": model(
        [("LSTM", ["x", "w", "r"], ["y"], {"hidden_size": 1, "clip": 1.0})],
        [("x", FLOAT, [1, 1, 1])], [("y", FLOAT, [1, 1, 1, 1])],
        {"w": floats(1, 4, 1), "r": floats(1, 4, 1)},
    ),
    "LSTM with its input 4 is not understood": model(
        [("LSTM", ["x", "w", "r", "", "n"], ["y"], {"hidden_size": 1})],
        [("x", FLOAT, [1, 1, 1])], [("y", FLOAT, [1, 1, 1, 1])],
        {"w": floats(1, 4, 1), "r": floats(1, 4, 1), "n": np.array([1], np.int32)},
    ),
    "Dropout with its input 2 is not understood": model(
        [("Dropout", ["x", "", "t"], ["y"], {})], X, Y, {"t": np.array(True)}
    ),
    "`x` is of type float16": model([("Relu", ["x"], ["y"], {})], [("x", TensorProto.FLOAT16, [2])], [("y", TensorProto.FLOAT16, [2])]),
    "the type float16 is not understood": model(
        [("Cast", ["x"], ["y"], {"to": TensorProto.FLOAT16})], X, [("y", TensorProto.FLOAT16, [2, 3])]
    ),
    "opset 11, and operators are understood as from opset 13": model([("Relu", ["x"], ["y"], {})], X, Y, opset=11),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSALS)
def test_refusals_name_the_node(what):
    with pytest.raises(UnsupportedGraph, match=what) as caught:
        sdfgad.onnx.differentiate(REFUSALS[what])
    node = REFUSALS[what].graph.node[0]
    where = str(caught.value.where)
    assert where in (f"net:1: {node.op_type} {node.name}", "net:1: ", "net:1: net")
    assert caught.value.todo


def test_what_is_refused_is_in_no_other_table():
    from sdfgad.models.onnx.table import OPERATORS

    assert not set(REFUSED) & set(OPERATORS)


def test_operators_of_others_are_refused():
    one = model([("Relu", ["x"], ["y"], {})], X, Y)
    one.graph.node[0].domain = "com.microsoft"
    one.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    with pytest.raises(UnsupportedGraph, match=r"com\.microsoft\.Relu is none of ONNX's own"):
        sdfgad.onnx.differentiate(one)


def test_what_is_no_model(tmp_path):
    (tmp_path / "no.onnx").write_text("no model")
    with pytest.raises(ArgumentError, match="no valid ONNX model"):
        sdfgad.onnx.differentiate(tmp_path / "no.onnx")
    with pytest.raises(ArgumentError, match="cannot be read"):
        sdfgad.onnx.differentiate(tmp_path / "missing.onnx")


def test_names_are_never_code():
    """Names of nodes and values go into comments and identifiers."""
    evil = "x\n    raise SystemExit\n#"
    made = [helper.make_node("Relu", [evil], ["z;raise SystemExit"], name=evil)]
    infos = [[helper.make_tensor_value_info(name, FLOAT, [3])] for name in (evil, "z;raise SystemExit")]
    graph = helper.make_graph(made, "net();raise SystemExit", *infos)
    g = sdfgad.onnx.differentiate(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    assert not any(line.strip().startswith("raise") for line in g.source.splitlines())
    np.testing.assert_array_equal(g.program(np.array([-1.0, 2.0, 3.0], np.float32)), [0.0, 2.0, 3.0])
