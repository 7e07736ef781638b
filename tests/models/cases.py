"""Operators of ONNX with their attributes and inputs: one node each, of which batches become one model."""

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.models.numbers import floats


@dataclass
class Case:
    """A node: floating inputs are those of the model, others are initialisers."""

    op: str
    inputs: list
    attributes: dict = field(default_factory=dict)
    outputs: int = 1
    # Whether its result has no derivative, and is no part of the loss.
    is_constant: bool = False
    # Whether only its values are tested, as its gradient differs from that of another case in sizes alone.
    is_variant: bool = False


def ints(*values):
    return np.array(values, dtype=np.int64)


X, Y, B = floats(2, 3), floats(2, 3, seed=5), floats(3, seed=9)
POSITIVE, UNIT = floats(2, 3, low=0.5), floats(2, 3, low=-0.9, high=0.9)
IMAGE, CUBE, LINE = floats(2, 4, 5, 6), floats(1, 2, 3, 3, 3), floats(2, 4, 7)
NONE = None


def unary():
    plain = [
        "Abs",
        "Ceil",
        "Cos",
        "Cosh",
        "Exp",
        "Floor",
        "Neg",
        "Sign",
        "Sin",
        "Sinh",
        "Tanh",
        "Atan",
        "Asinh",
        "Round",
        "Identity",
        "Erf",
        "Reciprocal",
    ]
    found = [Case(op, [X]) for op in plain]
    found += [Case(op, [POSITIVE]) for op in ("Log", "Sqrt")]
    found += [Case(op, [UNIT]) for op in ("Acos", "Asin", "Atanh", "Tan")] + [Case("Acosh", [POSITIVE + 1])]
    found += [
        Case(op, [X])
        for op in ["Relu", "LeakyRelu", "Elu", "Selu", "Celu", "Sigmoid", "HardSigmoid", "HardSwish", "Softplus"]
    ]
    found += [
        Case(op, [X])
        for op in ["Softsign", "Mish", "ThresholdedRelu", "Shrink", "Gelu", "Softmax", "LogSoftmax", "Hardmax"]
    ]
    found += [
        Case("LeakyRelu", [X], {"alpha": 0.3}),
        Case("Elu", [X], {"alpha": 0.7}),
        Case("Celu", [X], {"alpha": 0.7}),
    ]
    found += [Case("Selu", [X], {"alpha": 1.5, "gamma": 1.2}), Case("HardSigmoid", [X], {"alpha": 0.3, "beta": 0.4})]
    found += [Case("ThresholdedRelu", [X], {"alpha": 0.4}), Case("Shrink", [X], {"bias": 0.2, "lambd": 0.8})]
    found += [Case("Gelu", [X], {"approximate": "tanh"}), Case("PRelu", [X, B]), Case("Softmax", [X], {"axis": 0})]
    found += [Case("LogSoftmax", [X], {"axis": 0}), Case("Hardmax", [X], {"axis": 0})]
    return found


def binary():
    found = [Case(op, [X, B]) for op in ["Add", "Sub", "Mul", "Div"]]
    found += [Case("Pow", [POSITIVE, Y]), Case("Pow", [X, np.array(2.0, np.float32)]), Case("Pow", [X, ints(3)])]
    found += [Case(op, [X, Y, B]) for op in ["Max", "Min", "Sum", "Mean"]]
    found += [
        Case(op, [X, B], is_constant=True) for op in ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]
    ]
    found += [Case(op, [X > 0, Y > 0], is_constant=True) for op in ["And", "Or", "Xor"]]
    found += [Case("Not", [X > 0], is_constant=True), Case("IsNaN", [X], is_constant=True)]
    found += [Case("IsInf", [X], is_constant=True), Case("Where", [X > 0, X, Y])]
    found += [
        Case("Mod", [ints(5, -5), ints(3, 3)], is_constant=True),
        Case("Mod", [X, floats(3, low=1, high=1.5)], {"fmod": 1}),
    ]
    found += [Case("Div", [ints(7, -7), ints(2, 2)], is_constant=True)]
    found += [
        Case("Clip", [X, np.array(-0.5, np.float32), np.array(0.9, np.float32)]),
        Case("Clip", [X, NONE, np.array(0.9, np.float32)]),
    ]
    found += [Case("MatMul", [X, floats(3, 4)]), Case("MatMul", [floats(2, 2, 3), floats(3, 4)])]
    found += [Case("Gemm", [X, floats(4, 3), floats(4)], {"transB": 1, "alpha": 0.5, "beta": 2.0})]
    found += [
        Case("Gemm", [floats(3, 2), floats(3, 4)], {"transA": 1}),
        Case("Einsum", [X, floats(4, 3)], {"equation": "ij, kj->ki"}),
    ]
    return found


def windows():
    w, b = floats(6, 4, 3, 3), floats(6)
    found = [
        Case("Conv", [IMAGE, w, b]),
        Case("Conv", [IMAGE, w], {"pads": [1, 0, 2, 1], "strides": [2, 1]}, is_variant=True),
        Case("Conv", [IMAGE, w, b], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        Case("Conv", [IMAGE, w], {"auto_pad": "SAME_LOWER", "strides": [3, 2]}, is_variant=True),
        Case("Conv", [IMAGE, w], {"dilations": [2, 2], "auto_pad": "VALID"}, is_variant=True),
        Case("Conv", [IMAGE, floats(6, 2, 3, 3), b], {"group": 2}),
        Case("Conv", [IMAGE, floats(4, 1, 2, 2)], {"group": 4, "kernel_shape": [2, 2]}, is_variant=True),
        Case("Conv", [LINE, floats(3, 4, 3)], {"pads": [1, 1]}),
        Case("Conv", [CUBE, floats(2, 2, 2, 2, 2)], is_variant=True),
        Case("ConvTranspose", [IMAGE, floats(4, 3, 2, 2), floats(3)]),
        Case(
            "ConvTranspose",
            [IMAGE, floats(4, 3, 3, 2)],
            {"strides": [2, 3], "pads": [1, 0, 1, 1], "output_padding": [1, 2]},
        ),
        Case("ConvTranspose", [IMAGE, floats(4, 2, 2, 2)], {"group": 2, "dilations": [2, 1]}),
        Case("MaxPool", [IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2]}, is_variant=True),
        Case("MaxPool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2], "ceil_mode": 1}),
        Case("MaxPool", [LINE], {"kernel_shape": [2], "dilations": [2]}, is_variant=True),
        Case("AveragePool", [IMAGE], {"kernel_shape": [2, 3], "strides": [2, 1]}, is_variant=True),
        Case(
            "AveragePool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}, is_variant=True
        ),
        Case("AveragePool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
        Case("AveragePool", [IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}, is_variant=True),
        Case("AveragePool", [IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        Case("LpPool", [IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2]}),
        Case("GlobalAveragePool", [IMAGE]),
        Case("GlobalMaxPool", [IMAGE]),
        Case("GlobalLpPool", [IMAGE]),
    ]
    return found


def normalisations():
    s, b, m, v = floats(4), floats(4, seed=3), floats(4, seed=4), floats(4, low=0.5)
    return [
        Case("BatchNormalization", [IMAGE, s, b, m, v], {"epsilon": 1e-3}),
        Case("BatchNormalization", [IMAGE, s, b, m, v], {"training_mode": 1, "momentum": 0.7}, outputs=3),
        Case("LayerNormalization", [IMAGE, floats(6), floats(6)]),
        Case("LayerNormalization", [IMAGE, floats(5, 6)], {"axis": 2, "epsilon": 1e-2}, outputs=3),
        Case("RMSNormalization", [IMAGE, floats(6)]),
        Case("InstanceNormalization", [IMAGE, s, b]),
        Case("GroupNormalization", [IMAGE, s, b], {"num_groups": 2}),
        Case("MeanVarianceNormalization", [IMAGE]),
        Case("LpNormalization", [X]),
        Case("LpNormalization", [X], {"p": 1, "axis": 0}),
        Case("LRN", [IMAGE], {"size": 3, "alpha": 0.1}),
    ]


def reductions():
    names = ["Sum", "Mean", "Max", "Min", "L1", "L2", "SumSquare", "LogSumExp"]
    found = [Case(f"Reduce{name}", [floats(2, 3, 4), ints(1)], {"keepdims": 0}) for name in names]
    found += [Case(f"Reduce{name}", [floats(2, 3, 4), ints(0, -1)]) for name in names]
    found += [
        Case("ReduceProd", [X]),
        Case("ReduceLogSum", [POSITIVE, ints(1)]),
        Case("ReduceSum", [X], {"noop_with_empty_axes": 1}),
    ]
    found += [Case(op, [X], {"axis": 1, "keepdims": 0}, is_constant=True) for op in ("ArgMax", "ArgMin")]
    found += [Case("CumSum", [X, np.array(1)]), Case("CumSum", [X, np.array(0)], {"exclusive": 1, "reverse": 1})]
    return found


def shapes():
    value = numpy_helper.from_array(np.array([2.5], np.float32))
    return [
        Case("Reshape", [IMAGE, ints(0, -1, 3)]),
        Case("Flatten", [IMAGE], {"axis": 2}),
        Case("Squeeze", [floats(1, 3, 1), ints(0)]),
        Case("Squeeze", [floats(1, 3, 1)]),
        Case("Unsqueeze", [X, ints(0, -1)]),
        Case("Transpose", [IMAGE], {"perm": [0, 2, 3, 1]}),
        Case("Transpose", [X]),
        Case("Concat", [X, Y], {"axis": -1}),
        Case("Split", [X, ints(1, 2)], {"axis": 1}, outputs=2),
        Case("Split", [floats(5, 2)], {"axis": 0, "num_outputs": 2}, outputs=2),
        Case("Slice", [IMAGE, ints(1, 0), ints(100, -1), ints(2, 3), ints(1, 2)]),
        Case("Slice", [LINE, ints(-1), ints(-100), ints(2), ints(-2)]),
        Case("Expand", [floats(3, 1), ints(2, 1, 4)]),
        Case("Tile", [X, ints(2, 3)]),
        Case("Pad", [X, ints(1, 0, 0, 2), np.array(1.5, np.float32)]),
        Case("Pad", [LINE, ints(1, 2), NONE, ints(-1)], {"mode": "reflect"}),
        Case("Pad", [X, ints(0, 1, 0, 1)], {"mode": "edge"}),
        Case("Pad", [X, ints(0, 1, 0, 1)], {"mode": "wrap"}),
        Case("Pad", [LINE, ints(0, 0, -1, 0, 0, 2)]),
        Case("Trilu", [floats(3, 3), np.array(1)], {"upper": 0}),
        Case("DepthToSpace", [IMAGE], {"blocksize": 2}),
        Case("DepthToSpace", [IMAGE], {"blocksize": 2, "mode": "CRD"}),
        Case("SpaceToDepth", [floats(1, 2, 4, 6)], {"blocksize": 2}),
        Case("Resize", [IMAGE, NONE, np.array([1, 1, 2, 2], np.float32)]),
        Case("Resize", [IMAGE, NONE, NONE, ints(2, 4, 8, 3)], {"mode": "linear"}),
        Case(
            "Resize",
            [IMAGE, NONE, NONE, ints(2, 4, 9, 11)],
            {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
        ),
        Case(
            "Resize",
            [IMAGE, NONE, np.array([1, 1, 2, 1.5], np.float32)],
            {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"},
        ),
        Case("Dropout", [X]),
        Case("Cast", [X], {"to": TensorProto.DOUBLE}),
        Case("CastLike", [X, B]),
        Case("Shape", [IMAGE], {"start": 1}, is_constant=True),
        Case("Size", [IMAGE], is_constant=True),
        Case("ConstantOfShape", [ints(2, 3)], {"value": value}, is_constant=True),
        Case("Range", [np.array(1), np.array(9), np.array(3)], is_constant=True),
        Case("EyeLike", [floats(3, 3)], {"k": 1}, is_constant=True),
    ]


def indexing():
    rows = np.array([[0, 1, 1], [1, 0, 0]])
    return [
        Case("Gather", [X, np.array([[0, -1], [1, 1]])]),
        Case("Gather", [X, np.array(1)], {"axis": 1}),
        Case("GatherElements", [X, rows], {"axis": 0}),
        Case("GatherND", [X, np.array([[0, 1], [1, 2]])]),
        Case("ScatterElements", [X, rows[:1], floats(1, 3)], {"axis": 0}),
        Case("ScatterElements", [X, np.array([[1, 1], [0, 2]]), floats(2, 2)], {"axis": 1, "reduction": "add"}),
        Case("ScatterND", [X, np.array([[1], [0]]), Y]),
        Case("ScatterND", [X, np.array([[1, 1], [0, 2], [1, 1]]), floats(3)], {"reduction": "add"}),
        Case("OneHot", [np.array([1, 0, 2]), np.array(4), floats(2)], {"axis": 0}),
        Case("TopK", [X, ints(2)], outputs=2),
    ]


def layers():
    x, h, w = floats(4, 2, 3), floats(1, 2, 5, seed=1), lambda k, d=1: floats(d, k * 5, 3, low=-1.0, high=1.0)
    r, b = (
        lambda k, d=1: floats(d, k * 5, 5, low=-1.0, high=1.0),
        lambda k, d=1: floats(d, 2 * k * 5, low=-1.0, high=1.0),
    )
    scores, target = floats(3, 4), np.array([1, 0, 3])
    size, two = {"hidden_size": 5}, {"hidden_size": 5, "direction": "bidirectional"}
    return [
        Case("LSTM", [x, w(4), r(4), b(4), NONE, h, floats(1, 2, 5, seed=2)], size, outputs=3),
        Case("LSTM", [x, w(4, 2), r(4, 2)], two, outputs=3),
        Case("GRU", [x, w(3), r(3), b(3), NONE, h], {**size, "linear_before_reset": 1}, outputs=2),
        Case("GRU", [x, w(3), r(3), b(3)], {**size, "direction": "reverse"}, outputs=2),
        Case("RNN", [x, w(1), r(1), b(1)], size, outputs=2),
        Case("NegativeLogLikelihoodLoss", [scores, target, floats(4, low=0.5)]),
        Case(
            "NegativeLogLikelihoodLoss",
            [floats(2, 3, 2), np.array([[1, 0], [2, 1]])],
            {"ignore_index": 1, "reduction": "sum"},
        ),
        Case("SoftmaxCrossEntropyLoss", [scores, target], outputs=2),
    ]


BATCHES = {
    "unary": unary, "binary": binary, "windows": windows, "normalisations": normalisations,
    "reductions": reductions, "shapes": shapes, "indexing": indexing, "layers": layers,
}  # fmt: skip


def model_of(cases, opset=23):
    """One model of all cases; each adds its outputs, times constants, to the loss."""
    nodes, inputs, weights, outputs, terms = [], [], [], [], []
    for k, case in enumerate(cases):
        names = []
        for j, value in enumerate(case.inputs):
            if value is None:
                names.append("")
                continue
            names.append(f"{case.op}/{k}.{j}")
            is_input = value.dtype == np.float32 and not (value.ndim == 0 or (case.op == "Resize" and j > 0))
            if is_input:
                inputs.append(helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, value.shape))
            else:
                weights.append(numpy_helper.from_array(value, names[-1]))
        results = [f"{case.op}/{k}:{j}" for j in range(case.outputs)]
        nodes.append(helper.make_node(case.op, names, results, name=f"/{case.op}/{k}", **case.attributes))
        outputs += results
        if not case.is_constant:
            terms.append(results[0])
        if case.op == "Cast":
            terms[-1] = f"like{k}"
            nodes.append(helper.make_node("CastLike", [results[0], names[0]], [terms[-1]]))
    for k, name in enumerate(terms):
        nodes.append(helper.make_node("Sin", [name], [f"sin{k}"]))
        nodes.append(helper.make_node("ReduceSum", [f"sin{k}"], [f"sum{k}"], keepdims=0))
    if terms:
        nodes.append(helper.make_node("Sum", [f"sum{k}" for k in range(len(terms))], ["loss"]))
    made = [helper.make_empty_tensor_value_info(name) for name in [*outputs, *(["loss"] if terms else [])]]
    graph = helper.make_graph(nodes, "batch", inputs, made, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    model = onnx.shape_inference.infer_shapes(model)
    shapes = {f"{case.op}/{k}:0": case.inputs[0].shape for k, case in enumerate(cases)}
    shapes["loss"] = ()
    for one in model.graph.output:
        # Of operators that are functions ONNX infers nothing; those of the cases keep their first input's shape.
        if not one.type.tensor_type.HasField("shape"):
            one.CopyFrom(helper.make_tensor_value_info(one.name, TensorProto.FLOAT, shapes[one.name]))
    return model


def feeds(cases):
    """The inputs of the model of cases."""
    found = {f"{c.op}/{k}.{j}": v for k, c in enumerate(cases) for j, v in enumerate(c.inputs) if v is not None}
    return found
